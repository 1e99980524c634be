"""The models of the lessons by name: GPT-2 small and GPT-1 from the Hugging Face hub, and the bundled family.

A checkpoint is looked for in the local cache, then on the hub; if neither has it, one sentence says why and a
bundled model stands in. Only safetensors and JSON files are read, after a check of their hash.
"""

import errno
import hashlib
import json
import os
import re
import shutil
from concurrent.futures import Future
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

import torch
from safetensors import safe_open
from safetensors.torch import load_file

from helpers import checkpoints, gpt, language

FILES = ("model.safetensors", "config.json", "tokenizer.json")
GPT1_REVISION, GPT1_SHA256 = "main", None  # pin both here; tests/test_network.py prints them
CHECKPOINTS = {  # sha256: of model.safetensors; shape: width, layers, positions, vocabulary
    "gpt2": {
        "title": "GPT-2 small",
        "repo": "openai-community/gpt2",
        "revision": "607a30d783dfa663caf39e06633721c8d4cfcd7e",
        "sha256": "248dfc3911869ec493c76e65bf2fcf7f615828b0254c12b473182f0f81d3a707",
        "shape": (768, 12, 1024, 50257),
        "bundled": "bundled/ln-pre",
    },
    "gpt1": {
        "title": "GPT-1",
        "repo": "openai-community/openai-gpt",
        "revision": GPT1_REVISION,
        "sha256": GPT1_SHA256,
        "shape": (768, 12, 512, 40478),
        "bundled": "bundled/ln-post",
    },
}
BUNDLED = tuple(f"bundled/{name}" for name in ("ln-pre", "ln-post", "rms-pre", "rms-sandwich", "ln-deepnorm"))
WAIT = 4  # seconds until the hub has answered; with what surrounds it, the reader waits 5 at most
STALL, TRIES = 4, 3  # seconds of silence that end a connection; connections without a new byte that end a download
HASH = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")  # git's SHA-1, or SHA-256
REASONS = {  # the first class of an error that is listed here → the key of its sentence
    "OfflineModeIsEnabled": "offline",
    "ConnectError": "unreachable",
    "TimeoutError": "silent",
    "TimeoutException": "silent",
    "TransportError": "broken",
    "Damaged": "damaged",
    "OSError": "folder",
    "Exception": "other",
}


class Damaged(ValueError):
    """A file is not the one that was announced or pinned."""


@dataclass
class Model:
    """A decoder in eval mode and float32, with its tokenizer; without one, the tokens are UTF-8 bytes.

    name: what it really is, "gpt2", "gpt1", "bundled/ln-pre", …
    """

    name: str
    decoder: gpt.Decoder
    tokenizer: object = None

    @property
    def limit(self):
        """The number of positions: the most tokens that the decoder reads at once."""
        return self.decoder.config.positions

    def encode(self, text):
        """Return the first `limit` token ids of a text, (T,). Raises ValueError if it has none."""
        ids = self._all_ids(text)
        if not ids:
            raise ValueError(language.say("load.empty"))
        return torch.tensor(ids[: self.limit])

    def notice(self, text):
        """Return a sentence that says how `encode` cuts this text, or "" if it does not."""
        tokens = len(self._all_ids(text))
        return language.say("load.cut", tokens=tokens, limit=self.limit) if tokens > self.limit else ""

    def _all_ids(self, text):
        data = text.encode("utf8", "replace")  # half of a surrogate pair has no UTF-8
        return self.tokenizer.encode(data.decode("utf8")).ids if self.tokenizer else list(data)

    def pieces(self, ids):
        """Return a label for each token id; a space is ·, a line end ↵, the two bytes of ä are ä₁ and ä₂."""
        ids = [int(i) for i in ids]
        if self.tokenizer:
            labels = [self.tokenizer.decode([i], skip_special_tokens=False) for i in ids]
        else:
            labels = []
            for character in bytes(ids).decode("utf8", "backslashreplace") if False else _characters(bytes(ids)):
                labels += character
        return [label.replace(" ", "·").replace("\n", "↵") for label in labels]


def load(name):
    """Return the Model "gpt2", "gpt1" or "bundled/…"; its name tells whether a bundled model stands in.

    What kept a checkpoint from being loaded is printed. Raises ValueError for an unknown name.
    """
    names = (*CHECKPOINTS, *BUNDLED)
    if name not in names:
        raise ValueError(language.say("load.unknown", name=repr(name), names=", ".join(names)))
    if name in BUNDLED:
        return _bundled(name)
    try:
        return _checkpoint(name)
    except Exception as error:  # whatever it is, the lesson goes on
        print(_sentence(error, CHECKPOINTS[name]))
        return _bundled(CHECKPOINTS[name]["bundled"])


def _bundled(name):
    with safe_open(Path(__file__).parent / f"{name}.safetensors", "pt") as file:
        decoder = gpt.Decoder(gpt.Config(**json.loads(file.metadata()["config"])))
        decoder.load_state_dict({key: file.get_tensor(key) for key in file.keys()})
    return Model(name, decoder.eval())


def _sentence(error, spec):
    """Return the sentence that says why a checkpoint is not there, what stands in, and what to do."""
    from huggingface_hub import constants

    key = next(REASONS[kind.__name__] for kind in type(error).__mro__ if kind.__name__ in REASONS)
    code = getattr(getattr(error, "response", None), "status_code", None)
    if code:
        key = "busy" if code == 429 else "status"
    elif getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        key = "disk"
    values = {"host": constants.ENDPOINT, "folder": constants.HF_HUB_CACHE, "code": code, "error": repr(error)}
    why, how = (language.say(f"load.{key}_{part}", **values) for part in ("why", "how"))
    return language.say("load.fallback", title=spec["title"], bundled=spec["bundled"], why=why, how=how)


def _checkpoint(name):
    """Return the Model from the cache or the hub, or raise what went wrong."""
    from tokenizers import Tokenizer

    spec = CHECKPOINTS[name]
    paths = {file: _cached(spec, file) for file in FILES}
    if None in paths.values():
        paths = _fetch(spec)
    settings = json.loads(paths["config.json"].read_text(encoding="utf8"))
    if tuple(settings.get(key) for key in ("n_embd", "n_layer", "n_positions", "vocab_size")) != spec["shape"]:
        raise Damaged("config.json")
    decoder = checkpoints.decoder_from_transformers(load_file(paths["model.safetensors"]), settings)
    return Model(name, decoder.float(), Tokenizer.from_file(str(paths["tokenizer.json"])))


def _pin(spec, file, announced):
    """Return the hash that a file must have: the pinned one of the weights, else the announced one."""
    return file == "model.safetensors" and spec["sha256"] or announced


def _intact(path, digest):
    """Return whether a file exists and has this hash."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        if len(digest) == 64:
            return hashlib.file_digest(file, "sha256").hexdigest() == digest
        start = b"blob %d\0" % path.stat().st_size  # git hashes a file with this line before it
        return hashlib.sha1(start + file.read()).hexdigest() == digest


def _cached(spec, file):
    """Return the path of a file in the local cache, or None; a damaged one is removed."""
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(spec["repo"], file, revision=spec["revision"])
    if not isinstance(found, str):
        return None
    path = Path(found)
    digest = _pin(spec, file, path.resolve().name)  # the cache calls a file by its hash, and links to it
    if not HASH.fullmatch(digest) or _intact(path, digest):  # without links (Windows) only a pin can be checked
        return path
    with suppress(OSError):
        path.resolve().unlink()
        path.unlink(missing_ok=True)
    return None


def _fetch(spec):
    """Download what the cache lacks and return the paths of all files; nothing is in place before its hash is right."""
    from huggingface_hub import constants, get_hf_file_metadata, hf_hub_url
    from huggingface_hub.file_download import repo_folder_name
    from huggingface_hub.utils import WeakFileLock
    from tqdm.auto import tqdm

    constants.HF_HUB_DISABLE_TELEMETRY = True
    url = lambda file, revision: hf_hub_url(spec["repo"], file, revision=revision)
    ask = lambda file: get_hf_file_metadata(url(file, spec["revision"]), token=False, timeout=WAIT)
    announced = _within(WAIT, lambda: {file: ask(file) for file in FILES})
    for file, meta in announced.items():  # hash and commit become file names, so nothing else may be in them
        if not all(HASH.fullmatch(text or "") for text in (meta.etag, meta.commit_hash)) or not meta.size:
            raise Damaged(file)

    storage = Path(constants.HF_HUB_CACHE, repo_folder_name(repo_id=spec["repo"], repo_type="model"))
    (storage / "blobs").mkdir(parents=True, exist_ok=True)
    size = sum(meta.size for meta in announced.values()) / 1e6
    print(language.say("load.download", title=spec["title"], host=constants.ENDPOINT, size=size))
    paths = {}
    with WeakFileLock(storage / "download.lock"):  # a second notebook waits, and finds the files
        for file, meta in announced.items():
            digest = _pin(spec, file, meta.etag)
            blob, paths[file] = storage / "blobs" / digest, storage / "snapshots" / meta.commit_hash / file
            if not _intact(blob, digest) and not _intact(paths[file], digest):
                ...
    return paths
