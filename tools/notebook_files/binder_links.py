"""The links in the README that open the lessons on Binder and on a class's JupyterHub."""

import re
import subprocess
import tomllib
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

from notebook_files.layout import LANGUAGES
from notebook_files.reading import read_text

TEXTS = tomllib.loads(Path(__file__).with_name("binder_links.toml").read_text(encoding="utf8"))
START = "<!-- badges -->"
END = "<!-- /badges -->"
REPOSITORY = re.compile(r"[A-Za-z0-9]+(-[A-Za-z0-9]+)*/(?!\.{1,2}$)(?!.*\.git$)[\w.-]{1,100}", re.ASCII)
BRANCH = re.compile(r"(?![/.-])(?!.*(?:\.\.|//|/\.|@\{))[^\s~^:?*\[\\\x00-\x20\x7f]+(?<![/.])")  # as git allows it


def badges(root, repository, hub=None, branch=None):
    """Write the links for a GitHub repository OWNER/REPO between the two marks of the README; return the report.

    hub: the address of a JupyterHub with nbgitpuller, for links that fetch the lessons there; without it there are
    none. branch: the one that these links fetch; without it, that of the checkout. Raises ValueError for anything else
    than OWNER/REPO, for what is no address or no branch, without the marks, and for a language without lessons."""
    if not REPOSITORY.fullmatch(repository):
        raise ValueError(f"{repository!r} is not OWNER/REPO, the last two parts of the repository's address on GitHub")
    if hub is not None and not is_address(hub):
        raise ValueError(f"{hub!r} is not the address of a JupyterHub, such as https://hub.example.org")
    if branch is not None and not BRANCH.fullmatch(branch):
        raise ValueError(f"{branch!r} is not the name of a branch, such as main")
    readme = root / "README.md"
    text = read_text(readme)
    if text.count(START) != 1 or text.count(END) != 1 or text.index(START) > text.index(END):
        raise ValueError(f"README.md needs one {START} and after it one {END}, where the links belong")
    before, rest = text.split(START)
    after = rest.split(END)[1]
    branch = branch or checked_out(root)
    lines = "\n\n".join(paragraph(root, language, repository, hub, branch) for language in LANGUAGES)
    new = f"{before}{START}\n{lines}\n{END}{after}"
    readme.write_bytes(new.encode("utf8"))
    return ["README.md: unchanged" if new == text else "README.md: written"]


def checked_out(root):
    """Return the branch of the git checkout in a folder, main where there is none."""
    try:
        command = ["git", "-C", root, "branch", "--show-current"]
        answer = subprocess.run(command, capture_output=True, encoding="utf8", check=True)
    except (OSError, subprocess.CalledProcessError):  # no git, or no checkout
        return "main"
    return answer.stdout.strip() or "main"  # nothing is said of a commit that is checked out without a branch


def is_address(hub):
    """Return whether this is http(s)://host, with a path or without, and nothing that would end a Markdown link."""
    try:
        parts = urlsplit(hub)
        host = parts.hostname
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(host) and bool(re.fullmatch(r"[\w:/.~\[\]-]+", hub))


def paragraph(root, language, repository, hub, branch):
    """Return a language's paragraph of the README: the badge, what happens to a reader's work, and the class links.

    Raises ValueError if the language has no lessons."""
    texts = TEXTS[language]
    folder = root / "notebooks" / language
    lessons = sorted(path.relative_to(root).as_posix() for path in folder.glob("*.ipynb"))
    assignments = sorted(path.relative_to(root).as_posix() for path in folder.glob("assignments/*.ipynb"))
    if not lessons:
        raise ValueError(f"there are no lessons in notebooks/{language}, to which the links could lead")
    query = urlencode({"urlpath": f"lab/tree/{lessons[0]}"}, safe="/")
    binder = f"https://mybinder.org/v2/gh/{repository}/HEAD?{query}"
    parts = [f"[![{texts['binder']}](notebooks/images/binder.svg)]({binder})", texts["warning"], texts["lost"]]
    if hub:
        links = []
        for kind, paths in (("lesson", lessons), ("assignment", assignments)):
            for number, path in enumerate(paths, 1):
                words = texts[kind].format(number=number)
                links.append(f"[{words}]({class_link(repository, hub, branch, path)})")
        parts.append(f"{texts['class']} {', '.join(links)}.")
    return " ".join(parts)


def class_link(repository, hub, branch, path):
    """Return the link by which nbgitpuller fetches the repository into a student's folder and opens a notebook."""
    folder = repository.split("/")[1]
    query = {"repo": f"https://github.com/{repository}", "urlpath": f"lab/tree/{folder}/{path}", "branch": branch}
    return f"{hub.rstrip('/')}/hub/user-redirect/git-pull?{urlencode(query, quote_via=quote, safe='')}"
