"""The teacher's tool: the lessons' assignments as an nbgrader course, from handing out to the marks.

    python tools/classroom.py create DIR [--lang de] [--lang sv]
    python tools/classroom.py collect DIR FILES...
    python tools/classroom.py grade DIR [--again]
    python tools/classroom.py predictions FILES... [--lang de] [--names] [--out FILE]
    python tools/classroom.py release

create makes an nbgrader course from notebooks/<lang>/solutions, ready to run, with one nbgrader assignment for
each lesson and language (all three without --lang). What students get is then in DIR/release.

collect takes what students hand in, files or folders. It starts from the released notebook and takes over the
answer cells only, so that whatever happened to the other cells does no harm; lesson and language are told from
the cells, not from names. In a folder that you name each folder is a student; any other file names its student:
ada_01_layernorm.ipynb, or 01_layernorm.ipynb in a folder ada. A second notebook for the same assignment is a
second attempt, ada~2; the same file once more takes the place of what it was before. The file predictions.json,
which lies beside a student's notebooks, goes into DIR/predictions.

grade runs the checks of what has not been graded yet (of everything with --again), two submissions at a time,
writes the feedback into DIR/feedback and the marks into DIR/marks.csv: one row a student, for each lesson the
best of all attempts, in whatever language. Written answers wait for you in nbgrader's formgrader; grade once more
afterwards for the new table.

predictions makes one page, predictions.html, of the students' predictions, files or folders such as DIR/predictions:
for each question what the class believed and what was measured. It names no student without --names.

release writes notebooks/<lang>/assignments, what students get, from notebooks/<lang>/solutions. For authors.

Exit code 1 if a file was skipped or a submission could not be graded.
"""

import argparse
import csv
import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from tqdm import tqdm

import lessons
from lessons import LANGUAGES, ROOT

try:
    from nbgrader.api import MissingEntry

    import grading
    import handed_in
except ModuleNotFoundError as error:
    sys.exit(f"{error.name} is missing; install it with: pip install -r tests/requirements.txt")

KERNELS = 2  # at once, as in notebooks.py
LONGEST = 600  # seconds for a submission, kernels that do not answer included
CONFIGURATION = '''"""An nbgrader course, made by tools/classroom.py; nbgrader's own commands work in this folder as well."""

import sys
from pathlib import Path

from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from nbgrader.preprocessors import ClearSolutions, Execute

sys.path.insert(0, {tools!r})  # write the new place here if the project has moved
import grading

c = get_config()
root = Path(__file__).resolve().parent
c.CourseDirectory.root = str(root)
c.CourseDirectory.db_url = f"sqlite:///{{root / 'gradebook.db'}}?timeout=60"  # two submissions write at a time

c.ClearSolutions.code_stub = {{"python": "..."}}  # words of no language, so that the code is the same in all
c.GenerateAssignment.preprocessors = [
    grading.TextStubs if step is ClearSolutions else step for step in GenerateAssignment.preprocessors.default()
]

c.Execute.kernel_name = "python3"
c.Execute.timeout = {timeout}  # seconds a cell
c.Execute.iopub_timeout = 10
c.Execute.extra_arguments = [
    "--HistoryManager.hist_file=:memory:",
    f"--IPKernelApp.exec_files={{Path(grading.TOOLS, 'guard.py')}}",
]
steps = [grading.ExecuteApart if step is Execute else step for step in Autograde.autograde_preprocessors.default()]
steps.insert(1, grading.DropWarnings)
c.Autograde.autograde_preprocessors = steps
c.LimitOutput.max_lines = 200
c.LimitOutput.max_traceback = 40

c.GenerateFeedback.preprocessors = [grading.HideChecks, *GenerateFeedback.preprocessors.default()]
'''


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
    directory.mkdir(parents=True, exist_ok=True)
    text = CONFIGURATION.format(tools=str(grading.TOOLS), timeout=timeout)
    (directory / "nbgrader_config.py").write_text(text, encoding="utf8")
    for language, file in files:
        target = directory / "source" / f"{file.stem}-{language}" / file.name
        target.parent.mkdir(parents=True)
        # the bars of what is handed out lead to assignments
        target.write_text(file.read_text(encoding="utf8").replace("/solutions/", "/assignments/"), encoding="utf8")
    api = grading.interface(directory)
    for language, file in tqdm(files, unit="notebook", leave=False):
        result = api.generate_assignment(f"{file.stem}-{language}")
        if not result["success"]:
            raise ValueError(f"notebooks/{language}/solutions/{file.name}: {grading.reason(result)}")
    return [f"{directory}: {len(files)} assignments; hand out what is in {directory / 'release'}"]


def released_notebooks(directory):
    """Return assignment → released notebook of a course."""
    return {file.parent.name: lessons.read(file) for file in sorted((directory / "release").glob("*/*.ipynb"))}


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
        english = lessons.by_id(released[f"{name}-en"]) if f"{name}-en" in released else {}
        for cell in notebook.cells:
            for_students(cell, english.get(cell.id))
        path = lessons.path_of(root, language, f"assignments/{name}.ipynb")
        report += [str(path.relative_to(root))] if lessons.write(path, notebook) else []
    return report or ["nothing has changed"]


def for_students(cell, english):
    """Let a cell's marks speak of the assignments."""
    cell.metadata.pop("executed", None)  # outputs are gone
    if english and "translation" in cell.metadata:
        cell.metadata["translation"]["of"] = lessons.digest(english.source)


def lesson_names(assignments):
    """Return the lessons of assignments, in order."""
    return sorted({assignment.rpartition("-")[0] for assignment in assignments})


def collect(directory, paths):
    """Make submissions of what students handed in; return the lines of the report and whether all could be used."""
    grading.configuration(directory)
    missing = [str(path) for path in paths if not path.exists()]
    if missing:
        raise ValueError(f"there is no {', '.join(missing)}")
    released, record = released_notebooks(directory), directory / "collected.json"
    origins = json.loads(record.read_text(encoding="utf8")) if record.exists() else {}
    report, good = [], True
    for file, folder in tqdm(list(handed_in.files_of(paths)), unit="file", leave=False):
        try:
            if handed_in.is_predictions(file):
                report.append(handed_in.keep_predictions(directory, file, folder, origins))
                continue
            cells = handed_in.read(file)
            assignment = handed_in.assignment_of(cells, released)
            student = handed_in.student_of(file, folder, lesson_names(released))
        except (ValueError, OSError) as error:
            report.append(f"{file}: skipped, {error}")
            good = False
            continue
        notebook, repairs = handed_in.take_over(cells, released[assignment])
        attempt = handed_in.attempt_of(student, assignment, str(file.resolve()), origins)
        submit(directory, attempt, assignment, notebook, file.stat().st_mtime)
        report.append(f"{file}: {attempt}, {assignment}" + (": " if repairs else "") + "; ".join(repairs))
    record.write_text(json.dumps(origins, indent=1, ensure_ascii=False), encoding="utf8")
    return report, good


def submit(directory, student, assignment, notebook, seconds):
    """Write a submission with the time of its file; if it has changed, drop what was graded before."""
    folder = directory / "submitted" / student / assignment
    if lessons.write(folder / f"{assignment.rpartition('-')[0]}.ipynb", notebook):
        forget(directory, student, assignment)
    stamp = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    (folder / "timestamp.txt").write_text(stamp + "\n")


def forget(directory, student, assignment):
    """Drop what was graded of a submission."""
    for step in ("autograded", "feedback"):
        shutil.rmtree(directory / step / student / assignment, ignore_errors=True)


def submissions(directory):
    """Return (student, assignment) of all submissions."""
    return [file.parts[-3:-1] for file in sorted((directory / "submitted").glob("*/*/*.ipynb"))]


def grade(directory, again=False):
    """Grade all submissions; return the lines of the table and whether every one could be graded."""
    gradebook = grading.interface(directory).gradebook
    found, failures = submissions(directory), {}
    if not found:
        raise ValueError(f"{directory} holds no submissions; first: classroom.py collect {directory} FILES")
    with gradebook:
        for student in {student for student, _ in found}:  # here, so that no two processes make the same one
            gradebook.update_or_create_student(student)
    with ThreadPoolExecutor(KERNELS) as pool, tqdm(total=len(found), unit="submission") as bar:
        if again:
            for student, assignment in found:
                forget(directory, student, assignment)

        def work(job):
            failures[job] = grade_apart(directory, *job)
            bar.update()

        list(pool.map(work, found))
    failures = {job: failure for job, failure in failures.items() if failure}
    header, rows = marks(directory, found, failures)
    with open(directory / "marks.csv", "w", newline="", encoding="utf-8-sig") as file:  # so that Excel reads it
        csv.writer(file).writerows([header, *rows])
    return table([header, *rows]) + [f"written to {directory / 'marks.csv'}"], not failures


def grade_apart(directory, student, assignment):
    """Grade a submission in a process of its own; return why it failed, or ""."""
    command = [sys.executable, str(grading.TOOLS / "grading.py"), str(directory), student, assignment]
    try:
        result = subprocess.run(command, capture_output=True, text=True, encoding="utf8", timeout=LONGEST)
        return json.loads(result.stdout.strip().split("\n")[-1])
    except subprocess.TimeoutExpired:
        return f"took longer than {LONGEST} s"
    except json.JSONDecodeError:
        return (result.stderr.strip().split("\n")[-1] or f"ended with code {result.returncode}")[:200]


def marks(directory, found, failures):
    """Return the header and the rows of the table: for each student and lesson the best of all attempts."""
    lessons_, best, notes, most = lesson_names(assignment for _, assignment in found), {}, {}, {}
    with grading.interface(directory).gradebook as gradebook:
        for student, assignment in found:
            name, lesson = student.partition(handed_in.ATTEMPT)[0], assignment.rpartition("-")[0]
            scores = best.setdefault(name, {})
            most[lesson] = gradebook.find_assignment(assignment).max_score
            score, note = mark(gradebook, student, assignment, failures.get((student, assignment)))
            notes.setdefault(name, []).extend([f"{assignment}: {note}"] if note else [])
            if score is not None:
                scores[lesson] = max(score, scores.get(lesson, 0))
    header = ["student", *(f"{lesson} /{most[lesson]:g}" for lesson in lessons_)]
    header += [f"total /{sum(most.values()):g}", "note"]
    rows = [
        [name, *(f"{s[x]:g}" if x in s else "" for x in lessons_), f"{sum(s.values()):g}", "; ".join(notes[name])]
        for name, s in sorted(best.items())
    ]
    return header, rows


def mark(gradebook, student, assignment, failure):
    """Return the score of a submission, or None, and a note, or ""."""
    if failure:
        return None, f"not graded, {failure}"
    try:
        submission = gradebook.find_submission(assignment, student)
    except MissingEntry:
        return None, "not graded"
    attempt = f" (attempt {student.partition(handed_in.ATTEMPT)[2]})" if handed_in.ATTEMPT in student else ""
    return submission.score, f"a written answer waits{attempt}" if submission.needs_manual_grade else ""


def table(rows):
    """Return rows as lines with aligned columns."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]


def arguments():
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("release", help="write what students get, for authors")
    maker = commands.add_parser("create", help="make an nbgrader course")
    collector = commands.add_parser("collect", help="take what students hand in")
    grader = commands.add_parser("grade", help="grade it and write the marks")
    shower = commands.add_parser("predictions", help="show what the class believed and what was measured")
    for command in (maker, collector, grader):
        command.add_argument("directory", metavar="DIR", type=Path, help="the course's folder")
    maker.add_argument("--lang", action="append", choices=LANGUAGES, help="a language; all three without")
    for command in (collector, shower):
        command.add_argument("files", metavar="FILES", nargs="+", type=Path, help="files, or folders of them")
    shower.add_argument("--lang", choices=LANGUAGES, default="en", help="the language of the page; English without")
    shower.add_argument("--names", action="store_true", help="also say who chose what")
    shower.add_argument("--out", metavar="FILE", type=Path, default=Path("predictions.html"), help="the page to write")
    grader.add_argument("--again", action="store_true", help="also what has been graded already")
    return parser


def perform(args, root):
    """Carry out a command; return the lines of its report and whether all went well."""
    if args.command == "release":
        return release(root), True
    if args.command == "create":
        return create(args.directory, list(dict.fromkeys(args.lang or LANGUAGES)), root), True
    if args.command == "collect":
        return collect(args.directory, args.files)
    if args.command == "predictions":
        import class_predictions  # matplotlib takes a second

        return class_predictions.write(args.files, args.out, args.lang, args.names)
    return grade(args.directory, args.again)


def main(words=None, root=ROOT):
    """Carry out the command of the command line, or of a list of words, and end with its exit code."""
    lessons.end(perform, arguments().parse_args(words), root)


if __name__ == "__main__":
    main()
