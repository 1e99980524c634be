"""The explorer of lesson 3: where the norm sits, in a decoder at initialisation."""

import torch
from matplotlib.figure import Figure

from helpers import figures, training
from helpers.decoder import NORMS, PLACEMENTS, Config, Decoder
from helpers.explorers.base import Explorer, choice
from helpers.language import say

DEPTHS = (2, 4, 8, 16, 32, 64)
NOT_IN_THE_LEGEND = "_"  # matplotlib leaves out labels that begin so


def placement(placement="pre", norm="layernorm", layers=16):
    """Return the explorer of a decoder at initialisation, block by block; arguments are the state it starts in.

    Left: the mean square of the stream, within bounds for pre-norm. Right: the length of the gradient of each MLP's
    last matrix, beside what a decoder of two blocks leads one to expect (Xiong et al. 2020). Raises ValueError for a
    placement, a norm or a depth that is not listed."""
    figure = Figure(figsize=(9.6, 4.4))
    figure.subplots_adjust(left=0.1, right=0.98, bottom=0.12, top=0.8, wspace=0.35)
    left, right = figure.subplots(1, 2)
    for axes, y_label in ((left, "lesson3.mean_square"), (right, "lesson3.gradient")):
        axes.set(xlabel=say("axis.block_only"), ylabel=say(y_label), yscale="log")
        axes.grid(alpha=0.3)
        axes.locator_params("x", integer=True)
        figures.write_numbers(axes)
    stream_line = measured_line(left)
    lower_line = expected_line(left, style=1)
    upper_line = expected_line(left, style=1)
    gradient_line = measured_line(right)
    post_line = expected_line(right, style=1)
    pre_line = expected_line(right, style=3)
    windows = training.random_windows(training.sentences(2000), length=32, batch=4, seed=0)

    def draw(placement, norm, layers):
        stream, gradients = measured(placement, norm, layers, windows)
        _, post_gradients = measured("post", norm, 2, windows)
        _, pre_gradients = measured("pre", norm, 2, windows)
        expected_post = post_gradients[-1]  # the same at every depth
        expected_pre = pre_gradients[-1] * (2 / layers) ** 0.5  # smaller in a deeper decoder
        blocks = torch.arange(layers + 1, dtype=torch.float32)
        lower = 1 + blocks / 2
        upper = 1 + 3 * blocks / 2
        title = say(f"placement.{placement}")
        if placement != "none":
            title += f", {say(f'norm.{norm}')}"
        alt = say(
            "lesson3.alt",
            title=title,
            layers=layers,
            last=stream[-1],
            low=lower[-1],
            high=upper[-1],
            first=gradients[0],
            final=gradients[-1],
            post=expected_post,
            pre=expected_pre,
        )
        with figures.drawing:
            put(stream_line, blocks, stream, title)
            put(lower_line, blocks, lower, say("lesson3.bounds"))
            put(upper_line, blocks, upper, NOT_IN_THE_LEGEND)
            put(gradient_line, blocks[1:], gradients, title)
            put(post_line, blocks[1:], [expected_post] * layers, say("lesson3.post_bound"))
            put(pre_line, blocks[1:], [expected_pre] * layers, say("lesson3.pre_bound"))
            for axes in (left, right):
                axes.relim()
                axes.autoscale_view()
                axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(-0.05, 1))
            return figures.render(figure, alt), alt

    controls = {
        "placement": choice("placement", PLACEMENTS, placement),
        "norm": choice("norm", NORMS, norm),
        "layers": choice("race.layers", DEPTHS, layers),
    }
    return Explorer(controls, draw)


def measured(placement, norm, layers, windows):
    """Return what `training.at_initialisation` measures of a new decoder on windows of ids (B, T + 1), in float64.

    Without norms the stream grows beyond float32, which ends at 10³⁸."""
    config = Config(
        vocab_size=len(training.LETTERS),
        positions=32,
        width=64,
        layers=layers,
        heads=4,
        placement=placement,
        norm=norm,
    )
    decoder = Decoder(config).float()  # also where torch's default is another format
    decoder = training.initialise(decoder).double()
    return training.at_initialisation(decoder, windows)


def measured_line(axes):
    """Return an empty line for what is measured."""
    (line,) = axes.plot([], [], markersize=4, **figures.STYLES[0])
    return line


def expected_line(axes, style):
    """Return an empty dashed line for what is expected, in the colour of a style of `figures`."""
    (line,) = axes.plot([], [], color=figures.STYLES[style]["color"], linestyle="--")
    return line


def put(line, x, y, label):
    """Give a line its points and its label."""
    line.set_data(x, y)
    line.set_label(label)
