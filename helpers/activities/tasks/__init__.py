"""What a check knows of a task: inputs, the right result, and the mistakes that people make.

Each assignment has a module here. To add a known mistake of a task whose answer is a function, write the wrong function
below the task, with a name for the mistake and what a check says about it in three languages:

    @LAYER_NORM.mistake(
        "no-gain",
        en="Another gain γ would not change your result. Where does γ enter?",
        de="…",
        sv="…",
    )
    def layer_norm_no_gain(x, gamma, beta, eps):
        return centred(x) / (variance(x) + eps).sqrt() + beta

Another way of making the same mistake is another function, with `@LAYER_NORM.mistake("no-gain")` and no sentences.
If the answer is a value, `WHICH_AXIS.wrong_values("swapped", [...], en=…, de=…, sv=…)` lists wrong values, and a
function below `@WHICH_AXIS.mistake("text", en=…, …)` looks at the answer and returns whether it makes the mistake.

A check says the sentence of the first mistake that fits, in the order of the module. A sentence guides and does not
give the answer away. Then write an answer that makes the mistake in `tests/student_answers`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

TORCH_NORMS = ("layer_norm", "native_layer_norm", "rms_norm", "batch_norm", "group_norm", "instance_norm")


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

    def mistake(self, name, **sentences):
        """Return a decorator for a function that makes this mistake, or that finds it in an answer that is a value.

        sentences: en, de and sv, where the mistake is named for the first time."""
        mistake = self._named(name, sentences)

        def keep(function):
            mistake.functions.append(function)
            return function

        return keep

    def wrong_values(self, name, *values, **sentences):
        """Note values that make this mistake. Of a dictionary only the keys that it has are compared."""
        self._named(name, sentences).values.extend(values)

    def _named(self, name, sentences):
        """Return the mistake of this name. Raises ValueError for a new one without sentences, and a second one."""
        known = {mistake.name: mistake for mistake in self.mistakes}
        if name in known and not sentences:
            return known[name]
        if name in known:
            raise ValueError(f"{self.name}: two mistakes are called {name!r}; rename one")
        if sentences.keys() != {"en", "de", "sv"}:
            raise ValueError(f"{self.name}: the mistake {name!r} needs one sentence in each of en, de, sv")
        self.mistakes.append(Mistake(name, sentences))
        return self.mistakes[-1]


def holds_text(answer):
    """Return whether an answer that is a value is text, or a list with text in it."""
    return isinstance(answer, str) or isinstance(answer, list) and any(isinstance(one, str) for one in answer)
