"""A translation beside its original: what the two must share, and what waits for a translator."""

import os

from notebook_files.cell_sources import by_id, digest, ids, is_stale
from notebook_files.directions import command, where
from notebook_files.layout import BARS, OTHERS
from notebook_files.nbgrader_settings import grading
from texts import languages, markdown_parts, wording
from translation.up_to_date import in_language, marks, state


def compare(english, own, language, name):
    """Find what differs between a translation and its original and must not."""
    theirs = [id_ for id_ in ids(english) if id_ not in BARS]
    ours = [id_ for id_ in ids(own) if id_ not in BARS]
    if theirs != ours:
        yield f"{where(language, name)}: {cells_differ(theirs, ours)}"
    originals = by_id(english)
    for cell in own.cells:
        original = originals.get(cell.get("id"))
        if original is not None and cell.get("id") not in BARS:
            yield from compare_cell(original, cell, language, name)


def compare_cell(original, cell, language, name):
    """Find what differs between a cell of a translation and its original and must not."""
    at = where(language, name, cell)
    if cell.cell_type != original.cell_type:
        yield (
            f"{at}: is a {cell.cell_type} cell, the original a {original.cell_type} cell; make the English one "
            f"what both shall be, then run {command('sync')}"
        )
        return
    theirs = grading(original)
    ours = grading(cell)
    if ours != theirs:
        keys = [key for key in theirs | ours if theirs.get(key) != ours.get(key)]
        what = ", ".join(f"{key} {ours.get(key)}, not {theirs.get(key)}" for key in keys)
        yield f"{at}: nbgrader’s settings differ from the original: {what}; run {command('sync')}, which copies them"
    if cell.cell_type == "markdown":
        words = f"{name.removesuffix('.ipynb')} {cell.get('id')} --lang {language}"
        yield from compare_text(original, cell, at, words)
    elif cell.source != in_language(original, language) and not is_stale(original):
        yield (
            f"{at}: the code differs from the original; write what is right into the English "
            f"cell, then run {command('sync')}, which copies it"
        )


def cells_differ(english, own):
    """Return the words for how the cells of a translation differ from the original's."""
    lacks = [str(id_) for id_ in english if id_ not in own]
    extra = [str(id_) for id_ in own if id_ not in english]
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
    standing = state(original, cell)
    done = command(f"translated {words}")
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
        found = other_numbers(original.source, cell.source)
        if found:
            yield f"{at}: {found}; correct them; if they are meant, {done}"
    yield from untranslated(original, cell, at)


def other_numbers(english, own):
    """Return the words for how the numbers of a translation differ from the original's, "" if they do not."""
    theirs = markdown_parts.numbers(english, comma="")
    ours = markdown_parts.numbers(own, comma=".")
    if theirs == ours:
        return ""
    lacks = " ".join(sorted(theirs - ours)) or "none"
    extra = " ".join(sorted(ours - theirs)) or "none"
    return f"numbers differ, {lacks} only in English, {extra} only here"


def recoded(books, language, name):
    """Return the ids of the English code cells of a notebook whose code this language, or for English any, has not."""
    if name not in books["en"]:
        return set()
    translations = OTHERS if language == "en" else (language,)
    found = set()
    for own in translations:
        if name not in books[own]:
            continue
        cells = by_id(books[own][name])
        for original in books["en"][name].cells:
            cell = cells.get(original.get("id"))
            is_same = cell is not None and cell.source == in_language(original, own)
            if original.cell_type == "code" and not is_same:
                found.add(original.get("id"))
    return found


KINDS = {  # what a translation shares with its original: its name, and the form in which the languages agree
    "formulas": ("formulas", markdown_parts.same_formula),
    "spans": ("code spans", str),
    "links": ("links", markdown_parts.same_link),
    "tags": ("HTML tags", str),
}


def differences(english, own):
    """Return a line for every kind of thing in which a translation differs from its original and must not."""
    lines = []
    theirs = markdown_parts.parts(english)
    ours = markdown_parts.parts(own)
    for kind, (name, form) in KINDS.items():
        there = [form(item) for item in getattr(theirs, kind)]
        here = [form(item) for item in getattr(ours, kind)]
        words = unmatched(there, here)
        if words:
            lines.append(f"{name} differ from the original: {', '.join(words)}")
    theirs = markdown_parts.shape(english)
    ours = markdown_parts.shape(own)
    lines += [
        f"{what} differ from the original: {ours[what]}, not {theirs[what]}"
        for what in theirs
        if ours[what] != theirs[what]
    ]
    return lines


def unmatched(there, here):
    """Return the words for each item of two lists that the other one has not; their order does not matter."""
    lacks = list(there)
    extra = []
    for item in here:
        if item in lacks:
            lacks.remove(item)
        else:
            extra.append(item)
    pairs = min(len(lacks), len(extra))
    words = [f"{beside(extra[i], lacks[i])} here, {beside(lacks[i], extra[i])} there" for i in range(pairs)]
    words += [f"lacks {wording.short(item)}" for item in lacks[pairs:]]
    words += [f"{wording.short(item)} only here" for item in extra[pairs:]]
    return words


def beside(item, other, most=20):
    """Return an item as one short line, around the first place where it differs from another."""
    same = len(os.path.commonprefix([item, other]))
    if same <= most:
        return wording.short(item, 2 * most)
    return "…" + wording.short(item[same - most :], 2 * most)


def untranslated(original, cell, at):
    """Find single sentences that stand in the translation as they stand in the original."""
    theirs = set(languages.sentences(markdown_parts.without_quotes(original.source)))
    for sentence in languages.sentences(markdown_parts.without_quotes(cell.source)):
        if sentence in theirs and languages.has_words(sentence, least=3):
            yield f"{at}: a sentence is still English: {wording.short(sentence)}; translate it"


def waiting(books, language, name):
    """Return the ids of the cells of a translation that hold the text of the original."""
    if language == "en" or name not in books["en"]:
        return set()
    originals = by_id(books["en"][name])
    return {id_ for id_, cell in by_id(books[language][name]).items() if is_copy(originals.get(id_), cell)}


def is_copy(original, cell):
    """Tell whether a cell holds the words of the original, which may be None."""
    if original is None or cell.source != original.source:
        return False
    return languages.has_words(markdown_parts.plain(cell.source))
