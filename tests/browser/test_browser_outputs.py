"""What `helpers` shows in JupyterLab: each picture once, with its text, in the language of the notebook."""

import nbformat
import pytest

from running import execution
from tests.support import browser

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


@pytest.fixture(scope="module")
def lesson(tmp_path_factory):
    """The notebook in JupyterLab, run and saved."""
    root, config = tmp_path_factory.mktemp("root"), tmp_path_factory.mktemp("config")
    cells = [nbformat.v4.new_code_cell(source, id=name) for name, source in {"setup": SETUP, **CELLS}.items()]
    notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": execution.KERNEL})
    nbformat.write(notebook, root / "small.ipynb")
    with browser.lab(root, config) as address, browser.page() as (page, errors):
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
