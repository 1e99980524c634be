"""Predict, then run. Choices stay in one file beside the notebook, `predictions.json`, and are never sent anywhere."""

import bisect
import html
import json
from pathlib import Path

import ipywidgets
from filelock import FileLock

from helpers.language import say

FILE = Path("predictions.json")
SHOW = "show"  # the choice of a reader who does not want to guess


def load():
    """Return the choices made so far, id → {"choice": index or "show", "answer": index, "measured": value}."""
    try:
        found = json.loads(FILE.read_text(encoding="utf8"))
        return {question: entry for question, entry in found.items() if isinstance(entry, dict)}
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}


def save(question, entry):
    """Add or replace one entry; another notebook may write at the same time. Raises OSError if it cannot be kept."""
    with FileLock(FILE.with_name(f".{FILE.name}.lock"), timeout=5):
        part = FILE.with_suffix(".part")
        part.write_text(json.dumps(load() | {question: entry}, indent=1), encoding="utf8")
        part.replace(FILE)


class predict:
    """A question with radio buttons; the measured answer appears after the choice, and the first choice is kept.

    question: an id; its texts are "predict.<id>" and "predict.<id>_1", …. value: the measured number. bounds:
    increasing numbers between the answers: the first answer is below the first bound, the last from the last on."""

    def __init__(self, question, value, bounds):
        self.question, self.value, self.text = question, float(value), say(f"predict.{question}")
        self.options = [say(f"predict.{question}_{index + 1}") for index in range(len(bounds) + 1)]
        self.answer = bisect.bisect(bounds, self.value)
        self.measured = say("predict.measured", answer=self.options[self.answer], value=self.value)
        choices = {text: choice for choice, text in enumerate(self.options)} | {say("predict.show"): SHOW}
        known = load().get(question, {}).get("choice")
        self.first = known if known in choices.values() else None  # the first choice is the prediction
        self.radio = ipywidgets.RadioButtons(options=choices, value=self.first, layout={"width": "auto"})
        self.radio.add_class("answers")
        self.reveal = ipywidgets.HTML()
        if self.first is not None:
            self._chosen()
        self.radio.observe(self._chosen, "value")
        wrap = ".answers label {display:flex; flex-flow:row-reverse; justify-content:start; white-space:normal; height:auto}"
        text = f'<style>{wrap}</style><div style="line-height:1.4">{html.escape(self.text)}</div>'
        self.box = ipywidgets.VBox([ipywidgets.HTML(text), self.radio, self.reveal])

    def _chosen(self, _=None):
        choice, note = self.radio.value, ""
        try:
            if self.first is None:
                self.first = choice
                save(self.question, {"choice": choice, "answer": self.answer, "measured": self.value})
        except OSError:  # filelock's Timeout is one, too
            note = say("predict.not_kept")
        key = "first" if choice != self.first else "right" if choice == self.answer else "wrong"
        word = "" if SHOW in (choice, self.first) else say(f"predict.{key}", choice=self.options[self.first])
        self.reveal.value = f'<div role="status">{html.escape(f"{word} {self.measured} {note}".strip())}</div>'

    def _repr_mimebundle_(self, **kwargs):
        items = "".join(f"<li>{html.escape(option)}</li>" for option in self.options)
        answer = f"<details><summary>{say('predict.show')}</summary>{html.escape(self.measured)}</details>"
        plain = "\n".join([self.text, *(f"{number}. {option}" for number, option in enumerate(self.options, 1))])
        shown = {"text/html": f"<p>{html.escape(self.text)}</p><ol>{items}</ol>{answer}", "text/plain": plain}
        return self.box._repr_mimebundle_(**kwargs) | shown
