"""What students' code cannot do while it is graded, and what the feedback shows."""

import re
from html import unescape

from course import collecting, marking, nbgrader_hooks
from notebook_files import reading
from tests.support import small_course as small


def test_feedback_does_not_show_the_hidden_checks(graded):
    course, deserved, *_ = graded
    pages = sorted((course / "feedback").rglob("*.html"))
    assert len(pages) == len(deserved) + 1
    for page in pages:
        text = unescape(re.sub(r"<[^>]+>", "", page.read_text(encoding="utf8")))
        assert "== 49" not in text, page


def test_code_does_not_get_out_of_its_folder(graded):
    course = graded[0]
    notebook = reading.read(next((course / "autograded" / "escape").rglob("*.ipynb")))
    assert "ESCAPED 0" in str(small.cell(notebook, "double").outputs)
    assert not list(course.parent.rglob("escaped"))


def test_checks_cannot_be_replaced(graded):
    notebook = reading.read(next((graded[0] / "autograded" / "tamper").rglob("*.ipynb")))
    assert small.cell(notebook, "double").outputs == []


def test_an_endless_loop_says_that_it_was_stopped_and_nothing_else(graded):
    """Also in the check, which calls it and has points to lose."""
    page = next((graded[0] / "feedback" / "loop").rglob("*.html")).read_text(encoding="utf8")
    assert "KeyboardInterrupt" not in page and page.count("CellTimeoutError: stopped after 5 s") == 1


def test_an_interrupt_that_a_student_raises_stays_an_error(course, tmp_path):
    notebook = small.answered(small.released(course), double="def double(x):\n    raise KeyboardInterrupt")
    collecting.collect(course, [small.put(notebook, tmp_path, "ada.ipynb")])
    marking.grade(course)
    assert small.scores(course)["ada"][0] == "3"


def test_feedback_fits_a_phone_and_its_long_lines_wrap(graded):
    page = next((graded[0] / "feedback" / "right").rglob("*.html")).read_text(encoding="utf8")
    style = re.search(r"<style>\npre \{(.*?)\}\nsummary \{ display: list-item; \}[^<]*</style>\s*</head>", page)
    assert "pre-wrap !important" in style[1] and "overflow-wrap: anywhere" in style[1]
    assert page.count('<meta name="viewport"') == 1


def test_feedback_holds_no_bars_that_lead_nowhere(course):
    notebook = small.released(course)
    notebook.cells[0].id, notebook.cells[0].source = "nav-top", "[nowhere](../nowhere.ipynb)"
    page, _ = nbgrader_hooks.Feedback(template_name="classic").from_notebook_node(notebook)
    assert "nowhere" not in page and "Double a number." in page


def test_feedback_shows_formulas_and_pictures_and_loads_nothing(course, tmp_path):
    notebook = small.answered(small.released(course), judgement=r"$\gamma^2$, $\foo{$, $$x_1$$ ![p](attachment:p.png)")
    small.cell(notebook, "judgement").attachments = {"p.png": {"image/png": "iVBORw0KGgo="}}
    collecting.collect(course, [small.put(notebook, tmp_path, "ada.ipynb")])
    marking.grade(course)
    page = next(course.glob("feedback/ada/*/*.html")).read_text(encoding="utf8")
    assert re.search("<math><msup><mi>γ</mi><mn>2</mn></msup></math>", page) and "<code>\\foo{</code>" in page
    assert 'display="block"' in page and "data:image/png;base64,iVBORw0KGgo=" in page
    assert not re.search(r"<script|src=\W?https?:|url\(\W?https?:|@import", page, re.I)
