"""The assignments beside the solutions of which `classroom.py release` makes them, and the points of the tasks."""

import re

from notebook_files.directions import points_to, where
from notebook_files.layout import BARS, MADE
from notebook_files.nbgrader_settings import grading
from translation.up_to_date import mark

CUT_BY_NBGRADER = re.compile(
    r"^(?P<indent>[ \t]*)### BEGIN (?P<what>SOLUTION|HIDDEN TESTS)\n.*?^[ \t]*### END (?P=what)$",
    re.DOTALL | re.MULTILINE,
)
POINTS = r"(\d+) (?:points?|Punkte?n?|poäng)\b"
POINTS_OF_TASK = re.compile(rf"(?:· |\(){POINTS}")
RELEASE = "python tools/classroom.py release"


def check(notebooks, language):
    """Find assignments that are not what their solutions make, and tasks whose text promises other points."""
    for name in notebooks:
        if name.startswith("solutions/"):
            yield from points(notebooks[name], language, name)
            yield from unreleased(notebooks, language, name)


def unreleased(notebooks, language, name):
    """Find whether `release` would make another assignment of a solution than is there."""
    made_name = name.replace("solutions/", MADE)
    place = where(language, made_name)
    made = notebooks.get(made_name)
    if made is None:
        yield f"{place}: missing; run {RELEASE}"
        return
    remedy = f"assignments are not edited: change {where(language, name)}, then run {RELEASE}"
    theirs = handed_out(notebooks[name])
    ours = handed_out(made)
    cells = {cell.get("id"): cell for cell in notebooks[name].cells + made.cells}
    changed = [points_to(cells[id_]) for id_ in theirs | ours if theirs.get(id_) != ours.get(id_)]
    if changed:
        yield f"{place}{' '.join(changed)}: not what its solution makes; {remedy}"
    elif list(theirs) != list(ours) or any(cell.get("outputs") for cell in made.cells):
        yield f"{place}: in another order than its solution, or executed; {remedy}"


def handed_out(notebook):
    """Return id → what an assignment keeps of a solution's cell; a written answer is replaced as a whole."""
    found = {}
    for cell in notebook.cells:
        if cell.get("id") in BARS:
            continue
        kept = [cell.cell_type, grading(cell)]
        is_answer = cell.cell_type == "markdown" and grading(cell).get("solution")
        if not is_answer:
            kept += [CUT_BY_NBGRADER.sub(placeholder, cell.source).strip(), mark(cell)]
        found[cell.get("id")] = kept
    return found


def placeholder(cut):
    """Return what nbgrader puts in the place of what it cuts out."""
    if cut["what"] == "SOLUTION":
        return cut["indent"] + "..."
    return ""


def points(notebook, language, name):
    """Find a cell whose points are not those that the task above it names, and a sum that is not the one promised."""
    total = 0
    promised = None  # by the last task without a check so far
    task = None
    for cell in notebook.cells:
        if grading(cell).get("grade"):
            at = where(language, name, cell)
            worth = grading(cell).get("points")
            if not is_number(worth):
                yield f"{at}: nbgrader gives {worth!r} points; write a number"
                continue
            total += worth
            if promised not in (None, worth):
                yield f"{at}: nbgrader gives {worth:g} points, the text in #{task} {promised}; correct one of them"
            promised = None
        elif cell.cell_type == "markdown":
            found = POINTS_OF_TASK.findall(cell.source)
            if found:
                promised = int(found[-1])
                task = cell.get("id")
    for cell in notebook.cells:
        if cell.get("id") == "title":
            yield from points_of_title(cell, total, where(language, name, cell))


def points_of_title(title, total, at):
    """Find a sum of points, in the first cell of an assignment, that is not that of its cells."""
    found = re.search(POINTS, title.source)
    if found and int(found[1]) != total:
        yield f"{at}: says {found[0]}; the cells below have {total:g}; correct one of them"


def is_number(value):
    """Tell whether a value is a number that can be counted in."""
    return isinstance(value, int | float) and not isinstance(value, bool)
