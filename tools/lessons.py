"""The notebooks as a tree: where they lie, how they are read and written, what marks a cell carries.

A name is a notebook's path below its language's folder, for example "01_layernorm.ipynb"; the books
are a dictionary language → name → notebook.
"""

import hashlib
import json
import os
import re
import sys
from pathlib import Path

import nbformat

ROOT = Path(__file__).parents[1]
LANGUAGES = ("en", "de", "sv")
OTHERS = LANGUAGES[1:]
BARS = ("nav-top", "nav-bottom")  # the ids of the cells that `nav` writes
MADE = "assignments/"  # how the names of notebooks begin that classroom.py makes from the solutions


def use_own_helpers():
    """Let this process, and the kernels and programs that it starts, import `helpers` from the project of this file.

    An installed copy, made before an update or by another project, lies behind it from then on.
    """
    sys.path.insert(0, str(ROOT))
    others = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path != str(ROOT)]
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), *others])


use_own_helpers()  # here, since each command imports this module before it imports `helpers`


def digest(source):
    """Return the mark of a cell's source: the first 12 hex digits of its SHA-256."""
    return hashlib.sha256(source.encode("utf8")).hexdigest()[:12]


def all_notebooks(root=ROOT):
    """Return the paths of all notebooks of the project."""
    return sorted(p for p in (root / "notebooks").rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts)


def solved(paths):
    """Return those of the notebooks that run to their end: all but the assignments, where the answers are missing."""
    return [path for path in paths if path.parent.name != "assignments"]


def read(path):
    """Return a notebook without validating it. Raises ValueError, naming the file, if it is none."""
    try:
        notebook = nbformat.v4.reads(path.read_text(encoding="utf8"))
        if isinstance(notebook.cells, list):
            return notebook
    except (json.JSONDecodeError, AttributeError, KeyError, TypeError, UnicodeDecodeError):
        pass
    raise ValueError(f"{path} is not a notebook that can be read")


def load(root=ROOT):
    """Return the books, language → name → notebook. Raises ValueError for a file that is no notebook."""
    books = {language: {} for language in LANGUAGES}
    for path in all_notebooks(root):
        language, *rest = path.relative_to(root / "notebooks").parts
        if language in books and rest:
            books[language]["/".join(rest)] = read(path)
    return books


def authored(notebooks):
    """Return name → notebook of a language without the assignments, which classroom.py makes from the solutions."""
    return {name: notebook for name, notebook in notebooks.items() if not name.startswith(MADE)}


def path_of(root, language, name):
    """Return the path of a notebook."""
    return root / "notebooks" / language / name


def write(path, notebook):
    """Write a notebook as Jupyter does; return whether the file has changed."""
    text = nbformat.v4.writes(notebook).rstrip("\n") + "\n"
    if path.exists() and path.read_bytes() == text.encode("utf8"):
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf8"))
    return True


def command(words):
    """Return a command of notebooks.py as an author types it."""
    return f"python tools/notebooks.py {words}"


def run_again(at):
    """Return the words that tell an author to run the notebook of a place such as `where` returns."""
    return f"run it: {command('run ' + at.partition('#')[0])}"


def where(language, name, cell=None):
    """Return the words that tell an author where to look: the file, the cell's id and its first words."""
    return f"notebooks/{language}/{name}" + ("" if cell is None else points_to(cell))


def points_to(cell, most=30):
    """Return a cell's id after a #, and its first words in parentheses."""
    words = " ".join(re.sub(r"<[^>]*>|[#*`|]", "", cell.source).lstrip().partition("\n")[0].split())
    return f"#{cell.get('id', '?')}" + f" ({words if len(words) <= most else words[: most - 1] + '…'})" * bool(words)


def ids(notebook):
    """Return the ids of the cells in order."""
    return [cell.get("id") for cell in notebook.cells]


def by_id(notebook):
    """Return id → cell."""
    return {cell.get("id"): cell for cell in notebook.cells}


def in_language(cell, language):
    """Return the source that an English code cell has in another language: only `setup` differs, in the name."""
    if cell.get("id") != "setup":
        return cell.source
    return re.sub(r'(language\.use\(["\'])en(["\'])', rf"\g<1>{language}\g<2>", cell.source)


def mark(cell):
    """Return which English source a translated cell was last translated from, or None."""
    return marks(cell).get("of")


def marks(cell):
    """Return the marks of a translated cell: `of`, its English source; `as`, its own, if it may have other numbers."""
    translation = cell.metadata.get("translation", {})
    return translation if isinstance(translation, dict) else {}


def state(original, cell):
    """Return how a translated markdown cell stands: "new" (without a mark), "behind" or "current"."""
    if mark(cell) is None:
        return "new"
    return "current" if mark(cell) == digest(original.source) else "behind"


def find_lesson(books, lesson):
    """Return (name, language) for the path of a notebook, (name, None) for a lesson's name or the start of one.

    Raises ValueError if no lesson or more than one fits; assignments are none, since they are made from solutions.
    """
    for language in LANGUAGES:
        for name in books[language]:
            if Path(lesson).as_posix().endswith(f"notebooks/{language}/{name}") and name in books["en"]:
                return name, language
    names = list(authored(books["en"]))
    fits = [n for n in names if n.removesuffix(".ipynb") == lesson.removesuffix(".ipynb")]
    fits = fits or [n for n in names if n.startswith(lesson) and ("/" in n) == ("/" in lesson)]
    if len(fits) != 1:
        raise ValueError(
            f"{lesson!r} is {'no lesson' if not fits else 'more than one lesson'}; choose from: "
            + ", ".join(n.removesuffix(".ipynb") for n in names)
        )
    return fits[0], None


def end(perform, *arguments):
    """Carry out a command, print its report and end with its exit code; what it raises is shown as one sentence."""
    try:
        report, good = perform(*arguments)
    except (ValueError, OSError) as error:
        sys.exit(str(error))
    sys.stdout.reconfigure(errors="backslashreplace")  # a terminal that lacks a letter shows its code
    print("\n".join(report))
    sys.exit(0 if good else 1)
