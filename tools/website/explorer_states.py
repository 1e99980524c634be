"""The explorers without a kernel: which of their states are drawn beforehand, and how a cell asks for one."""

import ast
import html
import itertools
import re
from dataclasses import dataclass, replace

import ipywidgets

from helpers import explorers, models, race
from helpers.language import number, say

FEW = 3  # up to so many options are radio buttons, more a drop-down list


def every(options):
    """Choose all options of a control."""
    return options


def ends(options):
    """Choose the first and the last option of a control."""
    return [options[0], options[-1]]


def some(*values):
    """Return a choice of these options; it raises ValueError if the control has not got one of them."""
    return lambda options: [options[options.index(value)] for value in values]


# explorer → (arguments that replace the cell's, control → its steps); all other controls stay as they start.
# The pictures of one page are to stay below 3 MB, about 15 kB each. No model is loaded from the network.
STEPS = {
    "layer_norm_steps": (
        {},
        {"shift": some(0, 2, 100), "scale": some(0.001, 0.003, 0.1, 1, 100), "outlier": some(0, 5, 100)},
    ),
    "layer_norm_against_rms_norm": ({}, {"mean": every, "outlier": every}),
    "placement": ({}, {"placement": every, "norm": every, "layers": some(4, 16, 64)}),
    "residual_stream": (
        {"model": "bundled/ln-pre"},
        {"model": some(*models.BUNDLED), "placement": every, "token": ends, "writes": every, "reference": every},
    ),
    "WarmupRace": ({}, {}),  # not its four controls, most of whose states have no stored run: see `stored_runs`
}


@dataclass
class Control:
    """What chooses among the states. kind: "radio", "select" or "checkbox"; start: an index of options."""

    name: str
    label: str
    kind: str
    options: list[str]
    start: int


@dataclass
class Prepared:
    """An explorer's states: (Picture, message) for each combination of options, the last control changing fastest."""

    name: str
    controls: list[Control]
    states: list


def shown_in(source):
    """Return (name of the explorer, its keyword arguments) that a code cell shows at its end, or None.

    Raises ValueError for an explorer without an entry in STEPS."""
    tree = ast.parse(source)
    call = tree.body[-1].value if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
        return None
    name, module = call.func.attr, getattr(call.func.value, "id", "")
    if module != "explorers" and not (module == "race" and name[0].isupper()):
        return None
    if name not in STEPS:
        raise ValueError(f"{module}.{name} has no prepared states: add it to STEPS in tools/states.py")
    return name, {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}


def prepare(name, arguments):
    """Return the Prepared states of an explorer, in the language in use. Raises what its drawing raised."""
    fixed, choices = STEPS[name]
    explorer = getattr(race if name == "WarmupRace" else explorers, name)(**arguments | fixed)
    if name == "WarmupRace":
        return stored_runs(name, explorer)
    controls, values = [], []
    for key, choose in choices.items():
        widget = explorer.controls[key]
        box = isinstance(widget, ipywidgets.Checkbox)
        labels = dict.fromkeys((False, True), "") if box else {value: label for label, value in widget.options}
        chosen = choose(list(labels))
        kind = "checkbox" if box else "radio" if len(chosen) <= FEW else "select"
        start = chosen.index(widget.value)
        controls.append(Control(key, widget.description, kind, [labels[value] for value in chosen], start))
        values.append(chosen)
    states = [dict(zip(choices, combination)) for combination in itertools.product(*values)]
    return Prepared(name, controls, [draw(explorer, state) for state in states])


def stored_runs(name, explorer):
    """Return the Prepared states of the race: one control that chooses among the stored runs."""
    states, start = [], explorer.state()
    for kind, template in race.KINDS.items():
        for run, _ in race.stored().values():
            state = {key: getattr(run, key) for key in race.CHOICES}
            if replace(template, steps=run.steps, **state) == run:
                states.append({"kind": kind} | state)
    order = list(race.KINDS)
    states.sort(key=lambda state: (order.index(state["kind"]), *list(state.values())[1:]))
    labels = []
    for state in states:
        words = {"kind": say(f"race.{state['kind']}"), "rate": number(state["rate"], trim=True)}
        labels.append(say("race.title", **state | words).rstrip("."))
    control = Control("run", say("race.label"), "select", labels, states.index(start))
    return Prepared(name, [control], [draw(explorer, state) for state in states])


def draw(explorer, state):
    """Return (Picture, message as text) of a state, control → value."""
    for key, value in state.items():
        explorer.controls[key].value = value
    if explorer.error:
        raise explorer.error
    return explorer.picture, html.unescape(re.sub("<[^>]+>", "", explorer.message.value)).strip()
