"""Hard input: whatever a reader types, gives or has on the machine ends in the right result or in one sentence."""

import itertools
import json
import multiprocessing
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import explorers, figures, language, models, norms, training
from helpers.activities import check as checks
from helpers.activities import claims
from helpers.activities import predict as predictions
from helpers.explorers import race
from helpers.language import LANGUAGES, catalogue, say
from tests.activities.test_checks import verdict

TOOLS = Path(__file__).parents[2] / "tools"
READERS = pytest.mark.parametrize("reader", LANGUAGES)
ANY_TEXT = st.text(st.characters(exclude_categories=())) | st.text(
    "a\0\ud800\u202e\u200d\u0301🫖ש<&$\\{}%\t\n ", max_size=12
)
ODD_LOCALES = ("C", "POSIX", "C.UTF-8", "xx_YY", "sv_SE.ISO8859-1", "en_US.UTF-8:de", "@", "/nonexistent", "Ä")


@pytest.fixture(scope="module")
def model():
    return models.load("bundled/ln-pre")


@pytest.fixture(scope="module")
def explorer():
    return explorers.residual_stream("bundled/ln-pre", prompt="Tea")


def sentence(key, **values):
    """Return a pattern for a whole text of the catalogue in the reader's language."""
    return f"^{re.escape(say(key, **values))}$"


# prompts


@pytest.mark.slow
@settings(deadline=None)
@given(ANY_TEXT)
def test_every_text_has_visible_labels_one_a_token(model, text):
    if not text:
        with pytest.raises(ValueError, match=sentence("load.empty")):
            model.encode(text)
        return
    ids = model.encode(text)
    labels = model.pieces(ids)
    assert len(labels) == len(ids) == min(len(text.encode("utf8", "replace")), model.decoder.config.positions)
    assert all(label.isprintable() and label.strip() for label in labels), labels


def test_what_cannot_be_seen_is_shown_as_its_escape(model):
    """A null byte gave an empty entry of the token list; a right-to-left override turned the sentence after it."""
    assert model.pieces(model.encode("a\0\t\x1b \n")) == ["a", r"\x00", r"\t", r"\x1b", "·", "↵"]
    assert model.pieces(model.encode("\u202e")) == [r"\u202e₁", r"\u202e₂", r"\u202e₃"]


@pytest.mark.slow
@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(ANY_TEXT, st.integers(0, 200)), min_size=1, max_size=4))
def test_explorer_takes_any_prompts_and_tokens_one_after_the_other(explorer, changes):
    token = explorer.controls["token"]
    for prompt, index in changes:
        explorer.controls["prompt"].value = prompt
        token.value = min(index, len(token.options) - 1)
        assert explorer.error is None and 0 <= token.value < len(token.options)
        if prompt:
            assert f"token {token.value}" in explorer.picture.alt
        else:
            assert say("load.empty") in explorer.message.value


@READERS
def test_five_thousand_words_are_cut_and_the_reader_is_told(reader):
    language.use(reader)
    explorer = explorers.residual_stream("bundled/ln-pre", prompt="ord " * 5000)
    assert explorer.error is None and len(explorer.controls["token"].options) == 128
    assert say("load.cut", tokens=20000, limit=128) in explorer.message.value


# names


@READERS
@pytest.mark.parametrize(
    "name",
    [
        "../../x",
        "bundled/../x",
        "bundled/ln-pre.safetensors",
        "/etc/passwd",
        "GPT2",
        "",
        "gpt2\0",
        "{x}",
        None,
        ["gpt2"],
    ]
    + [np.array([1, 2]), torch.tensor(1), {"a": 1}],
)
def test_a_model_name_that_is_none_gets_a_sentence(reader, name):
    """An array once got numpy's sentence about the truth of arrays."""
    language.use(reader)
    expected = sentence("load.not_a_decoder", kind=type(name).__name__)
    if isinstance(name, str):
        expected = sentence("load.unknown", name=name, names=", ".join(models.NAMES))
    with pytest.raises(ValueError, match=expected):
        models.load(name)


@READERS
@pytest.mark.parametrize("claim", ["no-such-claim", "", None, ["off-by-one"]])
def test_a_claim_that_is_none_gets_a_sentence(reader, claim):
    """It was a bare KeyError."""
    language.use(reader)
    with pytest.raises(ValueError, match=sentence("claim.unknown", name=str(claim))):
        claims.check(claim, 1)


@pytest.mark.slow
@READERS
@pytest.mark.parametrize(
    ("start", "name"),
    [
        (lambda: explorers.residual_stream("bundled/ln-pre", "post-norm"), "post-norm"),
        (lambda: explorers.placement("pre", "batchnorm"), "batchnorm"),
        (lambda: explorers.placement(layers=3), 3),
        (lambda: explorers.layer_norm_against_rms_norm(mean=0.3), 0.3),
        (lambda: explorers.layer_norm_steps("big"), "big"),
        (lambda: race.WarmupRace("sgd"), "sgd"),
        (lambda: claims.table(5), 5),
        (lambda: claims.table("03_placement"), "03_placement"),
    ],
)
def test_a_name_that_is_no_choice_gets_those_that_are(reader, start, name):
    """It was “Invalid selection: value not found”, whatever the language."""
    language.use(reader)
    with pytest.raises(ValueError) as found:
        start()
    assert str(found.value).startswith(say("explorer.unknown", name=str(name), names="").rstrip("."))


@READERS
@pytest.mark.parametrize("other", ["fr", "EN", "de_DE", "", None, 3, ["en"]])
def test_a_language_that_is_none_gets_a_sentence_and_the_old_one_stays(reader, other):
    language.use(reader)
    with pytest.raises(ValueError, match=sentence("language.unknown", name=str(other), names="en, de, sv")):
        language.use(other)
    assert language.current == reader


@READERS
def test_other_names_get_a_sentence(reader):
    language.use(reader)
    for name in ("Pre", ["pre"], None):
        with pytest.raises(ValueError, match="is not a way to initialise. Choose one of: xavier, gpt2"):
            training.initialise(None, name)


# numbers


def test_norms_of_whole_numbers_are_not_cut_to_whole_numbers():
    """layer_norm([1, 2, 3, 6]) was [0, 0, 0, 1]."""
    x = torch.tensor([1, 2, 3, 6])
    for norm in (norms.layer_norm, norms.rms_norm, norms.LayerNorm(4), norms.RMSNorm(4)):
        assert torch.equal(norm(x), norm(x.float())) and norm(x).dtype == torch.float32
        for dtype in (torch.float16, torch.bfloat16, torch.float64):
            assert norm(x.to(dtype)).dtype == dtype


@pytest.mark.parametrize("draw", [figures.lines, figures.bars])
def test_no_curve_is_left_out(monkeypatch, draw):
    """The sixth was, silently."""
    shown = []
    monkeypatch.setattr(figures, "display", shown.append)
    draw([1, 2], {f"curve {number}": [number, 2] for number in range(7)}, "axis.block", "axis.length")
    assert all(f"curve {number}" in shown[0].alt and f"curve {number}" in shown[0].svg.decode() for number in range(7))


# answers


class Endless:
    """Five numbers by its length, and never an end."""

    def __len__(self):
        return 5

    def __getitem__(self, index):
        return 0.0


class Stubborn:
    """Whoever compares with it waits for ever."""

    def __eq__(self, other):
        while True:
            pass

    __hash__ = None


def test_an_answer_that_cannot_be_read_or_compared_to_an_end_ends():
    for task, answer in (("by-hand", Endless()), ("planted-bugs", dict(A=Stubborn(), B=3, C=2))):
        assert verdict(task, answer) not in (say("check.right"), "")
    assert verdict("layer-norm", lambda **_: Endless()) != say("check.right")
    assert verdict("by-hand", [3.5, 1, 2, 1.5, -2]) == say("check.right")


ODD_ANSWERS = [
    float("nan"), "3.5", b"x", 10**400, range(5), {}, set(), [None] * 5, [...] * 5, itertools.count(),
    (x for x in [3.5]), torch.full((5,), float("nan")), torch.zeros(1, 5), torch.zeros(10**5, 1).expand(10**5, 10**5),
    np.array(["3.5"]),
    "x" * 10**6, [[3.5, 1, 2, 1.5, -2]], int, Exception, torch.tensor([3.5, 1, 2, 1.5, -2], dtype=torch.complex64) + 1j,
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("task", list(checks.TASKS))
def test_odd_answers_are_never_right_and_end_in_a_sentence(task):
    """A complex answer once lost its imaginary part, and was right."""
    for answer in ODD_ANSWERS:
        found = [verdict(task, answer)]
        if checks.TASKS[task].cases:
            found.append(verdict(task, lambda answer=answer, **_: answer))
        for text in found:
            assert text and text != say("check.right"), answer


def test_right_answers_in_another_container_are_right():
    answer = torch.tensor([3.5, 1, 2, 1.5, -2])
    others = [answer.half(), answer.double(), answer.numpy(), tuple(answer.tolist()), torch.nn.Parameter(answer)]
    assert {verdict("by-hand", other) for other in others} == {say("check.right")}


@READERS
def test_functions_of_another_form_get_the_error_in_a_sentence(reader):
    language.use(reader)
    start = say("check.raises", error="")
    for function, names in ((lambda x: x, "x"), (lambda x, gamma, beta: x, "x, gamma, beta"), (lambda *, y: y, "y")):
        says = say("check.arguments", got=names, expected="x, gamma, beta, eps")
        assert verdict("layer-norm", function) == says
    assert verdict("layer-norm", torch.nn.LayerNorm(4)).startswith(start)
    for answer in ("layer_norm", 3):
        assert verdict("layer-norm", answer) == say("check.not_callable", kind=type(answer).__name__)
    assert verdict("layer-norm", dict) == say("check.different")

    def left(**_):
        raise GeneratorExit

    assert verdict("layer-norm", left).startswith(start)

    def generator(x, gamma, beta, eps):
        yield x

    assert verdict("layer-norm", generator) == say("check.foreign", kind="generator")


@READERS
def test_a_list_of_another_length_is_told_from_wrong_numbers(reader):
    """3,5 is two numbers in Python; the check once said only that something was not right."""
    language.use(reader)
    for answer in ([3, 5, 1, 2, 1, 5, -2], (3, 5, 1, 0, 2, 0, 1, 5, -2, 0), [3, 220, 1, 94, 1, 7, 1, 5, -1, 8]):
        assert verdict("by-hand", answer) == say("check.comma", got=f"({len(answer)},)", expected="(5,)")
    assert verdict("count-norms", (113, 65, 536)) == say("check.comma", got="(3,)", expected="(2,)")
    for answer in ([3.5, 1, 2, 1.5], [3.5, 1, 2, 1.5, -2, 0.5], [3, 1], []):
        assert verdict("by-hand", answer) == say("check.shape", got=f"({len(answer)},)", expected="(5,)")
    assert verdict("by-hand", [0, 0, 0, 0, 0]) == say("check.different")


class Mute(Exception):
    """An error that cannot say what it is."""

    def __str__(self):
        raise ValueError


@READERS
def test_an_error_that_cannot_be_written_ends_in_a_sentence(reader):
    """Its own error once came out in place of the check's sentence."""
    language.use(reader)

    def fails(**_):
        raise Mute

    found = verdict("layer-norm", fails)
    assert found.startswith(say("check.raises", error="")) and "Mute" in found


# predictions

HARD_FILES = [
    "[" * 100_000,
    "null",
    '{"growth": "x"}',
    '{"growth": null}',
    '{"growth": [1]}',
    '{"growth": {"choice": []}}',
    "\0",
]
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["growth", "choice", "x"]), inner),
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("content", HARD_FILES, ids=lambda content: content[:30])
def test_a_broken_predictions_file_is_no_obstacle(folder, content):
    """{"growth": "x"} and a deep nest once stopped the lesson."""
    predictions.FILE.write_text(content)
    question = predictions.predict("growth", 99.2, (3, 25, 75))
    assert question.radio.value is None
    question.radio.value = 0
    assert predictions.load()["growth"] == {"choice": 0, "measured": 99.2, "answer": 3}


@pytest.mark.slow
def test_any_json_is_no_obstacle(folder):
    @settings(deadline=None)
    @given(ANY_JSON)
    def ask(content):
        predictions.FILE.write_text(json.dumps(content))
        question = predictions.predict("growth", 99.2, (3, 25, 75))
        question.radio.value = 2
        assert "99.2" in question.reveal.value

    ask()


@READERS
@pytest.mark.parametrize(
    "place", ["no right to write", "below a file", "a folder that is gone", "a folder in its place"]
)
def test_a_folder_that_cannot_be_written_gets_a_sentence(folder, monkeypatch, reader, place):
    language.use(reader)
    if place == "below a file":
        Path("file").write_text("x")
        monkeypatch.setattr(predictions, "FILE", Path("file/predictions.json"))
    elif place == "a folder in its place":
        predictions.FILE.mkdir()
    else:
        Path("other").mkdir(mode=0o555)
        monkeypatch.chdir("other")
    if place == "a folder that is gone":
        (folder / "other").rmdir()
    question = predictions.predict("growth", 99.2, (3, 25, 75))
    not_kept, root = say("predict.not_kept"), hasattr(os, "geteuid") and os.geteuid() == 0
    if root and place == "no right to write":
        os.seteuid(65534)  # nobody: root may write everywhere
    try:
        question.radio.value = 0
    finally:
        if root:
            os.seteuid(0)
    assert not_kept in question.reveal.value and language.number(99.2) in question.reveal.value
    monkeypatch.chdir(folder)


def _write(name):
    for index in range(25):
        predictions.save(f"{name}{index}", {"choice": index, "measured": 1.0})


def test_two_processes_that_write_at_once_lose_nothing(folder):
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    processes = [context.Process(target=_write, args=(name,)) for name in "ab"]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0]
    assert len(predictions.load()) == 50


# the machine


@pytest.mark.slow
@pytest.mark.parametrize("locale", ODD_LOCALES)
def test_german_and_swedish_need_no_locale_of_the_machine(locale):
    code = (
        "from helpers import language\n"
        "for reader in ('de', 'sv'):\n"
        "    language.use(reader)\n"
        "    print(ascii([language.number(1234.5, 5), language.say('check.right')]))\n"
    )
    names = ("LC_ALL", "LANG", "LC_NUMERIC", "LANGUAGE")
    env = os.environ | dict.fromkeys(names, locale) | {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True, timeout=120)
    words = [catalogue(reader)["check.right"] for reader in ("de", "sv")]
    assert done.stdout.decode().splitlines() == [ascii(["1234,5", word]) for word in words]


def test_the_tools_can_write_to_a_terminal_that_knows_ascii_only():
    """A finding with a quotation mark ended in a UnicodeEncodeError."""
    code = "from notebook_files import directions; directions.end(lambda: (['\\u201c\\xe4\\u201d'], True))"
    env = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONPATH": str(TOOLS)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True, timeout=120)
    assert done.stdout.decode() == "\\u201c\\xe4\\u201d\n"
