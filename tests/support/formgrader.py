"""nbgrader's formgrader on loopback, as a teacher starts it in a course's folder, and answers that attack it."""

import os
import signal
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager

from tests.support.browser import free_port

# With the teacher's session: reads the grades of the submission on the page and writes full points for all of them.
SET_MARKS = """
const cookie = document.cookie.split("; ").find(part => part.startsWith("_xsrf=")).slice(6);
const submission = location.pathname.split("/submissions/")[1].split("/")[0];
fetch("/formgrader/api/grades?submission_id=" + submission).then(reply => reply.json()).then(grades =>
  grades.forEach(grade => fetch("/formgrader/api/grade/" + grade.id, {
    method: "PUT",
    headers: {"X-XSRFToken": cookie, "Content-Type": "application/json"},
    body: JSON.stringify({manual_score: grade.max_score, extra_credit: 10}),
  })));
window.attacked = true;
""".replace("\n", " ")


def attacks():
    """Return answers in Markdown that try to run SET_MARKS, in the ways that pages of HTML offer."""
    quoted = SET_MARKS.replace("&", "&amp;").replace('"', "&quot;")
    of_the_parent = SET_MARKS.replace("document", "parent.document").replace("location", "parent.location")
    page = f"<script>(function(){{ {of_the_parent} }})()</script>"
    unquoted = SET_MARKS.replace("'", "")
    framed = page.replace("&", "&amp;").replace('"', "&quot;")
    return {
        "script": f"<script>{SET_MARKS}</script>",
        "event": f'<img src="nowhere" onerror="{quoted}">',
        "svg": f'<svg onload="{quoted}"></svg>',
        "details": f'<details open ontoggle="{quoted}"><summary>s</summary>t</details>',
        "focus": f'<input autofocus onfocus="{quoted}">',
        "frame": f'<iframe srcdoc="{framed}"></iframe>',
        "style": f'<style>@keyframes k {{}}</style><p style="animation: k 1s" onanimationstart="{quoted}">t</p>',
        "mathml": "<math><mtext><table><mglyph><style><!--</style>"
        f'<img title="--&gt;&lt;img src=1 onerror={quoted}&gt;">',
        "noscript": f"<noscript><p title=\"</noscript><img src=1 onerror='{unquoted}'>\"></noscript>",
    }


@contextmanager
def formgrader(course, config):
    """Run a Jupyter server in a course's folder, with its own configuration folder; yields its address."""
    port = free_port()
    command = [
        sys.executable, "-m", "jupyter", "server", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}",
        "--ServerApp.port_retries=0", "--IdentityProvider.token=", f"--ServerApp.root_dir={course}",
    ]  # fmt: skip
    env = os.environ | {"JUPYTER_CONFIG_DIR": str(config), "JUPYTER_DATA_DIR": str(config / "data")}
    with (config / "server.log").open("w") as log:
        server = subprocess.Popen(command, cwd=course, env=env, stdout=log, stderr=log, start_new_session=True)
        try:
            wait_for(f"http://127.0.0.1:{port}/api", server, config / "server.log")
            yield f"http://127.0.0.1:{port}"
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            server.wait(20)


def wait_for(address, server, log):
    """Wait until a server answers; fail with its log if it ends."""
    for _ in range(240):
        try:
            urllib.request.urlopen(address, timeout=2)
            return
        except OSError:
            assert server.poll() is None, log.read_text()
            time.sleep(0.5)
    raise AssertionError(log.read_text())
