"""The findings of `python tools/notebooks.py check`: one line each, with the file, the cell and what to do."""

import json
import re

import assignments
import catalogue
import comparison
import ledger
import links
import navigation
import outputs
import prose
import wording
from lessons import BARS, LANGUAGES, OTHERS, authored, command, load, where

CITING = ("sources",)  # cells that name papers, in the papers' words
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:root|home|tmp|work|Users)/[\w.+-]*")


def check(root):
    """Return all findings of the tree below a folder; only one if a file cannot be read at all."""
    try:
        books, vocabulary = load(root), catalogue.vocabulary_of(root)
    except ValueError as error:
        return [str(error).replace(f"{root}/", "")]
    findings, claims = [*missing(books)], ledger.load(root)
    for language in LANGUAGES:
        catalogued = catalogue.catalogue_of(root, language)
        for name in books[language]:
            findings += bars(books, language, name)
        for name, notebook in authored(books[language]).items():
            if language != "en" and name in books["en"]:
                findings += comparison.compare(books["en"][name], notebook, language, name)
            findings += texts(notebook, language, name, comparison.waiting(books, language, name))
            findings += outputs.check(notebook, language, name, vocabulary, comparison.recoded(books, language, name))
            findings += cards(notebook, claims, catalogued, language, name)
        findings += assignments.check(books[language], language)
    findings += links.check(root, books)
    findings += page_words(root)
    findings += catalogue.check(root)
    findings += ledger.check(root, books)
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
        if found := MACHINE_PATH.search(json.dumps(cell, ensure_ascii=False)):
            yield f"{at}: {found[0]} is a path of one machine; take it out"
        if cell.cell_type == "markdown" and cell.get("id") not in (*BARS, *skip):
            yield from written(cell.source, language, at, terms=cell.get("id") not in CITING)


def written(source, language, at, terms=True):
    """Find what is wrong with a text in Markdown: its language, its typography, its terms, its alternative texts."""
    yield from wording.wrong_language(source, language, at)
    yield from wording.typography(prose.parts(source), language, at)
    if terms:
        yield from wording.terms(prose.plain(prose.without_titles(source, language)), language, at)
    for _, alt in prose.parts(source).images:
        yield from wording.alternative(alt, language, at)


# the wording of the READMEs


def page_words(root):
    """Find what is wrong with the wording of the READMEs, which are English."""
    for path in sorted([*root.glob("*.md"), *root.glob("tools/*.md")]):
        source, at = path.read_text(encoding="utf8"), path.relative_to(root).as_posix()
        yield from wording.words(prose.plain(prose.without_titles(source, "en")), "en", at)


# what tools write


def cards(notebook, claims, catalogued, language, name):
    """Find cards of claims that are no longer those of the ledger, or whose value is out of bounds."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            at = where(language, name, cell)
            yield from ledger.changed(outputs.shown(output), claims, catalogued, language, at)
            yield from ledger.out_of_bounds(outputs.shown(output), at)


def bars(books, language, name):
    """Find a first and a last cell that are not what `nav` writes."""
    cells = books[language][name].cells
    if cells[:1] + cells[-1:] != navigation.bars(books, language, name):
        yield f"{where(language, name)}: the bars in its first and last cell are not right; run {command('nav')}"
