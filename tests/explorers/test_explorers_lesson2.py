"""The explorer of LayerNorm against RMSNorm: every state has a picture whose text says what it shows."""

import itertools
import math
import re
import threading

import pytest
import torch

from helpers import explorers, figures, language
from helpers.language import LANGUAGES, number

STATES = ("mean", "outlier")


def steps(explorer, name):
    return [value for _, value in explorer.controls[name].options]


def put(explorer, **state):
    for name, value in state.items():
        explorer.controls[name].value = value
    assert explorer.error is None


@pytest.mark.slow
def test_every_state_has_a_picture_and_a_text_of_its_own():
    """In one language; the site draws its states in all of them."""
    language.use("sv")
    explorer = explorers.layer_norm_against_rms_norm()
    texts = set()
    for mean, outlier in itertools.product(*(steps(explorer, name) for name in STATES)):
        put(explorer, mean=mean, outlier=outlier)
        assert explorer.picture.svg.startswith(b"<?xml") and explorer.picture.alt in explorer.image.value
        texts.add(explorer.picture.alt)
    assert len(texts) == math.prod(len(steps(explorer, name)) for name in STATES)


@pytest.mark.parametrize("reader", LANGUAGES)
def test_labels_and_texts_are_in_the_language(reader):
    language.use(reader)
    explorer = explorers.layer_norm_against_rms_norm(mean=0.5)
    labels = [label for label, _ in explorer.controls["mean"].options]
    assert labels == [number(value, trim=True) for value in steps(explorer, "mean")]
    assert ("−0.5" if reader == "en" else "−0,5") in labels
    assert language.say("lesson2.mean") == explorer.controls["mean"].description
    assert language.catalogue(reader)["lesson2.alt"].split("{")[0] in explorer.picture.alt
    point, comma = re.findall(r"\d\.\d", explorer.picture.alt), re.findall(r"\d,\d", explorer.picture.alt)
    assert (point and not comma) if reader == "en" else (comma and not point)


def test_at_zero_mean_both_are_the_same():
    explorer = explorers.layer_norm_against_rms_norm(mean=0)
    assert "standard deviation 1." in explorer.picture.alt
    assert "results: 0°; length of their difference: 0." in explorer.picture.alt
    assert explorer.picture.alt.endswith(re.sub("<.*?>", "", explorer.message.value))


@pytest.mark.parametrize("mean", (-10, -1, 0.5, 3))
def test_the_angle_is_that_of_mean_and_standard_deviation(mean):
    alt = explorers.layer_norm_against_rms_norm(mean=mean).picture.alt
    angle = math.degrees(math.atan(abs(mean)))
    shown = float(re.search(r"results: ([\d.]+)°", alt)[1])
    assert shown == pytest.approx(angle, abs=0.06)
    difference = float(re.search(r"difference: ([\d.]+)\.", alt)[1])
    assert difference == pytest.approx(2 * math.sqrt(12) * math.sin(math.radians(angle / 2)), abs=0.02)


def test_the_picture_shows_the_numbers_of_its_state_whatever_came_before():
    explorer = explorers.layer_norm_against_rms_norm()
    put(explorer, mean=5, outlier=20)
    put(explorer, mean=-2, outlier=0)
    put(explorer, mean=1)
    fresh = explorers.layer_norm_against_rms_norm(mean=1)
    assert explorer.picture.alt == fresh.picture.alt and explorer.picture.svg == fresh.picture.svg


def test_the_last_state_wins_when_changes_come_from_several_threads():
    explorer = explorers.layer_norm_against_rms_norm()
    values = steps(explorer, "mean")
    threads = [threading.Thread(target=put, args=(explorer,), kwargs={"mean": value}) for value in values]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    put(explorer, mean=3)
    assert explorer.picture.alt == explorers.layer_norm_against_rms_norm(mean=3).picture.alt


def test_drawing_leaves_the_global_random_generator_alone():
    torch.manual_seed(1)
    expected = torch.rand(1)
    torch.manual_seed(1)
    explorers.layer_norm_against_rms_norm()
    assert torch.rand(1) == expected


@pytest.mark.parametrize("reader", LANGUAGES)
def test_an_exception_becomes_one_sentence_and_the_picture_stays(reader, monkeypatch):
    language.use(reader)
    explorer = explorers.layer_norm_against_rms_norm()
    before = explorer.image.value

    def broken(*_):
        raise RuntimeError("planted")

    monkeypatch.setattr(figures, "render", broken)
    explorer.controls["mean"].value = 2
    assert isinstance(explorer.error, RuntimeError)
    assert explorer.image.value == before
    told = language.say("explorer.failed", problem="RuntimeError: planted")
    assert told in explorer.message.value
    monkeypatch.undo()
    explorer.controls["mean"].value = 3
    assert explorer.error is None and "planted" not in explorer.message.value
