"""The trace beside other ways to the residual stream: time of the processor and peak memory.

Each function yields rows: (measure, ours, theirs, unit, bound of the ratio or None). What is measured, and how, stands
in tracers.py, which runs in a process of its own, for the libraries from PyPI in an environment of their own.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measures import tracers

ROOT = Path(__file__).parents[2]
SHARED = ("torch", "transformers", "babel")  # with the pins of requirements.txt, so that only the library differs
ENVIRONMENTS = {  # name → further pins, and for each library what it keeps; see tracers.py
    "transformer-lens-3": (["transformer-lens==3.9.0"], {"HookedTransformer": ("all", "stream")}),
    "transformer-lens-4": (
        ["transformer-lens==4.3.0", "nnsight==0.8.1"],
        {"TransformerBridge": ("all", "stream"), "nnsight": ("stream",)},
    ),
}
NAMED = {
    "HookedTransformer": "TransformerLens 3.9.0",
    "TransformerBridge": "TransformerLens 4.3.0 bridge",
    "nnsight": "nnsight",
}
KEEPS = {"all": "run_with_cache", "stream": "our points only"}
ROUNDS = {16: 8, 128: 4, 1024: 1}  # for each repetition: medians of short runs need more of them
ROUNDS_OF_PEAKS = 5  # the first ones differ by a third from run to run
OF_FORWARD_PASS = 1.1  # bound of the trace's time against the bare forward pass
OF_CACHE = {"time": 0.5, "peak memory": 0.33}  # bounds against a library that keeps everything


def compared(python, folder, sides, tokens, repeat):
    """Return two dictionaries, side → seconds and side → MB, for sides that a Python runs on so many tokens."""
    options = ("--tokens", tokens, "--rounds")
    seconds = tracers.run(python, "time", folder, *options, ROUNDS[tokens] * repeat, "--sides", *sides)
    megabytes = {}
    for side in sides:
        megabytes |= tracers.run(python, "peak", folder, *options, ROUNDS_OF_PEAKS, "--sides", side)
    return seconds, megabytes


def rows(what, ours, theirs, measured, bounds=()):
    """Yield the rows of time and of memory for one side beside another; measured: what `compared` returns."""
    bounds = dict(bounds)
    for quantity, unit, values in zip(("time", "peak memory"), ("s", "MB"), measured, strict=True):
        yield f"{what}, {quantity}", values[ours], values[theirs], unit, bounds.get(quantity)


def installed(repeat, _=None):
    """Yield the rows for what is installed anyway: the bare forward pass, and transformers' own hidden states."""
    sides = ["ours", "forward", "transformers hidden", "transformers trace"]
    with tempfile.TemporaryDirectory() as folder:
        tracers.run(sys.executable, "make", folder)
        for tokens in ROUNDS:
            measured = compared(sys.executable, folder, sides, tokens, repeat)
            what = f"trace against the bare forward pass, {tokens} tokens"
            yield from rows(what, "ours", "forward", measured, {"time": OF_FORWARD_PASS})
            what = f"trace of our decoder against transformers’ hidden states, {tokens} tokens"
            bounds = {"time": 1.0, "peak memory": 1.0} if tokens > 16 else {}
            yield from rows(what, "ours", "transformers hidden", measured, bounds)
            what = f"trace of GPT2LMHeadModel against transformers’ hidden states, {tokens} tokens"
            yield from rows(what, "transformers trace", "transformers hidden", measured, bounds)


def from_pypi(repeat, folder=None):
    """Yield the rows for TransformerLens and nnsight, and the bare forward pass in the same run; the trace runs in the
    same process as they do. folder: keeps the environments and the model between runs."""
    with tempfile.TemporaryDirectory() as temporary:
        kept = Path(folder or temporary).resolve()
        for name, (pins, libraries) in ENVIRONMENTS.items():
            python = environment(kept / name, pins)
            if not (kept / "gpt2").exists():
                tracers.run(python, "make", kept)
            sides = [f"{library} {keeps}" for library, all_kept in libraries.items() for keeps in all_kept]
            for tokens in ROUNDS:
                measured = compared(python, kept, ["ours", "forward", *sides], tokens, repeat)
                for side in sides:
                    library, keeps = side.split()
                    what = f"trace against {NAMED[library]}, {KEEPS[keeps]}, {tokens} tokens"
                    yield from rows(what, "ours", side, measured, OF_CACHE if keeps == "all" else ())
                what = f"trace against the bare forward pass, {tokens} tokens"
                yield from rows(what, "ours", "forward", measured, {"time": OF_FORWARD_PASS})


def environment(folder, pins):
    """Return the Python of a virtual environment with these packages; one that was finished before is used again."""
    of_readers = (ROOT / "requirements.txt").read_text(encoding="utf8").splitlines()
    shared = [requirement for requirement in of_readers if requirement.split("==")[0] in SHARED]
    wanted = "\n".join(shared + pins)
    python = folder / "bin" / "python"
    finished = folder / "pins.txt"
    if not finished.exists() or finished.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "-qq", *wanted.split()], check=True, stdout=sys.stderr)
        finished.write_text(wanted)
    return python
