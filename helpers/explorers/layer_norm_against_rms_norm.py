"""The explorer of lesson 2: LayerNorm beside RMSNorm."""

import torch

from helpers import figures
from helpers.explorers.base import Explorer, choice
from helpers.language import say
from helpers.norms import layer_norm, rms_norm

MEANS = (-10, -5, -3, -2, -1, -0.5, 0, 0.5, 1, 2, 3, 5, 10)
OUTLIERS = (0, 2, 5, 10, 20)
FEATURES = 12
NAMES = ("LayerNorm", "RMSNorm", "LayerNorm − RMSNorm")


def layer_norm_against_rms_norm(mean=0.5, outlier=0.0):
    """Return the explorer of one vector of 12 features, x + mean, through both norms.

    x has mean 0 and variance 1; outlier is added to its first feature. Both are entries of their lists, else this
    raises ValueError."""
    drawn = torch.randn(FEATURES, generator=torch.Generator().manual_seed(3), dtype=torch.float32)
    x = layer_norm(drawn, eps=0)
    first_feature = torch.zeros(FEATURES, dtype=torch.float32)
    first_feature[0] = 1
    positions = range(1, FEATURES + 1)
    figure, axes = figures.new_axes("lesson2.feature", "lesson2.output", margins=(0.09, 0.13, 0.98, 0.9))
    axes.set(xlim=(0.5, FEATURES + 0.5), ylim=(-4, 4), xticks=positions)
    lines = []
    for index, name in enumerate(NAMES):
        (line,) = axes.plot(positions, [0] * FEATURES, label=name, **figures.STYLES[index])
        lines.append(line)
    axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=3)

    def draw(mean, outlier):
        raw = x + mean + outlier * first_feature
        with_layer_norm = layer_norm(raw)
        with_rms_norm = rms_norm(raw)
        curves = (with_layer_norm, with_rms_norm, with_layer_norm - with_rms_norm)
        values = compared(raw, with_layer_norm, with_rms_norm)
        with figures.drawing:
            for line, curve in zip(lines, curves, strict=True):
                line.set_data(positions, curve)
            found = say("lesson2.found", **values)
            return figures.render(figure, f"{say('lesson2.alt', **values)} {found}"), found

    controls = {
        "mean": choice("lesson2.mean", MEANS, mean),
        "outlier": choice("lesson2.outlier", OUTLIERS, outlier),
    }
    return Explorer(controls, draw)


def compared(raw, with_layer_norm, with_rms_norm):
    """Return the numbers of the texts, rounded to two decimals, by the names of their placeholders.

    raw and its two normalised copies: (12,). The angle between the copies is in degrees."""
    cosine = torch.cosine_similarity(with_layer_norm, with_rms_norm, dim=0).clamp(-1, 1)
    values = {
        "mean": raw.mean(),
        "deviation": raw.std(correction=0),
        "difference": (with_layer_norm - with_rms_norm).norm(),
        "angle": cosine.arccos().rad2deg(),
    }
    for name, output in (("ln", with_layer_norm), ("rms", with_rms_norm)):
        values[f"{name}_min"] = output.min()
        values[f"{name}_max"] = output.max()
        values[f"{name}_mean"] = output.mean()
    return {name: round(value.item(), 2) for name, value in values.items()}
