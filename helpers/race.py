"""The warmup race: stored training runs, and the same runs trained live beside their stored curves."""

import json
import statistics
import threading
import time
from functools import cache
from importlib.resources import files

import ipywidgets

from helpers import figures
from helpers.experiments import LETTERS, Run, sentences
from helpers.language import number, say
from helpers.widgets import Explorer, choice

KINDS = {  # the kinds of runs that a reader can choose
    "post": {"placement": "post"},
    "pre": {"placement": "pre"},
    "deepnorm": {"placement": "deepnorm"},
    "rms_post": {"placement": "post", "norm": "rmsnorm"},
    "rms_pre": {"placement": "pre", "norm": "rmsnorm"},
    "no_final": {"placement": "pre", "final_norm": False},
    "none_gpt2": {"placement": "none", "scheme": "gpt2"},
    "none_xavier": {"placement": "none"},
}
EVERY = 0.5  # seconds between two pictures of a live run
CHUNK = 10  # steps that one point of a curve is the mean of


@cache
def stored():
    """Return name → (Run, a curve for each seed), as tools/store_runs.py left them; see `chunked` for a curve."""
    found = json.loads(files("helpers").joinpath("bundled", "runs.json").read_text())["runs"]
    return {name: (Run(**entry["run"]), entry["losses"]) for name, entry in found.items()}


def ends(name):
    """Return the loss at the end of a stored run, the mean of its last 20 steps, for each seed."""
    return [statistics.mean(curve[-2:]) for curve in stored()[name][1]]


def chunked(losses):
    """Return the means of 10 losses each, rounded to 3 decimals; a chunk that is not full is left out."""
    starts = range(0, len(losses) - CHUNK + 1, CHUNK)
    return [round(statistics.fmean(losses[start : start + CHUNK]), 3) for start in starts]


@cache
def unigram():
    """Return the entropy of the letters of the text, in nats: the loss of who knows only their frequencies."""
    share = sentences(100_000).bincount(minlength=len(LETTERS)) / 100_000
    return -share.xlogy(share).sum().item()


class Race(Explorer):
    """A run's stored curve, and the same run trained live in a thread of its own; see `warmup_race`."""

    def __init__(self, kind, layers, rate, warmup, seed):
        self._seed, self._job, self.thread = seed, None, None
        self._figure, self._axes = figures.new_axes("axis.step", "axis.loss", layout=None)
        self._figure.subplots_adjust(left=0.1, right=0.98, bottom=0.12, top=0.84)
        named = lambda values: [(number(value, trim=True), value) for value in values]
        style = {"description_width": "initial"}
        drop = lambda key, values, value: ipywidgets.Dropdown(
            options=named(values), value=value, description=say(key), style=style
        )
        self.train, self.stop = (ipywidgets.Button(description=say(f"race.{key}")) for key in ("train", "stop"))
        self.progress = ipywidgets.IntProgress(layout={"width": "12em"})
        self.train.on_click(self.start)
        self.stop.on_click(self.halt)
        controls = {
            "kind": choice(ipywidgets.Dropdown, "race", KINDS, kind),
            "layers": drop("axis.depth", (6, 12, 24), layers),
            "rate": drop("race.rate", (1e-4, 1e-3, 3e-3), rate),
            "warmup": drop("race.warmup", (0, 400), warmup),
        }
        super().__init__(controls, self._draw_state)
        row = lambda *parts: ipywidgets.HBox(parts, layout={"flex_flow": "row wrap", "grid_gap": "0 24px"})
        buttons = row(self.train, self.stop, self.progress)
        self.box.children = [row(*controls.values()), buttons, self.image, self.message]
        self.halt()

    def run(self, kind, layers, rate, warmup):
        """Return the Run of a state and its stored curves, an empty list if there are none."""
        run = Run(**KINDS[kind], layers=layers, rate=rate, warmup=warmup, steps=600 if warmup or rate < 1e-3 else 300)
        same = lambda other: {**vars(other), "steps": 0} == {**vars(run), "steps": 0}
        return next(((other, curves) for other, curves in stored().values() if same(other)), (run, []))

    def _changed(self, change):
        self.halt()
        super()._changed(change)

    def _draw_state(self, kind, layers, rate, warmup, live=()):
        run, curves = self.run(kind, layers, rate, warmup)
        title = say("race.title", kind=say(f"race.{kind}"), layers=layers, rate=number(rate, trim=True), warmup=warmup)
        points = list(zip(*curves))  # only as far as every seed has come
        told, x = [title + "."], range(CHUNK, CHUNK * len(points) + 1, CHUNK)
        with figures.drawing:
            axes = self._axes
            for artist in [*axes.lines, *axes.collections]:
                artist.remove()
            axes.axhline(unigram(), color="#404040", linestyle=":", label=say("race.unigram"))
            if points:
                middle, low, high = (list(map(f, points)) for f in (statistics.median, min, max))
                axes.fill_between(x, low, high, color="#0072B2", alpha=0.2, linewidth=0)
                axes.plot(x, middle, color="#0072B2", label=say("race.stored", seeds=len(curves)))
                values = {"first": middle[0], "last": middle[-1], "low": low[-1], "high": high[-1]}
                told.append(say("race.alt_stored", seeds=len(curves), **values))
            else:
                told.append(say("race.alt_none"))
            if live:
                means = chunked(live)
                at = range(CHUNK, CHUNK * len(means) + 1, CHUNK)
                axes.plot(at, means, color="#B34700", marker="o", markersize=3, label=say("race.live", seed=self._seed))
                told.append(say("race.alt_live", step=len(live), steps=run.steps, loss=live[-1]))
            axes.set(xlim=(0, run.steps), ylim=(0, 5))
            axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(-0.08, 1), ncols=2)
            text = " ".join(told)
            return figures.render(self._figure, text), text

    def start(self, _=None):
        """Train the present choice live, in place of any other live run."""
        with self._lock:
            self.halt()
            self._job = job = object()
            run, _ = self.run(**self.state())
            self.progress.max, self.progress.value = run.steps, 0
            self.train.disabled, self.stop.disabled = True, False
            self.thread = threading.Thread(target=self._work, args=(job, run, self.state()), daemon=True)
            self.thread.start()

    def halt(self, _=None):
        """Stop the live run; it ends before its next step."""
        with self._lock:
            self._job = None
            self.train.disabled, self.stop.disabled = False, True

    def _work(self, job, run, state):
        live, shown = [], time.monotonic()
        try:
            for loss in run.losses(self._seed):
                if self._job is not job:
                    return
                live.append(loss)
                if time.monotonic() - shown > EVERY:
                    self._show(job, state, live)
                    shown = time.monotonic()
            self._show(job, state, live, "" if len(live) == run.steps else " " + say("race.diverged"))
        except Exception as problem:
            self.error = problem
            self.tell(say("explorer.failed", problem=f"{type(problem).__name__}: {problem}"))
        finally:
            if self._job is job:
                self.halt()

    def _show(self, job, state, live, ending=""):
        picture, message = self._draw_state(**state, live=live)
        with self._lock:
            if self._job is job:  # else a later choice has taken the picture's place
                self.picture, self.image.value, self.progress.value = picture, picture.img(), len(live)
                self.tell(message + ending)


def warmup_race(kind="post", layers=12, rate=1e-3, warmup=0, seed=0):
    """Return the warmup race; arguments are the choice it starts with. seed: of the live runs."""
    return Race(kind, layers, rate, warmup, seed)
