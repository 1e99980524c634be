"""The marks of translated cells, which say of which English source they are the translation."""

import re

from notebook_files.cell_sources import digest


def in_language(cell, language):
    """Return the source that an English code cell has in another language: only `setup` differs, in the name."""
    if cell.get("id") != "setup":
        return cell.source
    return re.sub(r'(language\.use\(["\'])en(["\'])', rf"\g<1>{language}\g<2>", cell.source)


def mark(cell):
    """Return which English source a translated cell was last translated from, or None."""
    return marks(cell).get("of")


def marks(cell):
    """Return the marks of a translated cell: `of`, its English source; `as`, its own, if it may have other numbers."""
    translation = cell.metadata.get("translation", {})
    return translation if isinstance(translation, dict) else {}


def state(original, cell):
    """Return how a translated markdown cell stands: "new" (without a mark), "behind" or "current"."""
    if mark(cell) is None:
        return "new"
    return "current" if mark(cell) == digest(original.source) else "behind"
