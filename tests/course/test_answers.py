"""Whatever happened to the other cells, the answers arrive, and what was repaired is said."""

import pytest

from course import answer_cells
from notebook_files import reading
from tests.support import small_course as small


@pytest.mark.parametrize(
    "kind, phrases",
    [
        ("right", []),
        ("blank", ["no answer was written"]),
        ("syntax", []),
        ("colab", []),
        ("stripped", []),
        ("duplicated", ["cell double was there 2 times", "cell double-check was there 2 times"]),
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
    assert repairs == phrases
    own = {"double", "square", "judgement"}
    for before, after in zip(start.cells, notebook.cells, strict=True):
        assert after == before or answer_cells.grade_id(before) in own


def test_missing_answer_is_blank_and_own_cells_are_left_out(course):
    notebook = small.answered(small.released(course))
    notebook.cells.remove(small.cell(notebook, "double"))
    notebook.cells.insert(3, reading.nbformat.v4.new_code_cell("import math"))
    taken, repairs = answer_cells.take_over(notebook.cells, small.released(course))
    assert repairs == [
        "answer double was missing and counts as blank",
        "code cells of the student's own, left out: 1",
    ]
    assert small.cell(taken, "double") == small.cell(small.released(course), "double")


def test_last_of_two_answers_counts_unless_it_is_blank(course):
    start = small.released(course)
    notebook = small.damaged("duplicated", start, course)
    assert small.cell(answer_cells.take_over(notebook.cells, start)[0], "double").source.endswith("x + x")
    notebook.cells.append(small.cell(start, "double"))
    assert small.cell(answer_cells.take_over(notebook.cells, start)[0], "double").source.endswith("x + x")
