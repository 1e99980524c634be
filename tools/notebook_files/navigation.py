"""The bars at the top and the bottom of each notebook: its neighbours, its assignment or lesson, other languages."""

import posixpath
import re

import nbformat

from notebook_files.cell_sources import digest
from notebook_files.directions import where
from notebook_files.layout import BARS, LANGUAGES, MADE, path_of
from notebook_files.reading import write

WORDS = {
    "en": {
        "name": "English",
        "previous": "Previous",
        "contents": "Contents",
        "next": "Next",
        "lesson": "Lesson",
        "assignment": "Assignment",
    },
    "de": {
        "name": "Deutsch",
        "previous": "Zurück",
        "contents": "Inhalt (englisch)",
        "next": "Weiter",
        "lesson": "Lektion",
        "assignment": "Aufgabenblatt",
    },
    "sv": {
        "name": "Svenska",
        "previous": "Föregående",
        "contents": "Innehåll (på engelska)",
        "next": "Nästa",
        "lesson": "Lektion",
        "assignment": "Inlämningsuppgift",
    },
}


def title(notebook, name):
    """Return the text of a notebook's first heading, or its file name without one."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            found = re.search(r"^# +(.+?)\s*$", cell.source, re.MULTILINE)
            if found:
                return found[1]
    return posixpath.basename(name).removesuffix(".ipynb")


def bar(books, language, name):
    """Return the markdown of a notebook's bar; what does not exist (yet) is left out."""
    words = WORDS[language]
    folder, _, file = name.rpartition("/")
    own_folder = posixpath.join("notebooks", language, folder)

    def link(text, path):
        return f"[{text}]({posixpath.relpath(path, own_folder)})"

    neighbours = sorted(other for other in books[language] if posixpath.dirname(other) == folder)
    at = neighbours.index(name)
    parts = []
    if at > 0:
        previous = neighbours[at - 1]
        heading = title(books[language][previous], previous)
        parts.append(link(f"← {words['previous']}: {heading}", f"notebooks/{language}/{previous}"))
    parts.append(link(words["contents"], "README.md"))
    if at + 1 < len(neighbours):
        following = neighbours[at + 1]
        heading = title(books[language][following], following)
        parts.append(link(f"{words['next']}: {heading} →", f"notebooks/{language}/{following}"))
    partner = file if folder else MADE + file
    if partner in books[language]:
        text = words["lesson" if folder else "assignment"]
        parts.append(link(text, f"notebooks/{language}/{partner}"))
    others = [other for other in LANGUAGES if other != language and name in books[other]]
    parts += [link(WORDS[other]["name"], f"notebooks/{other}/{name}") for other in others]
    return " | ".join(parts)


def bars(books, language, name):
    """Return the first and the last cell of a notebook. In a translation they carry the mark of the English bar."""
    metadata = {}
    if language != "en" and name in books["en"]:
        metadata = {"translation": {"of": digest(bar(books, "en", name))}}
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
