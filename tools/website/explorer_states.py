"""The explorers without a kernel: which of their states are drawn beforehand, and how a cell asks for one."""

import ast
import html
import inspect
import itertools
import re
from dataclasses import dataclass, replace

import ipywidgets

from helpers import explorers, models
from helpers.explorers import race
from helpers.language import say

FEW = 3  # up to so many options are radio buttons, more a drop-down list


def every(options):
    """Choose all options of a control."""
    return options


def ends(options):
    """Choose the first and the last option of a control."""
    return [options[0], options[-1]]


def some(*values):
    """Return a choice of these options; it raises ValueError if the control has not got one of them."""

    def chosen(options):
        return [options[options.index(value)] for value in values]

    return chosen


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
    """Return (name of the explorer, its arguments by name) that a code cell shows at its end, or None.

    Raises ValueError for an explorer without an entry in STEPS, and for arguments that it has not got or that are not
    written out as numbers and texts."""
    tree = ast.parse(source)
    if not tree.body or not isinstance(tree.body[-1], ast.Expr):
        return None
    call = tree.body[-1].value
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)):
        return None
    name = call.func.attr
    module = getattr(call.func.value, "id", "")
    if module != "explorers" and not (module == "race" and name[0].isupper()):
        return None
    if name not in STEPS:
        raise ValueError(f"{module}.{name} has no prepared states: add it to STEPS in tools/website/explorer_states.py")
    return name, arguments_of(name, call)


def arguments_of(name, call):
    """Return the arguments of a call (ast.Call) of an explorer by their names, also those given by position."""
    said = ast.unparse(call)
    try:
        given = [ast.literal_eval(argument) for argument in call.args]
        named = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}
    except ValueError:
        raise ValueError(f"{said}: the site needs its arguments written out, as numbers and texts") from None
    if None in named:
        raise ValueError(f"{said}: the site needs its arguments written out, without **")
    try:
        return inspect.signature(getattr(explorers, name)).bind(*given, **named).arguments
    except TypeError as problem:
        raise ValueError(f"{said}: {problem}") from None


def prepare(name, arguments):
    """Return the Prepared states of an explorer, in the language in use. Raises what its drawing raised."""
    fixed, choices = STEPS[name]
    explorer = getattr(explorers, name)(**arguments | fixed)
    if name == "WarmupRace":
        return stored_runs(name, explorer)
    controls = []
    values = []
    for key, choose in choices.items():
        widget = explorer.controls[key]
        if isinstance(widget, ipywidgets.Checkbox):
            labels = {False: "", True: ""}
        else:
            labels = {value: label for label, value in widget.options}
        chosen = choose(list(labels))
        controls.append(
            Control(
                name=key,
                label=widget.description,
                kind=kind_of(widget, chosen),
                options=[labels[value] for value in chosen],
                start=chosen.index(widget.value),
            )
        )
        values.append(chosen)
    states = [dict(zip(choices, combination)) for combination in itertools.product(*values)]
    return Prepared(name, controls, [draw(explorer, state) for state in states])


def kind_of(widget, options):
    """Return the kind of the control on the page that chooses among these options of a widget."""
    if isinstance(widget, ipywidgets.Checkbox):
        return "checkbox"
    if len(options) <= FEW:
        return "radio"
    return "select"


def stored_runs(name, explorer):
    """Return the Prepared states of the race: one control that chooses among the stored runs."""
    start = explorer.state()
    states = []
    for kind, template in race.KINDS.items():
        of_this_kind = []
        for run, _ in race.stored().values():
            settings = {key: getattr(run, key) for key in race.CHOICES}
            if replace(template, steps=run.steps, **settings) == run:
                of_this_kind.append({"kind": kind} | settings)
        states += sorted(of_this_kind, key=settings_of)
    labels = [race.title(**state).rstrip(".") for state in states]
    control = Control("run", say("race.label"), "select", labels, states.index(start))
    return Prepared(name, [control], [draw(explorer, state) for state in states])


def settings_of(state):
    """Return what orders the stored runs of one kind."""
    return [state[key] for key in race.CHOICES]


def draw(explorer, state):
    """Return (Picture, message as text) of a state, control → value."""
    for key, value in state.items():
        explorer.controls[key].value = value
    if explorer.error:
        raise explorer.error
    return explorer.picture, html.unescape(re.sub("<[^>]+>", "", explorer.message.value)).strip()
