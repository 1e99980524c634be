"""What a check knows of a task: inputs, the right result, and the mistakes that people make.

Each assignment has a module here. To add a known mistake of a task whose answer is a function, write the wrong function
below the task, with a name for the mistake:

    @LAYER_NORM.mistake("no-gain")
    def layer_norm_no_gain(x, gamma, beta, eps):
        return centred(x) / (variance(x) + eps).sqrt() + beta

and what a check says about it in three languages into the TOML file beside the module:

    [layer-norm.no-gain]
    en = "Another gain γ would not change your result. Where does γ enter?"
    de = "…"
    sv = "…"

Another way of making the same mistake is another function below `@LAYER_NORM.mistake("no-gain")`.
If the answer is a value, `WHICH_AXIS.wrong_values("swapped", [...])` lists wrong values, and a function below
`@WHICH_AXIS.mistake("text")` looks at the answer and returns whether it makes the mistake.

A check says the sentence of the first mistake that fits, in the order of the module. A sentence guides and does not
give the answer away. Then write an answer that makes the mistake in `tests/student_answers`.
"""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TORCH_NORMS = ("layer_norm", "native_layer_norm", "rms_norm", "batch_norm", "group_norm", "instance_norm")


def read_sentences():
    """Return task → mistake → language → what a check says, from the TOML files beside the modules."""
    found = {}
    for file in sorted(Path(__file__).parent.glob("assignment_*.toml")):
        found |= tomllib.loads(file.read_text(encoding="utf8"))
    return found


SENTENCES = read_sentences()


@dataclass
class Mistake:
    """A mistake that people make, and the wrong answers by which a check knows it."""

    name: str
    sentences: dict[str, str]  # language → what a check says
    functions: list[Callable] = field(default_factory=list)  # wrong functions, or tests of an answer that is a value
    values: list = field(default_factory=list)  # wrong values


@dataclass
class Task:
    """A task of an assignment.

    name: what the notebooks call it in `check("name", answer)`.
    right: the right function, called as in the notebook, or the right value.
    cases: a function that takes `randn`, which draws like torch.randn with the seed of the check, and returns the
        inputs, a list of dictionaries from argument to value. None if the answer is a value. No two axes of an input
        have the same size, and none has that of the last one less 1, so that no axis is taken for another unnoticed.
    refuses: the names of torch's functions that an answer has to do without.
    names: the words of which an answer is made, if there are any.
    """

    name: str
    right: Any
    cases: Callable | None = None
    refuses: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    mistakes: list[Mistake] = field(default_factory=list)

    def mistake(self, name):
        """Return a decorator for a function that makes this mistake, or that finds it in an answer that is a value.

        Raises ValueError for a mistake about which the TOML file says nothing."""
        mistake = self._named(name)

        def keep(function):
            mistake.functions.append(function)
            return function

        return keep

    def wrong_values(self, name, *values):
        """Note values that make this mistake. Of a dictionary only the keys that it has are compared.

        Raises ValueError as `mistake` does."""
        self._named(name).values.extend(values)

    def _named(self, name):
        """Return the mistake of this name, new if there was none."""
        for mistake in self.mistakes:
            if mistake.name == name:
                return mistake
        sentences = SENTENCES.get(self.name, {}).get(name)
        if sentences is None:
            raise ValueError(f"{self.name}: the mistake {name!r} needs sentences in the TOML file of its assignment")
        self.mistakes.append(Mistake(name, sentences))
        return self.mistakes[-1]


def holds_text(answer):
    """Return whether an answer that is a value is text, or a list with text in it."""
    return isinstance(answer, str) or isinstance(answer, list) and any(isinstance(one, str) for one in answer)
