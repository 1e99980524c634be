"""What `helpers` shows in JupyterLab: each picture once, with its text, in the language of the notebook."""

import json

import nbformat
import pytest

from running import execution
from tests.support import browser

pytestmark = pytest.mark.slow

SETUP = """from helpers import explorers, figures, language
from helpers.activities import claims
from helpers.activities.predict import predict
language.use("de")"""
CELLS = {
    "picture": 'figures.lines([0, 1], {"a": [1, 2]}, "axis.block", "axis.length", alt="Die Länge wächst.")',
    "card": 'claims.check("off-by-one", 12)',
    "table": "claims.table(1)",
    "question": 'predict("growth", 99.2, (3, 25, 75))',
    "explorer": "explorers.layer_norm_steps()",
}
SPOKEN = """text => [...document.querySelectorAll(".jp-OutputArea-output *")]
  .filter(element => element.innerText?.includes(text) || element.alt?.includes(text))
  .map(element => element.closest("[lang]").lang).pop()"""  # of the innermost element


def write(path, cells):
    """Write a notebook of cells, name → source."""
    made = [nbformat.v4.new_code_cell(source, id=name) for name, source in cells.items()]
    nbformat.write(nbformat.v4.new_notebook(cells=made, metadata={"kernelspec": execution.KERNEL}), path)


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """JupyterLab in an empty folder, and a browser's window: (folder, address, window)."""
    root, config = tmp_path_factory.mktemp("root"), tmp_path_factory.mktemp("config")
    with browser.lab(root, config) as address, browser.window() as window:
        yield root, address, window


@pytest.fixture(scope="module")
def lesson(lab):
    """The notebook in JupyterLab, run and saved."""
    root, address, window = lab
    write(root / "small.ipynb", {"setup": SETUP, **CELLS})
    page, errors = browser.new_page(window)
    opened = browser.Notebook(page, address, "small.ipynb")
    opened.run_all()
    opened.scroll_to_end()
    opened.save()
    yield opened, root / "small.ipynb"
    assert errors == []


def images(page):
    return page.locator(".jp-OutputArea-output img").evaluate_all("images => images.map(image => image.alt)")


def test_each_picture_is_shown_once_and_with_its_text(lesson):
    opened, _ = lesson
    shown = images(opened.page)
    assert len(shown) == 2 and shown[0].startswith("Die Länge wächst.") and "LayerNorm" in shown[1]
    opened.page.locator(".jp-OutputArea-output table").scroll_into_view_if_needed()
    opened.shot("outputs_de")


@pytest.mark.parametrize(
    "text", ["Die Länge wächst.", "Stimmt", "Behauptung", "Wie lang ist der Residualstrom", "LayerNorm in vier Bildern"]
)
def test_what_is_shown_is_spoken_in_german(lesson, text):
    assert lesson[0].page.evaluate(SPOKEN, text) == "de"


def test_the_file_holds_a_png_and_its_text_beside_the_page(lesson):
    _, path = lesson
    outputs = {cell.id: cell.outputs[0] for cell in nbformat.read(path, as_version=4).cells if cell.outputs}
    for name in ("picture", "explorer"):
        assert {"text/html", "image/png", "text/plain"} <= set(outputs[name].data)
        assert outputs[name].metadata["image/png"]["alt"] == outputs[name].data["text/plain"]


def test_a_reader_sees_the_card_and_not_its_data(lesson):
    """What a reader sees of a card is the HTML, not the data that programs read."""
    page = lesson[0].page
    card = page.locator(".jp-OutputArea-output .claim")
    card.scroll_into_view_if_needed()
    assert card.get_attribute("lang") == "de" and "Stimmt" in card.inner_text()
    assert not [text for text in page.locator(".jp-OutputArea").all_inner_texts() if '"within"' in text]


def test_arrow_keys_do_not_leave_a_question(lab):
    """At the last option, the arrow key went on to the next question, and predicted there."""
    root, address, window = lab
    (root / "two").mkdir()
    cells = {
        "imports": "from helpers.activities.predict import predict",
        "first": "predict('growth', 99, (3, 25, 75))",
        "second": "predict('post', 1, (0.5, 2.5))",
    }
    write(root / "two" / "two.ipynb", cells)
    page, errors = browser.new_page(window)
    browser.Notebook(page, address, "two/two.ipynb").run_all()
    first, second = (page.locator(".widget-radio").nth(index) for index in (0, 1))
    second.wait_for()

    def chosen(group):
        return group.locator("input").evaluate_all("all => all.map(one => one.checked).indexOf(true)")

    first.locator("input").first.focus()
    for key, last in (("ArrowDown", 4), ("ArrowRight", 4), ("ArrowUp", 0), ("ArrowLeft", 0)):
        for _ in range(6):
            page.keyboard.press(key)
        assert (chosen(first), chosen(second)) == (last, -1), key
    page.wait_for_timeout(500)
    assert json.loads((root / "two" / "predictions.json").read_text()).keys() == {"growth"} and errors == []
