"""The findings of `python tools/notebooks.py check`: one line each, with the file, the cell and what to do."""

import json
import os
import re

import catalogue
import links
import navigation
import outputs
import prose
import wording
from lessons import (
    BARS,
    LANGUAGES,
    MADE,
    OTHERS,
    authored,
    by_id,
    command,
    ids,
    in_language,
    load,
    mark,
    state,
    where,
)

CITING = ("sources",)  # cells that name papers, in the papers' words
CUT = re.compile(r"^([ \t]*)### BEGIN (SOLUTION|HIDDEN TESTS)\n.*?^[ \t]*### END \2$", re.S | re.M)  # by nbgrader
ADDED = ("checksum", "cell_type")  # by nbgrader to what it knows of a cell
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:root|home|tmp|work|Users)/[\w.+-]*")


def check(root):
    """Return all findings of the tree below a folder; only one if a file cannot be read at all."""
    try:
        books, vocabulary = load(root), catalogue.vocabulary_of(root)
    except ValueError as error:
        return [str(error).replace(f"{root}/", "")]
    findings = [*missing(books)]
    for language in LANGUAGES:
        ledger = catalogue.cards_of(root, language)
        findings += unreleased(books[language], language)
        for name in books[language]:
            findings += bars(books, language, name)
        for name, notebook in authored(books[language]).items():
            if language != "en" and name in books["en"]:
                findings += compare(books["en"][name], notebook, language, name)
            findings += texts(notebook, language, name, waiting(books, language, name))
            findings += outputs.check(notebook, language, name, vocabulary, ledger)
    findings += links.check(root, books)
    findings += page_words(root)
    findings += catalogue.check(root)
    return list(dict.fromkeys(findings))


def missing(books):
    """Find notebooks that a language lacks, or has alone."""
    for language in OTHERS:
        for name in sorted(authored(books["en"]).keys() - books[language].keys()):
            yield f"{where(language, name)}: missing; run {command('sync')}"
        for name in sorted(authored(books[language]).keys() - books["en"].keys()):
            yield f"{where(language, name)}: has no English original; move or delete it"


# a translation beside its original


def compare(english, own, language, name):
    """Find what differs between a translation and its original and must not."""
    theirs, ours = ([i for i in ids(notebook) if i not in BARS] for notebook in (english, own))
    if theirs != ours:
        yield f"{where(language, name)}: {cells_differ(theirs, ours)}"
    originals = by_id(english)
    for cell in own.cells:
        original, at = originals.get(cell.get("id")), where(language, name, cell)
        if original is None or cell.get("id") in BARS:
            continue
        if cell.cell_type != original.cell_type:
            yield (
                f"{at}: is a {cell.cell_type} cell, the original a {original.cell_type} cell; make the English one "
                f"what both shall be, then run {command('sync')}"
            )
        elif cell.cell_type == "markdown":
            yield from compare_text(original, cell, at, f"{name.removesuffix('.ipynb')} {cell.id} --lang {language}")
        elif cell.source != in_language(original, language):
            yield (
                f"{at}: the code differs from the original; write what is right into the English "
                f"cell, then run {command('sync')}, which copies it"
            )


def cells_differ(english, own):
    """Return the words for how the cells of a translation differ from the original's."""
    lacks, extra = [str(i) for i in english if i not in own], [str(i) for i in own if i not in english]
    sync = f"run {command('sync')}"
    if lacks and extra:
        return f"has {' '.join(extra)} where English has {' '.join(lacks)}; give each cell the id of its original"
    if lacks:
        return f"lacks {' '.join(lacks)}; {sync}, which adds the English one, or delete it in all languages"
    if extra:
        return f"has {' '.join(extra)}, which English has not; delete it here as well, or put it back there"
    return f"the cells are in another order than the original's; bring those into order, then {sync}"


def compare_text(original, cell, at, words):
    """Find whether a text is untranslated or behind, and what else it must share with its original.

    words: what the command `translated` is called with to mark it as up to date.
    """
    standing, done = state(original, cell), command(f"translated {words}")
    if is_copy(original, cell):
        yield f"{at}: still the English text; translate it, then {done}"
        return
    if standing == "new":
        yield f"{at}: no mark that it is translated; check it, then {done}"
    if standing == "behind":
        yield f"{at}: behind, the English text has changed; translate again, then {done}"
    for difference in differences(original.source, cell.source):
        yield f"{at}: {difference}; correct it here, or there in all languages"
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
        words = [f"{beside(mine, its)} here, {beside(its, mine)} there" for mine, its in zip(extra, lacks)]
        words += [f"lacks {wording.short(item)}" for item in lacks[len(extra) :]]
        words += [f"{wording.short(item)} only here" for item in extra[len(lacks) :]]
        if words:
            kind = {"spans": "code spans", "tags": "HTML tags"}.get(kind, kind)
            lines.append(f"{kind} differ from the original: {', '.join(words)}")
    theirs, ours = prose.shape(english), prose.shape(own)
    lines += [f"{k} differ from the original: {ours[k]}, not {theirs[k]}" for k in theirs if ours[k] != theirs[k]]
    return lines


def beside(item, other, most=20):
    """Return an item as one short line, around the first place where it differs from another."""
    at = len(os.path.commonprefix([item, other]))
    start = at - most if at > most else 0
    return "…" * (start > 0) + wording.short(item[start:], 2 * most)


def untranslated(original, cell, at):
    """Find single sentences that stand in the translation as they stand in the original."""
    theirs = set(prose.sentences(prose.plain(prose.without_quotes(original.source))))
    for sentence in prose.sentences(prose.plain(prose.without_quotes(cell.source))):
        if sentence in theirs and len([w for w in prose.words(sentence) if w.islower() and len(w) > 1]) >= 3:
            yield f"{at}: a sentence is still English: {wording.short(sentence)}; translate it"


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


# what tools write


def bars(books, language, name):
    """Find a first and a last cell that are not what `nav` writes."""
    cells = books[language][name].cells
    if cells[:1] + cells[-1:] != navigation.bars(books, language, name):
        yield f"{where(language, name)}: the bars in its first and last cell are not right; run {command('nav')}"


def unreleased(notebooks, language):
    """Find solutions of which `classroom.py release` would make another assignment than is there."""
    for name in (name for name in notebooks if name.startswith("solutions/")):
        made = notebooks.get(name.replace("solutions/", MADE))
        theirs, ours = handed_out(notebooks[name]), handed_out(made) if made else {}
        changed = [i for i in theirs | ours if theirs.get(i) != ours.get(i)]
        if changed or list(theirs) != list(ours) or any(cell.get("outputs") for cell in made.cells):
            what, then = " ".join(changed) or "order or outputs", "run python tools/classroom.py release"
            yield f"{where(language, name)}: the assignment is another than this makes, in {what}; if this is right, {then}"


def handed_out(notebook):
    """Return id → what an assignment keeps of a solution's cell; a written answer is replaced as a whole."""
    found = {}
    for cell in (cell for cell in notebook.cells if cell.get("id") not in BARS):
        grading = {k: v for k, v in cell.metadata.get("nbgrader", {}).items() if k not in ADDED}
        answer = cell.cell_type == "markdown" and grading.get("solution")
        text = CUT.sub(lambda cut: f"{cut[1]}..." if cut[2] == "SOLUTION" else "", cell.source).strip()
        found[cell.get("id")] = (cell.cell_type, grading, *(() if answer else (text, mark(cell))))
    return found
