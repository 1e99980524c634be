"""The explorers of the lessons in JupyterLab, each from `setup` and its own cell alone, by mouse and by keyboard."""

import re
from contextlib import contextmanager

import nbformat
import pytest

from notebook_files import layout
from tests.support import browser

pytestmark = pytest.mark.slow

LISTS = (("01_layernorm", "explorer", 3), ("02_rmsnorm", "explorer", 2), ("03_placement", "explorer", 3))


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """JupyterLab over notebooks that hold `setup` and one explorer's cell, in two languages, and a page."""
    root, config = tmp_path_factory.mktemp("root"), tmp_path_factory.mktemp("config")
    for language in ("en", "de"):
        (root / language).mkdir()
        for lesson, cell, _ in (*LISTS, ("03_placement", "race", 0), ("04_residual_stream", "explorer", 0)):
            path = layout.ROOT / "notebooks" / language / f"{lesson}.ipynb"
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
    notebook.shut_down()


def alt(box):
    return box.locator("img").get_attribute("alt")


def wait_for_another(box, before):
    box.page.wait_for_function(
        "before => [...document.querySelectorAll('img')].every(i => i.alt !== before)", arg=before
    )
    return alt(box)


@pytest.mark.parametrize(("lesson", "cell", "lists"), LISTS)
def test_every_list_has_a_name_and_is_operated_by_keyboard_and_by_mouse(lab, lesson, cell, lists):
    with opened(lab, f"de/{lesson}_{cell}.ipynb") as (notebook, box):
        controls = box.get_by_role("combobox")
        assert controls.count() == lists
        notebook.shot(f"{lesson}_{cell}_de")
        for control in controls.all():
            label = control.evaluate("list => list.labels[0].innerText")
            assert box.get_by_role("combobox", name=label, exact=True).count() == 1
            first, options = alt(box), control.locator("option").all_inner_texts()
            control.focus()
            notebook.page.keyboard.press("ArrowUp" if control.input_value() == options[-1] else "ArrowDown")
            second = wait_for_another(box, first)
            control.select_option(options[-1] if control.input_value() != options[-1] else options[0])
            wait_for_another(box, second)
        assert not re.search(r"\d\.\d", alt(box)), "a decimal point"


@pytest.mark.parametrize(("lesson", "cell", "lists"), LISTS)
def test_fast_changes_end_in_the_last_state_and_nothing_jumps(lab, lesson, cell, lists):
    with opened(lab, f"en/{lesson}_{cell}.ipynb") as (notebook, box):
        control, heights = box.get_by_role("combobox").first, set()
        first = alt(box)
        control.focus()
        for key in ["ArrowDown"] * 4 + ["ArrowUp"] * 4 + ["End"] + ["ArrowUp"] * 3 + ["Home", "ArrowDown"]:
            notebook.page.keyboard.press(key)
            heights.add(round(box.bounding_box()["height"]))
        wait_for_another(box, first)
        notebook.wait_until_idle()
        notebook.page.wait_for_timeout(800)
        last = alt(box)
        notebook.page.keyboard.press("ArrowDown")
        wait_for_another(box, last)
        notebook.page.keyboard.press("ArrowUp")  # the state seen last, shown again
        box.page.wait_for_function("alt => [...document.querySelectorAll('img')].some(i => i.alt === alt)", arg=last)
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
        notebook.page.keyboard.press("Tab")
        notebook.page.keyboard.press("Enter")
        assert stop.evaluate("button => button === document.activeElement")
        bar = box.locator(".progress-bar").element_handle()
        box.page.wait_for_function("bar => parseFloat(bar.style.width) === 0", arg=bar, timeout=1000)
        notebook.page.wait_for_timeout(500)
        stopped = alt(box)
        notebook.page.wait_for_timeout(1500)
        assert alt(box) == stopped


def test_a_widget_changed_while_another_cell_runs_answers_when_it_has_ended(lab):
    with opened(lab, "en/04_residual_stream_explorer.ipynb") as (notebook, box):
        before = alt(box)
        notebook.add_cell("import time\nfor _ in range(40):\n    time.sleep(0.1)")
        notebook.menu("Run", "Run Selected Cell")
        notebook.page.locator(".jp-InputPrompt").get_by_text("[*]").wait_for()
        box.get_by_label("RMS", exact=True).check()
        box.get_by_label("post-norm", exact=True).check()
        wait_for_another(box, before)
        box.locator("img[alt*='run as post-norm'][alt*='Root mean square']").wait_for()


def test_restart_and_run_again(lab):
    with opened(lab, "de/04_residual_stream_explorer.ipynb") as (notebook, box):
        box.get_by_label("RMS", exact=True).check()
        notebook.menu("Kernel", "Restart Kernel and Run All Cells…")
        notebook.page.get_by_role("button", name="Confirm Kernel Restart").click()
        notebook.page.wait_for_function("document.querySelectorAll('.jupyter-widgets input[type=radio]').length > 3")
        notebook.wait_until_idle()
        again = notebook.page.locator(".jupyter-widgets.widget-vbox").last
        assert not again.get_by_label("RMS", exact=True).is_checked()
        before = alt(again)
        again.get_by_label("RMS", exact=True).check()
        wait_for_another(again, before)
