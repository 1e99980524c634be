"""The page that a student gets back: in the course's language, with the student's name, for a phone, complete."""

import re
import shutil
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from course import collecting, grade_submissions
from tests.support import browser
from tests.support import small_course as small

pytestmark = pytest.mark.usefixtures("quick_grading")

ENGLISH = (
    "Test cell",
    "Score",
    "Comments:",
    "Student's answer",
    "Grade cell",
    "Written response",
    "No response",
    "Top)",
)
WORDS = {"en": ("Points", "Your answer"), "de": ("Punkte", "Deine Antwort"), "sv": ("Poäng", "Ditt svar")}
DISPLAY = """from IPython.display import SVG, display
def double(x):
    display(SVG('<svg xmlns="http://www.w3.org/2000/svg"></svg>'))
    display({"image/png": "iVBORw0KGgo="}, raw=True)
    return 2 * x"""


@pytest.fixture(scope="module")
def pages(made, grading_server, tmp_path_factory):
    """Return language → page of feedback for a student who wrote nothing at the last question, and its file's name."""
    folder = tmp_path_factory.mktemp("pages")
    course = Path(shutil.copytree(made / "course", folder / "course"))
    for language in WORDS:
        notebook = small.answered(small.released(course, language), double=DISPLAY)
        small.submit(course, "Anna_Svensson", notebook, f"01_layernorm-{language}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grade_submissions, "grade_apart", grading_server)
        grade_submissions.grade(course)
    found = {}
    for language in WORDS:
        file = next((course / "feedback" / "Anna_Svensson" / f"01_layernorm-{language}").glob("*.html"))
        found[language] = (file.name, file.read_text(encoding="utf8"))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("language", WORDS)
def test_a_page_is_in_its_language_and_says_whose_it_is(pages, language):
    name, text = pages[language]
    page = BeautifulSoup(text, "html.parser")
    assert name == f"01_layernorm-{language}_Anna_Svensson.html"
    assert page.html["lang"] == language
    assert "Anna Svensson" in page.title.text and "Anna Svensson" in page.h1.text
    assert all(word in page.text for word in WORDS[language])
    assert not [words for words in ENGLISH if words in page.text]
    assert all(picture.has_attr("alt") for picture in page.find_all("img")) and len(page.find_all("img")) >= 4
    assert "No description" not in text


@pytest.mark.slow
def test_points_are_written_as_the_language_does(course, tmp_path):
    notebook = small.answered(small.released(course, "de"), judgement="Meine.")
    collecting.collect(course, [small.put(notebook, tmp_path, "in", "ada.ipynb")])
    grade_submissions.grade(course)
    small.give(course, "ada", 2.5, "Gut <script>alert(1)</script> gesagt: $x^2$", "01_layernorm-de")
    grade_submissions.grade(course)
    page = BeautifulSoup(small.feedback(course, "ada", "01_layernorm-de"), "html.parser")
    assert "7,5 / 9" in page.text and "2,5 / 4" in page.text
    comment = page.find(class_="comment")
    assert "gesagt" in comment.text and comment.find("math") and not comment.find("script")


WAITS = {"en": "not marked yet", "de": "noch nicht bewertet", "sv": "inte bedömt än"}


@pytest.mark.slow
@pytest.mark.parametrize("language", WAITS)
def test_an_answer_that_waits_for_the_teacher_has_no_points_which_is_not_the_same_as_none(course, language):
    assignment = f"01_layernorm-{language}"
    small.submit(course, "ada", small.answered(small.released(course, language), judgement="Mine."), assignment)
    grade_submissions.grade(course)
    page = BeautifulSoup(small.feedback(course, "ada", assignment), "html.parser").text
    assert f"{WAITS[language]} / 4" in page and "0 / 4" not in page and page.count(WAITS[language]) == 3
    small.give(course, "ada", 0, "", assignment)
    grade_submissions.grade(course)
    page = BeautifulSoup(small.feedback(course, "ada", assignment), "html.parser").text
    assert "0 / 4" in page and WAITS[language] not in page


@pytest.mark.slow
def test_what_a_check_says_stands_there_without_the_name_of_an_error(course):
    code = "class NotRight(AssertionError):\n    pass\ndef double(x):\n    raise NotRight('Not quite.')"
    small.submit(course, "ada", small.answered(small.released(course), double=code))
    grade_submissions.grade(course)
    page = BeautifulSoup(small.feedback(course, "ada"), "html.parser").text
    assert "Not quite." in page and "NotRight: " not in page


@pytest.mark.slow
def test_attempts_have_pages_of_their_own(course):
    small.submit(course, "ada~2", small.answered(small.released(course, "sv")), "01_layernorm-sv")
    grade_submissions.grade(course)
    assert "försök 2" in BeautifulSoup(small.feedback(course, "ada~2", "01_layernorm-sv"), "html.parser").title.text


@pytest.mark.slow
def test_a_page_loads_nothing_runs_nothing_and_holds_no_bars(course):
    notebook = small.answered(
        small.released(course), judgement="![p](https://elsewhere.example/p.png) $\\gamma$ $\\foo{$"
    )
    notebook.cells[0].id = "nav-top"
    notebook.cells[0].source = "[nowhere](../nowhere.ipynb)"
    small.submit(course, "ada", notebook)
    grade_submissions.grade(course)
    page = small.feedback(course, "ada")
    assert "nowhere" not in page and "γ" in page and "\\foo{" in page
    assert not re.search(r"<script|src=\W?https?:|url\(\W?https?:|@import", page, re.I)
    policy = BeautifulSoup(page, "html.parser").find("meta", attrs={"http-equiv": "Content-Security-Policy"})
    assert "default-src 'none'" in policy["content"]


def test_a_page_fits_a_phone_and_its_long_lines_wrap(graded):
    file = next((graded[0] / "feedback" / "right").rglob("*.html")).resolve()
    with browser.page() as (page, _):
        page.set_viewport_size({"width": 360, "height": 640})
        page.goto(f"file://{file}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert page.locator("pre").first.evaluate("pre => getComputedStyle(pre).whiteSpace") == "pre-wrap"
