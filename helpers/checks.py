"""The checks of the assignments. The files in tasks/ hold inputs, right results, and the mistakes people make."""

import copy
import signal
import tomllib
from contextlib import contextmanager
from functools import cache, partial
from importlib.resources import files

import torch

from helpers import language
from helpers.language import say

LIMIT = 2  # seconds for one check; on Windows, which has no such alarm, there is no limit
NAMES = "import torch; import torch.nn.functional as F; from torch import nn; from helpers import gpt, norms, trace"


class NotRight(AssertionError):
    """What a check has found, one sentence in the reader's language, shown without a traceback."""

    def _render_traceback_(self):
        return [str(self)]


class TooLong(BaseException):
    """The time is over. Not an Exception, so that an answer that catches these does not catch it."""


@cache
def tasks():
    """Return the tasks of all assignments, id → entry."""
    texts = [path.read_text(encoding="utf8") for path in files("helpers").joinpath("tasks").iterdir()]
    return {task: entry for text in texts for task, entry in tomllib.loads(text).items()}


def check(task, answer, seed=0):
    """Say that the answer to a task, a function or a value, is right, or raise NotRight with what was observed.

    The answer is only read, and a function gets copies of inputs that are drawn with this seed."""
    entry, names = tasks()[task], {}
    names["randn"] = partial(torch.randn, generator=torch.Generator().manual_seed(seed))
    exec(NAMES, names)
    cases = [eval(case, names) for case in entry.get("cases", ["{}"])]
    result = lambda expression: [eval(expression, names | copy.deepcopy(case)) for case in cases]
    if answer is None or answer is ...:
        raise NotRight(say("check.not_done"))
    try:
        with _limit(LIMIT):
            given = [_ask(answer, copy.deepcopy(case)) if "cases" in entry else answer for case in cases]
    except TooLong:
        raise NotRight(say("check.too_long", seconds=LIMIT)) from None
    right = result(entry["right"])
    if not _equal(given, right):
        for mistake in entry["mistakes"]:
            if _equal(given, result(mistake["wrong"])):
                raise NotRight(mistake[language.current])
        for one, other in zip(given, right):
            if torch.is_tensor(other) and (not hasattr(one, "shape") or one.shape != other.shape):
                shape = tuple(getattr(one, "shape", ())) or type(one).__name__
                raise NotRight(say("check.shape", got=str(shape), expected=str(tuple(other.shape))))
        raise NotRight(say("check.different"))
    print(say("check.right"))


def _ask(function, case):
    """Return the answer's result for one case; NotRight if it fails, is not done, or writes to what it was given."""
    kept = copy.deepcopy(case)
    try:
        given = function(**case)
    except NotImplementedError:
        given = None
    except (Exception, SystemExit) as error:
        raise NotRight(say("check.raises", error=f"{type(error).__name__}: {error}"[:200])) from None
    if given is None or given is ...:
        raise NotRight(say("check.not_done"))
    if not all(_equal(case[name], kept[name]) for name in case if torch.is_tensor(case[name])):
        raise NotRight(say("check.overwrites"))
    return given


def _equal(one, other):
    """Return whether two results are the same: numbers up to 0.1 %, whatever holds them but 16 bits; else exactly."""
    if isinstance(other, dict):
        return isinstance(one, dict) and one.keys() == other.keys() and all(_equal(one[k], other[k]) for k in other)
    if isinstance(other, list | tuple):
        return hasattr(one, "__len__") and len(one) == len(other) and all(_equal(a, b) for a, b in zip(one, other))
    try:
        if isinstance(other, str | int):
            return bool(one == other)
        one, other = torch.as_tensor(one).detach(), torch.as_tensor(other).detach()
        kept = one.dtype == other.dtype or other.dtype not in (torch.float16, torch.bfloat16)
        close = partial(torch.allclose, rtol=1e-3, atol=1e-5, equal_nan=True)
        return kept and one.shape == other.shape and close(one.double(), other.double())
    except Exception:
        return False


@contextmanager
def _limit(seconds):
    def ring(*_):
        raise TooLong

    if not hasattr(signal, "SIGALRM"):
        yield
        return
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.2)  # again, since a bare except may swallow one
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
