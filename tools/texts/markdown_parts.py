"""Markdown and HTML taken apart: prose, formulas, code and links.

Markdown is read by markdown-it-py, with the tables of GitHub and the formulas of Jupyter, HTML by the standard
library's parser, which tells each tag of a fragment, also one that is closed elsewhere or never.
"""

import re
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser

from markdown_it import MarkdownIt

FORMULA = re.compile(
    r"(?<!\\)\$\$(?P<display>.+?)(?<!\\)\$\$|(?<![\\$])\$(?![\s$])(?P<inline>.+?)(?<![\\\s])\$", re.DOTALL
)
BARE_ADDRESS = re.compile(r"https?://[^\s<>)]+")
QUOTED = re.compile(r"[“„”][^“”„\n]+[“”]|\"[^\"\n]+\"")
TAKEN_OUT = " ⌷ "  # what stands in the prose for a formula and for code


# the readers


class Reader(MarkdownIt):
    """Markdown as Jupyter and GitHub read it: links stay as they are written, and formulas are no Markdown."""

    def __init__(self):
        super().__init__("commonmark")
        self.enable(["table", "strikethrough"])
        self.inline.ruler.before("escape", "formula", formula_in_a_line)
        interrupts = {"alt": ["paragraph", "reference", "blockquote", "list"]}
        self.block.ruler.before("code", "formula", formula_of_its_own, interrupts)

    def normalizeLink(self, url):  # noqa: N802, the name is the library's
        return url

    def validateLink(self, url):  # noqa: N802, the name is the library's
        return True


def formula_in_a_line(state, silent):
    """Read a formula between dollar signs; a rule of markdown-it."""
    if state.src[state.pos] != "$":
        return False
    found = FORMULA.match(state.src, state.pos, state.posMax)
    if found is None:
        return False
    if not silent:
        state.push("formula", "", 0).content = inside(found)
    state.pos = found.end()
    return True


def formula_of_its_own(state, start_line, end_line, silent):
    """Read a formula between double dollar signs that fills whole lines; a rule of markdown-it."""
    begin = state.bMarks[start_line] + state.tShift[start_line]
    if not state.src.startswith("$$", begin):
        return False
    found = FORMULA.match(state.src, begin, state.eMarks[end_line - 1])
    if found is None:
        return False
    last_line = start_line + found[0].count("\n")
    if state.src[found.end() : state.eMarks[last_line]].strip():  # words follow, so it belongs to a paragraph
        return False
    if not silent:
        state.push("formula", "", 0).content = inside(found)
    state.line = last_line + 1
    return True


def inside(found):
    """Return what stands between the dollar signs of a match of FORMULA."""
    return found["display"] or found["inline"]


@cache
def tokens(source):
    """Return the tokens of a Markdown text, as markdown-it-py makes them."""
    return Reader().parse(source)


@dataclass
class Parts:
    """What a text consists of. The prose is a list of blocks: paragraphs, headings, list items, cells of tables."""

    formulas: list = field(default_factory=list)
    spans: list = field(default_factory=list)  # code, in a line and in blocks
    links: list = field(default_factory=list)  # targets, also of images
    images: list = field(default_factory=list)  # (target, alternative text)
    tags: list = field(default_factory=list)  # of HTML, "/a" for the end of one
    anchors: list = field(default_factory=list)  # ids and names of HTML elements
    drawings: list = field(default_factory=list)  # what names each SVG drawing to a screen reader, "" for nothing
    blocks: list = field(default_factory=list)
    bold_marks: int = 0

    @property
    def prose(self):
        """The words that are left, the texts of links among them; a blank line between two blocks."""
        return "\n\n".join(self.blocks)


class HtmlReader(HTMLParser):
    """Collects the tags, links, pictures and words of HTML in Parts; `words` are those of the last fragment."""

    def __init__(self, parts):
        super().__init__()
        self.parts = parts
        self.words = []

    def handle_starttag(self, tag, attrs):
        self.parts.tags.append(tag)
        attributes = {name: value or "" for name, value in attrs}
        target = attributes.get("href") or attributes.get("src")
        if target:
            self.parts.links.append(target)
        if tag == "img":
            self.parts.images.append((target, attributes.get("alt", "")))
        self.parts.anchors += [attributes[name] for name in ("id", "name") if name in attributes]
        if tag == "svg":
            self.parts.drawings.append(attributes.get("aria-label", ""))
        self.words.append(" ")

    def handle_endtag(self, tag):
        self.parts.tags.append(f"/{tag}")
        self.words.append(" ")

    def handle_data(self, data):
        self.words.append(data)

    def read(self, fragment):
        """Read a fragment and return its words."""
        self.words = []
        self.feed(fragment)
        self.close()
        self.reset()
        return "".join(self.words)


class LineReader:
    """Collects what stands in a block of Markdown in Parts; a method for each kind of token. See `parts`."""

    def __init__(self, parts, keep_emphasised, with_links):
        self.parts = parts
        self.keep_emphasised = keep_emphasised
        self.with_links = with_links
        self.html = HtmlReader(parts)
        self.prose = []
        self.starts = []  # of the links and emphasised words that are open: how many pieces of prose were before

    def read(self, tokens_of_line):
        """Read a block's tokens and return its prose."""
        for token in tokens_of_line:
            method = getattr(self, token.type, None)
            if method is not None:
                method(token)
        text = "".join(self.prose)
        self.parts.bold_marks += text.count("**")  # those that make nothing bold
        return without_addresses(text, self.parts)

    def text(self, token):
        self.prose.append(token.content)

    text_special = text

    def softbreak(self, _):
        self.prose.append("\n")

    hardbreak = softbreak

    def code_inline(self, token):
        self.parts.spans.append(token.content.strip())
        self.prose.append(TAKEN_OUT)

    def formula(self, token):
        self.parts.formulas.append(token.content)
        self.prose.append(TAKEN_OUT)

    def html_inline(self, token):
        self.prose.append(self.html.read(token.content))

    def image(self, token):
        self.parts.links.append(token.attrs["src"])
        self.parts.images.append((token.attrs["src"], token.content))
        self.prose.append(f" {token.content} " if self.with_links else " ")

    def link_open(self, token):
        self.parts.links.append(token.attrs["href"])
        self.starts.append(len(self.prose))

    def link_close(self, token):
        is_address = token.markup == "autolink"
        self.close(keep=self.with_links and not is_address)

    def em_open(self, _):
        self.starts.append(len(self.prose))

    def em_close(self, _):
        self.close(keep=self.keep_emphasised("".join(self.prose[self.starts[-1] :])))

    def strong_open(self, _):
        self.parts.bold_marks += 1

    strong_close = strong_open

    def close(self, keep):
        """Keep or leave out the prose since the last link or emphasis was opened."""
        start = self.starts.pop()
        if not keep:
            self.prose[start:] = [" "]


# the parts of a text


def without_formulas(text, parts):
    """Return a text without its formulas, which are noted in Parts."""

    def take(found):
        parts.formulas.append(inside(found))
        return TAKEN_OUT

    return FORMULA.sub(take, text)


def without_addresses(text, parts):
    """Return a text without the web addresses that are written out in it, which are noted in Parts."""

    def take(found):
        parts.links.append(found[0].rstrip(".,;"))
        return " "

    return BARE_ADDRESS.sub(take, text)


def html_parts(source):
    """Take HTML apart into Parts."""
    parts = Parts()
    words = HtmlReader(parts).read(source)
    parts.blocks.append(without_addresses(words, parts))
    return parts


def parts(source, keep_emphasised=lambda _: True, with_links=True):
    """Take a Markdown text apart into Parts.

    keep_emphasised: tells of emphasised words whether they belong to the prose. with_links: whether the texts of links
    do."""
    parts = Parts()
    for token in tokens(source):
        if token.type in ("fence", "code_block"):
            parts.spans.append(token.content)
        elif token.type == "formula":
            parts.formulas.append(token.content)
            parts.blocks.append(TAKEN_OUT)
        elif token.type == "html_block":
            words = HtmlReader(parts).read(token.content)
            parts.blocks.append(without_addresses(without_formulas(words, parts), parts))
        elif token.type == "inline":
            parts.blocks.append(LineReader(parts, keep_emphasised, with_links).read(token.children))
    return parts


def plain(source):
    """Return the prose of a Markdown text: without formulas, code, addresses and tags."""
    return parts(source).prose


def without_quotes(source):
    """Return the prose of a Markdown text without what may be in another language: names of links, emphasised and
    quoted words."""
    return QUOTED.sub(" ", parts(source, keep_emphasised=lambda _: False, with_links=False).prose)


def without_passages(source, is_left_out):
    """Return the prose of a Markdown text without those emphasised and quoted passages of which a function says so."""
    prose = parts(source, keep_emphasised=lambda words: not is_left_out(words)).prose
    return QUOTED.sub(lambda found: " " if is_left_out(found[0]) else found[0], prose)


def headings(source):
    """Return the texts of the headings of a Markdown text, code and formulas as they are written."""
    found = []
    after_opening = False
    for token in tokens(source):
        if after_opening:
            found.append("".join(text_of_heading(child) for child in token.children).strip())
        after_opening = token.type == "heading_open"
    return found


def text_of_heading(token):
    """Return what a reader sees of a token of a heading."""
    if token.type == "formula":
        return f"${token.content}$"
    if token.type in ("text", "text_special", "code_inline", "image"):
        return token.content
    return ""


def shape(source):
    """Return what a translation keeps of a text's outline: heading levels, list items, table rows and bold words."""
    types = [token.type for token in tokens(source)]
    return {
        "headings": [token.tag for token in tokens(source) if token.type == "heading_open"],
        "list items": types.count("list_item_open"),
        "table rows": types.count("tr_open"),
        "bold marks **": parts(source).bold_marks,
    }


def numbers(source, comma):
    """Return the numbers of two digits or more in the prose of a text; comma: what stands for one between digits."""
    found = re.findall(r"\d+(?:[.,\u00a0\u202f]\d+)*", plain(source))
    return {re.sub(r"[\u00a0\u202f]", "", number).replace(",", comma) for number in found if len(number) > 1}


# the forms in which all languages agree


def same_formula(formula):
    """Return a formula in the form in which all languages agree: with a decimal point, without words and spaces."""
    without_words = re.sub(r"\\text\{[^{}]*\}", r"\\text{}", formula)
    return re.sub(r"\s+", "", without_words.replace("{,}", "."))


def same_link(target):
    """Return a link's target in the form in which all languages agree: without the language, and without an anchor
    inside the project, which is made of the words of a heading."""
    if re.match(r"(https?:)?//(en|de|sv)\.(m\.)?wikipedia\.org/", target):
        return "wikipedia"
    if re.match(r"\w+:", target):
        return target
    return re.sub(r"(^|/)(en|de|sv)/", r"\1·/", target.split("#")[0])
