"""What readers see of the committed notebooks on GitHub and on nbviewer, where nothing runs.

Both use nbconvert, which shows one representation of each output. GitHub then drops styles, scripts and
all elements that are not on its list; what remains has to be enough."""

import re

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbconvert.exporters import HTMLExporter

from notebook_files import layout
from website import explorer_states

ORDER = HTMLExporter().default_config.NbConvertBase.display_data_priority
KEPT = set(
    "a abbr b bdo blockquote br caption cite code dd del details dfn div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 "
    "hr i img ins kbd li mark ol p pre q s samp small span strong sub summary sup table tbody td tfoot th thead tr tt "
    "ul var".split()
)  # of html-pipeline's filter, which GitHub publishes
OBJECT = re.compile(
    r"<(Figure|helpers|matplotlib|IPython|function|\w+ object)|\b(VBox|HBox|HTML|Picture|Card|RadioButtons)\("
)
SOLVED = layout.solved(layout.all_notebooks())


def name_of(path):
    """Return a notebook's path below the folder of the notebooks."""
    return str(path.relative_to(layout.ROOT / "notebooks"))


@pytest.fixture(params=SOLVED, ids=name_of)
def notebook(request):
    return nbformat.read(request.param, as_version=4)


def shown(output):
    """Return (MIME type, content) of what nbconvert shows of an output."""
    if output.output_type == "stream":
        return "text/plain", output.text
    return next(((kind, output.data[kind]) for kind in ORDER if kind in output.data), ("", ""))


def on_github(html):
    """Return what GitHub leaves of an output's HTML, as BeautifulSoup."""
    soup = BeautifulSoup(html, "html.parser")
    for element in soup.find_all(True):
        if element.name in ("script", "style"):
            element.decompose()
            continue
        element.attrs.pop("style", None)
        if element.name not in KEPT:
            element.unwrap()
    return soup


def outputs(notebook):
    """Yield (cell, MIME type, content) of every output."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            yield cell, *shown(output)


def test_every_output_has_something_to_see_and_none_is_an_object(notebook):
    count = 0
    for cell, kind, content in outputs(notebook):
        text = content
        if kind == "text/html":
            left = on_github(content)
            text = left.get_text() + "".join(image["alt"] for image in left.select("img[src]"))
        finished = re.fullmatch(r"<progress [^>]*></progress>", content.strip())  # says nothing once it is full
        assert text.strip() or finished, cell.id
        assert not OBJECT.search(text), cell.id
        assert kind in ("text/html", "text/markdown", "text/plain"), (cell.id, kind)
        count += 1
    assert count > 3


def test_pictures_keep_their_size_and_text_without_styles(notebook):
    for cell, kind, content in outputs(notebook):
        for image in on_github(content).select("img") if kind == "text/html" else ():
            assert image["src"].startswith("data:image/") and len(image["alt"]) > 40, cell.id
            assert int(image["width"]) > 200 and int(image["height"]) > 100, cell.id


def test_cards_and_predictions_keep_their_words_without_styles(notebook):
    for cell, kind, content in outputs(notebook):
        left = on_github(content) if kind == "text/html" else BeautifulSoup("", "html.parser")
        if 'class="claim"' in content:
            assert left.strong.get_text() and left.small.get_text() and len(left.get_text()) > 80, cell.id
        if re.search(r"^predict\(", cell.source, re.M):
            assert left.p.get_text() and len(left.select("ol > li")) > 1, cell.id
            assert left.details.summary.get_text() and re.search(r"\d", left.details.get_text()), cell.id


def test_each_explorer_leaves_a_picture(notebook):
    for cell in notebook.cells:
        if cell.cell_type == "code" and explorer_states.shown_in(cell.source):
            (output,) = cell.outputs
            assert on_github(shown(output)[1]).select("img[alt]"), cell.id


@pytest.mark.slow
@pytest.mark.parametrize("path", [path for path in SOLVED if path.parent.name == "en"], ids=name_of)
def test_nbviewer_shows_every_picture_and_no_widget_view(path):
    html, _ = HTMLExporter(template_name="classic").from_filename(str(path))
    soup = BeautifulSoup(html, "html.parser")
    assert len(soup.select(".output_area img[alt]")) == path.read_text(encoding="utf8").count("data:image/")
    assert "application/vnd.jupyter.widget-view+json" not in str(soup.body)
    for element in soup.select(".output_area"):
        assert not OBJECT.search(element.get_text())
