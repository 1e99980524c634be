"""What running a notebook leaves behind: whether its outputs are those of its code, and fit to be read."""

import html
import re

import prose
import wording
from lessons import digest, run_again, where

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
CARD = re.compile(r'<div class="claim" data-claim="([\w-]+)" data-within="(\w+)"[^>]*>(.*?)</div>', re.S)


def check(notebook, language, name, vocabulary=prose.WORDS, ledger=None):
    """Find outputs that are missing, stale or broken, show a picture without words, or a claim that has changed.

    ledger: claim → the texts that its card shows; without it cards are not compared.
    """
    if "widgets" in notebook.metadata:
        yield f"{where(language, name)}: holds the state of widgets; {run_again(where(language, name))}"
    code = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.source.strip()]
    stale = [cell for cell in code if cell.metadata.get("executed") != digest(cell.source)]
    if stale:
        more = f" (and of {len(stale) - 1} more cells: {' '.join(c.id for c in stale[1:])})" * (len(stale) > 1)
        at = where(language, name, stale[0])
        yield f"{at}: its outputs{more} are missing or come from another source; {run_again(at)}"
    elif [c.get("execution_count") for c in code] != list(range(1, len(code) + 1)):
        at = where(language, name, next(c for i, c in enumerate(code, 1) if c.get("execution_count") != i))
        yield f"{at}: not executed from top to bottom; {run_again(at)}"
    yield from out_of_bounds(notebook, where(language, name))
    for cell in code:
        at = where(language, name, cell)
        for output in cell.get("outputs", []):
            yield from one_output(output, language, at, vocabulary)
            yield from changed_claims(output, ledger, at)


def one_output(output, language, at, vocabulary):
    """Find what is wrong with one output of a cell."""
    data = output.get("data", {})
    if output.get("output_type") == "error":
        yield f"{at}: ended in {output.get('ename')}; repair the cell, then {run_again(at)}"
    if WIDGET_VIEW in data:
        yield f"{at}: shows a widget, which a reader without a kernel does not see; {run_again(at)}"
    source = shown(output) + data.get("text/markdown", "")
    found = prose.parts(re.sub(r'src="data:[^"]*"', 'src="data:"', source))
    pictures = sum(kind.startswith("image/") for kind in data)
    if pictures and not found.images:
        yield f"{at}: a picture without a place for an alternative text; show it as <img alt=…>"
    if "svg" in found.tags and not re.search(r"<svg[^>]*aria-label=", source):
        yield f"{at}: a drawing without an alternative text; show it as <img alt=…>"
    for _, alt in found.images:
        yield from wording.alternative(alt, language, at, vocabulary)
    yield from wording.shown(found.prose, language, at, vocabulary)


def changed_claims(output, ledger, at):
    """Find cards of claims whose texts are no longer those of the ledger."""
    for claim, _, card in CARD.findall(shown(output) if ledger is not None else ""):
        text = plain(card)
        if claim not in ledger:
            yield f"{at}: the ledger, helpers/claims.toml, has no claim {claim}; correct the name"
        elif lacks := [part for part in ledger[claim] if " ".join(part.split()) not in text]:
            yield f"{at}: {claim} has changed in helpers/claims.toml ({wording.short(lacks[0])}); {run_again(at)}"


def out_of_bounds(notebook, at):
    """Find claims whose measured value lies outside its bounds."""
    for cell in (cell for cell in notebook.cells if cell.cell_type == "code"):
        for claim, within, card in CARD.findall("".join(map(shown, cell.get("outputs", [])))):
            if within == "false":
                yield (
                    f"{at}#{cell.id}: {claim}: {' '.join(map(plain, card.split('<br>')[1:3]))} If the measurement is "
                    "wrong, correct the cell; if the ledger is, the bounds, verdict and texts in helpers/claims.toml"
                )


def plain(card):
    """Return the text of HTML that a card holds."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", card)).split())


def shown(output):
    """Return the HTML of an output, "" if it has none."""
    return output.get("data", {}).get("text/html", "")
