"""What the teacher gave by hand, points and comments: they stay, move along, or are set aside, and never get lost.

Points belong to an answer. If a student rewrites the answer, they are set aside in set_aside.json, and the new answer
waits. If a submission is gone because a name was corrected, its points move to the one that holds the same answers.
"""

import json
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from nbgrader.api import MissingEntry

from course import records
from course.course_folder import lesson_of
from course.student_names import ATTEMPT

SET_ASIDE = "set_aside.json"
REWRITTEN = "rewritten"  # why marks were set aside: the answer is another one now
GONE = "gone"  # or its submission is no longer there


@dataclass(frozen=True)
class Mark:
    """What a teacher gave for one cell of a submission; points, extra credit and comment are None if not given.

    answer is the digest of the answer it was given for, or None if that is not known."""

    cell: str
    points: float | None
    extra: float | None
    comment: str | None
    answer: str | None


@dataclass(frozen=True)
class SetAside:
    """A mark that no submission holds at present.

    why is REWRITTEN or GONE, day a date, notebook the gradebook's id of the submitted notebook, which stays when a
    student is renamed, and answers are the digests of the whole submission."""

    student: str
    assignment: str
    why: str
    day: str
    notebook: str
    mark: Mark
    answers: dict


def person_of(student):
    """Return whose attempt it is, "ada" for "ada~2"."""
    return student.partition(ATTEMPT)[0]


def read_set_aside(directory):
    """Return the marks that were set aside in a course. Raises ValueError if their file cannot be read."""
    path = directory / SET_ASIDE
    if not path.exists():
        return []
    try:
        return [
            SetAside(**entry | {"mark": Mark(**entry["mark"])}) for entry in json.loads(path.read_text(encoding="utf8"))
        ]
    except (ValueError, TypeError, KeyError):
        raise ValueError(f"{path} is damaged; it holds marks that you gave, so mend it or put it elsewhere") from None


def write_set_aside(directory, entries):
    """Replace the marks that are set aside in a course; the same one twice counts once."""
    different = list({json.dumps(asdict(entry), sort_keys=True): entry for entry in entries}.values())
    if different or (directory / SET_ASIDE).exists():
        records.replace(directory / SET_ASIDE, [asdict(entry) for entry in different])


def notebook_of(gradebook, student, assignment):
    """Return the gradebook's entry for a submitted notebook, or None."""
    try:
        notebooks = gradebook.find_submission(assignment, student).notebooks
    except MissingEntry:
        return None
    return notebooks[0] if notebooks else None


def marks_of(notebook, answers):
    """Return cell → Mark of what a teacher gave for a notebook of the gradebook.

    answers is a dictionary grade_id → digest of the answers that the teacher saw; it may be empty."""
    points = {grade.name: grade for grade in notebook.grades}
    comments = {comment.name: comment.manual_comment for comment in notebook.comments if comment.manual_comment}
    marks = {}
    for cell in [*points, *(name for name in comments if name not in points)]:
        grade = points.get(cell)
        given = grade.manual_score if grade else None
        extra = grade.extra_credit if grade else None
        if given is not None or extra is not None or cell in comments:
            marks[cell] = Mark(cell, given, extra, comments.get(cell), answers.get(cell))
    return marks


def give(notebook, mark):
    """Write a mark into a notebook of the gradebook; what it does not say is left empty."""
    for grade in notebook.grades:
        if grade.name == mark.cell:
            grade.manual_score = mark.points
            grade.extra_credit = mark.extra
            grade.needs_manual_grade = mark.points is None and grade.auto_score is None
    for comment in notebook.comments:
        if comment.name == mark.cell:
            comment.manual_comment = mark.comment


def take_back(notebook, cell):
    """Take the teacher's points and comment for a cell out of a notebook of the gradebook."""
    give(notebook, Mark(cell, None, None, None, None))


class Keeper:
    """Keeps a course's manual marks with their answers while submissions come, change and go.

    gradebook is nbgrader's, open; seen and now are dictionaries job → (grade_id → digest): the answers that the
    teacher saw when marking, and those that are submitted. A job is (student, assignment)."""

    def __init__(self, directory, gradebook, seen, now):
        self.directory = directory
        self.gradebook = gradebook
        self.seen = seen
        self.now = now
        self.entries = read_set_aside(directory)
        self.today = datetime.now().astimezone().date().isoformat()
        self.follow_renamed()

    def follow_renamed(self):
        """Let the marks that were set aside follow submissions to another name."""
        places = {}
        for assignment in self.gradebook.assignments:
            for submission in self.gradebook.assignment_submissions(assignment.name):
                for notebook in submission.notebooks:
                    places[notebook.id] = submission.student.id
        self.entries = [replace(entry, student=places.get(entry.notebook, entry.student)) for entry in self.entries]
        write_set_aside(self.directory, self.entries)

    def marks(self, job):
        """Return cell → Mark of a job."""
        notebook = notebook_of(self.gradebook, *job)
        return marks_of(notebook, self.seen.get(job, {})) if notebook else {}

    def keep(self, job, mark, why):
        """Set a mark aside, on disk before anything else happens to it."""
        notebook = notebook_of(self.gradebook, *job)
        entry = SetAside(*job, why, self.today, notebook.id, mark, self.seen.get(job, {}))
        self.entries.append(entry)
        write_set_aside(self.directory, self.entries)

    def set_aside_gone(self, job):
        """Set all marks of a job aside whose submission is gone; those set aside before are without one now."""
        self.entries = [
            replace(entry, why=GONE) if (entry.student, entry.assignment) == job else entry for entry in self.entries
        ]
        write_set_aside(self.directory, self.entries)
        for mark in self.marks(job).values():
            self.keep(job, mark, GONE)

    def set_aside_rewritten(self, job):
        """Set the marks of a job aside whose answers have been rewritten since; those of unknown answers wait."""
        for mark in self.marks(job).values():
            notebook = notebook_of(self.gradebook, *job)
            if mark.answer is None:
                for grade in notebook.grades:
                    if grade.name == mark.cell:
                        grade.needs_manual_grade = True
            elif mark.answer != self.now[job].get(mark.cell):
                self.keep(job, mark, REWRITTEN)
                take_back(notebook, mark.cell)
        self.gradebook.db.commit()

    def marks_to_bring(self, job):
        """Return cell → Mark that was given for a job's very answers: before, or in the person's other attempts."""
        held = self.marks(job)
        found = {}
        for mark in self.own_marks(job) + self.marks_that_moved(job):
            same = mark.answer is not None and self.now[job].get(mark.cell) == mark.answer
            if same and mark.cell not in held and better(mark, found.get(mark.cell)):
                found[mark.cell] = mark
        return found

    def bring_along(self, job):
        """Give a job the marks that were given for the very same answers: before, or in the person's other attempts."""
        found = self.marks_to_bring(job)
        if not found:
            return
        self.gradebook.update_or_create_student(job[0])
        with self.gradebook.db.no_autoflush:  # SQLAlchemy warns of what nbgrader has not finished yet
            self.gradebook.update_or_create_submission(job[1], job[0])
        for mark in found.values():
            give(notebook_of(self.gradebook, *job), mark)
        self.gradebook.db.commit()
        self.entries = [entry for entry in self.entries if not self.has_come_home(entry, job, found)]
        write_set_aside(self.directory, self.entries)

    def own_marks(self, job):
        """Return the marks that a person has for a lesson: in other attempts, and set aside."""
        marks = [entry.mark for entry in self.entries if is_same_work((entry.student, entry.assignment), job)]
        for other in self.other_attempts(job):
            marks.extend(self.marks(other).values())
        return marks

    def other_attempts(self, job):
        """Return the other jobs of the same person for the same lesson, in whatever language."""
        return [other for other in self.now if other != job and is_same_work(other, job)]

    def marks_that_moved(self, job):
        """Return the marks of a submission that is gone, if this job alone is new and holds the same answers."""
        return [entry.mark for entry in self.entries if entry.why == GONE and self.heirs(entry) == [job]]

    def heirs(self, entry):
        """Return the new jobs with all the answers of a submission that is gone."""
        return [
            job
            for job, answers in self.now.items()
            if job not in self.seen and job[1] == entry.assignment and answers == entry.answers
        ]

    def has_come_home(self, entry, job, found):
        """Return whether a mark that was set aside has been given to a job. found is cell → Mark of what was given."""
        if found.get(entry.mark.cell) != entry.mark:
            return False
        home = (entry.student, entry.assignment)
        if entry.why == GONE:
            return is_same_work(home, job) or self.heirs(entry) == [job]
        return home == job

    def earlier(self, job):
        """Return cell → (Mark, what it was given for) of marks for other answers of a person, the latest of a cell."""
        found = {}
        for other in self.other_attempts(job):
            for cell, mark in self.marks(other).items():
                found[cell] = (mark, name_of_attempt(*other))
        for entry in self.entries:
            if (entry.student, entry.assignment) == job:
                found[entry.mark.cell] = (entry.mark, "the old one")
        return found


def is_same_work(job, other):
    """Return whether two jobs are attempts of one person at one lesson."""
    return person_of(job[0]) == person_of(other[0]) and lesson_of(job[1]) == lesson_of(other[1])


def better(mark, other):
    """Return whether a mark is to be preferred to another one for the same answer, or to none."""
    return other is None or (mark.points or 0) > (other.points or 0)


def name_of_attempt(student, assignment):
    """Return what an attempt is called in the table, "attempt 1 (01_layernorm-de)"."""
    return f"attempt {student.partition(ATTEMPT)[2] or 1} ({assignment})"
