"""Where the notebooks lie.

A name is a notebook's path below its language's folder, for example "01_layernorm.ipynb"; the books
are a dictionary language → name → notebook.
"""

from pathlib import Path

ROOT = Path(__file__).parents[2]
LANGUAGES = ("en", "de", "sv")
OTHERS = LANGUAGES[1:]
BARS = ("nav-top", "nav-bottom")  # the ids of the cells that `nav` writes
CITING = ("sources",)  # cells that name papers, in the papers' words
MADE = "assignments/"  # how the names of notebooks begin that classroom.py makes from the solutions


def all_notebooks(root=ROOT):
    """Return the paths of all notebooks of the project."""
    paths = (root / "notebooks").rglob("*.ipynb")
    return sorted(path for path in paths if path.is_file() and ".ipynb_checkpoints" not in path.parts)


def solved(paths):
    """Return those of the notebooks that run to their end: all but the assignments, where the answers are missing."""
    return [path for path in paths if path.parent.name != "assignments"]


def authored(notebooks):
    """Return name → notebook of a language without the assignments, which classroom.py makes from the solutions."""
    return {name: notebook for name, notebook in notebooks.items() if not name.startswith(MADE)}


def path_of(root, language, name):
    """Return the path of a notebook."""
    return root / "notebooks" / language / name


def find_lesson(books, lesson):
    """Return (name, language) for the path of a notebook, (name, None) for a lesson's name or the start of one.

    Raises ValueError if no lesson or more than one fits; assignments are none, since they are made from solutions.
    """
    path = Path(lesson).as_posix()
    for language in LANGUAGES:
        for name in books[language]:
            if path.endswith(f"notebooks/{language}/{name}") and name in books["en"]:
                return name, language
    names = {name.removesuffix(".ipynb"): name for name in authored(books["en"])}
    wanted = lesson.removesuffix(".ipynb")
    if wanted in names:
        return names[wanted], None
    fits = [name for name in names if name.startswith(wanted) and name.count("/") == wanted.count("/")]
    if len(fits) == 1:
        return names[fits[0]], None
    problem = "more than one lesson" if fits else "no lesson"
    raise ValueError(f"{lesson!r} is {problem}; choose from: {', '.join(names)}")
