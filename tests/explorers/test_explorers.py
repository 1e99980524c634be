"""The explorer of lesson 4: every combination of its options, in three languages, and what goes wrong."""

import html
import itertools
import json
import re
import threading
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from huggingface_hub import constants
from IPython.core.formatters import DisplayFormatter
from matplotlib.backends.backend_agg import FigureCanvasAgg

from helpers import explorers, figures, language, models
from helpers.explorers import base
from helpers.trace import trace

SHORT = "Tea, ä"  # seven bytes


@pytest.fixture
def explorer():
    return explorers.residual_stream("bundled/ln-pre", prompt=SHORT)


def set_all(explorer, **values):
    for name, value in values.items():
        explorer.controls[name].value = value


def drawn_lines(explorer):
    """Return the lines of the picture; the first is the stream, the last the published curve."""
    (axes,) = explorer.picture.figure.axes
    return axes.lines


@pytest.mark.slow
@pytest.mark.parametrize(("model", "lang"), list(zip(models.BUNDLED, itertools.cycle(language.LANGUAGES))))
def test_every_combination_of_options_gives_a_picture_and_its_text(model, lang):
    language.use(lang)
    explorer = explorers.residual_stream(model, prompt=SHORT)
    seen = set()
    options = ("trained", "pre", "post"), (0, 6), ("length", "rms"), ("linear", "log"), (False, True), (False, True)
    for state in itertools.product(*options):
        set_all(explorer, **dict(zip(("placement", "token", "quantity", "axis", "writes", "reference"), state)))
        assert explorer.error is None, state
        assert explorer.picture.alt in explorer.image.value.replace("&quot;", '"').replace("&#x27;", "'").replace(
            "&gt;", ">"
        )
        seen.add(explorer.picture.alt)
    # the scale of the axis changes the picture and not its text; a wiring may be the trained one
    assert 2 * 2 * 2 * 2 * 2 <= len(seen) <= 3 * 2 * 2 * 2 * 2
    if lang != "en":
        assert not re.search(r"\d\.\d", " ".join(seen)), "a decimal point"


def test_the_text_states_the_numbers_of_the_trace(explorer):
    model = models.load("bundled/ln-pre")
    lengths = trace(model.decoder, model.encode(SHORT)).lengths()[:, -1]
    for value in (lengths[0], lengths[2], lengths[12], lengths[24]):
        assert language.number(value) in explorer.picture.alt


def test_the_line_in_the_picture_has_the_25_points_of_the_trace(explorer):
    line = drawn_lines(explorer)[0]
    model = models.load("bundled/ln-pre")
    lengths = trace(model.decoder, model.encode(SHORT)).lengths()[:, -1]
    assert list(line.get_xdata()) == [i / 2 for i in range(25)]
    assert line.get_ydata() == pytest.approx(lengths.tolist())


def test_the_reference_is_the_published_curve_and_follows_quantity_and_position(explorer):
    set_all(explorer, reference=True)
    assert drawn_lines(explorer)[-1].get_ydata()[-1] == pytest.approx(456.1)
    set_all(explorer, quantity="rms")
    assert drawn_lines(explorer)[-1].get_ydata()[-1] == pytest.approx(456.1 / 768**0.5)
    set_all(explorer, token=0)
    assert drawn_lines(explorer)[-1].get_ydata()[-1] == pytest.approx(384 / 768**0.5)


def test_a_picture_seen_before_is_not_drawn_again(explorer, monkeypatch):
    first = explorer.image.value
    set_all(explorer, quantity="rms")
    monkeypatch.setattr(figures, "render", lambda *_: pytest.fail("drawn again"))
    set_all(explorer, quantity="length")
    assert explorer.image.value == first and explorer.error is None


def test_memory_of_pictures_is_bounded(monkeypatch):
    monkeypatch.setattr(base, "KEPT", 3)
    explorer = explorers.residual_stream("bundled/ln-pre", prompt=SHORT)
    for token in range(7):
        set_all(explorer, token=token)
    drawn = []
    monkeypatch.setattr(figures, "render", lambda *given, render=figures.render: drawn.append(1) or render(*given))
    for token in (5, 4, 6, 5, 0):  # the last three are kept
        set_all(explorer, token=token)
    assert len(drawn) == 1


def test_rewired_is_labelled_as_what_it_is(explorer):
    set_all(explorer, placement="post")
    assert "weights trained for pre-norm, run as post-norm" in explorer.picture.alt
    set_all(explorer, placement="pre")
    assert "run as trained (pre-norm)" in explorer.picture.alt


def test_the_line_below_the_picture_tells_the_numbers(explorer):
    set_all(explorer, token=2, writes=True)
    assert explorer.picture.alt in html.unescape(explorer.message.value) and " after block 6" in explorer.picture.alt


@pytest.mark.parametrize("prompt", ["", None])
def test_empty_prompt_gives_one_sentence_and_keeps_the_picture(explorer, prompt):
    before = explorer.image.value
    set_all(explorer, prompt=prompt or "")
    assert html.escape(f"{language.say('load.empty')} {language.say('explorer.last')}") in explorer.message.value
    assert explorer.image.value == before and explorer.error is None
    set_all(explorer, prompt="x")
    assert explorer.image.value != before


@pytest.mark.slow
@pytest.mark.parametrize(
    "prompt",
    [
        " ",
        "word " * 5000,
        "🫖☕",
        "שלום عالم",
        "é́́",
        "<img src=x onerror=alert(1)>",
        "$\\frac{1}{0}$",
        "a\0b",
        "\ud800",
        "{x} %s",
    ],
)
def test_hard_prompts_end_in_a_picture(explorer, prompt):
    set_all(explorer, prompt=prompt)
    assert explorer.error is None
    for token in (0, len(explorer.controls["token"].options) - 1):
        set_all(explorer, token=token)
        assert explorer.error is None
        assert "<img src=x" not in explorer.image.value + explorer.message.value
    if len(prompt) > 1000:
        assert "25000" in explorer.message.value


def test_chosen_token_stays_in_range_when_the_prompt_gets_shorter(explorer):
    set_all(explorer, token=3)
    set_all(explorer, prompt="ab")
    assert explorer.controls["token"].value == 1 and explorer.error is None
    set_all(explorer, prompt="abcdef")  # the last token was chosen, so the last it stays
    assert explorer.controls["token"].value == 5


def test_an_exception_becomes_one_sentence_and_is_kept_for_the_tests(explorer, monkeypatch):
    before = explorer.image.value
    monkeypatch.setattr(figures, "render", lambda *_: 1 / 0)
    set_all(explorer, quantity="rms")
    assert isinstance(explorer.error, ZeroDivisionError)
    assert "ZeroDivisionError" in explorer.message.value and explorer.image.value == before


def test_gpt2_without_a_network_is_drawn_from_the_bundled_model_and_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    explorer = explorers.residual_stream("gpt2", prompt=SHORT)
    assert "GPT-2 small could not be loaded" in explorer.message.value
    assert explorer.picture.alt.startswith("bundled: LayerNorm, pre-norm")
    assert "as published for GPT-2 small" in explorer.picture.alt


def test_changes_from_several_threads_end_in_the_last_state(explorer):
    def turn(token):
        for quantity in ("rms", "length"):
            set_all(explorer, token=token, quantity=quantity)

    threads = [threading.Thread(target=turn, args=(token,)) for token in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    set_all(explorer, token=2, quantity="rms")
    assert explorer.error is None
    assert "token 2" in explorer.picture.alt and "Root mean square" in explorer.picture.alt


def test_reader_without_a_kernel_gets_picture_and_text(explorer):
    data, metadata = DisplayFormatter().format(explorer)
    assert set(data) >= {"application/vnd.jupyter.widget-view+json", "text/html", "image/png", "text/plain"}
    assert data["text/plain"] == explorer.picture.alt and "<img alt=" in data["text/html"]
    assert data["image/png"] in data["text/html"] and metadata["image/png"]["alt"] == explorer.picture.alt


@pytest.mark.parametrize("lang", language.LANGUAGES)
def test_picture_and_message_say_their_language(lang):
    language.use(lang)
    explorer = explorers.residual_stream("bundled/ln-pre", prompt=SHORT)
    assert BeautifulSoup(explorer.image.value, "html.parser").img["lang"] == lang
    assert BeautifulSoup(explorer.message.value, "html.parser").find(role="status")["lang"] == lang


def test_equal_input_gives_equal_bytes():
    first, second = (explorers.residual_stream("bundled/ln-pre", prompt=SHORT).picture.svg for _ in range(2))
    assert first == second


def test_published_figures_are_the_ones_in_the_file():
    folder = Path(figures.__file__).parent / "models" / "bundled"
    published = json.loads((folder / "gpt2_small_published_norms.json").read_text())
    assert figures.published_curve(0) == published["sources"]["submarat"]["position_0"]
    assert figures.published_curve(1) == figures.published_curve(3) != figures.published_curve(0)
    assert len(figures.published_curve(3)) == len(published["points"]) == 13


def test_axis_follows_the_lines_after_every_change(explorer):
    """set_ylim turns autoscaling off, so a kept figure once stayed at its first scale."""
    (axes,) = explorer.picture.figure.axes
    states = [{"token": 0}, {"quantity": "rms"}, {"axis": "log"}, {"reference": False}, {"placement": "post"}]
    states += [{"axis": "linear"}, {"quantity": "length"}, {"reference": True}, {"token": 3}]
    for state in states:
        set_all(explorer, **state)
        shown = [y for line in drawn_lines(explorer) for y in line.get_ydata()]
        low, high = axes.get_ylim()
        assert max(shown) < high < 3 * max(shown), state
        assert low <= min(shown) and (explorer.controls["axis"].value == "linear" or low > min(shown) / 3), state


@pytest.mark.slow
@pytest.mark.parametrize("reader", language.LANGUAGES)
@pytest.mark.parametrize("model", models.BUNDLED)
def test_the_legend_is_not_cut_off(reader, model):
    language.use(reader)
    explorer = explorers.residual_stream(model, prompt=SHORT)
    explorer.controls["writes"].value = True
    canvas = FigureCanvasAgg(explorer.picture.figure)
    canvas.draw()
    legend = canvas.figure.axes[0].get_legend().get_window_extent()
    assert legend.x0 >= 0 and legend.x1 <= canvas.figure.bbox.x1 and legend.y1 <= canvas.figure.bbox.y1
