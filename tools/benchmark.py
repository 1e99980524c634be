"""Measure speed and memory against what people use instead, as ratios of medians within one run.

    python tools/benchmark.py [trace] [widget] [load] [import] [peers] [--repeat N] [--folder DIR]

trace   the trace against transformers' forward pass with output_hidden_states=True, on a decoder of
        GPT-2 small's size with random weights, 128 and 1024 tokens: time and peak memory
widget  one change of the explorer, first visit and revisit, against a new pyplot figure that is saved
        with a tight box on every change; the trace is known to both
load    GPT-2 small from the cache, its hash known, against from_pretrained; random weights stand in
import  helpers, and the check of all notebooks, against importing torch
peers   only when named: the trace against TransformerLens and nnsight, from PyPI in environments of their own
        (3 GB, kept in --folder); click to picture against `interact`, in Chromium; kernel start to first picture

Each measurement of memory (Linux only), loading and importing runs in a process of its own; the sides take turns.
One thread, as on Binder.
"""

import argparse
import hashlib
import io
import itertools
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import contestants

REVISION = "607a30d783dfa663caf39e06633721c8d4cfcd7e"


def alternate(sides, repeat):
    """Run each function of a dictionary in turn, `repeat` times after a warm-up; return its median seconds."""
    times = {name: [] for name in sides}
    for round_ in range(repeat + 1):
        for name, function in sides.items():
            start = time.perf_counter()
            function()
            if round_:
                times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in times.items()}


def child(code, **env):
    """Run Python code in a fresh process and return the number that it prints last."""
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | env)
    return float(result.stdout.split()[-1])


def row(what, ours, theirs, unit, bound):
    ratio = ours / theirs
    verdict = "" if bound is None else f"≤ {bound}" + ("" if ratio <= bound else "  MISSED")
    print(f"| {what} | {ours:.4g} {unit} | {theirs:.4g} {unit} | {ratio:.3f} | {verdict} |", flush=True)


def bench_trace(repeat):
    theirs = "transformers hidden"
    with tempfile.TemporaryDirectory() as folder:
        run = partial(contestants.run, sys.executable)
        run("make", folder)
        for tokens in (128, 1024):
            sides = {"ours": "helpers.gpt", "transformers trace": "GPT2LMHeadModel"}
            options = folder, "--tokens", tokens, "--rounds"
            times = run("time", *options, repeat, "--sides", *sides, theirs)
            # five rounds: the first ones differ by a third from run to run
            peaks = {side: run("peak", *options, 5, "--sides", side)[side] for side in (*sides, theirs)}
            for side, name in sides.items():
                row(f"trace of {name}, {tokens} tokens, time", times[side], times[theirs], "s", 1.0)
                row(f"trace of {name}, {tokens} tokens, peak memory", peaks[side], peaks[theirs], "MB", 1.0)


def bench_widget(repeat):
    """Every explorer against the usual pattern: a new pyplot figure with the same data for each change."""
    import matplotlib

    matplotlib.use("agg")
    from helpers import experiments, explorers, figures, race

    made = {
        "residual stream": explorers.residual_stream(model="bundled/ln-pre", reference=True),
        "LayerNorm step by step": explorers.layer_norm_steps(),
        "LayerNorm against RMSNorm": explorers.layer_norm_against_rms_norm(),
        "placement": explorers.placement(),
        "warmup race": race.WarmupRace(),
    }
    made["residual stream"].controls["writes"].value = True
    computing = []  # seconds that an explorer computed and did not draw
    experiments.at_initialisation = timed(experiments.at_initialisation, computing)
    last, render = [None], figures.render
    figures.render = lambda figure, alt: (last.insert(0, figure), render(figure, alt))[1]
    for name, explorer in made.items():
        first, again, usual = [], [], []
        states = states_of(explorer, 3 + 5 * repeat)
        for state in states:
            computing.clear()
            first.append(seconds(put, explorer, state) - sum(computing))
            usual.append(seconds(redraw, last[0]))
        for state in states:
            again.append(seconds(put, explorer, state))
        medians = [statistics.median(values[3:]) * 1000 for values in (first, again, usual)]
        row(f"{name}, first visit", medians[0], medians[2], "ms", 0.4)
        row(f"{name}, revisit", medians[1], medians[2], "ms", 0.02)


def timed(function, spent):
    def wrapper(*arguments):
        start = time.perf_counter()
        try:
            return function(*arguments)
        finally:
            spent.append(time.perf_counter() - start)

    return wrapper


def seconds(function, *arguments):
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def states_of(explorer, most):
    """Return up to `most` states, spread over all combinations of the explorer's controls with options."""
    chosen = {name: control for name, control in explorer.controls.items() if hasattr(control, "options")}
    chosen.pop("model", None)
    options = [[value for _, value in control.options] for control in chosen.values()]
    states = [dict(zip(chosen, values)) for values in itertools.product(*options)]
    random.Random(0).shuffle(states)
    return states[:most]


def put(explorer, state):
    """Set the state as one change, as a reader who moves one control does."""
    with explorer._lock:
        explorer.refresh, refresh = lambda: None, explorer.refresh
        for name, value in state.items():
            explorer.controls[name].value = value
        explorer.refresh = refresh
    explorer.refresh()
    assert explorer.error is None


def redraw(figure):
    """Draw the data of a figure anew with pyplot and save it as the inline backend does."""
    import matplotlib.pyplot as plt

    fresh, panels = plt.subplots(1, len(figure.axes), figsize=figure.get_size_inches(), squeeze=False)
    for axes, old in zip(panels[0], figure.axes):
        for line in old.lines:
            style = {key: getattr(line, f"get_{key}")() for key in ("marker", "linestyle", "color", "label")}
            axes.plot(line.get_xdata(), line.get_ydata(), **style)
        if old.patches:
            axes.bar(range(1, len(old.patches) + 1), [patch.get_height() for patch in old.patches])
        axes.set(xlabel=old.get_xlabel(), ylabel=old.get_ylabel(), title=old.get_title(), yscale=old.get_yscale())
        axes.grid(alpha=0.3)
        if old.get_legend():
            axes.legend()
    fresh.savefig(io.BytesIO(), format="png", bbox_inches="tight")
    plt.close(fresh)


def make_cache(home):
    """Write a cache that holds a GPT-2 small with random weights; return the hash of the weights."""
    repo = Path(home, "hub", "models--openai-community--gpt2")
    snapshot = repo / "snapshots" / REVISION
    for folder in (repo / "blobs", repo / "refs", snapshot):
        folder.mkdir(parents=True)
    (repo / "refs" / "main").write_text(REVISION)
    contestants.run(sys.executable, "make", home)
    hashes = {}
    for path in Path(home, "gpt2").iterdir():
        data = path.read_bytes()
        large = path.suffix == ".safetensors"
        digest = hashlib.sha256(data) if large else hashlib.sha1(b"blob %d\0" % len(data) + data)
        hashes[path.name] = digest.hexdigest()
        path.rename(repo / "blobs" / digest.hexdigest())
        (snapshot / path.name).symlink_to(Path("../../blobs", digest.hexdigest()))
    return hashes["model.safetensors"]


def bench_load(repeat):
    with tempfile.TemporaryDirectory() as home:
        digest = make_cache(home)
        template = "import time, torch\nstart = time.perf_counter()\n{imports}\nmiddle = time.perf_counter()\n{load}\n"
        template += "print(time.perf_counter() - {since})"
        sides = {
            "ours": {
                "imports": "import tokenizers\nfrom helpers import models\nfrom huggingface_hub import hf_hub_download",
                "load": f"models.CHECKPOINTS['gpt2']['sha256'] = '{digest}'\nassert models.load('gpt2').name == 'gpt2'",
            },
            "theirs": {
                "imports": "from transformers import GPT2LMHeadModel",
                "load": f"GPT2LMHeadModel.from_pretrained('openai-community/gpt2', revision='{REVISION}')",
            },
        }
        child(template.format(**sides["ours"], since="start"), HF_HOME=home, HF_HUB_OFFLINE="1")  # hashed once
        for since, what in (("middle", "the call alone"), ("start", "with the libraries’ import, torch’s apart")):
            times = {side: [] for side in sides}
            for _ in range(repeat):
                for side, parts in sides.items():
                    code = template.format(**parts, since=since)
                    times[side].append(child(code, HF_HOME=home, HF_HUB_OFFLINE="1"))
            medians = (statistics.median(times[side]) for side in ("ours", "theirs"))
            row(f"load GPT-2 small from the cache, {what}", *medians, "s", 1.2)


def bench_import(repeat):
    codes = {
        "torch": "import torch",
        "helpers": "import torch, helpers",
        "lesson": "import torch\nfrom helpers import checkpoints, claims, experiments, explorers, figures, models, trace",
    }
    commands = {name: ["-c", code] for name, code in codes.items()}
    commands["check"] = [str(Path(__file__).with_name("notebooks.py")), "check"]
    run = lambda command: subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
    times = alternate({name: lambda command=command: run(command) for name, command in commands.items()}, repeat)
    row(
        "import helpers beyond import torch (bound 0.3 s)", times["helpers"] - times["torch"], times["torch"], "s", None
    )
    row("all that lesson 4 imports, beyond torch", times["lesson"] - times["torch"], times["torch"], "s", None)
    row("notebooks.py check of the whole tree (bound 5 s)", times["check"], times["torch"], "s", None)


def main():
    sections = {"trace": bench_trace, "widget": bench_widget, "load": bench_load, "import": bench_import}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", metavar="section", help=f"{', '.join(sections)}, peers")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--folder", help="keeps the environments of the peers between runs")
    args = parser.parse_args()
    if unknown := set(args.sections) - {*sections, "peers"}:
        parser.error(f"no such section: {', '.join(sorted(unknown))}")
    os.environ["OMP_NUM_THREADS"] = "1"  # before torch is imported, and for the child processes
    print("| measure | ours | theirs | ratio | bound |\n|---|---|---|---|---|")
    for name in args.sections or sections:
        if name == "peers":
            import peers  # needs what the tests need

            for line in peers.rows(args.repeat, args.folder):
                row(*line)
        else:
            sections[name](args.repeat)


if __name__ == "__main__":
    main()
