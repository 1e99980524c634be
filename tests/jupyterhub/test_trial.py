"""The trial with a JupyterHub: what it sees in outputs and messages; with -m jupyterhub, two students on a real one."""

import json

import nbformat
import pytest
import websocket

from tests.jupyterhub import trial


def notebook(*sources):
    cells = [nbformat.v4.new_code_cell(source, id=f"cell-{i}") for i, source in enumerate(sources)]
    return nbformat.v4.new_notebook(cells=cells)


def shown(html):
    return nbformat.v4.new_output("display_data", {"text/html": html})


def test_errors_and_missing_pictures_are_found():
    original, run = notebook("a", "b", "c"), notebook("a", "b", "c")
    original.cells[0].outputs = [shown("<img><img>")]
    original.cells[1].outputs = run.cells[1].outputs = [shown("<img>")]
    run.cells[0].outputs = [shown("<img>"), shown("<p>")]
    run.cells[2].outputs = [nbformat.v4.new_output("error", ename="MemoryError", evalue="full")]
    assert trial.wrong(run, original) == ["cell-0: 1 pictures, not 2", "cell-2: MemoryError: full"]


PING = b"ping"


class Channel:
    """A kernel's websocket that answers a request with these messages, then with the server's pings only."""

    def __init__(self, *messages):
        self.messages = list(messages)

    def send(self, text):
        self.request = json.loads(text)

    def recv_data(self, control_frame):
        message = self.messages.pop(0) if self.messages else PING
        if message == PING or isinstance(message, bytes):
            return (websocket.ABNF.OPCODE_PING if message == PING else websocket.ABNF.OPCODE_BINARY), message
        kind, content = message
        parent = "another" if content.get("name") == "foreign" else self.request["msg_id"]
        header = {"msg_type": kind, "content": content, "metadata": {}, "parent_header": {"msg_id": parent}}
        return websocket.ABNF.OPCODE_TEXT, json.dumps(header | {"header": {"msg_type": kind}}).encode()


def test_outputs_are_those_of_the_cell_until_the_kernel_is_idle_and_has_replied():
    channel = Channel(
        ("status", {"execution_state": "busy"}),
        ("stream", {"name": "foreign", "text": "no"}),
        b"buffers of a widget",
        ("execute_reply", {"status": "ok"}),
        ("stream", {"name": "stdout", "text": "yes"}),
        ("display_data", {"data": {"text/html": "<img>"}, "metadata": {}}),
        ("status", {"execution_state": "idle"}),
        ("stream", {"name": "stdout", "text": "too late"}),
    )
    outputs = trial.execute(channel, "x")
    assert channel.request["channel"] == "shell" and channel.request["content"]["code"] == "x"
    assert [output.get("text") for output in outputs] == ["yes", None] and outputs[1].data["text/html"] == "<img>"


def test_a_silent_kernel_ends_the_trial_with_a_sentence():
    with pytest.raises(OSError, match="the kernel took too long at: 'x = 1'"):
        trial.execute(Channel(("execute_reply", {"status": "ok"})), "x = 1", limit=0)


def test_a_kernel_that_is_killed_ends_the_trial_with_a_sentence():
    with pytest.raises(OSError, match="the kernel died at: 'x = 1'"):
        trial.execute(Channel(("status", {"execution_state": "restarting"})), "x = 1")


def test_a_missing_program_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(OSError, match="jupyterhub not found"), trial.hub(tmp_path):
        pass


@pytest.mark.jupyterhub
def test_two_students_run_a_notebook_at_once(tmp_path):
    path, picture = tmp_path / "small.ipynb", "display({'text/html': '<img>'}, raw=True)"
    small = notebook("x = 1", picture, "print(x)")
    small.cells[1].outputs = [shown("<img>")]
    nbformat.write(small, path)
    report, good = trial.run([path], 2)
    assert good and sum("small student" in line for line in report) == 2, report

    small.cells[1].source = "raise MemoryError('full')"
    nbformat.write(small, path)
    report, good = trial.run([path], 1)
    assert not good and "cell-1: MemoryError: full" in report and "cell-1: 0 pictures, not 1" in report
