"""A small assignment in three languages, and what a class makes of it: good work, bad work and damage."""

import copy
import csv
import json
import shutil
from pathlib import Path

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, output_from_msg
from nbgrader.api import Gradebook

from notebook_files import reading

LESSON = "01_layernorm"
WORDS = {
    "en": ("Two tasks", "Double a number.", "Which is faster?", "The second."),
    "de": ("Zwei Aufgaben", "Verdopple eine Zahl.", "Was ist schneller?", "Das zweite."),
    "sv": ("Två uppgifter", "Fördubbla ett tal.", "Vilket är snabbast?", "Det andra."),
}
DOUBLE = "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"
SQUARE = "def square(x):\n    ### BEGIN SOLUTION\n    return x * x\n    ### END SOLUTION"
SETUP = """import warnings
from helpers import language
language.use("{}")
def check(function, x, expected):
    warnings.warn("shown on stderr")
    found = function(x)
    assert found == expected, f"{{found}} is wrong"
    print("good")"""
CHECK = "check({0}, 3, {1})\n### BEGIN HIDDEN TESTS\nassert {0}(7) == {2}, 'hidden mistake'\n### END HIDDEN TESTS"


def marked(cell, name, points=None, locked=False, solution=False):
    """Give a cell its id and what nbgrader knows of it."""
    nbgrader = {"grade_id": name, "locked": locked, "solution": solution, "task": False, "schema_version": 3}
    nbgrader |= {"grade": points is not None} | ({"points": points} if points is not None else {})
    return cell | {"id": name, "metadata": {"nbgrader": nbgrader}}


def source(language, first=""):
    """Return the teacher's notebook of a language, with a line of code before all other."""
    title, task, question, answer = WORDS[language]
    return reading.nbformat.from_dict(
        new_notebook(
            metadata={"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
            cells=[
                new_markdown_cell(f"# {title}", id="title"),
                marked(new_code_cell(first + SETUP.format(language)), "setup", locked=True),
                new_markdown_cell(task, id="task"),
                marked(new_code_cell(DOUBLE), "double", solution=True),
                marked(new_code_cell(CHECK.format("double", 6, 14)), "double-check", points=2, locked=True),
                marked(new_code_cell(SQUARE), "square", solution=True),
                marked(new_code_cell(CHECK.format("square", 9, 49)), "square-check", points=3, locked=True),
                marked(new_markdown_cell(question), "question", locked=True),
                marked(new_markdown_cell(answer), "judgement", points=4, solution=True),
            ],
        )
    )


def make_tree(root, first=""):
    """Write the teacher's notebooks of all languages below a folder; return it."""
    for language in WORDS:
        reading.write(root / "notebooks" / language / "solutions" / f"{LESSON}.ipynb", source(language, first))
    return root


def cell(notebook, name):
    """Return the first cell with a grade_id."""
    return next(c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == name)


def answered(released, **answers):
    """Return a released notebook with answers: double, square, judgement; the right ones unless told otherwise."""
    notebook = copy.deepcopy(released)
    right = {"double": "def double(x):\n    return x + x", "square": "def square(x):\n    return x**2"}
    for name, text in (right | answers).items():
        cell(notebook, name).source = text
    return notebook


ESCAPE = """import os, pathlib, sqlite3, subprocess
def attempts():
    yield lambda: open("../escaped", "w")
    yield lambda: open("{course}/escaped", "w")
    yield lambda: open("{course}/gradebook.db", "rb").read()
    yield lambda: sqlite3.connect("{course}/gradebook.db")
    yield lambda: os.remove("{course}/submitted/right/01_layernorm-en/01_layernorm.ipynb")
    yield lambda: os.rename("{course}/submitted/right", "{course}/submitted/wrong")
    yield lambda: subprocess.run(["touch", "{course}/escaped"])
    yield lambda: os.system("touch {course}/escaped")
    yield lambda: os.symlink("{course}", "link") or os.listdir("link")
escaped = []
for attempt in attempts():
    try:
        attempt()
        escaped.append(attempt)
    except PermissionError:
        pass
print("ESCAPED", len(escaped))
!touch {course}/escaped
def double(x):
    return 2 * x"""
SPY = """import IPython
ip = get_ipython()
def square(x):
    import sys
    frame = sys._getframe(1)
    while frame:
        print(frame.f_locals.get("raw_cell"), frame.f_locals.get("code"))
        frame = frame.f_back
    return x * x
print(In)
try:
    ip.events.register("pre_run_cell", lambda info: print(info.raw_cell))
except PermissionError:
    print("refused")
"""
TAMPER = """from helpers import language
def double(x):
    return 0
try:
    language.say = print
    print("REPLACED")
except AttributeError:
    pass"""


def duplicate(notebook, released):
    """Put in a check twice, and an answer twice, of which the second counts."""
    notebook.cells.insert(5, copy.deepcopy(cell(notebook, "double-check")))
    another = cell(answered(released, double="def double(x):\n    return 1"), "double")
    notebook.cells.insert(3, another | {"id": "new"})


def delete(notebook, _):
    notebook.cells.remove(cell(notebook, "square-check"))
    cell(notebook, "square").source = "def square(x):\n    return 1"


def tamper(notebook, _):
    cell(notebook, "square").source = "def square(x):\n    return 1"
    cell(notebook, "square-check").source = "pass"
    cell(notebook, "square-check").metadata.nbgrader.points = 100


def reorder(notebook, _):
    notebook.cells.reverse()


def fill(notebook, _):
    text = {"header": {"msg_type": "stream"}, "content": {"name": "stdout", "text": "x" * 50_000_000}}
    cell(notebook, "double").outputs = [output_from_msg(text)]


def as_colab_does(notebook, _):
    """Leave no ids, and metadata of its own."""
    for one in notebook.cells:
        one.pop("id", None)
        one.metadata["id"] = "aBc"
    notebook.metadata = {"colab": {"provenance": []}}


def strip(notebook, _):
    """Leave no metadata, but the ids."""
    for one in notebook.cells:
        one.metadata = {}


def retype(notebook, _):
    cell(notebook, "judgement").cell_type = "raw"
    cell(notebook, "judgement").source = "mine \ud800"


DAMAGES = {
    "duplicated": duplicate,
    "deleted": delete,
    "tampered": tamper,
    "reordered": reorder,
    "huge": fill,
    "colab": as_colab_does,
    "stripped": strip,
    "retyped": retype,
}


def damaged(kind, released, course):
    """Return the notebook of one kind of student, from the released one."""
    if kind in DAMAGES:
        notebook = answered(released)
        DAMAGES[kind](notebook, released)
        return notebook
    notebook = answered(released, **ANSWERS[kind])
    for one in notebook.cells:
        one.source = one.source.replace("{course}", str(course))
    return notebook


LOOP = "def double(x):\n    while True:\n        pass"
STUBBORN = "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass"
ANSWERS = {
    "right": {"judgement": "The second, because."},
    "wrong": {"double": "def double(x):\n    return x", "square": "def square(x):\n    return 3 * x"},
    "blank": {"double": "def double(x):\n    ...", "square": "def square(x):\n    ..."},
    "syntax": {"double": "def double(x:\n  return"},
    "loop": {"double": LOOP},
    "stubborn": {"double": STUBBORN},
    "exit": {"double": "import os\nos._exit(1)"},
    "escape": {"double": ESCAPE},
    "spy": {"square": SPY},
    "tamper": {"double": TAMPER},
    "marker": {"double": "### BEGIN HIDDEN TESTS\ndef double(x):\n    return 2 * x"},
    "noisy": {"double": "def double(x):\n    print('y' * 5_000_000)\n    return 2 * x"},
}
DESERVED = {  # of 2 + 3 points that are checked
    "right": 5, "wrong": 0, "blank": 0, "syntax": 3, "loop": 3, "stubborn": 3, "exit": 3, "escape": 5, "spy": 5,
    "tamper": 3, "marker": 5, "noisy": 5, "duplicated": 5, "deleted": 2, "tampered": 2, "reordered": 5, "huge": 5,
    "colab": 5, "stripped": 5, "retyped": 5,
}  # fmt: skip
IN_CI = ["right", "loop", "escape", "spy", "tamper", "tampered", "duplicated", "deleted", "syntax", "blank", "exit"]


def hand_in(course, folder, kinds):
    """Write what a class hands in below a folder, each student in the next language; return student → deserved."""
    deserved = {}
    for number, kind in enumerate(kinds):
        student = kind if kind not in deserved else f"{kind}{number}"
        language = tuple(WORDS)[number % 3]
        released = reading.read(next((course / "release" / f"{LESSON}-{language}").glob("*.ipynb")))
        path = Path(folder, student, "sv", f"my work {number}.ipynb")  # not the lesson's name, often not the language
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(damaged(kind, released, course.resolve())), encoding="utf8")
        deserved[student] = DESERVED[kind]
    return deserved


def released(course, language="en"):
    return reading.read(course / "release" / f"{LESSON}-{language}" / f"{LESSON}.ipynb")


def put(notebook, *path):
    """Write a notebook to a path and return it."""
    path = Path(*path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook), encoding="utf8")
    return path


def scores(course):
    """Return student → the other cells of the row in the table of marks."""
    with open(course / "marks.csv", encoding="utf-8-sig", newline="") as file:
        return {row[0]: row[1:] for row in csv.reader(file)}


def submitted(course, student, assignment="01_layernorm-en"):
    return reading.read(course / "submitted" / student / assignment / f"{LESSON}.ipynb")


def open_gradebook(course):
    """Return the gradebook of a course, to be used in a `with`."""
    return Gradebook(f"sqlite:///{course / 'gradebook.db'}")


def give(course, student, points, comment, assignment="01_layernorm-en"):
    """Give points and a comment for the written answer of a submission, as the formgrader does."""
    with open_gradebook(course) as gradebook:
        grade = gradebook.find_grade("judgement", LESSON, assignment, student)
        grade.manual_score = points
        grade.needs_manual_grade = False
        gradebook.find_comment("judgement", LESSON, assignment, student).manual_comment = comment
        gradebook.db.commit()


def given(course, student, assignment="01_layernorm-en"):
    """Return the points and the comment that the gradebook holds for the written answer of a submission."""
    with open_gradebook(course) as gradebook:
        grade = gradebook.find_grade("judgement", LESSON, assignment, student)
        comment = gradebook.find_comment("judgement", LESSON, assignment, student)
        return grade.manual_score, comment.manual_comment


def feedback(course, student, assignment="01_layernorm-en"):
    """Return the page of feedback on a submission."""
    return next((course / "feedback" / student / assignment).glob("*.html")).read_text(encoding="utf8")


def keep_only(course, *students):
    """Remove the submissions of all other students from a course, as a teacher may."""
    for folder in (course / "submitted").iterdir():
        if folder.name not in students:
            shutil.rmtree(folder)


def submit(course, student, notebook, assignment="01_layernorm-en"):
    """Put a notebook into the folder `submitted` of a course, in place of what is there."""
    reading.write(course / "submitted" / student / assignment / f"{LESSON}.ipynb", notebook)
