"""What is wrong with the words of a text: its language, its numbers, its quotation marks, its terms.

Each function yields findings, one line each, that begin with `at`, the place of the text.
"""

import re
import tomllib
from functools import cache
from pathlib import Path

from texts import languages, markdown_parts

MACHINE_PATH = re.compile(r"(?<![\w.])/(?:root|home|tmp|work|Users)/[\w.+-]*")
GLOSSARY = Path(__file__).with_name("glossary.toml")
NAMES = {"en": "English", "de": "German", "sv": "Swedish"}
SHORTEST_ALT = 20  # characters; less describes no picture
POINT = re.compile(r"(?:([A-Za-z]+)[ \u00a0])?(?<![\w.,-])(\d+\.\d+)(?!\w|\.\d)")
NUMBERED = {  # what a number with a point may follow: it is part of a name then
    "Abschnitt", "avsnitt", "Kapitel", "kapitel", "Version", "version", "Python", "PyTorch", "torch", "Llama", "Qwen",
    "Gemma", "Phi", "OLMo", "GLM", "EXAONE", "Mistral", "Falcon", "GPT", "arXiv", "transformers", "CUDA",
}  # fmt: skip
OPENING = r"(?<![^\s(\[])%s(?=\w)"  # a mark that the language uses, but not to open
QUOTES = {  # what the language does not write
    "en": rf'["„]|{OPENING % "”"}',
    "de": rf'["”]|{OPENING % "“"}',
    "sv": '["„“]',
}
QUOTED_RIGHTLY = {"en": "“English”", "de": "„Deutsch“", "sv": "”svenska”"}


@cache
def glossary():
    """Return for each language a list of (compiled pattern of a forbidden word, the term, the reason or "")."""
    found = {language: [] for language in NAMES}
    for concept in tomllib.loads(GLOSSARY.read_text(encoding="utf8")).values():
        for language, patterns in concept.get("not", {}).items():
            for pattern in patterns:
                compiled = re.compile(rf"(?<!\w)(?:{pattern})", re.IGNORECASE)
                found[language].append((compiled, concept[language], concept.get("why", "")))
    return found


def short(item, most=60):
    """Return an item as one short line."""
    text = " ".join(str(item).split())
    if len(text) <= most:
        return text
    return text[: most - 1] + "…"


def wrong_language(source, language, at):
    """Find prose in another language: the whole text, or one of its sentences."""
    found = languages.language_of(markdown_parts.plain(source))
    if found not in (None, language):
        yield f"{at}: reads as {NAMES[found]}; it should be {NAMES[language]}; translate it"
        return
    for sentence in languages.foreign_sentences(source, language):
        found = languages.language_of(sentence)
        yield f"{at}: a sentence reads as {NAMES[found]}, not {NAMES[language]}: {short(sentence)}; translate it"


def typography(parts, language, at):
    """Find numbers and quotation marks that are not written as the language writes them."""
    yield from marks(parts.prose, language, at)
    if language == "en":
        return
    for formula in parts.formulas:
        found = re.search(r"\d+\.\d+", formula)
        if found:
            yield f"{at}: decimal point in a formula: {found[0]}; write {found[0].replace('.', '{,}')}"


def decimal_points(text):
    """Return the numbers in a prose text that are written with a point; names of versions and papers are none."""
    found = [number for name, number in POINT.findall(text) if name not in NUMBERED]
    return [number for number in found if not re.fullmatch(r"\d{4}\.\d{4,5}", number)]


def marks(text, language, at):
    """Find a decimal point, a per cent sign or quotation marks of another language in a prose text."""
    if language != "en":
        for number in decimal_points(text):
            yield f"{at}: decimal point: {number}; write {number.replace('.', ',')}"
    yield from per_cent(text, language, at)
    found = re.search(rf"\S*(?:{QUOTES[language]})(?:\S*\s?){{4}}", text)
    if found:
        right = QUOTED_RIGHTLY[language]
        yield f"{at}: not the quotation marks of the language: {short(found[0])}; write {right}"


def per_cent(text, language, at):
    """Find a per cent sign that does not stand as the language wants it to."""
    if language == "en":
        found = re.search(r"(\d[\d.,]*) +%", text)
        if found:
            yield f"{at}: {found[0]}; write {found[1]}%, with no space before %"
    else:
        found = re.search(r"(\d[\d.,]*)[^\S\u202f]?%", text)
        if found:
            yield f"{at}: {found[0]}; write {found[1]}\u202f%, with a narrow no-break space (U+202F) before %"


def terms(text, language, at):
    """Find words of a prose text for which the glossary has another one."""
    for pattern, term, why in glossary()[language]:
        for found in {match[0] for match in pattern.finditer(text)}:
            word = re.search(rf"{re.escape(found)}[\w-]*", text)[0]
            reason = f" ({why})" if why else ""
            yield f"{at}: “{word}” is not in the glossary (tools/texts/glossary.toml); write {term}{reason}"


def words(text, language, at):
    """Find numbers, quotation marks and terms that are not those of the language."""
    yield from marks(text, language, at)
    yield from terms(text, language, at)


def alternative(alt, language, at, vocabulary=languages.WORDS, remedy="translate it"):
    """Find what is wrong with the alternative text of a picture.

    vocabulary: language → the words that tell it apart. remedy: what to do about one in another language."""
    if len(alt.strip()) < SHORTEST_ALT:
        yield f"{at}: a picture has no alternative text, or one that is too short; describe what it shows"
        return
    found = languages.language_of(alt, vocabulary)
    if found not in (None, language):
        yield f"{at}: an alternative text reads as {NAMES[found]}, not {NAMES[language]}; {remedy}"
    yield from words(alt, language, at)


def shown(text, language, at, vocabulary, remedy):
    """Find what is wrong with the words that a cell shows; see `alternative`."""
    found = languages.language_of(text, vocabulary)
    if found not in (None, language):
        yield f"{at}: what it shows reads as {NAMES[found]}, not {NAMES[language]}; {remedy}"
    yield from marks(text, language, at)


def written(source, language, at, with_terms=True):
    """Find what is wrong with a text in Markdown: its language, its typography, its terms, its alternative texts."""
    parts = markdown_parts.parts(source)
    yield from wrong_language(source, language, at)
    yield from typography(parts, language, at)
    if with_terms:
        yield from terms(languages.without_titles(source, language), language, at)
    for _, alt in parts.images:
        yield from alternative(alt, language, at)
