"""Faults to be planted in the small project: functions that take it and change a cell or a notebook."""

from lint import all_findings, claims_ledger, stored_outputs
from notebook_files import cell_sources, reading
from tests.support import small_tree

FIRST, SECOND = "01_first.ipynb", "02_second.ipynb"


def source(language, name, id_, old, new):
    """Return a fault: a text replaced in a cell."""

    def plant(tree):
        with tree.edit(language, name) as notebook:
            cell = cell_sources.by_id(notebook)[id_]
            assert old in cell.source
            cell.source = cell.source.replace(old, new)

    return plant


def on_cell(language, id_, change, name=FIRST):
    """Return a fault: a function applied to a cell."""

    def plant(tree):
        with tree.edit(language, name) as notebook:
            change(cell_sources.by_id(notebook)[id_])

    return plant


def on_notebook(language, change, name=FIRST):
    """Return a fault: a function applied to a notebook."""

    def plant(tree):
        with tree.edit(language, name) as notebook:
            change(notebook)

    return plant


def swap(notebook):
    notebook.cells[2], notebook.cells[3] = notebook.cells[3], notebook.cells[2]


def drop(id_):
    def change(notebook):
        notebook.cells = [cell for cell in notebook.cells if cell.id != id_]

    return change


def whole(language, name, id_, text):
    """Return a fault: the whole text of a cell replaced, in a translation marked as up to date."""

    def plant(tree):
        with tree.edit(language, name) as notebook:
            cell_sources.by_id(notebook)[id_].source = text

    return plant


def html(language, text):
    """Return a fault: what the cell `picture` shows."""

    def plant(tree):
        with tree.edit(language, FIRST) as notebook:
            cell_sources.by_id(notebook)["picture"].outputs[0].data["text/html"] = text

    return plant


def card(**fields):
    """Return a fault: the data of the card that the cell `picture` shows, changed."""

    def plant(tree):
        with tree.edit("sv", FIRST) as notebook:
            cell_sources.by_id(notebook)["picture"].outputs[1].data[claims_ledger.CARD].update(fields)

    return plant


def card_text(part, text):
    """Return a fault: a text of the card that the cell `picture` shows."""
    return lambda tree: card(texts=small_tree.card("sv")["texts"] | {part: text})(tree)


def file(name, old, new):
    """Return a fault: a text replaced in a file."""
    return lambda tree: tree.replace(name, old, new)


def fails(cell):
    cell.outputs = [reading.nbformat.v4.new_output("error", ename="KeyError", evalue="x", traceback=[])]


def picture_without_text(cell):
    cell.outputs = [reading.nbformat.v4.new_output("display_data", {"image/png": "AAAA"})]


def widget(cell):
    cell.outputs[0].data[stored_outputs.WIDGET_VIEW] = {"model_id": "x"}


def assert_found(tree, plant, places, says):
    """Plant a fault and assert that `check` finds it, first in the first of these places and nowhere else."""
    plant(tree)
    found = all_findings.check(tree.root)
    if "nav" not in says:  # the bars follow the rest
        found = [finding for finding in found if "notebooks.py nav" not in finding]
    assert any(says in finding for finding in found), found
    assert all(finding.startswith(tuple(places.split())) for finding in found), found
    assert any(finding.startswith(places.split()[0]) for finding in found)
