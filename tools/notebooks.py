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
import os
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError
from tqdm import tqdm

import badges
import inspection
import ledger
import navigation
import outputs
import pages
import spelling
import translations
from lessons import LANGUAGES, OTHERS, ROOT, all_notebooks, digest, end, find_lesson, load, path_of, points_to, solved

KERNELS = 2  # at once: importing torch dominates, and more do not help on two cores
CELL_LIMIT = 120  # seconds


def execute(notebook, folder, progress=lambda: None):
    """Execute a notebook (a NotebookNode, changed in place) in a folder, on a fresh kernel.

    Returns (seconds, peak memory of the kernel in MB, or None where /proc is missing). Raises
    CellExecutionError at the first cell that fails, CellTimeoutError at one that takes longer than CELL_LIMIT.
    """
    client = NotebookClient(
        notebook,
        timeout=CELL_LIMIT,
        kernel_name="python3",
        record_timing=False,
        extra_arguments=["--log-level=ERROR"],  # without it each kernel warns that it speaks over TCP
        coalesce_streams=True,  # one output for all that a cell prints
        resources={"metadata": {"path": folder}},
    )
    start = time.perf_counter()
    # one thread a kernel: two kernels with two threads each wait for one another, many times slower
    with client.setup_kernel(env=os.environ | {"OMP_NUM_THREADS": "1"}):
        for index, cell in enumerate(notebook.cells):
            client.execute_cell(cell, index)
            progress()
        peak = peak_memory(client.km.provisioner.pid)
    clean(notebook)
    return time.perf_counter() - start, peak


def peak_memory(pid):
    """Return the peak resident memory of a process in MB, or None where the system does not tell."""
    status = Path(f"/proc/{pid}/status")
    found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text()) if status.exists() else None
    return int(found[1]) / 1024 if found else None


def clean(notebook):
    """Keep what a reader without a kernel can see, and note in each code cell which source its output shows."""
    notebook.metadata = nbformat.from_dict(
        {
            "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        }
    )
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.metadata["executed"] = digest(cell.source)
            for output in cell.outputs:
                output.get("data", {}).pop(outputs.WIDGET_VIEW, None)


def out_of_bounds(notebook, at):
    """Return a line for each claim whose measured value lies outside its bounds."""
    shown = ((f"{at}{points_to(cell)}", output) for cell in notebook.cells for output in cell.get("outputs", []))
    return [line for place, output in shown for line in ledger.out_of_bounds(outputs.shown(output), place)]


def named(root, words):
    """Return the paths of the notebooks that words name. Raises ValueError for what is neither path nor lesson."""
    paths, books = [], load(root) if words else {}
    for word in words:
        if Path(word).is_file():
            paths.append(Path(word).resolve())
            continue
        name, language = find_lesson(books, word)
        paths += [path_of(root, own, name) for own in LANGUAGES if name in books[own] and language in (None, own)]
    return list(dict.fromkeys(paths))


def run(paths, write=True):
    """Execute notebooks, two at a time; return the lines of the report and whether all went well."""
    notebooks = {path: nbformat.read(path, as_version=4) for path in paths}
    report, good = [], True
    with (
        tqdm(total=sum(len(n.cells) for n in notebooks.values()), unit="cell") as bar,
        ThreadPoolExecutor(KERNELS) as pool,
    ):
        jobs = {path: pool.submit(execute, n, str(path.parent), bar.update) for path, n in notebooks.items()}
        for path, job in jobs.items():
            name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
            try:
                seconds, peak = job.result()
            except CellExecutionError as error:
                report.append(f"{name}: {error.ename}: {error.evalue}\n{error.traceback}")
                good = False
                continue
            except CellTimeoutError as error:
                report.append(f"{name}: {error}")
                good = False
                continue
            report.append(f"{name}: {seconds:.1f} s" + (f", peak {peak:.0f} MB" if peak else ""))
            outside = list(out_of_bounds(notebooks[path], name))
            report, good = report + outside, good and not outside
            if write:
                nbformat.write(notebooks[path], path)
    return report, good


def arguments():
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check", help="find what is wrong in the whole tree")
    commands.add_parser("sync", help="copy code, new cells and their order to the translations")
    commands.add_parser("nav", help="write the bars at the top and the bottom")
    commands.add_parser("spelling", help="find words that neither hunspell nor tools/words knows")
    marker = commands.add_parser("translated", help="say that a translation is up to date again")
    marker.add_argument("lesson", help="its name, the start of its name, or a notebook's path; or a page's name")
    marker.add_argument("cells", nargs="*", metavar="cell", help="the ids of cells; none for a page")
    marker.add_argument("--lang", choices=OTHERS, help="only this language")
    runner = commands.add_parser("run", help="execute notebooks in place")
    runner.add_argument("lessons", nargs="*", metavar="lesson", help="a name, in all languages, or a notebook's path")
    runner.add_argument("--dry", action="store_true", help="write nothing")
    site = commands.add_parser("site", help="write the lessons as web pages that need no kernel")
    site.add_argument("folder", type=Path, help="an empty or new folder")
    linker = commands.add_parser("badges", help="write the links to Binder and to a class's hub into the README")
    linker.add_argument("repository", metavar="OWNER/REPO", help="as on GitHub")
    linker.add_argument("--hub", metavar="URL", help="the address of a JupyterHub that has nbgitpuller")
    return parser


def perform(args, root):
    """Carry out a command; return the lines of its report and whether all is well. Raises ValueError for a
    wrong argument and for a file that is no notebook, OSError for spelling without hunspell."""
    if args.command == "run":
        return run(named(root, args.lessons) or solved(all_notebooks(root)), write=not args.dry)
    if args.command == "badges":
        return badges.badges(root, args.repository, args.hub), True
    if args.command == "check":
        findings = inspection.check(root) + pages.check(root)
        return findings or ["nothing found"], not findings
    if args.command == "spelling":
        findings = spelling.unknown(root)
        return findings or ["nothing found"], not findings
    if args.command == "site":
        import website  # here, since it draws with torch, which takes seconds to import

        return website.build(root, args.folder)
    if args.command == "sync":
        return translations.sync(root, load(root))
    if args.command == "nav":
        return navigation.nav(root, load(root)), True
    languages = [args.lang] if args.lang else OTHERS
    if not args.cells:
        return pages.translated(root, args.lesson, languages), True
    return translations.translated(root, load(root), args.lesson, args.cells, languages), True


def main(words=None, root=ROOT):
    """Carry out the command of the command line, or of a list of words, and end with its exit code."""
    end(perform, arguments().parse_args(words), root)


if __name__ == "__main__":
    main()
