"""Whatever happened to the other cells, the answers arrive, and what was repaired is said."""

import copy
import json
import unicodedata

import pytest
from IPython.core.interactiveshell import InteractiveShell
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell

from course import answer_cells, course_folder
from notebook_files import layout, reading
from tests.support import small_course as small


@pytest.mark.parametrize(
    "kind, phrases",
    [
        ("right", []),
        ("blank", ["no answer was written"]),
        ("syntax", []),
        ("colab", []),
        ("stripped", []),
        ("duplicated", ["answer double was there 2 times", "cell double-check was there 2 times"]),
        ("deleted", ["cell square-check was missing and is back"]),
        ("tampered", ["cell square-check was changed and is as it was"]),
        ("reordered", ["cells were in another order"]),
        ("retyped", ["answer judgement was a raw cell"]),
    ],
)
def test_what_is_repaired_is_reported_and_only_answers_differ(course, kind, phrases):
    start = small.released(course)
    cells = [cell for cell in small.damaged(kind, start, course).cells if "source" in cell]
    notebook, repairs = answer_cells.take_over(cells, start)
    assert len(repairs) == len(phrases) and all(map(str.startswith, repairs, phrases))
    own = {"double", "square", "judgement"}
    for before, after in zip(start.cells, notebook.cells, strict=True):
        assert after == before or answer_cells.grade_id(before) in own


def with_cells(notebook, after, *cells):
    """Return a notebook with cells behind the one of a grade_id."""
    position = notebook.cells.index(small.cell(notebook, after)) + 1
    notebook.cells[position:position] = cells
    return notebook


def code(source):
    return new_code_cell(source)


def text(source):
    return new_markdown_cell(source)


def half(notebook, name, source):
    """Return a further cell with the metadata of an answer, as a split or a copy leaves it."""
    cell = copy.deepcopy(small.cell(notebook, name))
    cell.id = "half-" + str(abs(hash(source)))
    cell.source = source
    return cell


def taken(course, notebook):
    """Return what is made of a notebook, and the phrases about it as one text."""
    result, repairs = answer_cells.take_over(notebook.cells, small.released(course))
    assert all("\n" not in phrase for phrase in repairs)
    return result, "; ".join(repairs)


def graded_alone(notebook):
    """Run the cells of a notebook as a kernel does, in order, each on its own; return the names that they leave.

    The small assignment's checks are left out."""
    shell = InteractiveShell()
    for cell in notebook.cells:
        if cell.cell_type == "code" and answer_cells.grade_id(cell) not in ("double-check", "square-check"):
            shell.run_cell(cell.source)
    return shell.user_ns


def test_missing_answer_is_blank_and_own_code_is_named(course):
    notebook = small.answered(small.released(course))
    notebook.cells.remove(small.cell(notebook, "double"))
    notebook.cells.append(code("double = lambda x: 2 * x"))
    result, told = taken(course, notebook)
    assert "answer double was missing and counts as blank" in told and "“double = lambda x: 2 * x”" in told
    assert small.cell(result, "double") == small.cell(small.released(course), "double")


# split cells and copies


@pytest.mark.parametrize(
    "parts",
    [
        ["def double(x):\n    y = x", "    return y + x"],
        ["def helper(x):\n    return x", "def double(x):\n    return helper(x) + x"],
        ["FACTOR = 2\n", "def double(x):", "    return FACTOR * x"],
        ["def double(x):\n    return (x +", "            x)"],
        ["def double(x):\n    return x", " + x"],
    ],
)
def test_the_halves_of_a_split_answer_are_joined_in_order(course, parts):
    notebook = small.answered(small.released(course), double=parts[0])
    with_cells(notebook, "double", *[half(notebook, "double", part) for part in parts[1:]])
    result, told = taken(course, notebook)
    assert graded_alone(result)["double"](4) == 8 and f"in {len(parts)} cells, joined" in told


def test_the_halves_of_a_split_text_are_joined_in_order(course):
    notebook = small.answered(small.released(course), judgement="First.")
    with_cells(notebook, "judgement", half(notebook, "judgement", "Second."), half(notebook, "judgement", "Third."))
    result, told = taken(course, notebook)
    assert small.cell(result, "judgement").source == "First.\n\nSecond.\n\nThird." and "in 3 cells, joined" in told


def test_a_copy_beside_its_original_is_not_the_other_half(course):
    notebook = small.answered(small.released(course), double="def double(x:\n    oops\ndef double(x):\n    return 0")
    small.cell(notebook, "double").source = "def double(x):\n    return 0"
    with_cells(notebook, "double", half(notebook, "double", "def double(x):\n    return x + x"))
    result, told = taken(course, notebook)
    assert small.cell(result, "double").source == "def double(x):\n    return x + x"
    assert "2 times" in told and "“def double(x): return 0”" in told


def test_of_copies_apart_the_last_counts_and_what_is_dropped_is_told(course):
    notebook = small.answered(small.released(course), judgement="Old thoughts.")
    notebook.cells.insert(0, half(notebook, "judgement", "Older thoughts."))
    result, told = taken(course, notebook)
    assert small.cell(result, "judgement").source == "Old thoughts."
    assert "the last one counts; dropped: “Older thoughts.”" in told
    notebook.cells.insert(1, half(notebook, "judgement", "Old thoughts."))  # the same text once more
    assert taken(course, notebook)[0] == result


# text elsewhere


@pytest.mark.parametrize("stub", ["Your answer", "", "Ditt svar"])
@pytest.mark.parametrize("kind", [new_markdown_cell, new_raw_cell, new_code_cell])
def test_text_in_a_cell_below_a_written_answer_is_taken_along(course, stub, kind):
    notebook = small.answered(small.released(course), judgement=stub)
    with_cells(notebook, "judgement", kind("The second is faster, since it is."), kind("And it is smaller."))
    result, told = taken(course, notebook)
    assert small.cell(result, "judgement").source == "The second is faster, since it is.\n\nAnd it is smaller."
    assert "“The second is faster, since it is.”" in told and "no answer" not in told


def test_text_around_a_written_answer_keeps_its_order(course):
    notebook = small.answered(small.released(course), judgement="Second.")
    with_cells(notebook, "judgement", text("Third."))
    with_cells(notebook, "question", text("First."))
    assert small.cell(taken(course, notebook)[0], "judgement").source == "First.\n\nSecond.\n\nThird."


def test_text_in_place_of_a_deleted_answer_is_taken_along(course):
    notebook = small.answered(small.released(course))
    notebook.cells.remove(small.cell(notebook, "judgement"))
    with_cells(notebook, "question", text("The second."))
    assert small.cell(taken(course, notebook)[0], "judgement").source == "The second."


def test_text_that_belongs_to_no_answer_is_named(course):
    notebook = small.answered(small.released(course), judgement="Mine.")
    with_cells(notebook, "double", text("I am not sure about this one."))
    notebook.cells[2].source += "\n\nWritten into the task."
    small.cell(notebook, "question").source += "\n\nWritten under the question."
    result, told = taken(course, notebook)
    assert small.cell(result, "judgement").source == "Mine."
    for words in ("I am not sure about this one.", "Written into the task.", "Written under the question."):
        assert f"“{words}”" in told
    assert result.cells[2] == small.released(course).cells[2]


def test_an_answer_turned_into_code_is_still_the_answer(course):
    notebook = small.answered(small.released(course), judgement="It is the second.")
    small.cell(notebook, "judgement").cell_type = "code"
    result, told = taken(course, notebook)
    assert small.cell(result, "judgement").source == "It is the second."
    assert small.cell(result, "judgement").cell_type == "markdown" and "was a code cell" in told


# code elsewhere


def test_a_helper_in_a_cell_of_ones_own_works_in_grading(course):
    notebook = small.answered(small.released(course), double="def double(x):\n    return twice(x)")
    helpers = "FACTOR = 2\n\n@cached\ndef twice(x):\n    return FACTOR * x\n\nprint(twice(3))"
    with_cells(
        notebook, "double", code("from functools import cache as cached"), code(helpers), code("%timeit double(1)")
    )
    result, told = taken(course, notebook)
    assert graded_alone(result)["double"](4) == 8
    own = "\n".join(cell.source for cell in result.cells if str(cell.id).startswith("own-"))
    assert "print" not in own and "FACTOR = 2" in own
    assert "“FACTOR = 2”" in told and "print(twice(3))" in told and "%timeit" in told


def test_a_blank_answer_takes_what_stands_below_it_and_before_its_check(course):
    notebook = small.released(course)
    with_cells(notebook, "double", code("def double(x):\n    return x + x"))
    with_cells(notebook, "square-check", code("def square(x):\n    return x * x"))
    result, told = taken(course, notebook)
    assert small.cell(result, "double").source == "def double(x):\n    return x + x"
    assert small.cell(result, "square") == small.cell(small.released(course), "square")
    assert "“def double(x): return x + x”" in told and "left out: “def square(x): return x * x”" in told


DEFINITION = "def double(x):\n    return twice(x)"
ONLY_A_HELPER = "def twice(x):\n    return x + x"


@pytest.mark.parametrize("answer", [ONLY_A_HELPER, "..."])
@pytest.mark.parametrize("where", ["setup", "task", "double"])
def test_what_a_check_calls_is_taken_from_a_cell_of_ones_own(course, answer, where):
    """Above the answer, far above it, and below it: in the student's notebook the check passes."""
    notebook = small.answered(small.released(course), double=answer)
    source = f"import math\n{ONLY_A_HELPER}\n\n{DEFINITION}"
    position = next(n for n, cell in enumerate(notebook.cells) if cell.id == where) + 1
    notebook.cells.insert(position, code(source))
    result, told = taken(course, notebook)
    assert graded_alone(result)["double"](4) == 8
    assert "answer double has what stood in a cell of the student's own" in told
    assert "does not define" not in told


def test_a_definition_that_stands_below_its_check_is_named_with_the_points(course):
    notebook = small.answered(small.released(course), double=ONLY_A_HELPER)
    with_cells(notebook, "double-check", code(DEFINITION))
    result, told = taken(course, notebook)
    assert small.cell(result, "double").source == ONLY_A_HELPER
    assert "answer double does not define double" in told and "2 points" in told


@pytest.mark.parametrize("answer", ["%%time\ndef double(x):\n    return x + x", "def double(x:\n    return x"])
def test_an_answer_that_nothing_can_be_joined_with_stays_as_it_is(course, answer):
    notebook = small.answered(small.released(course), double=answer)
    with_cells(notebook, "setup", code("def double(x):\n    return 7"))
    with_cells(notebook, "double", code("def double(x):\n    return 7"))
    result, told = taken(course, notebook)
    assert small.cell(result, "double").source == answer
    assert "2 points" in told


def test_trials_do_not_replace_what_is_given_or_answered(course):
    notebook = small.answered(small.released(course), square="def square(x):\n    return check2(x)")
    trials = "def double(x):\n    return 7\ncheck = check2 = lambda *_: 49\nwhile False:\n    pass"
    with_cells(notebook, "double", code(trials))
    result, told = taken(course, notebook)
    assert graded_alone(result)["double"](4) == 8
    assert [cell.id for cell in result.cells] == [cell.id for cell in small.released(course).cells]
    assert "left out: “def double(x): return 7" in told


# imports


@pytest.mark.parametrize("where", ["imports", "own", "check"])
def test_imports_that_a_student_adds_work_in_grading(course, where):
    notebook = small.answered(small.released(course), double="def double(x):\n    return m.prod([2, x, int(Q(1))])")
    added = "import math as m\nfrom fractions import Fraction as Q\nimport no_such_module\nx = 1 / 0\n"
    if where == "own":
        with_cells(notebook, "double-check", code(added))
    else:
        name = "setup" if where == "imports" else "square-check"
        small.cell(notebook, name).source = added + small.cell(notebook, name).source
    result, told = taken(course, notebook)
    assert graded_alone(result)["double"](4) == 8
    assert small.cell(result, "setup") == small.cell(small.released(course), "setup")
    for line in ("import math as m", "from fractions import Fraction as Q"):
        assert line in told
    assert "1 / 0" in told and "1 / 0" not in "".join(cell.source for cell in result.cells)


def test_imports_that_replace_what_is_given_are_left_out_and_named(course):
    notebook = small.answered(small.released(course))
    added = (
        "import math as warnings\nfrom mine import check\nfrom helpers.activities.check import *\n"
        "from helpers import language, norms"
    )
    small.cell(notebook, "setup").source += "\n" + added
    result, told = taken(course, notebook)
    assert [cell.source for cell in result.cells if str(cell.id).startswith("own-")] == ["from helpers import norms"]
    for line in ("import math as warnings", "from mine import check", "from helpers.activities.check import *"):
        assert line in told.partition("left out: ")[2]


def test_only_added_imports_are_no_change_of_a_given_cell(course):
    notebook = small.answered(small.released(course))
    small.cell(notebook, "setup").source += "\nimport math"
    assert taken(course, notebook)[1] == "imports of the student's own, taken along: import math"


# what is no change


@pytest.mark.parametrize("language", ["en", "de", "sv"])
def test_line_ends_of_windows_and_spaces_are_no_change(course, tmp_path, language):
    notebook = small.answered(small.released(course, language))
    for cell in notebook.cells:
        decomposed = unicodedata.normalize("NFD", cell.source)
        cell.source = (decomposed.replace("\n", "\r\n") + " \r\n") if cell.cell_type == "markdown" else cell.source
    small.cell(notebook, "setup").source = small.cell(notebook, "setup").source.replace("\n", "\r\n")
    cells = answer_cells.read(small.put(notebook, tmp_path, "ada.ipynb"))
    result, repairs = answer_cells.take_over(cells, small.released(course, language))
    assert repairs == [] and "\r" not in json.dumps(result)


def test_a_language_that_the_course_lacks_is_one_note(made, course):
    """The Swedish assignment, handed in to a course in English and German."""
    released = {a: n for a, n in course_folder.released_notebooks(course).items() if not a.endswith("-sv")}
    notebook = small.answered(small.released(course, "sv"))
    small.cell(notebook, "judgement").source = "Ditt svar"
    assignment = answer_cells.assignment_of(notebook.cells, released)
    result, repairs = answer_cells.take_over(notebook.cells, released[assignment])
    assert len(repairs) == 1 and "Swedish" in repairs[0]
    assert small.cell(result, "judgement") == small.cell(released[assignment], "judgement")
    assert small.cell(result, "double").source.endswith("x + x")


def test_a_blank_notebook_has_no_answer_also_with_other_comments(course):
    notebook = small.released(course)
    small.cell(notebook, "double").source += "  # to do"
    assert taken(course, notebook)[1] == "no answer was written"


# what looks like a trick

TRICKS = {
    "import helpers.activities.check as c\ndef double(x):\n    return c._TASKS": ["helpers.activities", "_TASKS"],
    "from helpers.activities import check as c": ["helpers.activities"],
    "def double(x):\n    return double.__code__": ["__code__"],
    "import sys\nsys._getframe(1)": ["_getframe"],
    "import sys as s\ns.modules['helpers'].__dict__": ["sys.modules"],
    "from sys import modules": ["sys.modules"],
    "import sys\ngetattr(sys, 'modules')": ["modules"],
    "from unittest.mock import ANY\ndef double(x):\n    return ANY": ["mock"],
    "import unittest.mock\ndouble = lambda x: unittest.mock.ANY": ["mock"],
    "__import__('helpers.activities.check')": ["helpers.activities"],
    "def double(x:\n    check.__code__": ["__code__"],
}


@pytest.mark.parametrize(("source", "names"), TRICKS.items(), ids=[", ".join(names) for names in TRICKS.values()])
def test_what_no_answer_needs_is_named(course, source, names):
    result, _ = taken(course, small.answered(small.released(course), double=source))
    (sentence,) = answer_cells.suspicious(result)
    assert "double" in sentence and all(name in sentence for name in names)


@pytest.mark.slow
@pytest.mark.parametrize(
    "nested",
    [
        "x" + ".a" * 5000,
        "(" * 500 + ")" * 500,
        "-" * 5000 + "1",
        "[" * 3000,
        "x = 1\0",
        "if 1:\n " * 200,
        "'" * 7,
        "\f\x1a",
    ],
)
def test_code_that_nothing_can_parse_stays_as_it_is(course, nested):
    notebook = small.answered(small.released(course), double=nested + "\n__code__")
    with_cells(notebook, "double", code(nested), code("import math\n" + nested))
    result, told = taken(course, notebook)
    assert small.cell(result, "double").source == nested + "\n__code__" and "left out" in told
    assert len(answer_cells.suspicious(result)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "import torch\nfrom torch import nn\ndef double(x):\n    return [*nn.Linear(1, 1).modules()]",
        "import sys\nsys.path",
        "def double(x):\n    'I mock nobody, and code is code'\n    modules = [x]\n    return modules[0] + x",
        "from helpers import norms, language",
    ],
)
def test_what_answers_may_need_is_not_suspicious(course, source):
    result, _ = taken(course, small.answered(small.released(course), double=source, judgement="See _TASKS and mock."))
    assert answer_cells.suspicious(result) == []


def test_the_given_import_of_the_checks_is_not_suspicious():
    notebook = reading.read(layout.ROOT / "notebooks/en/assignments/02_rmsnorm.ipynb")
    assert answer_cells.suspicious(notebook) == []
    small.cell(notebook, "rms-norm").source = small.cell(notebook, "imports").source
    assert answer_cells.suspicious(notebook) == []


def test_last_of_two_answers_counts_unless_it_is_blank(course):
    start = small.released(course)
    notebook = small.damaged("duplicated", start, course)
    assert small.cell(answer_cells.take_over(notebook.cells, start)[0], "double").source.endswith("x + x")
    notebook.cells.append(small.cell(start, "double"))
    assert small.cell(answer_cells.take_over(notebook.cells, start)[0], "double").source.endswith("x + x")
