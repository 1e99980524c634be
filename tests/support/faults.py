"""Faults to be planted in the small project: functions that take it and change a cell or a notebook."""

from notebook_files import cell_sources

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
