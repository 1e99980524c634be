"""The reader's language: words from the catalogue, and numbers as that language writes them."""

import json
import math
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
    """Return a name, a text or a number, that is one of these; else raise ValueError with this text of the catalogue.

    True is not the number 1 here."""
    is_number = isinstance(name, int | float) and not isinstance(name, bool)
    if not (is_number or isinstance(name, str)) or name not in names:
        raise ValueError(say(key, name=str(name), names=", ".join(map(str, names))))
    return name


@cache
def data(name):
    """Return the content of a TOML or JSON file of the package."""
    text = files("helpers").joinpath(name).read_text("utf8")
    if name.endswith("toml"):
        return tomllib.loads(text)
    return json.loads(text)


@cache
def catalogue(language):
    """Return the catalogue of a language, a flat dictionary from "section.key" to its text."""
    sections = data(f"language/text/{language}.toml").items()
    return {f"{section}.{key}": text for section, texts in sections for key, text in texts.items()}


def say(key, **values):
    """Return the text of the catalogue for "section.key", with its {placeholders} filled in.

    Numbers are written as the language writes them. Raises KeyError for an unknown key."""
    shown = dict(values)
    for name, value in values.items():
        if hasattr(value, "__float__"):
            shown[name] = number(value)
    return catalogue(current)[key].format(**shown)


def number(value, digits=3, trim=False):
    """Return a number as text with this many significant digits; a whole number keeps all of its digits.

    The decimal mark is the language's; thousands are not grouped. Two digits and a power of ten stand for what is below
    10⁻⁴, from 10⁶ on, or an int from 10¹⁵ on. Takes whatever float() takes. trim: without zeros at the end."""
    if isinstance(value, int):
        value = int(value)  # True is 1
        largest = 1e15
    else:
        value = float(value)
        largest = 1e6
    if math.isnan(value):
        return "NaN"
    if value == math.inf:
        return "∞"
    if value == -math.inf:
        return "−∞"
    if value == 0 or 1e-4 <= abs(value) < largest:
        return plain(value, digits, trim)
    return with_power(value, trim)


def plain(value, digits, trim=False):
    """Return a finite number as text with so many significant digits, and all of those before the decimal mark."""
    rounded = f"{value:.{digits - 1}e}"  # babel's own patterns for significant digits are wrong near 0.1
    exponent = int(rounded.split("e")[1])
    decimals = max(0, digits - 1 - exponent)
    if value == int(value) or decimals == 0:
        return in_figures(value, "0")
    return in_figures(float(rounded), "0." + ("#" if trim else "0") * decimals)


def with_power(value, trim=False):
    """Return a finite number as text, two digits times a power of ten."""
    digits, exponent = f"{value:.1e}".split("e")
    times = "×" if current == "en" else "·"
    power = str(int(exponent)).translate(SUPERSCRIPTS)
    return f"{in_figures(float(digits), '0.#' if trim else '0.0')}\u00a0{times}\u00a010{power}"


def in_figures(value, pattern):
    """Return a number in a pattern of babel's, in the language, with a minus sign in place of the hyphen."""
    if value == 0:
        value = 0  # −0 is shown as 0
    return format_decimal(value, pattern, locale=current).replace("-", "−")
