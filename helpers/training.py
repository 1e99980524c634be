"""Experiments on decoders: how they start, and how they train."""

import random
import tomllib
from dataclasses import dataclass
from importlib.resources import files

import torch
import torch.nn.functional as F
from torch import nn

from helpers.decoder import Config, Decoder

LETTERS = "abcdefghijklmnopqrstuvwxyz ."
SCHEMES = ("xavier", "gpt2")


@torch.no_grad()
def initialise(decoder, scheme="xavier", seed=0):
    """Draw the decoder's weights anew, in place, and return the decoder. Raises ValueError for an unknown scheme.

    "xavier": matrices Xavier-uniform (Glorot & Bengio 2010); with DeepNorm, the MLP and the value and output maps of
    the attention get the gain β = (8N)^−¼ (Wang et al. 2022). "gpt2": standard deviation 0.02, and 0.02 / √(2N) where
    the stream is written to (Radford et al. 2019). Both: embeddings 0.02; biases and β are 0, γ is 1."""
    if scheme not in SCHEMES:
        raise ValueError(f"“{scheme}” is not a way to initialise. Choose one of: {', '.join(SCHEMES)}.")
    generator = torch.Generator().manual_seed(seed)
    layers = decoder.config.layers
    deepnorm_gain = 1.0
    if decoder.config.placement == "deepnorm":
        deepnorm_gain = (8 * layers) ** -0.25
    write_factor = (2 * layers) ** -0.5
    for embedding in (decoder.token_embedding, decoder.position_embedding):
        embedding.weight.normal_(std=0.02, generator=generator)
    for block in decoder.blocks:
        attention = block.attention.f
        mlp = block.mlp.f
        query, key, value = attention.qkv.weight.chunk(3)
        draws = [  # matrix, gain of "xavier", factor of "gpt2"
            (query, 1.0, 1.0),
            (key, 1.0, 1.0),
            (value, deepnorm_gain, 1.0),
            (attention.out.weight, deepnorm_gain, write_factor),
            (mlp.up.weight, deepnorm_gain, 1.0),
            (mlp.down.weight, deepnorm_gain, write_factor),
        ]
        for weight, gain, factor in draws:
            if scheme == "xavier":
                nn.init.xavier_uniform_(weight, gain, generator)
            else:
                weight.normal_(std=0.02 * factor, generator=generator)
    for name, parameter in decoder.named_parameters():
        if name.endswith("gamma"):
            parameter.fill_(1.0)
        elif name.endswith(("bias", "beta")):
            parameter.fill_(0.0)
    return decoder


def language_loss(decoder, windows):
    """Return the mean cross-entropy of the next token, in nats, over windows of ids (B, T + 1)."""
    logits = decoder(windows[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), windows[:, 1:].flatten())


def random_windows(data, length, batch, seed):
    """Return `batch` windows of `length` + 1 ids from the 1-d tensor `data`, drawn with this seed."""
    generator = torch.Generator().manual_seed(seed)
    starts = torch.randint(len(data) - length, (batch,), generator=generator)
    return data[starts[:, None] + torch.arange(length + 1)].long()


def sentences(length, seed=0):
    """Return (length,) ids of sentences from training_sentences.toml, everywhere the same; id i is LETTERS[i]."""
    generator = random.Random(seed)
    grammar = tomllib.loads(files("helpers").joinpath("training_sentences.toml").read_text("utf8"))
    text = ""
    while len(text) < length:
        kinds = generator.choice(grammar["sentences"])
        words = [generator.choice(grammar[kind]) for kind in kinds]
        text += " ".join(words) + ". "
    return torch.tensor([LETTERS.index(letter) for letter in text[:length]], dtype=torch.uint8)


def unigram():
    """Return the entropy of the sentences' letters in nats: the loss of whoever knows only how frequent each is."""
    share = sentences(100_000).bincount().float() / 100_000
    return -share.xlogy(share).sum().item()


@torch.enable_grad()
def at_initialisation(decoder, windows):
    """Return (N + 1 mean squares of the stream, N lengths of the gradients of the MLPs' last matrices) as numbers.

    windows: ids (B, T + 1). Embeddings are divided by their RMS first, so the stream starts at 1 (Xiong et al. 2020).
    Gradients are computed also where they are switched off."""
    ids = windows[:, :-1]
    x = decoder.token_embedding(ids) + decoder.position_embedding.weight[: ids.shape[1]]
    stream = [x / x.square().mean(-1, keepdim=True).sqrt()]
    for block in decoder.blocks:
        stream.append(block(stream[-1]))
    logits = decoder.final_norm(stream[-1]) @ decoder.token_embedding.weight.T
    loss = F.cross_entropy(logits.flatten(0, 1), windows[:, 1:].flatten())
    gradients = torch.autograd.grad(loss, [block.mlp.f.down.weight for block in decoder.blocks])
    mean_squares = [x.square().mean().item() for x in stream]
    return mean_squares, [gradient.norm().item() for gradient in gradients]


@dataclass(frozen=True)
class Run:
    """A training run. warmup: steps in which the rate climbs from 0 to `rate`, where it stays."""

    placement: str = "pre"
    norm: str = "layernorm"
    layers: int = 12
    rate: float = 5e-4
    warmup: int = 0
    steps: int = 300
    scheme: str = "xavier"
    final_norm: bool = True

    @torch.enable_grad()
    def losses(self, seed=0):
        """Train with Adam and yield the loss of each step, nats per letter; end early when it is no number.

        Gradients are computed also where they are switched off."""
        config = Config(
            vocab_size=len(LETTERS),
            positions=32,
            width=64,
            layers=self.layers,
            heads=4,
            placement=self.placement,
            norm=self.norm,
        )
        decoder = Decoder(config).float()  # also where torch's default is another format
        initialise(decoder, self.scheme, seed)
        if not self.final_norm:
            decoder.final_norm = nn.Identity()
        text = sentences(100_000)
        optimizer = torch.optim.Adam(decoder.parameters(), betas=(0.9, 0.98))
        for step in range(self.steps):
            optimizer.param_groups[0]["lr"] = self.rate * min(1, (step + 1) / max(1, self.warmup))
            windows = random_windows(text, length=32, batch=8, seed=seed * 10**6 + step)
            loss = language_loss(decoder, windows)
            if not loss.isfinite():
                return
            yield loss.item()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
