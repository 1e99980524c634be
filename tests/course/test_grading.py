"""What students' code cannot do while it is graded, and what the feedback shows of it."""

import base64
import re
from html import unescape

import pytest

from course import collecting, grade_submissions
from notebook_files import reading
from tests.support import small_course as small

pytestmark = pytest.mark.usefixtures("quick_grading")


def test_feedback_does_not_show_the_hidden_checks(graded):
    course, deserved, *_ = graded
    pages = sorted((course / "feedback").rglob("*.html"))
    assert len(pages) == len(deserved) + 1
    for page in pages:
        text = unescape(re.sub(r"<[^>]+>", "", page.read_text(encoding="utf8")))
        assert "== 49" not in text, page


@pytest.mark.slow
def test_hidden_checks_do_not_show_in_pictures_or_html_either(course, tmp_path):
    peek = """def square(x):
    import html, sys
    from IPython.display import HTML, SVG, display
    frame = sys._getframe(1)
    while frame:
        code = str(frame.f_locals.get("raw_cell"))
        if "HIDDEN" in code:
            display(HTML(html.escape(code)))
            display(SVG(f'<svg xmlns="http://www.w3.org/2000/svg"><desc>{html.escape(code)}</desc></svg>'))
        frame = frame.f_back
    return x * x"""
    notebook = small.answered(small.released(course), square=peek)
    collecting.collect(course, [small.put(notebook, tmp_path, "ada.ipynb")])
    grade_submissions.grade(course)
    page = small.feedback(course, "ada")
    assert "== 49" not in unescape(page)
    for picture in re.findall(r"data:image/svg\+xml;base64,([\w+/=]+)", page):
        assert b"== 49" not in base64.b64decode(picture)


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
    assert "KeyboardInterrupt" not in page and page.count("nach 5 Sekunden angehalten") == 1


IN_GERMAN = """def double(x):
    open("/etc/somewhere", "w")
!pip install something
import socket
try:
    socket.create_connection(("127.0.0.1", 1))
except PermissionError as error:
    print(error)
from helpers import language
try:
    language.say = print
except AttributeError as error:
    print(error)
input("?")"""


@pytest.mark.slow
def test_what_grading_itself_says_is_in_the_language_of_the_assignment(course):
    ending = "import os\nos._exit(1)"
    answers = small.answered(small.released(course, "de"), double=IN_GERMAN, square=ending)
    small.submit(course, "ada", answers, "01_layernorm-de")
    grade_submissions.grade(course)
    page = small.feedback(course, "ada", "01_layernorm-de")
    for german in (
        "außerhalb des Ordners",
        "beim Bewerten nicht ausgeführt: pip install something",
        "beim Bewerten nicht erlaubt",
        "darf beim Bewerten nicht geändert werden",
        "kann niemand auf input() antworten",
        "hat Python beendet",
    ):
        assert german in page, german
    for english in ("while answers are graded", "ended the kernel", "raw_input", "DeadKernelError"):
        assert english not in page, english


@pytest.mark.slow
def test_an_interrupt_that_a_student_raises_stays_an_error(course, tmp_path):
    notebook = small.answered(small.released(course), double="def double(x):\n    raise KeyboardInterrupt")
    collecting.collect(course, [small.put(notebook, tmp_path, "ada.ipynb")])
    grade_submissions.grade(course)
    assert small.scores(course)["ada"][0] == "3"


def test_the_file_that_was_submitted_stays_as_it_was(course, tmp_path):
    answer = "<script>alert(1)</script> $x$ ![p](attachment:p.png)"
    notebook = small.answered(small.released(course), judgement=answer)
    small.cell(notebook, "judgement").attachments = {"p.png": {"image/png": "iVBORw0KGgo="}}
    collecting.collect(course, [small.put(notebook, tmp_path, "ada.ipynb")])
    before = (course / "submitted" / "ada" / "01_layernorm-en" / "01_layernorm.ipynb").read_bytes()
    grade_submissions.grade(course)
    assert (course / "submitted" / "ada" / "01_layernorm-en" / "01_layernorm.ipynb").read_bytes() == before
    assert small.cell(small.submitted(course, "ada"), "judgement").source == answer
    graded = next((course / "autograded").rglob("*.ipynb")).read_text(encoding="utf8")
    assert "<script" not in graded and "data:image/png;base64,iVBORw0KGgo=" in graded
