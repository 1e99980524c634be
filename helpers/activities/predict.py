"""Predict, then run. Choices stay in one file beside the notebook, `predictions.json`, and are never sent anywhere."""

import bisect
import html
import json
import math
from pathlib import Path

import ipywidgets
from filelock import FileLock

from helpers import language
from helpers.language import say

FILE = Path("predictions.json")
SHOW = "show"  # the choice of a reader who does not want to guess
unsaved = {}  # entries that this kernel could not write, (place of the file, question) → entry
STYLE = (  # a long answer beside its button, in lines of its own
    "<style>.answers label {display:flex; flex-flow:row-reverse; justify-content:start; "
    "white-space:normal; height:auto}"
    "</style>"
)


class Damaged(Exception):
    """The file of predictions is there, and holds none that can be read."""


def load():
    """Return the choices made so far, id → {"choice": index or "show", "answer": index, "measured": value}.

    Where the measurement was no number, an entry has its choice alone. A file that is missing, damaged or not to be
    read holds none, and neither does an entry that is no table."""
    try:
        found = read()
    except (OSError, Damaged):
        return {}
    return {question: entry for question, entry in found.items() if isinstance(entry, dict)}


def read():
    """Return all that the file holds, {} if there is none. Raises Damaged for a file that holds something else, and
    OSError for one that cannot be read."""
    try:
        data = FILE.read_bytes()
    except FileNotFoundError:
        return {}
    if not data.strip():
        return {}
    try:
        found = json.loads(data.decode("utf-8-sig"))  # some editors put a mark of the encoding before the text
    except (ValueError, RecursionError) as error:
        raise Damaged(str(error)) from error
    if not isinstance(found, dict):
        raise Damaged(f"a {type(found).__name__} and no table")
    return found


def lock():
    """Return the lock that every kernel takes before it writes the file. It raises OSError after 5 seconds."""
    return FileLock(FILE.with_name(f".{FILE.name}.lock"), timeout=5)


def set_aside():
    """Give a damaged file another name, and return that, or None if the file is not damaged.

    Raises OSError if that is not possible; the file then stays as it is."""
    with lock():
        try:
            read()
        except Damaged:
            free = free_name()
            FILE.rename(free)
            return free.name
    return None


def free_name():
    """Return a path beside the file, "predictions.damaged.json" or one with a number, where nothing lies yet."""
    path = FILE.with_name(f"{FILE.stem}.damaged{FILE.suffix}")
    count = 1
    while path.exists():
        count += 1
        path = FILE.with_name(f"{FILE.stem}.damaged{count}{FILE.suffix}")
    return path


def save(question, entry, choices=None):
    """Keep an entry in the file, unless that holds one of this question already; return the one that is kept.

    Another notebook may write at the same time, or may have asked the same question. An entry is replaced if it is no
    table, or if its choice is none of `choices`; an entry that has the choice and no answer, because nothing had been
    measured, gets the new answer and measured value. Everything else in the file stays.
    Raises Damaged for a file that cannot be read as predictions, see `set_aside`, and OSError if the entry cannot be
    kept; the file is then as it was."""
    with lock():
        entries = read()
        known = entries.get(question)
        kept = entry
        if isinstance(known, dict) and (choices is None or is_one_of(known.get("choice"), choices)):
            kept = known
            if "answer" in entry and not is_one_of(known.get("answer"), choices or range(100)):
                kept = known | {"answer": entry["answer"], "measured": entry["measured"]}
        if kept != known:
            part = FILE.with_suffix(".part")
            part.write_text(json.dumps(entries | {question: kept}, indent=1), encoding="utf8")
            part.replace(FILE)
    return kept


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
    increasing numbers between the answers: the first answer is below the first bound, the last from the last on.

    The prediction is judged by what was measured when it was made, which the file keeps beside it. When the cell is run
    again and measures something else, that is told as well. NaN is no measurement: then nothing is judged, the choice
    is kept alone, and the next run that measures a number completes it."""

    def __init__(self, question, value, bounds):
        self.question = question
        self.value = float(value)
        self.text = say(f"predict.{question}")
        self.options = [say(f"predict.{question}_{index + 1}") for index in range(len(bounds) + 1)]
        self.answer = None  # the index of the measured answer, if a number was measured
        self.measured = say("predict.no_number")
        if not math.isnan(self.value):
            self.answer = bisect.bisect(bounds, self.value)
            self.measured = self._in_words(self.answer, self.value)
        self.choices = [*range(len(self.options)), SHOW]
        self.elsewhere = False  # whether the first choice was made in another notebook, meanwhile
        self.damaged = None  # the name that a damaged file was given
        self.kept = self._earlier()  # the entry that counts, once there is one
        if self.kept is not None and self._stored() is None and self.answer is not None:
            self._keep(self.first)  # what was chosen beside a measurement that was no number
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

    @property
    def first(self):
        """The first choice, which is the prediction, or None before it is made."""
        if self.kept is None:
            return None
        return self.kept["choice"]

    def _in_words(self, answer, value):
        return say("predict.measured", answer=self.options[answer], value=value)

    def _earlier(self):
        """Return the entry made before, in this kernel or as the file knows it, or None."""
        for entry in (load().get(self.question), unsaved.get(self._key())):
            if entry is not None and is_one_of(entry.get("choice"), self.choices):
                return entry
        return None

    def _stored(self):
        """Return (index of the answer, value) as measured when the first choice was made, or None."""
        answer = self.kept.get("answer")
        value = self.kept.get("measured")
        if not is_one_of(answer, range(len(self.options))) or type(value) not in (int, float):
            return None
        return answer, value

    def _key(self):
        return place(), self.question

    def _chosen(self, _change):
        if self.first is None:
            self._keep(self.radio.value)
        self._reveal()

    def _keep(self, choice):
        """Keep the first choice, in the file or else in this kernel; another notebook's may have come before it."""
        entry = {"choice": choice}
        if self.answer is not None:
            entry |= {"answer": self.answer, "measured": self.value}
        try:
            self.damaged = set_aside()
            self.kept = save(self.question, entry, self.choices)
            self.elsewhere = self.first != choice
        except (OSError, Damaged):  # filelock's Timeout is an OSError, too
            self.kept = unsaved.setdefault(self._key(), entry)

    def _reveal(self):
        """Show what became of the prediction, and what was measured."""
        stored = self._stored()
        sentences = [self._verdict(stored)]
        if stored is None:
            sentences.append(self.measured)
        else:
            then = self._in_words(*stored)
            sentences.append(then)
            if then != self.measured:
                sentences.append(say("predict.now", measured=self.measured))
        if self.damaged is not None:
            sentences.append(say("predict.damaged", file=FILE.name, kept=self.damaged))
        if self._key() in unsaved:
            sentences.append(say("predict.not_kept"))
        told = " ".join(sentence for sentence in sentences if sentence)
        self.reveal.value = f'<div lang="{language.current}" role="status">{html.escape(told)}</div>'

    def _verdict(self, stored):
        """Return how the prediction stands against what was measured, "" for a reader who looked at the answer."""
        choice = self.radio.value
        if self.elsewhere:
            return say("predict.elsewhere", choice=self._option(self.first))
        if SHOW in (choice, self.first):
            return ""
        if choice != self.first:
            return say("predict.first", choice=self._option(self.first))
        if stored is None:
            return ""
        answer, _ = stored
        if choice == answer:
            return say("predict.right")
        return say("predict.wrong")

    def _option(self, choice):
        """Return a choice in words."""
        if choice == SHOW:
            return say("predict.show")
        return self.options[choice]

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
