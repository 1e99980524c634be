"""The ledger of claims: what textbooks say, what a cell measures, and the verdict."""

import html

from IPython.display import display

from helpers import language
from helpers.figures import table as show_table
from helpers.language import say

COLOURS = {"true": "#00694E", "depends": "#8A5A00", "false": "#A3262A", "open": "#4A4A4A"}  # of the verdicts
LEDGER = language.data("claims.toml")  # id → entry
measured = {}  # id → the last Card that `check` showed


class Card:
    """One claim beside its measured value; `within` tells whether the value lies in its bounds."""

    def __init__(self, claim, value, on):
        self.language = language.current
        entry, self.id, self.on, self.value = LEDGER[language.one_of(LEDGER, claim, "claim.unknown")], claim, on, value
        low, high = entry["bounds"] if isinstance(entry["bounds"], list) else entry["bounds"][on]
        self.within = low <= value <= high
        self.claim, what, self.found = (entry[field][language.current] for field in ("claim", "measures", "found"))
        self.measured = say("claim.measured", what=what, value=value, on=say(f"claim.on_{on}"))
        self.verdict, self.colour = say(f"claim.{entry['verdict']}"), COLOURS[entry["verdict"]]
        self.source = say("claim.source", source=entry["source"])
        self.outside = "" if self.within else say("claim.outside", low=low, high=high)

    def _repr_mimebundle_(self, **_):
        text = [f"{self.verdict}: {self.claim}", self.measured, self.found, self.source]
        safe = {name: html.escape(value) for name, value in vars(self).items() if isinstance(value, str)}
        outside = f'<br><strong style="color:#A3262A">{safe["outside"]}</strong>' if self.outside else ""
        card = (
            f'<div class="claim" data-claim="{safe["id"]}" data-within="{str(self.within).lower()}" data-on="{safe["on"]}" data-value="{self.value!r}" lang="{self.language}" '
            f'style="border:1px solid #999;border-left:6px solid {self.colour};padding:6px 12px;margin-top:8px;'
            f'max-width:44em;background:#fff;color:#111;line-height:1.45"><strong style="color:{self.colour}">{safe["verdict"]}</strong> '
            f"· {safe['claim']}<br>{safe['measured']}{outside}<br>{safe['found']} <small>{safe['source']}</small></div>"
        )
        return {"text/html": card, "text/plain": "\n".join([*text, self.outside]).strip()}


def check(claim, value, on="here"):
    """Show the card of a claim, an id of the ledger, with its measured value; ValueError for an unknown id.

    on: where it was measured, for example "here", "gpt2" or "published"; a claim may have bounds for each."""
    card = measured[claim] = Card(claim, float(value), on)
    display(card)


def table(lesson):
    """Show the claims of a lesson, 1 to 4, with their verdicts and the values that this kernel has measured."""
    rows, lesson = [], language.one_of((1, 2, 3, 4), lesson, "explorer.unknown")
    for claim, entry in ((claim, entry) for claim, entry in LEDGER.items() if entry["lesson"] == lesson):
        value = measured[claim].measured if claim in measured else say("claim.not_yet")
        verdict = say(f"claim.{entry['verdict']}").replace(" ", "\u00a0")
        rows.append([entry["claim"][language.current], verdict, value])
    show_table("claim.table_head", rows)
