"""The links of notebooks and pages: whether they lead to a file of the project, and to a heading in it."""

import difflib
import re
from urllib.parse import unquote

from notebook_files.directions import where
from notebook_files.layout import BARS, LANGUAGES, authored, path_of
from notebook_files.reading import read
from texts import markdown_parts


def check(root, books):
    """Find links inside the project that lead nowhere."""
    for language in LANGUAGES:
        for name, notebook in authored(books[language]).items():
            path = path_of(root, language, name)
            for cell in notebook.cells:
                if cell.cell_type == "markdown" and cell.get("id") not in BARS:
                    yield from dead(root, path, cell.source, where(language, name, cell))
    for path in pages(root):
        yield from dead(root, path, path.read_text(encoding="utf8"), path.relative_to(root).as_posix())


def pages(root):
    """Return the Markdown files of the project."""
    return sorted(
        [*root.glob("*.md"), *root.glob("tools/*.md"), *root.glob("helpers/**/*.md"), *root.glob("notebooks/**/*.md")]
    )


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
    """Return the anchors of a notebook (as JupyterLab makes them), a Markdown file or a line of code (as GitHub does)."""
    if path.suffix not in {".ipynb", ".md"}:
        return {f"L{n}" for n in range(1, path.read_bytes().count(b"\n") + 2)} if path.is_file() else set()
    if path.suffix == ".ipynb":
        text = "\n\n".join(c.source for c in read(path).cells if c.cell_type == "markdown")
    else:
        text = path.read_text(encoding="utf8")
    found = set(re.findall(r"<[^>]*\b(?:id|name)=[\"']([^\"']+)", text))
    for heading in re.findall(r"^#+ +(.+?)(?: +#+)?\s*$", markdown_parts.FENCE.sub("", text), re.M):
        heading = re.sub(r"[`*]", "", markdown_parts.LINK.sub(r"\2", heading))
        slug = re.sub(r"[^\w -]", "", heading.lower()) if path.suffix == ".md" else heading
        found.add(slug.replace(" ", "-"))
    return found
