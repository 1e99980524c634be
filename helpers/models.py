"""The models by name: from the cache or the hub (safetensors and JSON only, hashes checked), or the bundled family."""

import errno
import hashlib
import json
import re
import shutil
import textwrap
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import safe_open
from safetensors.torch import load_file

from helpers import checkpoints, gpt, language

CHECKPOINTS = language.data("models.toml")
REASONS = CHECKPOINTS.pop("reasons")
BUNDLED = tuple(f"bundled/{name}" for name in ("ln-pre", "ln-post", "rms-pre", "rms-sandwich", "ln-deepnorm"))
FILES = ("model.safetensors", "config.json", "tokenizer.json")
NAMES = (*CHECKPOINTS, *BUNDLED)
WAIT = 4  # seconds until the hub has answered; with what surrounds it, the reader waits 5 at most
STALL = 3  # seconds of silence that end a connection; the library makes 6 without a new byte, with pauses of a second
CHUNK = 2**14  # bytes that a failing connection may lose
HASH = re.compile("[0-9a-f]{64}|[0-9a-f]{40}")  # SHA-256, or git's SHA-1 for the small files


@dataclass
class Model:
    """A decoder in eval mode and float32; its real name ("bundled/ln-pre"); its tokenizer, or None for UTF-8 bytes."""

    name: str
    decoder: gpt.Decoder
    tokenizer: object = None

    def encode(self, text):
        """Return the token ids of a text, (T,), at most as many as there are positions. ValueError if it has none."""
        if not (ids := self._all_ids(text)):
            raise ValueError(language.say("load.empty"))
        return torch.tensor(ids[: self.decoder.config.positions])

    def notice(self, text):
        """Return a sentence that says how `encode` cuts this text, or "" if it does not."""
        tokens, limit = len(self._all_ids(text)), self.decoder.config.positions
        return language.say("load.cut", tokens=tokens, limit=limit) if tokens > limit else ""

    def _all_ids(self, text):
        data = text.encode("utf8", "replace")  # half of a surrogate pair has no UTF-8
        return self.tokenizer.encode(data.decode()).ids if self.tokenizer else list(data)

    def pieces(self, ids):
        """Return a label for each of T token ids: a space is ·, a line end ↵, the two bytes of ä are ä₁ and ä₂."""
        if self.tokenizer:
            labels = [self.tokenizer.decode([int(i)], skip_special_tokens=False) for i in ids]
        else:
            labels = []
            for character in bytes(int(i) for i in ids).decode(errors="surrogateescape"):
                size = len(character.encode(errors="surrogateescape"))
                shown = character.encode(errors="replace").decode()  # ? for a byte outside of any character
                labels += [shown + mark for mark in "₁₂₃₄"[:size]] if size > 1 else [shown]
        shown = {" ": "·", "\n": "↵"}  # and what has no form of its own, or turns the text around it, as its escape
        return ["".join(shown.get(c, c if c.isprintable() else ascii(c)[1:-1]) for c in label) for label in labels]


def load(name, tell=lambda text: print(textwrap.fill(text, 72, break_on_hyphens=False, break_long_words=False))):
    """Return the Model "gpt2", "gpt1" or "bundled/…"; its name tells whether a bundled model stands in.

    tell gets each sentence for the reader: before a download, and when a bundled model stands in, with the reason.
    Raises ValueError for an unknown name."""
    if language.one_of(NAMES, name, "load.unknown") in BUNDLED:
        return _bundled(name)
    try:
        return _checkpoint(name, tell, **CHECKPOINTS[name])
    except (Exception, KeyboardInterrupt) as error:  # whatever it is, the lesson goes on
        tell(_sentence(error, **CHECKPOINTS[name]))
        return _bundled(CHECKPOINTS[name]["bundled"])


def _bundled(name):
    with safe_open(Path(__file__).parent / f"{name}.safetensors", "pt") as file:
        decoder = gpt.Decoder(gpt.Config(**json.loads(file.metadata()["config"])))
        decoder.load_state_dict({key: file.get_tensor(key) for key in file.keys()})
    return Model(name, decoder.eval())


def _sentence(error, title, bundled, **_):
    """Return the sentence that says why a checkpoint is not there, what stands in, and what to do."""
    from huggingface_hub import constants

    code = getattr(getattr(error, "response", None), "status_code", None)
    number = errno.errorcode.get(getattr(error, "errno", None))
    marks = [str(code), number, *(kind.__name__ for kind in type(error).__mro__)]
    key = next(REASONS[mark] for mark in marks if mark in REASONS)
    values = {"host": constants.ENDPOINT, "folder": constants.HF_HUB_CACHE, "code": code, "error": repr(error)}
    why, how = (language.say(f"load.{key}_{part}", **values) for part in ("why", "how"))
    return language.say("load.fallback", title=title, bundled=bundled, why=why, how=how)


def _checkpoint(name, tell, title, repo, revision, settings, sha256=None, **_):
    """Return the Model from the cache or the hub, or raise what went wrong."""
    from huggingface_hub import try_to_load_from_cache
    from tokenizers import Tokenizer

    paths = [try_to_load_from_cache(repo, file, revision=revision) for file in FILES]
    if not all(_intact(path, pin) for path, pin in zip(paths, (sha256, None, None), strict=True)):
        paths = _fetch(tell, title, repo, revision, sha256)
    config = json.loads(Path(paths[1]).read_text(encoding="utf8"))
    if not settings.items() <= config.items():
        raise ValueError(f"the settings in {paths[1]} are not those of {title}")
    decoder = checkpoints.decoder_from_transformers(load_file(paths[0]), config)
    return Model(name, decoder.float(), Tokenizer.from_file(paths[2]))


def _intact(path, digest=None):
    """Return whether a file has this hash, by default the one in its name; remove a damaged file."""
    path = Path(path).resolve() if isinstance(path, str | Path) else Path()
    digest = digest or path.name  # the cache names a file after its hash, and links to it
    if not path.is_file() or not HASH.fullmatch(digest):
        return path.is_file()  # without links (on Windows) only a pinned hash can be checked
    stamp = path.with_name(f"{path.name}.checked")  # computed anew only when size or time of the file have changed
    state = f"{digest} {path.stat().st_size} {path.stat().st_mtime_ns}"
    if stamp.is_file() and stamp.read_text() == state:
        return True
    start = hashlib.sha256() if len(digest) == 64 else hashlib.sha1(b"blob %d\0" % path.stat().st_size)
    with path.open("rb") as file:
        intact = hashlib.file_digest(file, lambda: start).hexdigest() == digest
    if not intact:
        path.unlink()
    elif path.suffix != ".incomplete":
        with suppress(OSError):  # a cache that cannot be written is hashed each time
            stamp.write_text(state)
    return intact


def _fetch(tell, title, repo, revision, sha256):
    """Download what the cache lacks and return the paths; nothing is put in place before its hash is right."""
    from huggingface_hub import constants, get_hf_file_metadata, hf_hub_download, hf_hub_url
    from huggingface_hub.utils import WeakFileLock, logging

    constants.HF_HUB_DISABLE_TELEMETRY = True
    logging.set_verbosity_error()  # it would warn in English that requests carry no token
    in_time = lambda function: ThreadPoolExecutor(1).submit(function).result(WAIT)  # a name server may be silent
    urls = [hf_hub_url(repo, file, revision=revision) for file in FILES]
    found = in_time(lambda: [get_hf_file_metadata(url, token=False, timeout=WAIT) for url in urls])
    if not all(HASH.fullmatch(str(file.etag)) for file in found) or sha256 not in (None, found[0].etag):
        raise ValueError(f"{constants.ENDPOINT} announces other files")
    blobs = Path(constants.HF_HUB_CACHE, f"models--{repo.replace('/', '--')}", "blobs")
    blobs.mkdir(parents=True, exist_ok=True)
    tell(language.say("load.download", title=title, host=constants.ENDPOINT, size=sum(f.size for f in found) / 1e6))
    with WeakFileLock(blobs / "lock"):  # a second notebook waits here, and then finds the files
        for url, file in zip(urls, found, strict=True):
            part = blobs / f"{file.etag}.incomplete"
            if not _intact(blobs / file.etag):
                _resume(url, part, file.size)
                if not _intact(part, file.etag):
                    raise ValueError(f"{url} is damaged")
                part.replace(blobs / file.etag)
    return [in_time(lambda file=file: hf_hub_download(repo, file, revision=revision, token=False)) for file in FILES]


def _resume(url, part, size, again=True):
    """Append to a partial file what it lacks of `size` bytes; when the connection fails, it is kept for the next call."""
    from httpx2 import ReadError
    from huggingface_hub import constants, file_download, get_session
    from tqdm.auto import tqdm

    constants.HF_HUB_DOWNLOAD_TIMEOUT, constants.DOWNLOAD_CHUNK_SIZE = STALL, CHUNK
    options = {"headers": {"Accept-Encoding": "identity"}, "displayed_filename": Path(url).name, "tqdm_class": tqdm}
    hooks, refuse = get_session().event_hooks["response"], lambda answer: answer.is_error and answer.raise_for_status()
    hooks.append(refuse)  # at 429, the library would wait for as long as the server says
    try:
        with part.open("ab") as file:
            start = file.tell()
            if size - start > shutil.disk_usage(part.parent).free:
                raise OSError(errno.ENOSPC, "the disk is full")
            file_download.http_get(url, file, resume_size=min(start, size), expected_size=size, **options)
    except (OSError, ReadError) as error:
        if getattr(error, "errno", None):  # a full disk must not stay full because of this file
            part.unlink(missing_ok=True)
            raise
        if not (further := part.stat().st_size > start) and not again:
            raise ReadError("the file ended too early") from error
        _resume(url, part, size, again=further)  # the library itself does not go on after a reset
    finally:
        hooks.remove(refuse)
