"""What becomes of a notebook outside JupyterLab: LaTeX, HTML and scripts hold what it shows, in its language."""

import base64
import re

import nbformat
import pytest
from bs4 import BeautifulSoup, NavigableString
from nbconvert.exporters import HTMLExporter, LatexExporter, ScriptExporter

from notebook_files import layout
from running import execution

CELLS = {
    "picture": 'figures.lines([0, 1], {"a": [1, 2]}, "axis.block", "axis.length", alt="Die Länge wächst.")',
    "explorer": "explorers.layer_norm_steps()",
    "question": 'predict("growth", 99.2, (3, 25, 75))',
    "card": 'claims.check("off-by-one", 12)',
    "table": "claims.table(1)",
}
IMPORTS = """from helpers import explorers, figures, language
from helpers.activities import claims
from helpers.activities.predict import predict
language.use("de")"""
PICTURES = ("picture", "explorer")


@pytest.fixture(scope="module")
def german(tmp_path_factory):
    """A small German notebook that was executed: one cell for everything that `helpers` shows."""
    cells = [nbformat.v4.new_code_cell(source, id=name) for name, source in {"imports": IMPORTS, **CELLS}.items()]
    notebook = nbformat.v4.new_notebook(cells=cells)
    execution.execute(notebook, str(tmp_path_factory.mktemp("german")))
    return notebook


def data_of(notebook, name):
    """Return (content by MIME type, metadata) of what a cell shows."""
    (cell,) = [cell for cell in notebook.cells if cell.id == name]
    (output,) = cell.outputs
    return output.data, output.metadata


@pytest.fixture(scope="module")
def latex(german):
    """The notebook as LaTeX, of which nbconvert also makes a PDF: (text, resources); the table needs pandoc."""
    notebook = nbformat.from_dict(german)
    notebook.cells = [cell for cell in german.cells if cell.id != "table"]
    return LatexExporter().from_notebook_node(notebook)


def test_latex_holds_every_picture(german, latex):
    text, resources = latex
    files = re.findall(r"\\adjustimage\{[^}]*\{[^}]*\}\{[^}]*\}\}\{([^}]+)\}", text)
    assert len(files) == len(PICTURES) and set(files) == set(resources["outputs"])
    for name, file in zip(PICTURES, files):
        data, _ = data_of(german, name)
        assert resources["outputs"][file] == base64.b64decode(data["image/png"])


def test_latex_holds_what_was_asked_and_measured(german, latex):
    question = data_of(german, "question")[0]["text/plain"]
    text, _ = latex
    flat = " ".join(text.split())
    for word in ("Gemessen", "99,2", question.splitlines()[1]):
        assert word in flat


def test_a_page_shows_each_picture_once_with_its_text(german):
    for template in ("lab", "classic", "basic"):
        text, _ = HTMLExporter(template_name=template).from_notebook_node(german)
        images = BeautifulSoup(text, "html.parser").select("img")
        assert [image["alt"] for image in images] == [data_of(german, name)[0]["text/plain"] for name in PICTURES]


def test_where_only_the_png_is_taken_its_text_is_in_the_metadata(german):
    for name in PICTURES:
        data, metadata = data_of(german, name)
        assert metadata["image/png"]["alt"] == data["text/plain"] and len(data["text/plain"]) > 40


@pytest.mark.parametrize("name", CELLS)
def test_whatever_is_shown_says_its_language(german, name):
    page = BeautifulSoup(data_of(german, name)[0]["text/html"], "html.parser")
    spoken = page.select("img[alt]")
    spoken += [text for text in page.find_all(string=True) if type(text) is NavigableString and text.strip()]
    assert spoken
    for one in spoken:
        own = one.get("lang") if one.name else None
        assert own == "de" or one.find_parent(lang="de") is not None, one


def test_a_page_can_be_asked_to_say_its_language(german):
    text, _ = HTMLExporter(language_code="de").from_notebook_node(german)
    assert BeautifulSoup(text, "html.parser").html["lang"] == "de"


def test_a_script_ends_in_py(german):
    text, resources = ScriptExporter().from_notebook_node(german)
    assert resources["output_extension"] == ".py" and "explorers.layer_norm_steps()" in text


def test_what_a_run_writes_names_no_version(german):
    assert "version" not in german.metadata.language_info


@pytest.mark.slow
@pytest.mark.parametrize("path", layout.all_notebooks(), ids=lambda path: "-".join(path.parts[-3:]))
def test_a_script_of_every_notebook_ends_in_py(path):
    notebook = nbformat.read(path, as_version=4)
    _, resources = ScriptExporter().from_notebook_node(notebook)
    assert resources["output_extension"] == ".py" and "version" not in notebook.metadata.language_info
