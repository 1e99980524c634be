"""The cells of a notebook by their ids, and their sources by a digest."""

import hashlib


def digest(source):
    """Return the mark of a cell's source: the first 12 hex digits of its SHA-256."""
    return hashlib.sha256(source.encode("utf8")).hexdigest()[:12]


def ids(notebook):
    """Return the ids of the cells in order."""
    return [cell.get("id") for cell in notebook.cells]


def by_id(notebook):
    """Return id → cell."""
    return {cell.get("id"): cell for cell in notebook.cells}


def is_stale(cell):
    """Tell whether the outputs of a code cell are missing or come from another source."""
    return bool(cell.source.strip()) and cell.metadata.get("executed") != digest(cell.source)
