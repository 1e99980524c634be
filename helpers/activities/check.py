"""The checks of the assignments: `check("layer-norm", layer_norm)` says that an answer is right, or what is wrong.

What the checks know of each task, its right result and the mistakes that people make, stands in `tasks`.
"""

import array
import collections
import copy
import decimal
import difflib
import fractions
import inspect
import io
import signal
import textwrap
import threading
import traceback
from contextlib import ExitStack, redirect_stdout
from dataclasses import dataclass
from types import CodeType, FunctionType, MappingProxyType
from unittest import mock

import numpy as np
import torch
from IPython import get_ipython
from torch import nn

from helpers import language
from helpers.activities.tasks import assignment_1, assignment_2, assignment_3, assignment_4

LIMIT = 5  # seconds for one check
LINE = 72  # characters; JupyterLab breaks a longer line inside a word
ASSIGNMENTS = (assignment_1, assignment_2, assignment_3, assignment_4)
TASKS = {task.name: task for assignment in ASSIGNMENTS for task in assignment.TASKS}
FUNCTIONS = {task.right.__name__: task for task in TASKS.values() if task.cases}  # as the notebooks call them


class NotRight(AssertionError):
    """What a check has found, one sentence in the reader's language, shown without a traceback."""

    def _render_traceback_(self):
        return textwrap.wrap(str(self), LINE)


def check(task, answer, seed=0):
    """Say that an answer is right, or raise NotRight with a sentence that says what is wrong.

    task: the name of a task. answer: a value, or a function, which gets copies of inputs that are drawn with this seed.
    Raises ValueError for an unknown task, with the names of the tasks of the assignment that has the most similar."""
    task = task_named(task)
    try:
        ring_after(LIMIT)  # an answer may run, print or be read without end
        judge(task, answer, seed)
    except KeyboardInterrupt:
        stop_ringing()  # it would ring again while the sentence is made
        raise NotRight(language.say("check.too_long", seconds=LIMIT)) from None
    finally:
        stop_ringing()
    key = "check.right"
    if previous_cell_failed():
        key = "check.doubtful"
    print(textwrap.fill(language.say(key), LINE))


def task_named(name):
    """Return the Task of a name; ValueError if there is none."""
    if isinstance(name, str) and name in TASKS:
        return TASKS[name]
    (similar,) = difflib.get_close_matches(str(name), TASKS, n=1, cutoff=0)
    for assignment in ASSIGNMENTS:
        names = [task.name for task in assignment.TASKS]
        if similar in names:
            break
    raise ValueError(language.say("check.unknown", name=str(name), names=", ".join(names)))


def previous_cell_failed():
    """Return whether the cell run before shows an error that no check has raised: the answer is the one before it."""
    result = getattr(get_ipython(), "last_execution_result", None)
    if result is None:
        return False
    error = result.error_before_exec or result.error_in_exec
    return error is not None and not isinstance(error, NotRight)


# The limit of time. The signal reaches the main thread only, and Windows has none: elsewhere there is no limit.


def can_ring():
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


def ring_after(seconds):
    """Raise KeyboardInterrupt after so many seconds, and again and again, since a bare `except` may swallow one."""
    if can_ring():
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, seconds, 0.2)


def stop_ringing():
    if can_ring():
        signal.setitimer(signal.ITIMER_REAL, 0)


# Asking and judging


@dataclass(frozen=True)
class Raised:
    """In the place of a result: the function has raised an error."""

    error: str


def judge(task, answer, seed):
    """Raise NotRight unless an answer is right."""
    cases = drawn_cases(task, seed)
    given = results(task, answer, cases)
    if any(one is None or one is ... for one in given):
        raise NotRight(language.say("check.not_done"))
    if task.cases is None:
        right = [content(task.right)]
    else:
        right = results_of(task.right, cases)
    if all_same(given, right):
        return
    blame_what_it_calls(task, answer, cases, right)
    name_mistake(task, given, cases)
    describe(task, given, right)
    if looks_rounded(given):
        if same_when_rounded(given, right):
            raise NotRight(language.say("check.rounded"))
        name_mistake(task, given, cases, same_when_rounded)
    describe_shape(given, right)
    raise NotRight(language.say("check.different"))


def drawn_cases(task, seed):
    """Return the inputs of a task for a seed; for an answer that is a value a single case without inputs."""
    if task.cases is None:
        return [{}]
    generator = torch.Generator().manual_seed(seed)

    def randn(*size):
        return torch.randn(*size, generator=generator)

    return task.cases(randn)


def results(task, answer, cases):
    """Return the content of an answer for every case. Raises NotRight where no result can be had."""
    if task.cases is None:
        return [as_lists(content(answer))]
    if answer is None or answer is ...:
        return [answer]
    if not callable(answer):
        raise NotRight(language.say("check.not_callable", kind=type(answer).__name__))
    refused = mock.Mock(side_effect=NotRight(language.say("check.refused")))
    with ExitStack() as stack:
        stack.enter_context(redirect_stdout(io.StringIO()))
        for name in task.refuses:
            stack.enter_context(mock.patch.object(torch, name, refused))
        return [ask(answer, case) for case in cases]


def ask(answer, case):
    """Return the content of a function's result for one case, or what it raised. NotRight if it writes to inputs."""
    inputs = copy.deepcopy(case)
    positional, named = arranged(answer, inputs)
    try:
        given = content(answer(*positional, **named))
    except NotRight:
        raise
    except (Exception, SystemExit, GeneratorExit) as error:
        return Raised(traceback.format_exception_only(error)[-1].strip()[:200])
    for name, value in case.items():
        if not callable(value) and not same(content(inputs[name]), content(value)):
            raise NotRight(language.say("check.overwrites"))
    return given


def arranged(answer, inputs):
    """Return the inputs as positional and named arguments of an answer. NotRight if its arguments have other names."""
    try:
        signature = inspect.signature(answer)
    except Exception:  # a function written in C may have none
        return (), inputs
    if fits(signature, (), inputs):
        return (), inputs
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    names = [name for name, parameter in signature.parameters.items() if parameter.kind not in variable]
    if names == list(inputs)[: len(names)] and fits(signature, tuple(inputs.values()), {}):
        return tuple(inputs.values()), {}
    raise NotRight(language.say("check.arguments", got=", ".join(names) or "–", expected=", ".join(inputs)))


def fits(signature, positional, named):
    try:
        signature.bind(*positional, **named)
    except TypeError:
        return False
    return True


def results_of(function, cases):
    """Return the content of a function's results, or Raised: a wrong function may fail in some cases, as answers do."""
    found = []
    for case in cases:
        try:
            found.append(content(function(**copy.deepcopy(case))))
        except Exception as error:
            found.append(Raised(str(error)))
    return found


def all_same(given, right, decimals=None):
    """Return whether the results of all cases are the same, as `same` compares them."""
    return all(same(one, other, decimals) for one, other in zip(given, right, strict=True))


def name_mistake(task, given, cases, agree=all_same):
    """Raise NotRight with the sentence of the first known mistake with whose results the given ones agree, if any."""
    for mistake in task.mistakes:
        if task.cases is None:
            [answer] = given
            made = is_made_by_value(mistake, answer, agree)
        else:
            made = is_made_by_function(mistake, given, cases, agree)
        if made:
            raise NotRight(mistake.sentences[language.current])


def is_made_by_value(mistake, answer, agree):
    """Return whether an answer that is a value is one of the wrong values, or a function finds the mistake in it."""
    for wrong in mistake.values:
        value = content(wrong)
        if agree([named_part(answer, value)], [value]):
            return True
    return any(finds(answer) for finds in mistake.functions)


def is_made_by_function(mistake, given, cases, agree):
    """Return whether one of the wrong functions gives the same results."""
    return any(agree(given, results_of(function, cases)) for function in mistake.functions)


def named_part(answer, value):
    """Return what an answer that is a dictionary has for the keys of a wrong value."""
    if isinstance(answer, dict) and isinstance(value, dict):
        return {key: answer[key] for key in value if key in answer}
    return answer


# An answer that calls the answer of another task


def blame_what_it_calls(task, answer, cases, right):
    """Raise NotRight if an answer would be right with right answers of the other tasks in the place of those it calls.

    If it would make a known mistake even then, the sentence of this mistake is said."""
    names = [name for name in called_answers(answer) if FUNCTIONS[name] is not task]
    if not names:
        return
    space = answer.__globals__
    kept = {name: space[name] for name in names}
    try:
        ring_after(LIMIT)
        space.update({name: FUNCTIONS[name].right for name in names})
        given = results(task, answer, cases)
    finally:
        space.update(kept)
    if all_same(given, right):
        raise NotRight(language.say("check.consequence", names=", ".join(names)))
    name_mistake(task, given, cases)


def called_answers(answer):
    """Return the names of other tasks' functions that a function calls, itself or through functions of the notebook."""
    if not isinstance(answer, FunctionType):
        return []
    found = []
    seen = {answer}
    waiting = [answer]
    while waiting:
        for name in sorted(global_names(waiting.pop().__code__)):
            function = answer.__globals__.get(name)
            if not isinstance(function, FunctionType) or function in seen:
                continue
            seen.add(function)
            if function.__globals__ is answer.__globals__:
                waiting.append(function)
                if name in FUNCTIONS:
                    found.append(name)
    return found


def global_names(code):
    """Return the names that code, and the functions inside it, look up outside of themselves."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= global_names(constant)
    return names


# The content of an answer

DEEPEST = 20  # lists in lists
LARGEST = 10**6  # numbers in a tensor; nothing that is asked for comes near it


class Foreign:
    """In the place of an object that is no answer: it equals nothing. `kind` is the name of its type."""

    def __init__(self, kind):
        self.kind = str(kind)


def content(value, depth=0):
    """Return the content of a result: numbers, texts, lists and dictionaries of Python's own types, and plain tensors.

    An object may claim to equal everything, as unittest.mock.ANY does, or its type may override how it compares. So
    nothing that a result says about itself is asked: numbers and texts are taken out of it, and these are compared.
    Tuples become lists, a tensor of one number without axes becomes a number, and an object without content Foreign."""
    if value is None or value is ... or type(value) is Raised:
        return value
    if depth > DEEPEST:
        return Foreign(type(value).__name__)
    try:
        kind = type(value)  # not isinstance, which believes what an object says of its class
        return content_of_kind(value, kind, depth + 1)
    except Exception:
        return Foreign(type(value).__name__)


def content_of_kind(value, kind, depth):  # noqa: C901, PLR0912, one branch for each kind
    """Return the content of an object of this type, by the methods of Python's, numpy's and torch's own types."""
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, bool):
        return value
    if issubclass(kind, int):
        return int.__int__(value)
    if issubclass(kind, float):
        return float.__float__(value)
    if kind in (fractions.Fraction, decimal.Decimal):
        return float(value)
    if issubclass(kind, dict):
        return {content_of_key(key): content(one, depth) for key, one in dict.copy(value).items()}
    if issubclass(kind, list):
        return [content(one, depth) for one in list.copy(value)]
    if issubclass(kind, tuple):
        return [content(one, depth) for one in tuple.__getitem__(value, slice(None))]
    if kind in (range, collections.deque, array.array):
        return [content(one, depth) for one in value]
    if kind in (collections.UserDict, collections.ChainMap, MappingProxyType):
        return content(dict(value), depth)
    if issubclass(kind, torch.Tensor):
        return content_of_tensor(value, kind, depth)
    if issubclass(kind, np.generic):
        return content_of_array(np.array(value), depth)
    if issubclass(kind, np.ndarray):
        return content_of_array(np.ndarray.view(value, np.ndarray), depth)
    if hasattr(kind, "__array__"):  # an array of another library
        return content_of_array(np.array(value), depth)
    return Foreign(kind.__name__)


def content_of_key(key):
    """Return the content of a key of a dictionary."""
    found = content(key)
    if isinstance(found, str | int | float):
        return found
    return Foreign(type(key).__name__)


def content_of_tensor(value, kind, depth):
    if kind not in (torch.Tensor, nn.Parameter):  # a subclass may override anything: its numbers are taken one by one
        return content(value.tolist(), depth)
    tensor = torch.Tensor.detach(value)
    if tensor.is_complex():
        return Foreign(tensor.dtype)
    if tensor.numel() > LARGEST:
        return Foreign(tuple(tensor.shape))
    if tensor.is_quantized:
        tensor = tensor.dequantize()
    tensor = tensor.to_dense().cpu().clone()
    if tensor.dim() == 0:
        return tensor.item()
    return tensor


def content_of_array(numbers, depth):
    if numbers.dtype.kind in "OUS":
        return content(numbers.tolist(), depth)
    if numbers.dtype.kind not in "biuf":
        return Foreign(numbers.dtype)
    if numbers.size > LARGEST:
        return Foreign(numbers.shape)
    if numbers.dtype.kind in "iu":
        numbers = numbers.astype(np.int64)
    elif numbers.dtype.kind == "f" and numbers.dtype != np.float16:
        numbers = numbers.astype(np.float64)
    return content(torch.tensor(numbers.copy()), depth)


def as_lists(value):
    """Return the content of an answer that is a value with lists in the place of tensors."""
    if torch.is_tensor(value):
        return value.tolist()
    if isinstance(value, list):
        return [as_entry(one) for one in value]
    if isinstance(value, dict):
        return {key: as_entry(one) for key, one in value.items()}
    return value


def as_entry(value):
    """Return an entry of a list or dictionary likewise; a tensor of a single number is this number."""
    if torch.is_tensor(value) and value.numel() == 1:
        return value.item()
    return as_lists(value)


# Comparing

allclose = torch.allclose  # bound now, whatever an answer does to torch


def same(given, right, decimals=None):
    """Return whether two results, of which only the content is left, are the same.

    Fractional numbers agree up to 0.1 %, whatever holds them, but if the right ones have 16 bits, the given ones must
    have the same format. Whole numbers and texts agree exactly. decimals: agree with the right result as it is when
    its fractional numbers are rounded to so many decimals."""
    if isinstance(right, Raised):
        return isinstance(given, Raised)
    if isinstance(right, dict):
        if not isinstance(given, dict) or given.keys() != right.keys():
            return False
        return all(same(given[key], right[key], decimals) for key in right)
    if isinstance(right, list):
        rows = given
        if torch.is_tensor(given):
            rows = [content(row) for row in given]
        if not isinstance(rows, list) or len(rows) != len(right):
            return False
        return all_same(rows, right, decimals)
    if isinstance(right, str):
        return isinstance(given, str) and given == right
    if isinstance(right, int):
        number = given
        if torch.is_tensor(given) and given.numel() == 1:
            number = given.item()
        return isinstance(number, int | float) and number == right
    return close(given, right, decimals)


def close(given, right, decimals):
    """Return whether fractional numbers agree."""
    one = as_tensor(given)
    other = as_tensor(right)
    if one is None or other is None or one.shape != other.shape:
        return False
    if other.dtype in (torch.float16, torch.bfloat16) and one.dtype != other.dtype:
        return False
    if decimals is None:
        return allclose(one.double(), other.double(), 1e-3, 1e-5, True)
    return allclose(one.double(), other.double().round(decimals=decimals), 1e-6, 1e-7)


def as_tensor(value):
    """Return a content as a tensor, a list of tensors as one of one more axis; None if that cannot be."""
    if torch.is_tensor(value):
        return value
    try:
        if isinstance(value, list) and any(torch.is_tensor(one) or isinstance(one, list) for one in value):
            return torch.stack([as_tensor(one) for one in value])
        return torch.tensor(value, dtype=torch.float64)
    except Exception:
        return None


def looks_rounded(given):
    """Return whether no number has more than four decimals."""
    return all(same(one, one, decimals=4) for one in given)


def same_when_rounded(given, right):
    """Return whether results are the right ones, rounded to four decimals or fewer."""
    return any(all_same(given, right, decimals) for decimals in (4, 3, 2, 1))


# What is seen of a wrong answer that is no known mistake


def describe(task, given, right):
    """Raise NotRight if an error, or the kind of something in the results, explains why they are wrong."""
    for one in leaves(given):
        if isinstance(one, Foreign):
            raise NotRight(language.say("check.foreign", kind=one.kind))
        if one is None or one is ...:
            raise NotRight(language.say("check.gap"))
        if isinstance(one, Raised):
            key = "check.raises"
            if "must match the size of tensor" in one.error:
                key = "check.keepdim"
            raise NotRight(language.say(key, error=one.error))
    for one, other in parts(given, right):
        describe_part(task, one, other)


def describe_part(task, given, right):
    """Raise NotRight if a part of a result is of another kind than the right one."""
    if isinstance(right, str) and given not in task.names:
        names = ", ".join(f'"{name}"' for name in task.names)
        raise NotRight(language.say("check.name", got=shown(given), names=names))
    if isinstance(right, dict) and not isinstance(given, dict):
        raise NotRight(language.say("check.dictionary", expected=", ".join(right)))
    if isinstance(right, dict):
        got = ", ".join(map(str, given)) or "–"
        raise NotRight(language.say("check.keys", got=shown(got), expected=", ".join(right)))
    if isinstance(given, dict):
        return
    texts = [one for one in leaves(given) if isinstance(one, str)]
    if texts and not isinstance(right, str):
        raise NotRight(language.say("check.text", got=shown(texts[0])))


def shown(value):
    return str(value)[:40]


def leaves(value):
    """Yield what stands in lists and dictionaries, the keys included."""
    if isinstance(value, list):
        for one in value:
            yield from leaves(one)
    elif isinstance(value, dict):
        yield from value.keys()
        for one in value.values():
            yield from leaves(one)
    else:
        yield value


def parts(given, right):
    """Yield the parts of two results that stand in the same place, taken apart as far as both are built alike."""
    if isinstance(given, list) and isinstance(right, list):
        for pair in zip(given, right):
            yield from parts(*pair)
    elif isinstance(given, dict) and isinstance(right, dict) and given.keys() == right.keys():
        for key in right:
            yield from parts(given[key], right[key])
    else:
        yield given, right


def describe_shape(given, right):
    """Raise NotRight if a result has another shape than the right one."""
    for one, other in sizes(given, right):
        if one != other:
            key = "check.shape"
            if one > other and is_list_of_whole_numbers(given[0]):  # 3,5 in Python is two numbers
                key = "check.comma"
            raise NotRight(language.say(key, got=str(one), expected=str(other)))


def is_list_of_whole_numbers(value):
    return isinstance(value, list) and all(type(number) is int for number in value)


def sizes(given, right):
    """Yield the shapes of two results and of their parts, or how many parts they have."""
    if torch.is_tensor(right):
        tensor = as_tensor(given)
        if tensor is not None:
            yield tuple(tensor.shape), tuple(right.shape)
    elif isinstance(right, list) and isinstance(given, list):
        yield (len(given),), (len(right),)
        for pair in zip(given, right):
            yield from sizes(*pair)
    elif isinstance(right, list) and torch.is_tensor(given):
        yield tuple(given.shape[:1]), (len(right),)
