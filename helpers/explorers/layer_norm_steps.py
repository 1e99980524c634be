"""The explorer of lesson 1: LayerNorm step by step."""

import torch
from matplotlib.figure import Figure

from helpers import figures
from helpers.explorers.base import Explorer, choice
from helpers.language import number, say
from helpers.norms import layer_norm

SHIFTS = (-10, -2, 0, 2, 10, 100, 1000)
SCALES = (0, 0.001, 0.003, 0.01, 0.1, 1, 10, 100)
OUTLIERS = (0, 1, 5, 20, 100)
FEATURES = 6
WITH_OUTLIER = 3  # the feature to which the outlier is added
GAMMA = torch.tensor([1.0, 1.0, 2.0, 1.0, 0.5, 1.0], dtype=torch.float64)
BETA = torch.tensor([0.0, 0.0, 0.0, 1.0, 0.0, -1.0], dtype=torch.float64)
STEPS = ("lesson1.raw", "lesson1.centred", "lesson1.divided", "lesson1.scaled")
LIMITS = (None, None, 2.5, 5)  # of the axis of each step; None: as high as its values ask for


def layer_norm_steps(shift=2, scale=1, outlier=0):
    """Return the explorer of LayerNorm on scale · z + shift, where z has mean 0 and variance 1.

    outlier is added to the fourth of six features. Raises ValueError for what is not in the lists above."""
    z = layer_norm(torch.tensor([-1.0, 0.5, 1.5, -0.5, 1.0, -1.5], dtype=torch.float64), eps=0)
    fourth_feature = torch.zeros(FEATURES, dtype=torch.float64)
    fourth_feature[WITH_OUTLIER] = 1
    figure = Figure(figsize=(9.6, 3.2))
    margins = {"left": 0.06, "right": 0.98, "bottom": 0.1, "top": 0.76, "wspace": 0.45}
    panels = figure.subplots(1, len(STEPS), gridspec_kw=margins)
    positions = range(1, FEATURES + 1)
    bars_of_panels = []
    for axes in panels:
        bars_of_panels.append(axes.bar(positions, [0] * FEATURES, color=figures.STYLES[0]["color"]))
        axes.set_xticks(positions)
        figures.write_numbers(axes)

    def draw(shift, scale, outlier):
        raw = scale * z + shift + outlier * fourth_feature
        rows = (raw, raw - raw.mean(), layer_norm(raw), layer_norm(raw, GAMMA, BETA))
        titles = []
        with figures.drawing:
            for axes, bars, step, row, limit in zip(panels, bars_of_panels, STEPS, rows, LIMITS, strict=True):
                title = title_of(step, row)
                titles.append(title)
                axes.set_title(title, fontsize=10)
                half = limit
                if half is None:
                    half = max(1.1 * row.abs().max().item(), 1e-4)
                axes.set_ylim(-half, half)
                for bar, height in zip(bars, row.tolist(), strict=True):
                    bar.set_height(height)
            output = "; ".join(number(value, 2) for value in rows[-1].tolist())
            alt = say("lesson1.alt", panels="; ".join(titles).replace("\n", ", "), output=output)
            return figures.render(figure, alt), alt

    controls = {
        "shift": choice("lesson1.shift", SHIFTS, shift),
        "scale": choice("lesson1.scale", SCALES, scale),
        "outlier": choice("lesson1.outlier", OUTLIERS, outlier),
    }
    return Explorer(controls, draw)


def title_of(step, row):
    """Return the title of a panel: its step, and mean and variance of its (6,) values."""
    mean = row.mean().round(decimals=7)  # a mean of 0 is 0 up to rounding
    return say("lesson1.panel", step=say(step), mean=mean, variance=row.var(correction=0))
