"""Data to pictures with alternative texts; without pyplot, since widgets draw in their own thread."""

import base64
import html
import io
import math
import threading
from functools import partial

import matplotlib
from IPython.display import display
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from helpers import language
from helpers.language import data, number, say

# Colours of Okabe and Ito; marker and dash tell the lines apart without colour, hatches the bars.
COLOURS = ("#0072B2", "#B34700", "#007A5E", "#8A4A77", "#404040")
MARKERS = ("o", "s", "^", "D", "x")
DASHES = ("-", "--", ":", "-.", (0, (5, 1)))
HATCHES = ("", "///", "...", "xx", "--")
STYLES = [
    {"color": colour, "marker": marker, "linestyle": dash}
    for colour, marker, dash in zip(COLOURS, MARKERS, DASHES, strict=True)
]
PIXELS = 96  # of a browser, in an inch
drawing = threading.RLock()  # matplotlib shares its text layout between threads


class Picture:
    """A figure as SVG, which is quick and sharp, with its alternative text; shown as PNG, which GitHub shows too."""

    def __init__(self, figure, svg, alt):
        self.figure = figure
        self.svg = svg
        self.alt = alt
        self.language = language.current  # of the alternative text

    def size(self):
        """Return width and height on a page, in pixels."""
        width, height = self.figure.get_size_inches()
        return round(PIXELS * width), round(PIXELS * height)

    def img(self, data=None, kind="svg+xml"):
        """Return the picture, or its data of another kind, as one HTML element."""
        width, height = self.size()
        content = base64.b64encode(data or self.svg).decode()
        attributes = [
            f'alt="{html.escape(self.alt)}"',
            f'lang="{self.language}"',
            f'width="{width}"',
            f'height="{height}"',
            'style="max-width:100%;height:auto;margin-top:8px;background:white"',
            f'src="data:image/{kind};base64,{content}"',
        ]
        return f"<img {' '.join(attributes)}>"

    def png(self):
        """Return the picture as PNG (bytes), sharp at twice its size."""
        buffer = io.BytesIO()
        with drawing:
            self.figure.savefig(buffer, format="png", dpi=144, metadata={"Software": None})
        return buffer.getvalue()

    def _repr_mimebundle_(self, **_):
        """Return (content by MIME type, its metadata).

        Pages show the HTML, since JupyterLab and the HTML of nbconvert prefer it, and it alone carries the alternative
        text there. LaTeX and PDF know no HTML; they take the PNG."""
        png = self.png()
        width, height = self.size()
        shown = {
            "text/html": self.img(png, "png"),
            "image/png": base64.b64encode(png).decode(),
            "text/plain": self.alt,
        }
        return shown, {"image/png": {"alt": self.alt, "width": width, "height": height}}


def render(figure, alt):
    """Return the Picture of a figure. The caller holds the lock `drawing`."""
    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "helpers", "svg.fonttype": "none"}):  # equal input, equal bytes
        FigureCanvasSVG(figure).print_svg(buffer, metadata={"Date": None, "Creator": None})  # savefig draws twice
    return Picture(figure, buffer.getvalue().encode(), alt)


def new_axes(x_label, y_label, size=(7.2, 4.2), margins=(), log=False):
    """Return (figure, axes), labelled in the language; margins (left, bottom, right, top) save the search for them."""
    figure = Figure(figsize=size, layout=None if margins else "constrained")
    figure.subplotpars.update(*margins)
    axes = figure.add_subplot()
    axes.set(xlabel=say(x_label), ylabel=say(y_label), yscale="log" if log else "linear")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    write_numbers(axes)
    return figure, axes


def write_numbers(axes):
    """Let both axes write their numbers in the reader's language; after each change of scale."""
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(major_label))
        axis.set_minor_formatter(FuncFormatter(partial(minor_label, axis)))


def major_label(value, _position):
    """Return the label of a major tick."""
    return number(value, trim=True)


def minor_label(axis, value, _position):
    """Return the label of a minor tick: a logarithmic axis of less than two decades gets 2 and 5, too."""
    low, high = axis.get_view_interval()
    leading_digit = f"{value:.0e}"[0]
    if leading_digit in "25" and high < 100 * low:
        return number(value, trim=True)
    return ""


def lines(x, series, x_label, y_label, alt="", log=False, bars=False):
    """Show a line, or bars, for each entry of `series`, a dictionary from its label to values of the length of x.

    x: numbers or names. Values, and x, are lists or tensors of any format, with or without gradients; NaN leaves a gap.
    x_label and y_label are keys of the catalogue. The alternative text is `alt` and what each entry shows.
    Raises ValueError if there is nothing to show, and if an entry has more or fewer values than x."""
    x = plain_numbers(x)
    series = {label: plain_numbers(values) for label, values in series.items()}
    if len(x) == 0:
        raise ValueError(say("figure.empty"))
    for label, values in series.items():
        if len(values) != len(x):
            raise ValueError(say("figure.lengths", label=str(label), values=len(values), places=len(x)))
    with drawing:
        figure, axes = new_axes(x_label, y_label, log=log)
        told = []
        if alt:
            told.append(alt)
        for index, (label, values) in enumerate(series.items()):
            if bars:
                add_bars(axes, values, label, index, len(series))
            else:
                axes.plot(x, values, label=label, markersize=5, **STYLES[index % len(STYLES)])
            told.append(description(x, values, label))
        if bars:
            axes.set_xticks(range(len(x)), [str(label) for label in x])
        elif all(float(value).is_integer() for value in x):
            axes.locator_params("x", integer=True)
        axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=1 + len(series) // 4)
        display(render(figure, " ".join(told)))


bars = partial(lines, bars=True)


def plain_numbers(values):
    """Return a tensor, or what a list holds, as a list of Python's numbers; names and whole numbers stay."""
    if hasattr(values, "tolist"):
        return values.tolist()
    found = []
    for value in values:
        is_tensor = hasattr(value, "item")  # or an array of one number
        found.append(value.item() if is_tensor else value)
    return found


def add_bars(axes, values, label, index, count):
    """Draw the bars of the entry `index` of `count` entries, which stand side by side."""
    width = 0.8 / count
    offset = width * (index + 0.5) - 0.4
    left = [place + offset for place in range(len(values))]
    axes.bar(
        left,
        values,
        width,
        label=label,
        color=COLOURS[index % len(COLOURS)],
        hatch=HATCHES[index % len(HATCHES)],
        edgecolor="white",
    )


def description(x, values, label):
    """Return in words what an entry shows: each value beside its name, or where a line starts, ends and is largest."""
    if isinstance(x[0], str):
        listed = "; ".join(f"{name} {number(value)}" for name, value in zip(x, values, strict=True))
        return f"{label}: {listed}."
    peak = None
    where = None
    for place, value in zip(x, values, strict=True):
        if not math.isnan(value) and (peak is None or value > peak):
            peak = value
            where = place
    if peak is None:
        return say("figure.no_numbers", label=label)
    return say("figure.course", label=label, first=values[0], last=values[-1], peak=peak, where=where)


def published_curve(position):
    """Return GPT-2 small's 13 published L2 norms (submarat) for token position 0, or for positions from 1 on."""
    known = data("models/bundled/gpt2_small_published_norms.json")["sources"]["submarat"]
    if position == 0:
        return known["position_0"]
    return known["positions_1_and_later"]


def table(head, rows):
    """Show rows of texts under a head, a key of the catalogue whose text separates the columns by " | ".

    Pages show the HTML, which says its language; LaTeX and PDF take the Markdown."""
    columns = say(head).split(" | ")
    rows = [list(row) for row in rows]
    text = "\n".join(f"| {' | '.join(row)} |" for row in [columns, ["---"] * len(columns), *rows])
    display({"text/html": html_table(columns, rows), "text/markdown": text, "text/plain": text}, raw=True)


def html_table(columns, rows):
    """Return a table of texts as HTML in the language in use, aligned as JupyterLab aligns a table in Markdown."""

    def line(cells, kind):
        content = "".join(f'<{kind} style="text-align:left">{html.escape(cell)}</{kind}>' for cell in cells)
        return f"<tr>{content}</tr>"

    head = line(columns, "th")
    body = "\n".join(line(row, "td") for row in rows)
    return f'<table lang="{language.current}">\n<thead>{head}</thead>\n<tbody>\n{body}\n</tbody>\n</table>'
