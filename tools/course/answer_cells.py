"""How what a student handed in becomes a notebook that nbgrader can grade.

The released notebook is the start; only the student's answers are taken over, by the grade_id that nbgrader
writes into a cell's metadata, or by the cell's id where the metadata are gone.
"""

import copy
import json

from nbgrader.utils import is_solution

from notebook_files import cell_sources, layout, reading

LARGEST_FILE = 300_000_000  # bytes, with outputs
LARGEST = 10_000_000  # characters of all cells, without outputs


def read(path):
    """Return the cells that a student handed in. Raises ValueError with the reason if they cannot be used."""
    if path.suffix.lower() == ".zip":
        raise ValueError("cannot be unpacked: damaged, with a password, too large, or one inside of another")
    if path.stat().st_size > LARGEST_FILE:
        raise ValueError(f"larger than {LARGEST_FILE // 10**6} MB")
    try:
        cells = reading.nbformat.v4.reads(path.read_text(encoding="utf-8-sig")).cells
    except json.JSONDecodeError as error:
        raise ValueError(f"not a notebook that can be read: JSON error at line {error.lineno}") from None
    except (ValueError, RecursionError, TypeError, AttributeError, KeyError):
        raise ValueError("not a notebook that can be read") from None
    if not isinstance(cells, list):
        raise ValueError("not a notebook that can be read: its cells are no list")
    cells = [cell for cell in cells if isinstance(cell, dict) and isinstance(cell.get("source"), str)]
    if sum(len(cell["source"]) + len(str(cell.get("attachments", ""))) for cell in cells) > LARGEST:
        raise ValueError(f"larger than {LARGEST // 10**6} MB without its outputs")
    return cells


def grade_id(cell, known=None):
    """Return the grade_id of a cell, from its metadata or, in a dictionary of known ones, by its cell id; or None."""
    metadata = cell.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    found = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    return found if isinstance(found, str) else (known or {}).get(cell.get("id"))


def ids_of(notebook):
    """Return cell id → grade_id of a released notebook."""
    return {cell.get("id"): grade_id(cell) for cell in notebook.cells if grade_id(cell)}


def assignment_of(cells, released):
    """Return the assignment that cells belong to: the one with most of their grade_ids, then of their texts.

    released is a dictionary assignment → notebook. Raises ValueError if none has an answer cell of them."""
    sources = {cell["source"].strip() for cell in cells}
    best = (0, 0, "")
    for assignment, notebook in released.items():
        found = {grade_id(cell, ids_of(notebook)) for cell in cells}
        shared = len(found & {grade_id(cell) for cell in notebook.cells if is_solution(cell)})
        equal = sum(cell.source.strip() in sources for cell in notebook.cells)
        if (shared, equal) > best[:2] and shared:
            best = (shared, equal, assignment)
    answers = sum(is_solution(cell) for cell in released[best[2]].cells) if best[0] else 0
    if 2 * best[0] < answers or not answers:
        refuse_lesson(cells)
    if not answers:
        raise ValueError("not one of the course's assignments: it has none of their answer cells")
    if 2 * best[0] < answers:
        raise ValueError(f"only {best[0]} of the {answers} answer cells of {best[2]}; is it another notebook?")
    return best[2]


def refuse_lesson(cells, root=layout.ROOT):
    """Raise ValueError if cells are most of a lesson."""
    found = {cell.get("id") for cell in cells}
    for path in sorted((root / "notebooks" / "en").glob("*.ipynb")):
        known = set(cell_sources.ids(reading.read(path)))
        if 2 * len(found & known) > len(known):
            raise ValueError(f"this is the lesson {path.stem}, not its assignment")


def take_over(cells, released):
    """Return the released notebook with a student's answers, and what was repaired, one phrase each."""
    notebook, repairs, known = copy.deepcopy(released), [], ids_of(released)
    found = [(grade_id(cell, known), cell) for cell in cells]
    for cell in notebook.cells:
        name = grade_id(cell)
        same = [handed for other, handed in found if name and other == name]
        if name and len(same) > 1:
            repairs.append(f"cell {name} was there {len(same)} times")
        if is_solution(cell):
            repairs += put_answer(cell, name, same)
        elif name:
            repairs += [f"cell {name} was missing and is back"] if not same else []
            if any(other["source"].strip() != cell.source.strip() for other in same):
                repairs.append(f"cell {name} was changed and is as it was")
    blank = ["no answer was written"] if notebook == released else []
    return notebook, repairs + moved(found, known) + left_out(found, released) + blank


def put_answer(cell, name, same):
    """Put a student's answer into the released cell: of several the last that is not blank. Return the repairs."""
    if not same:
        return [f"answer {name} was missing and counts as blank"]
    answers = [handed for handed in same if handed["source"].strip() != cell.source.strip()]
    if not answers:
        return []
    answer = answers[-1]
    cell.source = answer["source"].encode("utf8", "replace").decode("utf8")
    if cell.cell_type == "markdown" and isinstance(answer.get("attachments"), dict):
        cell.attachments = answer["attachments"]
    kind = answer.get("cell_type")
    return [f"answer {name} was a {kind} cell"] if kind != cell.cell_type else []


def moved(found, known):
    """Return a phrase if the cells with a grade_id are not in the released order."""
    order = {name: position for position, name in enumerate(known.values())}
    positions = [order[name] for name in dict.fromkeys(name for name, _ in found) if name in order]
    return [] if positions == sorted(positions) else ["cells were in another order"]


def left_out(found, released):
    """Return a phrase if the student wrote code into cells of their own, which are not graded."""
    texts = {cell.source.strip() for cell in released.cells} | {""}
    ids = {cell.get("id") for cell in released.cells}
    own = [
        cell
        for name, cell in found
        if not name
        and cell.get("cell_type") == "code"
        and cell.get("id") not in ids
        and cell["source"].strip() not in texts
    ]
    return [f"code cells of the student's own, left out: {len(own)}"] if own else []


def suspicious(notebook):
    """Return what in the answers of a notebook a teacher should look at, one sentence each."""
    return []
