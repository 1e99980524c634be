"""A hub on the loopback interface, and students who run notebooks on it; see __main__.py."""

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

START_LIMIT = 120  # seconds for the hub, and for a student's server
CELL_LIMIT = 120  # seconds
PROGRAMS = ("jupyterhub", "jupyterhub-singleuser", "configurable-http-proxy")
CONFIG = """
c.JupyterHub.bind_url = "http://127.0.0.1:{ports[0]}"
c.JupyterHub.hub_port = {ports[1]}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{ports[2]}"
c.JupyterHub.authenticator_class = "shared-password"
c.SharedPasswordAuthenticator.user_password = "{password}"
c.Authenticator.allow_all = True
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = "{folder}/{{username}}"
c.Spawner.cmd = {command}
c.Spawner.args = ["--allow-root"]
c.Spawner.environment = {{"OMP_NUM_THREADS": "1"}}
c.Spawner.mem_limit = "2G"
c.Spawner.cpu_limit = 1
c.Spawner.start_timeout = {limit}
"""


def run(paths, count, before=""):
    """Let some students run notebooks; return the lines of the report and whether all went well.

    before: a command in front of each student's server. Raises OSError if a program is missing, and for what the hub,
    a server or a kernel refuses, ValueError for a file that is no notebook."""
    originals = {path: nbformat.read(path, as_version=4) for path in paths}
    report = []
    good = True
    with tempfile.TemporaryDirectory() as folder, hub(Path(folder), before) as (url, password, process):
        names = [f"student{number}" for number in range(1, count + 1)]
        with ThreadPoolExecutor(count) as pool:
            students = list(pool.map(lambda name: Student(name, url, password), names))
        for student in students:
            idle = peak_memory(student.processes(process)["server"].pid)
            report.append(f"{student.name}: server ready {student.seconds:.1f} s after the login form, {idle:.0f} MB")
        for path, original in originals.items():
            lines, is_good = lesson(students, path.name, original, process)
            report += lines
            good = good and is_good
        others = [process] + [each for each in process.children() if owner(each) is None]
        report.append(f"hub and proxy: peak {sum(peak_memory(each.pid) for each in others):.0f} MB")
    return report, good


# the hub


@contextlib.contextmanager
def hub(folder, before=""):
    """Run a hub with the students' homes in a folder; yield (its address, the password, its process).

    Raises OSError if a program is missing or the hub does not answer within START_LIMIT seconds.
    """
    for program in PROGRAMS:
        if not shutil.which(program):
            raise OSError(f"{program} not found: python -m tests.jupyterhub --help says what to install")
    from jupyterhub.utils import random_port  # not in the requirements

    ports = [random_port() for _ in range(3)]
    password = secrets.token_hex(16)
    command = [*shlex.split(before), shutil.which("jupyterhub-singleuser")]
    log = folder / "hub.log"
    text = CONFIG.format(ports=ports, password=password, folder=folder, command=command, limit=START_LIMIT)
    (folder / "jupyterhub_config.py").write_text(text, encoding="utf8")
    with log.open("w") as file:
        process = psutil.Popen(["jupyterhub"], cwd=folder, stdout=file, stderr=subprocess.STDOUT)
    url = f"http://127.0.0.1:{ports[0]}"
    try:
        if not comes_true(lambda: requests.get(f"{url}/hub/api", timeout=5).ok):
            raise OSError(f"no hub:\n{log.read_text()[-2000:]}")
        yield url, password, process
    finally:
        family = [process, *process.children(recursive=True)] if process.is_running() else []
        process.terminate()  # which ends the proxy and the servers, too
        _, alive = psutil.wait_procs(family, timeout=20)
        for each in alive:
            each.kill()


def comes_true(is_done):
    """Wait until something is so; tell whether it was within START_LIMIT seconds."""
    limit = time.monotonic() + START_LIMIT
    while time.monotonic() < limit:
        with contextlib.suppress(requests.ConnectionError):
            if is_done():
                return True
        time.sleep(0.2)
    return False


def owner(process):
    """Return the student to whom a process belongs, None for the hub's own."""
    return process.environ().get("JUPYTERHUB_USER")


def peak_memory(pid):
    """Return the peak resident memory of a process in MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024


# a student


class Student:
    """A student with a server of their own. Raises OSError for what the hub or the server refuses."""

    def __init__(self, name, url, password):
        """Log in through the form and start the server."""
        start = time.perf_counter()
        self.name = name
        self.url = f"{url}/user/{name}"
        self.web = requests.Session()
        form = self.web.get(f"{url}/hub/login", timeout=START_LIMIT).text
        fields = {"username": name, "password": password, "_xsrf": re.search(r'"_xsrf" value="([^"]*)"', form)[1]}
        self.web.post(f"{url}/hub/login?next=/hub/spawn", fields, timeout=START_LIMIT).raise_for_status()
        self.web.headers["X-XSRFToken"] = self.web.cookies.get("_xsrf", path="/hub/")
        me = f"{url}/hub/api/users/{name}"
        if not comes_true(lambda: self.ask("get", me)["servers"].get("", {}).get("ready")):
            raise OSError(f"no server for {name}")
        token = self.ask("post", f"{me}/tokens")["token"]
        self.key = {"Authorization": f"token {token}"}
        self.web = requests.Session()
        self.web.headers.update(self.key)
        self.seconds = time.perf_counter() - start

    def ask(self, method, url, **content):
        """Return what the hub or the server answers to a request."""
        answer = self.web.request(method, url, json=content or None, timeout=START_LIMIT)
        answer.raise_for_status()
        return answer.json() if answer.content else None

    def run(self, name, original):
        """Put a notebook into the student's home, run it and save it; return (seconds, the notebook)."""
        notebook = nbformat.from_dict(original)
        file = f"{self.url}/api/contents/{name}"
        self.ask("put", file, type="notebook", content=notebook)
        start = time.perf_counter()
        sessions = f"{self.url}/api/sessions"
        made = self.ask("post", sessions, path=name, name="", type="notebook", kernel={"name": "python3"})
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
        found = {}
        for each in process.children(recursive=True):
            if owner(each) == self.name:
                kind = "kernel" if "ipykernel_launcher" in each.cmdline() else "server"
                found[kind] = each
        return found


def execute(channel, source, limit=CELL_LIMIT):
    """Run a cell over a kernel's websocket; return its outputs.

    limit: seconds. Raises OSError if the kernel dies or takes longer."""
    request = Session().msg("execute_request", {"code": source, "allow_stdin": False})
    channel.send(json.dumps(request | {"channel": "shell"}, default=str))
    outputs = []
    waiting_for = {"execute_reply", "idle"}
    end = time.monotonic() + limit
    while waiting_for:
        kind, data = channel.recv_data(control_frame=True)  # the server's pings, too, so that the limit is seen
        message = json.loads(data) if kind == websocket.ABNF.OPCODE_TEXT else {}  # binary messages are a widget's
        state = message.get("content", {}).get("execution_state")
        if state in ("restarting", "dead"):
            raise OSError(f"the kernel died at: {source[:60]!r}")
        if time.monotonic() > end:
            raise OSError(f"the kernel took too long at: {source[:60]!r}")
        if message.get("parent_header", {}).get("msg_id") == request["msg_id"]:
            waiting_for -= {message["msg_type"], state}
            if message["msg_type"] in ("stream", "display_data", "execute_result", "error"):
                outputs.append(nbformat.v4.output_from_msg(message))
    return outputs


# what came out


def lesson(students, name, original, process):
    """Let all students run a lesson at once; return the lines of the report and whether all went well."""
    together = threading.Barrier(len(students))

    def run_with_the_others(student):
        together.wait()
        return student.run(name, original)

    with ThreadPoolExecutor(len(students)) as pool:
        results = list(pool.map(run_with_the_others, students))
    title = name.removesuffix(".ipynb")
    report = []
    good = True
    memory = 0
    for student, (seconds, notebook) in zip(students, results, strict=True):
        own = student.processes(process)
        faults = wrong(notebook, original)
        peaks = ", ".join(f"{kind} {peak_memory(each.pid):.0f} MB" for kind, each in sorted(own.items()))
        times = own["kernel"].cpu_times()
        busy = times.user + times.system
        report += [f"{title} {student.name}: {seconds:.0f} s, {busy:.0f} s of a core, peak {peaks}", *faults]
        good = good and not faults
        memory += sum(each.memory_full_info().pss for each in own.values()) / 2**20
    for student in students:
        student.ask("delete", student.session)
    report.append(f"{title}: all of them at the end, shared pages counted once: {memory:.0f} MB")
    return report, good


def pictures(cell):
    """Return how many pictures a cell of a notebook shows."""
    return sum("".join(output.get("data", {}).get("text/html", "")).count("<img") for output in cell.outputs)


def wrong(notebook, original):
    """Return a line for each cell that ended in an error or shows fewer pictures than in the original."""
    lines = []
    for cell, before in zip(notebook.cells, original.cells, strict=True):
        if cell.cell_type != "code":
            continue
        errors = [output for output in cell.outputs if output.output_type == "error"]
        lines += [f"{cell.id}: {error.ename}: {error.evalue}" for error in errors]
        if pictures(cell) < pictures(before):
            lines.append(f"{cell.id}: {pictures(cell)} pictures, not {pictures(before)}")
    return lines
