"""Measure speed and memory against what people use instead, as ratios of medians within one run.

    python -m benchmarks [trace] [load] [start] [libraries] [clicks] [--repeat N] [--folder DIR]

trace      the trace against the bare forward pass without logits, and against transformers' forward pass with
           output_hidden_states=True, on a decoder of GPT-2 small's size with random weights: time and peak memory
load       GPT-2 small from the cache, its hash known, against from_pretrained; random weights stand in
start      what a lesson imports, time and memory, and the check of all notebooks, against importing torch; from the
           start of a kernel to the first picture of lessons 1 and 4
libraries  the trace against TransformerLens and nnsight, from PyPI in environments of their own, 3 GB, kept in
           --folder; about 15 minutes
clicks     from a click to the painted picture in JupyterLab and Chromium: lesson 4's explorer beside `interact`

Without a name: trace, load and start. Run from the project's folder, in the environment of the tests. Each measurement
of memory (Linux only), loading and importing runs in a process of its own; the sides take turns. One thread, as on
Binder.
"""

import argparse
import os

from benchmarks.measures import browser_clicks, starting, trace_beside_libraries

SECTIONS = {
    "trace": trace_beside_libraries.installed,
    "load": starting.loading,
    "start": starting.starting,
    "libraries": trace_beside_libraries.from_pypi,
    "clicks": browser_clicks.rows,
}
BY_DEFAULT = ("trace", "load", "start")


def line(what, ours, theirs, unit, bound):
    """Return a row of the table: both sides, ours divided by theirs, and the bound of this ratio, or None."""
    ratio = ours / theirs
    verdict = ""
    if bound is not None:
        verdict = f"≤ {bound}"
        if ratio > bound:
            verdict += "  MISSED"
    return f"| {what} | {ours:.4g} {unit} | {theirs:.4g} {unit} | {ratio:.3f} | {verdict} |"


def main(words=None):
    """Carry out the command of the command line, or of a list of words."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sections", nargs="*", metavar="section", help=", ".join(SECTIONS))
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--folder", help="keeps the environments of the libraries between runs")
    args = parser.parse_args(words)
    unknown = sorted(set(args.sections) - SECTIONS.keys())
    if unknown:
        parser.error(f"no such section: {', '.join(unknown)}")
    os.environ["OMP_NUM_THREADS"] = "1"  # for the child processes
    print("| measure | ours | theirs | ratio | bound |\n|---|---|---|---|---|")
    for name in args.sections or BY_DEFAULT:
        for row in SECTIONS[name](args.repeat, args.folder):
            print(line(*row), flush=True)


if __name__ == "__main__":
    main()
