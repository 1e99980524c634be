"""Tools for the authors of the notebooks.

    python tools/notebooks.py run [FILES ...] [--dry]

run executes notebooks from top to bottom, each on a fresh kernel, two at a time, and writes them
in place with their outputs; it prints the time and the peak memory of each. With --dry nothing is
written. Without FILES it takes all notebooks. Exit code 1 if a cell failed or a measured value
left its bounds.
"""

import argparse
import hashlib
import os
import re
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError
from tqdm import tqdm

ROOT = Path(__file__).parents[1]
KERNELS = 2  # at once: importing torch dominates, and more do not help on two cores
CELL_LIMIT = 120  # seconds
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def digest(source):
    """Return the mark of a cell's source: the first 12 hex digits of its SHA-256."""
    return hashlib.sha256(source.encode("utf8")).hexdigest()[:12]


def all_notebooks():
    """Return the paths of all notebooks of the project."""
    return sorted(p for p in (ROOT / "notebooks").rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts)


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
                output.get("data", {}).pop(WIDGET_VIEW, None)


def out_of_bounds(notebook):
    """Return the ids of the claims whose measured value lies outside its bounds."""
    shown = "".join(
        output.get("data", {}).get("text/html", "")
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
    )
    return re.findall(r'data-claim="([\w-]+)" data-within="false"', shown)


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
            for claim in out_of_bounds(notebooks[path]):
                report.append(f"{name}: the measured value of {claim} is out of its bounds")
                good = False
            if write:
                nbformat.write(notebooks[path], path)
    return report, good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    runner = commands.add_parser("run", help="execute notebooks in place")
    runner.add_argument("files", nargs="*", type=Path)
    runner.add_argument("--dry", action="store_true", help="write nothing")
    args = parser.parse_args()
    report, good = run([path.resolve() for path in args.files] or all_notebooks(), write=not args.dry)
    print("\n".join(report))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
