"""A hub on loopback that serves two small checkpoints and a small Llama, and a cache of its own."""

import json
import os
import subprocess
import sys

import pytest
from huggingface_hub import close_session, constants

from helpers import models
from tests.support import loopback_hub

REPOS = {"gpt2": "openai-community/gpt2", "gpt1": "openai-community/openai-gpt"}
STAND_INS = {"gpt2": "bundled/ln-pre", "gpt1": "bundled/ln-post"}
LLAMA = "students/small-llama"


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    """The repositories' folders by the models' names."""
    root = tmp_path_factory.mktemp("repositories")
    return {
        "gpt2": loopback_hub.make_gpt2_folder(root / "gpt2"),
        "gpt1": loopback_hub.make_gpt1_folder(root / "gpt1"),
        LLAMA: loopback_hub.make_llama_folder(root / "llama"),
    }


@pytest.fixture(scope="session")
def pins(folders):
    """Entries for `models.CHECKPOINTS` that fit the folders: GPT-2 pinned, GPT-1 not."""
    return {
        "gpt2": loopback_hub.checkpoint(folders["gpt2"], REPOS["gpt2"], STAND_INS["gpt2"]),
        "gpt1": loopback_hub.checkpoint(folders["gpt1"], REPOS["gpt1"], STAND_INS["gpt1"], "main", pinned=False),
    }


@pytest.fixture
def hub(folders, pins, tmp_path, monkeypatch):
    """A healthy hub and an empty cache."""
    repositories = {REPOS.get(name, name): folder for name, folder in folders.items()}
    with loopback_hub.Hub(repositories) as server:
        point_to(monkeypatch, server.url)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "home" / "hub"))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        for name, entry in pins.items():
            monkeypatch.setitem(models.CHECKPOINTS, name, entry)
        yield server
    close_session()


def point_to(monkeypatch, url):
    """Do what the variable HF_ENDPOINT does for a process that starts with it."""
    close_session()
    monkeypatch.setattr(constants, "ENDPOINT", url)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", url + "/{repo_id}/resolve/{revision}/{filename}")


@pytest.fixture
def told():
    """A list that collects what a reader is told: models.load(name, tell=told.append)."""
    return []


SCRIPT = """
import json, sys, time
from helpers import language, models
imported = [name for name in ("transformers", "huggingface_hub", "tokenizers") if name in sys.modules]
given = json.loads(sys.stdin.read())
models.CHECKPOINTS.update(given["pins"])
language.use(given["language"])
start = time.monotonic()
found = models.load(given["name"])
print(json.dumps([found.name, time.monotonic() - start, imported, "transformers" in sys.modules]))
"""


def start_process(pins, name="gpt2", language="en", **environment):
    """Start a process that loads a model, with these environment variables; `result_of` waits for it."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("HF_")}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, "-c", SCRIPT], env=kept | environment, **pipes)
    process.stdin.write(json.dumps({"pins": pins, "name": name, "language": language}))
    process.stdin.close()
    process.stdin = None
    return process


def result_of(process):
    """Return (name of the model, seconds, what was printed, what `import helpers.models` brought along)."""
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert "Traceback" not in errors and "unauthenticated" not in errors
    *lines, result = output.splitlines()
    name, seconds, imported, transformers = json.loads(result)
    assert not transformers
    return name, seconds, " ".join(lines), imported
