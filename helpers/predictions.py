"""Predict, then run: the reader chooses an answer, and then sees what was measured.

The choices stay in one file beside the notebook, `predictions.json`, and are never sent anywhere.
"""

import bisect
import html
import json
import os
from pathlib import Path

import ipywidgets
from filelock import FileLock

from helpers.language import number, say

FILE = Path("predictions.json")
SHOW = "show"  # the choice of a reader who does not want to guess


def load():
    """Return the choices made so far, id → {"choice": index or "show", "measured": value}; {} if there are none."""
    try:
        found = json.loads(FILE.read_text(encoding="utf8"))
        return found if isinstance(found, dict) else {}
    except (OSError, ValueError):
        return {}


def save(question, entry):
    """Add or replace one entry; another notebook may write at the same time. Raises OSError if it cannot be kept."""
    with FileLock(f"{FILE}.lock", timeout=5):
        part = FILE.with_suffix(".part")
        part.write_text(json.dumps(load() | {question: entry}, indent=1), encoding="utf8")
        os.replace(part, FILE)


class Prediction:
    """A question with radio buttons; the measured answer appears after the choice."""

    def __init__(self, question, value, bounds):
        self.question, self.value = question, float(value)
        self.options = [say(f"predict.{question}_{index + 1}") for index in range(len(bounds) + 1)]
        self.answer = bisect.bisect(bounds, self.value)
        choices = [*enumerate(self.options), (SHOW, say("predict.show"))]
        known = load().get(question, {}).get("choice")
        self.radio = ipywidgets.RadioButtons(
            options=[(text, choice) for choice, text in choices],
            value=known if known in [choice for choice, _ in choices] else None,
            description=say(f"predict.{question}"),
            style={"description_width": "initial"},
            layout={"width": "max-content", "flex_flow": "column"},
        )
        self.reveal = ipywidgets.HTML(self.measured() if self.radio.value is not None else "")
        self.radio.observe(self._chosen, "value")
        self.box = ipywidgets.VBox([self.radio, self.reveal])

    def measured(self):
        """Return what was measured, after the word on the choice, as HTML."""
        choice = self.radio.value
        verdict = "" if choice in (SHOW, None) else say("predict.right" if choice == self.answer else "predict.wrong")
        text = say("predict.measured", answer=self.options[self.answer], value=number(self.value))
        return f'<div role="status">{html.escape(f"{verdict} {text}".strip())}</div>'

    def _chosen(self, _):
        text = self.measured()
        try:
            save(self.question, {"choice": self.radio.value, "measured": self.value})
        except OSError:  # filelock's Timeout is one, too
            text += f"<div>{html.escape(say('predict.not_kept'))}</div>"
        self.reveal.value = text

    def _repr_mimebundle_(self, **kwargs):
        bundle = self.box._repr_mimebundle_(**kwargs)
        question, items = say(f"predict.{self.question}"), "".join(f"<li>{html.escape(o)}</li>" for o in self.options)
        answer = say("predict.measured", answer=self.options[self.answer], value=number(self.value))
        bundle["text/html"] = (
            f"<p>{html.escape(question)}</p><ol>{items}</ol><details><summary>{html.escape(say('predict.show'))}"
            f"</summary>{html.escape(answer)}</details>"
        )
        bundle["text/plain"] = "\n".join([question, *(f"{i + 1}. {o}" for i, o in enumerate(self.options))])
        return bundle


def predict(question, value, bounds):
    """Return the question of the catalogue with this id, to be answered before `value` is revealed.

    value: the measured number. bounds: increasing numbers between the answers: answer 1 is below
    the first bound, the last answer from the last bound on. Texts: "predict.<id>", "predict.<id>_1", …
    """
    return Prediction(question, value, bounds)
