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
    kept = {key: value for key, value in own.metadata.items() if key in OWN} if own else {}
    return {key: value for key, value in original.metadata.items() if key not in OWN} | kept


def synced_text(original, own):
    """Return a Markdown cell of a translation: the translation, or the English text as long as there is none."""
    own = own if own and (own.get("id") in BARS or is_translated(own)) else None
    cell = copy.deepcopy(own or original)
    cell.metadata = nbformat.from_dict(metadata(original, own))
    cell.metadata.pop(COPIED, None)
    if own is None and cell.get("id") not in BARS:
        cell.metadata[COPIED] = digest(cell.source)
    return cell


def synced_code(original, own, language):
    """Return a code cell of a translation: the original's code, with the translation's outputs if it is unchanged."""
    source = in_language(original, language)
    own = own if own and own.source == source else None
    cell = copy.deepcopy(own or original)
    cell.source = source
    if original.cell_type == "code" and own is None:
        cell.outputs, cell.execution_count = [], None
    cell.metadata = nbformat.from_dict(metadata(original, own))
    return cell


def synced_cell(original, own, language):
    """Return the cell of a translation in step with the original; own is the cell of the same id, or None."""
    own = own if own and own.cell_type == original.cell_type else None
    if original.cell_type == "markdown":
        return synced_text(original, own)
    return synced_code(original, own, language)


def is_translated(cell):
    """Tell whether a cell of a translation holds words that someone wrote: not when it is as sync made it."""
    if cell.cell_type != "markdown" or cell.get("id") in BARS or not cell.source.strip():
        return False
    return mark(cell) is not None or cell.metadata.get(COPIED) != digest(cell.source)


def refusals(english, own, at):
    """Return a line for everything in a translation that a sync would lose, with what to do by hand."""
    lines, originals = [], by_id(english)
    for notebook, place in ((english, at.replace(f"/{at.split('/')[1]}/", "/en/", 1)), (own, at)):
        twice = sorted({str(i) for i in ids(notebook) if ids(notebook).count(i) > 1})
        lines += [f"{place}#{i}: two cells have this id; give one of them another" for i in twice]
    for cell in filter(is_translated, own.cells):
        original = originals.get(cell.get("id"))
        if original is None:
            lines.append(
                f"{at}{points_to(cell)}: the English lesson has no such cell, and this one is translated; "
                "delete it by hand, or give it the id that its original has now"
            )
        elif original.cell_type != "markdown":
            lines.append(
                f"{at}{points_to(cell)}: the original is a {original.cell_type} cell now, and this one is translated; "
                "move or delete its text by hand"
            )
    return lines


def synced(english, own, language):
    """Return the notebook of a translation in step with the original; own is None for a new one."""
    kept = by_id(own) if own else {}
    notebook = copy.deepcopy(english)
    notebook.cells = [synced_cell(cell, kept.get(cell.get("id")), language) for cell in english.cells]
    return notebook


def to_do(english, own, language, name):
    """Return the lines that tell which cells wait for a translator."""
    lines, originals = [], by_id(english)
    for wanted, words in (("new", "not translated yet"), ("behind", "behind the English text")):
        waiting = [
            cell.id
            for cell in own.cells
            if cell.cell_type == "markdown" and cell.id not in BARS and state(originals[cell.id], cell) == wanted
        ]
        if waiting:
            lines.append(f"{where(language, name)}: {words}: {' '.join(waiting)}")
    return lines


def sync(root, books):
    """Bring all translations in step with the English notebooks and write them.

    Returns (lines of the report, whether nothing was refused). A notebook in which something would be
    lost is left alone. Outputs of cells whose code changed are dropped; marks stay as they are.
    """
    report, good = [], True
    for language in OTHERS:
        for name in sorted(authored(books[language]).keys() - books["en"].keys()):
            report.append(f"{where(language, name)}: there is no English notebook of this name; move or delete it")
            good = False
        for name, english in authored(books["en"]).items():
            own, at = books[language].get(name), where(language, name)
            if refused := refusals(english, own or english, at):
                report += [*refused, f"{at}: left alone"]
                good = False
                continue
            books[language][name] = notebook = synced(english, own, language)
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
    languages = languages if language in (None, "en") else [language]
    if name.startswith(MADE):
        raise ValueError(f"{lesson} is made from the solutions; name the one there, then run classroom.py release")
    originals = by_id(books["en"][name])
    for language in languages:
        if name not in books[language]:
            raise ValueError(f"there is no {where(language, name)} yet; run {command('sync')} first")
        own = by_id(books[language][name])
        for cell in cells:
            if cell not in originals or cell not in own:
                raise ValueError(lacks(books, language if cell in originals else "en", name, cell))
            if cell in BARS:
                raise ValueError(f"the cell {cell!r} is written by nav and needs no translator")
            if originals[cell].cell_type != "markdown" or own[cell].cell_type != "markdown":
                raise ValueError(f"the cell {cell!r} of {name} is not a markdown cell, so nothing in it is translated")
            if differences.is_copy(originals[cell], own[cell]):
                raise ValueError(f"{where(language, name, own[cell])}: still the English text; nothing is marked")
            if found := differences.differences(originals[cell].source, own[cell].source):
                raise ValueError(f"{where(language, name, own[cell])}: {'; '.join(found)}; nothing is marked")
    report = []
    for language in languages:
        own = by_id(books[language][name])
        for cell in cells:
            differ = differences.other_numbers(originals[cell].source, own[cell].source)
            itself = {"as": digest(own[cell].source)} if differ else {}
            own[cell].metadata["translation"] = {"of": digest(originals[cell].source), **itself}
            own[cell].metadata.pop(COPIED, None)
        changed = write(path_of(root, language, name), books[language][name])
        report.append(f"{where(language, name)}: {'marked' if changed else 'was marked already'}: {' '.join(cells)}")
        for cell in cells:
            if found := differences.other_numbers(originals[cell].source, own[cell].source):
                report.append(f"{where(language, name, own[cell])}: {found}; is that meant?")
    return report


def lacks(books, language, name, cell):
    """Return the words for a cell that a notebook has not, with the notebook that has it."""
    others = [other for other, notebook in authored(books["en"]).items() if cell in ids(notebook) and other != name]
    hint = "".join(
        f"; there is one: {command(f'translated {other[:-6]} {cell}')}" for other in others if cell not in BARS
    )
    return f"{where(language, name)} has no cell {cell!r}{hint}"
