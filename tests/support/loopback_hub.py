"""A Hugging Face hub on 127.0.0.1 that serves folders, and that can fail in the ways in which servers fail.

with Hub({"openai-community/gpt2": folder}) as hub:
    hub.fault = "cut"
    ...  # a process with HF_ENDPOINT=hub.url sees the fault
"""

import hashlib
import json
import re
import socket
import struct
import threading
import time
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import torch
from safetensors.torch import save_file

COMMIT = "0123456789abcdef0123456789abcdef01234567"
FAULTS = {
    "silent": "accepts connections and never answers",
    "stall": "sends half of the weights, then nothing more, also when asked for the rest",
    "cut": "closes the connection in the middle of the weights, as long as the fault is set",
    "cut-once": "closes the connection in the middle of the weights, the first time",
    "reset-once": "resets the connection in the middle of the weights, the first time",
    "no-range": "ignores Range and sends whole files",
    "cut-no-range": "both of the last two",
    "empty-rest": "cuts, and answers a request for the rest with nothing at all, politely",
    "flipped": "sends weights in which one byte is wrong",
    "other": "announces and sends weights that differ from the pinned ones",
    "portal": "answers everything with a web page that asks for a login",
    "get-429": "announces the files, but answers 429 when asked for them",
    "gated": "gives files only to those who have agreed to terms",
    "renamed": "answers first with a redirect to another address on the same host",
    "slow": "sends the weights in pieces, with pauses",
}


@lru_cache
def _hashes(path, time):
    """Return (SHA-256, git's SHA-1) of a file; computed once, since a hub must answer within seconds."""
    data = path.read_bytes()
    return hashlib.sha256(data).hexdigest(), hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def hashes(path):
    return _hashes(path, path.stat().st_mtime_ns)


class Hub:
    """The server. `requests` is a list of (method, file name, Range header or None).

    Weights come from another host by a redirect, as from the real hub; only the request there is listed.
    fault: None, a status such as 404, 429 or 500, or a key of FAULTS.
    """

    def __init__(self, repositories, commit=COMMIT):
        self.repositories = {repo: Path(folder) for repo, folder in repositories.items()}
        self.commit, self.fault, self.requests = commit, None, []
        self.closing = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), type("BoundHandler", (_Handler,), {"hub": self}))
        self.server.daemon_threads = True
        self.server.block_on_close = False
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()

    def downloads(self, file="model.safetensors"):
        """Return the Range headers of the GET requests for a file."""
        return [byte_range for method, name, byte_range in self.requests if (method, name) == ("GET", file)]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self._answer()

    def do_GET(self):
        self._answer()

    def _answer(self):
        """Answer as the hub does, unless its fault is another answer."""
        match = re.fullmatch(r"(/cdn)?/(.+?)/resolve/([^/]+)/(.+)", self.path)
        cdn, repo, revision, file = match.groups() if match else (None, None, None, self.path)
        weights = file.endswith(".safetensors")
        if cdn or not weights or self.command == "HEAD":
            self.hub.requests.append((self.command, file, self.headers.get("Range")))
        if self.hub.fault == "silent":
            self.hub.closing.wait(120)
            self.close_connection = True
        elif not self._refuse(cdn):
            self._answer_with_file(cdn, (repo or "").removeprefix("renamed/"), revision, file)

    def _refuse(self, cdn):
        """Send the answer of a fault that keeps from every file; return whether there was one."""
        fault = self.hub.fault
        if fault == "get-429":
            fault = 429 if self.command == "GET" else None
        answers = {
            "gated": (403, {"X-Error-Code": "GatedRepo"}, b"agree first"),
            "portal": (200, {"Content-Type": "text/html"}, b"<html>Please log in</html>"),
        }
        if not cdn and not self.path.startswith("/renamed"):
            answers["renamed"] = (307, {"Location": f"/renamed{self.path}"}, b"")
        if isinstance(fault, int):
            answers[fault] = (fault, {"Retry-After": "300"} if fault == 429 else {}, b"fault")
        if fault not in answers:
            return False
        self._send(*answers[fault])
        return True

    def _answer_with_file(self, cdn, repo, revision, file):
        """Send a file, or for weights where they are; a fault of the hub may change them."""
        hub, weights = self.hub, file.endswith(".safetensors")
        path = hub.repositories[repo] / file if repo in hub.repositories else None
        if path is None or not path.is_file() or revision not in ("main", hub.commit):
            self._send(404, {"X-Error-Code": "EntryNotFound" if path else "RepoNotFound"}, b"not found")
            return
        data, (sha256, sha1) = path.read_bytes(), hashes(path)
        if weights and hub.fault == "other":
            data = with_another_end(data)
            sha256 = hashlib.sha256(data).hexdigest()
        headers = {
            "X-Repo-Commit": hub.commit,
            "Accept-Ranges": "bytes",
            "X-HF-Warning": "unauthenticated; You are sending unauthenticated requests.",
            "ETag": f'"{sha1}"',
        }
        if not weights:
            self._send_part(headers, data)
            return
        headers |= {"X-Linked-Etag": f'"{sha256}"', "X-Linked-Size": str(len(data))}
        if not cdn:
            location = f"http://localhost:{hub.server.server_port}/cdn{self.path}"
            self._send(302, headers | {"Location": location}, b"")
            return
        self._send_part(headers, with_another_end(data) if hub.fault == "flipped" else data, hub.fault)

    def _send_part(self, headers, data, fault=None):
        """Send a file or, if that was asked for and the hub can do it, the rest of it."""
        start, status = 0, 200
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range") or "")
        if asked and self.hub.fault not in ("no-range", "cut-no-range"):
            start, status = int(asked[1]), 206
            headers = headers | {"Content-Range": f"bytes {start}-{len(data) - 1}/{len(data)}"}
        if start and self.hub.fault == "empty-rest":
            self._send(status, headers, b"")
            return
        self._send(status, headers, data[start:], fault, max(0, len(data) // 2 - start))

    def _send(self, status, headers, body, fault=None, half=0):
        """Send an answer; with a fault, stop after `half` bytes."""
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(body))} | headers).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        if fault == "slow":
            for start in range(0, len(body), 2**16):
                self.wfile.write(body[start : start + 2**16])
                self.wfile.flush()
                time.sleep(0.2)
        elif fault in ("stall", "cut", "cut-once", "reset-once", "cut-no-range", "empty-rest"):
            self.wfile.write(body[:half])
            self.wfile.flush()
            self._break_off(fault)
        else:
            self.wfile.write(body)

    def _break_off(self, fault):
        """End the connection within an answer."""
        self.close_connection = True
        if fault == "stall":
            self.hub.closing.wait(120)
        else:
            time.sleep(0.05)  # so that what was sent arrives before the end does
        if fault == "reset-once":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            for end in (self.rfile, self.wfile, self.connection):
                end.close()
        afterwards = {"cut-once": None, "reset-once": None, "cut-no-range": "no-range"}
        if fault in afterwards:
            self.hub.fault = afterwards[fault]


def with_another_end(data):
    """Return bytes of which the last one is another."""
    return data[:-1] + bytes([data[-1] ^ 1])


def _write(path, model, masks):
    """Write config.json and model.safetensors as the hub's old checkpoints have them.

    The names of the tensors have no prefix, and the masks are stored.
    """
    path.mkdir(parents=True, exist_ok=True)
    config, state = model.config, {}
    for name, tensor in model.transformer.state_dict().items():
        state[name] = tensor.detach().clone().contiguous()
    for block in range(config.n_layer):
        state[f"h.{block}.attn.bias"] = torch.ones(masks, masks).tril()[None, None].clone()
    save_file(state, path / "model.safetensors", metadata={"format": "pt"})
    (path / "config.json").write_text(json.dumps(config.to_dict(), default=str), encoding="utf8")


TEXT = ["The tea was cold, and nobody had come to the house.", "Der Tee war kalt.", "Teet var kallt, hello world!"]


def make_gpt2_folder(path, small=True, seed=0, layers=2):
    """Write a repository folder with a GPT-2 of random weights and a byte-level tokenizer; return the path.

    small: blocks of width 24, 0.3 MB for two of them; otherwise the shape of GPT-2 small, 548 MB.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import GPT2Config, GPT2LMHeadModel

    path = Path(path)
    torch.manual_seed(seed)
    size = {"vocab_size": 300, "n_positions": 32, "n_embd": 24, "n_layer": layers, "n_head": 2} if small else {}
    config = GPT2Config(**size, bos_token_id=0, eos_token_id=0)
    _write(path, GPT2LMHeadModel(config), config.n_positions)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=300, initial_alphabet=alphabet, special_tokens=["<|endoftext|>"])
    tokenizer.train_from_iterator(TEXT, trainer)
    tokenizer.save(str(path / "tokenizer.json"))
    return path


def make_gpt1_folder(path, small=True, seed=0, layers=2):
    """Write a repository folder with a GPT-1 of random weights and a lower-casing tokenizer; return the path."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
    from transformers import OpenAIGPTConfig, OpenAIGPTLMHeadModel

    path = Path(path)
    torch.manual_seed(seed)
    size = {"vocab_size": 300, "n_positions": 16, "n_embd": 24, "n_layer": layers, "n_head": 2} if small else {}
    config = OpenAIGPTConfig(**size)
    _write(path, OpenAIGPTLMHeadModel(config), config.n_positions)
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.BPEDecoder(suffix="</w>")
    trainer = trainers.BpeTrainer(vocab_size=300, end_of_word_suffix="</w>", special_tokens=["<unk>"])
    tokenizer.train_from_iterator(TEXT, trainer)
    tokenizer.save(str(path / "tokenizer.json"))
    return path


def make_llama_folder(path):
    """Write a repository folder with a Llama of two blocks of random weights; return the path.

    The tokenizer is that of `make_gpt2_folder`.
    """
    from transformers import LlamaConfig, LlamaForCausalLM

    path = make_gpt2_folder(path)  # for its tokenizer; the rest is overwritten
    torch.manual_seed(0)
    size = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = LlamaConfig(vocab_size=300, max_position_embeddings=64, **size)
    LlamaForCausalLM(config).save_pretrained(path)
    return path


def checkpoint(folder, repo, bundled, revision=COMMIT, pinned=True):
    """Return an entry for `models.CHECKPOINTS` that fits a repository folder."""
    config = json.loads((folder / "config.json").read_text(encoding="utf8"))
    return {
        "title": "GPT-2 small" if config["model_type"] == "gpt2" else "GPT-1",
        "repo": repo,
        "revision": revision,
        "sha256": hashes(folder / "model.safetensors")[0] if pinned else None,
        "settings": {key: config[key] for key in ("n_embd", "n_layer", "n_positions", "vocab_size")},
        "bundled": bundled,
    }
