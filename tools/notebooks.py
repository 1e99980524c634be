"""Tools for the authors of the notebooks.

check looks through the whole tree and prints one line for each finding, with the file, the cell and
what to do.

sync copies code, new cells and the order of cells from the English notebooks to the German and Swedish
ones, and creates those that are missing. It keeps translations, their marks, and the outputs of unchanged
code; it never drops or overwrites a translated cell. It lists the cells that wait for a translator.

translated marks cells as up to date, on your word, after you have translated them or seen that a change
of the English text does not touch the translation. LESSON is a name such as 01_layernorm, the start of
one, or the path of a notebook. A PAGE such as teachers is marked as a whole.

run executes notebooks from top to bottom, each on a fresh kernel, two at a time, and writes them
in place with their outputs; it prints the time and the peak memory of each. With --dry nothing is
written. LESSON is as above; a name stands for all three languages, a path for one. Without it, it takes all
notebooks but the assignments, where the answers are missing.

Exit code 1 if check or spelling found something, sync refused something, a cell failed or a measured value left
its bounds.
"""

import argparse
from pathlib import Path

from lint import all_findings, spelling
from notebook_files import binder_links, navigation
from notebook_files.directions import end
from notebook_files.layout import LANGUAGES, OTHERS, ROOT, all_notebooks, find_lesson, path_of, solved
from notebook_files.reading import load
from running import execution
from translation import markdown_pages, sync


def named(root, words):
    """Return the paths of the notebooks that words name. Raises ValueError for what is neither path nor lesson."""
    paths = []
    books = load(root) if words else {}
    for word in words:
        if Path(word).is_file():
            paths.append(Path(word).resolve())
            continue
        name, language = find_lesson(books, word)
        languages = [language] if language else LANGUAGES
        paths += [path_of(root, own, name) for own in languages if name in books[own]]
    return list(dict.fromkeys(paths))


def arguments():
    """Return the parser of the command line; each command's `perform` is what carries it out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)

    checker = commands.add_parser("check", help="find what is wrong in the whole tree")
    checker.set_defaults(perform=check)

    syncer = commands.add_parser("sync", help="copy code, new cells and their order to the translations")
    syncer.set_defaults(perform=synchronise)

    navigator = commands.add_parser("nav", help="write the bars at the top and the bottom")
    navigator.set_defaults(perform=write_bars)

    speller = commands.add_parser("spelling", help="find words that neither hunspell nor tools/lint/words knows")
    speller.set_defaults(perform=spell)

    marker = commands.add_parser("translated", help="say that a translation is up to date again")
    marker.add_argument("lesson", help="its name, the start of its name, or a notebook's path; or a page's name")
    marker.add_argument("cells", nargs="*", metavar="cell", help="the ids of cells; none for a page")
    marker.add_argument("--lang", choices=OTHERS, help="only this language")
    marker.set_defaults(perform=mark_translated)

    runner = commands.add_parser("run", help="execute notebooks in place")
    runner.add_argument("lessons", nargs="*", metavar="lesson", help="a name, in all languages, or a notebook's path")
    runner.add_argument("--dry", action="store_true", help="write nothing")
    runner.set_defaults(perform=run)

    site = commands.add_parser("site", help="write the lessons as web pages that need no kernel")
    site.add_argument("folder", type=Path, help="an empty or new folder")
    site.set_defaults(perform=build_site)

    linker = commands.add_parser("badges", help="write the links to Binder and to a class's hub into the README")
    linker.add_argument("repository", metavar="OWNER/REPO", help="as on GitHub")
    linker.add_argument("--hub", metavar="URL", help="the address of a JupyterHub that has nbgitpuller")
    linker.add_argument("--branch", help="what the hub fetches; without it the branch of this checkout, else main")
    linker.set_defaults(perform=write_links)
    return parser


# Each of these takes the arguments and the project's folder, and returns the lines of a report and whether all is well.


def check(_, root):
    """Find what is wrong in the whole tree."""
    findings = all_findings.check(root)
    return findings or ["nothing found"], not findings


def spell(_, root):
    """Find unknown words. Raises OSError without hunspell."""
    findings = spelling.unknown(root)
    return findings or ["nothing found"], not findings


def synchronise(_, root):
    """Copy what is new in English to the translations."""
    return sync.sync(root, load(root))


def write_bars(_, root):
    """Write the bars at the top and the bottom of the notebooks."""
    return navigation.nav(root, load(root)), True


def mark_translated(args, root):
    """Mark cells, or a page, as up to date."""
    languages = [args.lang] if args.lang else OTHERS
    if not args.cells:
        return markdown_pages.translated(root, args.lesson, languages), True
    return sync.translated(root, load(root), args.lesson, args.cells, languages), True


def run(args, root):
    """Execute notebooks."""
    paths = named(root, args.lessons) if args.lessons else solved(all_notebooks(root))
    return execution.run(paths, write=not args.dry)


def build_site(args, root):
    """Write the lessons as web pages."""
    from website import build  # here, since it draws with torch, which takes seconds to import

    return build.build(root, args.folder)


def write_links(args, root):
    """Write the links into the README."""
    return binder_links.badges(root, args.repository, args.hub, args.branch), True


def perform(args, root):
    """Carry out a command; return the lines of its report and whether all is well. Raises ValueError for a
    wrong argument and for a file that is no notebook, OSError for spelling without hunspell."""
    return args.perform(args, root)


def main(words=None, root=ROOT):
    """Carry out the command of the command line, or of a list of words, and end with its exit code."""
    end(perform, arguments().parse_args(words), root)


if __name__ == "__main__":
    main()
