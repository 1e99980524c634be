"""The ledger: the card beside a measured value; the form of its entries is in test_ledger.py."""

import json

import pytest
from bs4 import BeautifulSoup
from IPython.core.formatters import DisplayFormatter

from helpers import language
from helpers.activities import claims

# what the cell would measure if the verdict were wrong
CONTRARY = [
    ("gradient-at-init", 4),  # either curve with the slope of the other, from 3 to 48 blocks
    ("stream-grows-linearly-at-init", 9.94**4),  # the factor of the first 12 blocks four times over
    ("post-needs-warmup", 0),
    ("post-is-better-once-trained", 0),  # the rate does not turn the order
    ("post-fails-past-24", 25),
    ("pre-uncontrolled-at-depth", 4),  # a length that grows like l
    ("pre-uncontrolled-at-depth", 1),
    ("deepnorm-alpha", 0),  # α does the same on either term
    ("residual-on-x", 0),
    ("rms-formula", 0.5),  # ε outside the root, or none
    ("rms-invariances", 0),  # a shift goes unnoticed
    ("rms-invariances", 1.71),  # the mean is subtracted
    ("faster", 0.85),
    ("faster", 0.9),
    ("fewer-flops", 7),
    ("fp16-overflow", 256),
    ("rms-default-eps", 2**13),  # float16's own machine epsilon
]


@pytest.mark.parametrize(("claim", "value"), CONTRARY)
def test_bounds_refuse_a_value_that_contradicts_the_verdict(claim, value):
    assert not claims.Card(claim, value, "here").within


def bundle(claim, value, on="here"):
    """Return what a card shows: type → content."""
    return DisplayFormatter().format(claims.Card(claim, value, on))[0]


@pytest.mark.parametrize("lang", language.LANGUAGES)
def test_card_shows_claim_value_and_verdict(lang):
    language.use(lang)
    shown = bundle("factor-fifty-over-twelve", 99.15, "published")
    entry = claims.LEDGER["factor-fifty-over-twelve"]
    for text in (entry["claim"][lang], entry["measures"][lang], language.number(99.15), language.say("claim.false")):
        assert text in shown["text/html"] and text in shown["text/plain"]


@pytest.mark.parametrize("lang", language.LANGUAGES)
def test_a_screen_reader_is_told_the_language_of_a_card(lang):
    language.use(lang)
    card = BeautifulSoup(bundle("off-by-one", 12)["text/html"], "html.parser").find()
    assert card["lang"] == lang and "claim" in card["class"]


@pytest.mark.parametrize("lang", language.LANGUAGES)
def test_a_program_reads_a_card_as_data(lang):
    language.use(lang)
    data = bundle("factor-fifty-over-twelve", 99.15, "published")[claims.DATA_TYPE]
    expected = {"value": 99.15, "on": "published", "verdict": "false", "language": lang, "within": True}
    assert data["id"] == "factor-fifty-over-twelve" and data | expected == data
    assert data["texts"]["claim"] == claims.LEDGER["factor-fifty-over-twelve"]["claim"][lang]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_the_data_of_a_card_are_json_for_every_value(value):
    data = bundle("rescaled-once", value)[claims.DATA_TYPE]
    again = json.loads(json.dumps(data, allow_nan=False))
    assert repr(float(again["value"])) == repr(value) and again["within"] is False


def test_a_text_of_the_ledger_is_no_html(monkeypatch):
    entry = claims.LEDGER["off-by-one"] | {"claim": {"en": 'a < b & "c" <i>d</i>'}}
    monkeypatch.setitem(claims.LEDGER, "off-by-one", entry)
    card = BeautifulSoup(bundle("off-by-one", 12)["text/html"], "html.parser")
    assert 'a < b & "c" <i>d</i>' in card.get_text() and card.i is None


def test_value_out_of_bounds_is_shown_as_such():
    shown = bundle("off-by-one", 13)
    assert shown[claims.DATA_TYPE]["within"] is False
    assert "outside the expected range" in shown["text/html"] and "outside the expected range" in shown["text/plain"]


def test_nan_is_out_of_bounds():
    assert not claims.Card("rescaled-once", float("nan"), "here").within


def test_bounds_may_differ_by_place_of_measurement():
    assert claims.Card("five-to-220", 150, "gpt2").within
    assert not claims.Card("five-to-220", 150, "published").within


def test_unknown_claim_raises():
    with pytest.raises(ValueError, match="There is no claim “no-such-claim” in the ledger"):
        claims.check("no-such-claim", 1)


@pytest.mark.parametrize("reader", language.LANGUAGES)
@pytest.mark.parametrize("lesson", [1, 2, 3, 4])
def test_the_table_shows_every_claim_of_a_lesson_and_what_was_measured(lesson, reader, monkeypatch):
    language.use(reader)
    shown = []
    monkeypatch.setattr(claims, "display", lambda card: None)
    monkeypatch.setattr("helpers.figures.display", lambda data, raw: shown.append(data["text/markdown"]))
    monkeypatch.setattr(claims, "measured", {})
    ids = [claim for claim, entry in claims.LEDGER.items() if entry["lesson"] == lesson]
    on = claims.LEDGER[ids[0]]["bounds"]
    claims.check(ids[0], 12.25, on="here" if isinstance(on, list) else next(iter(on)))
    claims.table(lesson)
    head, rule, *rows = shown[0].split("\n")
    assert len(rows) == len(ids) and {row.count(" | ") for row in (head, *rows)} == {2}
    assert ("12.2" if reader == "en" else "12,2") in rows[0]
    assert all(language.say("claim.not_yet") in row for row in rows[1:])


@pytest.mark.parametrize("lang", language.LANGUAGES)
@pytest.mark.parametrize(
    ("claim", "on"), [("off-by-one", "moon"), ("off-by-one", None), ("five-to-220", "here"), ("five-to-220", "cell")]
)
def test_a_place_of_measurement_that_a_claim_does_not_have_gets_a_sentence(claim, on, lang):
    """It was a KeyError, also for a claim with bounds for other places and a call without one."""
    language.use(lang)
    with pytest.raises(ValueError, match=str(on)) as caught:
        claims.check(claim, 1, on=on)
    assert "published" in str(caught.value)
    assert claim not in claims.measured or claims.measured[claim].on != on


def test_true_is_no_lesson():
    with pytest.raises(ValueError, match="True"):
        claims.table(True)


def test_every_place_has_its_words():
    for place in claims.PLACES:
        assert claims.Card("off-by-one", 12, place).measured
