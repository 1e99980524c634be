"""The command `grade`: runs the checks of what is new or changed, and writes the feedback and the table of marks."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path

from nbgrader.api import MissingEntry
from tqdm import tqdm

from course import (
    answer_cells,
    course_configuration,
    course_folder,
    helpers_in_use,
    marks_table,
    one_submission,
    records,
)
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
    record = Record(directory)
    with gradebook:
        answers, failures = readable(directory, gradebook, found)
        for job in answers:
            forget_doubts_of_nbgrader(gradebook, job, record.of(job))
        seen = seen_answers(directory, gradebook, record, found)
        keeper = Keeper(directory, gradebook, seen, answers)
        clear_gone(directory, keeper, found)
        for job in answers:
            keeper.set_aside_rewritten(job)
        brought = {job for job in answers if bring_along(keeper, record, job)}
        for student in {student for student, _ in answers}:  # here, so that no two processes make the same one
            gradebook.update_or_create_student(student)
        seen |= {job: answers[job] for job in answers if job in brought or job not in seen}
        waiting = start_record(directory, gradebook, keeper, record, found, again)
    failures |= grade_all(directory, gradebook, record, waiting, answers)
    with gradebook:
        table = table_of(directory, gradebook, keeper, found, failures)
    rows = table.rows()
    marks_table.write(directory, table.header(), rows)
    report += marks_table.lines(table.header(), rows)
    return [*report, f"written to {directory / 'marks.csv'}"], not failures


class Record:
    """The record of what is graded: job → entry. It is written after each submission: an interruption costs no other.

    An entry holds
    state: the digest of what the feedback shows, see `state`; None while that is not up to date.
    checked: the digest of what the checks ran on and of what they gave, see `checked`.
    answers: the digests of the answers that the teacher's points and comments are about.
    waits: only while the grading is not finished, the cells that waited for the teacher before it began."""

    def __init__(self, directory):
        self.path = directory / RECORD
        try:
            entries = json.loads(self.path.read_text(encoding="utf8"))
            found = {tuple(name.split("/")): entry for name, entry in entries.items() if isinstance(entry, dict)}
        except (OSError, ValueError, AttributeError):  # missing or damaged: all is graded once more
            found = {}
        self.entries = found

    def of(self, job):
        """Return the entry of a job; an empty one if there is none."""
        return self.entries.get(job, {})

    def note(self, job, entry):
        """Replace the entry of a job, on disk as well."""
        self.entries[job] = entry
        self.write()

    def write(self):
        records.replace(self.path, {"/".join(job): entry for job, entry in self.entries.items()})


def forget_doubts_of_nbgrader(gradebook, job, entry):
    """Let points count again that nbgrader doubts only because the last grading was stopped before its end.

    nbgrader flags all points given by hand when it grades once more. Those that waited before stay flagged."""
    notebook = notebook_of(gradebook, *job)
    if "waits" not in entry or notebook is None:
        return
    for grade in notebook.grades:
        if grade.manual_score is not None and grade.name not in entry["waits"]:
            grade.needs_manual_grade = False
    gradebook.db.commit()


def bring_along(keeper, record, job):
    """Give a job the marks for the very same answers; return whether there are any.

    If other answers of it were graded before, those that the marks are for are noted first: a run that is stopped must
    not leave points that the next one takes for points for the answers that were graded."""
    if not keeper.marks_to_bring(job):
        return False
    if keeper.seen.get(job, keeper.now[job]) != keeper.now[job]:
        record.note(job, {"state": None, "checked": None, "answers": keeper.now[job]})
        course_folder.forget(keeper.directory, *job)
    keeper.bring_along(job)
    return True


def start_record(directory, gradebook, keeper, record, found, again):
    """Note how all submissions stand before they are graded; return job → whether its checks run, for what waits."""
    waiting = {}
    entries = {job: record.of(job) for job in found if job not in keeper.now and record.of(job)}  # not readable now
    for job, answers in keeper.now.items():
        noted = record.of(job)
        current = state(directory, gradebook, *job)
        if not again and current is not None and current == noted.get("state"):
            entries[job] = noted | {"answers": answers}
            continue
        done = checked(directory, gradebook, *job)
        finished = "waits" not in noted and done is not None and done == noted.get("checked")
        waiting[job] = again or not finished
        notebook = notebook_of(gradebook, *job)
        entries[job] = {
            "state": None,
            "checked": None if waiting[job] else done,
            "answers": keeper.seen[job],
        }
        if waiting[job]:
            entries[job]["waits"] = (
                [grade.name for grade in notebook.grades if grade.needs_manual_grade] if notebook else []
            )
    record.entries = entries
    record.write()
    return waiting


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


def seen_answers(directory, gradebook, record, found):
    """Return job → digests of the answers that were graded last, which are those that the teacher sees and marks."""
    jobs = dict.fromkeys([*found, *graded_before(directory, gradebook)])
    seen = {}
    for student, assignment in jobs:
        path = directory / "autograded" / student / assignment / f"{lesson_of(assignment)}.ipynb"
        try:
            seen[student, assignment] = graded_answers(reading.read(path))
        except (ValueError, OSError, AttributeError, TypeError):
            noted = record.of((student, assignment)).get("answers")
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


def checked(directory, gradebook, student, assignment):
    """Return a digest of what the checks ran on and of what they gave; None if they have not run.

    The teacher's points and comments are not in it: for them the feedback is written anew, but no check runs again."""
    notebook = notebook_of(gradebook, student, assignment)
    graded = directory / "autograded" / student / assignment / f"{lesson_of(assignment)}.ipynb"
    if notebook is None or not graded.is_file():
        return None
    submitted = course_folder.place_of(directory, student, assignment).read_bytes()
    points = sorted((grade.name, repr(grade.auto_score), grade.max_score) for grade in notebook.grades)
    return cell_sources.digest(repr((WAY, submitted, graded.stat().st_mtime_ns, points)))


def grade_all(directory, gradebook, record, waiting, answers):
    """Grade submissions, some at a time, and note each that is done; return job → why one could not be graded.

    waiting is a dictionary job → whether its checks run; for the others only the feedback is written anew."""
    failures = {}

    def finish(job, reason):
        if reason:
            failures[job] = reason
            return
        with gradebook:
            current = state(directory, gradebook, *job)
            done = checked(directory, gradebook, *job)
        record.note(job, {"state": current, "checked": done, "answers": answers[job]})

    pool = ThreadPoolExecutor(KERNELS)
    running = {}
    try:
        with tqdm(total=len(waiting), unit="submission") as bar:
            running |= {pool.submit(grade_apart, directory, *job): job for job, checks in waiting.items() if checks}
            for job in [job for job, checks in waiting.items() if not checks]:
                finish(job, one_submission.write_feedback(directory, *job))
                bar.update()
            for future in as_completed(list(running)):
                finish(running[future], future.result())
                del running[future]
                bar.update()
    finally:  # also after an interruption: nothing more begins, and what is done is noted
        pool.shutdown(wait=False, cancel_futures=True)
        for future, job in running.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                finish(job, future.result())
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
