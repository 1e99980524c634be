"""What running a notebook leaves behind: whether its outputs are those of its code, and fit to be read."""

import re

from notebook_files.cell_sources import is_stale
from notebook_files.directions import command, run_again, where
from texts import markdown_parts, wording

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def check(notebook, language, name, vocabulary=markdown_parts.WORDS, recoded=()):
    """Find outputs that are missing, stale or broken, or show a picture without words.

    recoded: the ids of cells whose code differs between the languages. That is a finding in a translation; in
    English they are run after a sync.
    """
    if "widgets" in notebook.metadata:
        yield f"{where(language, name)}: holds the state of widgets; {run_again(where(language, name))}"
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    stale = [cell for cell in code if is_stale(cell) and (language == "en" or cell.get("id") not in recoded)]
    if stale:
        more = f" (and of {len(stale) - 1} more cells: {' '.join(c.id for c in stale[1:])})" * (len(stale) > 1)
        at, remedy = where(language, name, stale[0]), run_again(where(language, name))
        if language == "en" and {cell.get("id") for cell in stale} & set(recoded):
            remedy = f"run {command('sync')}, then {command('run ' + name.removesuffix('.ipynb'))}"
        yield f"{at}: its outputs{more} are missing or come from another source; {remedy}"
    elif [c.get("execution_count") for c in code] != list(range(1, len(code) + 1)):
        at = where(language, name, next(c for i, c in enumerate(code, 1) if c.get("execution_count") != i))
        yield f"{at}: not executed from top to bottom, as when cells are run while editing; {run_again(at)}"
    for cell in code:
        at = where(language, name, cell)
        for output in cell.get("outputs", []):
            yield from one_output(output, language, at, vocabulary)


def one_output(output, language, at, vocabulary):
    """Find what is wrong with one output of a cell."""
    data = output.get("data", {})
    if output.get("output_type") == "error":
        yield f"{at}: ended in {output.get('ename')}; repair the cell, then {run_again(at)}"
    if WIDGET_VIEW in data:
        yield f"{at}: shows a widget, which a reader without a kernel does not see; {run_again(at)}"
    source = shown(output) + data.get("text/markdown", "")
    found = markdown_parts.parts(re.sub(r'src="data:[^"]*"', 'src="data:"', source))
    pictures = sum(kind.startswith("image/") for kind in data)
    if pictures and not found.images:
        yield f"{at}: a picture without a place for an alternative text; show it as <img alt=…>"
    if "svg" in found.tags and not re.search(r"<svg[^>]*aria-label=", source):
        yield f"{at}: a drawing without an alternative text; show it as <img alt=…>"
    for _, alt in found.images:
        yield from wording.alternative(alt, language, at, vocabulary)
    yield from wording.shown(found.prose, language, at, vocabulary)


def shown(output):
    """Return the HTML of an output, "" if it has none."""
    return output.get("data", {}).get("text/html", "")
