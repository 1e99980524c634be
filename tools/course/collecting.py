"""What students hand in: the files, whose they are, and how they come into a course."""

import csv
import json
import os
import re
import shutil
import time
import unicodedata
from zipfile import ZipFile

from tqdm import tqdm

from course import answer_cells, course_configuration, course_folder
from notebook_files import cell_sources, layout

LARGEST_ZIP = 3_000_000_000  # bytes, unpacked
NO_NAMES = ("assignments", "notebooks", "submitted")  # folders that are no student's name

ATTEMPT = "~"  # ada~2 is Ada's second attempt
BETWEEN = r"[\s_.-]"
CANVAS = r"(_late)?_\d{3,}_\d{3,}(_.*|-\d+)?$"  # what Canvas puts after a name, with the student's own file name
MARKS = (  # what browsers, editors and Moodle add to a name
    r"_\d+_assignsubmission_\w*",
    r"\(\d+\)",
    rf"{BETWEEN}*(copy|kopie|kopia)\d*\b",
    rf"(^|{BETWEEN})({'|'.join(layout.LANGUAGES)})(?={BETWEEN}|$)",
)


def collect(directory, paths):
    """Make submissions of what students handed in; return the lines of the report and whether all could be used."""
    renewed = course_configuration.renew(directory)
    course_configuration.load(directory)
    if missing := [str(path) for path in paths if not path.exists()]:
        raise ValueError(f"there is no {', '.join(missing)}")
    released, record = course_folder.released_notebooks(directory), directory / "collected.json"
    origins = json.loads(record.read_text(encoding="utf8")) if record.exists() else {}
    report, good, names = [], True, corrected(directory)
    for file, folder in tqdm(list(files_of(paths, directory / "unpacked")), unit="file", leave=False):
        try:
            report.append(f"{file}: " + take(directory, file, folder, released, origins, names))
        except (ValueError, OSError) as error:
            report.append(f"{file}: skipped, {error}")
            good = False
    record.write_text(json.dumps(origins, indent=1, ensure_ascii=False), encoding="utf8")
    return renewed + report + alike(directory), good


def corrected(directory):
    """Return name as found → right name, from names.csv, where a comma or, as from Excel, a semicolon is between."""
    file = directory / "names.csv"
    text = file.read_text(encoding="utf-8-sig") if file.exists() else ""
    rows = csv.reader(text.splitlines(), delimiter=";" if ";" in text else ",")
    return {plain(row[0]): plain(row[1]) for row in rows if len(row) > 1 and plain(row[1])}


def alike(directory):
    """Return a line of the report for the names in a course that differ only in case."""
    names = {}
    for student, _ in course_folder.submissions(directory):
        name = student.partition(ATTEMPT)[0]
        names.setdefault(name.casefold(), set()).add(name)
    twins = [", ".join(sorted(same)) for same in names.values() if len(same) > 1]
    return [f"names that differ only in case: {same}; if this is one student, see names.csv" for same in twins]


def take(directory, file, folder, released, origins, names):
    """Put a file into a course; return whose it is and what was repaired. Raises ValueError if it cannot be used."""
    if is_predictions(file):
        return keep_predictions(directory, file, folder, origins, names)
    cells = answer_cells.read(file)
    assignment = answer_cells.assignment_of(cells, released)
    student = student_of(file, folder, course_folder.lesson_names(released))
    student = names.get(student, student)
    notebook, repairs = answer_cells.take_over(cells, released[assignment])
    free = lambda name: course_folder.submitted(directory, name, assignment) in (None, notebook)
    attempt = attempt_of(student, assignment, str(file.resolve()), origins, free)
    course_folder.submit(directory, attempt, assignment, notebook, file.stat().st_mtime, repairs)
    return f"{attempt}, {assignment}" + (": " if repairs else "") + "; ".join(repairs)


def files_of(paths, room, folder=None, depth=2):
    """Yield (file, student's folder or None) for files and for all files of folders, in order of their names.

    A zip file counts as a folder of its name; it is unpacked below `room`, and so is one inside of it."""
    for path in paths:
        if path.is_dir():
            for file in sorted(path.rglob("*")):
                parts = file.relative_to(path).parts
                if (
                    file.is_file()
                    and file.suffix != ".lock"
                    and not any(p.startswith((".", "__MACOSX")) for p in parts)
                ):
                    named = folder or (parts[0] if len(parts) > 1 and parts[0] not in NO_NAMES else None)
                    yield from files_of([file], room, named, depth)
        elif depth and path.suffix.lower() == ".zip" and (unpacked := unpack(path, room)):
            yield from files_of([unpacked], room, folder, depth - 1)
        else:
            yield path, folder


def unpack(path, room):
    """Unpack a zip file in place of what was unpacked before; return the folder, or None if that fails."""
    target = room / cell_sources.digest(str(path.resolve())) / path.stem.strip()
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    try:
        with ZipFile(path) as archive:
            if sum(part.file_size for part in archive.infolist()) > LARGEST_ZIP:
                return None
            for part in archive.infolist():
                file = archive.extract(part, target)  # never outside of the folder, whatever the name
                seconds = time.mktime((*part.date_time, 0, 0, -1))
                os.utime(file, (seconds, seconds))
    except Exception:  # zipfile raises many kinds for a damaged file, an unknown method or a password
        return None
    return target


def student_of(file, folder, names):
    """Return the student's name: the folder's, else what the file's name adds to a lesson's, else of the folder
    around it. names are the lessons' names. Raises ValueError if nothing is left."""
    around = [part.name for part in file.resolve().parents]
    for candidate in [folder] if folder else [file.name.partition(".ipynb")[0].removesuffix(".json"), *around]:
        name = without_marks(candidate, names)
        if name and name not in NO_NAMES:
            return name
    raise ValueError("neither the file nor its folder names a student")


def is_predictions(file):
    """Return whether a file is called as the predictions are, "predictions (1).json" or "ada_predictions.json", too."""
    return file.suffix.lower() == ".json" and "predictions" in file.name.lower()


def predictions(file):
    """Return what a file of predictions holds, question → entry. Raises ValueError if it is none."""
    try:
        found = json.loads(file.read_text(encoding="utf-8-sig")) if file.stat().st_size < answer_cells.LARGEST else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ValueError("not a file of predictions")
    return found


def predictor_of(file, folder):
    """Return the name of the student whose predictions these are; a file "predictions (1).json" is a student of its own
    unless its folder names one. Raises ValueError for a loose file among the folders of students."""
    if folder is None and file.name != "predictions.json":
        return without_marks(file.stem, ["_predictions"]) or file.stem
    beside = (part.name for part in file.parent.iterdir() if part.is_dir() and part.name[0] not in "._")
    if folder is None and any(without_marks(name, []) not in ("", *NO_NAMES) for name in beside):
        raise ValueError("put it in a folder with the student's name")
    return student_of(file, folder and folder.partition(ATTEMPT)[0], ["_predictions"])


def without_marks(text, names):
    """Return a name without a lesson's name, a language and the marks of copies, as a folder may be called."""
    text = re.sub(CANVAS, "", unicodedata.normalize("NFC", text), flags=re.I)
    for name in names:
        number, *words = name.split("_")
        words = f"{BETWEEN}*".join(map(re.escape, words))
        text = re.sub(f"{BETWEEN}*({number}|{number.lstrip('0')})?{BETWEEN}*{words}", "", text, flags=re.I)
    for mark in MARKS:
        text = re.sub(mark, "", text, flags=re.I)
    return plain(text)


def plain(text):
    """Return a name as a folder may be called."""
    return re.sub(r"[^\w.@-]+", "_", text).strip("_.-")[:80]


def keep_predictions(directory, file, folder, origins, names):
    """Copy a student's predictions into the course; return whose they are. Raises ValueError if it holds none."""
    found, place = predictions(file), directory / "predictions"
    text = json.dumps(found, indent=1)
    kept = lambda name: place / name / "predictions.json"
    free = lambda name: not kept(name).is_file() or kept(name).read_text(encoding="utf8") == text
    student = predictor_of(file, folder)
    name = attempt_of(names.get(student, student), "predictions", str(file.resolve()), origins, free)
    kept(name).parent.mkdir(parents=True, exist_ok=True)
    kept(name).write_text(text, encoding="utf8")
    return f"{name}, predictions"


def attempt_of(student, assignment, file, origins, free):
    """Return the name of an attempt and note in `origins` which file it came from.

    It is the attempt that came from this file before, else the first name that is free, or has the same answers."""
    taken = origins.setdefault(assignment, {})
    names = [student, *(f"{student}{ATTEMPT}{number}" for number in range(2, 1000))]
    before = (name for name in names if taken.get(name) == file)
    name = next(before, None) or next(filter(free, names))
    taken[name] = file
    return name
