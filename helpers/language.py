"""The reader's language: words from the catalogue, and numbers as that language writes them."""

import tomllib
from functools import cache
from importlib.resources import files

from babel.numbers import format_decimal

LANGUAGES = ("en", "de", "sv")
_current = "en"


def use(language):
    """Choose the language of everything `helpers` shows: "en", "de" or "sv". Raises ValueError otherwise."""
    global _current
    if language not in LANGUAGES:
        raise ValueError(f"language {language!r} is not one of {', '.join(LANGUAGES)}")
    _current = language


def current():
    """Return the language in use."""
    return _current


@cache
def catalogue(language):
    """Return the catalogue of a language, a flat dictionary from "section.key" to its text."""
    sections = tomllib.loads(files("helpers").joinpath("text", f"{language}.toml").read_text(encoding="utf8"))
    return {f"{section}.{key}": text for section, texts in sections.items() for key, text in texts.items()}


def say(key, **values):
    """Return the text of the catalogue for "section.key", with its {placeholders} filled in.

    Numbers are written as the language writes them. Raises KeyError for an unknown key.
    """
    shown = {k: number(v) if isinstance(v, int | float) else v for k, v in values.items()}
    return catalogue(_current)[key].format(**shown)


def number(value, digits=3):
    """Return a number as text with this many significant digits; a whole number keeps all of its digits.

    The decimal mark is the language's; thousands are not grouped. NaN and infinity are shown as such.
    """
    if value != value or value in (float("inf"), float("-inf")):
        return {"inf": "∞", "-inf": "−∞"}.get(str(float(value)), "NaN")
    whole = float(value).is_integer() or abs(value) >= 10**digits
    pattern = "0" if whole else "@" + "@" * (digits - 1) if abs(value) >= 1e-4 else "0.0E0"
    return format_decimal(value, pattern, locale=_current).replace("-", "−")
