"""The section `peers` of tools/benchmark.py: other libraries' way to the residual stream, and the usual widget."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import nbformat
from jupyter_client.manager import start_new_kernel

import clicks
import contestants
from notebook_files.layout import ROOT

SHARED = ("torch", "transformers", "babel")  # with the pins of requirements.txt, so that only the peer differs
ENVIRONMENTS = {  # name → further pins, and for each peer what it keeps; see contestants.py
    "transformer-lens-3": (["transformer-lens==3.9.0"], {"HookedTransformer": ("all", "stream")}),
    "transformer-lens-4": (
        ["transformer-lens==4.3.0", "nnsight==0.8.1"],
        {"TransformerBridge": ("all", "stream"), "nnsight": ("stream",)},
    ),
}
NAMED = {"HookedTransformer": "TransformerLens 3.9.0", "TransformerBridge": "TransformerLens 4.3.0 bridge"}
KEEPS = {"all": "run_with_cache", "stream": "our points only"}
ROUNDS = {16: 8, 128: 4, 1024: 1}  # for each repetition: medians of short runs need more of them
USUAL = """%matplotlib inline
import torch
import matplotlib.pyplot as plt
plt.plot(torch.arange(13), torch.rand(13))
plt.show()
"""


def rows(repeat, folder=None):
    """Yield (measure, ours, theirs, unit, bound); `folder` keeps the environments and the model between runs."""
    with tempfile.TemporaryDirectory() as temporary:
        yield from trace_rows(repeat, Path(folder or temporary).resolve())
    yield from clicks.rows(repeat)
    yield from start_rows(repeat)


def environment(folder, pins):
    """Return the Python of a virtual environment with these packages; one that was finished before is used again."""
    wanted = (ROOT / "requirements.txt").read_text().split("\n")
    pins = "\n".join([line for line in wanted if line.split("==")[0] in SHARED] + pins)
    python, finished = folder / "bin" / "python", folder / "pins.txt"
    if not finished.exists() or finished.read_text() != pins:
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "-qq", *pins.split()], check=True, stdout=sys.stderr)
        finished.write_text(pins)
    return python


def trace_rows(repeat, folder):
    """Yield time and peak memory of the trace beside each peer's; ours runs in the same process as the peer."""
    for name, (pins, peers) in ENVIRONMENTS.items():
        run = partial(contestants.run, environment(folder / name, pins))
        if not (folder / "gpt2").exists():
            run("make", folder)
        sides = [f"{peer} {kept}" for peer, all_kept in peers.items() for kept in all_kept]
        for tokens, rounds in ROUNDS.items():
            options = "--tokens", tokens, "--rounds", rounds * repeat, "--sides"
            times = run("time", folder, *options, "ours", "forward", *sides)
            options = "--tokens", tokens, "--rounds", 3, "--sides"
            peaks = {side: run("peak", folder, *options, side)[side] for side in ("ours", "forward", *sides)}
            for side in sides:
                peer, kept = side.split()
                bound = kept == "all"
                what = f"{NAMED.get(peer, peer)}, {KEEPS[kept]}, {tokens} tokens"
                yield f"trace against {what}, time", times["ours"], times[side], "s", 0.45 if bound else None
                bound = 0.3 if bound and tokens == 1024 else None
                yield f"trace against {what}, peak memory", peaks["ours"], peaks[side], "MB", bound
            floor = f"trace against the bare forward pass (floor), {tokens} tokens"
            yield f"{floor}, time", times["ours"], times["forward"], "s", None
            yield f"{floor}, peak memory", peaks["ours"], peaks["forward"], "MB", None


def first_picture(cells):
    """Return the seconds from the start of a kernel until one of the cells, executed in order, shows a picture."""
    start, shown = time.perf_counter(), []

    def see(message):
        data = message["content"].get("data", {})
        if message["header"]["msg_type"] == "error":
            raise RuntimeError("\n".join(message["content"]["traceback"]))
        if "image/png" in data or "<img" in data.get("text/html", ""):
            shown.append(time.perf_counter())

    env = os.environ | {"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"}  # the bundled models
    manager, client = start_new_kernel(cwd=tempfile.gettempdir(), env=env)
    try:
        for cell in cells:
            client.execute_interactive(cell, output_hook=see, timeout=300)
            if shown:
                return shown[0] - start
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    raise RuntimeError("no cell shows a picture")


def start_rows(repeat):
    """Yield kernel start to first picture of lessons 1 and 4, beside a kernel that imports torch and shows a plot."""
    sides = {"usual": [USUAL]}
    for lesson in ("01_layernorm", "04_residual_stream"):
        cells = nbformat.read(ROOT / "notebooks" / "en" / f"{lesson}.ipynb", as_version=4).cells
        sides[lesson] = [cell.source for cell in cells if cell.cell_type == "code"]
    times = {name: [] for name in sides}
    for _ in range(repeat):
        for name, cells in sides.items():
            times[name].append(first_picture(cells))
    usual, *lessons = (statistics.median(values) for values in times.values())
    for number, seconds in zip((1, 4), lessons):
        yield f"kernel start to first picture, lesson {number}, against torch and one plot", seconds, usual, "s", None
