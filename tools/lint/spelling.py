"""Words that neither hunspell's dictionaries nor the lists in tools/lint/words know.

The lists hold one word a line: names.txt what is the same in every language, en.txt, de.txt and sv.txt the
technical words of one. A word in lower case stands for the same word with a capital, too.
"""

import re
import shutil
import subprocess
from pathlib import Path

from lint import catalogue, stored_outputs
from notebook_files import layout
from notebook_files.directions import where
from notebook_files.layout import BARS, LANGUAGES, authored
from notebook_files.reading import load
from texts import markdown_parts
from translation import differences, markdown_pages

DICTIONARIES = {"en": "en_GB", "de": "de_DE", "sv": "sv_SE"}
NAME_LIKE = re.compile(  # what is no word: identifiers, and names with a digit such as float16
    r"(?<!\w)[A-Za-z]\w*(?:[._]\w+)+(?!\w)|(?<!\w)(?:[A-Za-z]+\d|\d+[A-Za-z])\w*"
)
ENDING = re.compile(r"(?<=\w):(?:s|n|ns|en|ens|er|erna)(?!\w)")  # of a Swedish abbreviation, as in MLP:n
LISTS = Path(__file__).with_name("words")


def missing():
    """Return what hunspell lacks on this machine, as words for a message; "" if nothing."""
    if not shutil.which("hunspell"):
        return "hunspell"
    there = subprocess.run(["hunspell", "-D"], input="", capture_output=True, text=True).stderr
    lacks = [name for name in DICTIONARIES.values() if not re.search(rf"/{name}\s", there + "\n")]
    return f"hunspell's dictionaries {', '.join(lacks)}" if lacks else ""


def listed(language):
    """Return the words of the lists for a language."""
    return {
        word
        for name in ("names", language)
        for word in (LISTS / f"{name}.txt").read_text(encoding="utf8").split("\n")
        if word and not word.startswith("#")
    }


def texts(root):
    """Yield (language, where, prose) for everything that a reader sees: cells, pictures' texts, catalogue, ledger, pages."""
    books = load(root)
    for language in LANGUAGES:
        for name, notebook in authored(books[language]).items():
            waiting = differences.waiting(books, language, name)
            for cell in notebook.cells:
                if cell.get("id") not in (*BARS, *waiting):
                    yield from ((language, where(language, name, cell), text) for text in of_cell(cell, language))
        for key, text in catalogue.catalogue_of(root, language).items():
            yield language, f"helpers/text/{language}.toml#{key}", re.sub(r"\{\w*\}", " ", text)
        for at, text in catalogue.sentences_of(root, language).items():
            yield language, at, re.sub(r"\{\w*\}", " ", markdown_parts.plain(text or ""))
    for path in sorted([*root.glob("*.md"), *root.glob("tools/*.md")]):
        source = re.sub(r"^    .*$", "", path.read_text(encoding="utf8"), flags=re.M)  # indented code
        yield "en", path.relative_to(root).as_posix(), words_of(source, "en")
    for language, names in markdown_pages.load(root).items():
        yield from ((language, where(language, name), words_of(page.source, language)) for name, page in names.items())


def of_cell(cell, language):
    """Yield the prose of a cell: its text and the alternative texts in it and in its outputs."""
    if cell.cell_type == "markdown":
        source = markdown_parts.without_quotes(cell.source) if cell.get("id") in layout.CITING else cell.source
        yield words_of(source, language)
    for output in cell.get("outputs", []):
        source = stored_outputs.shown(output)
        yield from (alt for _, alt in markdown_parts.parts(source).images)


def words_of(source, language):
    """Return the prose of a Markdown text with the alternative texts of its pictures, without titles of papers."""
    return markdown_parts.plain(markdown_parts.without_titles(source, language))


def words(text):
    """Return the words of a prose text as the dictionaries write them, without a possessive 's."""
    text = ENDING.sub(" ", NAME_LIKE.sub(" ", text))
    found = (re.sub(r"'s?$|'s$", "", word.replace("’", "'")) for word in markdown_parts.words(text))
    return [word for word in found if len(word) > 1]


def rejected(language, candidates):
    """Return those of some words that neither the dictionary nor the lists know. Raises OSError without hunspell."""
    known = listed(language)
    unknown = sorted(w for w in set(candidates) if w not in known and w[0].lower() + w[1:] not in known)
    command = ["hunspell", "-d", DICTIONARIES[language], "-i", "utf-8", "-l"]
    result = subprocess.run(command, input="\n".join(unknown), capture_output=True, encoding="utf8", check=True)
    refused = set(result.stdout.split("\n"))
    return {word for word in unknown if word in refused}


def unknown(root):
    """Return one line for each unknown word and place. Raises OSError without hunspell and its dictionaries."""
    if lacks := missing():
        raise OSError(f"{lacks} not found: install hunspell with its English (GB), German and Swedish dictionaries")
    found = [(language, at, word) for language, at, text in texts(root) for word in words(text)]
    refused = {lang: rejected(lang, [word for other, _, word in found if other == lang]) for lang in LANGUAGES}
    lines = [
        f"{at}: unknown word: {word}; correct it or add it to tools/lint/words/{language}.txt"
        for language, at, word in found
        if word in refused[language]
    ]
    return list(dict.fromkeys(lines))
