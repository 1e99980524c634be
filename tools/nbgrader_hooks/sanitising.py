"""What a student wrote, without anything that acts in a browser.

The formgrader shows answers and outputs as HTML on a page that may change marks, and the feedback shows them to
students. Here every text cell becomes the HTML that a reader would see, cleaned by bleach, and of the outputs only
text, cleaned HTML and pictures stay. The file that was submitted is not touched.
"""

import base64
import binascii
import html
import re
from urllib.parse import urlsplit

from bleach.css_sanitizer import CSSSanitizer
from bleach.html5lib_shim import Filter
from bleach.sanitizer import Cleaner
from math_core import LatexError, LatexToMathML
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbgrader.preprocessors import ClearHiddenTests, NbGraderPreprocessor

from .answer_digests import RECORD
from .hidden_checks import hidden_lines, without_lines

TEXT_TAGS = (
    "a abbr b blockquote br caption cite code col colgroup dd del details dfn div dl dt em figcaption figure h1 h2 h3 "
    "h4 h5 h6 hr i img ins kbd li mark ol p pre q s samp small span strong sub summary sup table tbody td tfoot th "
    "thead tr u ul var"
).split()
FORMULA_TAGS = (
    "math menclose mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms mspace msqrt mstyle "
    "msub msubsup msup mtable mtd mtext mtr munder munderover"
).split()
FORMULA_ATTRIBUTES = (
    "accent accentunder columnalign display displaystyle fence form linethickness lspace mathvariant maxsize minsize "
    "notation rspace scriptlevel separator stretchy symmetric width"
).split()
STYLES = (  # none of them moves anything out of its place or loads anything
    "background-color border-bottom border-collapse border-left border-right border-top color font-style font-weight "
    "justify-items overflow padding-left padding-right text-align text-decoration vertical-align white-space"
).split()
ANYWHERE = ("alt", "dir", "lang", "style", "title")
SIZES = {"colspan", "height", "rowspan", "start", "width"}
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml")  # as an <img> none of them acts
SHOWN = ("text/plain", "text/html", "image/png", "image/jpeg")  # what is kept of an output
BLANK_LINE = re.compile(r"\n(?=[ \t\v\f]*\n)")  # the newline before one
OWN_BOX = '<div class="tex2jax_ignore" style="overflow: auto;">'  # no MathJax in it, and nothing reaches out of it


def is_picture_address(address):
    """Return whether an address holds a picture itself, as data."""
    kind, _, data = address.partition(";base64,")
    return kind.removeprefix("data:") in PICTURES and kind.startswith("data:") and is_base64(data)


def is_base64(data):
    """Return whether a text is the base64 of something."""
    try:
        base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def leads_to_a_page(address):
    """Return whether a link leads to a page elsewhere or to somebody's mail, and not to a script or into the server."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return (parts.scheme in ("http", "https") and bool(parts.netloc)) or parts.scheme == "mailto"


def is_harmless(tag, name, value):
    """Return whether bleach keeps an attribute. Neither id, name nor the page's own classes are among them."""
    if name in ANYWHERE:
        return True
    if tag in FORMULA_TAGS:
        return name in FORMULA_ATTRIBUTES
    if tag == "img" and name == "src":
        return is_picture_address(value)
    if tag == "a" and name == "href":
        return leads_to_a_page(value)
    if tag in ("span", "div") and name == "class":  # the colours of code: <div class="highlight"><span class="nf">
        return value in ("highlight", "tex2jax_ignore") or (tag == "span" and value.isalnum() and len(value) <= 2)
    if name in SIZES:
        return value.isdecimal() and len(value) <= 4
    return tag == "details" and name == "open"


class EmptyAlternatives(Filter):
    """Gives pictures without an alternative text an empty one; nbconvert would write an English sentence there."""

    def __iter__(self):
        for token in super().__iter__():
            if token.get("name") == "img" and isinstance(token.get("data"), dict):
                token["data"].setdefault((None, "alt"), "")
            yield token


CLEANER = Cleaner(
    tags={*TEXT_TAGS, *FORMULA_TAGS},
    attributes=is_harmless,
    protocols={"http", "https", "mailto", "data"},
    css_sanitizer=CSSSanitizer(allowed_css_properties=STYLES),
    filters=[EmptyAlternatives],
)


class ReadableText(IPythonRenderer):
    """Writes Markdown as HTML: formulas as MathML, which every browser shows without a network."""

    def __init__(self, attachments):
        super().__init__(escape=False, exclude_anchor_links=True, attachments=attachments)

    def inline_math(self, body):
        return formula(body, display=False)

    def block_math(self, body):
        return formula(body, display=True)

    def latex_environment(self, name, body):
        return formula(f"\\begin{{{name}}}{body}\\end{{{name}}}", display=True)

    def block_mermaidjs(self, code):
        return f"<pre><code>{html.escape(code)}</code></pre>"

    def task_list_item(self, text, checked=False):
        return f"<li>{'☑' if checked else '☐'} {text}</li>\n"


def formula(text, display):
    """Return a formula as MathML, or its source if it cannot be read, as may happen with what a student wrote."""
    try:
        return LatexToMathML().convert_with_local_state(text, displaystyle=display)
    except LatexError:
        return f"<code>{html.escape(text)}</code>"


def clean_html(text):
    """Return HTML in which nothing acts: no script, event, form, frame or foreign address.

    What is cut shows as text.
    """
    try:
        return CLEANER.clean(text)
    except RecursionError:  # thousands of tags in one another
        return f"<pre>{html.escape(text)}</pre>"


def html_of(markdown, attachments=None):
    """Return a text in Markdown as clean HTML. attachments is a dictionary name → {type: base64} of its pictures."""
    pictures = {name: kinds for name, kinds in (attachments or {}).items() if isinstance(kinds, dict)}
    text = MarkdownWithMath(renderer=ReadableText(pictures)).render(markdown)
    return clean_html(text + not_shown(pictures, text))


def not_shown(pictures, text):
    """Return the pictures of a text cell that do not stand in its HTML, since nothing names them or in another way."""
    elements = []
    for name, kinds in pictures.items():
        for kind, data in kinds.items():
            if kind in PICTURES and isinstance(data, str) and data.strip() not in text:
                elements.append(f'<p><img alt="{html.escape(name)}" src="data:{kind};base64,{data.strip()}"></p>')
    return "\n".join(elements)


def boxed(clean):
    """Return clean HTML as one element without blank lines, which Markdown leaves as it is, and MathJax as well."""
    text = clean.strip().replace("\r", "&#13;")
    return OWN_BOX + BLANK_LINE.sub("&#10;", text) + "</div>"


def picture_of(svg):
    """Return an SVG picture as an image: there it can neither run anything nor load anything."""
    return f'<img alt="" src="data:image/svg+xml;base64,{base64.b64encode(svg.encode("utf8")).decode()}">'


def clean_data(data, hidden):
    """Return what is shown of the data of an output, type → content. hidden are the lines of hidden checks."""
    texts = {kind: value for kind, value in data.items() if isinstance(value, str)}
    clean = {kind: texts[kind] for kind in SHOWN if kind in texts}
    for kind in ("image/png", "image/jpeg"):
        if kind in clean and not is_base64(clean[kind]):
            del clean[kind]
    if "text/html" in texts:
        clean["text/html"] = boxed(clean_html(texts["text/html"]))
    elif "text/markdown" in texts or "text/latex" in texts:
        clean["text/html"] = boxed(html_of(texts.get("text/markdown") or texts["text/latex"]))
    elif "image/svg+xml" in texts and "image/png" not in clean:
        clean["text/html"] = boxed(picture_of(without_lines(texts["image/svg+xml"], hidden)))
    return clean


def clean_shape(metadata):
    """Return what is kept of an output's metadata: the pictures' sizes and alternative texts."""
    kept = {}
    for kind in ("image/png", "image/jpeg"):
        told = metadata.get(kind)
        if isinstance(told, dict):
            sizes = {name: told[name] for name in ("width", "height") if isinstance(told.get(name), int)}
            kept[kind] = sizes | ({"alt": told["alt"]} if isinstance(told.get("alt"), str) else {})
    return kept


def clean_output(output, hidden):
    """Clean an output of a code cell in place; hidden are the lines of hidden checks."""
    if "execution_count" in output and not isinstance(output.execution_count, int):
        output.execution_count = None
    if output.output_type == "stream" and output.get("name") != "stderr":
        output.name = "stdout"
    if output.output_type in ("execute_result", "display_data"):
        output.data = clean_data(output.get("data", {}), hidden)
        output.metadata = clean_shape(output.get("metadata", {}))


class Sanitise(NbGraderPreprocessor):
    """Cleans a notebook; once more changes nothing that a reader sees."""

    def preprocess(self, nb, resources):
        tests = ClearHiddenTests(parent=self)
        self.hidden = hidden_lines(nb, tests.begin_test_delimeter, tests.end_test_delimeter)
        nb.metadata = {name: nb.metadata[name] for name in ("kernelspec", RECORD) if name in nb.metadata}
        nb.metadata["language_info"] = {"name": "python"}
        return super().preprocess(nb, resources)

    def preprocess_cell(self, cell, resources, cell_index):
        cell.metadata = {name: cell.metadata[name] for name in ("nbgrader",) if name in cell.metadata}
        if cell.cell_type == "markdown":
            cell.source = boxed(html_of(cell.source, cell.pop("attachments", None)))
        elif cell.cell_type == "raw":
            cell.source = html.escape(cell.source)
        elif not isinstance(cell.get("execution_count"), int):
            cell.execution_count = None
        for output in cell.get("outputs", []):
            clean_output(output, self.hidden)
        return cell, resources
