"""Running notebooks on kernels of their own, with the time and the peak memory of each."""

import os
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError
from tqdm import tqdm

from lint import claims_ledger, stored_outputs
from notebook_files.cell_sources import digest
from notebook_files.directions import points_to
from notebook_files.layout import ROOT

KERNELS = 2  # at once: importing torch dominates, and more do not help on two cores
CELL_LIMIT = 120  # seconds
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
LANGUAGE = {  # what a kernel tells of its language but for its version, which differs between machines
    "codemirror_mode": {"name": "ipython", "version": 3},
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "name": "python",
    "nbconvert_exporter": "python",
    "pygments_lexer": "ipython3",
}


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
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": LANGUAGE})
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.metadata["executed"] = digest(cell.source)
            for output in cell.outputs:
                output.get("data", {}).pop(stored_outputs.WIDGET_VIEW, None)


def out_of_bounds(notebook, at):
    """Return a line for each claim whose measured value lies outside its bounds."""
    shown = ((f"{at}{points_to(cell)}", output) for cell in notebook.cells for output in cell.get("outputs", []))
    return [
        line for place, output in shown for line in claims_ledger.out_of_bounds(stored_outputs.shown(output), place)
    ]


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
