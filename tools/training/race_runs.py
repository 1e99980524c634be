"""Train the runs that lesson 3 shows and store their loss curves.

    python tools/training/race_runs.py [--only NAME ...] [--out FILE]

Steps:
1. go through RUNS in order, and for each through its seeds 0, 1, …;
2. skip what FILE holds already, so that an interrupted call goes on where it stopped;
3. train on the made-up sentences of `helpers.training`, on one thread;
4. average the losses over CHUNK steps, round them, and write FILE after each seed.
The same machine gives the same numbers. Others follow for the first dozens of steps; then rounding
errors grow, and only what holds for the seeds together stays. About 25 minutes on one core.
"""

import argparse
import json
import os
import platform
from dataclasses import asdict
from pathlib import Path

import torch
from tqdm import tqdm

from helpers.explorers.race import CHUNK, chunked
from helpers.training import Run

OUT = Path(__file__).parents[2] / "helpers" / "explorers" / "race_runs.json"
WARM = {"warmup": 400, "steps": 600}
RUNS = {  # name: (run, seeds)
    "post": (Run("post", steps=600), 5),
    "post-warmup": (Run("post", **WARM), 5),
    "pre": (Run("pre"), 5),
    "deepnorm": (Run("deepnorm"), 5),
    "post-small-rate": (Run("post", rate=1e-4, steps=500), 5),
    "post-6": (Run("post", layers=6), 5),
    "post-6-fast": (Run("post", layers=6, rate=3e-3), 5),
    "rms-pre": (Run("pre", "rmsnorm"), 5),
    "rms-post": (Run("post", "rmsnorm", steps=200), 5),
    "post-short-warmup": (Run("post", warmup=200, steps=600), 5),
    "pre-6-fast": (Run("pre", layers=6, rate=3e-3), 5),
    "no-final-norm": (Run("pre", final_norm=False), 5),
    "none-gpt2": (Run("none", scheme="gpt2", steps=200), 5),
    "none-xavier": (Run("none", steps=200), 5),
    "post-24": (Run("post", layers=24, steps=200), 5),
    "post-24-small-rate": (Run("post", layers=24, rate=1e-4, steps=500), 5),
    "none-24-xavier": (Run("none", layers=24, steps=100), 5),
    "none-24-gpt2": (Run("none", layers=24, scheme="gpt2", steps=100), 5),
    "pre-24": (Run("pre", layers=24, steps=200), 5),
    "deepnorm-24": (Run("deepnorm", layers=24, steps=200), 5),
    "pre-6": (Run("pre", layers=6), 5),
    "post-6-fast-warmup": (Run("post", layers=6, rate=3e-3, **WARM), 5),
    "post-24-warmup": (Run("post", layers=24, **WARM), 5),
    "rms-post-warmup": (Run("post", "rmsnorm", **WARM), 5),
}


def load(path):
    """Return what is stored, or an empty store."""
    if path.exists():
        return json.loads(path.read_text())
    return {"chunk": CHUNK, "versions": {"torch": torch.__version__, "python": platform.python_version()}, "runs": {}}


def save(store, path):
    """Write the store, one seed a line, in one step."""
    text = json.dumps(store).replace('"run"', '\n"run"').replace("[[", "[\n[").replace("], [", "],\n[")
    part = path.with_suffix(".part")
    part.write_text(text + "\n")
    os.replace(part, path)


def main(arguments=None):
    """Carry out the command of the command line, or of a list of words."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=RUNS, default=list(RUNS))
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args(arguments)
    torch.set_num_threads(1)
    store = load(args.out)
    for name in args.only:
        run, seeds = RUNS[name]
        entry = store["runs"].setdefault(name, {"run": asdict(run), "losses": []})
        if entry["run"] != asdict(run):
            raise SystemExit(f"{name} was stored with other settings; remove it from {args.out} to start over")
        for seed in range(len(entry["losses"]), seeds):
            progress = tqdm(run.losses(seed), total=run.steps, desc=f"{name}, seed {seed}", mininterval=10)
            entry["losses"].append(chunked(list(progress)))
            save(store, args.out)


if __name__ == "__main__":
    main()
