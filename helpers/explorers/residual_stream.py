"""The explorer of lesson 4: the residual stream of a reader's own prompt."""

from dataclasses import dataclass

import ipywidgets
import torch

from helpers import figures, models
from helpers.explorers.base import Explorer, choice
from helpers.language import one_of, say
from helpers.trace import length, trace

GPT2_WIDTH = 768
LINES = {  # name → style
    "stream": figures.STYLES[0],
    "attention": figures.STYLES[1],
    "mlp": figures.STYLES[2],
    "final": figures.STYLES[3] | {"marker": "*", "linestyle": "none"},
    "published": figures.STYLES[4],
}


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

    def blocks(self):
        """Return N."""
        return len(self.writes) // 2


@dataclass
class Curves:
    """What the picture shows of one token, as lengths or as root mean squares."""

    stream: torch.Tensor  # (2N + 1,)
    attention: torch.Tensor  # (N,), or (0,) if what is written is not shown
    mlp: torch.Tensor  # as attention
    final: torch.Tensor  # (1,), or (0,) for a model without a final norm
    published: torch.Tensor  # (13,), or (0,) if it is not shown


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
        self._runs = {}  # (name of the model, placement, prompt) → StreamRun
        self._loaded = None  # the last Model of `models.NAMES`, as (name, Model, sentence about what stands in)
        self._offering = False  # whether the tokens of a prompt are being put into their list
        self._own = _own_model(model, tokenizer)
        if prompt is None:
            prompt = say("explorer.example")
        if not isinstance(prompt, str):
            raise models.Refused(say("load.not_text", kind=type(prompt).__name__))
        self._first_prompt = models.readable(prompt)  # a widget cannot hold half of a surrogate pair
        self._first_notice = ""
        if self._first_prompt != prompt:
            self._first_notice = say("load.half")
        if reference is None:
            reference = self._own is None
        self._figure, self._axes = figures.new_axes("axis.block", "axis.length", (7.2, 4.6), (0.11, 0.12, 0.98, 0.82))
        self._lines = {}
        for name, style in LINES.items():
            (self._lines[name],) = self._axes.plot([], [], markersize=6, **style)
        controls = self._controls(model, placement, reference)
        super().__init__(controls, self._draw_state)
        rows = [("prompt",), ("token",), ("quantity", "axis"), ("writes", "reference")]
        if self._own is None:
            rows.insert(0, ("model", "placement"))
        wrap = ipywidgets.Layout(flex_flow="row wrap", grid_gap="0 24px")
        boxes = [ipywidgets.HBox([controls[name] for name in row], layout=wrap) for row in rows]
        self.box.children = [*boxes, *self.shown]

    def _controls(self, model, placement, reference):
        """Return the controls by name; a reader's own model is the only one, in its own placement."""
        controls = {}
        if self._own is None:
            controls["model"] = choice("model", models.NAMES, model)
            controls["placement"] = choice("wiring", ("trained", "pre", "post"), placement, ipywidgets.RadioButtons)
        else:
            one_of(("trained",), placement, "explorer.unknown")
        prompt = ipywidgets.Text(self._first_prompt, continuous_update=False)
        prompt.description = say("explorer.prompt")
        prompt.style.description_width = "initial"
        prompt.layout.width = "95%"
        controls["prompt"] = prompt
        controls["token"] = choice("explorer.token", (), None)
        controls["quantity"] = choice("quantity", ("length", "rms"), "length", ipywidgets.RadioButtons)
        controls["axis"] = choice("scale", ("linear", "log"), "linear", ipywidgets.RadioButtons)
        controls["writes"] = _tick_box("explorer.writes", False)
        controls["reference"] = _tick_box("explorer.reference", reference)
        return controls

    def draw_again(self):
        """Draw the present state anew; a reader's own model runs again, since its weights may have changed."""
        with self._lock:
            if self._own is not None:
                self._runs.clear()
            super().draw_again()

    def _run(self, prompt, name=None, placement="trained"):
        """Return the StreamRun of a prompt, from memory if it was run; without a name, of the reader's own model."""
        key = (name, placement, prompt)
        if key not in self._runs:
            self._runs[key] = self._new_run(prompt, name, placement)
        return self._runs[key]

    def _new_run(self, prompt, name, placement):
        model = self._own
        stands_in = ""
        if name is not None:
            model, stands_in = self._load(name)
        ids = model.encode(prompt)
        decoder = model.decoder
        if placement != "trained":
            decoder = decoder.rewired(placement)
        result = trace(decoder, ids)
        final = torch.zeros(0, len(ids))
        if result.final is not None:
            final = length(result.final)[None]
        sentences = [model.notice(prompt), stands_in]
        if prompt == self._first_prompt:
            sentences.insert(0, self._first_notice)
        shown_name = model.name
        if model.name in models.NAMES:
            shown_name = say(f"model.{model.name}")
        return StreamRun(
            model=shown_name,
            wiring=_wiring(model, placement),
            message=" ".join(sentence for sentence in sentences if sentence),
            pieces=model.pieces(ids),
            lengths=result.lengths().float().cpu(),
            writes=result.write_lengths().float().cpu(),
            final=final.float().cpu(),
            width=result.stream[0].shape[-1],
        )

    def _load(self, name):
        """Return (Model, the sentence that says why another one stands in, or ""); the last model is kept."""
        if self._loaded is None or self._loaded[0] != name:
            sentences = []

            def tell(sentence):
                sentences.append(sentence)
                self.tell(sentence)

            model = models.load(name, tell=tell)
            stands_in = ""
            if model.name != name:
                stands_in = sentences[-1]
            self._loaded = (name, model, stands_in)
        _, model, stands_in = self._loaded
        return model, stands_in

    def _chosen(self):
        """Return what of the state decides which run is shown."""
        state = self.state()
        if self._own is not None:
            return (state["prompt"],)
        return state["prompt"], state["model"], state["placement"]

    def refresh(self):
        """Offer the tokens of the present prompt, then draw."""
        with self._lock:
            if self._offering:  # setting the token's options changes its value, which asks for a picture
                return
            try:
                pieces = self._run(*self._chosen()).pieces
            except Exception:  # it comes up again in drawing, and is told there
                pieces = None
            if pieces is not None:
                self._offer(pieces)
            super().refresh()

    def _offer(self, pieces):
        """Put the tokens of a prompt into their list; if the last one was chosen, the last one is chosen again."""
        token = self.controls["token"]
        options = [(f"{index}: {piece}", index) for index, piece in enumerate(pieces)]
        if list(token.options) == options:
            return
        last = len(options) - 1
        chosen = last
        if token.value is not None and token.value < len(token.options) - 1:
            chosen = min(token.value, last)
        self._offering = True
        try:
            token.options = options
            token.value = chosen
        finally:
            self._offering = False

    def _draw_state(self, prompt, token, quantity, axis, writes, reference, model=None, placement="trained"):
        run = self._run(prompt, model, placement)
        curves = _curves(run, token, quantity, writes, reference)
        text = _text(run, curves, token, quantity)
        with figures.drawing:
            self._put(run, curves, quantity, axis)
            picture = figures.render(self._figure, text)
        return picture, f"{text} {run.message}".strip()

    def _put(self, run, curves, quantity, axis):
        """Put the curves into the figure; the caller holds the lock of drawing."""
        blocks = torch.arange(2 * run.blocks() + 1, dtype=torch.float32) / 2
        half_blocks = blocks[1::2]
        whole_blocks = blocks[2::2]
        after_the_last = [run.blocks() + 0.6]
        points = {
            "stream": (blocks, curves.stream),
            "attention": (half_blocks[: len(curves.attention)], curves.attention),
            "mlp": (whole_blocks[: len(curves.mlp)], curves.mlp),
            "final": (after_the_last * len(curves.final), curves.final),
            "published": (range(len(curves.published)), curves.published),
        }
        handles = []
        for name, line in self._lines.items():
            x, y = points[name]
            line.set_data(list(map(float, x)), y.tolist())
            line.set_label(say(f"stream.{name}", model=run.model))
            if len(y) > 0:
                handles.append(line)
        self._axes.set(yscale=axis, ylabel=say(f"axis.{quantity}"))
        figures.write_numbers(self._axes)
        self._axes.relim()
        self._axes.autoscale(True)  # set_ylim below turned it off at the last drawing
        self._axes.autoscale_view()
        if axis == "linear":
            self._axes.set_ylim(bottom=0)
        self._axes.locator_params("x", integer=True, nbins=13)
        self._axes.legend(
            handles=handles,
            bbox_to_anchor=(-0.1, 1),
            ncols=2,
            frameon=False,
            fontsize=8.5,
            columnspacing=1,
            handlelength=1.6,
            loc="lower left",
        )


def _tick_box(key, value):
    """Return a box to tick, with a text of the catalogue beside it."""
    return ipywidgets.Checkbox(value=value, description=say(key), indent=False, layout={"width": "max-content"})


def _in_quantity(norms, quantity, width):
    """Return L2 norms as they are ("length"), or as root mean squares over the features ("rms")."""
    if quantity == "length":
        return norms
    return norms * width**-0.5


def _curves(run, token, quantity, writes, reference):
    """Return the Curves of a token in a StreamRun; what the reader does not want to see is empty."""
    nothing = torch.zeros(0)
    attention = nothing
    mlp = nothing
    published = nothing
    if writes:
        written = _in_quantity(run.writes[:, token], quantity, run.width)
        attention = written[::2]
        mlp = written[1::2]
    if reference:
        known = torch.tensor(figures.published_curve(token), dtype=torch.float32)
        published = _in_quantity(known, quantity, GPT2_WIDTH)
    return Curves(
        stream=_in_quantity(run.lengths[:, token], quantity, run.width),
        attention=attention,
        mlp=mlp,
        final=_in_quantity(run.final[:, token], quantity, run.width),
        published=published,
    )


def _text(run, curves, token, quantity):
    """Return in words what the picture shows."""
    layers = run.blocks()
    middle = layers // 2
    stream = curves.stream
    sentences = [
        say(
            f"stream.alt_{quantity}",
            title=say("stream.title", model=run.model, wiring=run.wiring, token=run.pieces[token], position=token),
            layers=layers,
            middle=middle,
            first=stream[0],
            one=stream[2],
            half=stream[2 * middle],
            last=stream[-1],
            factor=stream[-1] / stream[0],
        )
    ]
    for value in curves.final:
        sentences.append(say("stream.alt_final", value=value))
    if len(curves.attention) > 0:
        kind = "stream.attention_name"
        largest = curves.attention
        if curves.mlp.max() > curves.attention.max():
            kind = "stream.mlp_name"
            largest = curves.mlp
        block = largest.argmax().item() + 1
        sentences.append(say("stream.alt_writes", kind=say(kind), block=block, value=largest[block - 1]))
    if len(curves.published) > 0:
        sentences.append(say("stream.alt_published", first=curves.published[0], last=curves.published[-1]))
    return " ".join(sentences)


def _own_model(model, tokenizer):
    """Return the Model of a reader's own, or None for one of `models.NAMES`."""
    if isinstance(model, models.Model):
        if tokenizer is not None:
            raise models.Refused(say("load.tokenizer_of_name", name=model.name))
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
