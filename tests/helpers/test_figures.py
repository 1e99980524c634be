"""Pictures carry an alternative text that states the numbers, in the reader's language."""

import base64
import html
import re

import pytest
import torch
from bs4 import BeautifulSoup
from IPython.core.formatters import DisplayFormatter
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from helpers import figures, language
from notebook_files import reading


@pytest.fixture
def shown(monkeypatch):
    """What was displayed."""
    pictures = []
    monkeypatch.setattr(figures, "display", pictures.append)
    return pictures


def texts(picture):
    return re.findall(r"<text[^>]*>([^<]*)</text>", picture.svg.decode())


def test_lines_say_where_each_line_starts_ends_and_peaks(shown):
    figures.lines([0, 1, 2], {"a": [1.5, 4.25, 3], "b": [2, 1, 0.5]}, "axis.block", "axis.length", alt="Before.")
    [picture] = shown
    assert picture.alt == (
        "Before. a: starts at 1.50, ends at 3, largest 4.25 at 1. b: starts at 2, ends at 0.500, largest 2 at 0."
    )
    assert {"a", "b", language.say("axis.length")} <= set(texts(picture))


@pytest.mark.parametrize(("lang", "comma"), [("en", "0.5"), ("de", "0,5"), ("sv", "0,5")])
def test_axes_write_numbers_as_the_language_does(shown, lang, comma):
    language.use(lang)
    figures.lines([0, 1], {"a": [0, 1]}, "axis.block_only", "axis.rms_only")
    figures.bars(["x", "y"], {"a": [0.25, 1.0]}, "axis.block_only", "axis.rms_only")
    for picture in shown:
        other = {"0.5": "0,5", "0,5": "0.5"}[comma]
        assert any(t.startswith(comma[:2]) for t in texts(picture))
        assert not [t for t in texts(picture) if t.startswith(other[:2])]


def test_log_axis_is_logarithmic_and_numbers_are_plain(shown):
    figures.lines([0, 1], {"a": [1, 1000]}, "axis.block_only", "axis.length", log=True)
    assert {"1", "10", "100", "1000"} <= set(texts(shown[0]))


def test_log_axis_of_less_than_two_decades_has_more_than_one_number(shown):
    figures.lines([0, 1], {"a": [0.15, 0.6]}, "axis.block_only", "axis.length", log=True)
    figures.lines([0, 1], {"a": [0.15, 6000]}, "axis.block_only", "axis.length", log=True)
    assert {"0.2", "0.5"} <= set(texts(shown[0])) and "0.2" not in texts(shown[1])


def test_the_text_of_bars_over_names_lists_their_values(shown):
    figures.bars(["mean", "length"], {"a": [0.25, 2.0]}, "axis.block_only", "axis.rms_only", alt="Before.")
    assert shown[0].alt == "Before. a: mean 0.250; length 2."


def test_bars_differ_by_hatch_and_not_by_colour_alone(shown):
    figures.bars([1, 2], {"a": [1, 2], "b": [2, 1]}, "axis.block_only", "axis.factor")
    assert shown[0].svg.count(b"<pattern") >= 1


def test_lines_differ_by_marker_and_dash():
    assert len({style["marker"] for style in figures.STYLES}) == len(figures.STYLES)
    assert len({str(style["linestyle"]) for style in figures.STYLES}) == len(figures.STYLES)


def test_colours_have_contrast_on_white():
    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for style in figures.STYLES:
        assert 1.05 / (luminance(style["color"]) + 0.05) >= 4.5, style["color"]


@pytest.mark.slow
@pytest.mark.parametrize("lang", language.LANGUAGES)
def test_every_label_of_a_vertical_axis_fits_beside_it(shown, lang):
    language.use(lang)
    code = "".join(cell.source for book in reading.load()["en"].values() for cell in book.cells)
    keys = set(re.findall(r'"(?:axis|lesson\d)\.\w+", "((?:axis|lesson\d)\.\w+)"', code))
    assert len(keys) > 20
    for key in keys:
        figures.lines([0, 1], {"a": [0, 1], "b": [1, 2]}, "axis.block_only", key)  # the legend takes room, too
        figure = shown.pop().figure
        FigureCanvasAgg(figure).draw()
        box = figure.axes[0].yaxis.label.get_window_extent()
        assert box.y0 >= 0 and box.y1 <= figure.bbox.y1, key


def test_picture_escapes_its_text():
    image = figures.Picture(Figure(), b"<svg/>", 'a "quoted" <b>').img()
    assert "<b>" not in image
    assert html.unescape(re.search(r'alt="([^"]*)"', image)[1]) == 'a "quoted" <b>'


def bundle(shown):
    """Return what the kernel sends of an object: (content by MIME type, metadata)."""
    return DisplayFormatter().format(shown)


def empty_picture(alt="what it shows"):
    with figures.drawing:
        return figures.render(figures.new_axes("axis.block", "axis.length")[0], alt)


def test_what_is_stored_is_a_png_in_an_image_with_alternative_text():
    picture = empty_picture()
    shown = bundle(picture)[0]["text/html"]
    assert 'alt="what it shows"' in shown
    data = base64.b64decode(re.search(r"data:image/png;base64,([^\"]+)", shown)[1])
    width = int.from_bytes(data[16:20])
    assert data[:4] == b"\x89PNG" and width == int(144 * 7.2)
    assert "data:image/svg+xml" in picture.img(), "the widgets' picture stays sharp at every size"


def test_what_knows_no_html_gets_the_same_png_with_its_text():
    data, metadata = bundle(empty_picture('a "quoted" text'))
    assert data["image/png"] in data["text/html"]
    assert base64.b64decode(data["image/png"])[:4] == b"\x89PNG"
    assert metadata["image/png"] == {"alt": 'a "quoted" text', "width": 691, "height": 403}
    assert data["text/plain"] == 'a "quoted" text'


@pytest.mark.parametrize("lang", language.LANGUAGES)
def test_a_picture_says_the_language_of_its_text(lang):
    language.use(lang)
    picture = empty_picture()
    language.use("en")
    for shown in (picture.img(), bundle(picture)[0]["text/html"]):
        assert BeautifulSoup(shown, "html.parser").img["lang"] == lang


@pytest.mark.parametrize("lang", language.LANGUAGES)
def test_a_table_says_its_language_and_every_cell(monkeypatch, lang):
    shown = []
    monkeypatch.setattr(figures, "display", lambda data, raw: shown.append(data))
    language.use(lang)
    figures.table("claim.table_head", [["a < b", "c", "1,5"], ["d", "e", "2"]])
    [data] = shown
    table = BeautifulSoup(data["text/html"], "html.parser").table
    assert table["lang"] == lang
    assert [cell.get_text() for cell in table.select("th")] == language.say("claim.table_head").split(" | ")
    assert [cell.get_text() for cell in table.select("td")] == ["a < b", "c", "1,5", "d", "e", "2"]
    assert data["text/markdown"].splitlines()[2] == "| a < b | c | 1,5 |", "LaTeX takes the Markdown"


# Values as students have them


@pytest.mark.parametrize("lang", language.LANGUAGES)
@pytest.mark.parametrize("draw", [figures.lines, figures.bars])
@pytest.mark.parametrize("values", [[1.0], [1.0, 2.0, 3.0], [], torch.ones(3)])
def test_more_or_fewer_values_than_places_get_a_sentence(shown, draw, values, lang):
    """Fewer bars were drawn without a word."""
    language.use(lang)
    for x in ([0, 1], ["a", "b"]):
        with pytest.raises(ValueError, match="mine") as caught:
            draw(x, {"right": [1, 2], "mine": values}, "axis.block_only", "axis.factor")
        assert str(len(values)) in str(caught.value) and "2" in str(caught.value)
    with pytest.raises(ValueError):
        draw([], {"mine": []}, "axis.block_only", "axis.factor")
    assert not shown


@pytest.mark.parametrize("draw", [figures.lines, figures.bars])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64, torch.int64])
def test_tensors_of_every_format_are_drawn(shown, draw, dtype):
    """bfloat16 ended in a TypeError, gradients in a RuntimeError."""
    values = torch.tensor([1, 4, 2]).to(dtype)
    if dtype.is_floating_point:
        values.requires_grad_()
    x = torch.arange(3, dtype=torch.float32).to(torch.bfloat16)
    draw(x, {"one tensor": values, "a list of them": list(values)}, "axis.block_only", "axis.factor")
    assert shown[0].alt.count("starts at 1, ends at 2, largest 4 at 1.") == 2


@pytest.mark.parametrize("lang", language.LANGUAGES)
def test_nan_is_never_the_largest(shown, lang):
    """The text said "largest NaN at 1"."""
    language.use(lang)
    nan = float("nan")
    figures.lines([0, 1, 2], {"a": [1.0, nan, 4.0], "b": [nan, nan, nan]}, "axis.block_only", "axis.factor")
    expected = language.say("figure.course", label="a", first=1.0, last=4.0, peak=4.0, where=2)
    assert shown[0].alt == f"{expected} {language.say('figure.no_numbers', label='b')}"
