"""Running notebooks on kernels of their own, with the time and the peak memory of each."""

import os
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import NoSuchKernel
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError
from tqdm import tqdm

from lint import claims_ledger, stored_outputs
from notebook_files import reading
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
    CellExecutionError at the first cell that fails, CellTimeoutError at one that takes longer than CELL_LIMIT,
    ValueError, which names the cell, if the kernel dies.
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
            try:
                client.execute_cell(cell, index)
            except DeadKernelError:
                reason = "its kernel died, as when the memory is full"
                raise ValueError(f"{reason}, at {points_to(cell)}; nothing is written") from None
            progress()
        peak = peak_memory(client.km.provisioner.pid)
    clean(notebook)
    return time.perf_counter() - start, peak


def peak_memory(pid):
    """Return the peak resident memory of a process in MB, or None where the system does not tell."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return None
    found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
    return int(found[1]) / 1024 if found else None


def clean(notebook):
    """Keep what a reader without a kernel can see, and note in each code cell which source its output shows."""
    notebook.metadata = nbformat.from_dict({"kernelspec": KERNEL, "language_info": LANGUAGE})
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.metadata["executed"] = digest(cell.source)
            for output in cell.outputs:
                output.get("data", {}).pop(stored_outputs.WIDGET_VIEW, None)


def run(paths, write=True):
    """Execute notebooks, two at a time; return the lines of the report and whether all went well.

    write: whether to write those that are executed to their end, each on its own, whatever becomes of the others.
    """
    report = []
    notebooks = {}
    for path in paths:
        try:
            notebooks[path] = reading.read(path)
        except (ValueError, OSError) as error:
            report.append(str(error).replace(f"{ROOT}/", ""))
    good = not report
    cells = sum(len(notebook.cells) for notebook in notebooks.values())
    with tqdm(total=cells, unit="cell") as bar, ThreadPoolExecutor(KERNELS) as pool:
        jobs = {path: pool.submit(execute, own, str(path.parent), bar.update) for path, own in notebooks.items()}
        for path, job in jobs.items():
            name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
            try:
                seconds, peak = job.result()
                if write:
                    reading.write(path, notebooks[path])
            except CellExecutionError as error:
                report.append(f"{name}: {error.ename}: {error.evalue}\n{error.traceback}")
                good = False
            except (RuntimeError, NoSuchKernel, ValueError, OSError) as error:  # no kernel, too long, no right to write
                report.append(f"{name}: {error}")
                good = False
            else:
                outside = claims_ledger.all_out_of_bounds(notebooks[path], name)
                memory = f", peak {peak:.0f} MB" if peak else ""
                report += [f"{name}: {seconds:.1f} s{memory}", *outside]
                good = good and not outside
    return report, good
