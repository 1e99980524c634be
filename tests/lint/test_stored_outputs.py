"""`check` finds outputs that are stale, errors, widgets, and cards that are not what the ledger says."""

import pytest

from tests.support.faults import (
    FIRST,
    SECOND,
    assert_found,
    card,
    card_text,
    fails,
    html,
    on_cell,
    on_notebook,
    widget,
)
from tests.support.small_tree import ALT

DE, SV, EN = (f"notebooks/{language}/{FIRST}" for language in ("de", "sv", "en"))
FAULTS = {
    "stale output": (
        on_cell("en", "count", lambda c: c.metadata.update(executed="0" * 12), SECOND),
        f"notebooks/en/{SECOND}#count",
        "come from another source; run it: python tools/notebooks.py run notebooks/en/02_second.ipynb",
    ),
    "not executed": (
        on_cell("de", "count", lambda c: c.update(execution_count=None), SECOND),
        f"notebooks/de/{SECOND}#count",
        "not executed from top to bottom, as when cells are run while editing; run it: python tools",
    ),
    "counts": (on_cell("sv", "picture", lambda c: c.update(execution_count=7)), f"{SV}#picture", "top to bottom"),
    "error": (on_cell("de", "count", fails, SECOND), f"notebooks/de/{SECOND}#count", "ended in KeyError"),
    "widget state": (on_notebook("en", lambda n: n.metadata.update(widgets={})), EN, "holds the state of widgets"),
    "widget view": (on_cell("en", "picture", widget), f"{EN}#picture", "shows a widget"),
    "card in another language": (
        html("sv", "<p>Das stimmt. Er wächst, und die Länge des Stroms auch.</p>"),
        f"{SV}#picture",
        "what it shows reads as German",
    ),
    "claim": (
        card_text("claim", "Den krymper."),
        f"{SV}#picture",
        "grows has changed in helpers/activities/claims.toml (claim: Den växer.); run it: python tools/notebooks.py",
    ),
    "verdict": (
        card(verdict="false"),
        f"{SV}#picture",
        "grows has changed in helpers/activities/claims.toml (verdict: true)",
    ),
    "source of a claim": (card_text("source", "Ioffe 2016"), f"{SV}#picture", "grows has changed"),
    "what a claim measures": (card_text("measures", "strömmens bredd"), f"{SV}#picture", "grows has changed"),
    "card in English": (card(language="en"), f"{SV}#picture", "the card of grows is in another language"),
    "claim that is gone": (card(id="shrinks"), f"{SV}#picture", "has no claim shrinks; correct the name"),
    "value out of bounds": (
        card(value=9.5, within=False),
        f"{SV}#picture",
        "grows: measured on here, strömmens längd = 9.5, outside its bounds. If the measurement is wrong, correct",
    ),
    "path in an output": (html("sv", f'<img alt="{ALT["sv"]}" src="/tm' + 'p/x.png">'), f"{SV}#picture", "path of one"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_in_its_file_and_cell(tree, fault):
    plant, places, says = FAULTS[fault]
    assert_found(tree, plant, places, says)
