"""The bars at the top and the bottom of each notebook: its neighbours, its assignment or lesson, other languages."""

import posixpath
import re

import nbformat

from notebook_files.cell_sources import digest
from notebook_files.directions import where
from notebook_files.layout import BARS, LANGUAGES, MADE, path_of
from notebook_files.reading import write

KEYS = ("name", "previous", "contents", "next", "lesson", "assignment")
WORDS = {
    "en": dict(zip(KEYS, ("English", "Previous", "Contents", "Next", "Lesson", "Assignment"))),
    "de": dict(zip(KEYS, ("Deutsch", "Zurück", "Inhalt (englisch)", "Weiter", "Lektion", "Aufgabenblatt"))),
    "sv": dict(zip(KEYS, ("Svenska", "Föregående", "Innehåll (på engelska)", "Nästa", "Lektion", "Inlämningsuppgift"))),
}


def title(notebook, name):
    """Return the text of a notebook's first heading, or its file name without one."""
    for cell in notebook.cells:
        found = re.search(r"^# +(.+?)\s*$", cell.source, re.M) if cell.cell_type == "markdown" else None
        if found:
            return found[1]
    return posixpath.basename(name).removesuffix(".ipynb")


def bar(books, language, name):
    """Return the markdown of a notebook's bar; what does not exist (yet) is left out."""
    words, folder = WORDS[language], posixpath.dirname(name)
    row = sorted(other for other in books[language] if posixpath.dirname(other) == folder)
    at = row.index(name)
    relative = lambda path: posixpath.relpath(path, posixpath.join("notebooks", language, folder))
    link = lambda text, path: f"[{text}]({relative(path)})"
    lesson = lambda other: (title(books[language][other], other), f"notebooks/{language}/{other}")
    parts = []
    if at > 0:
        text, path = lesson(row[at - 1])
        parts.append(link(f"← {words['previous']}: {text}", path))
    parts.append(link(words["contents"], "README.md"))
    if at + 1 < len(row):
        text, path = lesson(row[at + 1])
        parts.append(link(f"{words['next']}: {text} →", path))
    partner = (MADE if not folder else "") + posixpath.basename(name)
    if partner in books[language]:
        parts.append(link(words["lesson" if folder else "assignment"], f"notebooks/{language}/{partner}"))
    for other in LANGUAGES:
        if other != language and name in books[other]:
            parts.append(link(WORDS[other]["name"], f"notebooks/{other}/{name}"))
    return " | ".join(parts)


def bars(books, language, name):
    """Return the first and the last cell of a notebook. In a translation they carry the mark of the English bar."""
    marked = language != "en" and name in books["en"]
    metadata = {"translation": {"of": digest(bar(books, "en", name))}} if marked else {}
    source = bar(books, language, name)
    return [nbformat.v4.new_markdown_cell(source, id=id_, metadata=metadata) for id_ in BARS]


def nav(root, books):
    """Write the bars of all notebooks; return the report, a line for each file that changed."""
    report = []
    for language in LANGUAGES:
        for name, notebook in books[language].items():
            top, bottom = bars(books, language, name)
            notebook.cells = [top, *(cell for cell in notebook.cells if cell.get("id") not in BARS), bottom]
            if write(path_of(root, language, name), notebook):
                report.append(f"{where(language, name)}: bars written")
    return report or ["nothing to do"]
