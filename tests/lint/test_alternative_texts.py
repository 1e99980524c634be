"""`check` finds pictures without an alternative text, and texts in another language than the notebook."""

import pytest

from tests.support.faults import FIRST, SECOND, assert_found, html, on_cell, picture_without_text, source
from tests.support.small_tree import ALT

DE, SV, EN = (f"notebooks/{language}/{FIRST}" for language in ("de", "sv", "en"))
FAULTS = {
    "picture without a text": (html("de", '<img src="x.png">'), f"{DE}#picture", "no alternative text"),
    "bare picture": (on_cell("sv", "picture", picture_without_text), f"{SV}#picture", "without a place for"),
    "text of a picture in English": (
        html("de", f'<img alt="{ALT["en"]}">'),
        f"{DE}#picture",
        "reads as English, not German; run it: python tools/notebooks.py run notebooks/de/01_first.ipynb",
    ),
    "text of a picture with a point": (
        html("sv", f'<img alt="{ALT["sv"].replace("0,5", "0.5")}">'),
        f"{SV}#picture",
        "decimal point: 0.5",
    ),
    "picture in a text": (
        source("en", SECOND, "title", "first one.", "first one. ![](../../README.md)"),
        f"notebooks/en/{SECOND}#title notebooks/de/{SECOND}#title notebooks/sv/{SECOND}#title",
        "no alternative text",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_in_its_file_and_cell(tree, fault):
    plant, places, says = FAULTS[fault]
    assert_found(tree, plant, places, says)
