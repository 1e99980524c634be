"""The words outside of the notebooks, in three languages: the catalogue, the ledger, the assignments' checks."""

import re
import string
import tomllib

from notebook_files.layout import LANGUAGES
from notebook_files.reading import read_text
from texts import languages, wording

PARTS = ("claim", "measures", "found")  # the texts of a claim of the ledger


def toml(path):
    """Return the content of a TOML file, empty if it is not there. Raises ValueError, naming the file, for bad TOML."""
    if not path.exists():
        return {}
    try:
        return tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        hint = ""
        if "after" in str(error):
            hint = '; write a quotation mark inside a text as the language writes it, or as \\"'
        raise ValueError(f"{path}: {error}{hint}") from None


def catalogue_of(root, language):
    """Return the catalogue of a language, "section.key" → text; what has not this form is left out."""
    sections = toml(root / "helpers" / "language" / "text" / f"{language}.toml")
    found = {}
    for section, texts in sections.items():
        if isinstance(texts, dict):
            found |= {f"{section}.{key}": text for key, text in texts.items() if isinstance(text, str)}
    return found


def text_of(entry, part, language):
    """Return a text of an entry of the ledger in a language, None if there is none."""
    texts = entry.get(part) if isinstance(entry, dict) else None
    text = texts.get(language) if isinstance(texts, dict) else None
    return text if isinstance(text, str) else None


def sentences_of(root, language):
    """Return the ledger's texts and the sentences of the assignments' checks in a language.

    A dictionary "file#entry.part.language" → text, None where there is none.
    """
    found = {
        f"helpers/activities/claims.toml#{claim}.{part}.{language}": text_of(entry, part, language)
        for claim, entry in toml(root / "helpers" / "activities" / "claims.toml").items()
        for part in PARTS
    }
    found |= {f"{at}.{language}": texts.get(language) for at, texts in mistakes_of(root)}
    return found


def mistakes_of(root):
    """Return the mistakes that the assignments' checks know, pairs of "file#task.mistake" and language → sentence.

    What has not the form `[task.mistake]` with texts in it counts as a mistake without sentences."""
    found = []
    for path in sorted((root / "helpers" / "activities" / "tasks").glob("assignment_*.toml")):
        file = path.relative_to(root).as_posix()
        for task, mistakes in toml(path).items():
            if not isinstance(mistakes, dict):
                found.append((f"{file}#{task}", {}))
                continue
            for name, texts in mistakes.items():
                sentences = {}
                if isinstance(texts, dict):
                    sentences = {language: text for language, text in texts.items() if isinstance(text, str)}
                found.append((f"{file}#{task}.{name}", sentences))
    return found


def without_placeholders(text, instead=" "):
    """Return a text of the catalogue without its placeholders."""
    return re.sub(r"\{\w*\}", instead, text)


def vocabulary_of(root):
    """Return for each language the words that tell it apart: frequent ones, and those of its catalogue and ledger."""
    used = {}
    for language in LANGUAGES:
        texts = [*catalogue_of(root, language).values(), *sentences_of(root, language).values()]
        words = [word for text in texts for word in languages.words(without_placeholders(text or ""))]
        used[language] = {word.lower() for word in words}
    vocabulary = {}
    for language in LANGUAGES:
        of_others = set()
        for other in LANGUAGES:
            if other != language:
                of_others |= used[other] | languages.WORDS[other]
        vocabulary[language] = languages.WORDS[language] | (used[language] - of_others)
    return vocabulary


def placeholders(text):
    """Return the names of the placeholders of a text, sorted; None if its braces do not match."""
    try:
        return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name is not None)
    except ValueError:
        return None


def check(root):
    """Find what is wrong with the texts of the catalogue, of the ledger and of the assignments' checks."""
    yield from catalogue(root)
    yield from sentences(root)


def catalogue(root):
    """Find texts of the catalogue that a language lacks or has alone, and placeholders that differ."""
    english = catalogue_of(root, "en")
    for language in LANGUAGES:
        own = catalogue_of(root, language)
        file = f"helpers/language/text/{language}.toml"
        yield from without_form(root, language)
        for key in english:
            if key not in own:
                yield f"{file}#{key}: missing; add it"
        for key, text in own.items():
            at = f"{file}#{key}"
            if key not in english:
                yield f"{at}: not in the English catalogue; remove it or add it there"
            elif not text.strip():
                yield f"{at}: empty; write it"
            elif placeholders(text) != placeholders(english[key]):
                yield f"{at}: the placeholders differ from the English text; use {placeholders(english[key])}"
            yield from wording.words(without_placeholders(text, "⌷"), language, at)


def without_form(root, language):
    """Find what is no text in a section of the catalogue of a language."""
    file = f"helpers/language/text/{language}.toml"
    for section, texts in toml(root / "helpers" / "language" / "text" / f"{language}.toml").items():
        if not isinstance(texts, dict):
            yield f"{file}#{section}: stands in no section; move it below a [section]"
            continue
        for key, text in texts.items():
            if not isinstance(text, str):
                yield f"{file}#{section}.{key}: is no text; write it in quotation marks"


def sentences(root):
    """Find entries of the ledger and of the assignments' checks that lack a language."""
    for language in LANGUAGES:
        for at, text in sentences_of(root, language).items():
            if not text or not text.strip():
                yield f"{at}: missing; write it"
            else:
                yield from wording.words(text, language, at)
