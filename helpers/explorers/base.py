"""What every explorer is made of: controls → state → picture. A picture seen before comes back at once."""

import html
import threading
from functools import lru_cache

import ipywidgets

from helpers import figures, language
from helpers.language import number, one_of, say

KEPT = 300  # pictures in memory, of about 40 kB each
ARROWS_OF_LISTS = (  # ipywidgets' arrow is dark, also on JupyterLab's dark theme
    "<style>[data-jp-theme-light=false] .widget-dropdown select {background-image:none; appearance:auto}</style>"
)


class Explorer:
    """Controls (name → ipywidgets control) above a picture and a message.

    draw: from the state (name → value) to (Picture, message); a ValueError that it raises is shown as the message,
    and the last picture stays. `error` holds any other exception of the last change, for the tests."""

    def __init__(self, controls, draw):
        self.controls = controls
        self.image = ipywidgets.HTML()
        self.message = ipywidgets.HTML()
        self.picture = None
        self.error = None
        self._draw = lru_cache(KEPT)(draw)
        self._lock = threading.RLock()
        for control in controls.values():
            control.observe(self._changed, "value")
        arrows = ipywidgets.HTML(ARROWS_OF_LISTS, layout={"display": "none"})
        self.shown = (self.image, self.message, arrows)
        self.box = ipywidgets.VBox([*controls.values(), *self.shown])
        self.refresh()

    def state(self):
        """Return the value of every control by name."""
        return {name: control.value for name, control in self.controls.items()}

    def _changed(self, _change):
        self.refresh()

    def refresh(self):
        """Draw the present state, from memory if it was seen before."""
        with self._lock:
            self.error = None
            try:
                picture, message = self._draw(**self.state())
            except ValueError as problem:
                self.tell_problem(str(problem))
            except Exception as problem:
                self.error = problem
                self.tell_problem(failure(problem))
            else:
                self.show(picture)
                self.tell(message)

    def show(self, picture):
        """Put a Picture in the place of the last one."""
        self.picture = picture
        self.image.value = picture.img()

    def tell_problem(self, sentence):
        """Show a sentence in place of the message, and say that the picture, if there is one, is the last one."""
        if self.picture is not None:
            sentence = f"{sentence} {say('explorer.last')}"
        self.tell(sentence)

    def tell(self, message):
        """Show a message under the picture at once."""
        attributes = f'lang="{language.current}" role="status" style="line-height:1.4"'
        self.message.value = f"<div {attributes}>{html.escape(message)}</div>"

    def draw_again(self):
        """Draw the present state anew, whatever was drawn before."""
        with self._lock:
            self._draw.cache_clear()
            self.refresh()

    def _repr_mimebundle_(self, **kwargs):
        # All states share one figure, and the picture for readers without a kernel comes from it: it must show the
        # present state when it is saved.
        with self._lock, figures.drawing:
            self.draw_again()
            data = self.box._repr_mimebundle_(**kwargs)
            if self.picture is None:
                return data, {}
            for_readers, metadata = self.picture._repr_mimebundle_()
            return data | for_readers, metadata


def failure(problem):
    """Return the sentence that tells of an exception that nobody expected."""
    return say("explorer.failed", problem=f"{type(problem).__name__}: {problem}")


def choice(key, options, value, kind=ipywidgets.Dropdown):
    """Return a control, a list by default, that chooses among words or numbers.

    Words are entries of the section `key` of the catalogue, whose entry "label" names the control. Numbers are written
    as the language does, and `key` is the text that names the control. Without options, there is no value yet. Raises
    ValueError for a value that is none of the options."""
    if any(isinstance(option, str) for option in options):
        label = say(f"{key}.label")
        named = [(say(f"{key}.{option}"), option) for option in options]
    else:
        label = say(key)
        named = [(number(option, trim=True), option) for option in options]
    start = None
    if options:
        start = one_of(options, value, "explorer.unknown")
    return kind(
        options=named,
        value=start,
        description=label,
        style={"description_width": "initial"},
        layout={"width": "max-content"},
    )
