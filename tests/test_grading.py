"""What students' code cannot do while it is graded, and what the feedback shows."""

import re
from html import unescape

import handed_in
import lessons
import marks
import small_course as small


def test_feedback_does_not_show_the_hidden_checks(graded):
    course, deserved, *_ = graded
    pages = sorted((course / "feedback").rglob("*.html"))
    assert len(pages) == len(deserved) + 1
    for page in pages:
        text = unescape(re.sub(r"<[^>]+>", "", page.read_text(encoding="utf8")))
        assert "== 49" not in text, page


def test_code_does_not_get_out_of_its_folder(graded):
    course = graded[0]
    notebook = lessons.read(next((course / "autograded" / "escape").rglob("*.ipynb")))
    assert "ESCAPED 0" in str(small.cell(notebook, "double").outputs)
    assert not list(course.parent.rglob("escaped"))


def test_checks_cannot_be_replaced(graded):
    notebook = lessons.read(next((graded[0] / "autograded" / "tamper").rglob("*.ipynb")))
    assert small.cell(notebook, "double").outputs == []


def test_feedback_shows_formulas_and_pictures_and_loads_nothing(course, tmp_path):
    notebook = small.answered(small.released(course), judgement=r"$\gamma^2$, $\foo{$, $$x_1$$ ![p](attachment:p.png)")
    small.cell(notebook, "judgement").attachments = {"p.png": {"image/png": "iVBORw0KGgo="}}
    handed_in.collect(course, [small.put(notebook, tmp_path, "ada.ipynb")])
    marks.grade(course)
    page = next(course.glob("feedback/ada/*/*.html")).read_text(encoding="utf8")
    assert re.search("<math><msup><mi>γ</mi><mn>2</mn></msup></math>", page) and "<code>\\foo{</code>" in page
    assert 'display="block"' in page and "data:image/png;base64,iVBORw0KGgo=" in page
    assert not re.search(r"<script|src=\W?https?:|url\(\W?https?:|@import", page, re.I)
