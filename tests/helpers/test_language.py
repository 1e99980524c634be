"""The three catalogues say the same things, and numbers are written as the reader writes them."""

import ast
import json
import re
import string
import tomllib
from pathlib import Path

import numpy
import pytest
import torch
from IPython.core.inputtransformer2 import TransformerManager

from helpers import language
from helpers.language import LANGUAGES, catalogue, number, say

ROOT = Path(__file__).parents[2]
SOURCES = [*ROOT.glob("helpers/**/*.py"), *ROOT.glob("tools/**/*.py")]
TABLES = [ROOT / "helpers" / "activities" / "claims.toml", ROOT / "helpers" / "models" / "checkpoints.toml"]


def placeholders(text):
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name is not None)


@pytest.mark.parametrize("reader", LANGUAGES)
def test_every_text_is_there_and_tidy(reader):
    for key, text in catalogue(reader).items():
        assert text == text.strip() != "", key
        assert "TODO" not in text and "  " not in text, key
        assert all(name.isidentifier() for name in placeholders(text)), key


def test_sentences_are_translated():
    # names such as RMS are the same everywhere, sentences are not
    for key, text in catalogue("en").items():
        if len(text.split()) > 5:
            assert len({catalogue(reader)[key] for reader in LANGUAGES}) == 3, key


def trees():
    """Return the syntax trees of the package, its tools and the code of the lessons."""
    found = [ast.parse(path.read_text(encoding="utf8")) for path in SOURCES]
    for path in ROOT.glob("notebooks/en/**/*.ipynb"):  # the code is the same in all languages
        for cell in json.loads(path.read_text(encoding="utf8"))["cells"]:
            if cell["cell_type"] == "code":
                found.append(ast.parse(TransformerManager().transform_cell("".join(cell["source"]))))
    return found


def names_in(value):
    """Return the keys and the texts of what a TOML file holds."""
    if isinstance(value, dict):
        return set(value).union(*map(names_in, value.values()))
    if isinstance(value, list):
        return set().union(*map(names_in, value))
    return {value} if isinstance(value, str) else set()


def spelt_out():
    """Return (strings, patterns): what the sources and the tables spell out, and the keys that are put together.

    A pattern is a list of parts of a key, None for each part that is filled in.
    """
    strings, patterns = set(), []
    for path in TABLES:
        strings |= names_in(tomllib.loads(path.read_text(encoding="utf8")))
    for tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                strings.add(node.value)
            elif isinstance(node, ast.keyword) and node.arg:
                strings.add(node.arg)
            elif isinstance(node, ast.JoinedStr):
                patterns.append([part.value if isinstance(part, ast.Constant) else None for part in node.values])
            elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "choice":
                key = getattr(node.args[0], "value", None)  # of a control: its label and its options
                patterns.append([f"{key}.", None])
    return strings, patterns


def expressions(patterns, fillings):
    """Return regular expressions for the keys that patterns make with texts that are spelt out, or with a number."""
    filled = "|".join(map(re.escape, sorted(fillings)))
    found = []
    for pattern in patterns:
        if isinstance(pattern[0], str) and re.match(r"[a-z0-9]+\.", pattern[0]):
            found.append("".join(rf"(?:\d+|{filled})" if part is None else re.escape(part) for part in pattern))
    return [re.compile(expression) for expression in set(found)]


@pytest.mark.slow
def test_no_text_is_unused():
    """A key counts as used if it is spelt out, or put together from parts that are all spelt out."""
    strings, patterns = spelt_out()
    keys = list(catalogue("en"))
    fillings = {text for text in strings if text and any(text in key for key in keys)}
    put_together = expressions(patterns, fillings)
    unused = [key for key in keys if key not in strings and not any(one.fullmatch(key) for one in put_together)]
    assert unused == []


def test_every_key_that_the_package_asks_for_is_there():
    asked = set()
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
            if isinstance(node, ast.Call) and "say" in (getattr(node.func, "id", ""), getattr(node.func, "attr", "")):
                parts = list(ast.walk(node.args[0]))
                fragments = {id(c) for part in parts if isinstance(part, ast.JoinedStr) for c in part.values}
                asked |= {c.value for c in parts if isinstance(c, ast.Constant) and id(c) not in fragments}
    keys = {text for text in asked if isinstance(text, str) and re.fullmatch(r"[a-z]+\.\w+", text)}
    assert "load.empty" in keys
    assert keys <= set(catalogue("en"))


@pytest.mark.parametrize("reader", LANGUAGES)
def test_a_language_in_use_is_the_one_that_is_spoken(reader):
    language.use(reader)
    assert language.current == reader
    assert say("placement.none") == catalogue(reader)["placement.none"]


def test_a_language_that_is_not_there_is_refused_and_the_old_one_stays():
    language.use("sv")
    for other in ("xx", "EN", "", None):
        with pytest.raises(ValueError, match="en, de, sv"):
            language.use(other)
    assert language.current == "sv"


def test_an_unknown_key_or_a_missing_value_is_an_error():
    for key in ("placement.missing", "placement", "missing.pre", ""):
        with pytest.raises(KeyError):
            say(key)
    with pytest.raises(KeyError):
        say("language.unknown", name="x")


def test_numbers_in_sentences_are_written_in_the_language_and_texts_are_left_alone():
    language.use("de")
    assert say("stream.alt_final", value=12.345) == "Nach der abschließenden Norm: 12,3."
    assert say("stream.alt_final", value=numpy.float32(0.5)) == "Nach der abschließenden Norm: 0,500."
    assert say("stream.alt_final", value=torch.tensor(0.5)) == "Nach der abschließenden Norm: 0,500."
    assert say("stream.alt_final", value="1.5 {x}") == "Nach der abschließenden Norm: 1.5 {x}."


WRITTEN = [
    # value, English; German and Swedish differ by the comma, tiny numbers apart
    (0, "0"),
    (-0.0, "0"),
    (1, "1"),
    (-7, "−7"),
    (3.0, "3"),
    (1.5, "1.50"),
    (-1.5, "−1.50"),
    (0.1 + 0.2, "0.300"),
    (2.7386, "2.74"),
    (-0.57735, "−0.577"),
    (0.00012345, "0.000123"),
    (456.2, "456"),
    (999.96, "1000"),
    (12345.6, "12346"),
    (124_439_808, "124439808"),
    (float("nan"), "NaN"),
    (float("inf"), "∞"),
    (float("-inf"), "−∞"),
]


@pytest.mark.parametrize(("value", "english"), WRITTEN)
@pytest.mark.parametrize("reader", LANGUAGES)
def test_numbers_are_written_as_the_language_writes_them(reader, value, english):
    language.use(reader)
    assert number(value) == (english if reader == "en" else english.replace(".", ","))


def test_numbers_near_nothing_and_beyond_counting_get_a_power_of_ten():
    written = {}
    for reader in LANGUAGES:
        language.use(reader)
        written[reader] = [number(1.25e-5), number(-3.2e-7), number(1.7e30)]
    assert written["en"] == ["1.3\xa0×\xa010⁻⁵", "−3.2\xa0×\xa010⁻⁷", "1.7\xa0×\xa010³⁰"]
    assert written["de"] == ["1,3\xa0·\xa010⁻⁵", "−3,2\xa0·\xa010⁻⁷", "1,7\xa0·\xa010³⁰"]
    assert written["sv"] == ["1,3\xa0·\xa010⁻⁵", "−3,2\xa0·\xa010⁻⁷", "1,7\xa0·\xa010³⁰"]


def test_a_long_number_keeps_its_digits_only_if_it_counts_something():
    assert number(124439808) == "124439808" and number(9363782631424.0) == "9.4\xa0×\xa010¹²"
    assert number(1e6, trim=True) == "1\xa0×\xa010⁶" and number(9.9e5) == "990000"


def test_the_number_of_digits_can_be_chosen():
    assert number(2.73861, digits=5) == "2.7386"
    assert number(2.73861, digits=1) == "3"
    assert number(123.456, digits=2) == "123"


@pytest.mark.parametrize(
    "make", (numpy.float32, numpy.float64, torch.tensor, lambda v: torch.tensor(v, dtype=torch.bfloat16))
)
def test_numbers_of_numpy_and_torch_are_numbers(make):
    assert number(make(2.5)) == "2.50"
    assert number(make(float("nan"))) == "NaN" and number(make(float("-inf"))) == "−∞"
    assert number(make(3.0)) == number(numpy.int64(3)) == number(torch.tensor(3)) == "3"


def test_true_is_one_and_a_word_is_no_number():
    assert number(True) == "1"
    with pytest.raises(ValueError):
        number("many")


@pytest.mark.parametrize(
    ("value", "text"), [(0.0099999999, "0.01"), (0.09999999999, "0.1"), (0.99999, "1"), (9.9996, "10")]
)
def test_number_just_below_a_power_of_ten(value, text):
    """babel's own rounding to significant digits is wrong by a factor of ten there."""
    assert language.number(value, trim=True) == text


@pytest.mark.parametrize("name", [True, False, None, [1], 5])
def test_what_is_none_of_the_choices_gets_a_sentence(name):
    """True was lesson 1."""
    with pytest.raises(ValueError, match="is not a choice"):
        language.one_of((0, 1, 2), name, "explorer.unknown")
    assert language.one_of((0, 1, 2), 1, "explorer.unknown") == 1
