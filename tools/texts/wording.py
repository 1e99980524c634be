"""What is wrong with the words of a text: its language, its numbers, its quotation marks, its terms.

Each function yields findings, one line each, that begin with `at`, the place of the text.
"""

import re
import tomllib
from functools import cache
from pathlib import Path

from notebook_files.directions import run_again
from notebook_files.layout import LANGUAGES
from texts import markdown_parts

MACHINE_PATH = re.compile(r"(?<![\w.])/(?:root|home|tmp|work|Users)/[\w.+-]*")
GLOSSARY = Path(__file__).with_name("glossary.toml")
NAMES = {"en": "English", "de": "German", "sv": "Swedish"}
SHORTEST_ALT = 20  # characters; less describes no picture
POINT = re.compile(r"(?:([A-Za-z]+)[ \u00a0])?(?<![\w.,-])(\d+\.\d+)(?!\w|\.\d)")
NUMBERED = set(  # what a number with a point may follow: it is part of a name then
    """Abschnitt avsnitt Kapitel kapitel Version version Python PyTorch torch Llama Qwen Gemma Phi OLMo GLM EXAONE
    Mistral Falcon GPT arXiv transformers CUDA""".split()
)
OPENING = r"(?<![^\s(\[])%s(?=\w)"  # a mark that the language uses, but not to open
QUOTES = {
    "en": rf'["„]|{OPENING % "”"}',
    "de": rf'["”]|{OPENING % "“"}',
    "sv": '["„“]',
}  # what the language does not write
ONLY = {"en": "“English”", "de": "„Deutsch“", "sv": "”svenska”"}


@cache
def glossary():
    """Return for each language a list of (compiled pattern of a forbidden word, the term, the reason or "")."""
    found = {language: [] for language in LANGUAGES}
    for concept in tomllib.loads(GLOSSARY.read_text(encoding="utf8")).values():
        for language, patterns in concept.get("not", {}).items():
            for pattern in patterns:
                compiled = re.compile(rf"(?<!\w)(?:{pattern})", re.I)
                found[language].append((compiled, concept[language], concept.get("why", "")))
    return found


def short(item, most=60):
    """Return an item as one short line."""
    text = " ".join(str(item).split())
    return text if len(text) <= most else text[: most - 1] + "…"


def wrong_language(source, language, at):
    """Find prose in another language: the whole text, or one of its sentences."""
    found = markdown_parts.language_of(markdown_parts.plain(source))
    if found not in (None, language):
        yield f"{at}: reads as {NAMES[found]}; it should be {NAMES[language]}; translate it"
        return
    for sentence in markdown_parts.foreign_sentences(source, language):
        found = markdown_parts.language_of(sentence)
        yield f"{at}: a sentence reads as {NAMES[found]}, not {NAMES[language]}: {short(sentence)}; translate it"


def typography(parts, language, at):
    """Find numbers and quotation marks that are not written as the language writes them."""
    yield from marks(parts.prose, language, at)
    if language != "en":
        for formula in parts.formulas:
            if found := re.search(r"\d+\.\d+", formula):
                yield f"{at}: decimal point in a formula: {found[0]}; write {found[0].replace('.', '{,}')}"


def decimal_points(text):
    """Return the numbers in a prose text that are written with a point; names of versions and papers are none."""
    found = [number for name, number in POINT.findall(text) if name not in NUMBERED]
    return [number for number in found if not re.fullmatch(r"\d{4}\.\d{4,5}", number)]


def marks(text, language, at):
    """Find a decimal point, a per cent sign or quotation marks of another language in a prose text."""
    for number in decimal_points(text) if language != "en" else ():
        yield f"{at}: decimal point: {number}; write {number.replace('.', ',')}"
    if found := re.search(r"(\d[\d.,]*) +%" if language == "en" else r"(\d[\d.,]*)[^\S\u202f]?%", text):
        space, name = ("", "no space") if language == "en" else ("\u202f", "a narrow no-break space (U+202F)")
        yield f"{at}: {found[0]}; write {found[1]}{space}%, with {name} before %"
    if found := re.search(rf"\S*(?:{QUOTES[language]})(?:\S*\s?){{4}}", text):
        yield f"{at}: not the quotation marks of the language: {short(found[0])}; write {ONLY[language]}"


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


def alternative(alt, language, at, vocabulary=None):
    """Find what is wrong with the alternative text of a picture; vocabulary: only for one that a cell has drawn."""
    if len(alt.strip()) < SHORTEST_ALT:
        yield f"{at}: a picture has no alternative text, or one that is too short; describe what it shows"
        return
    found, remedy = (
        markdown_parts.language_of(alt, vocabulary or markdown_parts.WORDS),
        run_again(at) if vocabulary else "translate it",
    )
    if found not in (None, language):
        yield f"{at}: an alternative text reads as {NAMES[found]}, not {NAMES[language]}; {remedy}"
    yield from words(alt, language, at)


def shown(text, language, at, vocabulary):
    """Find what is wrong with the words that a cell shows as HTML."""
    found = markdown_parts.language_of(text, vocabulary)
    if found not in (None, language):
        yield f"{at}: what it shows reads as {NAMES[found]}, not {NAMES[language]}; {run_again(at)}"
    yield from marks(text, language, at)


def written(source, language, at, with_terms=True):
    """Find what is wrong with a text in Markdown: its language, its typography, its terms, its alternative texts."""
    yield from wrong_language(source, language, at)
    yield from typography(markdown_parts.parts(source), language, at)
    if with_terms:
        yield from terms(markdown_parts.plain(markdown_parts.without_titles(source, language)), language, at)
    for _, alt in markdown_parts.parts(source).images:
        yield from alternative(alt, language, at)
