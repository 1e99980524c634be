"""What running a notebook leaves behind: whether its outputs are those of its code, and fit to be read."""

from notebook_files.cell_sources import is_stale
from notebook_files.directions import command, run_again, where
from texts import languages, markdown_parts, wording

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def check(notebook, language, name, vocabulary=languages.WORDS, recoded=()):
    """Find outputs that are missing, stale or broken, or show a picture without words.

    recoded: the ids of cells whose code differs between the languages. That is a finding in a translation; in
    English they are run after a sync.
    """
    if "widgets" in notebook.metadata:
        yield f"{where(language, name)}: holds the state of widgets; {run_again(where(language, name))}"
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    yield from not_executed(code, language, name, recoded)
    for cell in code:
        at = where(language, name, cell)
        for output in cell.get("outputs", []):
            yield from one_output(output, language, at, vocabulary)


def not_executed(code, language, name, recoded):
    """Find code cells whose outputs come from another source, or in another order than from top to bottom."""
    stale = [cell for cell in code if is_stale(cell)]
    if language != "en":
        stale = [cell for cell in stale if cell.get("id") not in recoded]
    if stale:
        first, *others = stale
        at = where(language, name, first)
        more = ""
        if others:
            more = f" (and of {len(others)} more cells: {' '.join(cell.get('id', '?') for cell in others)})"
        remedy = run_again(at)
        if language == "en" and {cell.get("id") for cell in stale} & set(recoded):
            remedy = f"run {command('sync')}, then {command('run ' + name.removesuffix('.ipynb'))}"
        yield f"{at}: its outputs{more} are missing or come from another source; {remedy}"
        return
    for count, cell in enumerate(code, 1):
        if cell.get("execution_count") != count:
            at = where(language, name, cell)
            yield f"{at}: not executed from top to bottom, as when cells are run while editing; {run_again(at)}"
            return


def one_output(output, language, at, vocabulary):
    """Find what is wrong with one output of a cell."""
    data = output.get("data", {})
    if output.get("output_type") == "error":
        yield f"{at}: ended in {output.get('ename')}; repair the cell, then {run_again(at)}"
    if WIDGET_VIEW in data:
        yield f"{at}: shows a widget, which a reader without a kernel does not see; {run_again(at)}"
    html = markdown_parts.html_parts(shown(output))
    markdown = markdown_parts.parts(data.get("text/markdown", ""))
    images = html.images + markdown.images
    if not images and any(kind.startswith("image/") for kind in data):
        yield f"{at}: a picture without a place for an alternative text; show it as <img alt=…>"
    if "" in html.drawings + markdown.drawings:
        yield f"{at}: a drawing without an alternative text; show it as <img alt=…>"
    for _, alt in images:
        yield from wording.alternative(alt, language, at, vocabulary, run_again(at))
    prose = f"{html.prose}\n\n{markdown.prose}"
    yield from wording.shown(prose, language, at, vocabulary, run_again(at))


def shown(output):
    """Return the HTML of an output, "" if it has none."""
    return output.get("data", {}).get("text/html", "")
