"""The checks of the assignments. The files in tasks/ hold inputs, right results, and the mistakes people make."""

import copy
import io
import signal
import textwrap
import traceback
from contextlib import nullcontext, redirect_stdout
from unittest import mock

import torch
from IPython import get_ipython

from helpers import language

LIMIT = 5  # seconds for one check; on Windows, which has no such alarm, there is no limit
LESSONS = ("01_layernorm", "02_rmsnorm", "03_placement", "04_residual_stream")
_TASKS = {task: entry for lesson in LESSONS for task, entry in language.data(f"tasks/{lesson}.toml").items()}
NAMES = "import torch; import torch.nn.functional as F; from torch import nn; from helpers import gpt, norms, trace"


class NotRight(AssertionError):
    """What a check has found, one sentence in the reader's language, shown without a traceback."""

    _render_traceback_ = lambda self: textwrap.wrap(str(self), 72)  # JupyterLab breaks a longer line inside a word


def check(task, answer, seed=0):
    """Say that an answer is right or raise NotRight; a function gets copies of inputs that are drawn with this seed."""
    entry, generator = _TASKS[task], torch.Generator().manual_seed(seed)
    exec(NAMES, names := {"answer": answer, "randn": lambda *size: torch.randn(*size, generator=generator)})
    refused = dict.fromkeys(entry.get("refuses", []), mock.Mock(side_effect=NotRight(language.say("check.refused"))))
    cases = [eval(case, names) for case in entry.get("cases", ["{}"])]
    result = lambda expression: [eval(expression, names | copy.deepcopy(case)) for case in cases]
    try:
        _alarm(LIMIT)  # an answer may run, print or be compared without end
        with redirect_stdout(io.StringIO()), mock.patch.multiple(torch, **refused) if refused else nullcontext():
            given = [_ask(answer, case, copy.deepcopy(case)) if "cases" in entry else answer for case in cases]
        _compare(given, entry, result)
    except KeyboardInterrupt:
        _alarm(0)  # it would ring again while the sentence is made
        raise NotRight(language.say("check.too_long", seconds=LIMIT)) from None
    finally:
        _alarm(0)
    before = getattr(get_ipython(), "last_execution_result", None)  # a cell that failed has left the old answer
    error = before and (before.error_before_exec or before.error_in_exec)
    print(textwrap.fill(language.say("check.right" if isinstance(error, NotRight | None) else "check.doubtful"), 72))


def _compare(given, entry, result):
    """Raise NotRight unless the answer's results for all cases are the right ones."""
    if any(one is None or one is ... for one in given):
        raise NotRight(language.say("check.not_done"))
    if not _equal(given, right := result(entry["right"])):
        for mistake in entry["mistakes"]:  # `also`: variants with the same sentence; `when`: a condition on a value
            wrong = [mistake["wrong"], *mistake.get("also", [])]
            if any(_equal(given, result(one)) for one in wrong) or result(mistake.get("when", "False"))[0]:
                raise NotRight(mistake[language.current])
        for kind, size in ((torch.Tensor, lambda one: tuple(one.shape)), (list | tuple, lambda one: (len(one),))):
            if isinstance(given[0], kind) and isinstance(right[0], kind) and (got := size(given[0])) != size(right[0]):
                key = "check.comma" if got > size(right[0]) and all(type(n) is int for n in given[0]) else "check.shape"
                raise NotRight(language.say(key, got=str(got), expected=str(size(right[0]))))
        raise NotRight(language.say("check.different"))


def _alarm(seconds):
    if hasattr(signal, "setitimer"):  # it rings again and again, since a bare except may swallow one
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, seconds, 0.2 if seconds else 0)


def _ask(function, kept, case):
    """Return the answer's result for one case, of which `kept` is a copy; NotRight if it fails or writes to it."""
    try:
        given = function if function is None or function is ... else function(**case)
    except (Exception, SystemExit, GeneratorExit) as error:
        text = traceback.format_exception_only(error)[-1].strip()[:200]
        key = "check.keepdim" if "must match the size of tensor" in text else "check.raises"
        raise error if isinstance(error, NotRight) else NotRight(language.say(key, error=text)) from None
    if not all(_equal(case[name], value) for name, value in kept.items() if torch.is_tensor(value)):
        raise NotRight(language.say("check.overwrites"))
    return given


def _equal(one, other, close=torch.allclose):  # bound now, whatever an answer does to torch
    """Return whether two results are the same: numbers up to 0.1 %, whatever holds them but 16 bits; else exactly."""
    try:
        if isinstance(other, dict):
            return one.keys() >= other.keys() and all(_equal(one[key], other[key]) for key in other)
        if isinstance(other, list | tuple):
            return len(one[:]) == len(other) and all(_equal(a, b) for a, b in zip(one, other))  # a set has no order
        if isinstance(other, str | int):
            return torch.Size(getattr(one, "shape", ())).numel() == 1 and bool(one == other)
        one, other = torch.as_tensor(one).detach(), torch.as_tensor(other).detach()
        kept = one.dtype == other.dtype or not (one.is_complex() or other.dtype in (torch.float16, torch.bfloat16))
        return kept and one.shape == other.shape and close(one.double(), other.double(), 1e-3, 1e-5, True)
    except Exception:
        return False
