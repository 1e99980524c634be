"""What keeps the German and Swedish notebooks in step with the English ones."""

import copy

import nbformat

from notebook_files.cell_sources import by_id, digest, ids
from notebook_files.directions import command, points_to, where
from notebook_files.layout import BARS, MADE, OTHERS, authored, find_lesson, path_of
from notebook_files.reading import write
from translation import differences
from translation.up_to_date import in_language, mark, state

COPIED = "copied"  # the mark of the English text that sync put into a cell; it holds until someone changes the cell
OWN = ("translation", "executed", COPIED)  # the metadata that belongs to a cell of one language


def metadata(original, own):
    """Return a cell's metadata: those of the original, with the marks of the cell itself."""
    shared = {key: value for key, value in original.metadata.items() if key not in OWN}
    if own is None:
        return shared
    return shared | {key: value for key, value in own.metadata.items() if key in OWN}


def synced_text(original, own):
    """Return a Markdown cell of a translation: the translation, or the English text as long as there is none."""
    if own is not None and own.get("id") not in BARS and not is_translated(own):
        own = None
    cell = copy.deepcopy(own or original)
    cell.metadata = nbformat.from_dict(metadata(original, own))
    cell.metadata.pop(COPIED, None)
    if own is None and cell.get("id") not in BARS:
        cell.metadata[COPIED] = digest(cell.source)
    return cell


def synced_code(original, own, language):
    """Return a code cell of a translation: the original's code, with the translation's outputs if it is unchanged."""
    source = in_language(original, language)
    if own is not None and own.source != source:
        own = None
    cell = copy.deepcopy(own or original)
    cell.source = source
    if original.cell_type == "code" and own is None:
        cell.outputs = []
        cell.execution_count = None
    cell.metadata = nbformat.from_dict(metadata(original, own))
    return cell


def synced_cell(original, own, language):
    """Return the cell of a translation in step with the original; own is the cell of the same id, or None."""
    if own is not None and own.cell_type != original.cell_type:
        own = None
    if original.cell_type == "markdown":
        return synced_text(original, own)
    return synced_code(original, own, language)


def is_translated(cell):
    """Tell whether a cell of a translation holds words that someone wrote: not when it is as sync made it."""
    if cell.cell_type != "markdown" or cell.get("id") in BARS or not cell.source.strip():
        return False
    return mark(cell) is not None or cell.metadata.get(COPIED) != digest(cell.source)


def refusals(english, own, language, name):
    """Return a line for everything in a translation (None for a new one) that a sync would lose, and what to do."""
    lines = unclear_ids(english, where("en", name))
    if own is None:
        return lines
    lines += unclear_ids(own, where(language, name))
    originals = by_id(english)
    for cell in filter(is_translated, own.cells):
        at = where(language, name, cell)
        original = originals.get(cell.get("id"))
        if original is None:
            lines.append(
                f"{at}: the English lesson has no such cell, and this one is translated; "
                "delete it by hand, or give it the id that its original has now"
            )
        elif original.cell_type != "markdown":
            lines.append(
                f"{at}: the original is a {original.cell_type} cell now, and this one is translated; "
                "move or delete its text by hand"
            )
    return lines


def unclear_ids(notebook, at):
    """Return a line for every id that two cells of a notebook have, and for every cell without one."""
    found = ids(notebook)
    twice = sorted({id_ for id_ in found if id_ is not None and found.count(id_) > 1})
    lines = [f"{at}#{id_}: two cells have this id; give one of them another" for id_ in twice]
    return lines + [f"{at}{points_to(cell)}: has no id; give it one" for cell in notebook.cells if "id" not in cell]


def synced(english, own, language):
    """Return the notebook of a translation in step with the original; own is None for a new one."""
    kept = by_id(own) if own else {}
    notebook = copy.deepcopy(english)
    notebook.cells = [synced_cell(cell, kept.get(cell.get("id")), language) for cell in english.cells]
    return notebook


def to_do(english, own, language, name):
    """Return the lines that tell which cells wait for a translator."""
    lines = []
    originals = by_id(english)
    texts = [cell for cell in own.cells if cell.cell_type == "markdown" and cell.id not in BARS]
    for standing, words in (("new", "not translated yet"), ("behind", "behind the English text")):
        waiting = [cell.id for cell in texts if state(originals[cell.id], cell) == standing]
        if waiting:
            lines.append(f"{where(language, name)}: {words}: {' '.join(waiting)}")
    return lines


def sync(root, books):
    """Bring all translations in step with the English notebooks and write them.

    Returns (lines of the report, whether nothing was refused). A notebook in which something would be
    lost is left alone. Outputs of cells whose code changed are dropped; marks stay as they are.
    """
    report = []
    good = True
    for language in OTHERS:
        for name in sorted(authored(books[language]).keys() - books["en"].keys()):
            report.append(f"{where(language, name)}: there is no English notebook of this name; move or delete it")
            good = False
        for name, english in authored(books["en"]).items():
            own = books[language].get(name)
            at = where(language, name)
            refused = refusals(english, own, language, name)
            if refused:
                report += [*dict.fromkeys(refused), f"{at}: left alone"]
                good = False
                continue
            notebook = synced(english, own, language)
            books[language][name] = notebook
            if write(path_of(root, language, name), notebook):
                report.append(f"{at}: {'written' if own else 'created'}")
            report += to_do(english, notebook, language, name)
    return report or ["nothing to do"], good


def translated(root, books, lesson, cells, languages=OTHERS):
    """Mark cells as up to date, on the author's word, in these languages; return the lines of the report.

    Raises ValueError, and writes nothing, for an unknown lesson, a cell that is not there, not a translation or
    different from the original in what must be equal, or a language without that notebook.
    """
    name, language = find_lesson(books, lesson)
    if language not in (None, "en"):
        languages = [language]
    if name.startswith(MADE):
        raise ValueError(f"{lesson} is made from the solutions; name the one there, then run classroom.py release")
    for language in languages:
        for cell in cells:
            refuse_to_mark(books, language, name, cell)
    report = []
    for language in languages:
        report += marked(root, books, language, name, cells)
    return report


def refuse_to_mark(books, language, name, id_):
    """Raise ValueError, with what to do, for a cell that cannot be marked as translated."""
    if name not in books[language]:
        raise ValueError(f"there is no {where(language, name)} yet; run {command('sync')} first")
    original = by_id(books["en"][name]).get(id_)
    own = by_id(books[language][name]).get(id_)
    if original is None:
        raise ValueError(lacks(books, "en", name, id_))
    if own is None:
        raise ValueError(lacks(books, language, name, id_))
    if id_ in BARS:
        raise ValueError(f"the cell {id_!r} is written by nav and needs no translator")
    if original.cell_type != "markdown" or own.cell_type != "markdown":
        raise ValueError(f"the cell {id_!r} of {name} is not a markdown cell, so nothing in it is translated")
    at = where(language, name, own)
    if differences.is_copy(original, own):
        raise ValueError(f"{at}: still the English text; nothing is marked")
    found = differences.differences(original.source, own.source)
    if found:
        raise ValueError(f"{at}: {'; '.join(found)}; nothing is marked")


def marked(root, books, language, name, cells):
    """Mark cells of a translation and write it; return the lines of the report."""
    originals = by_id(books["en"][name])
    own = by_id(books[language][name])
    questions = []
    for id_ in cells:
        cell = own[id_]
        numbers = differences.other_numbers(originals[id_].source, cell.source)
        marks = {"of": digest(originals[id_].source)}
        if numbers:
            marks["as"] = digest(cell.source)
            questions.append(f"{where(language, name, cell)}: {numbers}; is that meant?")
        cell.metadata["translation"] = marks
        cell.metadata.pop(COPIED, None)
    has_changed = write(path_of(root, language, name), books[language][name])
    outcome = "marked" if has_changed else "was marked already"
    return [f"{where(language, name)}: {outcome}: {' '.join(cells)}", *questions]


def lacks(books, language, name, cell):
    """Return the words for a cell that a notebook has not, with the notebook that has it."""
    words = f"{where(language, name)} has no cell {cell!r}"
    if cell in BARS:
        return words
    for other, notebook in authored(books["en"]).items():
        if other != name and cell in ids(notebook):
            marking = f"translated {other.removesuffix('.ipynb')} {cell}"
            words += f"; there is one: {command(marking)}"
    return words
