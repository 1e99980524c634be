"""The marks of a course: runs the checks of what was handed in, and makes the table."""

import csv
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from nbgrader.api import MissingEntry
from tqdm import tqdm

from course import course_folder, nbgrader_hooks
from course.collecting import ATTEMPT
from notebook_files import cell_sources

KERNELS = 2  # at once, as in notebooks.py
LONGEST = 600  # seconds for a submission, kernels that do not answer included


def grade(directory, again=False):
    """Grade what is new or changed; return the lines of the table and whether every submission could be graded."""
    gradebook = nbgrader_hooks.interface(directory).gradebook
    found, failures, record = course_folder.submissions(directory), {}, directory / "graded.json"
    if not found:
        raise ValueError(f"{directory} holds no submissions; first: classroom.py collect {directory} FILES")
    graded = json.loads(record.read_text(encoding="utf8")) if record.exists() and not again else {}
    with gradebook:
        clear(directory, gradebook, found)
        for student in {student for student, _ in found}:  # here, so that no two processes make the same one
            gradebook.update_or_create_student(student)
        states = {job: state(directory, gradebook, *job) for job in found}
        waiting = [job for job in found if states[job] is None or graded.get("/".join(job)) != states[job]]
    if again:
        for job in found:
            course_folder.forget(directory, *job)
    with ThreadPoolExecutor(KERNELS) as pool, tqdm(total=len(waiting), unit="submission") as bar:

        def work(job):
            failures[job] = grade_apart(directory, *job)
            bar.update()

        list(pool.map(work, waiting))
    failures = {job: failure for job, failure in failures.items() if failure}
    with gradebook:
        graded = {"/".join(job): state(directory, gradebook, *job) for job in found if job not in failures}
        header, rows = marks(directory, gradebook, found, failures)
    record.write_text(json.dumps(graded, indent=1, ensure_ascii=False), encoding="utf8")
    write_table(directory, header, rows)
    return table([header, *rows]) + [f"written to {directory / 'marks.csv'}"], not failures


def write_table(directory, header, rows):
    """Write marks.csv as Excel reads it: where German and Swedish are spoken, with ; and a decimal comma."""
    english = any((directory / "release").glob("*-en"))
    if not english:
        rows = [[name, *(cell.replace(".", ",") for cell in cells), note] for name, *cells, note in rows]
    with open(directory / "marks.csv", "w", newline="", encoding="utf-8-sig") as file:
        csv.writer(file, delimiter="," if english else ";").writerows([header, *rows])


def clear(directory, gradebook, found):
    """Drop what was graded of submissions that are gone, so that a wrong name leaves nothing behind."""
    folders = (folder for step in course_folder.GRADED for folder in (directory / step).glob("*/*"))
    gone = {folder.parts[-2:] for folder in folders} - set(found)
    for student, assignment in gone:
        course_folder.forget(directory, student, assignment)
        with suppress(MissingEntry):
            gradebook.remove_submission(assignment, student)
    for student in {student for student, _ in gone} - {student for student, _ in found}:
        with suppress(MissingEntry):
            gradebook.remove_student(student)


def state(directory, gradebook, student, assignment):
    """Return a digest of what the feedback shows, the answers, points and comments; None if there is no feedback."""
    try:
        notebook = gradebook.find_submission(assignment, student).notebooks[0]
        folder = directory / "feedback" / student / assignment
        page = (folder / f"{notebook.name}.html").stat().st_mtime_ns
    except (MissingEntry, OSError):
        return None
    answers = course_folder.place_of(directory, student, assignment).read_text(encoding="utf8")
    points = sorted((grade.name, grade.score, grade.needs_manual_grade) for grade in notebook.grades)
    comments = sorted((comment.name, comment.comment or "") for comment in notebook.comments)
    return cell_sources.digest(repr((page, answers, points, comments)))


def grade_apart(directory, student, assignment):
    """Grade a submission in a process of its own; return why it failed, or ""."""
    command = [sys.executable, "-m", "course.nbgrader_hooks", str(directory.resolve()), student, assignment]
    try:
        result = subprocess.run(
            command, cwd=nbgrader_hooks.TOOLS, capture_output=True, text=True, encoding="utf8", timeout=LONGEST
        )
        return json.loads(result.stdout.strip().split("\n")[-1])
    except subprocess.TimeoutExpired:
        return f"took longer than {LONGEST} s"
    except json.JSONDecodeError:
        return (result.stderr.strip().split("\n")[-1] or f"ended with code {result.returncode}")[:200]


def marks(directory, gradebook, found, failures):
    """Return the header and the rows of the table: for each student and lesson the best of all attempts."""
    names, attempts, notes, most = course_folder.lesson_names(assignment for _, assignment in found), {}, {}, {}
    for student, assignment in found:
        name, lesson = student.partition(ATTEMPT)[0], assignment.rpartition("-")[0]
        most[lesson] = gradebook.find_assignment(assignment).max_score
        score, note = mark(gradebook, student, assignment, failures.get((student, assignment)))
        told = [note] if note else []
        attempt = f" (attempt {student.partition(ATTEMPT)[2]})" if ATTEMPT in student else ""
        told += course_folder.repairs_of(directory, student, assignment)
        notes.setdefault(name, []).extend(f"{assignment}: {text}{attempt}" for text in told)
        scores = attempts.setdefault(name, {}).setdefault(lesson, {})
        scores |= {} if score is None else {f"{student}/{assignment}": score}
    rows = []
    for name, tried in sorted(attempts.items()):
        best = {lesson: max(scores, key=scores.get) for lesson, scores in tried.items() if scores}
        points = {lesson: tried[lesson][attempt] for lesson, attempt in best.items()}
        notes[name] += [f"{attempt} counts" for lesson, attempt in best.items() if len(tried[lesson]) > 1]
        cells = [f"{points[lesson]:g}" if lesson in points else "" for lesson in names]
        rows.append([name, *cells, f"{sum(points.values()):g}", "; ".join(notes[name])])
    return ["student", *(f"{x} /{most[x]:g}" for x in names), f"total /{sum(most.values()):g}", "note"], rows


def mark(gradebook, student, assignment, failure):
    """Return the score of a submission, or None, and a note, or ""."""
    if failure:
        return None, f"not graded, {failure}"
    try:
        submission = gradebook.find_submission(assignment, student)
    except MissingEntry:
        return None, "not graded"
    return submission.score, "a written answer waits" if submission.needs_manual_grade else ""


def table(rows):
    """Return rows as lines with aligned columns."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
