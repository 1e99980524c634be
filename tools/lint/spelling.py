"""Words that neither hunspell's dictionaries nor the lists in tools/lint/words know.

The lists hold one word a line: names.txt what is the same in every language, en.txt, de.txt and sv.txt the
technical words of one. A word in lower case stands for the same word with a capital, too.
"""

import re
import shutil
import subprocess
from pathlib import Path

from lint import catalogue, stored_outputs
from notebook_files.directions import where
from notebook_files.layout import BARS, CITING, authored
from notebook_files.reading import load, read_text
from texts import languages, markdown_parts
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
    if lacks:
        return f"hunspell's dictionaries {', '.join(lacks)}"
    return ""


def listed(language):
    """Return the words of the lists for a language."""
    lines = []
    for name in ("names", language):
        lines += read_text(LISTS / f"{name}.txt").split("\n")
    return {line for line in lines if line and not line.startswith("#")}


def texts(root):
    """Yield (language, where, prose) for everything that a reader sees: cells, pictures' texts, catalogue, ledger,
    pages. Raises ValueError, naming the file, for one that cannot be read."""
    books = load(root)
    for language, notebooks in books.items():
        for name, notebook in authored(notebooks).items():
            waiting = differences.waiting(books, language, name)
            for cell in notebook.cells:
                if cell.get("id") not in (*BARS, *waiting):
                    at = where(language, name, cell)
                    yield from ((language, at, text) for text in of_cell(cell, language))
        for key, text in catalogue.catalogue_of(root, language).items():
            yield language, f"helpers/language/text/{language}.toml#{key}", catalogue.without_placeholders(text)
        for at, text in catalogue.sentences_of(root, language).items():
            yield language, at, catalogue.without_placeholders(markdown_parts.plain(text or ""))
    for path in sorted([*root.glob("*.md"), *root.glob("tools/**/*.md")]):
        yield "en", path.relative_to(root).as_posix(), words_of(read_text(path), "en")
    for language, pages in markdown_pages.load(root).items():
        for name, page in pages.items():
            yield language, where(language, name), words_of(page.source, language)


def of_cell(cell, language):
    """Yield the prose of a cell: its text and the alternative texts in it and in its outputs."""
    if cell.cell_type == "markdown":
        if cell.get("id") in CITING:
            yield markdown_parts.without_quotes(cell.source)
        else:
            yield words_of(cell.source, language)
    for output in cell.get("outputs", []):
        for _, alt in markdown_parts.html_parts(stored_outputs.shown(output)).images:
            yield alt


def words_of(source, language):
    """Return the prose of a Markdown text with the alternative texts of its pictures, without titles of papers."""
    return languages.without_titles(source, language)


def words(text):
    """Return the words of a prose text as the dictionaries write them, without a possessive 's."""
    text = ENDING.sub(" ", NAME_LIKE.sub(" ", text))
    found = [re.sub(r"'s?$|'s$", "", word.replace("’", "'")) for word in languages.words(text)]
    return [word for word in found if len(word) > 1]


def is_listed(word, known):
    """Tell whether a word is in a list; one in lower case stands for the same with a capital, too."""
    return word in known or word[0].lower() + word[1:] in known


def rejected(language, candidates):
    """Return those of some words that neither the dictionary nor the lists know.

    Raises OSError without hunspell, or if it fails."""
    known = listed(language)
    unlisted = sorted(word for word in set(candidates) if not is_listed(word, known))
    command = ["hunspell", "-d", DICTIONARIES[language], "-i", "utf-8", "-l"]
    try:
        result = subprocess.run(command, input="\n".join(unlisted), capture_output=True, encoding="utf8", check=True)
    except subprocess.CalledProcessError as error:
        raise OSError(f"hunspell failed: {' '.join(error.stderr.split())}") from None
    refused = set(result.stdout.split("\n"))
    return {word for word in unlisted if word in refused}


def unknown(root):
    """Return one line for each unknown word and place. Raises OSError without hunspell and its dictionaries."""
    lacks = missing()
    if lacks:
        raise OSError(f"{lacks} not found: install hunspell with its English (GB), German and Swedish dictionaries")
    found = [(language, at, word) for language, at, text in texts(root) for word in words(text)]
    refused = {}
    for own in DICTIONARIES:
        refused[own] = rejected(own, [word for language, _, word in found if language == own])
    lines = [
        f"{at}: unknown word: {word}; correct it or add it to tools/lint/words/{language}.txt"
        for language, at, word in found
        if word in refused[language]
    ]
    return list(dict.fromkeys(lines))
