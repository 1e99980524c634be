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
    return sorted(p for p in (root / "notebooks").rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts)


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
