"""`models.load` against a real server on loopback that fails in the ways in which networks, servers and disks fail."""

import json
import os
import re
import resource
import shutil
import socket
import subprocess
import sys
import threading
import time

import pytest
import torch
from huggingface_hub import close_session, constants, get_session
from safetensors.torch import load_file

from helpers import language, models
from tests.support import loopback_hub as loopback

REPOS = {"gpt2": "openai-community/gpt2", "gpt1": "openai-community/openai-gpt"}
NORMS = {"ln": "layernorm", "rms": "rmsnorm"}
STANDINS = {"gpt2": "bundled/ln-pre", "gpt1": "bundled/ln-post"}


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # small models: two threads only wait for each other on a busy machine
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("repositories")
    return {
        "gpt2": loopback.make_gpt2_folder(root / "gpt2"),
        "gpt1": loopback.make_gpt1_folder(root / "gpt1"),
    }


@pytest.fixture
def checkpoints(folders):
    entry = lambda name, **kw: loopback.checkpoint(folders[name], REPOS[name], STANDINS[name], **kw)
    return {"gpt2": entry("gpt2"), "gpt1": entry("gpt1", revision="main", pinned=False)}


@pytest.fixture
def hub(folders, checkpoints, tmp_path, monkeypatch):
    """A healthy hub and an empty cache; the pins are those of the two small models."""
    with loopback.Hub({REPOS[name]: folder for name, folder in folders.items()}) as server:
        point_to(monkeypatch, server.url)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "home" / "hub"))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(models, "CHECKPOINTS", checkpoints)
        yield server
    close_session()
    language.use("en")


def point_to(monkeypatch, url):
    close_session()
    monkeypatch.setattr(constants, "ENDPOINT", url)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", url + "/{repo_id}/resolve/{revision}/{filename}")


def cached_file(name="gpt2", file="model.safetensors"):
    """Return the file in the cache that the snapshot's link leads to."""
    folder = os.path.join(constants.HF_HUB_CACHE, f"models--{REPOS[name].replace('/', '--')}", "snapshots")
    return os.path.realpath(os.path.join(folder, loopback.COMMIT, file))


def assert_real(model, folders, name="gpt2"):
    table = {"gpt2": "wte.weight", "gpt1": "tokens_embed.weight"}[name]
    expected = load_file(folders[name] / "model.safetensors")[table]
    assert model.name == name
    assert not model.decoder.training and model.decoder.token_embedding.weight.dtype == torch.float32
    assert torch.equal(model.decoder.token_embedding.weight, expected)


def assert_stand_in(model, printed, key, name="gpt2", code=None):
    """The bundled model is there, and one line says why: the sentence `key` of the catalogue."""
    assert model.name == STANDINS[name]
    values = {"host": constants.ENDPOINT, "folder": constants.HF_HUB_CACHE, "code": code}
    why = language.say(f"load.{key}_why", **values)
    sentence = language.say(
        "load.fallback",
        title=models.CHECKPOINTS[name]["title"],
        bundled=STANDINS[name],
        why=why,
        how=language.say(f"load.{key}_how"),
    )
    assert " ".join(printed.split()).endswith(sentence)
    assert all(len(line) <= 72 or " " not in line for line in printed.splitlines())
    assert printed.count("bundled/") == 1


# ---- what works --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gpt2", "gpt1"])
def test_download_then_cache_without_network(name, hub, folders, capsys, monkeypatch):
    assert_real(models.load(name), folders, name)
    printed = capsys.readouterr()
    size = sum((folders[name] / file).stat().st_size for file in models.FILES) / 1e6
    title = models.CHECKPOINTS[name]["title"]
    assert " ".join(printed.out.split()) == language.say("load.download", title=title, host=hub.url, size=size)
    assert "100%" in printed.err
    hub.requests.clear()
    assert_real(models.load(name), folders, name)
    assert hub.requests == []
    point_to(monkeypatch, "http://127.0.0.1:9")
    assert_real(models.load(name), folders, name)
    assert capsys.readouterr().out == ""


def test_cache_is_the_librarys(hub, folders):
    """What `load` downloads, the library finds, and the other way round."""
    from huggingface_hub import hf_hub_download, try_to_load_from_cache

    models.load("gpt1")
    assert try_to_load_from_cache(REPOS["gpt1"], "config.json")
    shutil.rmtree(constants.HF_HUB_CACHE)
    for file in models.FILES:
        hf_hub_download(REPOS["gpt1"], file)
    hub.requests.clear()
    assert_real(models.load("gpt1"), folders, "gpt1")
    assert hub.requests == []


def test_two_at_once_download_once(hub, folders):
    found = []
    threads = [threading.Thread(target=lambda: found.append(models.load("gpt2"))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for model in found:
        assert_real(model, folders)
    assert len(found) == 2 and len(hub.downloads()) == 1


@pytest.mark.parametrize("name", models.BUNDLED)
def test_bundled(name, hub):
    model = models.load(name)
    norm, placement = name.removeprefix("bundled/").split("-")
    assert model.name == name and not model.decoder.training
    assert (model.decoder.config.placement, model.decoder.config.norm) == (placement, NORMS[norm])
    assert all(p.dtype == torch.float32 and p.isfinite().all() for p in model.decoder.parameters())
    assert model.decoder(model.encode("Fågel, Käse")[None]).shape == (1, 13, model.decoder.config.vocab_size)
    assert hub.requests == []


@pytest.mark.parametrize(
    "name",
    ["GPT2", "", "bundled/../../etc", "../x", "/etc/passwd", "bundled/ln-pre.safetensors", None, ["gpt2"], {}, 3],
)
@pytest.mark.parametrize("lang", language.LANGUAGES)
def test_unknown_name(name, lang, hub, monkeypatch):
    language.use(lang)
    monkeypatch.setattr("builtins.open", None)
    names = ", ".join((*models.CHECKPOINTS, *models.BUNDLED))
    with pytest.raises(ValueError) as caught:
        models.load(name)
    assert str(caught.value) == language.say("load.unknown", name=str(name), names=names)
    assert "gpt2, gpt1, bundled/ln-pre" in str(caught.value)


# ---- text and tokens ---------------------------------------------------------------------------------------------


def test_encode_and_pieces_of_bpe(hub, folders):
    from tokenizers import Tokenizer

    model = models.load("gpt2")
    ids = model.encode("The tea was cold")
    assert ids.dtype == torch.long
    assert ids.tolist() == Tokenizer.from_file(str(folders["gpt2"] / "tokenizer.json")).encode("The tea was cold").ids
    assert "".join(model.pieces(ids)) == "The·tea·was·cold"
    assert model.pieces([0]) == ["<|endoftext|>"]
    assert models.load("gpt1").pieces(models.load("gpt1").encode("The TEA")) == ["the", "tea"]


def test_pieces_of_bytes(hub):
    model = models.load("bundled/ln-pre")
    ids = model.encode("a ä\n€")
    assert ids.tolist() == list("a ä\n€".encode())
    assert model.pieces(ids) == ["a", "·", "ä₁", "ä₂", "↵", "€₁", "€₂", "€₃"]
    assert model.pieces("😀".encode()[:2] + b"a\xff") == ["?", "?", "a", "?"]  # cut within a character
    assert model.encode("\ud800").tolist() == [ord("?")]


@pytest.mark.parametrize("lang", language.LANGUAGES)
@pytest.mark.parametrize("name", ["gpt2", "bundled/ln-pre"])
def test_empty_and_long_text(name, lang, hub):
    language.use(lang)
    model = models.load(name)
    with pytest.raises(ValueError) as caught:
        model.encode("")
    assert str(caught.value) == language.say("load.empty")
    text = "x, " * 500
    assert len(model.encode(text)) == model.decoder.config.positions
    tokens = 1500 if model.tokenizer is None else len(model.tokenizer.encode(text).ids)
    assert model.notice(text) == language.say("load.cut", tokens=tokens, limit=model.decoder.config.positions)
    assert str(model.decoder.config.positions) in model.notice(text)
    assert model.notice("short") == ""


def test_text_without_tokens(hub):
    with pytest.raises(ValueError):
        models.load("gpt1").encode(" \n ")


# ---- networks and servers that fail ------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", language.LANGUAGES)
def test_connection_refused(lang, hub, folders, capsys, monkeypatch):
    language.use(lang)
    healthy = hub.url
    point_to(monkeypatch, "http://127.0.0.1:9")
    for name in REPOS:
        assert_stand_in(models.load(name), capsys.readouterr().out, "unreachable", name)
    point_to(monkeypatch, healthy)
    assert_real(models.load("gpt2"), folders)


def test_waiting_is_bounded_by_configuration():
    assert models.WAIT < 5
    assert 6 * models.STALL + 5 <= 23  # the library connects six times without a new byte, a second apart


def test_silent_server(hub, folders, capsys):
    hub.fault, start = "silent", time.monotonic()
    assert_stand_in(models.load("gpt2"), capsys.readouterr().out, "silent")
    assert time.monotonic() - start < 8
    hub.fault = None
    assert_real(models.load("gpt2"), folders)


def test_silent_name_server(hub, folders, capsys, monkeypatch):
    healthy, release = hub.url, threading.Event()
    with monkeypatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", lambda *_, **__: release.wait(60) and [])
        patch.setattr(models, "WAIT", 1)
        point_to(monkeypatch, "http://hub.example")
        start = time.monotonic()
        assert_stand_in(models.load("gpt2"), capsys.readouterr().out, "silent")
        assert time.monotonic() - start < 8
    release.set()
    point_to(monkeypatch, healthy)
    assert_real(models.load("gpt2"), folders)


@pytest.mark.parametrize(
    ("fault", "key", "code"),
    [
        (404, "status", 404),
        (401, "status", 401),
        (429, "busy", 429),
        ("get-429", "busy", 429),
        (500, "status", 500),
        (503, "status", 503),
        ("portal", "damaged", None),
        ("flipped", "damaged", None),
        ("other", "damaged", None),
    ],
)
def test_answers_that_do_not_help(fault, key, code, hub, folders, capsys):
    hub.fault, start = fault, time.monotonic()
    assert_stand_in(models.load("gpt2"), capsys.readouterr().out, key, code=code)
    assert time.monotonic() - start < 8
    assert not os.path.exists(cached_file())
    assert get_session().event_hooks["response"] == []  # the library is left as it was
    hub.fault = None
    assert_real(models.load("gpt2"), folders)


def rest(folders):
    """Return the Range header that asks for what half a download lacks: whole chunks are kept."""
    half = (folders["gpt2"] / "model.safetensors").stat().st_size // 2
    assert half > 2 * models.CHUNK
    return f"bytes={half // models.CHUNK * models.CHUNK}-"


@pytest.mark.parametrize("fault", ["cut-once", "reset-once"])
def test_cut_once_is_resumed(fault, hub, folders, capsys):
    hub.fault = fault
    assert_real(models.load("gpt2"), folders)
    assert hub.downloads() == [None, rest(folders)]
    assert "bundled" not in capsys.readouterr().out


def test_cut_without_ranges_starts_again(hub, folders):
    hub.fault = "cut-no-range"
    assert_real(models.load("gpt2"), folders)
    assert len(hub.downloads()) == 2


@pytest.mark.parametrize(("fault", "key"), [("cut", "broken"), ("empty-rest", "broken"), ("stall", "silent")])
def test_cut_for_good_is_resumed_by_the_next_call(fault, key, hub, folders, capsys, monkeypatch):
    monkeypatch.setattr(models, "STALL", 0.5)
    hub.fault, start = fault, time.monotonic()
    assert_stand_in(models.load("gpt2"), capsys.readouterr().out, key)
    assert time.monotonic() - start < 10
    assert not os.path.exists(cached_file())
    hub.fault = None
    hub.requests.clear()
    assert_real(models.load("gpt2"), folders)
    assert hub.downloads() == [rest(folders)]


def test_wrong_rest_is_not_loaded(hub, folders, capsys):
    """The half that an earlier call left is damaged: found by the hash, and gone at the next call."""
    models.load("gpt2")
    blob = cached_file()
    shutil.rmtree(os.path.join(os.path.dirname(blob), "..", "snapshots"))
    os.remove(blob)
    with open(f"{blob}.incomplete", "wb") as part:
        part.write(b"x" * 1000)
    capsys.readouterr()
    assert_stand_in(models.load("gpt2"), capsys.readouterr().out, "damaged")
    assert_real(models.load("gpt2"), folders)


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


@pytest.mark.parametrize("damage", [truncate, empty, flip, os.remove])
@pytest.mark.parametrize("file", models.FILES)
@pytest.mark.parametrize("name", ["gpt2", "gpt1"])
def test_damaged_cache(damage, file, name, hub, folders, capsys, monkeypatch):
    models.load(name)
    capsys.readouterr()
    damage(cached_file(name, file))
    with monkeypatch.context() as patch:
        patch.setattr(constants, "HF_HUB_OFFLINE", True)
        assert_stand_in(models.load(name), capsys.readouterr().out, "offline", name)
    hub.requests.clear()
    assert_real(models.load(name), folders, name)
    assert [request[1] for request in hub.requests if request[0] == "GET"] == [file]


def test_configuration_of_another_model(hub, folders, capsys, monkeypatch):
    monkeypatch.setitem(models.CHECKPOINTS["gpt1"]["settings"], "n_layer", 12)
    assert_stand_in(models.load("gpt1"), capsys.readouterr().out, "damaged", "gpt1")


def test_cache_without_links_trusts_only_the_pin(hub, folders, capsys):
    """Where links are not possible, the cache holds plain files under their own names."""
    models.load("gpt2")
    plain = os.path.join(constants.HF_HUB_CACHE, "models--openai-community--gpt2", "snapshots", loopback.COMMIT)
    for file in models.FILES:
        os.replace(cached_file("gpt2", file), os.path.join(plain, file))
    hub.requests.clear()
    assert_real(models.load("gpt2"), folders)
    assert hub.requests == []
    flip(os.path.join(plain, "model.safetensors"))
    assert_real(models.load("gpt2"), folders)
    assert len(hub.downloads()) == 1


def mount(folder, options):
    """Mount a RAM disk; return whether that is permitted here."""
    os.makedirs(folder, exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder]
    return shutil.which("mount") and subprocess.run(command, capture_output=True).returncode == 0


@pytest.mark.parametrize("seen_before", [True, False])
def test_full_disk(seen_before, hub, folders, capsys, monkeypatch):
    """A small RAM disk or, where none may be mounted, a limit on the size of files."""
    cache, limits = constants.HF_HUB_CACHE, resource.getrlimit(resource.RLIMIT_FSIZE)
    mounted = mount(cache, "size=64k")
    if not mounted:
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))
    if not seen_before:  # the room vanishes during the download
        monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(1e12, 0, 1e12))
    try:
        assert_stand_in(models.load("gpt2"), capsys.readouterr().out, "disk")
        assert not os.path.exists(cached_file())
        assert len(hub.downloads()) == (0 if seen_before and mounted else 1)
        blobs = os.path.join(cache, "models--openai-community--gpt2", "blobs")
        assert sum(os.path.getsize(os.path.join(blobs, name)) for name in os.listdir(blobs)) == 0
        if mounted:
            subprocess.run(["mount", "-o", "remount,size=8m", cache], check=True)
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert_real(models.load("gpt2"), folders)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        if mounted:
            subprocess.run(["umount", "--lazy", cache], check=True)


@pytest.mark.parametrize("kind", ["file", "read-only"])
def test_cache_that_cannot_be_written(kind, hub, folders, tmp_path, capsys, monkeypatch):
    healthy, folder = constants.HF_HUB_CACHE, str(tmp_path / "broken")
    mounted = kind == "read-only" and mount(folder, "ro")
    if not mounted:
        shutil.rmtree(folder, ignore_errors=True)
        (tmp_path / "broken").write_text("a file where the folder should be")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", os.path.join(folder, "hub"))
    try:
        for name in REPOS:
            assert_stand_in(models.load(name), capsys.readouterr().out, "folder", name)
    finally:
        if mounted:
            subprocess.run(["umount", folder], check=True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", healthy)
    assert_real(models.load("gpt2"), folders)


# ---- whole processes: the environment variables, and what is imported --------------------------------------------

SCRIPT = """
import json, sys, time
from helpers import language, models
imported = [name for name in ("transformers", "huggingface_hub", "tokenizers") if name in sys.modules]
given = json.loads(sys.stdin.read())
models.CHECKPOINTS.update(given["checkpoints"])
language.use(given["language"])
start = time.monotonic()
found = models.load("gpt2")
print(json.dumps([found.name, time.monotonic() - start, imported, "transformers" in sys.modules]))
"""


def load_in_process(checkpoints, lang="en", **environment):
    """Return (name of the model, seconds, lines before it, what `import helpers.models` brought along)."""
    given = json.dumps({"checkpoints": checkpoints, "language": lang})
    environment = {key: value for key, value in os.environ.items() if not key.startswith("HF_")} | environment
    run = subprocess.run([sys.executable, "-c", SCRIPT], input=given, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "Traceback" not in run.stderr and "unauthenticated" not in run.stderr
    *lines, result = run.stdout.splitlines()
    name, seconds, imported, transformers = json.loads(result)
    assert not transformers
    return name, seconds, lines, imported


def test_processes(hub, checkpoints, tmp_path):
    home = {"HF_HOME": str(tmp_path / "fresh")}
    run = lambda **environment: load_in_process(checkpoints, **environment)
    name, seconds, lines, imported = run(**home, HF_ENDPOINT="http://hub.invalid", lang="sv")
    assert name == "bundled/ln-pre" and seconds < 8
    assert re.search("ansluta till http://hub.invalid|hub.invalid svarar inte", " ".join(lines))
    assert imported == []

    name, _, lines, _ = run(**home, HF_ENDPOINT=hub.url, lang="de")
    assert name == "gpt2" and len(lines) == 2 and lines[0].startswith("GPT-2 small wird von")

    hub.requests.clear()
    name, _, lines, _ = run(**home, HF_ENDPOINT=hub.url, HF_HUB_OFFLINE="1")
    assert name == "gpt2" and lines == [] and hub.requests == []


# ---- the catalogue -----------------------------------------------------------------------------------------------


def test_all_sentences_in_three_languages():
    section = {
        lang: {key: text for key, text in language.catalogue(lang).items() if key.startswith("load.")}
        for lang in language.LANGUAGES
    }
    placeholders = lambda text: sorted(re.findall(r"{(\w+)}", text))
    reasons = set(models.REASONS.values())
    expected = {f"load.{reason}_{part}" for reason in reasons for part in ("why", "how")}
    assert expected <= section["en"].keys()
    for lang in ("de", "sv"):
        assert section[lang].keys() == section["en"].keys()
        for key, text in section["en"].items():
            assert placeholders(section[lang][key]) == placeholders(text), key
            assert section[lang][key] != text, key


@pytest.mark.parametrize("lang", language.LANGUAGES)
def test_an_interrupted_download_ends_in_the_sentence_and_the_bundled_model(lang, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    language.use(lang)
    monkeypatch.setattr(models, "_checkpoint", interrupt)
    told = []
    assert models.load("gpt2", told.append).name == "bundled/ln-pre"
    [sentence] = told
    assert language.say("load.stopped_why") in sentence and language.say("load.stopped_how") in sentence
