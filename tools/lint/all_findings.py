"""The findings of `python tools/notebooks.py check`: one line each, with the file, the cell and what to do."""

import json
import re

from lint import assignment_copies, catalogue, claims_ledger, links, stored_outputs
from notebook_files import navigation
from notebook_files.directions import command, where
from notebook_files.layout import BARS, CITING, LANGUAGES, OTHERS, authored
from notebook_files.reading import load
from texts import markdown_parts, wording
from translation import differences


def check(root):
    """Return all findings of the tree below a folder; only one if a file cannot be read at all."""
    try:
        books, vocabulary = load(root), catalogue.vocabulary_of(root)
    except ValueError as error:
        return [str(error).replace(f"{root}/", "")]
    findings, claims = [*missing(books)], claims_ledger.load(root)
    for language in LANGUAGES:
        catalogued = catalogue.catalogue_of(root, language)
        for name in books[language]:
            findings += bars(books, language, name)
        for name, notebook in authored(books[language]).items():
            if language != "en" and name in books["en"]:
                findings += differences.compare(books["en"][name], notebook, language, name)
            findings += texts(notebook, language, name, differences.waiting(books, language, name))
            findings += stored_outputs.check(
                notebook, language, name, vocabulary, differences.recoded(books, language, name)
            )
            findings += cards(notebook, claims, catalogued, language, name)
        findings += assignment_copies.check(books[language], language)
    findings += links.check(root, books)
    findings += page_words(root)
    findings += catalogue.check(root)
    findings += claims_ledger.check(root, books)
    return list(dict.fromkeys(findings))


def missing(books):
    """Find notebooks that a language lacks, or has alone."""
    for language in OTHERS:
        for name in sorted(authored(books["en"]).keys() - books[language].keys()):
            yield f"{where(language, name)}: missing; run {command('sync')}"
        for name in sorted(authored(books[language]).keys() - books["en"].keys()):
            yield f"{where(language, name)}: has no English original; move or delete it"


# the words of one notebook


def texts(notebook, language, name, skip=()):
    """Find what is wrong with the prose of a notebook, without the cells `skip`, and with its cells as such."""
    seen = set()
    for cell in notebook.cells:
        at = where(language, name, cell)
        if cell.get("id") is None or cell.id in seen:
            yield f"{at}: {'has no id' if cell.get('id') is None else 'two cells have this id'}; give it one of its own"
        elif re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f-]+)?", cell.id):
            yield f"{at}: JupyterLab made this id; give the cell one of words, such as rms-of-a-token"
        seen.add(cell.get("id"))
        if found := wording.MACHINE_PATH.search(json.dumps(cell, ensure_ascii=False)):
            yield f"{at}: {found[0]} is a path of one machine; take it out"
        if cell.cell_type == "markdown" and cell.get("id") not in (*BARS, *skip):
            yield from wording.written(cell.source, language, at, with_terms=cell.get("id") not in CITING)


# the wording of the READMEs


def page_words(root):
    """Find what is wrong with the wording of the READMEs, which are English."""
    for path in sorted([*root.glob("*.md"), *root.glob("tools/*.md")]):
        source, at = path.read_text(encoding="utf8"), path.relative_to(root).as_posix()
        yield from wording.words(markdown_parts.plain(markdown_parts.without_titles(source, "en")), "en", at)


# what tools write


def cards(notebook, claims, catalogued, language, name):
    """Find cards of claims that are no longer those of the ledger, or whose value is out of bounds."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            at = where(language, name, cell)
            yield from claims_ledger.changed(stored_outputs.shown(output), claims, catalogued, language, at)
            yield from claims_ledger.out_of_bounds(stored_outputs.shown(output), at)


def bars(books, language, name):
    """Find a first and a last cell that are not what `nav` writes."""
    cells = books[language][name].cells
    if cells[:1] + cells[-1:] != navigation.bars(books, language, name):
        yield f"{where(language, name)}: the bars in its first and last cell are not right; run {command('nav')}"
