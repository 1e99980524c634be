"""The explorers of the lessons."""

from dataclasses import dataclass

import ipywidgets

from helpers import figures, models
from helpers.language import say
from helpers.trace import trace
from helpers.widgets import Explorer, checkbox, choice


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
        self._runs, self._loaded = {}, (None, None, "")
        self._figure, self._busy = figures.StreamFigure(), False
        text = ipywidgets.Text(prompt, description=say("explorer.prompt"), continuous_update=False)
        text.style.description_width, text.layout.width = "initial", "95%"
        controls = {
            "model": choice(ipywidgets.Dropdown, "model", models.NAMES, model),
            "placement": choice(ipywidgets.RadioButtons, "wiring", ("trained", "pre", "post"), placement),
            "prompt": text,
            "token": ipywidgets.Dropdown(description=say("explorer.token"), style={"description_width": "initial"}),
            "quantity": choice(ipywidgets.RadioButtons, "quantity", ("length", "rms"), "length"),
            "axis": choice(ipywidgets.RadioButtons, "scale", ("linear", "log"), "linear"),
            "writes": checkbox("explorer.writes", False),
            "reference": checkbox("explorer.reference", reference),
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
        """Return (model, message, pieces, lengths, writes, final lengths) of a run, from memory if it was made."""
        key = (name, placement, prompt)
        if key not in self._runs:
            model, stands_in = self._load(name)
            ids = model.encode(prompt)
            decoder = model.decoder if placement == "trained" else model.decoder.rewired(placement)
            result = trace(decoder, ids)
            final = None if result.final is None else result.final.norm(dim=-1)
            message = " ".join(filter(None, [stands_in, model.notice(prompt)]))
            self._runs[key] = model, message, model.pieces(ids), result.lengths(), result.write_lengths(), final
        return self._runs[key]

    def _load(self, name):
        """Return (model, the sentence that says why another one stands in, or ""); the last model is kept."""
        if self._loaded[0] != name:
            told = [""]
            model = models.load(name, lambda sentence: (told.append(sentence), self.tell(sentence)))
            self._loaded = name, model, "" if model.name == name else told[-1]
        return self._loaded[1:]

    def refresh(self):
        """Offer the tokens of the present prompt, then draw; the last token stays the last."""
        with self._lock:
            token = self.controls["token"]
            try:
                _, _, pieces, *_ = self._run(*(self.controls[name].value for name in ("model", "placement", "prompt")))
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
        loaded, message, pieces, lengths, write_lengths, final = self._run(model, placement, prompt)
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
        return picture, f"{title}. {message}"


def residual_stream(model="gpt2", placement="trained", prompt=None, reference=True):
    """Return the explorer of the residual stream; arguments are the state it starts in.

    model: a name that `models.load` knows. placement: "trained", or "pre" or "post" to run the
    same weights in that wiring. prompt: None for the example in the reader's language.
    """
    return ResidualStreamExplorer(model, placement, prompt or say("explorer.example"), reference)
