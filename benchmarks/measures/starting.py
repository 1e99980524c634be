"""How long it takes, and how much memory, until there is something to see: imports, the model, the first picture.

Each function yields rows: (measure, ours, theirs, unit, bound of the ratio or None).
"""

import ast
import hashlib
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

from benchmarks.measures import tracers

ROOT = Path(__file__).parents[2]
REVISION = "607a30d783dfa663caf39e06633721c8d4cfcd7e"  # of GPT-2 small on the hub
MEASURED = """
import time
start = time.perf_counter()
{code}
seconds = time.perf_counter() - start
with open("/proc/self/status") as status:
    peak = status.read().split("VmHWM:")[1].split()[0]
print(seconds, int(peak) / 1024)
"""
LOADING = """
import time, torch
start = time.perf_counter()
{imports}
middle = time.perf_counter()
{load}
end = time.perf_counter()
print(end - middle, end - start)
"""
USUAL = """%matplotlib inline
import torch
import matplotlib.pyplot as plt
plt.plot(torch.arange(13), torch.rand(13))
plt.show()
"""


def numbers_of(code, **env):
    """Run Python code in a fresh process and return the numbers of the last line that it prints."""
    command = [sys.executable, "-c", code]
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | env
    result = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return [float(word) for word in result.stdout.splitlines()[-1].split()]


def in_turns(sides, repeat):
    """Call each function of a dictionary in turn, `repeat` times after a warm-up.

    Each returns a list of numbers; returned is name → the median of each of them."""
    found = {name: [] for name in sides}
    for round_ in range(repeat + 1):
        for name, function in sides.items():
            numbers = function()
            if round_ > 0:
                found[name].append(numbers)
    return {name: [statistics.median(column) for column in zip(*rows, strict=True)] for name, rows in found.items()}


# imports


def imports_of(lesson):
    """Return the import statements of an English lesson, as one text."""
    statements = []
    for source in code_of(lesson):
        if not source.startswith("%"):
            nodes = ast.walk(ast.parse(source))
            statements += [ast.unparse(node) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    return "\n".join(dict.fromkeys(statements))


def code_of(lesson):
    """Return the sources of the code cells of an English lesson."""
    notebook = nbformat.read(ROOT / "notebooks" / "en" / f"{lesson}.ipynb", as_version=4)
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def seconds_of_check():
    """Return, in a list, the seconds that the check of all notebooks takes."""
    start = time.perf_counter()
    command = [sys.executable, ROOT / "tools" / "notebooks.py", "check"]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)  # it ends with 1 if it finds something
    return [time.perf_counter() - start]


def starting(repeat, _=None):
    """Yield the rows of the imports, of `check`, and of the first picture."""
    codes = {
        "torch": "import torch",
        "helpers": "import torch, helpers",
        "lesson": "import torch\n" + imports_of("04_residual_stream"),
    }
    sides = {}
    for name, code in codes.items():
        sides[name] = partial(numbers_of, MEASURED.format(code=code))
    sides["check"] = seconds_of_check
    found = in_turns(sides, repeat)
    torch_seconds, torch_memory = found["torch"]
    seconds, memory = found["lesson"]
    beyond = found["helpers"][0] - torch_seconds
    yield "import helpers beyond import torch (bound 0.3 s)", beyond, torch_seconds, "s", None
    yield "all that lesson 4 imports, beyond torch", seconds - torch_seconds, torch_seconds, "s", None
    yield "all that lesson 4 imports, peak memory beyond torch", memory - torch_memory, torch_memory, "MB", None
    yield "notebooks.py check of the whole tree (bound 5 s)", found["check"][0], torch_seconds, "s", None
    yield from first_pictures(repeat)


# the model


def make_cache(home):
    """Write a cache that holds a GPT-2 small with random weights; return the hash of the weights."""
    repo = Path(home, "hub", "models--openai-community--gpt2")
    snapshot = repo / "snapshots" / REVISION
    for folder in (repo / "blobs", repo / "refs", snapshot):
        folder.mkdir(parents=True)
    (repo / "refs" / "main").write_text(REVISION)
    tracers.run(sys.executable, "make", home)
    hashes = {}
    for path in Path(home, "gpt2").iterdir():
        data = path.read_bytes()
        if path.suffix == ".safetensors":
            digest = hashlib.sha256(data).hexdigest()
        else:
            digest = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
        hashes[path.name] = digest
        path.rename(repo / "blobs" / digest)
        (snapshot / path.name).symlink_to(Path("../../blobs", digest))
    return hashes["model.safetensors"]


def loading(repeat, _=None):
    """Yield the rows of GPT-2 small loaded from the cache, beside from_pretrained."""
    with tempfile.TemporaryDirectory() as home:
        digest = make_cache(home)
        ours = LOADING.format(
            imports="import tokenizers\nfrom helpers import models\nfrom huggingface_hub import hf_hub_download",
            load=f"models.CHECKPOINTS['gpt2']['sha256'] = '{digest}'\nassert models.load('gpt2').name == 'gpt2'",
        )
        theirs = LOADING.format(
            imports="from transformers import GPT2LMHeadModel",
            load=f"GPT2LMHeadModel.from_pretrained('openai-community/gpt2', revision='{REVISION}')",
        )
        offline = {"HF_HOME": home, "HF_HUB_OFFLINE": "1"}
        sides = {"ours": partial(numbers_of, ours, **offline), "theirs": partial(numbers_of, theirs, **offline)}
        found = in_turns(sides, repeat)  # ours is hashed in the warm-up
    alone, with_imports = zip(found["ours"], found["theirs"], strict=True)
    yield "load GPT-2 small from the cache, the call alone", *alone, "s", 1.2
    yield "load GPT-2 small from the cache, with the libraries’ import, torch’s apart", *with_imports, "s", 1.2


# the first picture


def first_picture(cells):
    """Return the seconds from the start of a kernel until one of the cells, executed in order, shows a picture.

    Raises RuntimeError if a cell fails or none shows one."""
    start = time.perf_counter()
    shown = []

    def see(message):
        data = message["content"].get("data", {})
        if message["header"]["msg_type"] == "error":
            raise RuntimeError("\n".join(message["content"]["traceback"]))
        if "image/png" in data or "<img" in data.get("text/html", ""):
            shown.append(time.perf_counter())

    env = os.environ | {"PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1"}  # the bundled models
    manager, client = start_new_kernel(
        cwd=tempfile.gettempdir(),
        env=env,
        extra_arguments=["--log-level=ERROR"],  # without it each kernel warns that it speaks over TCP
    )
    try:
        for cell in cells:
            client.execute_interactive(cell, output_hook=see, timeout=300)
            if shown:
                return shown[0] - start
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    raise RuntimeError("no cell shows a picture")


def first_pictures(repeat):
    """Yield the rows of lessons 1 and 4 beside a kernel that imports torch and shows a plot."""
    lessons = {1: code_of("01_layernorm"), 4: code_of("04_residual_stream")}
    sides = {"usual": partial(seconds_to_picture, [USUAL])}
    for number, cells in lessons.items():
        sides[number] = partial(seconds_to_picture, cells)
    found = in_turns(sides, repeat)
    for number in lessons:
        what = f"kernel start to first picture, lesson {number}, against torch and one plot"
        yield what, found[number][0], found["usual"][0], "s", None


def seconds_to_picture(cells):
    """Return, in a list, what `first_picture` returns."""
    return [first_picture(cells)]
