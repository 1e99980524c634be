"""How the class's submissions become the files that a teacher gets."""

import copy
import os
import zipfile
from pathlib import Path

from notebook_files import layout, reading
from tests.course.class_of_42 import answers
from tests.support.small_course import cell


def data_of(submission, course):
    """Return the bytes of a file that is handed in, made from the released notebook of a course.

    A language that the course does not have is taken from the project, as a student may."""
    released = course / "release" / f"{submission.lesson}-{submission.language}" / f"{submission.lesson}.ipynb"
    if not released.exists():
        released = layout.path_of(layout.ROOT, submission.language, f"assignments/{submission.lesson}.ipynb")
    notebook = copy.deepcopy(reading.read(released))
    for name, answer in answers.answers_of(submission.lesson, submission.language, submission.changed).items():
        cell(notebook, name).source = answer
    if submission.happened is not None:
        submission.happened(notebook)
    return submission.form(notebook)


def hand_in(submissions, course, folder):
    """Write the files below a folder; return the downloads, zip files and folders, that the teacher names."""
    downloads = {}
    for submission in submissions:
        download, _, inside = submission.place.partition("/")
        downloads.setdefault(folder / download, []).append((inside, data_of(submission, course)))
    for download, files in downloads.items():
        if download.suffix == ".zip":
            write_zip(download, files)
        else:
            write_folder(download, files)
    return list(downloads)


def write_zip(path, files):
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for inside, data in files:
            archive.writestr(inside, data)


def write_folder(folder, files):
    for inside, data in files:
        path = Path(os.fsdecode(os.fsencode(folder / inside)))  # a name may hold bytes that are no UTF-8
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
