"""The lessons as a static site: every page in three languages, nothing loaded from elsewhere, no kernel needed.

Nothing in the notebooks is executed. Their outputs are shown as they were committed; the states of the
explorers are drawn here (see explorer_states.py). Pictures are files named after their content, so equal ones are
stored once, and a page loads only those that come into view.
"""

import base64
import hashlib
import html
import json
import posixpath
import re
import tomllib
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import jinja2
import nbformat
from markupsafe import Markup
from math_core import LatexToMathML
from nbconvert.exporters import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from helpers import language as language_in_use
from notebook_files.cell_sources import by_id
from notebook_files.layout import BARS, LANGUAGES, ROOT, path_of
from notebook_files.navigation import WORDS, title
from notebook_files.reading import load
from website import explorer_states

TOOLS = ROOT / "tools"
TEMPLATES = TOOLS / "website"
SITE_WORDS = tomllib.loads((TEMPLATES / "words.toml").read_text(encoding="utf8"))
MATHML = LatexToMathML()
CARD = "helpers/models/bundled/README.md"  # the one page besides the lessons that they link to
DATA_URI = re.compile(r'src="data:image/(svg\+xml|png);base64,([^"]+)"')
FONTS = re.compile(r"font-family: 'DejaVu Sans',[^;\"]*sans-serif")
SVG = "http://www.w3.org/2000/svg"
COORDINATES = {"d", "points", "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "width", "height"}  # attributes
MOVES = re.compile(r"(translate|rotate)\([^)]*\)")  # parts of a transform whose numbers are coordinates or degrees
LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")
ElementTree.register_namespace("", SVG)
ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")


def slim(svg):
    """Return a picture's SVG (bytes) with two decimals and short lists of fonts, about two thirds of its size.

    Only coordinates are rounded: what a reader reads in the picture stays as it was drawn."""
    root = ElementTree.fromstring(svg)
    for metadata in root.findall(f"{{{SVG}}}metadata"):
        root.remove(metadata)
    for element in root.iter():
        for name, value in element.attrib.items():
            element.set(name, slim_attribute(name, value))
        if element.tag not in (f"{{{SVG}}}text", f"{{{SVG}}}tspan"):  # space between elements that is no text
            if element.text and not element.text.strip():
                element.text = None
            for child in element:
                child.tail = "\n"
    return ElementTree.tostring(root, encoding="UTF-8", xml_declaration=True)


def slim_attribute(name, value):
    """Return the value of an attribute of an SVG's element, its coordinates rounded to two decimals."""
    if name in COORDINATES:
        return " ".join(rounded(value).split())
    if name == "transform":
        return MOVES.sub(lambda move: rounded(move[0]), value)
    if name == "style":
        return FONTS.sub("font-family: 'DejaVu Sans', Verdana, sans-serif", value)
    return value


def rounded(numbers):
    """Return a text with each of its numbers that has more than two decimals rounded to two."""

    def short(number):
        return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")

    return LONG_NUMBER.sub(short, numbers)


class Renderer(IPythonRenderer):
    """Markdown with formulas as MathML, headings that can be linked to, and links that stay inside the site.

    to: a function from a link's target to its target on the site, or None where there is none."""

    def __init__(self, to):
        super().__init__(escape=False)
        self.to = to

    def inline_math(self, body):
        return MATHML.convert_with_local_state(body, displaystyle=False)

    def block_math(self, body):
        return f'<div class="scroll">{MATHML.convert_with_local_state(body, displaystyle=True)}</div>'

    def heading(self, text, level, **_):
        name = html.escape(html.unescape(re.sub("<[^>]+>", "", text)).replace(" ", "-"))
        return f'<h{level} id="{name}">{text}</h{level}>\n'

    def link(self, text, url, title=None):
        target = url if re.match(r"https?:|#", url) else self.to(url)
        return super().link(text, target, title) if target else text


class Exporter(HTMLExporter):
    """nbconvert with the templates of this folder and the Renderer above."""

    to = None  # set for each page

    def markdown2html(self, source):
        return scrolling_tables(MarkdownWithMath(renderer=Renderer(self.to)).render(source))


def scrolling_tables(text):
    """Return HTML whose tables scroll by themselves where they are wider than the page."""
    text = re.sub(r"<table\b", '<div class="scroll" tabindex="0"><table', text)
    return text.replace("</table>", "</table></div>")


class Site:
    """A site that is being written into `folder`; books: as lessons.load returns them."""

    def __init__(self, root, books, folder):
        self.root = root
        self.books = books
        self.folder = folder
        self.written = []  # paths of the pages
        loader = jinja2.FileSystemLoader(TEMPLATES)
        self.templates = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True)
        self.exporter = Exporter(template_name="website", extra_template_basedirs=[str(TOOLS)])

    def write(self, path, content):
        """Write a file of the site, text or bytes; path: relative to it."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode("utf8"))

    def picture(self, content, suffix="svg"):
        """Store a picture (bytes); return its path."""
        content = slim(content) if suffix == "svg" else content
        path = f"pictures/{hashlib.sha256(content).hexdigest()[:16]}.{suffix}"
        self.write(path, content)
        return path

    def lessons(self, language):
        """Return (title, path of the page) of each lesson of a language."""
        return [
            (title(notebook, name), page_of(language, name))
            for name, notebook in sorted(self.books[language].items())
            if "/" not in name
        ]

    def target(self, language, page):
        """Return the function from a link in a notebook of this language to the link on its page."""
        pages = {"README.md": contents_of(language), CARD: page_of("en", "models.ipynb")}
        for other in LANGUAGES:
            names = (name for name in self.books[other] if "/" not in name)
            pages |= {f"notebooks/{other}/{name}": page_of(other, name) for name in names}

        def to(url):
            path, _, anchor = url.partition("#")
            found = pages.get(posixpath.normpath(posixpath.join("notebooks", language, path)))
            if found is None:
                return None
            fragment = f"#{anchor}" if anchor else ""
            return relative(found, page) + fragment

        return to

    def page(self, language, path, heading, body, **more):
        """Write a page around its body. more: pages, languages and files, each a list of texts and paths."""

        def to(other):
            return relative(other, path)

        values = {"lang": language, "title": heading, "body": Markup(body), "files": []}
        values |= {"words": SITE_WORDS[language], "to": to} | more
        self.write(path, self.templates.get_template("page.html.j2").render(values).strip() + "\n")
        self.written.append(path)

    def explorer(self, cell, page):
        """Return the HTML of the explorer that a code cell shows, or None if it shows none."""
        shown = explorer_states.shown_in(cell.source)
        if shown is None:
            return None
        found = explorer_states.prepare(*shown)
        words = SITE_WORDS[language_in_use.current]
        start = 0  # index of the state that is shown first
        for control in found.controls:
            start = start * len(control.options) + control.start
        rows = []
        for picture, message in found.states:
            rows.append([relative(self.picture(picture.svg), page), picture.alt, message])
        first_picture, _ = found.states[start]
        width, height = first_picture.size()
        values = {"id": cell.id, "controls": found.controls, "states": rows, "start": start, "words": words}
        values |= {"width": width, "height": height, "live": words["live"].get(found.name)}
        return self.templates.get_template("explorer.html.j2").render(values)

    def lesson(self, language, name):
        """Write the page of a lesson, and copies of its notebook and its assignment."""
        source = self.books[language][name]
        page = page_of(language, name)
        words = SITE_WORDS[language]
        notebook = nbformat.from_dict(json.loads(json.dumps(source)))
        notebook.cells = [cell for cell in notebook.cells if cell.id not in BARS]
        for cell in notebook.cells:
            if cell.cell_type != "code":
                continue
            explorer = self.explorer(cell, page)
            if explorer:
                cell.outputs = [nbformat.v4.new_output("display_data", {"text/html": explorer})]
            for output in cell.outputs:
                if "text/html" in output.get("data", {}):
                    output.data["text/html"] = scrolling_tables(self.without_data(output.data["text/html"], page))
        self.exporter.to = self.target(language, page)
        body, _ = self.exporter.from_notebook_node(notebook, {"words": words})
        files = []
        for kind, other in (("notebook", name), ("assignment", f"assignments/{name}")):
            if other in self.books[language]:
                self.write(f"{language}/{other}", path_of(self.root, language, other).read_bytes())
                files.append((words[kind], f"{language}/{other}"))
        lessons = self.lessons(language)
        at = [path for _, path in lessons].index(page)
        pages = [(f"← {WORDS[language]['previous']}: {text}", path) for text, path in lessons[at - 1 : at] if at]
        pages.append((WORDS[language]["contents"], contents_of(language)))
        pages += [(f"{WORDS[language]['next']}: {text} →", path) for text, path in lessons[at + 1 : at + 2]]
        languages = [(o, WORDS[o]["name"], page_of(o, name)) for o in LANGUAGES if name in self.books[o]]
        self.page(language, page, lessons[at][0], body, pages=pages, languages=languages, files=files)

    def without_data(self, output, page):
        """Return an output's HTML with its pictures in files of their own."""

        def stored(found):
            kind, content = found.groups()
            try:
                path = self.picture(base64.b64decode(content), "svg" if kind == "svg+xml" else "png")
            except ElementTree.ParseError as problem:
                raise ValueError(f"{page}: a picture is no SVG that can be read: {problem}") from None
            return f'src="{relative(path, page)}" loading="lazy"'

        return DATA_URI.sub(stored, output)

    def contents(self, language):
        """Write the page of contents of a language; below each lesson stands what one can do after it."""
        page = contents_of(language)
        words = SITE_WORDS[language]
        parts = []
        self.exporter.to = self.target(language, page)
        for heading, path in self.lessons(language):
            name = posixpath.basename(path).replace(".html", ".ipynb")
            first = by_id(self.books[language][name]).get("title")
            goal = first.source.split("\n\n")[1] if first and "\n\n" in first.source else ""
            link = f'<h2><a href="{relative(path, page)}">{html.escape(heading)}</a></h2>'
            parts.append(link + self.exporter.markdown2html(goal))
        body = f"<h1>{words['title']}</h1><p>{words['about']}</p>{''.join(parts)}"
        languages = [(other, WORDS[other]["name"], contents_of(other)) for other in LANGUAGES if self.books[other]]
        self.page(language, page, words["title"], body, pages=[], languages=languages)


def relative(path, page):
    """Return the link from a page to another path of the site."""
    return posixpath.relpath(path, posixpath.dirname(page) or ".")


def page_of(language, name):
    """Return the path of a notebook's page."""
    return f"{language}/{name.removesuffix('.ipynb')}.html"


def contents_of(language):
    """Return the path of a language's page of contents; the English one is the first page of the site."""
    return "index.html" if language == "en" else f"{language}/index.html"


def build(root, folder):
    """Write the site of all lessons into an empty or new folder; return (lines of the report, True).

    Raises ValueError if the folder holds something, or an explorer has no prepared states."""
    folder = Path(folder)
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"{folder} is not empty; name a new folder")
    site = Site(root, load(root), folder)
    for name in ("style.css", "states.js"):
        site.write(name, (TEMPLATES / name).read_bytes())
    before = language_in_use.current
    for language in (language for language in LANGUAGES if site.books[language]):
        language_in_use.use(language)
        site.contents(language)
        for name in (name for name in sorted(site.books[language]) if "/" not in name):
            site.lesson(language, name)
    language_in_use.use(before)
    card = root / CARD
    if card.exists():
        page = page_of("en", "models.ipynb")
        site.exporter.to = lambda url: None
        body = site.exporter.markdown2html(card.read_text(encoding="utf8"))
        pages = [(WORDS["en"]["contents"], contents_of("en"))]
        site.page("en", page, "The bundled family", body, pages=pages, languages=[])
    return [f"{folder}: {len(site.written)} pages, {len(list(folder.rglob('*.svg')))} pictures"], True
