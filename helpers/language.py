"""The reader's language: words from the catalogue, and numbers as that language writes them."""

import json
import tomllib
from functools import cache
from importlib.resources import files

from babel.numbers import format_decimal

LANGUAGES = ("en", "de", "sv")
current = "en"  # the language in use
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def use(language):
    """Choose the language of everything `helpers` shows: "en", "de" or "sv". Raises ValueError otherwise."""
    global current
    current = one_of(LANGUAGES, language, "language.unknown")


def one_of(names, name, key):
    """Return a name that is one of these; else raise ValueError with this text of the catalogue."""
    if not isinstance(name, str | int | float) or name not in names:
        raise ValueError(say(key, name=str(name), names=", ".join(map(str, names))))
    return name


@cache
def data(name):
    """Return the content of a TOML or JSON file of the package."""
    return (tomllib if name.endswith("toml") else json).loads(files("helpers").joinpath(name).read_text("utf8"))


@cache
def catalogue(language):
    """Return the catalogue of a language, a flat dictionary from "section.key" to its text."""
    sections = data(f"text/{language}.toml").items()
    return {f"{section}.{key}": text for section, texts in sections for key, text in texts.items()}


def say(key, **values):
    """Return the text of the catalogue for "section.key", with its {placeholders} filled in.

    Numbers are written as the language writes them. Raises KeyError for an unknown key."""
    shown = {k: number(v) if hasattr(v, "__float__") else v for k, v in values.items()}
    return catalogue(current)[key].format(**shown)


def number(value, digits=3, trim=False):
    """Return a number as text with this many significant digits; a whole number keeps all of its digits.

    The decimal mark is the language's; thousands are not grouped. Two digits and a power of ten stand for what is below
    10⁻⁴, from 10⁶ on, or an int from 10¹⁵ on. Takes whatever float() takes. trim: without zeros at the end."""
    value = int(value) if isinstance(value, int) else float(value) or 0.0  # −0 is shown as 0
    if value != value or value in (float("inf"), float("-inf")):
        return {"inf": "∞", "-inf": "−∞"}.get(str(value), "NaN")
    rounded, exponent = f"{value:.{digits - 1}e}".split("e")  # babel's own patterns for this are wrong near 0.1
    decimals, power, pattern = max(0, digits - 1 - int(exponent)), "", "0"
    if value and not 1e-4 <= abs(value) < (1e15 if isinstance(value, int) else 1e6):
        value, exponent, pattern = *f"{value:.1e}".split("e"), "0.#" if trim else "0.0"
        power = f"\u00a0{'×' if current == 'en' else '·'}\u00a010{str(int(exponent)).translate(SUPERSCRIPTS)}"
    elif value != int(value) and decimals:
        value, pattern = float(f"{rounded}e{exponent}"), "0." + ("#" if trim else "0") * decimals
    return format_decimal(value, pattern, locale=current).replace("-", "−") + power
