"""Every lesson in JupyterLab: Run All, accessibility in both themes, saving.

German and Swedish, whose words are longer; tests/project runs the English ones. The assignments and their solutions,
too, each in one language."""

import itertools
import json
import re
import shutil
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

from helpers import language
from lint import all_findings
from notebook_files import layout
from tests.support import browser

pytestmark = pytest.mark.slow

ROOT = layout.ROOT
ALL = [path.relative_to(ROOT) for path in layout.all_notebooks()]
LESSONS = [path for path in ALL if path.parent.name in layout.OTHERS]
OURS = ".jp-OutputArea, .jp-RenderedMarkdown"  # what the lessons put on the page; the rest is JupyterLab's own

CUT = """() => [...document.querySelectorAll(".jp-OutputArea *, .jp-RenderedMarkdown *")].filter(element => {
  // typed text; for screen readers
  if (element.tagName === "INPUT" || element.closest("mjx-assistive-mml")) return false;
  if (element.matches(".answers .widget-radio-box label")) {  // the button stands before the first line of its text
    const [text, button] = [element, element.querySelector("input")].map(part => part.getBoundingClientRect());
    if (text.width && (button.left > text.left + 9 || button.top > text.top + 9)) return true;
  }
  if (element.closest(".answers") && element.scrollWidth > element.clientWidth + 2 && element.clientWidth) return true;
  return element.scrollWidth > element.clientWidth + 2 && getComputedStyle(element).overflowX.match(/hidden|clip/);
}).map(element => element.outerHTML.slice(0, 200))"""  # texts that are cut; what is wide may only be scrolled


def in_turn(languages, folder=""):
    """Return the notebooks of a folder, each in one of the languages, in turn; their code is the same in all."""
    names = sorted({path.name for path in ALL})
    return [Path("notebooks", lang, folder, name) for name, lang in zip(names, itertools.cycle(languages))]


ANSWERED = [*in_turn(("de", "sv", "en"), "assignments"), *in_turn(("sv", "en", "de"), "solutions")]
PATHS = [*LESSONS, *ANSWERED]
# what axe looks at, such as colours, roles, and whether controls have names, does not depend on the language
LOOKED_AT = [*in_turn(("de", "sv")), *ANSWERED]
ARROWS = "lists => lists.map(list => getComputedStyle(list).backgroundImage)"


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """JupyterLab over a copy of the project, which draws all cells at once."""
    root, config = tmp_path_factory.mktemp("root"), tmp_path_factory.mktemp("config")
    for name in ("notebooks", "helpers", "tools"):
        shutil.copytree(ROOT / name, root / name)
    for name in ("README.md", "LICENSE"):
        shutil.copy(ROOT / name, root)
    settings = config / "lab" / "user-settings" / "@jupyterlab" / "notebook-extension" / "tracker.jupyterlab-settings"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"windowingMode": "none"}))
    with browser.lab(root, config) as address:
        yield root, address


@pytest.fixture(scope="module")
def window():
    with browser.window() as opened:
        yield opened


@pytest.fixture
def page(window):
    """A page of its own, so that no notebook suffers from those before it, and the errors of its console."""
    opened, errors = browser.new_page(window)
    yield opened, errors
    opened.close()


def violations(page):
    """Return what axe calls serious or critical in the lessons' own outputs and texts."""
    found = Axe().run(page, context=OURS, options={"resultTypes": ["violations"]}).response["violations"]
    nodes = [(rule, node) for rule in found if rule["impact"] in ("serious", "critical") for node in rule["nodes"]]
    return [(rule["id"], node["html"][:200], node["failureSummary"]) for rule, node in nodes]


@pytest.mark.parametrize("name", PATHS, ids=str)
def test_runs_without_an_error_and_nothing_is_cut(lab, page, name):
    (_, address), (page, console) = lab, page
    notebook = browser.Notebook(page, address, name)
    notebook.run_all()
    if name.parent.name == "assignments":  # nothing is answered yet, and the first check says so
        language.use(name.parts[1])
        assert [text.replace("\n", " ") for text in notebook.errors()] == [language.say("check.not_done")]
    else:
        assert notebook.errors() == []
    assert console == []
    if name in LOOKED_AT:
        look_at_both_themes(page, notebook, name)
    page.set_viewport_size({"width": 640, "height": 900})  # 200 % zoom, with the file browser open
    page.wait_for_timeout(500)
    assert page.evaluate(CUT) == []
    page.set_viewport_size({"width": 1280, "height": 900})
    notebook.save()
    notebook.shut_down()


def look_at_both_themes(page, notebook, name):
    """Assert that axe finds nothing, and keep a picture of each theme."""
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        notebook.use_theme(theme)
        assert violations(page) == []
        if theme.endswith("Dark"):  # ipywidgets' own arrow is black in both themes
            assert set(page.locator(".widget-dropdown select").evaluate_all(ARROWS)) <= {"none"}
        notebook.shot("_".join(name.with_suffix("").parts[1:]) + theme[10:].replace(" ", "_").lower())
    notebook.use_theme("JupyterLab Light")


def test_saved_in_lab_all_is_fine_but_the_outputs_and_reopened_it_works_again(lab, page):
    (root, address), (page, console) = lab, page
    name = "notebooks/de/04_residual_stream.ipynb"
    notebook = browser.Notebook(page, address, name)
    notebook.run_all()
    notebook.save()
    ran = re.compile("; run it: |or executed; assignments")  # the tests above have run and saved the others
    assert [finding for finding in all_findings.check(root) if not ran.search(finding)] == []
    notebook.shut_down()
    notebook = browser.Notebook(page, address, name)
    notebook.shot("reopened")
    assert notebook.errors() == []
    notebook.run_all()
    assert notebook.errors() == []
    assert console == []
