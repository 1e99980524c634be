"""The warmup race: stored training runs, and the same runs trained live beside their stored curves."""

import statistics
import threading
from dataclasses import replace
from functools import cache
from itertools import islice, takewhile

import ipywidgets

from helpers import figures
from helpers.experiments import Run, unigram
from helpers.language import data, number, say
from helpers.widgets import Explorer, choice

KINDS = {
    "post": Run("post"), "pre": Run("pre"), "deepnorm": Run("deepnorm"), "rms_post": Run("post", "rmsnorm"),
    "rms_pre": Run("pre", "rmsnorm"), "no_final": Run("pre", final_norm=False),
    "none_gpt2": Run("none", scheme="gpt2"), "none_xavier": Run("none"),
}  # fmt: skip
CHOICES = {"layers": (6, 12, 24), "rate": (1e-4, 5e-4, 3e-3), "warmup": (0, 200, 400)}
CHUNK = 10  # steps that one point of a curve is the mean of
EVERY = 20  # steps between two pictures of a live run


@cache
def stored():
    """Return name → (Run, one curve a seed) from tools/training/stored_runs.py; a curve is as `chunked` returns it."""
    return {
        name: (Run(**entry["run"]), entry["losses"]) for name, entry in data("models/bundled/runs.json")["runs"].items()
    }


def ends(name):
    """Return the loss at the end of a stored run for each seed, the mean of its last 20 steps."""
    return [round(statistics.mean(curve[-2:]), 3) for curve in stored()[name][1]]


def chunked(losses):
    """Return the means of 10 losses each, rounded to 3 decimals; a chunk that is not full is left out."""
    return [round(statistics.fmean(losses[end - CHUNK : end]), 3) for end in range(CHUNK, len(losses) + 1, CHUNK)]


class WarmupRace(Explorer):
    """A run's stored curve, and the same run trained live in a thread of its own. seed: of the live runs."""

    def __init__(self, kind="post", layers=12, rate=5e-4, warmup=0, seed=0):
        self._seed, self._live, self.thread = seed, None, None
        self._figure, self._axes = figures.new_axes("axis.step", "axis.loss", margins=(0.12, 0.13, 0.98, 0.97))
        self._axes.axhline(unigram(), color="#404040", linestyle=":", label=say("race.unigram"))
        self.train, self.stop = (ipywidgets.Button(description=say(f"race.{key}")) for key in ("train", "stop"))
        self.train.on_click(self.start)
        self.stop.on_click(self.halt)
        self.progress = ipywidgets.IntProgress()
        controls, start = {"kind": choice("race", KINDS, kind)}, {"layers": layers, "rate": rate, "warmup": warmup}
        controls |= {name: choice(f"race.{name}", CHOICES[name], value) for name, value in start.items()}
        for control in controls.values():
            control.observe(self.halt, "value")  # before the new choice is drawn
        super().__init__(controls, self._draw_state)
        live = ipywidgets.HBox([self.train, self.stop, self.progress], layout={"flex_flow": "row wrap"})
        self.box.children = [*controls.values(), live, *self.shown]
        self.halt()

    def _run(self, kind, **values):
        """Return the Run of a state and its stored curves, if there are any; these know how many steps it takes."""
        run = replace(KINDS[kind], **values)
        return next((found for found in stored().values() if replace(found[0], steps=run.steps) == run), (run, []))

    def _draw_state(self, live=(), **state):
        run, curves = self._run(**state)
        named = {"kind": say(f"race.{state['kind']}"), "rate": number(run.rate, trim=True)}
        told = [say("race.title", layers=run.layers, warmup=run.warmup, **named), say("race.alt_none")]
        draw = lambda curve, **style: self._axes.plot([CHUNK * (i + 1) for i in range(len(curve))], curve, **style)
        with figures.drawing:
            for artist in [*self._axes.lines[1:], *self._axes.collections]:
                artist.remove()
            if curves:
                low, middle, high = ([pick(point) for point in zip(*curves)] for pick in (min, statistics.median, max))
                values = {"first": middle[0], "last": middle[-1], "low": low[-1], "high": high[-1]}
                told[-1] = say("race.alt_stored", seeds=len(curves), **values)
                (line,) = draw(middle, color="#0072B2", label=say("race.stored", seeds=len(curves)))
                self._axes.fill_between(line.get_xdata(), low, high, color="#0072B2", alpha=0.2, linewidth=0)
            if live:
                told.append(say("race.alt_live", step=len(live), steps=run.steps, loss=live[-1]))
                draw(chunked(live), color="#B34700", marker=".", label=say("race.live", seed=self._seed))
            high = max([5, *(loss for line in self._axes.lines[1:] for loss in line.get_ydata())])
            scale = {"yscale": "linear", "ylim": (0, 5)} if high == 5 else {"yscale": "log", "ylim": (1, 2 * high)}
            self._axes.set(xlim=(0, run.steps), **scale)
            figures.write_numbers(self._axes)
            self._axes.legend(frameon=False, loc="lower left", ncols=2)
            return figures.render(self._figure, " ".join(told)), " ".join(told)

    def start(self, _=None):
        """Train the present choice live, in place of any other live run."""
        with self._lock:
            self._live = self.thread = threading.Thread(target=self._train, args=(self.state(),), daemon=True)
            self.progress.value = 0
            self.thread.start()

    def halt(self, _=None):
        """Stop the live run; it ends before its next step."""
        with self._lock:
            self._live, self.progress.value = None, 0

    def _train(self, state):
        me, live, run = threading.current_thread(), [], self._run(**state)[0]
        losses = takewhile(lambda _: self._live is me, run.losses(self._seed))
        try:
            while new := list(islice(losses, EVERY if live else 1)):  # the first step is a sign of life
                live += new
                picture, message = self._draw_state(live, **state)
                with self._lock:
                    if self._live is me:  # else a later choice has taken the picture's place
                        self.picture, self.image.value = picture, picture.img()
                        self.progress.max, self.progress.value = run.steps, len(live)
                        self.tell(message)
        except Exception as problem:
            self.error = problem
            self.tell(say("explorer.failed", problem=f"{type(problem).__name__}: {problem}"))
