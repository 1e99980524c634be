"""The table of marks: one row a student, for each lesson the best of all attempts, and a note of what waits and why."""

import csv
import io

from course import course_configuration
from course.course_folder import lesson_of
from course.manual_marks import person_of

FORMULA_SIGNS = (
    "=",
    "+",
    "-",
    "@",
    "\t",
    "\r",
    "\n",
    "＝",
    "＋",
    "－",
    "＠",
)  # with these a spreadsheet begins a formula


def spreadsheet_cell(value, decimal_mark="."):
    """Return a value as it stands in a table for a spreadsheet: numbers stay numbers, and no text becomes a formula."""
    if value is None:
        return ""
    if isinstance(value, (int, float)):
        return f"{value:g}".replace(".", decimal_mark)
    return f"'{value}" if value.startswith(FORMULA_SIGNS) else value


class Notes:
    """Remarks on a student, in order, by what they are about; each is said once."""

    def __init__(self):
        self.told = {}

    def add(self, about, remarks):
        """Add remarks on something, for example on "01_layernorm-en"."""
        kept = self.told.setdefault(about, [])
        kept.extend(remark for remark in remarks if remark not in kept)

    def text(self):
        """Return all remarks; what they are about is named once."""
        parts = []
        for about, remarks in self.told.items():
            if remarks:
                parts.append((f"{about}: " if about else "") + "; ".join(remarks))
        return " | ".join(parts)


def points_given(points, extra=None):
    """Return points as a remark says them: "1 point", "2.5 points"."""
    total = (points or 0) + (extra or 0)
    return f"{total:g} point" + ("" if total == 1 else "s")


def remarks_on_waiting(grades, earlier):
    """Return what is to be said about points of a submission that wait or were given for another answer.

    grades are the gradebook's; earlier is a dictionary cell → (Mark, what it was given for)."""
    remarks = []
    plain_answer_waits = False
    for grade in grades:
        mark, given_for = earlier.get(grade.name, (None, ""))
        old = f"{points_given(mark.points, mark.extra)} were given for {given_for}" if mark and mark.points else ""
        if grade.needs_manual_grade and grade.manual_score is not None:
            given = points_given(grade.manual_score, grade.extra_credit)
            remarks.append(f"{grade.name} waits: its {given} may belong to an earlier answer")
        elif grade.needs_manual_grade and old:
            remarks.append(f"{grade.name}: new answer waits, {old}")
        elif grade.needs_manual_grade:
            plain_answer_waits = True
        elif old and grade.manual_score is None:
            remarks.append(f"{grade.name}: {old} by hand, and this answer is another one")
    return (["a written answer waits"] if plain_answer_waits else []) + remarks


def in_alphabet(name):
    """Return what a name is sorted by."""
    return name.casefold(), name


class Table:
    """The rows of the table while they are gathered.

    most is a dictionary lesson → the points that can be had, in the order of the columns."""

    def __init__(self, most):
        self.most = most
        self.notes = {}  # person → Notes
        self.scores = {}  # person → lesson → attempt → points

    def note(self, student, about, remarks):
        """Add remarks on a student, who has a row from now on."""
        self.notes.setdefault(person_of(student), Notes()).add(about, remarks)

    def score(self, student, assignment, points):
        """Add the points of an attempt."""
        self.notes.setdefault(person_of(student), Notes())
        lessons = self.scores.setdefault(person_of(student), {})
        lessons.setdefault(lesson_of(assignment), {})[f"{student}/{assignment}"] = points

    def header(self):
        """Return the names of the columns."""
        lessons = [f"{lesson} /{points:g}" for lesson, points in self.most.items()]
        return ["student", *lessons, f"total /{sum(self.most.values()):g}", "note"]

    def rows(self):
        """Return a row a student: the name, for each lesson the points or None, their sum, and the note.

        They are in the order of the names, capitals aside."""
        rows = []
        for person in sorted(self.notes, key=in_alphabet):
            notes = self.notes[person]
            points = {}
            for lesson, attempts in self.scores.get(person, {}).items():
                best = max(attempts, key=attempts.get)
                points[lesson] = attempts[best]
                if len(attempts) > 1:
                    notes.add("", [f"{best} counts"])
            cells = [points.get(lesson) for lesson in self.most]
            rows.append([person, *cells, sum(points.values()), notes.text()])
        return rows


def write(directory, header, rows):
    """Write marks.csv as the course's configuration wants it: decimal commas and semicolons, or points and commas."""
    mark = course_configuration.decimal_mark(directory)
    names = [name.replace(".", mark) if " /" in name else name for name in header]
    table = io.StringIO(newline="")
    writer = csv.writer(table, delimiter=";" if mark == "," else ",")
    writer.writerow(names)
    writer.writerows([spreadsheet_cell(cell, mark) for cell in row] for row in rows)
    course_configuration.replace_file(directory / "marks.csv", "\ufeff" + table.getvalue())


def lines(header, rows):
    """Return a table as lines with aligned columns, for a terminal."""
    texts = [header, *([spreadsheet_cell(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in texts) for column in range(len(header))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in texts]
