"""`models.load` against a real server on loopback that fails in the ways in which networks, servers and disks fail."""

import os
import resource
import shutil
import socket
import subprocess
import threading
import time
import types
from pathlib import Path

import pytest
import torch
from huggingface_hub import constants, hf_hub_download, try_to_load_from_cache
from safetensors.torch import load_file

from helpers import language, models
from tests.models.conftest import REPOS, STAND_INS, point_to, result_of, start_process
from tests.support import loopback_hub

NORMS = {"ln": "layernorm", "rms": "rmsnorm"}
PATIENCE = 50  # seconds, on a busy machine too; what must not be waited for takes a minute and more
LANGUAGES = pytest.mark.parametrize("lang", language.LANGUAGES)


def snapshot(name="gpt2"):
    """Return the folder of a model's files in the cache."""
    folder = Path(constants.HF_HUB_CACHE, f"models--{REPOS[name].replace('/', '--')}")
    return folder / "snapshots" / loopback_hub.COMMIT


def stored(name="gpt2", file="model.safetensors"):
    """Return the file in the cache that the snapshot's link leads to."""
    return (snapshot(name) / file).resolve()


def in_cache(name="gpt2", file="model.safetensors"):
    return isinstance(try_to_load_from_cache(REPOS[name], file, revision=loopback_hub.COMMIT), str)


def assert_real(model, folders, name="gpt2"):
    table = {"gpt2": "wte.weight", "gpt1": "tokens_embed.weight"}[name]
    expected = load_file(folders[name] / "model.safetensors")[table]
    assert model.name == name
    assert not model.decoder.training and model.decoder.token_embedding.weight.dtype == torch.float32
    assert torch.equal(model.decoder.token_embedding.weight, expected)


def assert_stand_in(model, told, reason, name="gpt2", code=None):
    """The bundled model is there, and the last sentence says which model is not, why, and what to do."""
    assert model.name == STAND_INS[name]
    values = {"host": constants.ENDPOINT, "folder": constants.HF_HUB_CACHE, "code": code}
    for part in (models.CHECKPOINTS[name]["title"], STAND_INS[name]):
        assert part in told[-1]
    assert language.say(f"load.{reason}_why", **values) in told[-1]
    assert language.say(f"load.{reason}_how", **values) in told[-1]
    assert sum("bundled/" in sentence for sentence in told) == 1


# ---- what works --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gpt2", "gpt1"])
def test_download_then_cache_without_network(name, hub, folders, told, monkeypatch):
    assert_real(models.load(name, tell=told.append), folders, name)
    assert len(told) == 1 and hub.url in told[0] and models.CHECKPOINTS[name]["title"] in told[0]
    hub.requests.clear()
    assert_real(models.load(name, tell=told.append), folders, name)
    assert hub.requests == []
    point_to(monkeypatch, "http://127.0.0.1:9")
    assert_real(models.load(name, tell=told.append), folders, name)
    assert len(told) == 1


def test_a_download_shows_how_far_it_is(hub, capsys):
    models.load("gpt2")
    printed = capsys.readouterr()
    assert "100%" in printed.err
    assert all(len(line) <= 72 for line in printed.out.splitlines())


def test_cache_is_the_librarys(hub, folders):
    """What `load` downloads, the library finds, and the other way round."""
    models.load("gpt1")
    for file in models.FILES:
        assert hf_hub_download(REPOS["gpt1"], file, local_files_only=True)
    shutil.rmtree(constants.HF_HUB_CACHE)
    for file in models.FILES:
        hf_hub_download(REPOS["gpt1"], file)
    hub.requests.clear()
    assert_real(models.load("gpt1"), folders, "gpt1")
    assert hub.requests == []


@pytest.mark.slow
def test_two_kernels_at_once_download_once(hub, pins, tmp_path):
    hub.fault = "slow"
    environment = {"HF_HOME": str(tmp_path / "both"), "HF_ENDPOINT": hub.url}
    processes = [start_process(pins, **environment) for _ in range(2)]
    for process in processes:
        name, _, _, _ = result_of(process)
        assert name == "gpt2"
    assert hub.downloads() == [None]


@pytest.mark.parametrize("name", models.BUNDLED)
def test_bundled(name, hub):
    model = models.load(name)
    norm, placement = name.removeprefix("bundled/").split("-")
    assert model.name == name and not model.decoder.training
    assert (model.decoder.config.placement, model.decoder.config.norm) == (placement, NORMS[norm])
    assert all(p.dtype == torch.float32 and p.isfinite().all() for p in model.decoder.parameters())
    assert model.decoder(model.encode("Fågel, Käse")[None]).shape == (1, 13, model.decoder.config.vocab_size)
    assert hub.requests == []


@pytest.mark.parametrize("name", ["GPT2", "", "bundled/../../etc", "../x", "/etc/passwd", "bundled/ln-pre.safetensors"])
@LANGUAGES
def test_a_name_that_is_none_opens_nothing_and_names_those_there_are(name, lang, hub, monkeypatch):
    language.use(lang)
    monkeypatch.setattr("builtins.open", None)
    with pytest.raises(ValueError) as caught:
        models.load(name)
    assert f"“{name}”" in str(caught.value) or f"„{name}“" in str(caught.value) or f"”{name}”" in str(caught.value)
    assert "gpt2, gpt1, bundled/ln-pre" in str(caught.value)
    assert hub.requests == []


# ---- networks and servers that fail ------------------------------------------------------------------------------


@LANGUAGES
def test_connection_refused(lang, hub, folders, told, monkeypatch):
    language.use(lang)
    healthy = hub.url
    point_to(monkeypatch, "http://127.0.0.1:9")
    for name in REPOS:
        assert_stand_in(models.load(name, tell=told.append), told, "unreachable", name)
        told.clear()
    point_to(monkeypatch, healthy)
    assert_real(models.load("gpt2"), folders)


@pytest.mark.slow
def test_silent_server(hub, folders, told):
    start = time.monotonic()
    hub.fault = "silent"
    assert_stand_in(models.load("gpt2", tell=told.append), told, "silent")
    assert time.monotonic() - start < PATIENCE
    hub.fault = None
    assert_real(models.load("gpt2"), folders)


@pytest.mark.slow
def test_silent_name_server(hub, folders, told, monkeypatch):
    healthy, release = hub.url, threading.Event()

    def wait(*_, **__):
        release.wait(60)
        return []

    with monkeypatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", wait)
        point_to(patch, "http://hub.example")
        start = time.monotonic()
        assert_stand_in(models.load("gpt2", tell=told.append), told, "silent")
        assert time.monotonic() - start < PATIENCE
    release.set()
    point_to(monkeypatch, healthy)
    assert_real(models.load("gpt2"), folders)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "reason", "code"),
    [
        (404, "status", 404),
        (401, "status", 401),
        (403, "status", 403),
        (429, "busy", 429),
        ("get-429", "busy", 429),
        (500, "status", 500),
        (503, "status", 503),
        ("portal", "damaged", None),
        ("flipped", "damaged", None),
        ("other", "damaged", None),
    ],
)
def test_answers_that_do_not_help(fault, reason, code, hub, folders, told):
    hub.fault, start = fault, time.monotonic()
    assert_stand_in(models.load("gpt2", tell=told.append), told, reason, code=code)
    assert time.monotonic() - start < PATIENCE  # the server says "after 300 seconds"; nobody waits that long
    assert not in_cache()
    hub.fault = None
    assert_real(models.load("gpt2"), folders)


def test_another_file_without_a_pin_is_not_taken_for_the_model(hub, told, monkeypatch):
    monkeypatch.setitem(models.CHECKPOINTS["gpt1"], "settings", {"n_layer": 12})
    assert_stand_in(models.load("gpt1", tell=told.append), told, "damaged", "gpt1")


def test_redirect(hub, folders):
    hub.fault = "renamed"
    assert_real(models.load("gpt2"), folders)


def half(folders):
    return (folders["gpt2"] / "model.safetensors").stat().st_size // 2


@pytest.mark.parametrize("fault", ["cut-once", "reset-once"])
def test_cut_once_is_resumed(fault, hub, folders, told):
    hub.fault = fault
    assert_real(models.load("gpt2", tell=told.append), folders)
    assert hub.downloads() == [None, f"bytes={half(folders)}-"]
    assert len(told) == 1


def test_cut_without_ranges_starts_again(hub, folders):
    hub.fault = "cut-no-range"
    assert_real(models.load("gpt2"), folders)
    assert len(hub.downloads()) == 2


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "reason"), [("cut", "broken"), ("empty-rest", "broken"), ("stall", "silent")])
def test_cut_for_good_is_resumed_by_the_next_call(fault, reason, hub, folders, told, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_DOWNLOAD_TIMEOUT", 1)  # as the variable of this name does
    hub.fault = fault
    assert_stand_in(models.load("gpt2", tell=told.append), told, reason)
    assert not in_cache()
    hub.fault = None
    hub.requests.clear()
    assert_real(models.load("gpt2"), folders)
    assert hub.downloads() == [f"bytes={half(folders)}-"]


@pytest.mark.slow
def test_a_killed_kernel_is_resumed_by_the_next(hub, folders, pins, tmp_path, monkeypatch):
    """A process that is killed in the middle of the download leaves what came so far."""
    hub.fault = "stall"
    home = tmp_path / "killed"
    process = start_process(pins, HF_HOME=str(home), HF_ENDPOINT=hub.url)
    deadline = time.monotonic() + 60
    while sum(path.stat().st_size for path in home.rglob("*") if path.is_file()) < half(folders):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.kill()
    process.communicate()
    hub.fault = None
    hub.requests.clear()
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(home / "hub"))
    assert_real(models.load("gpt2"), folders)
    assert hub.downloads() == [f"bytes={half(folders)}-"]


def test_wrong_rest_is_not_loaded(hub, folders, told, monkeypatch):
    """What an earlier call left is damaged: found by the hash, and gone at the next call."""
    monkeypatch.setattr(constants, "HF_HUB_DOWNLOAD_TIMEOUT", 1)
    hub.fault = "cut"
    models.load("gpt2")
    hub.fault = None
    (part,) = (
        path for path in Path(constants.HF_HUB_CACHE).rglob("*") if path.is_file() and path.stat().st_size > 1000
    )
    flip(part)
    assert_stand_in(models.load("gpt2", tell=told.append), told, "damaged")
    assert_real(models.load("gpt2"), folders)


@LANGUAGES
def test_an_interrupted_download_ends_in_the_sentence_and_the_bundled_model(lang, hub, monkeypatch):
    language.use(lang)
    told = []

    def interrupt(sentence):
        told.append(sentence)
        if len(told) == 1:  # the sentence before the download
            raise KeyboardInterrupt

    assert_stand_in(models.load("gpt2", tell=interrupt), told, "stopped")


# ---- caches and disks that fail ----------------------------------------------------------------------------------


def truncate(path):
    os.truncate(path, os.path.getsize(path) // 2)


def empty(path):
    os.truncate(path, 0)


def flip(path):
    with open(path, "r+b") as file:
        file.seek(-5, os.SEEK_END)
        byte = file.read(1)
        file.seek(-5, os.SEEK_END)
        file.write(bytes([byte[0] ^ 1]))


DAMAGES = [
    *((damage, file) for damage in (truncate, empty, os.remove) for file in models.FILES),
    (flip, "model.safetensors"),  # in the small files the library does not check the hash, either
]


@pytest.mark.slow
@pytest.mark.parametrize(("damage", "file"), DAMAGES)
@pytest.mark.parametrize("name", ["gpt2", "gpt1"])
def test_a_damaged_cache_is_said_to_be_damaged_and_repaired(damage, file, name, hub, folders, told, monkeypatch):
    models.load(name)
    damage(stored(name, file))
    with monkeypatch.context() as patch:
        patch.setattr(constants, "HF_HUB_OFFLINE", True)
        assert_stand_in(models.load(name, tell=told.append), told, "offline", name)
    assert len(told) == (1 if damage is os.remove else 2)
    if damage is not os.remove:
        assert str(snapshot(name) / file) in told[0]
    assert not in_cache(name, file)
    hub.requests.clear()
    assert_real(models.load(name), folders, name)
    assert [request[1] for request in hub.requests if request[0] == "GET"] == [file]


@pytest.fixture
def without_links(monkeypatch):
    """As on most Windows computers."""
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_SYMLINKS", True)


def test_without_links_the_cache_holds_each_file_once(without_links, hub, folders):
    assert_real(models.load("gpt2"), folders)
    size = sum(path.stat().st_size for path in Path(constants.HF_HUB_CACHE).rglob("model.safetensors"))
    assert size == half(folders) * 2 or size == half(folders) * 2 + 1
    everything = sum(path.stat().st_size for path in Path(constants.HF_HUB_CACHE).rglob("*") if path.is_file())
    assert everything < 1.5 * size
    hub.requests.clear()
    assert_real(models.load("gpt2"), folders)
    assert hub.requests == []


@pytest.mark.slow
def test_without_links_a_slow_disk_has_the_time_to_copy(without_links, hub, folders, monkeypatch):
    """548 MB were copied under a deadline of four seconds."""
    copyfile = shutil.copyfile

    def slowly(*arguments, **options):
        time.sleep(6)
        return copyfile(*arguments, **options)

    monkeypatch.setattr(shutil, "copyfile", slowly)
    assert_real(models.load("gpt2"), folders)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpt2", "gpt1"])
@pytest.mark.parametrize("damage", [truncate, empty])
def test_without_links_a_damaged_file_is_said_to_be_damaged_and_goes(
    damage, name, without_links, hub, folders, told, monkeypatch
):
    """GPT-1 has no pinned hash; it was “unexpected error SafetensorError”, and the file stayed."""
    models.load(name)
    damage(snapshot(name) / "model.safetensors")
    with monkeypatch.context() as patch:
        patch.setattr(constants, "HF_HUB_OFFLINE", True)
        assert_stand_in(models.load(name, tell=told.append), told, "offline", name)
    assert told[0] == language.say("load.removed", file=str(snapshot(name) / "model.safetensors"))
    assert not (snapshot(name) / "model.safetensors").exists()
    assert_real(models.load(name), folders, name)


def test_without_links_the_pin_finds_a_wrong_byte(without_links, hub, folders):
    models.load("gpt2")
    flip(snapshot() / "model.safetensors")
    hub.requests.clear()
    assert_real(models.load("gpt2"), folders)
    assert len(hub.downloads()) == 1


def mount(folder, options):
    """Mount a RAM disk; return whether that is permitted here."""
    os.makedirs(folder, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder]
    return shutil.which("mount") and subprocess.run(command, capture_output=True).returncode == 0


@pytest.mark.parametrize("seen_before", [True, False])
def test_full_disk(seen_before, hub, folders, told, monkeypatch):
    """A small RAM disk or, where none may be mounted, a limit on the size of files."""
    cache, limits = constants.HF_HUB_CACHE, resource.getrlimit(resource.RLIMIT_FSIZE)
    mounted = mount(cache, "size=64k")
    if not mounted:
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))
    if not seen_before:  # the room vanishes during the download
        room = types.SimpleNamespace(total=1e12, used=0, free=1e12)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: room)
    try:
        assert_stand_in(models.load("gpt2", tell=told.append), told, "disk")
        assert not in_cache()
        assert len(hub.downloads()) == (0 if seen_before and mounted else 1)
        assert sum(path.stat().st_size for path in Path(cache).rglob("*") if path.is_file()) < 1000
        if mounted:
            subprocess.run(["mount", "-o", "remount,size=8m", cache], check=True)
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert_real(models.load("gpt2"), folders)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        if mounted:
            subprocess.run(["umount", "--lazy", cache], check=True)


@pytest.mark.parametrize("kind", ["file", "read-only"])
def test_cache_that_cannot_be_written(kind, hub, folders, tmp_path, told, monkeypatch):
    healthy, folder = constants.HF_HUB_CACHE, str(tmp_path / "broken")
    mounted = kind == "read-only" and mount(folder, "ro")
    if not mounted:
        shutil.rmtree(folder, ignore_errors=True)
        (tmp_path / "broken").write_text("a file where the folder should be")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", os.path.join(folder, "hub"))
    try:
        for name in REPOS:
            assert_stand_in(models.load(name, tell=told.append), told, "folder", name)
            told.clear()
    finally:
        if mounted:
            subprocess.run(["umount", folder], check=True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", healthy)
    assert_real(models.load("gpt2"), folders)


# ---- whole processes: the environment variables, and what is imported --------------------------------------------


@pytest.mark.slow
def test_without_a_network_a_process_waits_for_nothing_and_imports_no_more_than_it_needs(pins, tmp_path):
    process = start_process(pins, language="sv", HF_HOME=str(tmp_path), HF_ENDPOINT="http://hub.invalid")
    name, seconds, printed, imported = result_of(process)
    assert name == "bundled/ln-pre" and seconds < PATIENCE
    assert "hub.invalid" in printed and printed.count("bundled/") == 1
    assert imported == []


@pytest.mark.slow
def test_a_process_downloads_and_the_next_one_needs_no_network(hub, pins, tmp_path):
    home = {"HF_HOME": str(tmp_path / "fresh"), "HF_ENDPOINT": hub.url}
    name, _, printed, _ = result_of(start_process(pins, language="de", **home))
    assert name == "gpt2" and printed.startswith("GPT-2 small wird von")
    hub.requests.clear()
    name, _, printed, _ = result_of(start_process(pins, HF_HUB_OFFLINE="1", **home))
    assert name == "gpt2" and printed == "" and hub.requests == []
