"""The warmup race: stored training runs, and the same runs trained live beside their stored curves."""

import json
import statistics
import threading
import time
from functools import cache
from importlib.resources import files

import ipywidgets

from helpers import experiments, figures
from helpers.language import number, say
from helpers.widgets import Explorer, choice

KINDS = {
    "post": {"placement": "post"},
    "pre": {"placement": "pre"},
    "deepnorm": {"placement": "deepnorm"},
    "rms_post": {"placement": "post", "norm": "rmsnorm"},
    "rms_pre": {"placement": "pre", "norm": "rmsnorm"},
    "no_final": {"placement": "pre", "final_norm": False},
    "none_gpt2": {"placement": "none", "scheme": "gpt2"},
    "none_xavier": {"placement": "none"},
}
CHUNK = 10  # steps that one point of a curve is the mean of
EVERY = 0.5  # seconds between two pictures of a live run


@cache
def stored():
    """Return name → (Run, one curve a seed) from tools/store_runs.py; a curve is as `chunked` returns it."""
    found = json.loads(files("helpers").joinpath("bundled", "runs.json").read_text())["runs"]
    return {name: (experiments.Run(**entry["run"]), entry["losses"]) for name, entry in found.items()}


def ends(name):
    """Return the loss at the end of a stored run for each seed, the mean of its last 20 steps."""
    return [statistics.mean(curve[-2:]) for curve in stored()[name][1]]


def chunked(losses):
    """Return the means of 10 losses each, rounded to 3 decimals; a chunk that is not full is left out."""
    return [round(statistics.fmean(losses[end - CHUNK : end]), 3) for end in range(CHUNK, len(losses) + 1, CHUNK)]


class Race(Explorer):
    """A run's stored curve, and the same run trained live in a thread of its own; see `warmup_race`."""

    def __init__(self, kind, layers, rate, warmup, seed):
        self._seed, self._job, self.thread = seed, None, None
        self._unigram, (self._figure, self._axes) = experiments.unigram(), figures.new_axes("axis.step", "axis.loss")
        self.train, self.stop = (ipywidgets.Button(description=say(f"race.{key}")) for key in ("train", "stop"))
        self.train.on_click(self.start)
        self.stop.on_click(self.halt)
        self.progress = ipywidgets.IntProgress()
        controls = {"kind": choice(ipywidgets.Dropdown, "race", KINDS, kind)}
        shown = {"layers": ((6, 12, 24), layers), "rate": ((1e-4, 5e-4, 3e-3), rate), "warmup": ((0, 400), warmup)}
        for name, (values, value) in shown.items():
            named, text = [(number(v, trim=True), v) for v in values], say(f"race.{name}")
            controls[name] = ipywidgets.Dropdown(
                options=named, value=value, description=text, style=controls["kind"].style
            )
        super().__init__(controls, self._draw_state)
        self.box.children = [
            *self.box.children[:-2],
            ipywidgets.HBox([self.train, self.stop, self.progress]),
            *self.box.children[-2:],
        ]
        self.halt()

    def _run(self, kind, **choices):
        """Return the Run of a state and its stored curves, if there are any."""
        run = experiments.Run(**KINDS[kind], **choices)
        same = lambda other: vars(other) | {"steps": run.steps} == vars(run)
        return next((found for found in stored().values() if same(found[0])), (run, []))

    def _changed(self, change):
        self.halt()
        super()._changed(change)

    def _draw_state(self, live=(), **state):
        run, curves = self._run(**state)
        names = {"kind": say(f"race.{state['kind']}"), "rate": number(run.rate, trim=True)}
        told = [say("race.title", layers=run.layers, warmup=run.warmup, **names)]
        places = lambda curve: range(CHUNK, CHUNK * len(curve) + 1, CHUNK)
        with figures.drawing:
            for artist in [*self._axes.lines, *self._axes.collections]:
                artist.remove()
            self._axes.axhline(self._unigram, color="#404040", linestyle=":", label=say("race.unigram"))
            told.append(say("race.alt_none"))
            if curves:
                low, middle, high = zip(*((min(p), statistics.median(p), max(p)) for p in zip(*curves)))
                self._axes.fill_between(places(low), low, high, color="#0072B2", alpha=0.2, linewidth=0)
                self._axes.plot(places(middle), middle, color="#0072B2", label=say("race.stored", seeds=len(curves)))
                values = {"first": middle[0], "last": middle[-1], "low": low[-1], "high": high[-1]}
                told[-1] = say("race.alt_stored", seeds=len(curves), **values)
            if live:
                curve = chunked(live)
                self._axes.plot(
                    places(curve), curve, color="#B34700", marker="o", label=say("race.live", seed=self._seed)
                )
                told.append(say("race.alt_live", step=len(live), steps=run.steps, loss=live[-1]))
            self._axes.set(xlim=(0, run.steps), ylim=(0, 5))
            self._axes.legend(frameon=False, loc="lower left", ncols=2)
            return figures.render(self._figure, " ".join(told)), " ".join(told)

    def start(self, _=None):
        """Train the present choice live, in place of any other live run."""
        with self._lock:
            self._job, state = object(), self.state()
            self.progress.max, self.progress.value = self._run(**state)[0].steps, 0
            self.train.disabled, self.stop.disabled = True, False
            self.thread = threading.Thread(target=self._work, args=(self._job, state), daemon=True)
            self.thread.start()

    def halt(self, _=None):
        """Stop the live run; it ends before its next step."""
        with self._lock:
            self._job, self.train.disabled, self.stop.disabled = None, False, True

    def _work(self, job, state):
        live, shown = [], time.monotonic()
        try:
            for loss in self._run(**state)[0].losses(self._seed):
                live.append(loss)
                if self._job is not job:
                    return
                if time.monotonic() - shown > EVERY:
                    self._show(job, state, live)
                    shown = time.monotonic()
            self._show(job, state, live)
        except Exception as problem:
            self.error = problem
            self.tell(say("explorer.failed", problem=f"{type(problem).__name__}: {problem}"))
        with self._lock:
            if self._job is job:
                self.halt()

    def _show(self, job, state, live):
        picture, message = self._draw_state(live, **state)
        with self._lock:
            if self._job is job:  # else a later choice has taken the picture's place
                self.picture, self.image.value, self.progress.value = picture, picture.img(), len(live)
                self.tell(message)


def warmup_race(kind="post", layers=12, rate=5e-4, warmup=0, seed=0):
    """Return the warmup race; arguments are the choice it starts with. seed: of the live runs."""
    return Race(kind, layers, rate, warmup, seed)
