"""The real checkpoints, with a network: `python -m pytest -m network -s`. Downloads 1 GB if the cache is empty.

Expected figures: shared facts of the project, derived from published ones; GPT-1's revision and hash are printed,
so that they can be pinned in `helpers/models/checkpoints.toml`.
"""

import hashlib
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from huggingface_hub import try_to_load_from_cache

from helpers import models
from helpers.trace import trace

pytestmark = pytest.mark.network

PROMPT = "The tea was cold, and nobody had come to the house since the morning."


@pytest.fixture(scope="module")
def gpt2():
    return load_real("gpt2")


@pytest.fixture(scope="module")
def gpt1():
    return load_real("gpt1")


def load_real(name):
    model = models.load(name)
    assert model.name == name, "the sentence above says why the real model is not here"
    return model


def weights_file(name):
    entry = models.CHECKPOINTS[name]
    return Path(try_to_load_from_cache(entry["repo"], "model.safetensors", revision=entry["revision"]))


def sha256(path):
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def parameters(model):
    return sum(p.numel() for p in model.decoder.parameters())


@torch.no_grad()
def loss(model, ids):
    """Return the mean loss in nats of ids[1:], each predicted from what stands before it."""
    return F.cross_entropy(model.decoder(ids[None])[0, :-1], ids[1:]).item()


@torch.no_grad()
def continue_greedily(model, ids, steps):
    for _ in range(steps):
        ids = torch.cat([ids, model.decoder(ids[None])[0, -1].argmax()[None]])
    return ids


def test_gpt2_file(gpt2):
    path = weights_file("gpt2")
    assert path.stat().st_size == 548_105_171
    assert sha256(path) == models.CHECKPOINTS["gpt2"]["sha256"]
    assert parameters(gpt2) == 124_439_808


def test_gpt2_greedy_continuation(gpt2):
    expected = [373, 1043, 287, 257, 2214, 1474, 262, 16246, 286, 2688, 290, 2688, 27262, 13, 198, 198, 464, 3290]
    assert continue_greedily(gpt2, torch.tensor([464, 3290]), len(expected)).tolist()[2:] == expected


def test_gpt2_tokenizer(gpt2):
    assert gpt2.encode("Hello world!").tolist() == [15496, 995, 0]
    assert gpt2.pieces([15496, 995, 0, 50256]) == ["Hello", "·world", "!", "<|endoftext|>"]
    assert gpt2.decoder.config.positions == 1024


def test_gpt2_loss(gpt2):
    ids = torch.tensor([50256, *gpt2.encode("Hello world!").tolist()])
    assert loss(gpt2, ids) == pytest.approx(5.3319, abs=2e-3)


def test_gpt2_lengths_at_an_ordinary_position(gpt2):
    found = trace(gpt2.decoder, gpt2.encode(PROMPT))
    after_block = found.lengths()[::2, -1].tolist()  # the embedding, then after each of 12 blocks
    print("GPT-2 small, last token:", [round(length, 1) for length in after_block])
    bounds = {0: (3, 8), 1: (35, 90), 6: (55, 120), 11: (130, 350), 12: (350, 650)}
    for index, (low, high) in bounds.items():
        assert low < after_block[index] < high, f"after block {index}"
    assert 100 < found.final[-1].norm() < 320


def test_gpt2_lengths_at_position_0(gpt2):
    after_block = trace(gpt2.decoder, gpt2.encode(PROMPT)).lengths()[::2, 0]
    print("GPT-2 small, position 0:", [round(length, 1) for length in after_block.tolist()])
    assert after_block[3] > 2000
    assert 2800 < after_block.max() < 3400
    assert after_block[12] < 800


def test_gpt1_file(gpt1):
    path = weights_file("gpt1")
    revision, digest = path.parent.name, sha256(path)
    print(f'\nGPT-1, {path.stat().st_size} bytes:\nrevision = "{revision}"\nsha256 = "{digest}"')
    assert path.resolve().name in (digest, path.name)  # the cache names it after the hash that the hub announced
    assert models.CHECKPOINTS["gpt1"].get("sha256", digest) == digest
    assert parameters(gpt1) == 116_534_784
    assert gpt1.decoder.config.positions == 512


def test_gpt1_reads_english(gpt1):
    ids = gpt1.encode(PROMPT)
    assert "".join(gpt1.pieces(ids)) == PROMPT.lower().replace(" ", "")
    assert loss(gpt1, ids) < 6  # an untrained one: ln 40478 = 10.6
    print("GPT-1 continues:", gpt1.pieces(continue_greedily(gpt1, ids, 12)))


def test_gpt1_stays_flat(gpt1):
    found = trace(gpt1.decoder, gpt1.encode(PROMPT))
    after_block = found.lengths()[2::2, -1]
    print("GPT-1, last token:", [round(length, 1) for length in after_block.tolist()])
    assert found.final is None
    assert after_block.max() / after_block.min() < 5  # GPT-2 small: 9


def test_a_repository_by_its_name():
    told = []
    model = models.load("HuggingFaceTB/SmolLM2-135M", tell=told.append)
    assert model.name == "HuggingFaceTB/SmolLM2-135M", told
    print(told[-1])
    lengths = trace(model.decoder, model.encode(PROMPT)).lengths()
    assert lengths.shape[0] == 2 * 30 + 1
    assert lengths[:, 0].max() > 10_000  # the first token carries a massive activation
