"""The warmup race: stored training runs, and the same runs trained live beside their stored curves."""

import statistics
import threading
from dataclasses import dataclass, replace
from functools import cache

import ipywidgets

from helpers import figures
from helpers.explorers.base import Explorer, choice, failure
from helpers.language import data, number, say
from helpers.training import Run, unigram

KINDS = {
    "post": Run("post"),
    "pre": Run("pre"),
    "deepnorm": Run("deepnorm"),
    "rms_post": Run("post", "rmsnorm"),
    "rms_pre": Run("pre", "rmsnorm"),
    "no_final": Run("pre", final_norm=False),
    "none_gpt2": Run("none", scheme="gpt2"),
    "none_xavier": Run("none"),
}
CHOICES = {"layers": (6, 12, 24), "rate": (1e-4, 5e-4, 3e-3), "warmup": (0, 200, 400)}
CHUNK = 10  # steps that one point of a curve is the mean of
EVERY = 20  # steps between two pictures of a live run
STORED_COLOUR = "#0072B2"
LIVE_COLOUR = "#B34700"
HIGHEST = 5  # loss on the linear axis; what is above asks for a logarithmic one


@cache
def stored():
    """Return name → (Run, one curve a seed) from tools/training/race_runs.py; a curve is as `chunked` returns it."""
    entries = data("explorers/race_runs.json")["runs"]
    return {name: (Run(**entry["run"]), entry["losses"]) for name, entry in entries.items()}


def ends(name):
    """Return the loss at the end of a stored run for each seed, the mean of its last 20 steps."""
    _, curves = stored()[name]
    return [round(statistics.mean(curve[-2:]), 3) for curve in curves]


def chunked(losses):
    """Return the means of 10 losses each, rounded to 3 decimals; a chunk that is not full is left out."""
    last_end = len(losses) // CHUNK * CHUNK
    return [round(statistics.fmean(losses[start : start + CHUNK]), 3) for start in range(0, last_end, CHUNK)]


@dataclass(frozen=True)
class LiveCurve:
    """The losses of a live run so far, and the state of the controls that it belongs to."""

    losses: tuple
    state: dict
    steps: int  # of the whole run


class WarmupRace(Explorer):
    """A run's stored curve, and the same run trained live in a thread of its own. seed: of the live runs."""

    def __init__(self, kind="post", layers=12, rate=5e-4, warmup=0, seed=0):
        self.thread = None  # of the last live run
        self._live = None  # the LiveCurve that the picture shows, if it shows one
        self._seed = seed
        self._stopped = threading.Event()  # of the last live run; each has one of its own
        self._figure, self._axes = figures.new_axes("axis.step", "axis.loss", margins=(0.12, 0.13, 0.98, 0.97))
        self._axes.axhline(unigram(), color="#404040", linestyle=":", label=say("race.unigram"))
        self.train = ipywidgets.Button(description=say("race.train"))
        self.train.on_click(self._clicked_train)
        self.stop = ipywidgets.Button(description=say("race.stop"))
        self.stop.on_click(self._clicked_stop)
        self.progress = ipywidgets.IntProgress()
        controls = {
            "kind": choice("race", KINDS, kind),
            "layers": choice("race.layers", CHOICES["layers"], layers),
            "rate": choice("race.rate", CHOICES["rate"], rate),
            "warmup": choice("race.warmup", CHOICES["warmup"], warmup),
        }
        super().__init__(controls, self._draw_state)
        live = ipywidgets.HBox([self.train, self.stop, self.progress], layout={"flex_flow": "row wrap"})
        self.box.children = [*controls.values(), live, *self.shown]

    def _clicked_train(self, _button):
        self.start()

    def _clicked_stop(self, _button):
        self.halt()

    def _changed(self, change):
        with self._lock:
            self.halt()
            self._live = None
            super()._changed(change)

    def refresh(self):
        """Draw the present state, with its live curve if the picture shows one."""
        with self._lock:
            if self._live is None:
                super().refresh()
                return
            picture, message = self._draw_state(self._live.losses, **self._live.state)
            self.show(picture)
            self.tell(message)

    def start(self):
        """Train the present choice live, in place of any other live run."""
        with self._lock:
            self.halt()
            self._stopped = threading.Event()
            arguments = (self.state(), self._stopped)
            self.thread = threading.Thread(target=self._train, args=arguments, daemon=True)
            self.thread.start()

    def halt(self):
        """Stop the live run; it ends before its next step, and its curve stays until another choice is made."""
        with self._lock:
            self._stopped.set()
            self.progress.value = 0

    def _train(self, state, stopped):
        """Train until the end or until `stopped` is set, and show the curve again and again."""
        run, _ = find(**state)
        losses = []
        shown = 0  # steps
        try:
            for loss in run.losses(self._seed):
                if stopped.is_set():
                    return
                losses.append(loss)
                if len(losses) % EVERY == 1:  # the first step is a sign of life
                    self._show_live(LiveCurve(tuple(losses), state, run.steps), stopped)
                    shown = len(losses)
            if len(losses) > shown:
                self._show_live(LiveCurve(tuple(losses), state, run.steps), stopped)
        except Exception as problem:
            self.error = problem
            self.tell_problem(failure(problem))

    def _show_live(self, live, stopped):
        """Show the losses of a live run so far, unless a later choice has taken the picture's place."""
        picture, message = self._draw_state(live.losses, **live.state)
        with self._lock:
            if stopped.is_set():
                return
            self._live = live
            self.show(picture)
            self.progress.max = live.steps
            self.progress.value = len(live.losses)
            self.tell(message)

    def _draw_state(self, live=(), **state):
        run, curves = find(**state)
        told = [title(**state)]
        with figures.drawing:
            for artist in [*self._axes.lines[1:], *self._axes.collections]:  # the first line stays
                artist.remove()
            if curves:
                told.append(self._draw_stored(curves))
            else:
                told.append(say("race.alt_none"))
            if live:
                told.append(say("race.alt_live", step=len(live), steps=run.steps, loss=live[-1]))
                self._plot(chunked(live), color=LIVE_COLOUR, marker=".", label=say("race.live", seed=self._seed))
            self._fit_axes(run.steps)
            self._axes.legend(frameon=False, loc="lower left", ncols=2)
            text = " ".join(told)
            return figures.render(self._figure, text), text

    def _draw_stored(self, curves):
        """Draw the median of the seeds within their range; return what it shows in words."""
        points = list(zip(*curves))
        low = [min(point) for point in points]
        middle = [statistics.median(point) for point in points]
        high = [max(point) for point in points]
        line = self._plot(middle, color=STORED_COLOUR, label=say("race.stored", seeds=len(curves)))
        self._axes.fill_between(line.get_xdata(), low, high, color=STORED_COLOUR, alpha=0.2, linewidth=0)
        values = {"first": middle[0], "last": middle[-1], "low": low[-1], "high": high[-1]}
        return say("race.alt_stored", seeds=len(curves), **values)

    def _plot(self, curve, **style):
        """Draw a curve as `chunked` returns it; return its line."""
        steps = [CHUNK * (index + 1) for index in range(len(curve))]
        (line,) = self._axes.plot(steps, curve, **style)
        return line

    def _fit_axes(self, steps):
        highest = max([HIGHEST, *(loss for line in self._axes.lines[1:] for loss in line.get_ydata())])
        if highest == HIGHEST:
            self._axes.set(xlim=(0, steps), yscale="linear", ylim=(0, HIGHEST))
        else:
            self._axes.set(xlim=(0, steps), yscale="log", ylim=(1, 2 * highest))
        figures.write_numbers(self._axes)


def find(kind, layers, rate, warmup):
    """Return the Run of a state and its stored curves, [] if there are none.

    A stored run has its own number of steps, which is then that of the state."""
    run = replace(KINDS[kind], layers=layers, rate=rate, warmup=warmup)
    for known, curves in stored().values():
        with_steps_of_known = replace(run, steps=known.steps)
        if known == with_steps_of_known:
            return known, curves
    return run, []


def title(kind, layers, rate, warmup):
    """Return in words what a state trains."""
    named = {"kind": say(f"race.{kind}"), "rate": number(rate, trim=True)}
    return say("race.title", layers=layers, warmup=warmup, **named)
