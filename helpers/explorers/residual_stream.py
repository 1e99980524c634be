"""The explorer of lesson 4: the residual stream of a reader's own prompt."""

from contextlib import suppress
from dataclasses import dataclass

import ipywidgets
import torch

from helpers import figures, models
from helpers.explorers.base import Explorer, choice
from helpers.language import one_of, say
from helpers.trace import trace


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
