"""Lesson 4 in JupyterLab, by mouse and by keyboard, in a real browser."""

import shutil

import pytest

from notebook_files import layout
from tests.support import browser

pytestmark = pytest.mark.slow

LESSON = "04_residual_stream.ipynb"


@pytest.fixture(scope="module")
def lesson(tmp_path_factory):
    root, config = tmp_path_factory.mktemp("root"), tmp_path_factory.mktemp("config")
    shutil.copy(layout.ROOT / "notebooks" / "en" / LESSON, root)
    with browser.lab(root, config) as address, browser.page() as (page, errors):
        opened = browser.Notebook(page, address, LESSON)
        opened.run_all()
        opened.console = errors
        yield opened


@pytest.fixture
def explorer(lesson):
    """The explorer's box, in view and in its first state."""
    lesson.scroll_to_end()
    box = lesson.page.locator(".jupyter-widgets.widget-vbox", has=lesson.page.get_by_text("Quantity")).last
    box.scroll_into_view_if_needed()
    box.get_by_label("as trained").check()
    box.get_by_label("linear").check()
    box.locator("img[alt*='run as trained'][alt*='L2 norm']").wait_for()
    return box


def picture(box):
    return box.locator("img").get_attribute("alt")


def changed(lesson, box, before):
    lesson.page.wait_for_function(
        "before => [...document.querySelectorAll('img')].every(i => i.alt !== before)", arg=before
    )
    return picture(box)


def test_runs_without_an_error(lesson):
    lesson.scroll_to_end()
    assert lesson.errors() == []
    assert lesson.console == []


def test_first_picture_tells_what_it_shows(lesson, explorer):
    alt = picture(explorer)
    assert "run as trained (pre-norm)" in alt and "GPT-2 small: 4.60 after the embedding, 456 after block 12" in alt
    lesson.shot("explorer")


def test_mouse_switches_between_pre_norm_and_post_norm(lesson, explorer):
    before = picture(explorer)
    explorer.get_by_label("post-norm", exact=True).check()
    assert "weights trained for pre-norm, run as post-norm" in changed(lesson, explorer, before)
    lesson.shot("explorer_post")


def test_keyboard_alone_switches_the_placement(lesson, explorer):
    explorer.get_by_label("as trained").focus()
    lesson.page.keyboard.press("ArrowDown")
    lesson.page.keyboard.press("ArrowDown")
    explorer.locator("img[alt*='run as post-norm']").wait_for()


def test_keyboard_alone_types_a_prompt_and_chooses_a_token(lesson, explorer):
    before = picture(explorer)
    prompt = explorer.get_by_label("Prompt")
    prompt.focus()
    lesson.page.keyboard.press("Control+A")
    lesson.page.keyboard.type("<b>Grüße</b> $x$")
    lesson.page.keyboard.press("Enter")
    after = changed(lesson, explorer, before)
    assert "“$”" in after
    explorer.get_by_label("Token").focus()
    lesson.page.keyboard.press("Home")
    assert "token 0, “<”" in changed(lesson, explorer, after)
    assert explorer.locator("b").count() == 0, "the prompt reached the page as HTML"


def test_empty_prompt_gets_a_sentence_and_keeps_the_picture(lesson, explorer):
    before = picture(explorer)
    prompt = explorer.get_by_label("Prompt")
    prompt.fill("")
    prompt.press("Enter")
    explorer.get_by_text("Type at least one word").wait_for()
    assert picture(explorer) == before
    prompt.fill("Back again")
    prompt.press("Enter")
    changed(lesson, explorer, before)


def test_fast_changes_end_in_the_last_state_and_the_page_does_not_jump(lesson, explorer):
    scroller = lesson.page.locator(".jp-WindowedPanel-outer").first
    top = scroller.evaluate("element => element.scrollTop")
    heights = set()
    for _ in range(6):
        for name in ("logarithmic", "RMS", "linear", "length (L2 norm)"):
            explorer.get_by_label(name, exact=True).check()
            heights.add(round(explorer.bounding_box()["height"]))
    explorer.get_by_label("RMS", exact=True).check()
    explorer.locator("img[alt*='Root mean square']").wait_for()
    lesson.page.wait_for_timeout(1000)
    assert "Root mean square" in picture(explorer)
    assert len(heights) == 1, "the box changed its height"
    assert abs(scroller.evaluate("element => element.scrollTop") - top) < 2
    explorer.get_by_label("length (L2 norm)", exact=True).check()


def test_contributions_can_be_shown(lesson, explorer):
    before = picture(explorer)
    explorer.get_by_label("show what each sublayer writes").check()
    assert "sublayer that wrote most" in changed(lesson, explorer, before)
    lesson.shot("explorer_writes")


def test_prediction_reveals_the_measured_answer_after_the_choice(lesson):
    lesson.page.evaluate("document.querySelector('.jp-WindowedPanel-outer').scrollTo(0, 1200)")
    question = lesson.page.locator(".widget-vbox", has=lesson.page.get_by_text("How many times longer is GPT-2")).last
    question.scroll_into_view_if_needed()
    assert "Measured" not in question.inner_text()
    question.get_by_label("about 50 times").check()
    question.get_by_text("It came out differently. Measured: about 100 times").wait_for()
