"""The ledger of claims: what textbooks say, what a cell measures, and the verdict."""

import html
import math

from IPython.display import display

from helpers import language
from helpers.figures import table as show_table
from helpers.language import say

COLOURS = {"true": "#00694E", "depends": "#8A5A00", "false": "#A3262A", "open": "#4A4A4A"}  # of the verdicts
OUTSIDE_COLOUR = "#A3262A"
PLACES = ("here", "gpt2", "published", "bundled", "untrained", "runs", "cell")  # where a number may be measured
LEDGER = language.data("activities/claims.toml")  # id → entry
DATA_TYPE = "application/vnd.norm-lessons.claim+json"  # of the part of a card that programs read
measured = {}  # id → the last Card that `check` showed


class Card:
    """One claim beside its measured value, in the language that is in use when the card is made.

    claim: an id of the ledger. value: the measured number. on: where it was measured. `within` tells whether the value
    lies in its bounds. Raises ValueError for an unknown id, and for a place for which the claim has no bounds."""

    def __init__(self, claim, value, on):
        self.id = language.one_of(LEDGER, claim, "claim.unknown")
        self.value = value
        self.language = language.current
        self.entry = LEDGER[self.id]
        bounds = self.entry["bounds"]
        if isinstance(bounds, list):
            self.on = language.one_of(PLACES, on, "claim.unknown_place")
        else:
            self.on = language.one_of(bounds, on, "claim.unknown_place")
            bounds = bounds[self.on]
        self.low, self.high = bounds
        self.within = self.low <= value <= self.high
        place = say(f"claim.on_{self.on}")
        self.measured = say("claim.measured", what=self.text("measures"), value=value, on=place)

    def text(self, part):
        """Return a text of the entry, "claim", "measures" or "found", in the card's language."""
        return self.entry[part][self.language]

    def data(self):
        """Return what programs read of a card: id, value (a text if it is not finite), on, verdict, language, whether
        the value is within its bounds, and the ledger's texts that the card shows."""
        texts = {part: self.text(part) for part in ("claim", "measures", "found")}
        return {
            "id": self.id,
            "value": self.value if math.isfinite(self.value) else str(self.value),
            "on": self.on,
            "verdict": self.entry["verdict"],
            "language": self.language,
            "within": self.within,
            "texts": texts | {"source": self.entry["source"]},
        }

    def _repr_mimebundle_(self, **_):
        verdict = say(f"claim.{self.entry['verdict']}")
        source = say("claim.source", source=self.entry["source"])
        outside = ""
        if not self.within:
            outside = say("claim.outside", low=self.low, high=self.high)
        lines = [f"{verdict}: {self.text('claim')}", self.measured, self.text("found"), source]
        if outside:
            lines.append(outside)
        return {
            "text/html": self.html(verdict, source, outside),
            "text/plain": "\n".join(lines),
            DATA_TYPE: self.data(),
        }

    def html(self, verdict, source, outside):
        """Return the card as HTML; outside: the sentence about a value that is out of its bounds, or ""."""
        colour = COLOURS[self.entry["verdict"]]
        style = (
            f"border:1px solid #999;border-left:6px solid {colour};padding:6px 12px;margin-top:8px;"
            "max-width:44em;background:#fff;color:#111;line-height:1.45"
        )
        warning = ""
        if outside:
            warning = f'<br><strong style="color:{OUTSIDE_COLOUR}">{html.escape(outside)}</strong>'
        return (
            f'<div class="claim" lang="{self.language}" style="{style}">'
            f'<strong style="color:{colour}">{html.escape(verdict)}</strong> · {html.escape(self.text("claim"))}'
            f"<br>{html.escape(self.measured)}{warning}"
            f"<br>{html.escape(self.text('found'))} <small>{html.escape(source)}</small></div>"
        )


def check(claim, value, on="here"):
    """Show the card of a claim, an id of the ledger, with its measured value.

    on: where it was measured, one of PLACES. A claim may have bounds for some of them only; then `on` is one of those,
    and "here" is not always among them. Raises ValueError for an unknown id and for another place."""
    card = Card(claim, float(value), on)
    measured[claim] = card
    display(card)


def table(lesson):
    """Show the claims of a lesson, 1 to 4, with their verdicts and the values that this kernel has measured."""
    lesson = language.one_of((1, 2, 3, 4), lesson, "explorer.unknown")
    rows = []
    for claim, entry in LEDGER.items():
        if entry["lesson"] != lesson:
            continue
        value = say("claim.not_yet")
        if claim in measured:
            value = measured[claim].measured
        verdict = say(f"claim.{entry['verdict']}").replace(" ", "\u00a0")
        rows.append([entry["claim"][language.current], verdict, value])
    show_table("claim.table_head", rows)
