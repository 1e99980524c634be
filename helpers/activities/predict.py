"""Predict, then run. Choices stay in one file beside the notebook, `predictions.json`, and are never sent anywhere."""

import bisect
import html
import json
from pathlib import Path

import ipywidgets
from filelock import FileLock

from helpers import language
from helpers.language import say

FILE = Path("predictions.json")
SHOW = "show"  # the choice of a reader who does not want to guess
unsaved = {}  # entries that this kernel could not write, (place of the file, question) → entry
STYLE = (  # a long answer beside its button, in lines of its own
    "<style>.answers label {display:flex; flex-flow:row-reverse; justify-content:start; white-space:normal; height:auto}"
    "</style>"
)


def load():
    """Return the choices made so far, id → {"choice": index or "show", "answer": index, "measured": value}.

    A file that is missing, damaged or not to be read holds none."""
    try:
        return read()
    except OSError:
        return {}


def read():
    """Return what the file holds, as `load` does; raises OSError if there is a file that cannot be read."""
    try:
        found = json.loads(FILE.read_text(encoding="utf8"))
    except FileNotFoundError:
        return {}
    except (ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {question: entry for question, entry in found.items() if isinstance(entry, dict)}


def save(question, entry, choices=None):
    """Keep an entry, unless there is one of this question already; return the one that is kept.

    Another notebook may write at the same time, or may have asked the same question. An entry whose choice is none of
    `choices` is replaced. Raises OSError if the entry cannot be kept."""
    with FileLock(FILE.with_name(f".{FILE.name}.lock"), timeout=5):
        entries = read()
        known = entries.get(question)
        if known is not None and (choices is None or is_one_of(known.get("choice"), choices)):
            return known
        part = FILE.with_suffix(".part")
        part.write_text(json.dumps(entries | {question: entry}, indent=1), encoding="utf8")
        part.replace(FILE)
    return entry


def place():
    """Return where the file would lie, or None if the folder in use has been deleted."""
    try:
        return FILE.absolute()
    except OSError:
        return None


def is_one_of(choice, choices):
    """Return whether a stored choice is one that the question offers; true is not 1 here, and 1.0 is not either."""
    return any(type(choice) is type(offered) and choice == offered for offered in choices)


class predict:
    """A question with radio buttons; the measured answer appears after the choice, and the first choice is kept.

    question: an id; its texts are "predict.<id>" and "predict.<id>_1", …. value: the measured number. bounds:
    increasing numbers between the answers: the first answer is below the first bound, the last from the last on."""

    def __init__(self, question, value, bounds):
        self.question = question
        self.value = float(value)
        self.text = say(f"predict.{question}")
        self.options = [say(f"predict.{question}_{index + 1}") for index in range(len(bounds) + 1)]
        self.answer = bisect.bisect(bounds, self.value)
        self.measured = say("predict.measured", answer=self.options[self.answer], value=self.value)
        self.choices = [*range(len(self.options)), SHOW]
        self.first = self._earlier()  # the first choice is the prediction
        self.elsewhere = False  # whether the first choice was made in another notebook, meanwhile
        self.radio = ipywidgets.RadioButtons(
            options=list(zip([*self.options, say("predict.show")], self.choices, strict=True)),
            value=self.first,
            layout={"width": "auto"},
        )
        self.radio.add_class("answers")
        self.reveal = ipywidgets.HTML()
        if self.first is not None:
            self._reveal()
        self.radio.observe(self._chosen, "value")
        asked = f'<div lang="{language.current}" style="line-height:1.4">{html.escape(self.text)}</div>'
        self.box = ipywidgets.VBox([ipywidgets.HTML(STYLE + asked), self.radio, self.reveal])

    def _earlier(self):
        """Return the choice made before, in this kernel or as the file knows it, or None."""
        for entry in (load().get(self.question), unsaved.get(self._key())):
            if entry is not None and is_one_of(entry.get("choice"), self.choices):
                return entry["choice"]
        return None

    def _key(self):
        return place(), self.question

    def _chosen(self, _change):
        if self.first is None:
            self._keep(self.radio.value)
        self._reveal()

    def _keep(self, choice):
        """Keep the first choice, in the file or else in this kernel; another notebook's may have come before it."""
        entry = {"choice": choice, "answer": self.answer, "measured": self.value}
        try:
            kept = save(self.question, entry, self.choices)
            self.elsewhere = kept["choice"] != choice
        except OSError:  # filelock's Timeout is one, too
            kept = unsaved.setdefault(self._key(), entry)
        self.first = kept["choice"]

    def _reveal(self):
        """Show what was measured, and what became of the prediction."""
        sentences = [self._verdict(), self.measured]
        if self._key() in unsaved:
            sentences.append(say("predict.not_kept"))
        told = " ".join(sentence for sentence in sentences if sentence)
        self.reveal.value = f'<div lang="{language.current}" role="status">{html.escape(told)}</div>'

    def _verdict(self):
        """Return how the prediction stands, "" for a reader who looked at the answer."""
        choice = self.radio.value
        if self.elsewhere:
            first = say("predict.show") if self.first == SHOW else self.options[self.first]
            return say("predict.elsewhere", choice=first)
        if SHOW in (choice, self.first):
            return ""
        if choice != self.first:
            return say("predict.first", choice=self.options[self.first])
        return say("predict.right" if choice == self.answer else "predict.wrong")

    def _repr_mimebundle_(self, **kwargs):
        asked = html.escape(self.text)
        items = "".join(f"<li>{html.escape(option)}</li>" for option in self.options)
        answer = f"<details><summary>{say('predict.show')}</summary>{html.escape(self.measured)}</details>"
        numbered = [f"{number}. {option}" for number, option in enumerate(self.options, 1)]
        shown = {
            "text/html": f'<div lang="{language.current}"><p>{asked}</p><ol>{items}</ol>{answer}</div>',
            "text/plain": "\n".join([self.text, *numbered, self.measured]),
        }
        return self.box._repr_mimebundle_(**kwargs) | shown
