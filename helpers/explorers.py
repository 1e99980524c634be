"""The explorers of the lessons."""

from contextlib import suppress
from dataclasses import dataclass

import ipywidgets
import torch
from matplotlib.figure import Figure

from helpers import experiments, figures, gpt, models
from helpers.language import number, one_of, say
from helpers.norms import layer_norm, rms_norm
from helpers.trace import trace
from helpers.widgets import Explorer, choice


@dataclass
class StreamRun:
    """What the explorer of the stream shows of one prompt: T tokens, N blocks, width d."""

    model: str  # as the reader calls it
    wiring: str  # how its sublayers are placed, in words
    message: str
    pieces: list  # a label for each token
    lengths: torch.Tensor  # (2N + 1, T): L2 norm of the stream after the embedding and each sublayer
    writes: torch.Tensor  # (2N, T): L2 norm of what each sublayer wrote
    final: torch.Tensor  # (1, T): L2 norm after the final norm; (0, T) for a model without one
    width: int


class residual_stream(Explorer):
    """The residual stream of a reader's own prompt, token by token; arguments are the state it starts in.

    model: a name of `models.NAMES`, among which the reader then chooses. Or a model of the reader's own: what
    `models.load` returns, a transformers decoder with its `tokenizer`, or a repository on the hub as `models.load`
    takes it. It keeps its own placement of the norms and is the only one in the explorer.
    placement: "trained", or "pre" or "post" to run the same weights in that wiring. prompt: None for the example in the
    reader's language. reference: with GPT-2 small's published curve; None for yes, but not beside a reader's own model.
    Raises ValueError, one sentence, for what is no model, no text and no choice.

    A decoder with random weights, which needs no network; of a model with a tokenizer, give that as well:

    >>> import transformers
    >>> from helpers import explorers, models
    >>> settings = transformers.LlamaConfig(
    ...     vocab_size=256, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4
    ... )
    >>> mine = models.load(transformers.LlamaForCausalLM(settings))
    >>> explorers.residual_stream(mine, prompt="Tea").picture.alt[:49]
    'LlamaForCausalLM, as it is built; token 2, “a”. L'
    """

    def __init__(self, model="gpt2", placement="trained", prompt=None, reference=None, tokenizer=None):
        self._runs, self._loaded, self._busy = {}, (None, None, ""), False
        self._own = _own_model(model, tokenizer)
        if prompt is None:
            prompt = say("explorer.example")
        if not isinstance(prompt, str):
            raise models.Refused(say("load.not_text", kind=type(prompt).__name__))
        self._half = "" if models.readable(prompt) == prompt else say("load.half")  # a widget cannot hold it
        if reference is None:
            reference = self._own is None
        self._figure, self._axes = figures.new_axes("axis.block", "axis.length", (7.2, 4.6), (0.11, 0.12, 0.98, 0.82))
        names, star = ("stream", "attention", "mlp", "final", "published"), {"marker": "*", "linestyle": "none"}
        styles = zip(names, figures.STYLES, ({}, {}, {}, star, {}))
        self._lines = {name: self._axes.plot([], [], markersize=6, **style | own)[0] for name, style, own in styles}
        text = ipywidgets.Text(models.readable(prompt), continuous_update=False)
        text.description, text.style.description_width, text.layout.width = say("explorer.prompt"), "initial", "95%"
        wide = {"indent": False, "layout": {"width": "max-content"}}
        controls = {}
        rows = [("prompt",), ("token",), ("quantity", "axis"), ("writes", "reference")]
        if self._own is None:
            controls["model"] = choice("model", models.NAMES, model)
            controls["placement"] = choice("wiring", ("trained", "pre", "post"), placement, ipywidgets.RadioButtons)
            rows = [("model", "placement"), *rows]
        else:
            one_of(("trained",), placement, "explorer.unknown")
        controls |= {
            "prompt": text,
            "token": choice("explorer.token", (), None),
            "quantity": choice("quantity", ("length", "rms"), "length", ipywidgets.RadioButtons),
            "axis": choice("scale", ("linear", "log"), "linear", ipywidgets.RadioButtons),
            "writes": ipywidgets.Checkbox(value=False, description=say("explorer.writes"), **wide),
            "reference": ipywidgets.Checkbox(value=reference, description=say("explorer.reference"), **wide),
        }
        super().__init__(controls, self._draw_state)
        wrap = ipywidgets.Layout(flex_flow="row wrap", grid_gap="0 24px")
        boxes = [ipywidgets.HBox([controls[name] for name in row], layout=wrap) for row in rows]
        self.box.children = [*boxes, *self.shown]

    def _run(self, prompt, name=None, placement="trained"):
        """Return the StreamRun of a prompt, from memory if it was run; without a name, of the reader's own model."""
        key = (name, placement, prompt)
        if key in self._runs:
            return self._runs[key]
        if name is None:
            model, stands_in = self._own, ""
        else:
            model, stands_in = self._load(name)
        ids = model.encode(prompt)
        rewired = placement != "trained"
        decoder = model.decoder.rewired(placement) if rewired else model.decoder
        result = trace(decoder, ids)
        final = torch.zeros(0, len(ids))
        if result.final is not None:
            final = result.final.float().norm(dim=-1)[None].cpu()
        sentences = [self._half, model.notice(prompt), stands_in]
        self._half = ""  # only the prompt of the start could hold such a half
        run = StreamRun(
            model=say(f"model.{model.name}") if model.name in models.NAMES else model.name,
            wiring=_wiring(model, placement),
            message=" ".join(sentence for sentence in sentences if sentence),
            pieces=model.pieces(ids),
            lengths=result.lengths().float().cpu(),
            writes=result.write_lengths().float().cpu(),
            final=final,
            width=result.stream[0].shape[-1],
        )
        self._runs[key] = run
        return run

    def _load(self, name):
        """Return (Model, the sentence that says why another one stands in, or ""); the last model is kept."""
        if self._loaded[0] != name:
            sentences = []

            def tell(sentence):
                sentences.append(sentence)
                self.tell(sentence)

            model = models.load(name, tell=tell)
            self._loaded = name, model, "" if model.name == name else sentences[-1]
        return self._loaded[1:]

    def _chosen(self):
        """Return what of the state decides which run is shown."""
        state = self.state()
        if self._own is not None:
            return (state["prompt"],)
        return state["prompt"], state["model"], state["placement"]

    def refresh(self):
        """Offer the tokens of the present prompt, then draw; the last token stays the last."""
        with self._lock:
            token = self.controls["token"]
            if self._busy:  # setting the token's options changes its value, too
                return
            with suppress(Exception):  # the same problem comes up in drawing, and is shown there
                pieces = self._run(*self._chosen()).pieces
                options = [(f"{index}: {piece}", index) for index, piece in enumerate(pieces)]
                last, self._busy = len(options) - 1, True
                if list(token.options) != options:
                    was_last = token.value is None or token.value == len(token.options) - 1
                    token.options, token.value = options, last if was_last else min(token.value, last)
            self._busy = False
            super().refresh()

    def _draw_state(self, prompt, token, quantity, axis, writes, reference, model=None, placement="trained"):
        run = self._run(prompt, model, placement)
        name, message, layers = run.model, run.message, len(run.writes) // 2
        title = say("stream.title", model=name, wiring=run.wiring, token=run.pieces[token], position=token)

        def scaled(norms, width):
            if quantity == "length":
                return norms
            return norms * width**-0.5

        stream = scaled(run.lengths[:, token], run.width)
        written = scaled(run.writes[:, token], run.width)
        final = scaled(run.final[:, token], run.width)
        written = written if writes else written[:0]
        known = scaled(torch.tensor(figures.published_curve(token)), 768) if reference else ()
        blocks = torch.arange(2 * layers + 1) / 2
        where = blocks[1 : len(written) + 1]
        shown = {"stream": (blocks, stream), "final": ([layers + 0.6] * len(final), final)}
        shown |= {"attention": (where[::2], written[::2]), "mlp": (where[1::2], written[1::2])}
        shown |= {"published": (range(len(known)), known)}
        values = {"first": stream[0], "one": stream[2], "half": stream[layers // 2 * 2], "middle": layers // 2}
        values |= {"last": stream[-1], "factor": stream[-1] / stream[0], "title": title, "layers": layers}
        alt = [say(f"stream.alt_{quantity}", **values), *(say("stream.alt_final", value=value) for value in final)]
        if writes:
            top = written.argmax().item()
            kind = say("stream.attention_name" if top % 2 == 0 else "stream.mlp_name")
            alt.append(say("stream.alt_writes", kind=kind, block=top // 2 + 1, value=written[top]))
        if reference:
            alt.append(say("stream.alt_published", first=known[0], last=known[-1]))
        with figures.drawing:
            for key, line in self._lines.items():
                line.set_data(*shown[key])
                line.set_label(say(f"stream.{key}", model=name))
            self._axes.set(yscale=axis, ylabel=say(f"axis.{quantity}"))
            figures.write_numbers(self._axes)
            self._axes.relim()
            self._axes.autoscale(True)  # set_ylim below turned it off at the last drawing
            self._axes.autoscale_view()
            self._axes.set_ylim(bottom=0 if axis == "linear" else None)
            self._axes.locator_params("x", integer=True, nbins=13)
            handles = [line for key, line in self._lines.items() if len(shown[key][1])]
            style = {"frameon": False, "fontsize": 8.5, "columnspacing": 1, "handlelength": 1.6, "loc": "lower left"}
            self._axes.legend(handles=handles, bbox_to_anchor=(-0.1, 1), ncols=2, **style)
            return figures.render(self._figure, " ".join(alt)), f"{' '.join(alt)} {message}".strip()


def _own_model(model, tokenizer):
    """Return the Model of a reader's own, or None for one of `models.NAMES`."""
    if isinstance(model, models.Model):
        return model
    if isinstance(model, str) and model in models.NAMES and tokenizer is None:
        return None
    return models.load(model, tokenizer)


def _wiring(model, placement):
    """Return in words how the sublayers of a Model are placed."""
    if model.name not in models.NAMES:
        return say("stream.as_given")
    trained = model.decoder.config.placement
    if placement in ("trained", trained):
        return say("stream.as_trained", trained=say(f"placement.{trained}"))
    return say("stream.rewired", trained=say(f"placement.{trained}"), placement=say(f"placement.{placement}"))


def placement(placement="pre", norm="layernorm", layers=16):
    """Return the explorer of a decoder at initialisation, block by block; arguments are the state it starts in."""
    figure, lines = Figure(figsize=(9.6, 4.4)), []
    figure.subplots_adjust(left=0.1, right=0.98, bottom=0.12, top=0.8, wspace=0.35)
    for axes, y_label, styles in zip(figure.subplots(1, 2), ("mean_square", "gradient"), ((1, 1), (1, 3))):
        axes.set(xlabel=say("axis.block_only"), ylabel=say(f"lesson3.{y_label}"), yscale="log")
        axes.grid(alpha=0.3)
        axes.locator_params("x", integer=True)
        figures.write_numbers(axes)
        lines.append(axes.plot([], [], markersize=4, **figures.STYLES[0])[0])
        lines += (axes.plot([], [], color=figures.STYLES[i]["color"], linestyle="--")[0] for i in styles)
    windows = experiments.random_windows(experiments.sentences(2000), 32, 4, seed=0)
    new = lambda *shape: experiments.initialise(gpt.Decoder(gpt.Config(28, 32, 64, *shape))).double()
    start = lambda placement, norm, layers: experiments.at_initialisation(new(layers, 4, placement, norm), windows)

    def draw(placement, norm, layers):
        stream, gradients = start(placement, norm, layers)
        post, pre = start("post", norm, 2)[1][-1], start("pre", norm, 2)[1][-1] * (2 / layers) ** 0.5
        x, title = torch.arange(layers + 1), say(f"placement.{placement}")
        title += "" if placement == "none" else f", {say(f'norm.{norm}')}"
        curves = [stream, 1 + x / 2, 1 + 3 * x / 2, gradients, [post] * layers, [pre] * layers]
        labels = [title, say("lesson3.bounds"), "_", title, say("lesson3.post_bound"), say("lesson3.pre_bound")]
        values = {"first": gradients[0], "final": gradients[-1], "low": curves[1][-1], "high": curves[2][-1]}
        alt = say("lesson3.alt", title=title, layers=layers, last=stream[-1], post=post, pre=pre, **values)
        with figures.drawing:
            for line, curve, label in zip(lines, curves, labels):
                line.set_data(x[-len(curve) :], curve)
                line.set_label(label)
            for axes in figure.axes:
                axes.relim()
                axes.autoscale_view()
                axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(-0.05, 1))
            return figures.render(figure, alt), alt

    controls = {"placement": choice("placement", gpt.PLACEMENTS, placement), "norm": choice("norm", gpt.NORMS, norm)}
    return Explorer(controls | {"layers": choice("race.layers", (2, 4, 8, 16, 32, 64), layers)}, draw)


def layer_norm_against_rms_norm(mean=0.5, outlier=0.0):
    """Return the explorer of one vector of 12 features, x + mean, through both norms.

    x has mean 0 and variance 1; outlier is added to its first feature. Both are entries of their lists."""
    x = layer_norm(torch.randn(12, generator=torch.Generator().manual_seed(3)), eps=0)
    figure, axes = figures.new_axes("lesson2.feature", "lesson2.output", margins=(0.09, 0.13, 0.98, 0.9))
    axes.set(xlim=(0.5, 12.5), ylim=(-4, 4), xticks=range(1, 13))
    named = zip(("LayerNorm", "RMSNorm", "LayerNorm − RMSNorm"), figures.STYLES)
    kept = [axes.plot([0] * 12, label=name, **style)[0] for name, style in named]
    axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1), ncols=3)

    def draw(mean, outlier):
        raw = x + mean + outlier * torch.eye(12)[0]
        ln, rms = layer_norm(raw), rms_norm(raw)
        values = {f"{n}_{f}": getattr(y, f)() for n, y in (("ln", ln), ("rms", rms)) for f in ("min", "max", "mean")}
        values |= {"mean": raw.mean(), "deviation": raw.std(correction=0), "difference": (ln - rms).norm()}
        values["angle"] = torch.cosine_similarity(ln, rms, dim=0).clamp(-1, 1).arccos().rad2deg()
        values = {name: round(value.item(), 2) for name, value in values.items()}
        with figures.drawing:
            for line, y in zip(kept, (ln, rms, ln - rms)):
                line.set_data(range(1, 13), y)
            found = say("lesson2.found", **values)
            return figures.render(figure, f"{say('lesson2.alt', **values)} {found}"), found

    controls = {"mean": choice("lesson2.mean", (-10, -5, -3, -2, -1, -0.5, 0, 0.5, 1, 2, 3, 5, 10), mean)}
    return Explorer(controls | {"outlier": choice("lesson2.outlier", (0, 2, 5, 10, 20), outlier)}, draw)


def layer_norm_steps(shift=2, scale=1, outlier=0):
    """Return the explorer of LayerNorm on scale · z + shift, where z has mean 0 and variance 1; see the lists."""
    z = layer_norm(torch.tensor([-1.0, 0.5, 1.5, -0.5, 1.0, -1.5], dtype=torch.float64), eps=0)
    gamma, beta = torch.tensor([[1, 1, 2, 1, 0.5, 1], [0, 0, 0, 1, 0, -1]])
    figure = Figure(figsize=(9.6, 3.2))
    panels = figure.subplots(1, 4, gridspec_kw=dict(left=0.06, right=0.98, bottom=0.1, top=0.76, wspace=0.45))
    kept = [axes.bar(range(1, 7), [0] * 6, color=figures.STYLES[0]["color"]) for axes in panels]
    for axes in panels:
        axes.set_xticks(range(1, 7))
        figures.write_numbers(axes)

    def draw(shift, scale, outlier):
        raw, titles = scale * z + shift + outlier * torch.eye(6)[3], []
        rows = {"lesson1.raw": raw, "lesson1.centred": raw - raw.mean()}
        rows |= {"lesson1.divided": layer_norm(raw), "lesson1.scaled": layer_norm(raw, gamma, beta)}
        with figures.drawing:
            for axes, bars, (name, row), limit in zip(panels, kept, rows.items(), (0, 0, 2.5, 5)):
                mean, variance = row.mean().round(decimals=7), row.var(correction=0)
                titles.append(say("lesson1.panel", step=say(name), mean=mean, variance=variance))
                axes.set_title(titles[-1], fontsize=10)
                limit = limit or max(1.1 * row.abs().max().item(), 1e-4)
                axes.set_ylim(-limit, limit)
                for bar, height in zip(bars, row.tolist()):
                    bar.set_height(height)
            output = "; ".join(number(value, 2) for value in row.tolist())
            alt = say("lesson1.alt", panels="; ".join(titles).replace("\n", ", "), output=output)
            return figures.render(figure, alt), alt

    controls = {"shift": choice("lesson1.shift", (-10, -2, 0, 2, 10, 100, 1000), shift)}
    controls["scale"] = choice("lesson1.scale", (0, 0.001, 0.003, 0.01, 0.1, 1, 10, 100), scale)
    return Explorer(controls | {"outlier": choice("lesson1.outlier", (0, 1, 5, 20, 100), outlier)}, draw)
