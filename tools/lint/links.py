"""The links of notebooks and pages: whether they lead to a file of the project, and to a heading in it."""

import difflib
import re
from urllib.parse import unquote

from notebook_files.directions import where
from notebook_files.layout import BARS, authored, path_of
from notebook_files.reading import read, read_text
from texts import markdown_parts


def check(root, books):
    """Find links inside the project that lead nowhere."""
    for language, notebooks in books.items():
        for name, notebook in authored(notebooks).items():
            path = path_of(root, language, name)
            for cell in notebook.cells:
                if cell.cell_type == "markdown" and cell.get("id") not in BARS:
                    yield from dead(root, path, cell.source, where(language, name, cell))
    for path in pages(root):
        yield from dead(root, path, read_text(path), path.relative_to(root).as_posix())


def pages(root):
    """Return the Markdown files of the project."""
    patterns = ("*.md", "tools/**/*.md", "helpers/**/*.md", "notebooks/**/*.md")
    return sorted(path for pattern in patterns for path in root.glob(pattern))


def dead(root, path, source, at):
    """Find the links of a Markdown text, which stands in the file `path`, that lead nowhere."""
    for link in markdown_parts.parts(source).links:
        if re.match(r"[a-zA-Z][\w+.-]*:|//", link):
            continue
        target, _, anchor = unquote(link).partition("#")
        file = (path.parent / target).resolve() if target else path.resolve()
        if not file.is_relative_to(root.resolve()) or not file.exists():
            yield f"{at}: the link {link} leads to no file of the project; correct it"
        elif anchor and anchor not in anchors(file):
            nearest = difflib.get_close_matches(anchor, anchors(file), 1, 0)
            hint = f"; the nearest is #{nearest[0]}" if nearest else ""
            yield f"{at}: the link {link} leads to no heading of {file.name}{hint}"


def anchors(path):
    """Return the anchors of a notebook (as JupyterLab makes them), a Markdown file or a line of code (as GitHub does).

    Raises ValueError for a notebook that cannot be read."""
    if path.suffix == ".ipynb":
        found = set()
        for cell in read(path).cells:
            if cell.cell_type == "markdown":
                found |= set(markdown_parts.parts(cell.source).anchors)
                found |= {heading.replace(" ", "-") for heading in markdown_parts.headings(cell.source)}
        return found
    if path.suffix == ".md":
        source = read_text(path)
        headings = [re.sub(r"[^\w -]", "", heading.lower()) for heading in markdown_parts.headings(source)]
        return {heading.replace(" ", "-") for heading in headings} | set(markdown_parts.parts(source).anchors)
    if path.is_file():
        lines = path.read_bytes().count(b"\n") + 1
        return {f"L{number}" for number in range(1, lines + 1)}
    return set()
