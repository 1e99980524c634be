"""Data to pictures with alternative texts; without pyplot, since widgets draw in their own thread."""

import base64
import html
import io
import threading
from functools import partial

import matplotlib
from IPython.display import display
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from helpers.language import data, number, say

# Colours of Okabe and Ito; marker and dash tell the lines apart without colour.
COLOURS, DASHES = ("#0072B2", "#B34700", "#007A5E", "#8A4A77", "#404040"), ("-", "--", ":", "-.", (0, (5, 1)))
STYLES = [{"color": c, "marker": m, "linestyle": dash} for c, m, dash in zip(COLOURS, "os^Dx", DASHES)]
drawing = threading.RLock()  # matplotlib shares its text layout between threads


class Picture:
    """A figure as SVG, which is quick and sharp, with its alternative text; displayed as PNG, which GitHub shows, too."""

    def __init__(self, figure, svg, alt):
        self.figure, self.svg, self.alt = figure, svg, alt

    def img(self, data=None, kind="svg+xml"):
        """Return the picture, or its data of another kind, as one HTML element."""
        width, height = (round(96 * inches) for inches in self.figure.get_size_inches())
        shape = f'width="{width}" height="{height}" style="max-width:100%;height:auto;margin-top:8px;background:white"'
        data = base64.b64encode(data or self.svg).decode()
        return f'<img alt="{html.escape(self.alt)}" {shape} src="data:image/{kind};base64,{data}">'

    def _repr_mimebundle_(self, **_):
        buffer = io.BytesIO()
        with drawing:
            self.figure.savefig(buffer, format="png", dpi=144, metadata={"Software": None})
        return {"text/html": self.img(buffer.getvalue(), "png"), "text/plain": self.alt}


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

        def minor(value, _, axis=axis):  # a logarithmic axis of less than two decades gets 2 and 5, too
            low, high = axis.get_view_interval()
            return number(value, trim=True) if f"{value:.0e}"[0] in "25" and high < 100 * low else ""

        axis.set_major_formatter(FuncFormatter(lambda value, _: number(value, trim=True)))
        axis.set_minor_formatter(FuncFormatter(minor))


def lines(x, series, x_label, y_label, alt="", log=False, bars=False):
    """Show a line, or bars, for each entry of `series`, a dictionary from its label to values of the length of x.

    x_label and y_label are keys of the catalogue. The alternative text is `alt` and what each entry shows."""
    with drawing:
        figure, axes = new_axes(x_label, y_label, log=log)
        for index, (style, (label, values)) in enumerate(zip(STYLES * len(series), series.items())):
            if bars:
                left = [i + (0.8 * (index + 0.5) / len(series) - 0.4) for i in range(len(x))]
                hatch, colour = ("", "///", "...", "xx", "--")[index % 5], style["color"]
                axes.bar(left, values, 0.8 / len(series), label=label, color=colour, hatch=hatch, edgecolor="white")
            else:
                axes.plot(x, values, label=label, markersize=5, **style)
            where, peak = max(zip(x, values), key=lambda point: point[1])
            course = say("figure.course", label=label, first=values[0], last=values[-1], peak=peak, where=where)
            listed = "; ".join(f"{name} {number(value)}" for name, value in zip(x, values))
            alt += f" {label}: {listed}." if isinstance(x[0], str) else f" {course}"
        if bars:
            axes.set_xticks(range(len(x)), [str(label) for label in x])
        elif all(float(value).is_integer() for value in x):
            axes.locator_params("x", integer=True)
        axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=1 + len(series) // 4)
        display(render(figure, alt.strip()))


bars = partial(lines, bars=True)


def published_curve(position):
    """Return GPT-2 small's 13 published L2 norms (submarat) for token position 0, or for positions from 1 on."""
    known = data("models/bundled/gpt2_small_published_norms.json")["sources"]["submarat"]
    return known["position_0" if position == 0 else "positions_1_and_later"]


def table(head, rows):
    """Show rows of texts under a head, a key of the catalogue whose text separates the columns by " | "."""
    head = say(head).split(" | ")
    text = "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))
    display({"text/markdown": text, "text/plain": text}, raw=True)
