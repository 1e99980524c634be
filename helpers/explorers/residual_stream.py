"""The explorer of lesson 4: the residual stream of a reader's own prompt."""

from contextlib import suppress

import ipywidgets
import torch

from helpers import figures, models
from helpers.explorers.base import Explorer, choice
from helpers.language import say
from helpers.trace import trace


class residual_stream(Explorer):
    """The residual stream of a reader's own prompt, token by token; arguments are the state it starts in.

    model: a name that `models.load` knows. placement: "trained", or "pre" or "post" to run the same weights in that
    wiring. prompt: None for the example in the reader's language. reference: with GPT-2 small's published curve."""

    def __init__(self, model="gpt2", placement="trained", prompt=None, reference=True):
        self._runs, self._loaded, self._busy = {}, (None, None, ""), False
        self._figure, self._axes = figures.new_axes("axis.block", "axis.length", (7.2, 4.6), (0.11, 0.12, 0.98, 0.82))
        names, star = ("stream", "attention", "mlp", "final", "published"), {"marker": "*", "linestyle": "none"}
        styles = zip(names, figures.STYLES, ({}, {}, {}, star, {}))
        self._lines = {name: self._axes.plot([], [], markersize=6, **style | own)[0] for name, style, own in styles}
        text = ipywidgets.Text(prompt or say("explorer.example"), continuous_update=False)
        text.description, text.style.description_width, text.layout.width = say("explorer.prompt"), "initial", "95%"
        wide = {"indent": False, "layout": {"width": "max-content"}}
        controls = {
            "model": choice("model", models.NAMES, model),
            "placement": choice("wiring", ("trained", "pre", "post"), placement, ipywidgets.RadioButtons),
            "prompt": text,
            "token": choice("explorer.token", (), None),
            "quantity": choice("quantity", ("length", "rms"), "length", ipywidgets.RadioButtons),
            "axis": choice("scale", ("linear", "log"), "linear", ipywidgets.RadioButtons),
            "writes": ipywidgets.Checkbox(value=False, description=say("explorer.writes"), **wide),
            "reference": ipywidgets.Checkbox(value=reference, description=say("explorer.reference"), **wide),
        }
        super().__init__(controls, self._draw_state)
        rows = [("model", "placement"), ("prompt",), ("token",), ("quantity", "axis"), ("writes", "reference")]
        wrap = ipywidgets.Layout(flex_flow="row wrap", grid_gap="0 24px")
        boxes = [ipywidgets.HBox([controls[name] for name in row], layout=wrap) for row in rows]
        self.box.children = [*boxes, *self.shown]

    def _run(self, name, placement, prompt):
        """Return (name, Config, message, labels, L2 norms: stream, writes, final), from memory if it was run."""
        key = (name, placement, prompt)
        if key not in self._runs:
            if self._loaded[0] != name:  # the last model is kept
                told = [""]
                model = models.load(name, lambda sentence: (told.append(sentence), self.tell(sentence)))
                self._loaded = name, model, "" if model.name == name else told[-1]  # why another one stands in
            _, model, stands_in = self._loaded
            ids, message = model.encode(prompt), f"{model.notice(prompt)} {stands_in}".strip()
            result = trace(model.decoder if placement == "trained" else model.decoder.rewired(placement), ids)
            final = torch.zeros(0, len(ids)) if result.final is None else result.final.norm(dim=-1)[None]
            told = model.name, model.decoder.config, message, model.pieces(ids)
            self._runs[key] = *told, (result.lengths(), result.write_lengths(), final)
        return self._runs[key]

    def refresh(self):
        """Offer the tokens of the present prompt, then draw; the last token stays the last."""
        with self._lock:
            token = self.controls["token"]
            if self._busy:  # setting the token's options changes its value, too
                return
            with suppress(Exception):  # the same problem comes up in drawing, and is shown there
                pieces = self._run(*(self.controls[name].value for name in ("model", "placement", "prompt")))[3]
                options = [(f"{index}: {piece}", index) for index, piece in enumerate(pieces)]
                last, self._busy = len(options) - 1, True
                if list(token.options) != options:
                    was_last = token.value is None or token.value == len(token.options) - 1
                    token.options, token.value = options, last if was_last else min(token.value, last)
            self._busy = False
            super().refresh()

    def _draw_state(self, model, placement, prompt, token, quantity, axis, writes, reference):
        name, config, message, pieces, norms = self._run(model, placement, prompt)
        wired = config.placement if placement == "trained" else placement
        words = {"trained": say(f"placement.{config.placement}"), "placement": say(f"placement.{wired}")}
        wiring = say("stream.as_trained" if wired == config.placement else "stream.rewired", **words)
        name, layers = say(f"model.{name}"), config.layers
        title = say("stream.title", model=name, wiring=wiring, token=pieces[token], position=token)
        scale = lambda values, width: values * (1 if quantity == "length" else width**-0.5)
        stream, written, final = (scale(norm[:, token], config.width) for norm in norms)
        written = written if writes else written[:0]
        known = scale(torch.tensor(figures.published_curve(token)), 768) if reference else ()
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
