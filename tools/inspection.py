"""The findings of `python tools/notebooks.py check`: one line each, with the file, the cell and what to do."""

import json
import re

import catalogue
import links
import navigation
import prose
import wording
from lessons import (
    ASSIGNMENTS,
    BARS,
    LANGUAGES,
    OTHERS,
    by_id,
    digest,
    ids,
    in_language,
    load,
    state,
    where,
)

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
CITING = ("sources",)  # cells that name papers, in the papers' words
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:root|home|tmp|work|Users)/[\w.+-]*")


def check(root):
    """Return all findings of the tree below a folder; only one if a file cannot be read at all."""
    try:
        books, vocabulary = load(root), catalogue.vocabulary_of(root)
    except ValueError as error:
        return [str(error).replace(f"{root}/", "")]
    findings = [*missing(books)]
    for language in LANGUAGES:
        for name, notebook in books[language].items():
            if language != "en" and name in books["en"]:
                findings += compare(books["en"][name], notebook, language, name)
            findings += texts(notebook, language, name, waiting(books, language, name))
            findings += outputs(notebook, language, name, vocabulary)
            findings += bars(books, language, name)
    findings += links.check(root, books)
    findings += page_words(root)
    findings += catalogue.check(root)
    return list(dict.fromkeys(findings))


def missing(books):
    """Find notebooks that a language lacks, or has alone."""
    for language in OTHERS:
        for name in sorted(books["en"].keys() - books[language].keys()):
            yield f"{where(language, name)}: missing; run sync"
        for name in sorted(books[language].keys() - books["en"].keys()):
            yield f"{where(language, name)}: has no English original; move or delete it"


# a translation beside its original


def compare(english, own, language, name):
    """Find what differs between a translation and its original and must not."""
    at = where(language, name)
    if ids(english) != ids(own):
        yield f"{at}: {cells_differ(ids(english), ids(own))}; run sync"
    originals = by_id(english)
    for cell in own.cells:
        original, at = originals.get(cell.get("id")), where(language, name, cell)
        if original is None or cell.get("id") in BARS:
            continue
        if cell.cell_type != original.cell_type:
            yield f"{at}: is a {cell.cell_type} cell, the original a {original.cell_type} cell; run sync"
        elif cell.cell_type == "markdown":
            yield from compare_text(original, cell, at, f"{name.removesuffix('.ipynb')} {cell.id} --lang {language}")
        elif cell.source != in_language(original, language):
            yield f"{at}: the code differs from the original; run sync"


def cells_differ(english, own):
    """Return the words for how the cells of a translation differ from the original's."""
    lacks, extra = [str(i) for i in english if i not in own], [str(i) for i in own if i not in english]
    words = [f"lacks {' '.join(lacks)}"] * bool(lacks) + [f"has {' '.join(extra)} too many"] * bool(extra)
    return " and ".join(words) or "the cells are in another order than the original's"


def compare_text(original, cell, at, words):
    """Find whether a text is untranslated or behind, and what else it must share with its original.

    words: what the command `translated` is called with to mark it as up to date.
    """
    standing, mark = state(original, cell), f"python tools/notebooks.py translated {words}"
    if is_copy(original, cell):
        yield f"{at}: still the English text; translate it, then {mark}"
        return
    if standing == "new":
        yield f"{at}: no mark that it is translated; check it, then {mark}"
    if standing == "behind":
        yield f"{at}: behind, the English text has changed; translate again, then {mark}"
    for difference in differences(original.source, cell.source):
        yield f"{at}: {difference}; make them the same"
    yield from untranslated(original, cell, at)


KINDS = {  # what a translation shares with its original, and the form in which the languages agree
    "formulas": prose.same_formula,
    "spans": str,
    "links": prose.same_link,
    "tags": str,
}


def differences(english, own):
    """Return a line for every kind of thing in which a translation differs from its original and must not."""
    lines, theirs, ours = [], prose.parts(english), prose.parts(own)
    for kind, form in KINDS.items():
        lacks, extra = [form(x) for x in getattr(theirs, kind)], []
        for item in map(form, getattr(ours, kind)):
            lacks.remove(item) if item in lacks else extra.append(item)
        words = [
            f"{word} {' '.join(map(wording.short, items))}"
            for word, items in (("lacks", lacks), ("has", extra))
            if items
        ]
        if words:
            kind = {"spans": "code spans", "tags": "HTML tags"}.get(kind, kind)
            lines.append(f"{kind} differ from the original: {', '.join(words)}")
    theirs, ours = prose.shape(english), prose.shape(own)
    lines += [f"{k} differ from the original: {ours[k]}, not {theirs[k]}" for k in theirs if ours[k] != theirs[k]]
    return lines


def untranslated(original, cell, at):
    """Find single sentences that stand in the translation as they stand in the original."""
    theirs = set(prose.sentences(prose.plain(prose.without_quotes(original.source))))
    for sentence in prose.sentences(prose.plain(prose.without_quotes(cell.source))):
        if sentence in theirs and len([w for w in prose.words(sentence) if w.islower() and len(w) > 1]) >= 3:
            yield f"{at}: a sentence is still English: {wording.short(sentence)}"


def waiting(books, language, name):
    """Return the ids of the cells of a translation that hold the text of the original."""
    if language == "en" or name not in books["en"]:
        return set()
    originals = by_id(books["en"][name])
    return {id_ for id_, cell in by_id(books[language][name]).items() if is_copy(originals.get(id_), cell)}


def is_copy(original, cell):
    """Tell whether a cell holds the words of the original, which may be None."""
    return original is not None and cell.source == original.source and prose.has_words(prose.plain(cell.source))


# the words of one notebook


def texts(notebook, language, name, skip=()):
    """Find what is wrong with the prose of a notebook, without the cells `skip`, and with its cells as such."""
    seen = set()
    for cell in notebook.cells:
        at = where(language, name, cell)
        if cell.get("id") is None or cell.id in seen:
            yield f"{at}: {'has no id' if cell.get('id') is None else 'two cells have this id'}; give it one of its own"
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


# the wording of the README


def page_words(root):
    """Find what is wrong with the wording of the README, which is English."""
    for path in sorted(root.glob("*.md")):
        source, at = path.read_text(encoding="utf8"), path.relative_to(root).as_posix()
        yield from wording.words(prose.plain(prose.without_titles(source, "en")), "en", at)


# what running leaves behind


def outputs(notebook, language, name, vocabulary=prose.WORDS):
    """Find outputs that are missing, stale, broken, or show a picture without words."""
    if "widgets" in notebook.metadata:
        yield f"{where(language, name)}: holds the state of widgets; run it with tools/notebooks.py run"
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    assignment = name.split("/")[0] in ASSIGNMENTS
    shown = [cell for cell in code if cell.get("outputs") or not assignment]
    stale = [cell for cell in shown if cell.metadata.get("executed") != digest(cell.source)]
    if stale:
        more = f" (and of {len(stale) - 1} more cells: {' '.join(c.id for c in stale[1:])})" * (len(stale) > 1)
        yield (
            f"{where(language, name, stale[0])}: its outputs{more} are missing or come from another source; "
            "run the notebook"
        )
    elif not assignment and [c.get("execution_count") for c in code] != list(range(1, len(code) + 1)):
        first = next(c for i, c in enumerate(code, 1) if c.get("execution_count") != i)
        yield f"{where(language, name, first)}: not executed from top to bottom; run the notebook"
    for cell in code:
        at = where(language, name, cell)
        for output in cell.get("outputs", []):
            yield from one_output(output, assignment, language, at, vocabulary)


def one_output(output, assignment, language, at, vocabulary):
    """Find what is wrong with one output of a cell."""
    data = output.get("data", {})
    if output.get("output_type") == "error" and not assignment:
        yield f"{at}: ended in {output.get('ename')}; repair the cell and run the notebook"
    if WIDGET_VIEW in data:
        yield f"{at}: shows a widget, which a reader without a kernel does not see; run it with tools/notebooks.py run"
    source = joined(data.get("text/html", "")) + joined(data.get("text/markdown", ""))
    found = prose.parts(re.sub(r'src="data:[^"]*"', 'src="data:"', source))
    pictures = sum(kind.startswith("image/") for kind in data)
    if pictures and not found.images:
        yield f"{at}: a picture without a place for an alternative text; show it as <img alt=…>"
    if "svg" in found.tags and not re.search(r"<svg[^>]*aria-label=", source):
        yield f"{at}: a drawing without an alternative text; show it as <img alt=…>"
    for _, alt in found.images:
        yield from wording.alternative(alt, language, at, vocabulary)
    yield from wording.shown(found.prose, language, at, vocabulary)


def joined(text):
    """Return a text of a notebook, which may be a list of lines."""
    return text if isinstance(text, str) else "".join(text)


def bars(books, language, name):
    """Find a first and a last cell that are not what `nav` writes."""
    cells = books[language][name].cells
    wanted = navigation.bars(books, language, name)
    placed = len(cells) > 1 and (cells[0].get("id"), cells[-1].get("id")) == BARS
    if not placed:
        yield f"{where(language, name)}: its first and last cell are not the bars; run nav"
        return
    for cell, right in zip((cells[0], cells[-1]), wanted):
        if cell != right:
            yield f"{where(language, name, cell)}: not what nav writes; run nav"
