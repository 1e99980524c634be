"""The findings of `python tools/notebooks.py check`: one line each, with the file, the cell and what to do."""

import json
import re

from lint import assignment_copies, catalogue, claims_ledger, links, stored_outputs
from notebook_files import navigation
from notebook_files.directions import command, where
from notebook_files.layout import BARS, CITING, OTHERS, authored
from notebook_files.reading import load, read_text
from texts import languages, wording
from translation import differences, markdown_pages


def check(root):
    """Return all findings of the tree below a folder; only one if a file cannot be read at all."""
    try:
        findings = list(all_findings(root))
    except ValueError as error:
        findings = [str(error).replace(f"{root}/", "")]
    return list(dict.fromkeys(findings))


def all_findings(root):
    """Yield the findings. Raises ValueError, naming the file, for one that cannot be read."""
    books = load(root)
    vocabulary = catalogue.vocabulary_of(root)
    ledger = claims_ledger.load(root)
    yield from missing(books)
    for language, notebooks in books.items():
        for name, notebook in notebooks.items():
            yield from bars(books, language, name)
            if name in authored(notebooks):
                yield from of_notebook(books, language, name, notebook, vocabulary, ledger)
        yield from assignment_copies.check(notebooks, language)
    yield from links.check(root, books)
    yield from page_words(root)
    yield from markdown_pages.check(root)
    yield from catalogue.check(root)
    yield from claims_ledger.check(root, books)


def missing(books):
    """Find notebooks that a language lacks, or has alone."""
    for language in OTHERS:
        for name in sorted(authored(books["en"]).keys() - books[language].keys()):
            yield f"{where(language, name)}: missing; run {command('sync')}"
        for name in sorted(authored(books[language]).keys() - books["en"].keys()):
            yield f"{where(language, name)}: has no English original; move or delete it"


def of_notebook(books, language, name, notebook, vocabulary, ledger):
    """Find what is wrong with one notebook: beside its original, in its words, in what running it left."""
    if language != "en" and name in books["en"]:
        yield from differences.compare(books["en"][name], notebook, language, name)
    yield from texts(notebook, language, name, differences.waiting(books, language, name))
    recoded = differences.recoded(books, language, name)
    yield from stored_outputs.check(notebook, language, name, vocabulary, recoded)
    yield from claims_ledger.check_cards(notebook, ledger, language, name)


# the words of one notebook


def texts(notebook, language, name, skip=()):
    """Find what is wrong with the prose of a notebook, without the cells `skip`, and with its cells as such."""
    yield from names_of_cells(notebook, language, name)
    for cell in notebook.cells:
        at = where(language, name, cell)
        found = wording.MACHINE_PATH.search(json.dumps(cell, ensure_ascii=False))
        if found:
            yield f"{at}: {found[0]} is a path of one machine; take it out"
        if cell.cell_type == "markdown" and cell.get("id") not in (*BARS, *skip):
            yield from wording.written(cell.source, language, at, with_terms=cell.get("id") not in CITING)


def names_of_cells(notebook, language, name):
    """Find cells without an id of their own, and ids that say nothing."""
    seen = set()
    for cell in notebook.cells:
        at = where(language, name, cell)
        id_ = cell.get("id")
        if id_ is None:
            yield f"{at}: has no id; give it one of its own"
        elif id_ in seen:
            yield f"{at}: two cells have this id; give it one of its own"
        elif re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f-]+)?", id_):
            yield f"{at}: JupyterLab made this id; give the cell one of words, such as rms-of-a-token"
        seen.add(id_)


# the wording of the READMEs


def page_words(root):
    """Find what is wrong with the wording of the READMEs, which are English."""
    for path in sorted([*root.glob("*.md"), *root.glob("tools/**/*.md")]):
        prose = languages.without_titles(read_text(path), "en")
        yield from wording.words(prose, "en", path.relative_to(root).as_posix())


# what tools write


def bars(books, language, name):
    """Find a first and a last cell that are not what `nav` writes."""
    cells = books[language][name].cells
    if cells[:1] + cells[-1:] != navigation.bars(books, language, name):
        yield f"{where(language, name)}: the bars in its first and last cell are not right; run {command('nav')}"
