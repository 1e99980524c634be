"""Assignments beside their solutions: what `check` says of those that are stale, and of points that disagree."""

import pytest

from lint import all_findings
from notebook_files import cell_sources, layout, navigation, reading
from tests.support.faults import FIRST, drop, on_cell, on_notebook, source, swap
from tests.support.small_tree import Tree
from translation import sync


@pytest.fixture
def course(tmp_path):
    """The project with a solution and the assignment made from it in every language."""
    tree = Tree(tmp_path)
    grading = {"grade_id": "picture", "locked": False, "points": 2, "solution": True}
    for language in layout.LANGUAGES:
        notebook = reading.read(tree.path(language, FIRST))
        cells = cell_sources.by_id(notebook)
        cells["idea"].source = cells["idea"].source.replace("02_", "../02_")
        cells["picture"].metadata["nbgrader"] = grading
        cells["read"].metadata["nbgrader"] = {"solution": True}
        code = "def f(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"
        cells["picture"].source = code + "\n### BEGIN HIDDEN TESTS\nassert f(1) == 2\n### END HIDDEN TESTS"
        cells["picture"].metadata["executed"] = cell_sources.digest(cells["picture"].source)
        reading.write(tree.path(language, f"solutions/{FIRST}"), notebook)
        cells["picture"].source, cells["read"].source = "def f(x):\n    ...", "Your answer"
        cells["picture"].metadata["nbgrader"] = grading | {"checksum": "0", "cell_type": "code"}
        for cell in notebook.cells:
            cell.metadata.pop("executed", None)
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
        reading.write(tree.path(language, f"assignments/{FIRST}"), notebook)
    for language in layout.OTHERS:
        with tree.edit(language, f"solutions/{FIRST}") as notebook:
            cell, english = cell_sources.by_id(notebook)["idea"], tree.cell("en", f"solutions/{FIRST}", "idea")
            cell.metadata["translation"]["of"] = cell_sources.digest(english.source)
        with tree.edit(language, f"assignments/{FIRST}") as notebook:
            cell_sources.by_id(notebook)["idea"].metadata = cell.metadata
    navigation.nav(tree.root, tree.books())
    return tree


def test_an_assignment_as_release_makes_it_is_no_fault(course):
    assert all_findings.check(course.root) == []


def points(cell):
    cell.metadata["nbgrader"]["points"] = 3


def execute(notebook):
    cell_sources.by_id(notebook)["setup"].outputs = [reading.nbformat.v4.new_output("stream", text="x")]


SOLUTION, ASSIGNMENT = f"solutions/{FIRST}", f"assignments/{FIRST}"
OTHER = "not what its solution makes"
TITLE, CODE = f"#title (1 · Det första): {OTHER}", f"#picture (def f(x):): {OTHER}"
ORDER = ": in another order than its solution, or executed"
STALE = {
    "text": (source("sv", SOLUTION, "title", "några", "fyra"), TITLE),
    "code": (source("sv", SOLUTION, "picture", "def f(x)", "def f(y)"), CODE),
    "points": (on_cell("sv", "picture", points, SOLUTION), CODE),
    "mark": (
        on_cell("sv", "idea", lambda c: c.metadata.pop("translation"), SOLUTION),
        f"#idea (Vad är medelvärdet?): {OTHER}",
    ),
    "cell gone": (on_notebook("sv", drop("setup"), SOLUTION), f"#setup (from helpers import language): {OTHER}"),
    "order": (on_notebook("sv", swap, SOLUTION), ORDER),
    "assignment edited": (source("sv", ASSIGNMENT, "title", "några", "fyra"), TITLE),
    "assignment executed": (on_notebook("sv", execute, ASSIGNMENT), ORDER),
}


@pytest.mark.slow
@pytest.mark.parametrize("change", STALE)
def test_an_assignment_that_is_not_made_from_its_solution_is_one_finding(course, change):
    plant, says = STALE[change]
    plant(course)
    found = [f for f in all_findings.check(course.root) if "classroom.py release" in f]
    [line] = found
    assert line.startswith(f"notebooks/sv/{ASSIGNMENT}{says}; ") and f"change notebooks/sv/{SOLUTION}" in line


def test_an_assignment_that_only_english_lacks_is_one_finding_and_no_fault_of_the_others(course):
    course.path("en", ASSIGNMENT).unlink()
    found = [f for f in all_findings.check(course.root) if "notebooks.py nav" not in f]
    assert found == [f"notebooks/en/{ASSIGNMENT}: missing; run python tools/classroom.py release"]
    assert sync.sync(course.root, course.books()) == (["nothing to do"], True)


@pytest.mark.parametrize("worth", ["2", None, [2], True])
def test_points_that_are_no_number_are_found(course, worth):
    settings = {"grade": True, "points": worth, "grade_id": "picture"}
    on_cell("en", "picture", lambda cell: cell.metadata.update(nbgrader=settings), SOLUTION)(course)
    assert any("#picture" in line and "write a number" in line for line in all_findings.check(course.root))


@pytest.mark.parametrize(("id_", "old", "new"), [("picture", "2 * x", "x + x"), ("picture", "== 2", "== 2.0")])
def test_what_students_do_not_get_may_change_in_a_solution(course, id_, old, new):
    source("en", SOLUTION, id_, old, new)(course)
    assert not [f for f in all_findings.check(course.root) if "classroom.py release" in f]


def test_settings_of_nbgrader_that_differ_from_the_original_are_said_before_the_release(course):
    on_cell("de", "picture", points, SOLUTION)(course)
    first, second = all_findings.check(course.root)
    assert first.startswith(f"notebooks/de/{SOLUTION}#picture") and "points 3, not 2" in first and "sync" in first
    assert "classroom.py release" in second


WORDS = {"en": "points", "de": "Punkte", "sv": "poäng"}


@pytest.mark.slow
@pytest.mark.parametrize("language", layout.LANGUAGES)
@pytest.mark.parametrize(("task", "total", "says"), [(2, 2, None), (3, 2, "the text in #idea 3"), (2, 5, "says 5")])
def test_points_in_the_text_are_those_of_nbgrader(course, language, task, total, says):
    word = WORDS[language]
    source(language, SOLUTION, "title", "# 1", f"**40** min, {total} {word}.\n\n# 1")(course)
    source(language, SOLUTION, "idea", "10", f"●○○ · 7 min · {task} {word}. {task + 5} {word}. 10")(course)
    on_cell(language, "picture", lambda c: c.metadata["nbgrader"].update(grade=True), SOLUTION)(course)
    found = [f for f in all_findings.check(course.root) if "correct one of them" in f]
    assert len(found) == (says is not None) and all(says in f and f.startswith(f"notebooks/{language}") for f in found)
