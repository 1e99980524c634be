"""How notebooks are read and written."""

import json

import nbformat

from notebook_files.layout import LANGUAGES, ROOT, all_notebooks


def read(path):
    """Return a notebook without validating it. Raises ValueError, naming the file, if it is none."""
    try:
        notebook = nbformat.v4.reads(path.read_text(encoding="utf8"))
        if isinstance(notebook.cells, list):
            return notebook
    except (json.JSONDecodeError, AttributeError, KeyError, TypeError, UnicodeDecodeError):
        pass
    raise ValueError(f"{path} is not a notebook that can be read")


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
