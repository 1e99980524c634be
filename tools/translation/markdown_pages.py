"""What keeps the German and Swedish pages, notebooks/<lang>/*.md, in step with the English ones.

A page is treated as one Markdown cell. The first line of a translation is the mark of the English text that it
was made from: <!-- translation of 0123456789ab -->, with its own mark after `as` where other numbers are meant.
"""

import re

import nbformat

from notebook_files.cell_sources import digest
from notebook_files.directions import where
from notebook_files.layout import LANGUAGES, OTHERS
from texts import wording
from translation import differences

MARK = re.compile(r"\A<!-- translation of ([0-9a-f]*)(?: as ([0-9a-f]*))? -->\n")


def load(root):
    """Return the pages, language → name → a Markdown cell with the text and the mark."""
    found = {language: {} for language in LANGUAGES}
    for language in LANGUAGES:
        for path in sorted((root / "notebooks" / language).glob("*.md")):
            text = path.read_text(encoding="utf8")
            mark, source = MARK.match(text), MARK.sub("", text)
            metadata = {"translation": {"of": mark[1], "as": mark[2]}} if mark else {}
            found[language][path.name] = nbformat.v4.new_markdown_cell(source, metadata=metadata)
    return found


def check(root):
    """Return what is wrong with the pages: missing, behind, different from the original, or badly worded."""
    pages, findings = load(root), []
    english = pages["en"]
    for language, own in pages.items():
        findings += [f"{where(language, n)}: missing; translate {where('en', n)}" for n in english.keys() - own.keys()]
        findings += [f"{where(language, n)}: has no English original; delete it" for n in own.keys() - english.keys()]
        for name, page in own.items():
            at = where(language, name)
            if language != "en" and name in english:
                words = f"{name.removesuffix('.md')} --lang {language}"
                findings += differences.compare_text(english[name], page, at, words)
            if not differences.is_copy(english.get(name), page) or language == "en":
                findings += wording.written(page.source, language, at)
            if found := wording.MACHINE_PATH.search(page.source):
                findings.append(f"{at}: {found[0]} is a path of one machine; take it out")
    return findings


def translated(root, page, languages=OTHERS):
    """Mark a page as up to date, on the author's word, in these languages; return the lines of the report.

    page: its name, such as "teachers". Raises ValueError, and writes nothing, if there is no such page.
    """
    pages, name = load(root), page.removesuffix(".md") + ".md"
    for language in ("en", *languages):
        if name not in pages[language]:
            raise ValueError(f"there is no {where(language, name)}; for a lesson name the cells, too")
    for language in languages:
        english, own = pages["en"][name].source, pages[language][name].source
        itself = f" as {digest(own)}" if differences.other_numbers(english, own) else ""
        text = f"<!-- translation of {digest(english)}{itself} -->\n{own}"
        (root / "notebooks" / language / name).write_text(text, encoding="utf8", newline="\n")
    return [f"{where(language, name)}: marked" for language in languages]
