"""The files predictions.json, which lie beside a student's notebooks: what they hold, and whose they are."""

import json

from course import student_names
from course.handed_in_files import NO_NAMES

LARGEST = 10_000_000  # bytes
LESSONS = ["_predictions"]  # what a file's name says beside a student's name, as the names of lessons do


def is_predictions(file):
    """Return whether a file is called as the predictions are, "predictions (1).json" or "ada_predictions.json", too."""
    return file.suffix.lower() == ".json" and "predictions" in file.name.lower()


def read(file):
    """Return what a file of predictions holds, question → entry. Raises ValueError if it is none."""
    found = None
    if file.stat().st_size < LARGEST:
        try:
            found = json.loads(file.read_text(encoding="utf-8-sig"))
        except (ValueError, RecursionError):
            found = None
    if not isinstance(found, dict):
        raise ValueError("not a file of predictions: ask the student for predictions.json from beside the notebooks")
    return found


def identity_of(handed):
    """Return the student_names.Identity of those who made predictions.

    Raises ValueError for a loose predictions.json among the folders of students, which is nobody's, and where nothing
    names a student."""
    is_nameless = handed.folder is None and handed.path.name == "predictions.json"
    if is_nameless and handed.path.parent.is_dir() and students_beside(handed.path.parent):
        raise ValueError("put it in a folder with the student's name")
    return student_names.identity_of(handed, LESSONS)


def students_beside(folder):
    """Return the folders that may be students', in a folder."""
    names = [part.name for part in folder.iterdir() if part.is_dir() and part.name[0] not in "._"]
    return [name for name in names if name not in NO_NAMES]


def sighting_of(handed, identity):
    """Return the student_names.Sighting of a file of predictions: of one student there is one loose file at most."""
    lesson = student_names.PREDICTIONS if handed.folder is None else None
    return student_names.Sighting(identity, lesson, handed.download)


def is_continued(before, after):
    """Return whether a file holds all that an earlier one held, as it does when a student goes on with the lessons."""
    return all(after.get(question) == entry for question, entry in before.items())
