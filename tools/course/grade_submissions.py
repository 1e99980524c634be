"""The command `grade`: runs the checks of what is new or changed, and writes the feedback and the table of marks."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from nbgrader.api import MissingEntry
from tqdm import tqdm

from course import answer_cells, course_configuration, course_folder, helpers_in_use, marks_table, records
from course.course_folder import lesson_of
from course.manual_marks import GONE, Keeper, name_of_attempt, notebook_of, person_of
from nbgrader_hooks.answer_digests import answers_of, graded_answers
from notebook_files import cell_sources, reading

KERNELS = 2  # at once, as in notebooks.py
LONGEST = 600  # seconds for a submission, kernels that do not answer included
RECORD = "graded.json"
WAY = "sanitised"  # changes when graded submissions have to be graded once more, since it is done in another way
COMMAND = Path(__file__).resolve().parents[1] / "classroom.py"


def grade(directory, again=False):
    """Grade what is new or changed; return the lines of the report and whether every submission could be graded.

    Raises ValueError with one sentence if nothing can be graded."""
    report = course_configuration.renew(directory)
    gradebook = course_configuration.interface(directory).gradebook
    found = list(dict.fromkeys(course_folder.submissions(directory)))
    if not found:
        raise ValueError(f"{directory} holds no submissions; first: classroom.py collect {directory} FILES")
    project = course_configuration.project_of(directory)
    helpers_in_use.refuse_others(project)
    helpers_in_use.refuse_older_notebooks(course_folder.released_notebooks(directory), project)
    record = read_record(directory)
    with gradebook:
        answers, failures = readable(directory, gradebook, found)
        seen = seen_answers(directory, gradebook, record, found)
        keeper = Keeper(directory, gradebook, seen, answers)
        clear_gone(directory, keeper, found)
        for job in answers:
            keeper.set_aside_rewritten(job)
        for job in answers:
            keeper.bring_along(job)
        for student in {student for student, _ in answers}:  # here, so that no two processes make the same one
            gradebook.update_or_create_student(student)
        known = {job: state(directory, gradebook, *job) for job in answers}
    waiting = [job for job in answers if again or known[job] is None or known[job] != record.get(job, {}).get("state")]
    failures |= grade_all(directory, waiting)
    with gradebook:
        write_record(directory, gradebook, record, seen, answers, failures)
        table = table_of(directory, gradebook, keeper, found, failures)
    rows = table.rows()
    marks_table.write(directory, table.header(), rows)
    report += marks_table.lines(table.header(), rows)
    return [*report, f"written to {directory / 'marks.csv'}"], not failures


def readable(directory, gradebook, found):
    """Return job → digests of its answers, and job → why it cannot be graded, for the submissions of a course."""
    assignments = {assignment.name for assignment in gradebook.assignments}
    answers = {}
    failures = {}
    for student, assignment in found:
        if assignment not in assignments:
            failures[student, assignment] = f"this course has no assignment {assignment}"
            continue
        if not f"{student}{assignment}".isprintable():
            failures[student, assignment] = "its folder's name holds signs that no name holds"
            continue
        try:
            answers[student, assignment] = answers_of(
                reading.read(course_folder.place_of(directory, student, assignment))
            )
        except FileNotFoundError as error:
            failures[student, assignment] = f"there is no {Path(error.filename).name} in its folder"
        except (ValueError, OSError, AttributeError, TypeError):
            failures[student, assignment] = "its file is not a notebook that can be read"
    return answers, failures


def read_record(directory):
    """Return job → what was noted when it was graded; nothing for a record that is missing or damaged."""
    try:
        entries = json.loads((directory / RECORD).read_text(encoding="utf8"))
        return {tuple(name.split("/")): entry for name, entry in entries.items() if isinstance(entry, dict)}
    except (OSError, ValueError, AttributeError):
        return {}


def write_record(directory, gradebook, record, seen, answers, failures):
    """Note what is graded, in which state and for which answers; of what failed, the answers marked before."""
    entries = {}
    for job in answers:
        graded = seen.get(job) or record.get(job, {}).get("answers", {})
        if job not in failures:
            graded = answers[job]
        current = None if job in failures else state(directory, gradebook, *job)
        entries["/".join(job)] = {"state": current, "answers": graded}
    records.replace(directory / RECORD, entries)


def seen_answers(directory, gradebook, record, found):
    """Return job → digests of the answers that were graded last, which are those that the teacher sees and marks."""
    jobs = dict.fromkeys([*found, *graded_before(directory, gradebook)])
    seen = {}
    for student, assignment in jobs:
        path = directory / "autograded" / student / assignment / f"{lesson_of(assignment)}.ipynb"
        try:
            seen[student, assignment] = graded_answers(reading.read(path))
        except (ValueError, OSError, AttributeError, TypeError):
            noted = record.get((student, assignment), {}).get("answers")
            if noted:
                seen[student, assignment] = noted
    return seen


def graded_before(directory, gradebook):
    """Return the jobs of which a course holds something graded, in its folders or in its gradebook."""
    folders = [folder for step in course_folder.GRADED for folder in (directory / step).glob("*/*")]
    entered = [
        (submission.student.id, assignment.name)
        for assignment in gradebook.assignments
        for submission in gradebook.assignment_submissions(assignment.name)
    ]
    return list(dict.fromkeys([*(folder.parts[-2:] for folder in folders if folder.is_dir()), *entered]))


def clear_gone(directory, keeper, found):
    """Drop what was graded of submissions that are gone; what the teacher gave for them is set aside."""
    gradebook = keeper.gradebook
    gone = [job for job in graded_before(directory, gradebook) if job not in set(found)]
    for student, assignment in gone:
        keeper.set_aside_gone((student, assignment))
        with suppress(MissingEntry):
            gradebook.remove_submission(assignment, student)
        course_folder.forget(directory, student, assignment)
    for student in {student for student, _ in gone} - {student for student, _ in found}:
        with suppress(MissingEntry):
            if not gradebook.student_submissions(student):
                gradebook.remove_student(student)


def state(directory, gradebook, student, assignment):
    """Return a digest of what the feedback shows, the answers, points and comments; None if there is no feedback."""
    notebook = notebook_of(gradebook, student, assignment)
    pages = sorted((directory / "feedback" / student / assignment).glob("*.html"))
    if notebook is None or not pages:
        return None
    written = [(page.name, page.stat().st_mtime_ns) for page in pages]
    submitted = course_folder.place_of(directory, student, assignment).read_bytes()
    points = sorted((grade.name, grade.score, grade.needs_manual_grade) for grade in notebook.grades)
    comments = sorted((comment.name, comment.comment or "") for comment in notebook.comments)
    return cell_sources.digest(repr((WAY, written, submitted, points, comments)))


def grade_all(directory, jobs):
    """Grade submissions, some at a time; return job → the reason for those that could not be graded."""
    failures = {}
    with ThreadPoolExecutor(KERNELS) as pool, tqdm(total=len(jobs), unit="submission") as bar:

        def work(job):
            reason = grade_apart(directory, *job)
            if reason:
                failures[job] = reason
            bar.update()

        list(pool.map(work, jobs))
    return failures


def grade_apart(directory, student, assignment):
    """Grade a submission in a process of its own; return why it failed, or ""."""
    command = [sys.executable, str(COMMAND), "grade-one", "--", str(directory.resolve()), student, assignment]
    try:
        result = subprocess.run(
            command, capture_output=True, text=True, encoding="utf8", errors="replace", timeout=LONGEST
        )
        return str(json.loads(result.stdout.strip().split("\n")[-1]))
    except subprocess.TimeoutExpired:
        return f"took longer than {LONGEST} s"
    except json.JSONDecodeError:
        return (result.stderr.strip().split("\n")[-1] or f"ended with code {result.returncode}")[:200]


def table_of(directory, gradebook, keeper, found, failures):
    """Return the table of marks of a course."""
    most = {}
    for lesson in course_folder.lesson_names(assignment for _, assignment in keeper.now):
        assignment = next(name for _, name in keeper.now if lesson_of(name) == lesson)
        most[lesson] = gradebook.find_assignment(assignment).max_score
    table = marks_table.Table(most)
    for job in found:
        add_submission(table, directory, gradebook, keeper, job, failures.get(job))
    for entry in keeper.entries:
        if entry.why == GONE:
            table.note(entry.student, subject_of(entry.student, entry.assignment), [remark_on_gone(entry)])
    for student, remarks in course_folder.skipped(directory).items():
        table.note(student, "", remarks)
    return table


def subject_of(student, assignment):
    """Return what a note names a submission: its assignment, and which attempt it is if it is not the first."""
    return assignment if person_of(student) == student else name_of_attempt(student, assignment)


def add_submission(table, directory, gradebook, keeper, job, failure):
    """Add the points of a submission to the table, and what is to be said about it."""
    student, assignment = job
    about = subject_of(student, assignment)
    if failure:
        table.note(student, about, [f"not graded, {failure}"])
        return
    notebook = notebook_of(gradebook, student, assignment)
    table.score(student, assignment, notebook.score)
    table.note(student, about, marks_table.remarks_on_waiting(notebook.grades, keeper.earlier(job)))
    table.note(student, about, course_folder.repairs_of(directory, student, assignment))
    submitted = reading.read(course_folder.place_of(directory, student, assignment))
    table.note(student, about, answer_cells.suspicious(submitted))


def remark_on_gone(entry):
    """Return what is to be said about marks whose submission is gone."""
    given = []
    if entry.mark.points is not None or entry.mark.extra is not None:
        given.append(marks_table.points_given(entry.mark.points, entry.mark.extra))
    if entry.mark.comment:
        given.append("a comment")
    return f"the submission is gone; {' and '.join(given)} for {entry.mark.cell} are kept in set_aside.json"
