"""From a click to the painted picture, in JupyterLab and Chromium: lesson 4's explorer beside `interact`.

Both have the same controls and draw the same curves, known beforehand; `interact` draws a new pyplot figure at each
click. Each has a page and a kernel of its own, since after some clicks `interact` slows down everything on its page.
Two floors: the page itself swaps a picture, and a kernel sends one that is ready."""

import os
import statistics
import tempfile
from pathlib import Path

import nbformat

from helpers.language import say

ROOT = Path(__file__).parents[2]

OURS = """
from helpers import explorers
explorers.residual_stream("bundled/ln-pre")
"""
INTERACT = """
%matplotlib inline
import matplotlib.pyplot as plt
import torch
from ipywidgets import Checkbox, RadioButtons, interact
from helpers import figures, models
from helpers.language import say
from helpers.trace import trace
from helpers.explorers.base import choice
model = models.load("bundled/ln-pre")
found = trace(model.decoder, model.encode(say("explorer.example")))
blocks, known = torch.arange(25) / 2, torch.tensor(figures.published_curve(1))
stream, written, final = found.lengths()[:, -1], found.write_lengths()[:, -1], found.final[-1].norm()

def show(quantity, axis, writes, reference):
    own, other = (1, 1) if quantity == "length" else (96**-0.5, 768**-0.5)
    plt.figure(figsize=(7.2, 4.6))
    plt.plot(blocks, own * stream, marker="o", label="stream")
    plt.plot(12.6, own * final, marker="*", linestyle="none", label="final norm")
    if writes:
        plt.plot(blocks[1::2], own * written[::2], marker="s", linestyle="--", label="attention")
        plt.plot(blocks[2::2], own * written[1::2], marker="^", linestyle=":", label="MLP")
    if reference:
        plt.plot(other * known, marker="x", linestyle="-.", label="published")
    plt.yscale(axis)
    plt.xlabel("block")
    plt.ylabel(quantity)
    plt.grid(alpha=0.3)
    plt.legend()
    plt.show()

interact(
    show,
    quantity=choice("quantity", ("length", "rms"), "length", RadioButtons),
    axis=choice("scale", ("linear", "log"), "linear", RadioButtons),
    writes=Checkbox(value=False, description=say("explorer.writes"), indent=False),
    reference=Checkbox(value=True, description=say("explorer.reference"), indent=False),
);
"""
TRIP = """
import ipywidgets
picture = ipywidgets.HTML()
ready = ipywidgets.Checkbox(description="ready")
def swap(_=None):
    drawing = f"<svg xmlns=%22http://www.w3.org/2000/svg%22 id=%22{ready.value}%22/>"
    picture.value = f'<img alt="" src="data:image/svg+xml,{drawing}">'
ready.observe(swap, "value")
swap()
ipywidgets.VBox([ready, picture], layout={"border": "1px solid"}).add_class("trip")
"""
PAGE = """() => {
    const box = document.createElement('div')
    const svg = id => `data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' id='${id}'/>`
    box.className = 'frame'
    box.style = 'position: fixed; right: 20px; bottom: 40px; z-index: 9999; background: white'
    box.innerHTML = `<button>swap</button><img alt="" src="${svg(0)}">`
    let id = 0
    box.querySelector('button').onclick = () => box.querySelector('img').src = svg(++id)
    document.body.append(box)
}"""
ARM = """box => {
    const before = box.querySelector('img').src
    let start
    document.addEventListener('click', event => start = event.timeStamp, {capture: true, once: true})
    window.painted = new Promise((resolve, reject) => {
        setTimeout(() => reject(new Error('no new picture after 30 seconds')), 30000)
        const watch = new MutationObserver(async () => {
            const image = box.querySelector('img')
            if (!image || image.src === before) return
            watch.disconnect()
            await image.decode()
            requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - start)))  // behind the frame
        })
        watch.observe(box, {subtree: true, childList: true, attributes: true})
    })
    window.painted.catch(() => {})
}"""


KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}}
CONTROLS = ("quantity", "axis", "writes", "reference")
CLICKS = 15  # for each kind and repetition, so that four controls with two states go through all sixteen
WAIT_AFTER_CLICK = 500  # ms, until what followed from it is over
WAIT_FOR_PAGE = 3000  # ms; a page that comes back asks the server for news


def rows(repeat, _=None):
    """Yield (measure, ours, theirs, "ms", bound of the ratio or None); medians."""
    from tests.support import browser  # needs Playwright

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "root")
        config = Path(folder, "config")
        root.mkdir()
        config.mkdir()
        for name, sources in (("ours", (OURS, TRIP)), ("usual", (INTERACT,))):
            cells = [nbformat.v4.new_code_cell(source.strip()) for source in sources]
            nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=KERNEL), root / f"{name}.ipynb")
        os.environ["PYTHONPATH"] = str(ROOT)
        with browser.lab(root, config) as address, browser.page() as (page, errors):
            pages = {"ours": page, "usual": page.context.browser.new_page()}
            notebooks = {}
            for name, opened in pages.items():
                opened.set_viewport_size({"width": 1280, "height": 2400})  # all in view, or Lab takes cells away
                notebooks[name] = browser.Notebook(opened, address, f"{name}.ipynb")
                notebooks[name].run_all()
            times = measure(notebooks, repeat)
            errors += [error for notebook in notebooks.values() for error in notebook.errors()]
            assert not errors, errors
    first, again, usual, trip, frame = (statistics.median(times[name]) for name in times)
    yield "click to picture, first visit, against interact", first, usual, "ms", 0.7
    yield "click to picture, revisit, against interact", again, usual, "ms", 0.4
    yield "click to picture, first visit, against a ready picture from the kernel (floor)", first, trip, "ms", None
    yield "click to picture, revisit, against a ready picture from the kernel (floor)", again, trip, "ms", None
    yield "a ready picture from the kernel against a frame of the browser", trip, frame, "ms", None


def path():
    """Return pairs (control, value) that lead through all 16 states of the controls, each change one click."""
    state = dict.fromkeys(CONTROLS, False)
    steps = []
    for step in range(1, CLICKS + 1):
        flipped = (step & -step).bit_length() - 1  # the place of the lowest 1: so goes the Gray code
        name = CONTROLS[flipped]
        state[name] = not state[name]
        steps.append((name, state[name]))
    return steps


def label_of(control, value):
    """Return the words beside a radio button, or a check box, of both explorers."""
    if control == "quantity":
        return say("quantity.rms" if value else "quantity.length")
    if control == "axis":
        return say("scale.log" if value else "scale.linear")
    return say(f"explorer.{control}")


def measure(notebooks, repeat):
    """Return ms from click to painted picture: "first", "again", "usual", "trip" and "frame", in turn."""
    page = notebooks["ours"].page
    other = notebooks["usual"].page
    page.evaluate(PAGE)
    boxes = {
        "ours": page.locator(".jp-OutputArea .widget-vbox", has=page.get_by_label("Token")).last,
        "trip": page.locator(".trip"),
        "frame": page.locator(".frame"),
        "usual": other.locator(".widget-interact"),
    }
    for box in boxes.values():
        box.locator("img").first.wait_for(state="attached")

    def click(name, target):
        notebook = notebooks["usual" if name == "usual" else "ours"]
        notebook.wait_until_idle()
        notebook.page.wait_for_timeout(WAIT_AFTER_CLICK)
        boxes[name].evaluate(ARM)
        target.click()
        return notebook.page.evaluate("window.painted")

    def click_through(name, steps):
        targets = [boxes[name].get_by_label(label_of(*step), exact=True) for step in steps]
        return [click(name, target) for target in targets]

    times = {name: [] for name in ("first", "again", "usual", "trip", "frame")}
    there = path()
    back = [(name, not value) for name, value in reversed(there)]
    for token in range(repeat):
        page.bring_to_front()
        boxes["ours"].get_by_label("Token").select_option(index=10 + token)  # of another token no state was seen
        page.wait_for_timeout(WAIT_FOR_PAGE)
        times["first"] += click_through("ours", there)
        times["again"] += click_through("ours", back)
        times["trip"] += [click("trip", boxes["trip"].get_by_label("ready")) for _ in range(CLICKS)]
        times["frame"] += [click("frame", boxes["frame"].locator("button")) for _ in range(CLICKS)]
        other.bring_to_front()
        other.wait_for_timeout(WAIT_FOR_PAGE)
        times["usual"] += click_through("usual", there + back)
    return times
