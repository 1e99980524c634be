"""The warmup race and the placement explorer.

Every choice has a picture, a live run can be stopped, and the last state wins."""

import itertools
import time

import pytest
import torch
from IPython.core.formatters import DisplayFormatter
from matplotlib.backends.backend_agg import FigureCanvasAgg

from helpers import explorers, language, training
from helpers.decoder import NORMS, PLACEMENTS, Config, Decoder
from helpers.explorers import race
from helpers.training import Run


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.02)


@pytest.fixture
def slow(monkeypatch):
    """Let a run yield quickly made losses until it is stopped; return the runs that were started."""
    started = []

    def losses(self, seed=0):
        started.append(self)
        for step in range(self.steps):
            time.sleep(0.01)
            yield 3.0 - step / 1000

    monkeypatch.setattr(Run, "losses", losses)
    monkeypatch.setattr(race, "EVERY", 5)
    return started


@pytest.mark.slow
@pytest.mark.parametrize("reader", language.LANGUAGES)
def test_every_choice_of_the_race_has_a_picture_and_a_text_of_its_own(reader):
    language.use(reader)
    racer, seen = race.WarmupRace(), set()
    options = [[value for _, value in control.options] for control in racer.controls.values()]
    if reader != "en":  # the words are those of the kinds; the numbers are written the same everywhere
        options = [options[0], *([values[0], values[-1]] for values in options[1:])]
    for state in itertools.product(*options):
        for control, value in zip(racer.controls.values(), state):
            control.value = value
        assert racer.error is None and racer.picture.alt not in seen
        assert racer.picture.img() == racer.image.value
        seen.add(racer.picture.alt)


def test_the_stored_curve_is_told_with_its_numbers():
    racer = race.WarmupRace("pre")
    _, curves = race.stored()["pre"]
    last = sorted(curve[-1] for curve in curves)
    for value in (last[0], last[len(last) // 2], last[-1]):
        assert language.number(value) in racer.picture.alt
    assert "5 seeds" in racer.picture.alt


def test_a_loss_above_the_axis_makes_it_logarithmic_and_only_then():
    racer = race.WarmupRace("none_xavier", layers=24)
    (axes,) = racer.picture.figure.axes
    low, high = axes.get_ylim()
    assert axes.get_yscale() == "log" and low < race.unigram()
    assert all(low < loss < high for line in axes.lines[1:] for loss in line.get_ydata())
    racer.controls["layers"].value = 12
    assert axes.get_yscale() == "linear" and axes.get_ylim() == (0, 5)


def test_a_choice_without_a_stored_curve_says_so():
    racer = race.WarmupRace("rms_pre", layers=24)
    assert "train it live" in racer.picture.alt


@pytest.mark.slow
def test_a_live_run_shows_progress_and_its_end(slow):
    racer, seen = race.WarmupRace("pre"), []
    racer.progress.observe(lambda change: seen.append(change.new), "value")
    racer.start()
    wait_for(lambda: 1 < racer.progress.value < 300)
    assert "Live: step" in racer.picture.alt
    racer.thread.join(30)
    assert seen[:2] == [1, 6], "the first step is a sign of life"
    assert racer.progress.value == racer.progress.max == 300 and "Live: step 300 of 300, loss 2.70" in racer.picture.alt
    assert racer.error is None


@pytest.mark.slow
def test_a_real_live_run_follows_the_stored_curve():
    racer = race.WarmupRace("post", layers=6)
    racer.start()
    wait_for(lambda: racer.progress.value >= 20)
    racer.halt()
    assert racer.progress.value == 0
    racer.thread.join(60)
    assert not racer.thread.is_alive() and racer.progress.value == 0


def test_stop_ends_the_run_and_is_final(slow):
    racer = race.WarmupRace("pre")
    racer.start()
    wait_for(lambda: racer.progress.value > 0)
    racer.stop.click()
    racer.thread.join(60)
    assert not racer.thread.is_alive() and "step 300 of 300" not in racer.picture.alt
    shown = racer.image.value
    time.sleep(0.2)
    assert racer.image.value == shown and racer.progress.value == 0


def test_after_fast_changes_only_the_last_run_counts(slow):
    racer, threads = race.WarmupRace("pre"), []
    for layers in (6, 24, 12, 6, 12):
        racer.controls["layers"].value = layers
        racer.start()
        threads.append(racer.thread)
    racer.controls["kind"].value = "deepnorm"
    for thread in threads:
        thread.join(5)
    assert not any(thread.is_alive() for thread in threads)
    assert "Live" not in racer.picture.alt and "DeepNorm, 12 blocks" in racer.picture.alt
    assert racer.image.value == racer.picture.img()
    racer.start()
    wait_for(lambda: "Live" in racer.picture.alt)
    assert "DeepNorm, 12 blocks" in racer.picture.alt
    racer.halt()


def test_a_second_start_replaces_the_first(slow):
    racer = race.WarmupRace("pre")
    racer.start()
    first = racer.thread
    racer.start()
    first.join(5)
    assert not first.is_alive() and racer.thread.is_alive()
    racer.halt()


@pytest.mark.parametrize("reader", language.LANGUAGES)
def test_an_exception_in_the_training_becomes_one_sentence(monkeypatch, reader):
    def broken(self, seed=0):
        yield 3.0
        raise RuntimeError("planted")

    language.use(reader)
    monkeypatch.setattr(Run, "losses", broken)
    racer = race.WarmupRace("pre")
    racer.start()
    racer.thread.join(10)
    assert isinstance(racer.error, RuntimeError) and "RuntimeError: planted" in racer.message.value


def test_a_run_that_explodes_ends_and_is_shown(monkeypatch):
    monkeypatch.setattr(Run, "losses", lambda self, seed=0: iter([3.0, 1e20, 1e30]))
    racer = race.WarmupRace("none_xavier")
    racer.start()
    racer.thread.join(10)
    assert racer.error is None and "Live: step 3" in racer.picture.alt


@pytest.mark.slow
@pytest.mark.parametrize("reader", language.LANGUAGES)
def test_every_choice_of_the_placement_explorer_has_a_picture_and_a_text_of_its_own(reader):
    language.use(reader)
    explorer, seen = explorers.placement(), set()
    depths = (2, 4, 8, 16, 32, 64) if reader == "en" else (2,)
    for placement, norm, layers in itertools.product(PLACEMENTS, NORMS, depths):
        for name, value in (("placement", placement), ("norm", norm), ("layers", layers)):
            explorer.controls[name].value = value
        assert explorer.error is None and explorer.picture.alt.strip()
        if placement != "none":  # the norm does not matter then
            assert explorer.picture.alt not in seen
        seen.add(explorer.picture.alt)


def test_an_exception_in_the_placement_explorer_becomes_one_sentence(monkeypatch):
    explorer = explorers.placement()
    monkeypatch.setattr(training, "at_initialisation", lambda *_: 1 / 0)
    explorer.controls["layers"].value = 4
    assert isinstance(explorer.error, ZeroDivisionError) and "ZeroDivisionError" in explorer.message.value


def test_the_start_of_a_decoder_is_what_it_says():
    windows = training.random_windows(training.sentences(2000), 32, 4, seed=0)
    for placement in PLACEMENTS:
        decoder = training.initialise(Decoder(Config(28, 32, 64, 4, 4, placement)))
        stream, gradients = training.at_initialisation(decoder, windows)
        assert len(stream) == 5 and len(gradients) == 4 and stream[0] == pytest.approx(1, rel=1e-3)
        if placement in ("post", "deepnorm"):
            assert stream == pytest.approx([1] * 5, rel=1e-3)
        if placement == "sandwich":
            assert stream == pytest.approx([1, 3, 5, 7, 9], rel=0.2)


def test_a_warmup_climbs_and_then_stays():
    assert list(Run(layers=1, steps=3).losses()) == list(Run(layers=1, steps=5).losses())[:3]
    warm, cold = (list(Run(layers=1, steps=6, warmup=w).losses()) for w in (400, 0))
    assert warm[0] == cold[0] and abs(warm[5] - warm[0]) < abs(cold[5] - cold[0])


@pytest.mark.slow
@pytest.mark.parametrize("norm", ["layernorm", "rmsnorm"])
def test_what_explodes_has_no_nan_and_its_labels_stay_in_the_picture(norm):
    explorer = explorers.placement("none", norm, 64)
    assert "NaN" not in explorer.picture.alt and language.say(f"norm.{norm}") not in explorer.picture.alt
    figure = explorer.picture.figure
    renderer = FigureCanvasAgg(figure).get_renderer()
    FigureCanvasAgg(figure).draw()
    boxes = [axes.yaxis.get_tightbbox(renderer) for axes in figure.axes]
    assert boxes[0].x0 >= 0 and boxes[1].x0 >= figure.axes[0].bbox.x1
    assert max(figure.axes[1].lines[0].get_ydata()) > 1e100  # float32 ends at 10³⁸


def shown(explorer):
    """Return what a cell shows of an explorer, as text."""
    return DisplayFormatter().format(explorer)[0]["text/plain"]


@pytest.mark.slow
def test_showing_the_race_again_keeps_its_live_curve(slow):
    """The second cell that showed it wiped the curve, also while it ran."""
    racer = race.WarmupRace("pre")
    racer.start()
    wait_for(lambda: racer.progress.value > 5)
    assert "Live: step" in shown(racer) and "Live: step" in racer.picture.alt
    racer.thread.join(30)
    assert "Live: step 300 of 300" in shown(racer)
    assert racer.progress.value == 300
    (axes,) = racer.picture.figure.axes
    assert language.say("race.live", seed=0) in [line.get_label() for line in axes.lines]
    racer.controls["layers"].value = 6
    assert "Live" not in shown(racer)
    racer.controls["layers"].value = 12
    assert "Live" not in shown(racer)


def test_a_stopped_live_curve_stays_until_another_choice(slow):
    racer = race.WarmupRace("pre")
    racer.start()
    wait_for(lambda: racer.progress.value > 5)
    racer.stop.click()
    racer.thread.join(30)
    assert "Live: step" in shown(racer)
    racer.controls["kind"].value = "post"
    assert "Live" not in shown(racer)


def test_the_explorers_work_after_a_cell_has_switched_gradients_off():
    """The placement explorer failed."""
    expected = explorers.placement().picture.alt
    with torch.no_grad():
        explorer = explorers.placement()
        assert explorer.error is None and explorer.picture.alt == expected


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64], ids=str)
def test_the_explorers_show_the_same_in_every_default_format(dtype):
    """With bfloat16 three of them failed."""

    def texts():
        made = [explorers.placement(layers=4), explorers.layer_norm_steps(outlier=5), explorers.WarmupRace()]
        made.append(explorers.layer_norm_against_rms_norm(outlier=5))
        made.append(explorers.residual_stream("bundled/rms-pre", prompt="Tea"))
        for explorer in made:
            for box in ("writes", "reference"):
                if box in explorer.controls:
                    explorer.controls[box].value = True
        assert [explorer.error for explorer in made] == [None] * len(made)
        return [explorer.picture.alt for explorer in made]

    expected = texts()
    torch.set_default_dtype(dtype)
    try:
        assert texts() == expected
    finally:
        torch.set_default_dtype(torch.float32)
