"""What a class believed before it measured: the files `predictions.json` as one page with a picture and a table.

An entry is what `helpers.activities.predict` keeps: the index of the choice (or "show" for one who looked at once),
the index of the answer that this student's own run measured, and the measured number.
"""

import html
import re
import textwrap
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from matplotlib.figure import Figure

from course import course_configuration, handed_in_files, handed_in_predictions, student_names
from helpers import figures, language
from helpers.activities.predict import SHOW
from helpers.language import number, say
from notebook_files import layout, reading

CHOSEN, MEASURED = figures.COLOURS[0], figures.COLOURS[1]
WIDTH, ROW = 11, 0.34  # inches: of the picture, of an answer
PAGE = """<!doctype html>
<html lang="{lang}"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body {{ font: 1.1rem/1.5 sans-serif; max-width: 72rem; margin: 1rem auto; padding: 0 1rem; }}
table {{ border-collapse: collapse; }}
td, th {{ border-bottom: 1px solid #767676; padding: .3rem .6rem; text-align: left; vertical-align: top; }}
</style>
<h1>{title}</h1>
<p>{count}</p>
{lessons}
</html>
"""


@dataclass
class Question:
    """A question and what became of it. entries: student → entry, for those who saw the answer."""

    name: str
    entries: dict

    @cached_property
    def text(self):
        return say(f"predict.{self.name}")

    @cached_property
    def options(self):
        return options(self.name)

    @cached_property
    def chosen(self):
        """For each answer, the students who chose it."""
        choices = {student: entry["choice"] for student, entry in self.entries.items()}
        return [sorted(s for s, choice in choices.items() if choice == index) for index in range(len(self.options))]

    @cached_property
    def votes(self):
        return sum(map(len, self.chosen))

    @cached_property
    def measured(self):
        """How many runs measured each answer, index → count; the most frequent first."""
        return dict(Counter(entry["answer"] for entry in self.entries.values()).most_common())

    def answers(self):
        """Return the measured answers as text, with their counts if the runs differ."""
        texts = {self.options[index]: count for index, count in self.measured.items()}
        return "; ".join(f"{text} ({count})" if len(texts) > 1 else text for text, count in texts.items())

    def values(self):
        """Return the measured number as text, or the range of those that the runs measured."""
        values = [entry["measured"] for entry in self.entries.values()]
        low, high = number(min(values)), number(max(values))
        return high if low == high else say("class.range", low=low, high=high)


def options(question):
    """Return the texts of a question's answers; none for a question that is not there."""
    texts = language.catalogue(language.current)
    found = []
    for number_of_answer in range(1, 10):
        key = f"predict.{question}_{number_of_answer}"
        if key in texts:
            found.append(texts[key])
    return found


def read(paths):
    """Return student → question → entry, the report of what was left out, and whether every file could be used."""
    missing = [str(path) for path in paths if not path.exists()]
    if missing:
        raise ValueError(f"there is no {', '.join(missing)}")
    found = []
    with TemporaryDirectory() as room:
        for path in paths:
            if (path / course_configuration.NAME).is_file():
                files = handed_in_files.files_of([predictions_of_course(path)], Path(room))
                found += [replace(handed, folder=person_of(handed.folder)) for handed in files]
        others = [path for path in paths if not (path / course_configuration.NAME).is_file()]
        return read_files(paths, found + handed_in_files.files_of(others, Path(room)))


def predictions_of_course(path):
    """Return the folder into which `collect` puts the predictions of a course.

    The same files lie in a course's other folders, too, where they would count once more. Raises ValueError if there is
    none."""
    if not (path / student_names.PREDICTIONS).is_dir():
        raise ValueError(f"{path} is a course in which no predictions have been collected")
    return path / student_names.PREDICTIONS


def person_of(folder):
    """Return whose a folder of a course is, "ada" for "ada~2"; None stays None."""
    if folder is None:
        return None
    return folder.partition(student_names.ATTEMPT)[0]


def read_files(paths, files):
    """Return the same from HandedIn files; a file that the teacher did not name may be something else."""
    report, good, sound = [], True, []
    for handed in files:
        if handed.path not in paths and not handed_in_predictions.is_predictions(handed.path):
            continue
        try:
            identity = handed_in_predictions.identity_of(handed)
            if handed.problem:
                raise ValueError(handed.problem)
            found = handed_in_predictions.read(handed.path)
        except (ValueError, OSError) as error:
            report.append(f"{handed.path}: skipped, {error}")
            good = False
            continue
        entries = {question: entry for question, entry in found.items() if is_sound(question, entry)}
        bad = [str(question) for question in found if question not in entries]
        if bad:
            report.append(f"{handed.path}: left out, not as the lessons write them: {', '.join(bad)}")
        sound.append((handed, identity, entries))
    people = student_names.People(handed_in_predictions.sighting_of(handed, one) for handed, one, _ in sound)
    students = {}
    for _, identity, entries in sound:
        student = people.name(identity)
        students[student] = entries | students.get(student, {})  # the first choice counts
    return students, report, good


def is_sound(question, entry):
    """Return whether an entry is one that the lessons write."""
    if not isinstance(entry, dict) or not all(key in entry for key in ("choice", "answer", "measured")):
        return False
    indices = range(len(options(question)))
    is_number = type(entry["measured"]) in (int, float)
    answer_is_index = type(entry["answer"]) is int and entry["answer"] in indices
    return is_number and answer_is_index and entry["choice"] in (SHOW, *indices)


def by_lesson(students, root):
    """Return the title of each lesson → its questions in order, for the questions that someone has met."""
    found = {}
    for path in sorted((root / "notebooks" / language.current).glob("*.ipynb")):
        cells = reading.read(path).cells
        title = next(line[2:] for cell in cells for line in cell.source.split("\n") if line.startswith("# "))
        code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
        questions = []
        for name in re.findall(r'\bpredict\("(\w+)"', code):
            entries = {student: entry[name] for student, entry in students.items() if name in entry}
            if entries:
                questions.append(Question(name, entries))
        if questions:
            found[title] = questions
    return found


def picture(questions):
    """Return the Picture: for each question a bar an answer, its share of the choices; the measured ones stand out."""
    lines = sum(len(wrapped(question.text, 96)) + len(question.options) + 1 for question in questions)
    with figures.drawing:
        figure = Figure(figsize=(WIDTH, ROW * (lines + 0.5)))
        axes = figure.add_axes((0.37, 0, 0.35, 1), xlim=(0, 100), ylim=(lines, -0.5))
        axes.axis("off")
        y = 0
        for question in questions:
            y = draw(axes, question, y)
        return figures.render(figure, " ".join(map(alternative, questions)))


def draw(axes, question, y):
    """Draw a question and its answers from the line y on; return the line after them."""
    for line in wrapped(question.text, 96):
        axes.text(-103, y, line, weight="bold", size=13, va="center")
        y += 1
    for index, (option, who) in enumerate(zip(question.options, question.chosen)):
        share = 100 * len(who) / max(1, question.votes)
        runs = question.measured.get(index, 0)
        if runs:
            axes.barh(y, share, 0.7, color=MEASURED, hatch="///", edgecolor="white")
        else:
            axes.barh(y, share, 0.7, color=CHOSEN, edgecolor="white")
        axes.barh(y, 100, 0.7, facecolor="none", edgecolor="#767676", linewidth=0.6)
        axes.text(-2, y, "\n".join(wrapped(option, 44)), size=11, va="center", ha="right", linespacing=0.9)
        axes.text(102, y, say("class.share", count=len(who), percent=round(share)), size=11, va="center")
        if runs:
            mark = say("class.measured") if len(question.measured) == 1 else say("class.runs", count=runs)
            axes.text(128, y, f"◀ {mark}", size=11, weight="bold", color=MEASURED, va="center")
        y += 1
    return y + 1


def alternative(question):
    """Return what the picture shows of a question, in words."""
    choices = "; ".join(f"{option}: {len(who)}" for option, who in zip(question.options, question.chosen))
    return f"{question.text} {choices}. {say('class.alt', answer=question.answers())}"


def wrapped(text, width):
    """Return a text as lines of at most so many characters."""
    return textwrap.wrap(text, width, break_on_hyphens=False)


def table(questions, names):
    """Return the table of one lesson as HTML; names: whether a column says who chose what."""
    head = say("class.head").split(" | ")
    if names:
        head.append(say("class.names"))
    rows = [html_row(row_of(question, names), "td") for question in questions]
    return "\n".join(["<table>", html_row(head, "th"), *rows, "</table>"])


def row_of(question, names):
    """Return the cells of a question's row."""
    right = sum(entry["choice"] == entry["answer"] for entry in question.entries.values())
    looked_at_once = len(question.entries) - question.votes
    row = [question.text, question.votes, looked_at_once, right, believed(question)]
    row += [question.answers(), question.values()]
    if names:
        told = [f"{option}: {', '.join(who)}" for option, who in zip(question.options, question.chosen) if who]
        row.append("; ".join(told))
    return row


def believed(question):
    """Return the answers that most have chosen, "" if nobody chose."""
    most = max(map(len, question.chosen))
    if most == 0:
        return ""
    return "; ".join(option for option, who in zip(question.options, question.chosen) if len(who) == most)


def html_row(cells, tag):
    """Return a row of a table as HTML."""
    return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"


def write(paths, target, lang="en", names=False, root=layout.ROOT):
    """Write the page of files and folders; return the lines of the report and whether every file could be used.

    Raises ValueError if there is nothing to show."""
    language.use(lang)
    students, report, good = read(paths)
    found = by_lesson(students, root)
    if not found:
        raise ValueError("\n".join([*report, "there is no prediction in these files"]))
    parts = [
        f"<h2>{html.escape(title)}</h2>\n{picture(questions).img()}\n{table(questions, names)}"
        for title, questions in found.items()
    ]
    count = say("class.count", students=len(students))
    page = PAGE.format(lang=lang, title=say("class.title"), count=count, lessons="\n".join(parts))
    target.write_text(page, encoding="utf8")
    questions = sum(map(len, found.values()))
    counts = f"{counted(len(students), 'student')}, {counted(questions, 'question')}"
    return [*report, f"{target}: {counts}"], good


def counted(count, noun):
    """Return a count with its noun: "1 student", "2 students"."""
    return f"{count} {noun}" + ("" if count == 1 else "s")
