"""The links in the README that open the lessons on Binder and on a class's JupyterHub."""

import re
import tomllib
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

from notebook_files.layout import LANGUAGES

TEXTS = tomllib.loads(Path(__file__).with_name("binder_links.toml").read_text(encoding="utf8"))
MARKS = "<!-- badges -->", "<!-- /badges -->"
REPOSITORY = re.compile(r"[A-Za-z0-9]+(-[A-Za-z0-9]+)*/(?!\.{1,2}$)(?!.*\.git$)[\w.-]{1,100}", re.ASCII)


def badges(root, repository, hub=None):
    """Write the links for a GitHub repository OWNER/REPO between the two marks of the README; return the report.

    hub: the address of a JupyterHub with nbgitpuller, for links that fetch the lessons there; without it there are
    none. Raises ValueError for anything else than OWNER/REPO, for another kind of address, and without the marks."""
    if not REPOSITORY.fullmatch(repository):
        raise ValueError(f"{repository!r} is not OWNER/REPO, the last two parts of the repository's address on GitHub")
    if hub is not None and not _is_address(hub):
        raise ValueError(f"{hub!r} is not the address of a JupyterHub, such as https://hub.example.org")
    readme = root / "README.md"
    text = readme.read_text(encoding="utf8")
    start, end = MARKS
    if [text.count(mark) for mark in MARKS] != [1, 1] or text.index(start) > text.index(end):
        raise ValueError(f"README.md needs one {start} and after it one {end}, where the links belong")
    before, rest = text.split(start)
    lines = "\n\n".join(_paragraph(root, language, repository, hub) for language in LANGUAGES)
    new = f"{before}{start}\n{lines}\n{end}{rest.split(end)[1]}"
    readme.write_bytes(new.encode("utf8"))
    return ["README.md: " + ("written" if new != text else "unchanged")]


def _is_address(hub):
    """Return whether this is http(s)://host, with a path or without, and nothing that would end a Markdown link."""
    try:
        parts = urlsplit(hub)
        return bool(parts.scheme in ("http", "https") and parts.hostname and re.fullmatch(r"[\w:/.~\[\]-]+", hub))
    except ValueError:
        return False


def _paragraph(root, language, repository, hub):
    """Return a language's paragraph of the README: the badge, what happens to a reader's work, and the class links."""
    texts = TEXTS[language]
    lessons, assignments = (
        [path.relative_to(root).as_posix() for path in sorted((root / "notebooks" / language).glob(pattern))]
        for pattern in ("*.ipynb", "assignments/*.ipynb")
    )
    binder = f"https://mybinder.org/v2/gh/{repository}/HEAD?" + urlencode(
        {"urlpath": f"lab/tree/{lessons[0]}"}, safe="/"
    )
    parts = [f"[![{texts['binder']}](notebooks/images/binder.svg)]({binder})", texts["warning"], texts["lost"]]
    if hub:
        links = []
        for kind, paths in (("lesson", lessons), ("assignment", assignments)):
            links += [
                f"[{texts[kind].format(number=n)}]({_class_link(repository, hub, p)})" for n, p in enumerate(paths, 1)
            ]
        parts.append(f"{texts['class']} {', '.join(links)}.")
    return " ".join(parts)


def _class_link(repository, hub, path):
    """Return the link by which nbgitpuller fetches the repository into a student's folder and opens a notebook."""
    folder = repository.split("/")[1]
    query = {"repo": f"https://github.com/{repository}", "urlpath": f"lab/tree/{folder}/{path}", "branch": "main"}
    return f"{hub.rstrip('/')}/hub/user-redirect/git-pull?{urlencode(query, quote_via=quote, safe='')}"
