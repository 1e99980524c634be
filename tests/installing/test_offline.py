"""A room without a network: a stick is filled, and from it a computer that is cut off gets the lessons and runs one."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from huggingface_hub import close_session, constants

import install
import offline
from helpers import language, models
from notebook_files.layout import LANGUAGES
from tests.support import loopback_hub as loopback

# a network of its own, in which only this machine exists, and a list of all addresses that a process turns to
CUT_OFF = 'ip link set lo up; exec strace -f --seccomp-bpf -qq -e trace=connect,sendto,sendmsg -o "$0" -- "$@"'
ENDS = re.compile(r'htons\((\d+)\).*?(?:inet_addr\("|inet_pton\(AF_INET6, ")([^"]+)')
programs = pytest.mark.skipif(
    not all(map(shutil.which, ("unshare", "ip", "strace"))) and "CI" not in os.environ,
    reason="unshare, ip or strace is missing",
)

same_python = pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="the stick's packages are for Python 3.11, and install.py refuses another"
)


def cut_off(log, *command, **options):
    """Run a command without a network; return its result and the set of (port, address) that are not this machine.

    A question to a name server counts as well, wherever that is."""
    words = ["unshare", "-rn", "sh", "-c", CUT_OFF, str(log), *map(str, command)]
    result = subprocess.run(words, capture_output=True, encoding="utf8", timeout=600, **options)
    found = set(ENDS.findall(log.read_text(encoding="utf8", errors="replace")))
    return result, {(port, host) for port, host in found if port == "53" or host not in ("127.0.0.1", "::1")}


def no_packages(wheels, *_):
    wheels.mkdir(parents=True, exist_ok=True)


@pytest.fixture(scope="module")
def stick(tmp_path_factory):
    """Return a folder filled with everything but the weights."""
    stick = tmp_path_factory.mktemp("stick") / "for the class"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(constants, "HF_HUB_OFFLINE", True)
        patch.setattr(constants, "HF_HUB_CACHE", str(stick / "nowhere"))
        offline.fill(stick, "sv")
    return stick


@pytest.fixture
def light(tmp_path, monkeypatch):
    """Return a filled folder without packages, for what does not need them."""
    monkeypatch.setattr(offline, "fetch", no_packages)
    monkeypatch.setattr(offline, "copy_weights", lambda cache: [])
    offline.fill(tmp_path / "stick", "de")
    return tmp_path / "stick"


def refused(*words, stick):
    """Return the sentence with which install.py ends."""
    with pytest.raises(SystemExit) as end:
        install.main([str(word) for word in words], stick)
    return end.value.code


def sentence(key, lang="de", **values):
    return install.TEXTS[lang][key].format(**values)


# the whole way


@programs
@same_python
def test_a_lesson_runs_where_no_network_is_and_none_is_asked_for(stick, tmp_path):
    folder, log = tmp_path / "Kurs Müller (2)", tmp_path / "addresses"
    result, asked = cut_off(log, sys.executable, "-I", stick / "install.py", folder)
    assert result.returncode == 0, result.stdout + result.stderr
    assert not asked
    assert result.stdout.split("\n")[1] == sentence("done", "sv", start=folder / "start.sh")
    script = (folder / "start.sh").read_text()
    assert "notebooks/sv/01_layernorm.ipynb" in script and "exec .venv/bin/python -m jupyterlab" in script
    # what start.sh sets, but another program of Jupyter's: one that runs the lesson and ends
    script = re.sub(r"-m jupyterlab .*", '-m nbconvert --to notebook --execute --inplace "$1"', script)
    (folder / "run.sh").write_text(script)
    outside = {key: os.environ[key] for key in ("PATH", "HOME")} | {"OMP_NUM_THREADS": "1"}
    lesson = folder / "notebooks" / "en" / "04_residual_stream.ipynb"
    before = nbformat.read(lesson, 4)
    result, asked = cut_off(log, "sh", folder / "run.sh", lesson, env=outside)
    assert result.returncode == 0, result.stderr[-2000:]
    assert not asked
    after = nbformat.read(lesson, 4)
    run = [cell.metadata.get("execution", {}) for cell in after.cells if cell.cell_type == "code"]
    assert len(run) > 20 and all(run) and after != before


@programs
@pytest.mark.slow
def test_the_list_of_addresses_would_show_an_attempt(tmp_path):
    code = "import socket, sys\ntry: socket.create_connection((sys.argv[1], 80), 3)\nexcept OSError: pass"
    assert cut_off(tmp_path / "log", sys.executable, "-c", code, "192.0.2.1")[1] == {("80", "192.0.2.1")}
    assert {port for port, _ in cut_off(tmp_path / "log", sys.executable, "-c", code, "hub.example")[1]} == {"53"}
    assert not cut_off(tmp_path / "log", sys.executable, "-c", code, "127.0.0.1")[1]


def test_stick_holds_no_links_no_solutions_and_only_names_that_windows_knows(stick):
    contents = json.loads((stick / "stick.json").read_text())
    names = set(contents["files"])
    assert not [path for path in stick.rglob("*") if path.is_symlink()]
    assert not [name for name in names if re.search(r'[<>:"|?*\\]|/(solutions|\.|__pycache__)', name)]
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", (stick / "project/README.md").read_text(encoding="utf8")):
        assert (stick / "project" / target).exists(), target
    assert {
        "project/notebooks/de/assignments/02_rmsnorm.ipynb",
        "project/helpers/models/bundled/ln-pre.safetensors",
    } <= names
    assert max((stick / name).stat().st_size for name in names) < 2**32  # FAT
    assert contents["lang"] == "sv" and list(contents["platforms"]) == [install.HERE]


# the weights


@pytest.mark.slow
def test_weights_lie_on_the_stick_as_plain_files_and_are_checked_where_they_are_used(tmp_path, monkeypatch, capsys):
    repos = {"gpt2": "openai-community/gpt2", "gpt1": "openai-community/openai-gpt"}
    folders = {
        "gpt2": loopback.make_gpt2_folder(tmp_path / "gpt2"),
        "gpt1": loopback.make_gpt1_folder(tmp_path / "gpt1"),
    }
    pins = {"gpt2": loopback.checkpoint(folders["gpt2"], repos["gpt2"], "bundled/ln-pre")}
    pins["gpt1"] = loopback.checkpoint(folders["gpt1"], repos["gpt1"], "bundled/ln-post", "main", pinned=False)
    for name, entry in pins.items():
        monkeypatch.setitem(models.CHECKPOINTS, name, entry)
    cache = tmp_path / "stick" / "weights" / "hub"
    with loopback.Hub({repos[name]: folder for name, folder in folders.items()}) as server:
        close_session()
        monkeypatch.setattr(constants, "ENDPOINT", server.url)
        monkeypatch.setattr(
            constants, "HUGGINGFACE_CO_URL_TEMPLATE", server.url + "/{repo_id}/resolve/{revision}/{filename}"
        )
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "home" / "hub"))
        assert offline.copy_weights(cache) == ["GPT-2 small", "GPT-1"]
        asked = len(server.requests)
        assert offline.copy_weights(cache) == ["GPT-2 small", "GPT-1"] and len(server.requests) == asked
    close_session()
    assert not [path for path in cache.rglob("*") if path.is_symlink()]
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert [models.load(name).name for name in pins] == ["gpt2", "gpt1"]
    weights = next(cache.glob("*--gpt2/snapshots/*/model.safetensors"))
    weights.write_bytes(weights.read_bytes()[:-1] + b"?")
    assert models.load("gpt2").name == "bundled/ln-pre"


# what goes wrong


@pytest.mark.parametrize("lang", LANGUAGES)
def test_weights_that_cannot_be_fetched_are_named_with_the_reason(lang, tmp_path, monkeypatch, capsys):
    """The sentence is the lesson's and comes whole, whatever its language and its words; then, what to do here."""
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    language.use(lang)
    sentences = []
    for name in models.CHECKPOINTS:
        models.load(name, tell=sentences.append)
    assert offline.copy_weights(tmp_path / "stick") == []
    told = capsys.readouterr().out.splitlines()
    assert len(told) == 2 * len(sentences)
    assert all(line.endswith(sentence) for line, sentence in zip(told[::2], sentences))
    for line, entry in zip(told[1::2], models.CHECKPOINTS.values()):
        assert line.startswith(entry["title"]) and "run this command again" in line


@pytest.mark.slow
def test_pip_is_quiet_and_shows_its_errors(tmp_path, capfd):
    with pytest.raises(ValueError, match="pip could not fetch"):
        offline.fetch(tmp_path, ["no-such-package==1"], install.HERE, ["--no-index"])
    told = capfd.readouterr()
    assert told.out.count("\n") == 1 and "ERROR: " in told.err
    (tmp_path / "b").mkdir()
    offline.fetch(tmp_path / "b", ["tqdm==4.70.1"], install.HERE, [])
    assert capfd.readouterr().out.count("\n") == 1 and os.listdir(tmp_path / "b")


def test_folder_with_something_else_is_not_touched(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(SystemExit, match="is not empty; name a new folder"):
        offline.main([str(tmp_path)])
    assert os.listdir(tmp_path) == ["mine.txt"]


def test_filling_again_goes_on_and_brings_the_latest_notebooks(light):
    notebook = light / "project" / "notebooks" / "en" / "01_layernorm.ipynb"
    notebook.write_text("old")
    (light / "project" / "gone.txt").touch()
    offline.fill(light, "de")
    assert notebook.stat().st_size > 1000 and not (light / "project" / "gone.txt").exists()


def test_a_break_leaves_a_stick_that_says_so_and_can_be_filled_on(light, tmp_path, monkeypatch):
    def stop(*_):
        raise ValueError("planted")

    with monkeypatch.context() as patch:
        patch.setattr(offline, "copy_project", stop)
        with pytest.raises(ValueError, match="planted"):
            offline.fill(light, "de")
    assert refused(tmp_path / "new", stick=light) == sentence("incomplete", name="stick.json")
    offline.fill(light, "de")
    assert "files" in json.loads((light / "stick.json").read_text())


def test_a_wheel_that_was_cut_off_is_fetched_anew(tmp_path, monkeypatch):
    (tmp_path / "half-1.0-py3-none-any.whl").write_bytes(b"PK\3\4 half")

    def fail(*_, **__):
        return subprocess.CompletedProcess([], 1)

    monkeypatch.setattr(subprocess, "run", fail)
    with pytest.raises(ValueError, match="pip could not fetch"):
        offline.fetch(tmp_path, ["half==1.0"], install.HERE, [])
    assert not os.listdir(tmp_path)


def test_full_stick_gets_a_sentence(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(offline, "fetch", full)
    with pytest.raises(SystemExit, match="is full; what is there stays"):
        offline.main([str(tmp_path / "stick")])


@pytest.mark.slow
def test_another_platform_gets_its_own_packages(tmp_path, monkeypatch):
    """The markers are those of the other platform: colorama is for Windows only."""
    monkeypatch.setattr(install, "HERE", "linux-arm64")
    for platform, expected in (("windows-amd64", True), ("linux-x86_64", False), ("darwin-arm64", False)):
        found = offline.resolve(["tqdm==4.70.1"], platform, [])
        assert any(line.startswith("colorama==") for line in found) == expected and "tqdm==4.70.1" in found
    offline.fetch(tmp_path, ["tqdm==4.70.1", "safetensors==0.8.0"], "windows-amd64", [])
    names = os.listdir(tmp_path)
    assert any(name.startswith("colorama") for name in names) and any("win_amd64" in name for name in names)


@same_python
@pytest.mark.parametrize("lang", list(install.TEXTS))
def test_wrong_computer_gets_one_sentence_and_nothing_is_written(light, tmp_path, monkeypatch, lang):
    words = [tmp_path / "new", "--lang", lang]
    with monkeypatch.context() as patch:
        patch.setattr(sys, "version_info", (3, 8, 10, "final", 0))
        assert refused(*words, stick=light) == sentence("python", lang, there="3.11", here="3.8")
    with monkeypatch.context() as patch:
        patch.setattr(install, "HERE", "windows-arm64")
        platforms = json.loads((light / "stick.json").read_text())["platforms"]
        expected = sentence("platform", lang, there=", ".join(platforms), here="windows-arm64")
        assert refused(*words, stick=light) == expected
    usage = type("Usage", (), {"free": 10**6})
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda path: usage)
        assert re.search(r"\d\d MB.* 1 MB", refused(*words, stick=light))
    assert not (tmp_path / "new").exists()


@same_python
def test_file_that_is_missing_or_cut_off_is_named(light, tmp_path):
    lesson = light / "project" / "README.md"
    lesson.write_bytes(lesson.read_bytes()[:-1])
    assert refused(tmp_path / "new", stick=light) == sentence("incomplete", name="project/README.md")
    lesson.unlink()
    assert refused(tmp_path / "new", stick=light) == sentence("incomplete", name="project/README.md")
    assert refused(tmp_path / "new", stick=tmp_path) == sentence("incomplete", "en", name="stick.json")


@same_python
def test_what_a_student_has_written_is_not_overwritten(light, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    for taken in ("mine", "mine/notes.txt"):
        assert refused(tmp_path / taken, stick=light) == sentence("taken", folder=tmp_path / taken)
    assert (tmp_path / "mine" / "notes.txt").read_text() == "mine"


@pytest.mark.slow
@same_python
def test_installation_that_fails_leaves_nothing_and_says_why(light, tmp_path):
    told = refused(tmp_path / "new", stick=light)  # there are no packages
    assert told.startswith(sentence("failed", folder=tmp_path / "new", why="ERROR: ")) and "\n" not in told
    assert not (tmp_path / "new").exists()


@same_python
def test_installation_that_is_stopped_leaves_nothing(light, tmp_path, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(install.venv, "create", stop)
    assert refused(tmp_path / "new", stick=light) == sentence("stopped", folder=tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_installer_speaks_the_three_languages_and_needs_the_standard_library_only():
    assert list(install.TEXTS) == ["en", "de", "sv"]
    fields = []
    for texts in install.TEXTS.values():
        fields.append({key: sorted(re.findall(r"\{\w+\}", text)) for key, text in texts.items()})
    assert fields[0] == fields[1] == fields[2]
    code = Path(install.__file__).read_text(encoding="utf8")
    assert set(re.findall(r"^(?:import|from) (\w+)", code, re.M)) <= sys.stdlib_module_names


def test_windows_gets_a_start_file_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(install, "WINDOWS", True)
    start = install.write_start(tmp_path, "sv")
    lines = start.read_text().splitlines()
    assert start.name == "start.bat" and "@set HF_HUB_OFFLINE=1" in lines
    assert '@set "HF_HOME=%~dp0weights"' in lines  # as one word, also below a folder with & or parentheses
    assert lines[-1].startswith(r"@.venv\Scripts\python -m jupyterlab ") and "notebooks/sv/" in lines[-1]


def test_an_index_that_does_not_answer_is_named_before_pip_waits_for_it(tmp_path, monkeypatch):
    monkeypatch.setattr(offline, "fetch", lambda *_: pytest.fail("pip was started"))
    with pytest.raises(ValueError, match="http://127.0.0.1:9/whl does not answer.*CUDA"):
        offline.fill(tmp_path / "stick", index="http://127.0.0.1:9/whl")
