"""The words outside of the notebooks, in three languages: the catalogue, the ledger, the assignments' checks."""

import ast
import re
import string
import tomllib

from notebook_files.layout import LANGUAGES
from texts import markdown_parts, wording

PARTS = ("claim", "measures", "found")  # the texts of a claim of the ledger


def toml(path):
    """Return the content of a TOML file, empty if it is not there. Raises ValueError, naming the file, for bad TOML."""
    try:
        return tomllib.loads(path.read_text(encoding="utf8")) if path.exists() else {}
    except tomllib.TOMLDecodeError as error:
        hint = '; write a quotation mark inside a text as the language writes it, or as \\"'
        raise ValueError(f"{path}: {error}{hint if 'after' in str(error) else ''}") from None


def catalogue_of(root, language):
    """Return the catalogue of a language, "section.key" → text."""
    sections = toml(root / "helpers" / "text" / f"{language}.toml")
    return {f"{section}.{key}": text for section, texts in sections.items() for key, text in texts.items()}


def sentences_of(root, language):
    """Return the ledger's texts and the sentences of the assignments' checks in a language.

    A dictionary "file#entry.part.language" → text, None where there is none.
    """
    found = {
        f"helpers/claims.toml#{claim}.{part}.{language}": entry.get(part, {}).get(language)
        for claim, entry in toml(root / "helpers" / "claims.toml").items()
        for part in PARTS
    }
    found |= {f"{at}.{language}": texts.get(language) for at, texts in mistakes_of(root)}
    return found


def mistakes_of(root):
    """Return the mistakes that the assignments' checks know, pairs of "file#task.mistake" and language → sentence.

    They are read from the code, which is not run: calls as `TASK.mistake("name", en="…", de="…", sv="…")`."""
    found = []
    for path in sorted((root / "helpers" / "activities" / "tasks").glob("assignment_*.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
                continue
            texts = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg in LANGUAGES}
            if call.func.attr in ("mistake", "wrong_values") and texts:
                task, name = ast.unparse(call.func.value), ast.literal_eval(call.args[0])
                found.append((f"{path.relative_to(root).as_posix()}#{task}.{name}", texts))
    return found


def vocabulary_of(root):
    """Return for each language the words that tell it apart: frequent ones, and those of its catalogue and ledger."""
    used = {
        language: {
            word.lower()
            for text in (*catalogue_of(root, language).values(), *sentences_of(root, language).values())
            for word in markdown_parts.words(re.sub(r"\{\w*\}", " ", text or ""))
        }
        for language in LANGUAGES
    }
    others = lambda language: set().union(
        *(used[other] | markdown_parts.WORDS[other] for other in LANGUAGES if other != language)
    )
    return {language: markdown_parts.WORDS[language] | (used[language] - others(language)) for language in LANGUAGES}


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
        own, file = catalogue_of(root, language), f"helpers/text/{language}.toml"
        for key in [key for key in english if key not in own]:
            yield f"{file}#{key}: missing; add it"
        for key, text in own.items():
            if key not in english:
                yield f"{file}#{key}: not in the English catalogue; remove it or add it there"
            elif not text.strip():
                yield f"{file}#{key}: empty; write it"
            elif placeholders(text) != placeholders(english[key]):
                yield f"{file}#{key}: the placeholders differ from the English text; use {placeholders(english[key])}"
            yield from wording.words(re.sub(r"\{\w*\}", "⌷", text), language, f"{file}#{key}")


def sentences(root):
    """Find entries of the ledger and of the assignments' checks that lack a language."""
    for language in LANGUAGES:
        for at, text in sentences_of(root, language).items():
            if not text or not text.strip():
                yield f"{at}: missing; write it"
            else:
                yield from wording.words(text, language, at)
    names = [at for at, _ in mistakes_of(root)]
    for at in sorted({name for name in names if names.count(name) > 1}):
        yield f"{at}: two mistakes have this name; rename one"
