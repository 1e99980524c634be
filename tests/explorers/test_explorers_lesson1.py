"""The explorer of LayerNorm step by step shows what LayerNorm computes, in every state and language."""

import itertools
import re
import threading

import pytest
import torch
from torch import nn

from helpers import explorers, figures, language
from helpers.language import LANGUAGES, catalogue, number, say

GAMMA, BETA = torch.tensor([1, 1, 2, 1, 0.5, 1]).double(), torch.tensor([0, 0, 0, 1, 0, -1]).double()


def steps(control):
    return [value for _, value in control.options]


def put(explorer, **state):
    for name, value in state.items():
        explorer.controls[name].value = value
    assert explorer.error is None
    return explorer.picture.alt


def grid(explorer):
    """Return every second entry of each list and its ends, all combinations."""
    chosen = []
    for control in explorer.controls.values():
        values = steps(control)
        chosen.append(sorted({*values[::2], values[-1]}))
    return list(itertools.product(*chosen))


@pytest.mark.slow
def test_every_combination_has_a_picture_of_its_own_text_and_no_error():
    """In one language; the site draws its states in all of them."""
    language.use("de")
    explorer = explorers.layer_norm_steps()
    states, texts = grid(explorer), {}
    for state in states:
        alt = put(explorer, shift=state[0], scale=state[1], outlier=state[2])
        assert explorer.picture.svg.startswith(b"<?xml") and "nan" not in alt.lower()
        assert explorer.image.value == explorer.picture.img()
        texts.setdefault(alt, []).append(state)
    for same in texts.values():  # beside an outlier, a row of scale 0.003 has the rounded numbers of a constant one
        assert len(same) == 1 or all(scale < 0.01 and outlier > 0 for _, scale, outlier in same)


@pytest.mark.parametrize("reader", LANGUAGES)
def test_lists_speak_the_language_and_write_its_numbers(reader):
    language.use(reader)
    explorer = explorers.layer_norm_steps()
    for name, control in explorer.controls.items():
        assert control.description == catalogue(reader)[f"lesson1.{name}"]
    labels = [label for label, _ in explorer.controls["scale"].options]
    assert ("0.001" if reader == "en" else "0,001") in labels
    marks = re.findall(r"\d([.,])\d", put(explorer, scale=0.1))
    assert set(marks) == {"." if reader == "en" else ","}


@pytest.mark.parametrize(("shift", "scale", "outlier"), [(2, 1, 0), (-10, 0.001, 0), (1000, 100, 20), (10, 0, 0)])
def test_the_output_is_torchs(shift, scale, outlier):
    explorer = explorers.layer_norm_steps(shift, scale, outlier)
    z = torch.tensor([-1, 0.5, 1.5, -0.5, 1, -1.5]).double()
    x = scale * z / z.std(correction=0) + shift + outlier * torch.eye(6)[3]
    expected = nn.functional.layer_norm(x, (6,), GAMMA, BETA, 1e-5)
    assert "; ".join(number(value, 2) for value in expected.tolist()) in explorer.picture.alt
    raw = say("lesson1.panel", step=say("lesson1.raw"), mean=x.mean(), variance=x.var(correction=0))
    assert raw.replace("\n", ", ") in explorer.picture.alt


@pytest.mark.slow
def test_shift_and_scale_leave_the_output_alone_until_the_variance_is_near_epsilon():
    explorer = explorers.layer_norm_steps()

    def output(**state):
        return put(explorer, **state).rsplit(":", 1)[1]

    usual = output()
    for shift, scale in itertools.product(steps(explorer.controls["shift"]), (0.1, 1, 10, 100)):
        assert output(shift=shift, scale=scale) == usual
    assert output(scale=0.001) != usual
    assert output(scale=0) == " 0; 0; 0; 1; 0; −1."


def test_bars_and_titles_are_those_of_the_last_state():
    explorer = explorers.layer_norm_steps()
    before = explorer.picture.svg
    put(explorer, outlier=100)
    assert explorer.picture.svg != before
    put(explorer, outlier=0)
    assert explorer.picture.svg == before  # the kept figure carries nothing over


@pytest.mark.slow
def test_fast_changes_in_another_thread_end_in_the_last_state():
    explorer = explorers.layer_norm_steps()
    control = explorer.controls["shift"]

    def choose():
        for value in steps(control) * 3:
            control.value = value

    threads = [threading.Thread(target=choose) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    last = put(explorer, shift=10)
    assert explorer.image.value == explorer.picture.img()
    assert last == explorers.layer_norm_steps(shift=10).picture.alt


def test_an_exception_becomes_one_sentence_and_the_last_picture_stays(monkeypatch):
    explorer = explorers.layer_norm_steps()
    shown = explorer.image.value

    def broken(*_):
        raise RuntimeError("planted")

    monkeypatch.setattr(figures, "render", broken)
    explorer.controls["shift"].value = 10
    assert isinstance(explorer.error, RuntimeError)
    assert say("explorer.failed", problem="RuntimeError: planted") in explorer.message.value
    assert explorer.image.value == shown
    monkeypatch.undo()
    assert put(explorer, shift=100) and explorer.image.value != shown


def test_a_start_that_is_not_in_the_list_is_refused():
    with pytest.raises(ValueError, match="“3” is not a choice here"):
        explorers.layer_norm_steps(shift=3)
