"""What keeps the German and Swedish pages, notebooks/<lang>/*.md, in step with the English ones.

A page is treated as one Markdown cell. The first line of a translation is the mark of the English text that it
was made from: <!-- translation of 0123456789ab -->, with its own mark after `as` where other numbers are meant.
"""

import re

import nbformat

from notebook_files.cell_sources import digest
from notebook_files.directions import where
from notebook_files.layout import LANGUAGES, OTHERS
from notebook_files.reading import read_text
from texts import wording
from translation import differences

MARK = re.compile(r"\A<!-- translation of ([0-9a-f]*)(?: as ([0-9a-f]*))? -->\n")


def load(root):
    """Return the pages, language → name → a Markdown cell with the text and the mark.

    Raises ValueError, naming the file, for a page that is not UTF-8."""
    found = {language: {} for language in LANGUAGES}
    for language in LANGUAGES:
        for path in sorted((root / "notebooks" / language).glob("*.md")):
            text = read_text(path)
            source = MARK.sub("", text)
            mark = MARK.match(text)
            metadata = {"translation": {"of": mark[1], "as": mark[2]}} if mark else {}
            found[language][path.name] = nbformat.v4.new_markdown_cell(source, metadata=metadata)
    return found


def check(root):
    """Return what is wrong with the pages: missing, behind, different from the original, or badly worded."""
    pages = load(root)
    english = pages["en"]
    findings = []
    for language, own in pages.items():
        missing = sorted(english.keys() - own.keys())
        extra = sorted(own.keys() - english.keys())
        findings += [f"{where(language, name)}: missing; translate {where('en', name)}" for name in missing]
        findings += [f"{where(language, name)}: has no English original; delete it" for name in extra]
        for name, page in own.items():
            at = where(language, name)
            if language != "en" and name in english:
                words = f"{name.removesuffix('.md')} --lang {language}"
                findings += differences.compare_text(english[name], page, at, words)
            if not differences.is_copy(english.get(name), page) or language == "en":
                findings += wording.written(page.source, language, at)
            found = wording.MACHINE_PATH.search(page.source)
            if found:
                findings.append(f"{at}: {found[0]} is a path of one machine; take it out")
    return findings


def translated(root, page, languages=OTHERS):
    """Mark a page as up to date, on the author's word, in these languages; return the lines of the report.

    page: its name, such as "teachers". Raises ValueError, and writes nothing, if there is no such page.
    """
    pages = load(root)
    name = page.removesuffix(".md") + ".md"
    for language in ("en", *languages):
        if name not in pages[language]:
            raise ValueError(f"there is no {where(language, name)}; for a lesson name the cells, too")
    for language in languages:
        english = pages["en"][name].source
        own = pages[language][name].source
        itself = f" as {digest(own)}" if differences.other_numbers(english, own) else ""
        text = f"<!-- translation of {digest(english)}{itself} -->\n{own}"
        (root / "notebooks" / language / name).write_text(text, encoding="utf8", newline="\n")
    return [f"{where(language, name)}: marked" for language in languages]
