"""The folder of an nbgrader course: what is handed out, and what is submitted."""

import os
import shutil
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from tqdm import tqdm

from course import course_configuration, records
from notebook_files import cell_sources, layout, reading
from notebook_files.layout import LANGUAGES, ROOT

GRADED = ("autograded", "feedback")  # the folders of what is made from submissions
COLLECTED = "collected.json"  # the record of what was collected: assignment → attempt → whose it is
SKIPPED = "skipped.json"  # the record of files that could not be used: file → whose it is, and why
DOUBTS = "doubts.json"  # the record of names that are not certain: attempt/assignment → phrases


def sources(root, language):
    """Return the teacher's notebooks of a language. Raises ValueError if there are none."""
    found = sorted((root / "notebooks" / language / "solutions").glob("*.ipynb"))
    if not found:
        raise ValueError(f"notebooks/{language}/solutions holds no notebooks")
    return found


def create(directory, languages, root=ROOT, timeout=15):
    """Make a course; return the lines of the report. Raises ValueError if the folder is taken."""
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise ValueError(f"{directory} is not empty; name a new folder")
    files = [(language, file) for language in languages for file in sources(root, language)]
    was_there = directory.exists()
    try:
        fill(directory, files, languages, timeout)
    except BaseException:  # Ctrl-C, too: half a course would keep the same command from making a whole one
        remove_contents(directory, also_itself=not was_there)
        raise
    return [f"{directory}: {len(files)} assignments; hand out what is in {directory / 'release'}"]


def remove_contents(directory, also_itself):
    """Remove all that is in a folder, and the folder itself if it was not there before."""
    if also_itself:
        shutil.rmtree(directory, ignore_errors=True)
        return
    for path in directory.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def fill(directory, files, languages, timeout):
    """Write a course's configuration, its sources and what is handed out into a folder.

    files is a list of (language, the teacher's notebook)."""
    directory.mkdir(parents=True, exist_ok=True)
    course_configuration.write(directory, languages, timeout)
    for language, file in files:
        target = directory / "source" / f"{file.stem}-{language}" / file.name
        target.parent.mkdir(parents=True)
        # the bars of what is handed out lead to assignments
        target.write_text(file.read_text(encoding="utf8").replace("/solutions/", "/assignments/"), encoding="utf8")
    api = course_configuration.interface(directory)
    for language, file in tqdm(files, unit="notebook", leave=False):
        result = api.generate_assignment(f"{file.stem}-{language}")
        if not result["success"]:
            raise ValueError(f"notebooks/{language}/solutions/{file.name}: {course_configuration.reason(result)}")


def released_notebooks(directory):
    """Return assignment → released notebook of a course."""
    return {file.parent.name: reading.read(file) for file in sorted((directory / "release").glob("*/*.ipynb"))}


def release(root=ROOT):
    """Write what students get from what teachers have, as a course of all languages does; return the report."""
    languages = [language for language in LANGUAGES if (root / "notebooks" / language / "solutions").is_dir()]
    if not languages:
        raise ValueError("there is no notebooks/<lang>/solutions")
    report = []
    with TemporaryDirectory() as folder:
        create(Path(folder, "course"), languages, root)
        released = released_notebooks(Path(folder, "course"))
    for assignment, notebook in released.items():
        name, _, language = assignment.rpartition("-")
        english = cell_sources.by_id(released[f"{name}-en"]) if f"{name}-en" in released else {}
        for cell in notebook.cells:
            for_students(cell, english.get(cell.id))
        path = layout.path_of(root, language, f"assignments/{name}.ipynb")
        report += [str(path.relative_to(root))] if reading.write(path, notebook) else []
    return report or ["nothing has changed"]


def for_students(cell, english):
    """Let a cell's marks speak of the assignments."""
    cell.metadata.pop("executed", None)  # outputs are gone
    if english and "translation" in cell.metadata:
        cell.metadata["translation"]["of"] = cell_sources.digest(english.source)


def lesson_of(assignment):
    """Return the lesson of an assignment, "01_layernorm" for "01_layernorm-de"."""
    return assignment.rpartition("-")[0]


def lesson_names(assignments):
    """Return the lessons of assignments, in order."""
    return sorted({lesson_of(assignment) for assignment in assignments})


def place_of(directory, student, assignment):
    """Return the path of a submitted notebook."""
    return directory / "submitted" / student / assignment / f"{lesson_of(assignment)}.ipynb"


def submitted(directory, student, assignment):
    """Return the notebook that was submitted, or None if there is none that can be read."""
    with suppress(ValueError, OSError):
        return reading.read(place_of(directory, student, assignment))
    return None


def submit(directory, student, assignment, notebook, seconds, repairs=()):
    """Write a submission with the time of its file and its repairs.

    `student` is an attempt that nobody has, or one with these very answers; an attempt with other answers is never
    written over."""
    file = place_of(directory, student, assignment)
    is_new = not file.exists()
    if reading.write(file, notebook) and not is_new:
        forget(directory, student, assignment)  # the answers are the same, the cells around them are newer
    if is_new:
        stamp = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
        file.with_name("timestamp.txt").write_text(stamp + "\n")
    record = file.with_name("repairs.txt")
    record.unlink(missing_ok=True)
    if repairs:
        lines = (" ".join(phrase.splitlines()) for phrase in repairs)
        record.write_text("\n".join(lines), encoding="utf8", errors="backslashreplace")


def repairs_of(directory, student, assignment):
    """Return what the teacher is told of a submission, one phrase each: what was repaired, whose it may be."""
    file = place_of(directory, student, assignment).with_name("repairs.txt")
    phrases = file.read_text(encoding="utf8").splitlines() if file.exists() else []
    with suppress(ValueError):  # the next `collect` names a damaged record and writes a new one
        phrases += records.look(directory / DOUBTS).get(f"{student}/{assignment}", [])
    return phrases


def skipped(directory):
    """Return student → why each of the files that could not be used was skipped, a sentence each."""
    try:
        record = records.look(directory / SKIPPED)
    except ValueError as error:
        return {SKIPPED: [f"{error}: whose files were skipped is not known until the next collect"]}
    found = {}
    for entry in record.values():
        if entry.get("replaced"):
            continue
        found.setdefault(entry["student"], []).append(f"{entry['file']} was skipped: {entry['reason']}")
    return found


def submissions(directory):
    """Return (student, assignment) of all submissions."""
    return [file.parts[-3:-1] for file in sorted((directory / "submitted").glob("*/*/*.ipynb"))]


def forget(directory, student, assignment):
    """Drop what was made of a submission, so that it is made again; the gradebook keeps the teacher's points."""
    for step in GRADED:
        shutil.rmtree(directory / step / student / assignment, ignore_errors=True)
        remove_if_empty(directory / step / student)


def remove_if_empty(folder):
    """Remove a folder if nothing is in it."""
    with suppress(OSError):
        os.rmdir(folder)
