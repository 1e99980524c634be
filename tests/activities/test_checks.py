"""The checks know the mistakes, take right answers of any style, and survive whatever they are given."""

import collections
import itertools
import random
import re
import runpy
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

import nbformat
import numpy as np
import pytest
import torch
import torch.nn.functional as F
from nbclient import NotebookClient
from torch import nn

import helpers
from helpers import language
from helpers.activities import check as checks
from helpers.activities.tasks import SENTENCES
from helpers.language import LANGUAGES, say

FUNCTION_TASKS = [name for name, task in checks.TASKS.items() if task.cases]
VALUE_TASKS = [name for name, task in checks.TASKS.items() if not task.cases]


def verdict(task, answer, seed=0):
    """Return the sentence of a check."""
    try:
        checks.check(task, answer, seed)
    except checks.NotRight as found:
        return str(found)
    return say("check.right")


def begins(sentence, key):
    """Return whether a sentence begins like the text of the catalogue, up to its first placeholder."""
    return sentence.startswith(language.catalogue(language.current)[key].split("{")[0])


def loop(**_):
    while True:
        try:
            while True:
                pass
        except Exception:
            pass


# mistakes and their sentences


@pytest.mark.slow
@pytest.mark.parametrize("name", checks.TASKS)
def test_every_mistake_gets_its_own_sentence_and_the_right_answer_passes(name, monkeypatch):
    """For many seeds: some answers are discrete or close together in places."""
    task = checks.TASKS[name]
    monkeypatch.setattr(task, "refuses", ())  # some wrong functions call torch's norms for short
    for seed in range(8):
        assert verdict(name, task.right, seed) == say("check.right")
        for mistake in task.mistakes:
            for wrong in mistake.functions if task.cases else mistake.values:
                assert verdict(name, wrong, seed) == mistake.sentences["en"], (mistake.name, wrong)


@pytest.mark.parametrize("reader", LANGUAGES)
@pytest.mark.parametrize("name", checks.TASKS)
def test_no_two_mistakes_of_a_task_have_the_same_sentence(name, reader):
    sentences = [mistake.sentences[reader] for mistake in checks.TASKS[name].mistakes]
    assert len(set(sentences)) == len(sentences)


def test_the_sentences_show_no_marks_of_markdown():
    """An error is shown as it is: a backtick stays one."""
    for reader in LANGUAGES:
        sentences = [text for key, text in language.catalogue(reader).items() if key.startswith("check.")]
        for task in checks.TASKS.values():
            sentences += [mistake.sentences[reader] for mistake in task.mistakes]
        assert not [text for text in sentences if "`" in text or "Schreibe " in text]


def test_a_mistake_without_sentences_is_refused():
    with pytest.raises(ValueError, match="needs sentences"):
        checks.TASKS["layer-norm"].mistake("a new mistake")


def test_every_sentence_is_one_of_a_mistake_that_is_known():
    """A sentence whose mistake was renamed or deleted would never be said."""
    known = {task.name: {mistake.name for mistake in task.mistakes} for task in checks.TASKS.values()}
    assert {name: set(mistakes) for name, mistakes in SENTENCES.items()} == known


@pytest.mark.parametrize("name", FUNCTION_TASKS)
def test_no_axis_can_be_taken_for_another(name):
    """With d − 1 = B a sum of squares over d − 1 was told that it divides by the size of another axis."""
    square = ("to-rms-norm", "fold-gain")  # their weights are square in one case, so that nothing complains
    for case in checks.TASKS[name].cases(torch.randn):
        tensors = [tensor for value in case.values() for tensor in flat(value) if tensor.dim() > 1]
        if name in square and any(tensor.shape[0] == tensor.shape[1] for tensor in tensors):
            continue
        for tensor in tensors:
            sizes = [*tensor.shape, tensor.shape[-1] - 1]
            assert len(set(sizes)) == len(sizes), (name, sizes)


def flat(value):
    if isinstance(value, list | tuple):
        return list(value)
    return [value] if torch.is_tensor(value) else []


@pytest.mark.parametrize("name", ["stream-lengths", "logit-lens", "largest-write"])
def test_the_number_of_points_of_a_stream_is_none_of_its_sizes(name):
    for case in checks.TASKS[name].cases(torch.randn):
        points = case.get("hidden_states", case.get("stream"))
        assert len(points) not in (*points[0].shape, points[0].shape[-1] - 1)


# what is no answer


@pytest.mark.parametrize("answer", [None, ...])
@pytest.mark.parametrize("reader", LANGUAGES)
@pytest.mark.parametrize("name", checks.TASKS)
def test_an_untouched_stub_is_not_done_yet(name, reader, answer):
    language.use(reader)
    assert verdict(name, answer) == say("check.not_done")
    if name in FUNCTION_TASKS:
        assert verdict(name, lambda **_: answer) == say("check.not_done")


class EqualsEverything:
    """As unittest.mock.ANY."""

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    def __hash__(self):
        return hash("A")


class Pretends(EqualsEverything):
    """Says that it is a list."""

    __class__ = list

    def __len__(self):
        return 5

    def __getitem__(self, index):
        return self

    def __iter__(self):
        return iter([self] * 5)


class AnyText(EqualsEverything, str):
    pass


class AnyNumber(EqualsEverything, int):
    pass


class AnyFraction(EqualsEverything, float):
    pass


class AnyList(EqualsEverything, list):
    def __len__(self):
        return 5

    def __getitem__(self, index):
        return mock.ANY

    def __iter__(self):
        return iter([mock.ANY] * 5)


class AnyListWithShape(AnyList):
    shape = (1,)


class AnyDict(EqualsEverything, dict):
    def keys(self):
        return {"A", "B", "C", "D"}

    def __getitem__(self, key):
        return mock.ANY

    __len__ = __iter__ = None


class AnyTensor(torch.Tensor):
    """Lets every function of torch return True."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return True


class AnyArray(np.ndarray):
    def __eq__(self, other):
        return np.True_

    def __array_function__(self, function, types, args, kwargs):
        return True

    def __array_ufunc__(self, *args, **kwargs):
        return np.True_


class HandsOutAnything:
    def __array__(self, dtype=None, copy=None):
        return np.array([mock.ANY] * 5, dtype=object)


def quiet_tensor():
    """Return a tensor whose own methods are replaced."""
    tensor = torch.zeros(5)
    tensor.detach = tensor.double = lambda: mock.ANY
    return tensor


def endless_list():
    endless = []
    endless.append(endless)
    return endless


LIARS = {
    "ANY": mock.ANY,
    "own class": EqualsEverything(),
    "pretends to be a list": Pretends(),
    "mock": mock.MagicMock(),
    "mock of a list": mock.MagicMock(spec=list),
    "text": AnyText("x"),
    "number": AnyNumber(77),
    "fraction": AnyFraction(77.5),
    "list": AnyList([77]),
    "list with a shape": AnyListWithShape([77]),
    "dictionary": AnyDict(),
    "dictionary that makes what it lacks": collections.defaultdict(EqualsEverything),
    "tensor": torch.zeros(1).as_subclass(AnyTensor),
    "tensor with own methods": quiet_tensor(),
    "array": np.zeros(5).view(AnyArray),
    "object array": np.array([mock.ANY] * 5, dtype=object),
    "object array of one": np.array(mock.ANY, dtype=object),
    "other array": HandsOutAnything(),
    "list in itself": endless_list(),
}


@pytest.mark.slow
@pytest.mark.parametrize("liar", LIARS)
@pytest.mark.parametrize("name", checks.TASKS)
def test_what_claims_to_equal_everything_is_no_answer(name, liar):
    """unittest.mock.ANY was right in many places."""
    one = LIARS[liar]
    answers = [one, {"A": one, "B": one, "C": one, "D": one}, {mock.sentinel.key: one}, [[one] * 3] * 3]
    answers += [[one] * size for size in range(2, 6)]
    for answer in answers:
        found = [verdict(name, answer)]
        if name in FUNCTION_TASKS:
            found = [verdict(name, lambda answer=answer, **_: answer)]
        assert say("check.right") not in found


@pytest.mark.parametrize("liar", ["ANY", "own class", "number", "text", "tensor", "object array of one"])
def test_a_right_answer_with_one_part_that_claims_to_equal_everything_is_not_right(liar):
    one = LIARS[liar]
    assert verdict("planted-bugs", {"A": 4, "B": 3, "C": one}) != say("check.right")
    assert verdict("which-curve", dict(A="sandwich", B="deepnorm", C="post", D=one)) != say("check.right")
    assert verdict("count-norms", (113, one)) != say("check.right")
    assert verdict("which-axis", [(3, 5, 1), (1, 1, one), (3, 1, 1)]) != say("check.right")
    assert verdict("by-hand", [3.5, 1, 2, 1.5, one]) != say("check.right")


def test_a_key_that_claims_to_equal_everything_is_not_right():
    assert verdict("planted-bugs", {EqualsEverything(): 4, "B": 3, "C": 2}) != say("check.right")


@pytest.mark.parametrize("reader", LANGUAGES)
def test_an_object_that_is_no_answer_is_named(reader):
    language.use(reader)
    found = verdict("which-curve", dict(A="sandwich", B="deepnorm", C="post", D=EqualsEverything()))
    assert begins(found, "check.foreign") and "EqualsEverything" in found


@pytest.mark.parametrize("name", checks.TASKS)
@pytest.mark.parametrize("answer", [3, "x", [], {}, object(), torch.zeros(2), print, lambda: 1, lambda *a, **k: 1 / 0])
def test_any_object_ends_in_a_sentence(name, answer):
    found = verdict(name, answer)
    assert found and found != say("check.right")


@pytest.mark.slow
@pytest.mark.parametrize(
    "result", [torch.tensor(1.0), np.float64(1), str, list, iter([]), (1,), ("mlp",), {"a": 1}, {("a",): 1}, {(): {}}]
)
@pytest.mark.parametrize("name", FUNCTION_TASKS)
def test_any_result_ends_in_a_sentence(name, result):
    assert verdict(name, lambda **_: result) not in ("", say("check.right"))


# an answer that calls the answer of another task


def rms_norm_without_gain(x, gamma, eps):
    return x / (x.square().mean(-1, keepdim=True) + eps).sqrt()


def rms_norm_that_fails(x, gamma, eps):
    return x.no_such_method()


rms_norm = rms_norm_without_gain


def rms_norm_half(x, gamma, eps):
    return rms_norm(x.float(), gamma.float(), eps).to(x.dtype)


def widened(x, gamma, eps):
    return rms_norm(x.float(), gamma.float(), eps)


def through_a_helper(x, gamma, eps):
    return widened(x, gamma, eps).to(x.dtype)


def in_a_comprehension(x, gamma, eps):
    return torch.stack([rms_norm(example.float(), gamma.float(), eps) for example in x]).to(x.dtype)


def never_widened(x, gamma, eps):
    return rms_norm(x, gamma, eps)


@pytest.mark.parametrize("reader", LANGUAGES)
@pytest.mark.parametrize("answer", [rms_norm_half, through_a_helper, in_a_comprehension])
@pytest.mark.parametrize("called", [rms_norm_without_gain, rms_norm_that_fails])
def test_a_right_answer_built_on_a_wrong_one_is_told_so(answer, called, reader, monkeypatch):
    """It got the general sentence, as if its own lines were wrong."""
    language.use(reader)
    monkeypatch.setitem(globals(), "rms_norm", called)
    found = verdict("rms-norm-half", answer)
    assert found == say("check.consequence", names="rms_norm")
    assert rms_norm is called


def test_a_mistake_of_its_own_is_said_also_if_the_answer_is_built_on_a_wrong_one():
    [overflow] = [m for m in checks.TASKS["rms-norm-half"].mistakes if m.name == "squares overflow"]
    assert verdict("rms-norm-half", never_widened) == overflow.sentences["en"]


def sandwich_sublayer(x, f, norm_before, norm_after):
    return norm_after(x + f(norm_before(x)))


def pre_norm_block(x, attention, mlp, norm_1, norm_2):
    h = sandwich_sublayer(x, attention, norm_1, lambda y: y)
    return sandwich_sublayer(h, mlp, norm_2, lambda y: y)


def post_norm_block(x, attention, mlp, norm_1, norm_2):
    h = norm_1(sandwich_sublayer(x, attention, lambda y: y, norm_2))
    return norm_2(sandwich_sublayer(h, mlp, lambda y: y, norm_2))


def test_every_task_may_be_built_on_another(monkeypatch):
    assert verdict("pre-norm-block", pre_norm_block) == say("check.right")  # the mistake of 1c does not show here
    monkeypatch.setitem(globals(), "sandwich_sublayer", lambda x, f, norm_before, norm_after: norm_after(f(x)))
    assert verdict("pre-norm-block", pre_norm_block) == say("check.consequence", names="sandwich_sublayer")
    assert verdict("post-norm-block", post_norm_block) != say("check.consequence", names="sandwich_sublayer")


# time, output, threads, and the notebook


@pytest.mark.parametrize("reader", LANGUAGES)
def test_a_shown_sentence_breaks_between_words(reader):
    """JupyterLab breaks a line of an error that is too long after any letter."""
    language.use(reader)
    shown = checks.NotRight(say("check.different"))._render_traceback_()
    assert len(shown) > 1 and all(len(line) <= 72 for line in shown)
    assert " ".join(shown) == say("check.different")


def test_an_endless_loop_ends(monkeypatch):
    monkeypatch.setattr(checks, "LIMIT", 0.3)
    assert verdict("layer-norm", loop) == say("check.too_long", seconds=0.3)


def test_on_a_slow_computer_the_alarm_does_not_ring_in_the_sentence(monkeypatch):
    """It rang again after 0.2 s, when a sentence with a number took longer the first time."""
    monkeypatch.setattr(checks, "LIMIT", 0.3)
    monkeypatch.setattr(language, "say", lambda key, say=say, **values: time.sleep(0.6) or say(key, **values))
    with pytest.raises(checks.NotRight):
        checks.check("layer-norm", loop)


@pytest.mark.parametrize("name", checks.TASKS)
def test_a_check_works_outside_of_the_main_thread(name):
    """It said that signal only works in the main thread."""
    task = checks.TASKS[name]
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(verdict, name, task.right).result() == say("check.right")
        assert pool.submit(verdict, name, 7).result() not in ("", say("check.right"))


@pytest.mark.slow
def test_after_a_cell_with_an_error_right_is_not_said_without_a_word():
    """A syntax error leaves the right answer of before in place; a check that has found a mistake does not."""
    reader = "sv"
    imports = "from helpers import language\nfrom helpers.activities.check import check"
    setup = f'{imports}\nlanguage.use("{reader}")\ny = [3.5, 1, 2, 1.5, -2]'
    check = 'check("by-hand", y)'
    sources = [setup, check, "y = [3.5, 1", check, "1 / 0", check, 'check("by-hand", None)', check]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    NotebookClient(notebook, timeout=60, kernel_name="python3", allow_errors=True).execute()
    shown = [notebook.cells[i].outputs[0].text.strip().replace("\n", " ") for i in (1, 3, 5, 7)]
    right, doubtful = language.catalogue(reader)["check.right"], language.catalogue(reader)["check.doubtful"]
    assert shown == [right, doubtful, doubtful, right]


def test_the_students_random_state_stays():
    torch.manual_seed(3)
    expected = torch.randn(1)
    torch.manual_seed(3)
    verdict("layer-norm", lambda x, gamma, beta, eps: x)
    assert torch.equal(torch.randn(1), expected)


# ready-made norms


READY_MADE = [
    lambda x, **_: nn.LayerNorm(x.shape[-1])(x),
    lambda x, **_: nn.RMSNorm(x.shape[-1])(x),
    lambda x, **_: nn.GroupNorm(1, x.shape[1])(x),
    lambda x, **_: nn.InstanceNorm1d(x.shape[1])(x),
]


@pytest.mark.parametrize("reader", LANGUAGES)
@pytest.mark.parametrize("answer", READY_MADE)
def test_a_ready_made_norm_is_refused_and_stays_as_it_was(answer, reader):
    """nn.LayerNorm, which the task rules out, was right."""
    language.use(reader)
    kept = {name: getattr(torch, name) for name in checks.TASKS["layer-norm"].refuses}
    assert verdict("layer-norm", answer) == say("check.refused")
    assert kept == {name: getattr(torch, name) for name in kept}


def test_a_norm_is_itself_again_after_an_answer_that_fails_or_never_ends(monkeypatch):
    monkeypatch.setattr(checks, "LIMIT", 0.3)
    for answer in (lambda **_: 1 / 0, loop):
        kept = torch.layer_norm
        verdict("layer-norm", answer)
        assert torch.layer_norm is kept


def test_a_task_that_does_not_rule_a_norm_out_takes_it():
    def answer(x, gamma, eps):
        return F.rms_norm(x, x.shape[-1:], gamma, eps)

    assert verdict("rms-norm-half", answer) == say("check.right")


@pytest.mark.parametrize("reader", LANGUAGES)
def test_a_mean_without_its_axis_gets_a_hint(reader):
    language.use(reader)

    def answer(x, gamma, beta, eps):
        return gamma * (x - x.mean(-1)) / (x.var(-1, correction=0) + eps).sqrt() + beta

    start, end = say("check.keepdim", error="|").split("|")
    assert verdict("layer-norm", answer).startswith(start) and verdict("layer-norm", answer).endswith(end)
    assert "keepdim" not in verdict("layer-norm", lambda **_: 1 / 0)


# tasks whose right answer follows from what the notebook shows


@pytest.mark.slow
def test_the_model_itself_has_as_many_norms():
    """Without storage for its numbers."""
    from transformers import AutoConfig, AutoModel

    size = {"num_hidden_layers": 28, "hidden_size": 1024, "num_attention_heads": 16, "head_dim": 128}
    with torch.device("meta"):
        model = AutoModel.from_config(AutoConfig.for_model("qwen3", num_key_value_heads=8, **size))
    norms = [module for module in model.modules() if "Norm" in type(module).__name__]
    parameters = sum(parameter.numel() for norm in norms for parameter in norm.parameters())
    assert verdict("count-norms", (len(norms), parameters)) == say("check.right")


@pytest.mark.parametrize(
    ("task", "choices"),
    [
        ("planted-bugs", itertools.product((1, 2, 3, 4), repeat=3)),
        ("which-curve", itertools.permutations(("pre", "post", "sandwich", "deepnorm"))),
    ],
)
def test_whoever_answers_in_the_form_asked_for_never_gets_the_general_sentence(task, choices):
    found = [verdict(task, dict(zip("ABCD", choice))) for choice in choices]
    assert found.count(say("check.right")) == 1 and say("check.different") not in found


@pytest.fixture(scope="module")
def sources():
    """The code cells of the teacher's notebook of assignment 3, id → source."""
    path = Path(helpers.__file__).parents[1] / "notebooks" / "en" / "solutions" / "03_placement.ipynb"
    return {cell.id: cell.source for cell in nbformat.read(path, as_version=4).cells}


def names_of(source, folder):
    """Run some code and return what it defines."""
    path = folder / "cell.py"
    path.write_text(source, encoding="utf8")
    return runpy.run_path(str(path))


@pytest.mark.parametrize(
    ("letter", "repaired"), [("A", "y = h + mlp(m)"), ("B", "m = norm_2(h)"), ("C", "h = norm_1(alpha * x + a)")]
)
def test_repairing_the_planted_line_makes_the_block_right(sources, letter, repaired, tmp_path):
    draw = torch.Generator().manual_seed(0)
    w, v, gain, x = (torch.randn(size, generator=draw) for size in ((4, 4), (4, 4), (4,), (2, 3, 4)))
    inputs = dict(x=x, attention=lambda x: x.cumsum(-2) @ w, mlp=lambda x: F.gelu(x @ v))
    inputs |= dict(norm_1=lambda x: F.layer_norm(x, (4,), gain), norm_2=lambda x: F.layer_norm(x, (4,)) + 1)
    inputs |= dict(alpha=1.7) if letter == "C" else {}

    def expected(x, attention, mlp, norm_1, norm_2, alpha=None):
        for f, norm in ((attention, norm_1), (mlp, norm_2)):
            x = x + f(norm(x)) if alpha is None else norm(alpha * x + f(x))
        return x

    name = f"block_{letter.lower()}"
    planted = checks.TASKS["planted-bugs"].right[letter]
    text = re.search(rf"def {name}.*?return y", sources["given-blocks"], re.S)[0]
    mended = re.sub(rf"    .*  # {planted}\n", f"    {repaired}\n", text)
    blocks = [names_of(source, tmp_path)[name] for source in (text, mended)]
    assert [torch.allclose(block(**inputs), expected(**inputs), atol=1e-5) for block in blocks] == [False, True]


def test_the_letters_of_the_pictures_are_those_of_the_answer(sources):
    seed, kinds, number = re.search(
        r"kinds = random.Random\((\d+)\).sample\(\((.*)\), (\d)\)", sources["curves-runs"]
    ).groups()
    drawn = random.Random(int(seed)).sample(re.findall(r"\w+", kinds), int(number))
    assert checks.TASKS["which-curve"].right == dict(zip("ABCD", drawn))


@pytest.mark.parametrize("lang", language.LANGUAGES)
@pytest.mark.parametrize(
    ("name", "expected"), [("layer_norm", "layer-norm"), ("Layer-Norm", "layer-norm"), (3, "-"), (None, "-"), ([], "-")]
)
def test_an_unknown_task_gets_a_sentence_with_the_names_of_its_assignment(name, expected, lang):
    """It was a bare KeyError."""
    language.use(lang)
    with pytest.raises(ValueError) as caught:
        checks.check(name, 1)
    assert str(name) in str(caught.value) and expected in str(caught.value)
    assert "\n" not in str(caught.value)
