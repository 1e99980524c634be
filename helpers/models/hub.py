"""Files of a repository on the Hugging Face hub: from the cache, or downloaded and checked.

The library huggingface_hub keeps the cache, asks the hub, and downloads the small files. Only the weights are fetched
here, as version 2.4 of the library deletes what an interrupted download has left, and waits for as long as the server
says when that answers "too many requests", five minutes for example, without a word.
"""

import errno
import functools
import hashlib
import json
import re
import shutil
import threading
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from safetensors import SafetensorError, safe_open

from helpers.language import say
from helpers.models.model import Refused

WEIGHTS = "model.safetensors"
FILES = (WEIGHTS, "config.json", "tokenizer.json")
WAIT = 4  # seconds for the hub's answers to the question what there is; a reader without a network waits 5 at most
SMALL_FILE = 30  # seconds for a small file, and for filing one that is here already
SLOWEST_DISK = 1e6  # bytes a second: where links are not possible, as on many Windows computers, filing is a copy
SHA256 = re.compile("[0-9a-f]{64}")
NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)


class Damaged(Exception):
    """A file is not the one that was expected. Its text names the file."""


class Interrupted(Exception):
    """The server ended a file too early."""


class NotLoaded(Exception):
    """A model cannot be had now. `why` and `how` are clauses of a sentence for the reader."""

    def __init__(self, reason, **values):
        super().__init__(reason)
        self.reason = reason
        self.values = values

    def why(self):
        """Return what is the case, for the reader."""
        return self._clause("why")

    def how(self):
        """Return what the reader can do."""
        return self._clause("how")

    def _clause(self, part):
        from huggingface_hub import constants

        places = {"host": constants.ENDPOINT, "folder": constants.HF_HUB_CACHE}
        return say(f"load.{self.reason}_{part}", **places, **self.values)


@contextmanager
def errors_told_apart():  # noqa: C901, one `except` clause for each kind of error
    """Turn whatever goes wrong with the hub, the network, the disk or a file into NotLoaded; let Refused pass."""
    from httpx2 import ConnectError, TimeoutException, TransportError
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled

    try:
        yield
    except Refused:
        raise
    except KeyboardInterrupt as error:
        raise NotLoaded("stopped") from error
    except OfflineModeIsEnabled as error:
        raise NotLoaded("offline") from error
    except HfHubHTTPError as error:
        code = error.response.status_code
        if code == 429:
            raise NotLoaded("busy", code=code) from error
        raise NotLoaded("status", code=code) from error
    except ConnectError as error:
        raise NotLoaded("unreachable") from error
    except (TimeoutError, TimeoutException) as error:
        raise NotLoaded("silent") from error
    except (Interrupted, TransportError, LocalEntryNotFoundError) as error:  # the last: the hub is gone meanwhile
        raise NotLoaded("broken") from error
    except Damaged as error:
        raise NotLoaded("damaged") from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise NotLoaded("disk") from error
        raise NotLoaded("folder") from error
    except Exception as error:  # whatever it is, the lesson goes on
        raise NotLoaded("other", error=f"{type(error).__name__}: {error}") from error


def is_repository(name):
    """Return whether a text has the form of a repository's name on the hub, "owner/model"."""
    return NAME.fullmatch(name) is not None and not name.startswith("bundled/")


def files(repo, revision, title, tell, sha256=None, largest=None):
    """Return the paths of FILES by name, from the cache or else from the hub.

    sha256: of the weights, if it is known. largest: bytes of weights from which on they are refused. tell gets a
    sentence before a download and one about each damaged file in the cache, which is removed and fetched again.
    Raises what is told apart above, Refused for weights that are too large."""
    paths = _from_cache(repo, revision, tell, sha256)
    if len(paths) < len(FILES):
        paths = _from_hub(repo, revision, title, tell, sha256, largest)
    return paths


# ---- the cache ---------------------------------------------------------------------------------------------------


def _from_cache(repo, revision, tell, sha256):
    """Return the paths of those files that lie in the cache and are intact; remove the damaged ones."""
    from huggingface_hub import try_to_load_from_cache

    paths = {}
    for file in FILES:
        path = try_to_load_from_cache(repo, file, revision=revision)
        if not isinstance(path, str):  # not there, or known not to exist
            continue
        if _is_intact(Path(path), sha256 if file == WEIGHTS else None):
            paths[file] = path
        else:
            _remove(Path(path))
            tell(say("load.removed", file=path))
    return paths


def _is_intact(path, sha256=None):
    """Return whether a file has its hash, where that is known, and otherwise whether it can be read to its end."""
    stored = path.resolve()  # the cache names a file after its hash and links to it; without links, only a pin is known
    if sha256 is None and SHA256.fullmatch(stored.name):
        sha256 = stored.name
    if sha256 is not None:
        status = stored.stat()
        return _sha256(stored, status.st_size, status.st_mtime_ns) == sha256
    try:
        if path.name == WEIGHTS:
            with safe_open(path, "pt"):
                return True
        json.loads(path.read_text(encoding="utf8"))
    except (SafetensorError, ValueError):
        return False
    return True


@functools.cache
def _sha256(path, size, modified):
    """Return the SHA-256 of a file, computed once a kernel for each size and time of change."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _remove(path):
    """Remove a file of the cache and the link to it; on a disk that cannot be written it stays."""
    with suppress(OSError):
        path.resolve().unlink(missing_ok=True)
        path.unlink(missing_ok=True)


# ---- the hub -----------------------------------------------------------------------------------------------------


@dataclass
class Announced:
    """What the hub says of a file: its size in bytes, and its hash."""

    url: str
    size: int
    digest: str


def _from_hub(repo, revision, title, tell, sha256, largest):
    """Download what the cache lacks; return the paths of FILES."""
    from huggingface_hub import constants, hf_hub_download

    announced = within(WAIT, functools.partial(_ask, repo, revision))
    weights = announced[WEIGHTS]
    if not SHA256.fullmatch(weights.digest) or sha256 not in (None, weights.digest):
        raise Damaged(f"{weights.url}: {constants.ENDPOINT} announces another file")
    if largest is not None and weights.size > largest:
        raise Refused(say("load.too_large", title=title, size=weights.size / 1e6, limit=largest / 1e6))
    megabytes = sum(file.size for file in announced.values()) / 1e6
    tell(say("load.download", title=title, host=constants.ENDPOINT, size=megabytes))
    stored = Path(constants.HF_HUB_CACHE, f"models--{repo.replace('/', '--')}", "blobs", weights.digest)
    _store_weights(weights, stored)
    paths = {}
    for file in FILES:
        seconds = SMALL_FILE + announced[file].size / SLOWEST_DISK
        paths[file] = within(seconds, functools.partial(hf_hub_download, repo, file, revision=revision, token=False))
    if Path(paths[WEIGHTS]).resolve() != stored.resolve():
        stored.unlink(missing_ok=True)  # where links are not possible, the library has made a copy
    for file, path in paths.items():
        if not _is_intact(Path(path), weights.digest if file == WEIGHTS else None):
            _remove(Path(path))
            raise Damaged(path)
    return paths


def read_tokenizer(path):
    """Return the tokenizer of a file tokenizer.json. Raises Damaged for a file that holds none, and removes it."""
    from tokenizers import Tokenizer

    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises nothing more special
        _remove(Path(path))
        raise Damaged(f"{path}: {error}") from error


def _ask(repo, revision):
    """Return what the hub announces about each of FILES."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url

    announced = {}
    for file in FILES:
        url = hf_hub_url(repo, file, revision=revision)
        found = get_hf_file_metadata(url, token=False, timeout=WAIT)
        if found.size is None or found.etag is None or found.commit_hash is None:
            raise Damaged(f"{url}: the answer is not that of a hub")  # a page that asks for a login, for example
        announced[file] = Announced(url, found.size, found.etag)
    return announced


def within(seconds, function):
    """Return function(), or raise TimeoutError after so many seconds, whatever it waits for.

    No time-out of a library covers a name server that does not answer. The thread is then left to itself; it does not
    keep the process from ending."""
    answer = Future()

    def run():
        try:
            answer.set_result(function())
        except BaseException as error:
            answer.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return answer.result(seconds)


# ---- the weights -------------------------------------------------------------------------------------------------


def _store_weights(weights, stored):
    """Download weights to their place in the cache; nothing is put there before its hash is right.

    What an interrupted download has left is continued. Another kernel that wants the same file waits here for the
    first one, and then finds it."""
    from huggingface_hub.utils import WeakFileLock

    stored.parent.mkdir(parents=True, exist_ok=True)
    part = stored.with_name(f"{stored.name}.incomplete")
    with WeakFileLock(stored.with_name(f"{stored.name}.lock")):
        if stored.is_file() and _is_intact(stored, weights.digest):
            return
        try:
            _complete(weights, part)
        except OSError as error:
            if error.errno is not None:  # a full disk must not stay full because of this file
                part.unlink(missing_ok=True)
            raise
        if not _is_intact(part, weights.digest):
            part.unlink()
            raise Damaged(weights.url)
        part.replace(stored)


def _complete(weights, part):
    """Append what a partial file lacks. While each attempt brings new bytes, a broken connection is tried again."""
    from httpx2 import TransportError
    from tqdm.auto import tqdm

    part.touch()
    if part.stat().st_size > weights.size:
        part.unlink()
        part.touch()
    best = part.stat().st_size
    if weights.size - best > shutil.disk_usage(part.parent).free:
        raise OSError(errno.ENOSPC, "the disk is full")
    with tqdm(total=weights.size, initial=best, unit="B", unit_scale=True, desc=WEIGHTS) as progress:
        while part.stat().st_size < weights.size:
            problem = None
            try:
                _receive(weights, part, progress)
            except TransportError as error:
                problem = error
            size = part.stat().st_size
            if size <= best and problem is not None:
                raise problem
            if size <= best:
                raise Interrupted(weights.url)
            best = size


def _receive(weights, part, progress):
    """Ask once for what a partial file lacks, and append what comes."""
    from huggingface_hub import constants, get_session
    from huggingface_hub.utils import build_hf_headers, hf_raise_for_status

    start = part.stat().st_size
    headers = build_hf_headers(token=False) | {"Accept-Encoding": "identity"}
    if start > 0:
        headers["Range"] = f"bytes={start}-"
    seconds = constants.HF_HUB_DOWNLOAD_TIMEOUT  # of silence; the environment variable of this name sets it
    with get_session().stream("GET", weights.url, headers=headers, timeout=seconds) as response:
        hf_raise_for_status(response)
        whole = start > 0 and response.status_code == 200  # the server sends the file from its start
        with part.open("wb" if whole else "ab") as file:
            progress.n = file.tell()
            for piece in response.iter_raw():
                file.write(piece)
                progress.update(len(piece))
