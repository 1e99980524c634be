"""A JupyterHub on this machine on which several students run a lesson at the same time.

    python tools/hub_trial.py [--users 4] [--lessons 01_layernorm 04_residual_stream] [--before "taskset -c 0"]

It starts a hub and its proxy on the loopback interface, logs the students in through the hub's own form, starts
their servers, and lets all of them run each lesson at once, cell by cell over the websocket, as JupyterLab does.
It prints for each student the time and the peak memory, and what is wrong with the outputs. Exit code 1 if anything is.

Beside requirements.txt it needs Linux, `pip install jupyterhub==6.1.1` and, with Node.js 20 or later,
`npm install -g configurable-http-proxy@5.3.0`. CI does not run it: it has no such Node.js, and installing would take
longer than the test. `pytest -m jupyterhub` tries it with two students and a notebook of three cells.

The hub is for this trial only: all students run as the user who starts it. SimpleLocalProcessSpawner tells a server
its limits of 2 GB and one core and enforces neither; the systemd spawner of The Littlest JupyterHub and Kubernetes do.
`--before` puts a command that limits (taskset, systemd-run) in front of each server.
"""

import argparse
import contextlib
import json
import re
import secrets
import shlex
import shutil
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import psutil
import requests
import websocket
from jupyter_client.session import Session

from notebook_files.directions import end
from notebook_files.layout import ROOT
from notebook_files.reading import read
from running.execution import CELL_LIMIT, peak_memory

START_LIMIT = 120  # seconds for the hub, and for a student's server
CONFIG = """
c.JupyterHub.bind_url = "http://127.0.0.1:{ports[0]}"
c.JupyterHub.hub_port = {ports[1]}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{ports[2]}"
c.JupyterHub.authenticator_class = "shared-password"
c.SharedPasswordAuthenticator.user_password = "{password}"
c.Authenticator.allow_all = True
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = "{folder}/{{username}}"
c.Spawner.cmd, c.Spawner.args = {command}, ["--allow-root"]
c.Spawner.environment = {{"OMP_NUM_THREADS": "1"}}
c.Spawner.mem_limit, c.Spawner.cpu_limit, c.Spawner.start_timeout = "2G", 1, {limit}
"""


@contextlib.contextmanager
def hub(folder, before=""):
    """Run a hub with the students' homes in a folder; yield (its address, the password, its process).

    Raises OSError if a program is missing or the hub does not answer within START_LIMIT seconds.
    """
    for program in ("jupyterhub", "jupyterhub-singleuser", "configurable-http-proxy"):
        if not shutil.which(program):
            raise OSError(f"{program} not found: the first lines of tools/hub_trial.py say what to install")
    from jupyterhub.utils import random_port  # not in the requirements

    ports, password = [random_port() for _ in range(3)], secrets.token_hex(16)
    command, log = [*shlex.split(before), shutil.which("jupyterhub-singleuser")], folder / "hub.log"
    text = CONFIG.format(ports=ports, password=password, folder=folder, command=command, limit=START_LIMIT)
    (folder / "jupyterhub_config.py").write_text(text, encoding="utf8")
    with log.open("w") as file:
        process = psutil.Popen(["jupyterhub"], cwd=folder, stdout=file, stderr=subprocess.STDOUT)
    try:
        url = f"http://127.0.0.1:{ports[0]}"
        wait(lambda: requests.get(f"{url}/hub/api", timeout=5).ok, lambda: f"no hub:\n{log.read_text()[-2000:]}")
        yield url, password, process
    finally:
        family = [process, *process.children(recursive=True)] if process.is_running() else []
        process.terminate()  # which ends the proxy and the servers, too
        for each in psutil.wait_procs(family, timeout=20)[1]:
            each.kill()


def wait(done, message):
    """Wait until something is so. Raises OSError with a message, what a function returns, after START_LIMIT seconds."""
    limit = time.monotonic() + START_LIMIT
    while time.monotonic() < limit:
        with contextlib.suppress(requests.ConnectionError):
            if done():
                return
        time.sleep(0.2)
    raise OSError(message())


class Student:
    """A student with a server of their own. Raises OSError for what the hub or the server refuses."""

    def __init__(self, name, url, password):
        """Log in through the form and start the server."""
        start, self.name, self.url, self.web = time.perf_counter(), name, f"{url}/user/{name}", requests.Session()
        form = self.web.get(f"{url}/hub/login", timeout=START_LIMIT).text
        fields = {"username": name, "password": password, "_xsrf": re.search(r'"_xsrf" value="([^"]*)"', form)[1]}
        self.web.post(f"{url}/hub/login?next=/hub/spawn", fields, timeout=START_LIMIT).raise_for_status()
        self.web.headers["X-XSRFToken"] = self.web.cookies.get("_xsrf", path="/hub/")
        me = f"{url}/hub/api/users/{name}"
        wait(lambda: self.ask("get", me)["servers"].get("", {}).get("ready"), lambda: f"no server for {name}")
        self.key = {"Authorization": f"token {self.ask('post', f'{me}/tokens')['token']}"}
        self.web, self.seconds = requests.Session(), time.perf_counter() - start
        self.web.headers.update(self.key)

    def ask(self, method, url, **content):
        """Return what the hub or the server answers to a request."""
        answer = self.web.request(method, url, json=content or None, timeout=START_LIMIT)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def run(self, path):
        """Put a notebook into the student's home, run it and save it; return (seconds, the notebook)."""
        notebook, file = read(path), f"{self.url}/api/contents/{path.name}"
        self.ask("put", file, type="notebook", content=notebook)
        start, sessions = time.perf_counter(), f"{self.url}/api/sessions"
        made = self.ask("post", sessions, path=path.name, name="", type="notebook", kernel={"name": "python3"})
        self.session = f"{sessions}/{made['id']}"
        channels = f"{self.url.replace('http', 'ws', 1)}/api/kernels/{made['kernel']['id']}/channels"
        with contextlib.closing(websocket.create_connection(channels, CELL_LIMIT, header=self.key)) as channel:
            for cell in notebook.cells:
                if cell.cell_type == "code":
                    cell.outputs = execute(channel, cell.source)
        seconds = time.perf_counter() - start
        self.ask("put", file, type="notebook", content=notebook)
        return seconds, notebook

    def processes(self, process):
        """Return the student's processes below the hub's, "server" or "kernel" → process."""
        mine = [p for p in process.children(recursive=True) if p.environ().get("JUPYTERHUB_USER") == self.name]
        return {"kernel" if "ipykernel_launcher" in p.cmdline() else "server": p for p in mine}


def execute(channel, source):
    """Run a cell over a kernel's websocket; return its outputs. Raises OSError if the kernel dies or takes too long."""
    request = Session().msg("execute_request", {"code": source, "allow_stdin": False})
    channel.send(json.dumps(request | {"channel": "shell"}, default=str))
    outputs, waiting, limit = [], {"execute_reply", "idle"}, time.monotonic() + CELL_LIMIT
    while waiting:
        kind, data = channel.recv_data(control_frame=True)  # the server's pings, too, so that the limit is seen
        message = json.loads(data) if kind == websocket.ABNF.OPCODE_TEXT else {}  # binary messages are a widget's
        state = message.get("content", {}).get("execution_state")
        if state in ("restarting", "dead") or time.monotonic() > limit:
            raise OSError(f"the kernel {'died' if state else 'took too long'} at: {source[:60]!r}")
        if message.get("parent_header", {}).get("msg_id") == request["msg_id"]:
            waiting -= {message["msg_type"], state}
            if message["msg_type"] in ("stream", "display_data", "execute_result", "error"):
                outputs.append(nbformat.v4.output_from_msg(message))
    return outputs


def pictures(cell):
    """Return how many pictures a cell of a notebook shows."""
    return sum("".join(output.get("data", {}).get("text/html", "")).count("<img") for output in cell.outputs)


def wrong(notebook, original):
    """Return a line for each cell that ended in an error or shows fewer pictures than in the original."""
    lines = []
    for cell, before in zip(notebook.cells, original.cells):
        if cell.cell_type == "code":
            lines += [f"{cell.id}: {o.ename}: {o.evalue}" for o in cell.outputs if o.output_type == "error"]
            if pictures(cell) < pictures(before):
                lines.append(f"{cell.id}: {pictures(cell)} pictures, not {pictures(before)}")
    return lines


def lesson(students, path, process):
    """Let all students run a lesson at once; return the lines of the report and whether all went well."""
    together, report, good, memory = threading.Barrier(len(students)), [], True, 0
    with ThreadPoolExecutor(len(students)) as pool:
        results = list(pool.map(lambda student: (together.wait(), student.run(path))[1], students))
    for student, (seconds, notebook) in zip(students, results):
        own, faults = student.processes(process), wrong(notebook, read(path))
        peaks = ", ".join(f"{kind} {peak_memory(p.pid):.0f} MB" for kind, p in sorted(own.items()))
        busy = sum(own["kernel"].cpu_times()[:2])
        report += [f"{path.stem} {student.name}: {seconds:.0f} s, {busy:.0f} s of a core, peak {peaks}", *faults]
        good, memory = good and not faults, memory + sum(p.memory_full_info().pss for p in own.values()) / 2**20
    for student in students:
        student.ask("delete", student.session)
    return [*report, f"{path.stem}: all of them at the end, shared pages counted once: {memory:.0f} MB"], good


def trial(paths, count, before=""):
    """Let some students run notebooks; return the lines of the report and whether all went well. Raises OSError."""
    with tempfile.TemporaryDirectory() as folder, hub(Path(folder), before) as (url, password, process):
        with ThreadPoolExecutor(count) as pool:
            students = list(pool.map(lambda i: Student(f"student{i + 1}", url, password), range(count)))
        report, good = [], True
        for student in students:
            idle = peak_memory(student.processes(process)["server"].pid)
            report.append(f"{student.name}: server ready {student.seconds:.1f} s after the login form, {idle:.0f} MB")
        for path in paths:
            lines, well = lesson(students, path, process)
            report, good = report + lines, good and well
        others = [process, *(p for p in process.children() if p.environ().get("JUPYTERHUB_USER") is None)]
        return [*report, f"hub and proxy: peak {sum(peak_memory(p.pid) for p in others):.0f} MB"], good


def main():
    """Carry out the command of the command line and end with its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=4, help="how many students (4)")
    parser.add_argument("--lessons", nargs="+", default=["01_layernorm", "04_residual_stream"], metavar="LESSON")
    parser.add_argument("--before", default="", metavar="COMMAND", help="put in front of each student's server")
    args = parser.parse_args()
    end(trial, [ROOT / "notebooks" / "en" / f"{name}.ipynb" for name in args.lessons], args.users, args.before)


if __name__ == "__main__":
    main()
