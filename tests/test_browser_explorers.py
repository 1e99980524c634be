"""The explorers of lessons 1 to 3 in JupyterLab, each from `setup` and its own cell alone, by mouse and by keyboard."""

import re
from contextlib import contextmanager

import browser
import nbformat
import pytest

import notebooks

SLIDERS = (("01_layernorm", "explorer", 3), ("02_rmsnorm", "explorer", 2), ("03_placement", "explorer", 1))


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """JupyterLab over notebooks that hold `setup` and one explorer's cell, in two languages, and a page."""
    root, config = tmp_path_factory.mktemp("root"), tmp_path_factory.mktemp("config")
    for language in ("en", "de"):
        (root / language).mkdir()
        for lesson, cell, _ in (*SLIDERS, ("03_placement", "race", 0)):
            path = notebooks.ROOT / "notebooks" / language / f"{lesson}.ipynb"
            notebook = nbformat.read(path, as_version=4)
            notebook.cells = [found for found in notebook.cells if found.id in ("setup", cell)]
            for found in notebook.cells:
                found.outputs, found.execution_count = [], None
            nbformat.write(notebook, root / language / f"{lesson}_{cell}.ipynb")
    with browser.lab(root, config) as address, browser.page() as (page, errors):
        yield address, page, errors


@contextmanager
def opened(lab, name):
    """Run a notebook of the fixture; yields (Notebook, the explorer's box)."""
    address, page, errors = lab
    notebook = browser.Notebook(page, address, name)
    notebook.run_all()
    box = page.locator(".jupyter-widgets.widget-vbox").last
    box.locator("img").wait_for()
    yield notebook, box
    assert notebook.errors() == [] and errors == []


def alt(box):
    return box.locator("img").get_attribute("alt")


def wait_for_another(box, before):
    box.page.wait_for_function(
        "before => [...document.querySelectorAll('img')].every(i => i.alt !== before)", arg=before
    )
    return alt(box)


@pytest.mark.parametrize(("lesson", "cell", "sliders"), SLIDERS)
@pytest.mark.parametrize("language", ["en", "de"])
def test_every_slider_moves_by_keyboard_and_by_mouse(lab, language, lesson, cell, sliders):
    with opened(lab, f"{language}/{lesson}_{cell}.ipynb") as (notebook, box):
        handles = box.locator(".noUi-handle")
        assert handles.count() == sliders
        notebook.shot(f"{lesson}_{cell}_{language}")
        for index in range(sliders):
            first = alt(box)
            handles.nth(index).focus()
            notebook.page.keyboard.press("ArrowLeft" if index == 0 and lesson != "03_placement" else "ArrowRight")
            second = wait_for_another(box, first)
            track = box.locator(".noUi-target").nth(index).bounding_box()
            notebook.page.mouse.click(track["x"] + track["width"] - 2, track["y"] + track["height"] / 2)
            assert wait_for_another(box, second) != first
        if language == "de":
            assert not re.search(r"\d\.\d", alt(box)), "a decimal point"


@pytest.mark.parametrize(("lesson", "cell", "sliders"), SLIDERS)
def test_fast_changes_end_in_the_last_state_and_nothing_jumps(lab, lesson, cell, sliders):
    with opened(lab, f"en/{lesson}_{cell}.ipynb") as (notebook, box):
        handle, heights = box.locator(".noUi-handle").first, set()
        first = alt(box)
        handle.focus()
        for key in ["ArrowRight"] * 4 + ["ArrowLeft"] * 4 + ["End"] + ["ArrowLeft"] * 3 + ["Home"]:
            notebook.page.keyboard.press(key)
            heights.add(round(box.bounding_box()["height"]))
        home = wait_for_another(box, first)
        notebook.wait_until_idle()
        notebook.page.wait_for_timeout(800)
        home = alt(box)
        notebook.page.keyboard.press("ArrowRight")
        wait_for_another(box, home)
        notebook.page.keyboard.press("ArrowLeft")  # the state seen last, shown again
        box.page.wait_for_function("alt => [...document.querySelectorAll('img')].some(i => i.alt === alt)", arg=home)
        assert len(heights) == 1, "the box changed its height"


def test_placement_explorer_is_operated_by_its_lists(lab):
    with opened(lab, "en/03_placement_explorer.ipynb") as (notebook, box):
        before = alt(box)
        assert "pre-norm, LayerNorm" in before
        box.get_by_label("Placement").select_option("DeepNorm")
        after = wait_for_another(box, before)
        assert "DeepNorm, LayerNorm" in after
        box.get_by_label("Norm", exact=True).focus()
        notebook.page.keyboard.press("ArrowDown")
        assert "DeepNorm, RMSNorm" in wait_for_another(box, after)
        notebook.shot("03_placement_deepnorm")


def test_race_trains_live_and_stops_within_a_second(lab):
    with opened(lab, "en/03_placement_race.ipynb") as (notebook, box):
        before = alt(box)
        box.locator("select").first.select_option("DeepNorm")
        assert "DeepNorm, 12 blocks" in wait_for_another(box, before)
        train, stop = (box.get_by_role("button").nth(index) for index in (0, 1))
        train.focus()
        notebook.page.keyboard.press("Enter")
        box.locator("img[alt*='Live: step']").wait_for()
        notebook.shot("03_placement_race_live")
        assert train.is_disabled()
        stop.click()
        train.wait_for(state="visible", timeout=1000)
        box.page.wait_for_function("button => !button.disabled", arg=train.element_handle(), timeout=1000)
        notebook.page.wait_for_timeout(500)
        stopped = alt(box)
        notebook.page.wait_for_timeout(1500)
        assert alt(box) == stopped
