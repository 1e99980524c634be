"""The folder binder/: its Dockerfile, its scripts in an environment of their own, and a lesson under Binder's limits.

Small random weights on a hub on loopback stand in for the checkpoints."""

import json
import os
import resource
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
import torch
from jupyterlab_server.settings_utils import _get_overrides

from notebook_files.layout import ROOT
from notebook_files.reading import read
from tests.support import stand_ins

BINDER = ROOT / "binder"
INDEX = "--extra-index-url https://download.pytorch.org/whl/cpu"
GB = 2**30


def lines(path):
    return [line for line in path.read_text(encoding="utf8").splitlines() if line and not line.startswith("#")]


def test_the_pins_are_those_of_the_root_file():
    assert lines(BINDER / "requirements.txt") == [INDEX, *(p for p in lines(ROOT / "requirements.txt") if p != ".")]


def test_files_have_line_ends_that_linux_reads():
    assert "* text=auto eol=lf" in lines(ROOT / ".gitattributes")
    for path in BINDER.iterdir():
        assert b"\r" not in path.read_bytes(), path


@pytest.mark.slow
def test_repo2docker_renders_the_dockerfile():
    command = [
        sys.executable,
        "-m",
        "repo2docker",
        "--no-build",
        "--debug",
        "--user-id=1000",
        "--user-name=jovyan",
        ROOT,
    ]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    dockerfile = run.stdout
    assert "Building conda environment for python=3.11" in run.stderr
    steps = [
        'RUN ${KERNEL_PYTHON_PREFIX}/bin/pip install --no-cache-dir -r "binder/requirements.txt"',
        "COPY --chown=1000:1000 src/ ${REPO_DIR}/",  # after the installation, which is thus kept between commits
        "RUN ./binder/postBuild",
        'ENV R2D_ENTRYPOINT="${REPO_DIR}/binder/start"',
    ]
    found = [dockerfile.find(step) for step in steps]
    assert -1 not in found and found == sorted(found), dockerfile
    assert dockerfile.count("pip install") == 1


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return stand_ins.make_folders(tmp_path_factory.mktemp("repositories"), layers=12)


@pytest.fixture(scope="module")
def project(tmp_path_factory, folders):
    return stand_ins.copy_project(tmp_path_factory.mktemp("binder") / "project", folders)


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """An environment of its own that sees the packages of this one, but not `helpers`: as after requirements.txt."""
    prefix = tmp_path_factory.mktemp("environment")
    venv.create(prefix)
    site = sysconfig.get_path("purelib", vars={"base": str(prefix)})
    Path(site, "packages.pth").write_text(sysconfig.get_path("purelib"))
    return prefix


def run(command, prefix, project, limit=None, **env):
    """Run a command in the copy of the project as Binder does; limit: bytes of memory that a process may address."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "PYTHONPATH", "OMP_"))}
    env = kept | {"PATH": f"{prefix / 'bin'}{os.pathsep}{os.environ['PATH']}"} | env
    bound = limit and (lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    options = {"cwd": project, "env": env, "preexec_fn": bound, "capture_output": True, "text": True, "timeout": 300}
    result = subprocess.run([str(part) for part in command], **options)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def session(prefix, project):
    """Return what a session started by `start` finds: its variables, and where `helpers` is imported from."""
    code = "import json, os, helpers; print(json.dumps([dict(os.environ), helpers.__file__]))"
    # from another folder, since the project's own holds a folder `helpers`
    return json.loads(run([project / "binder/start", "python", "-c", code], prefix, project.parent))


@pytest.mark.parametrize("present", [(), ("gpt2",)])
def test_an_image_without_all_checkpoints(present, prefix, project, folders):
    """The build succeeds, and the sessions may ask the hub for what is missing."""
    with stand_ins.serve({name: folders[name] for name in present}) as hub:
        told = run(
            [project / "binder/postBuild"], prefix, project, HF_ENDPOINT=hub.url if present else "http://127.0.0.1:9"
        )
    for name, title in {"gpt2": "GPT-2 small", "gpt1": "GPT-1"}.items():
        assert (f"{title} could not be loaded" in told) == (name not in present)
    env, _ = session(prefix, project)
    assert "HF_HUB_OFFLINE" not in env and env["OMP_NUM_THREADS"] == "1"
    code = "from helpers import models; print([models.load(name).name for name in models.CHECKPOINTS])"
    told = run(
        [project / "binder/start", "python", "-c", code], prefix, project.parent, HF_ENDPOINT="http://127.0.0.1:9"
    )
    assert told.splitlines()[-1] == str([name if name in present else f"bundled/ln-{p}" for name, p in PLACEMENTS])


PLACEMENTS = (("gpt2", "pre"), ("gpt1", "post"))


@pytest.mark.skipif(torch.version.cuda is not None, reason="Binder installs torch without CUDA, which is smaller")
def test_a_lesson_from_the_image_under_binders_limits(prefix, project, folders):
    """postBuild fetches both checkpoints; then lesson 4 runs without a network, within 2 GB of addresses."""
    with stand_ins.serve(folders) as hub:
        told = run([project / "binder/postBuild"], prefix, project, HF_ENDPOINT=hub.url)
        assert "could not be loaded" not in told
    env, helpers = session(prefix, project)
    assert env["HF_HUB_OFFLINE"] == env["OMP_NUM_THREADS"] == "1"
    assert Path(env["HF_HOME"]).is_relative_to(prefix) and Path(helpers).is_relative_to(prefix)
    overrides, error = _get_overrides(str(prefix / "share/jupyter/lab/settings"))
    assert overrides["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false" and not error

    path = project / "notebooks/en/04_residual_stream.ipynb"
    # random weights leave the bounds of the claims, and `run` says so by its exit code
    command = f"python tools/notebooks.py run {path} || true"
    told = run([project / "binder/start", "bash", "-c", command], prefix, project, limit=2 * GB)
    peak = int(told.split("peak ")[1].split(" MB")[0])
    assert 200 < peak < 1300
    cells = {cell.id: cell for cell in read(path).cells if cell.cell_type == "code"}
    assert cells["load"].outputs[0].text.splitlines()[0] == "gpt2"
    assert "could not be loaded" not in json.dumps([cell.outputs for cell in cells.values()])
    assert cells["explorer"].outputs
