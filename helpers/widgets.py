"""The explorers: controls → state → picture. A picture that was seen before comes back at once."""

import html
import threading
from dataclasses import dataclass

import ipywidgets
import torch

from helpers import figures, models
from helpers.language import say
from helpers.trace import trace

SEEN = 300  # pictures kept; about 40 kB each


class Explorer:
    """Controls above a picture and a message.

    controls: name → ipywidgets control. draw: a function from the state (name → value) to
    (Picture, message); a ValueError that it raises is shown as the message, and the last
    picture stays. `error` holds any other exception of the last change, for the tests.
    """

    def __init__(self, controls, draw):
        self.controls, self._draw = controls, draw
        self.image, self.message = ipywidgets.HTML(), ipywidgets.HTML()
        self.picture, self.error = None, None
        self._seen, self._lock = {}, threading.RLock()
        for control in controls.values():
            control.observe(self._changed, "value")
        self.box = ipywidgets.VBox([*controls.values(), self.image, self.message])
        self.refresh()

    def state(self):
        """Return the value of every control by name."""
        return {name: control.value for name, control in self.controls.items()}

    def _changed(self, _):
        self.refresh()

    def refresh(self):
        """Draw the present state, from memory if it was seen before."""
        with self._lock:
            self.error = None
            key = tuple(self.state().values())
            try:
                if key not in self._seen:
                    if len(self._seen) >= SEEN:
                        self._seen.pop(next(iter(self._seen)))
                    self._seen[key] = self._draw(**self.state())
                self.picture, message = self._seen[key]
                self.image.value = self.picture.img()
            except ValueError as problem:
                message = str(problem)
            except Exception as problem:
                self.error = problem
                message = say("explorer.failed", problem=f"{type(problem).__name__}: {problem}")
            self.message.value = f'<div role="status" style="line-height:1.4">{html.escape(message)}</div>'

    def _repr_mimebundle_(self, **kwargs):
        # Readers without a kernel get the picture and its text in place of the widget.
        bundle = self.box._repr_mimebundle_(**kwargs)
        data, *rest = bundle if isinstance(bundle, tuple) else (bundle,)
        if self.picture is not None:
            data = data | self.picture._repr_mimebundle_()
        return (data, *rest) if rest else data


def _choice(kind, key, options, value):
    """Return a control whose description and options come from the catalogue."""
    named = [(say(f"{key}.{option}"), option) for option in options]
    return kind(options=named, value=value, description=say(f"{key}.label"), style={"description_width": "initial"})


def _checkbox(key, value):
    return ipywidgets.Checkbox(value=value, description=say(key), indent=False)


@dataclass(frozen=True)
class StreamCurve:
    """One token's way through a decoder of N blocks: L2 norms, as plain numbers.

    title: what was run, for caption and alternative text. position: the token's index.
    stream: 2N + 1 norms; writes: 2N norms; final: the norm behind the final norm, or None.
    """

    title: str
    position: int
    width: int
    stream: tuple
    writes: tuple
    final: float | None


class ResidualStreamExplorer(Explorer):
    """The residual stream of a reader's own prompt, token by token; see `residual_stream`."""

    def __init__(self, model, placement, prompt, reference):
        self._runs, self._figure, self._busy = {}, figures.StreamFigure(), False
        text = ipywidgets.Text(prompt, description=say("explorer.prompt"), continuous_update=False)
        text.style.description_width, text.layout.width = "initial", "95%"
        controls = {
            "model": _choice(ipywidgets.Dropdown, "model", models.NAMES, model),
            "placement": _choice(ipywidgets.RadioButtons, "wiring", ("trained", "pre", "post"), placement),
            "prompt": text,
            "token": ipywidgets.Dropdown(description=say("explorer.token"), style={"description_width": "initial"}),
            "quantity": _choice(ipywidgets.RadioButtons, "quantity", ("length", "rms"), "length"),
            "axis": _choice(ipywidgets.RadioButtons, "scale", ("linear", "log"), "linear"),
            "writes": _checkbox("explorer.writes", False),
            "reference": _checkbox("explorer.reference", reference),
        }
        super().__init__(controls, self._draw_state)
        rows = [("model", "placement"), ("prompt",), ("token",), ("quantity", "axis"), ("writes", "reference")]
        wrap = ipywidgets.Layout(flex_flow="row wrap", grid_gap="0 24px")
        self.box.children = [
            *(ipywidgets.HBox([controls[name] for name in row], layout=wrap) for row in rows),
            self.image,
            self.message,
        ]

    def _changed(self, change):
        if not self._busy:  # setting the token's options changes its value, too
            super()._changed(change)

    def _run(self, name, placement, prompt):
        """Return (model, pieces, lengths, writes, final lengths or None) of a run, from memory if it was made."""
        key = (name, placement, prompt)
        if key not in self._runs:
            model = models.load(name)
            ids = model.encode(prompt)
            decoder = model.decoder if placement == "trained" else model.decoder.rewired(placement)
            with torch.no_grad():
                result = trace(decoder, ids)
            final = None if result.final is None else result.final.norm(dim=-1)
            self._runs[key] = model, model.pieces(ids), result.lengths(), result.write_lengths(), final
        return self._runs[key]

    def refresh(self):
        """Offer the tokens of the present prompt, then draw; the last token stays the last."""
        with self._lock:
            token = self.controls["token"]
            try:
                _, pieces, *_ = self._run(*(self.controls[name].value for name in ("model", "placement", "prompt")))
                options = [(f"{index}: {piece}", index) for index, piece in enumerate(pieces)]
                if list(token.options) != options:
                    was_last = token.value is None or token.value == len(token.options) - 1
                    self._busy = True
                    keep = len(options) - 1 if was_last else min(token.value, len(options) - 1)
                    token.options = options
                    token.value = keep
            except Exception:
                pass  # the same problem comes up in drawing, and is shown there
            finally:
                self._busy = False
            super().refresh()

    def _draw_state(self, model, placement, prompt, token, quantity, axis, writes, reference):
        loaded, pieces, lengths, write_lengths, final = self._run(model, placement, prompt)
        trained = loaded.decoder.config.placement
        wired = trained if placement == "trained" else placement
        wiring = say(
            "stream.as_trained" if wired == trained else "stream.rewired",
            trained=say(f"placement.{trained}"),
            placement=say(f"placement.{wired}"),
        )
        title = say(
            "stream.title", model=say(f"model.{loaded.name}"), wiring=wiring, token=pieces[token], position=token
        )
        curve = StreamCurve(
            title,
            token,
            loaded.decoder.config.width,
            tuple(lengths[:, token].tolist()),
            tuple(write_lengths[:, token].tolist()),
            None if final is None else final[token].item(),
        )
        stands_in = model == "gpt2" and loaded.name != model
        picture = self._figure.draw(curve, quantity, axis == "log", writes, reference or stands_in)
        return picture, " ".join(filter(None, [title + ".", loaded.notice]))


def residual_stream(model="gpt2", placement="trained", prompt=None, reference=True):
    """Return the explorer of the residual stream; arguments are the state it starts in.

    model: a name that `models.load` knows. placement: "trained", or "pre" or "post" to run the
    same weights in that wiring. prompt: None for the example in the reader's language.
    """
    return ResidualStreamExplorer(model, placement, prompt or say("explorer.example"), reference)
