"""How notebooks and texts are read and written."""

import json

import nbformat

from notebook_files.layout import LANGUAGES, ROOT, all_notebooks


def read_text(path):
    """Return the text of a file, which is UTF-8. Raises ValueError, naming the file, if it is not."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not UTF-8; open it in an editor and save it as UTF-8") from None


def read(path):
    """Return a notebook; metadata and outputs that a cell lacks are added, empty.

    Raises ValueError, naming the file and what is wrong, for what is no notebook of format 4. Whether the ids of the
    cells are right is not looked at.
    """
    try:
        notebook = nbformat.v4.reads(read_text(path))
    except (json.JSONDecodeError, AttributeError, KeyError, TypeError, RecursionError):
        raise ValueError(f"{path} is not a notebook that can be read") from None
    damage = damage_of(notebook)
    if damage:
        raise ValueError(f"{path} is not a notebook that can be read: {damage}")
    return notebook


def damage_of(notebook):
    """Return the words for what keeps a notebook from being used, "" if nothing does; add what a cell lacks, empty."""
    if not isinstance(notebook, dict):
        return "it is no dictionary"
    if not isinstance(notebook.get("cells"), list):
        return "it has no list of cells"
    if not isinstance(notebook.setdefault("metadata", nbformat.NotebookNode()), dict):
        return "its metadata are no dictionary"
    for number, cell in enumerate(notebook.cells, 1):
        damage = damage_of_cell(cell)
        if damage:
            return f"cell {number} {damage}"
    return ""


def damage_of_cell(cell):
    """Return the words for what keeps a cell from being used, "" if nothing does; add what it lacks, empty."""
    if not isinstance(cell, dict):
        return "is no dictionary"
    if cell.get("cell_type") not in ("code", "markdown", "raw"):
        return "is neither code nor Markdown nor raw"
    if not is_text(cell.get("source")):
        return "has no source that is text"
    if not isinstance(cell.setdefault("metadata", nbformat.NotebookNode()), dict):
        return "has metadata that are no dictionary"
    if "id" in cell and not isinstance(cell.id, str):
        return "has an id that is no text"
    if cell.cell_type != "code":
        return ""
    cell.setdefault("execution_count", None)
    outputs = cell.setdefault("outputs", [])
    has_outputs = isinstance(outputs, list) and all(is_output(output) for output in outputs)
    return "" if has_outputs else "has outputs that are none"


def is_text(source):
    """Tell whether something is text that can be written as UTF-8."""
    if not isinstance(source, str):
        return False
    try:
        source.encode("utf8")
    except UnicodeEncodeError:  # half of a pair of surrogates
        return False
    return True


def is_output(output):
    """Tell whether something has the form of an output: it has a type, and its data, if any, hold texts."""
    if not isinstance(output, dict) or not isinstance(output.get("output_type"), str):
        return False
    if not isinstance(output.get("data", {}), dict):
        return False
    return all(is_text(value) for kind, value in output.get("data", {}).items() if kind.startswith("text/"))


def load(root=ROOT):
    """Return the books, language → name → notebook. Raises ValueError for a file that is no notebook."""
    books = {language: {} for language in LANGUAGES}
    for path in all_notebooks(root):
        language, *rest = path.relative_to(root / "notebooks").parts
        if language in books and rest:
            books[language]["/".join(rest)] = read(path)
    return books


def write(path, notebook):
    """Write a notebook as Jupyter does; return whether the file has changed."""
    text = nbformat.v4.writes(notebook).rstrip("\n") + "\n"
    if path.exists() and path.read_bytes() == text.encode("utf8"):
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf8"))
    return True
