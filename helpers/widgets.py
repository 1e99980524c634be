"""What every explorer is made of: controls → state → picture. A picture seen before comes back at once."""

import html
import threading
from functools import lru_cache

import ipywidgets

from helpers.language import number, one_of, say


class Explorer:
    """Controls (name → ipywidgets control) above a picture and a message.

    draw: from the state (name → value) to (Picture, message); a ValueError that it raises is shown as the message,
    and the last picture stays. `error` holds any other exception of the last change, for the tests."""

    def __init__(self, controls, draw):
        self.controls, self._draw, self._lock = controls, lru_cache(300)(draw), threading.RLock()
        self.image, self.message, self.picture, self.error = ipywidgets.HTML(), ipywidgets.HTML(), None, None
        for control in controls.values():
            control.observe(lambda _: self.refresh(), "value")
        css = "<style>[data-jp-theme-light=false] .widget-dropdown select {background-image:none; appearance:auto}</style>"
        self.shown = self.image, self.message, ipywidgets.HTML(css, layout={"display": "none"})
        self.box = ipywidgets.VBox([*controls.values(), *self.shown])
        self.refresh()

    def state(self):
        """Return the value of every control by name."""
        return {name: control.value for name, control in self.controls.items()}

    def refresh(self):
        """Draw the present state, from memory if it was seen before."""
        with self._lock:
            self.error = None
            try:
                self.picture, message = self._draw(**self.state())
                self.image.value = self.picture.img()
            except ValueError as problem:
                message = str(problem)
                if self.picture is not None:
                    message = f"{problem} {say('explorer.last')}"
            except Exception as problem:
                self.error = problem
                message = say("explorer.failed", problem=f"{type(problem).__name__}: {problem}")
            self.tell(message)

    def tell(self, message):
        """Show a message under the picture at once."""
        self.message.value = f'<div role="status" style="line-height:1.4">{html.escape(message)}</div>'

    def _repr_mimebundle_(self, **kwargs):
        self._draw.cache_clear()  # all states share a figure, from which the picture for readers without a kernel comes
        self.refresh()
        return self.box._repr_mimebundle_(**kwargs) | (self.picture._repr_mimebundle_() if self.picture else {})


def choice(key, options, value, kind=ipywidgets.Dropdown):
    """Return a control over words, entries of the catalogue's section, or numbers; ValueError for any other value."""
    words = any(isinstance(option, str) for option in options)
    named = [(say(f"{key}.{option}") if words else number(option, trim=True), option) for option in options]
    value, shown = one_of(options, value, "explorer.unknown") if options else None, {"layout": {"width": "max-content"}}
    shown |= {"description": say(f"{key}.label" if words else key), "style": {"description_width": "initial"}}
    return kind(options=named, value=value, **shown)
