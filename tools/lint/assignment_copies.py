"""The assignments beside the solutions of which `classroom.py release` makes them, and the points of the tasks."""

import re

from notebook_files.directions import points_to, where
from notebook_files.layout import BARS, MADE
from notebook_files.nbgrader_settings import grading
from translation.up_to_date import mark

CUT = re.compile(r"^([ \t]*)### BEGIN (SOLUTION|HIDDEN TESTS)\n.*?^[ \t]*### END \2$", re.S | re.M)  # by nbgrader
POINTS = r"(\d+) (?:points?|Punkte?n?|poäng)\b"
RELEASE = "python tools/classroom.py release"


def check(notebooks, language):
    """Find assignments that are not what their solutions make, and tasks whose text promises other points."""
    for name in (name for name in notebooks if name.startswith("solutions/")):
        yield from points(notebooks[name], language, name)
        yield from unreleased(notebooks, language, name)


def unreleased(notebooks, language, name):
    """Find whether `release` would make another assignment of a solution than is there."""
    place = where(language, name.replace("solutions/", MADE))
    made = notebooks.get(name.replace("solutions/", MADE))
    if made is None:
        yield f"{place}: missing; run {RELEASE}"
        return
    theirs, ours = handed_out(notebooks[name]), handed_out(made)
    cells = {cell.get("id"): cell for cell in notebooks[name].cells + made.cells}
    changed = [points_to(cells[i]) for i in theirs | ours if theirs.get(i) != ours.get(i)]
    if changed or list(theirs) != list(ours) or any(cell.get("outputs") for cell in made.cells):
        what = "not what its solution makes" if changed else "in another order than its solution, or executed"
        remedy = f"assignments are not edited: change {where(language, name)}, then run {RELEASE}"
        yield f"{place}{' '.join(changed)}: {what}; {remedy}"


def handed_out(notebook):
    """Return id → what an assignment keeps of a solution's cell; a written answer is replaced as a whole."""
    found = {}
    for cell in (cell for cell in notebook.cells if cell.get("id") not in BARS):
        answer = cell.cell_type == "markdown" and cell.metadata.get("nbgrader", {}).get("solution")
        text = CUT.sub(lambda cut: f"{cut[1]}..." if cut[2] == "SOLUTION" else "", cell.source).strip()
        found[cell.get("id")] = (cell.cell_type, grading(cell), *(() if answer else (text, mark(cell))))
    return found


def points(notebook, language, name):
    """Find a cell whose points are not those that the task above it names, and a sum that is not the one promised."""
    total, promised, task = 0, None, None
    for cell in notebook.cells:
        worth = grading(cell).get("points") if grading(cell).get("grade") else None
        if worth is not None:
            total += worth
            if promised not in (None, worth):
                at, task = where(language, name, cell), task.get("id")
                yield f"{at}: nbgrader gives {worth:g} points, the text in #{task} {promised}; correct one of them"
            promised = None
        elif cell.cell_type == "markdown" and (found := re.findall(rf"(?:· |\(){POINTS}", cell.source)):
            promised, task = int(found[-1]), cell
    for cell in notebook.cells:
        found = re.search(POINTS, cell.source) if cell.get("id") == "title" else None
        if found and int(found[1]) != total:
            yield f"{where(language, name, cell)}: says {found[0]}; the cells below have {total:g}; correct one of them"
