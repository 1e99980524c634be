"""Submissions move to another student's name, with all that was graded: folders, points, comments, records."""

import os
from contextlib import contextmanager
from dataclasses import dataclass

from nbgrader.api import MissingEntry, Student
from nbgrader.api import SubmittedAssignment as Submission
from sqlalchemy.exc import DatabaseError

from course import course_configuration, course_folder, records
from course.student_names import ATTEMPT, PREDICTIONS

FOLDERS = ("submitted", *course_folder.GRADED)
ABOUT = ("first_name", "last_name", "email", "lms_user_id")  # what the gradebook holds of a student


@dataclass(frozen=True)
class Move:
    """An attempt at an assignment that moves, such as ada~2 → eva. assignment may be "predictions"."""

    assignment: str
    old: str
    new: str


def rename_student(directory, old, new):
    """Give all that a student handed in to another name: submissions, predictions, points, comments and feedback.

    old and new are names as the table of marks shows them, without attempts. If both have an attempt at an assignment,
    both stay, as attempts of `new`. Later files of the same name follow. Returns the moves. Raises ValueError if nobody
    is called `old`."""
    collected, _ = records.read(directory / course_folder.COLLECTED)
    taken = Attempts(directory)
    moves = [
        taken.move(assignment, attempt, new)
        for assignment, attempt in taken.all()
        if attempt.partition(ATTEMPT)[0] == old
    ]
    skipped, _ = records.read(directory / course_folder.SKIPPED)
    theirs = [entry for entry in skipped.values() if entry.get("student") == old]
    if not moves and not theirs:
        raise ValueError(f"{directory} holds nothing of a student {old}")
    move(directory, moves)
    for moved in moves:
        entry = renamed(collected.setdefault(moved.assignment, {}), moved)
        entry["person"] = new
    for entry in theirs:
        entry |= {"student": new, "person": new}
    records.replace(directory / course_folder.COLLECTED, collected)
    records.replace(directory / course_folder.SKIPPED, skipped)
    return moves


def renamed(entries, moved):
    """Move an entry of the record of what was collected to its new name; return it."""
    entry = entries.pop(moved.old, {})
    entry = entry if isinstance(entry, dict) else {"file": entry}
    entries[moved.new] = entry
    return entry


class Attempts:
    """The names of attempts that are taken, at each assignment."""

    def __init__(self, directory):
        self.taken = {}
        self.submitted = []
        for student, assignment in course_folder.submissions(directory):
            self.submitted.append((assignment, student))
        for path in sorted((directory / "predictions").glob("*/predictions.json")):
            self.submitted.append((PREDICTIONS, path.parent.name))
        for assignment, attempt in self.submitted:
            self.take(assignment, attempt)
        # what is left in these belongs to a submission that was deleted; a new one must not get its points
        for folder in FOLDERS:
            for path in (directory / folder).glob("*/*"):
                self.take(path.name, path.parent.name)
        if (directory / "gradebook.db").exists():
            with open_gradebook(directory) as gradebook:
                for submission in gradebook.db.query(Submission):
                    self.take(submission.name, submission.student_id)

    def all(self):
        """Return (assignment, attempt) of all that is there."""
        return list(self.submitted)

    def take(self, assignment, attempt):
        self.taken.setdefault(assignment, set()).add(attempt.casefold())

    def free(self, assignment, student):
        """Return a student's next free attempt at an assignment, and take it."""
        taken = self.taken.get(assignment, ())
        attempt = student
        number = 1
        while attempt.casefold() in taken:
            number += 1
            attempt = f"{student}{ATTEMPT}{number}"
        self.take(assignment, attempt)
        return attempt

    def move(self, assignment, attempt, student):
        """Return the Move of an attempt to a student's next free one; its own name is free then."""
        self.taken[assignment].discard(attempt.casefold())
        return Move(assignment, attempt, self.free(assignment, student))


@contextmanager
def open_gradebook(directory):
    """Open a course's gradebook, and close it. Raises ValueError if it cannot be read."""
    try:
        gradebook = course_configuration.interface(directory).gradebook
    except DatabaseError:
        raise ValueError(f"{directory / 'gradebook.db'} cannot be read; put a copy of it back in its place") from None
    try:
        yield gradebook
    finally:
        gradebook.close()


def move(directory, moves):
    """Move attempts to their new names: in the gradebook and in the folders, all or none."""
    if not moves:
        return
    if not (directory / "gradebook.db").exists():
        move_folders(directory, moves)
        return
    with open_gradebook(directory) as gradebook:
        try:
            move_in_gradebook(gradebook, moves)
            done = move_folders(directory, moves)
        except BaseException:
            gradebook.db.rollback()
            raise
        try:
            gradebook.db.commit()
        except BaseException:
            move_back(done)
            raise


def move_in_gradebook(gradebook, moves):
    """Give submissions, with their points and comments, to other students; nothing is committed yet."""
    for moved in moves:
        try:
            submission = gradebook.find_submission(moved.assignment, moved.old)
        except MissingEntry:
            continue
        before = submission.student
        after = gradebook.db.get(Student, moved.new)
        if after is None:
            about = {field: getattr(before, field) for field in ABOUT}
            after = Student(id=moved.new, **about)
            gradebook.db.add(after)
        submission.student = after
        gradebook.db.flush()
        gradebook.db.refresh(before)
        if not before.submissions:
            gradebook.db.delete(before)
            gradebook.db.flush()


def places(directory, moved):
    """Return (old, new) of the folders in which an attempt's files lie."""
    if moved.assignment == PREDICTIONS:
        return [(directory / PREDICTIONS / moved.old, directory / PREDICTIONS / moved.new)]
    return [
        (directory / folder / moved.old / moved.assignment, directory / folder / moved.new / moved.assignment)
        for folder in FOLDERS
    ]


def move_folders(directory, moves):
    """Move the folders of attempts; return the moves (old, new). If one fails, those before it are taken back."""
    done = []
    try:
        for moved in moves:
            for old, new in places(directory, moved):
                if old.is_dir():
                    new.parent.mkdir(parents=True, exist_ok=True)
                    os.rename(old, new)
                    done.append((old, new))
                    if old.parent != new.parent and os.path.samefile(old.parent, new.parent):
                        os.rename(old.parent, new.parent)  # where capitals do not count, it is the same folder
    except OSError:
        move_back(done)
        for moved in moves:
            for _, new in places(directory, moved):
                course_folder.remove_if_empty(new.parent)
        raise
    for old, _ in done:
        course_folder.remove_if_empty(old.parent)
    return done


def move_back(done):
    """Take the moves of folders back, the last first."""
    for old, new in reversed(done):
        old.parent.mkdir(parents=True, exist_ok=True)
        os.rename(new, old)
        course_folder.remove_if_empty(new.parent)
