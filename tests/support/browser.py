"""JupyterLab on loopback and a Chromium that looks at it, for the tests of notebooks and widgets."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import sync_playwright

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
LEFTOVERS = Path(os.environ.get("LEFTOVERS", "leftovers"))  # screenshots stay here


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def lab(root, config):
    """Run JupyterLab on a folder, with its own configuration folder; yields its address."""
    port = free_port()
    command = [
        sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}",
        "--ServerApp.port_retries=0", "--IdentityProvider.token=", f"--ServerApp.root_dir={root}",
        "--expose-app-in-browser",
    ]  # fmt: skip
    env = os.environ | {"JUPYTER_CONFIG_DIR": str(config), "JUPYTER_DATA_DIR": str(config / "data")}
    log = (config / "lab.log").open("w")
    server = subprocess.Popen(command, env=env, stdout=log, stderr=log, start_new_session=True)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(240):
            try:
                urllib.request.urlopen(f"{address}/api", timeout=2)
                break
            except OSError:
                assert server.poll() is None, (config / "lab.log").read_text()
                time.sleep(0.5)
        yield address
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(20)
        log.close()


@contextmanager
def window():
    """Start Chromium; yields what opens pages of 1280 × 900 pixels, which share what was loaded once."""
    program = shutil.which("chromium")
    assert program, "the browser tests need chromium; .ci/run installs it"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield chromium.new_context(viewport={"width": 1280, "height": 900})
        chromium.close()


def new_page(opened_window):
    """Open a page in a window; return it and the list of its console's errors, which fills later."""
    errors = []
    opened = opened_window.new_page()
    opened.on("pageerror", lambda error: errors.append(str(error)))
    return opened, errors


@contextmanager
def page():
    """Open a page in a Chromium of its own; yields (page, list of the console's errors)."""
    with window() as opened_window:
        yield new_page(opened_window)


class Notebook:
    """A notebook that is open in JupyterLab."""

    def __init__(self, page, address, path):
        self.page = page
        page.goto(f"{address}/lab/workspaces/e2e/tree/{path}?reset")
        page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=120_000)
        self.wait_until_idle()

    def wait_until_idle(self, seconds=120):
        """The status bar tells the truth; the indicator on the toolbar is idle too early."""
        self.page.wait_for_function(
            "document.querySelector('#jp-main-statusbar')?.innerText.includes('Python 3 (ipykernel) | Idle')",
            timeout=seconds * 1000,
        )

    def menu(self, *entries):
        """Choose an entry of the main menu, for example "Run", "Run All Cells"."""
        self.page.click(f"#jp-MainMenu >> text={entries[0]}")
        self.page.click(f".lm-Menu-itemLabel:text-is('{entries[1]}')")

    def run_all(self, seconds=180):
        """Forget the stored outputs, run all cells, and wait until each has run or one has failed."""
        self.clear()
        self.menu("Run", "Run All Cells")
        self.page.wait_for_function(
            """() => {
              const cells = jupyterapp.shell.currentWidget.content.widgets
              const code = cells.map(cell => cell.model).filter(model => model.type === "code")
              const failed = code.some(model => model.outputs.toJSON().some(output => output.output_type === "error"))
              return failed || code.every(model => model.executionCount !== null && model.executionState === "idle")
            }""",
            timeout=seconds * 1000,
        )
        self.wait_until_idle(seconds)

    def errors(self):
        """Return the texts of outputs that are errors or warnings; JupyterLab shows both in the same way."""
        return self.page.locator(
            ".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stderr']"
        ).all_text_contents()

    def scroll_to_end(self):
        """Lab draws cells when they come into view, so go through all of them once."""
        self.page.evaluate("document.querySelector('.jp-WindowedPanel-outer').scrollTo(0, 1e9)")
        self.page.wait_for_timeout(800)

    def add_cell(self, source):
        """Add a code cell at the end and select it."""
        self.page.evaluate(
            """source => {
              const { content } = jupyterapp.shell.currentWidget;
              content.model.sharedModel.addCell({ cell_type: "code", source });
              content.activeCellIndex = content.widgets.length - 1;
            }""",
            source,
        )

    def clear(self):
        self.menu("Edit", "Clear Outputs of All Cells")

    def save(self):
        self.page.keyboard.press("Control+s")
        self.page.wait_for_function("!document.querySelector('.jp-mod-dirty')")

    def use_theme(self, name):
        self.page.evaluate("name => jupyterapp.commands.execute('apputils:change-theme', {theme: name})", name)
        self.page.wait_for_function("name => document.body.dataset.jpThemeName === name", arg=name)

    def shut_down(self):
        """End the kernel, so that its memory is free for the next notebook."""
        self.menu("Kernel", "Shut Down Kernel")

    def shot(self, name):
        LEFTOVERS.mkdir(exist_ok=True)
        self.page.screenshot(path=LEFTOVERS / f"{name}.png")
