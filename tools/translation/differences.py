"""A translation beside its original: what the two must share, and what waits for a translator."""

import os

from notebook_files import cell_sources, nbgrader_settings
from notebook_files.cell_sources import by_id, digest, ids
from notebook_files.directions import command, where
from notebook_files.layout import BARS, OTHERS
from texts import markdown_parts, wording
from translation.up_to_date import in_language, marks, state


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
            continue
        if nbgrader_settings.grading(cell) != nbgrader_settings.grading(original):
            theirs, ours = (nbgrader_settings.grading(c) for c in (original, cell))
            what = ", ".join(
                f"{k} {ours.get(k)}, not {theirs.get(k)}" for k in theirs | ours if theirs.get(k) != ours.get(k)
            )
            yield f"{at}: nbgrader’s settings differ from the original: {what}; run {command('sync')}, which copies them"
        if cell.cell_type == "markdown":
            yield from compare_text(original, cell, at, f"{name.removesuffix('.ipynb')} {cell.id} --lang {language}")
        elif cell.source != in_language(original, language) and not cell_sources.is_stale(original):
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
    remedy = "which takes the English order; if the one here is right, move the English cells first"
    return f"the cells are in another order; {sync}, {remedy}"


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
    if standing == "current" and marks(cell).get("as") != digest(cell.source):
        if found := other_numbers(original.source, cell.source):
            yield f"{at}: {found}; correct them; if they are meant, {done}"
    yield from untranslated(original, cell, at)


def other_numbers(english, own):
    """Return the words for how the numbers of a translation differ from the original's, "" if they do not."""
    theirs, ours = markdown_parts.numbers(english, ""), markdown_parts.numbers(own, ".")
    lacks, extra = (" ".join(sorted(n)) or "none" for n in (theirs - ours, ours - theirs))
    return f"numbers differ, {lacks} only in English, {extra} only here" if theirs != ours else ""


def recoded(books, language, name):
    """Return the ids of the English code cells of a notebook whose code this language, or for English any, has not."""
    languages = [own for own in (OTHERS if language == "en" else (language,)) if name in books[own]]
    codes = {own: {cell.get("id"): cell.source for cell in books[own][name].cells} for own in languages}
    originals = [cell for cell in books["en"].get(name, {"cells": []})["cells"] if cell.cell_type == "code"]
    return {c.get("id") for c in originals for own in languages if codes[own].get(c.get("id")) != in_language(c, own)}


KINDS = {  # what a translation shares with its original, and the form in which the languages agree
    "formulas": markdown_parts.same_formula,
    "spans": str,
    "links": markdown_parts.same_link,
    "tags": str,
}


def differences(english, own):
    """Return a line for every kind of thing in which a translation differs from its original and must not."""
    lines, theirs, ours = [], markdown_parts.parts(english), markdown_parts.parts(own)
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
    theirs, ours = markdown_parts.shape(english), markdown_parts.shape(own)
    lines += [f"{k} differ from the original: {ours[k]}, not {theirs[k]}" for k in theirs if ours[k] != theirs[k]]
    return lines


def beside(item, other, most=20):
    """Return an item as one short line, around the first place where it differs from another."""
    at = len(os.path.commonprefix([item, other]))
    start = at - most if at > most else 0
    return "…" * (start > 0) + wording.short(item[start:], 2 * most)


def untranslated(original, cell, at):
    """Find single sentences that stand in the translation as they stand in the original."""
    theirs = set(markdown_parts.sentences(markdown_parts.plain(markdown_parts.without_quotes(original.source))))
    for sentence in markdown_parts.sentences(markdown_parts.plain(markdown_parts.without_quotes(cell.source))):
        if sentence in theirs and len([w for w in markdown_parts.words(sentence) if w.islower() and len(w) > 1]) >= 3:
            yield f"{at}: a sentence is still English: {wording.short(sentence)}; translate it"


def waiting(books, language, name):
    """Return the ids of the cells of a translation that hold the text of the original."""
    if language == "en" or name not in books["en"]:
        return set()
    originals = by_id(books["en"][name])
    return {id_ for id_, cell in by_id(books[language][name]).items() if is_copy(originals.get(id_), cell)}


def is_copy(original, cell):
    """Tell whether a cell holds the words of the original, which may be None."""
    return (
        original is not None
        and cell.source == original.source
        and markdown_parts.has_words(markdown_parts.plain(cell.source))
    )
