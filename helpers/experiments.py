"""Experiments on decoders: how they start, and how they train."""

import random
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from helpers.gpt import Config, Decoder
from helpers.language import data, one_of

LETTERS = "abcdefghijklmnopqrstuvwxyz ."


@torch.no_grad()
def initialise(decoder, scheme="xavier", seed=0):
    """Draw the decoder's weights anew, in place, and return the decoder. Raises ValueError for an unknown scheme.

    "xavier": matrices Xavier-uniform (Glorot & Bengio 2010); with DeepNorm, the MLP and the value and output maps of
    the attention get the gain β = (8N)^−¼ (Wang et al. 2022). "gpt2": standard deviation 0.02, and 0.02 / √(2N) where
    the stream is written to (Radford et al. 2019). Both: embeddings 0.02; biases and β are 0, γ is 1."""
    one_of(("xavier", "gpt2"), scheme, "scheme.unknown")
    config, random = decoder.config, torch.Generator().manual_seed(seed)
    writes, beta = (2 * config.layers) ** -0.5, (8 * config.layers) ** (-0.25 if config.placement == "deepnorm" else 0)
    for embedding in (decoder.token_embedding, decoder.position_embedding):
        embedding.weight.normal_(std=0.02, generator=random)
    for block in decoder.blocks:
        attention, mlp = block.attention.f, block.mlp.f
        query, key, value = attention.qkv.weight.chunk(3)
        draws = [(query, 1.0, 1.0), (key, 1.0, 1.0), (value, beta, 1.0), (attention.out.weight, beta, writes)]
        for weight, gain, factor in [*draws, (mlp.up.weight, beta, 1.0), (mlp.down.weight, beta, writes)]:
            if scheme == "xavier":
                nn.init.xavier_uniform_(weight, gain, random)
            else:
                weight.normal_(std=0.02 * factor, generator=random)
    for name, parameter in decoder.named_parameters():
        if name.endswith(("bias", "beta", "gamma")):
            parameter.fill_(name.endswith("gamma"))
    return decoder


def language_loss(decoder, windows):
    """Return the mean cross-entropy of the next token, in nats, over windows of ids (B, T + 1)."""
    return F.cross_entropy(decoder(windows[:, :-1]).flatten(0, 1), windows[:, 1:].flatten())


def random_windows(data, length, batch, seed):
    """Return `batch` windows of `length` + 1 ids from the 1-d tensor `data`, drawn with this seed."""
    random = torch.Generator().manual_seed(seed)
    starts = torch.randint(len(data) - length, (batch,), generator=random)
    return data[starts[:, None] + torch.arange(length + 1)].long()


def sentences(length, seed=0):
    """Return (length,) ids of made-up sentences from grammar.toml, everywhere the same; id i is LETTERS[i]."""
    draw, text, grammar = random.Random(seed), "", data("grammar.toml")
    while len(text) < length:
        text += " ".join(draw.choice(grammar[kind]) for kind in draw.choice(grammar["sentences"])) + ". "
    return torch.tensor([LETTERS.index(letter) for letter in text[:length]], dtype=torch.uint8)


def unigram():
    """Return the entropy of the sentences' letters in nats: the loss of whoever knows only how frequent each is."""
    share = sentences(100_000).bincount() / 100_000
    return -share.xlogy(share).sum().item()


def at_initialisation(decoder, windows):
    """Return (N + 1 mean squares of the stream, N lengths of the gradients of the MLPs' last matrices) as numbers.

    windows: ids (B, T + 1). Embeddings are divided by their RMS first, so the stream starts at 1 (Xiong et al. 2020)."""
    ids = windows[:, :-1]
    x = decoder.token_embedding(ids) + decoder.position_embedding.weight[: ids.shape[1]]
    stream = [x / x.square().mean(-1, keepdim=True).sqrt()]
    for block in decoder.blocks:
        stream.append(block(stream[-1]))
    logits = decoder.final_norm(stream[-1]) @ decoder.token_embedding.weight.T
    loss = F.cross_entropy(logits.flatten(0, 1), windows[:, 1:].flatten())
    gradients = torch.autograd.grad(loss, [block.mlp.f.down.weight for block in decoder.blocks])
    return [x.square().mean().item() for x in stream], [gradient.norm().item() for gradient in gradients]


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

    def losses(self, seed=0):
        """Train with Adam and yield the loss of each step, nats per letter; end early when it is no number."""
        config = Config(len(LETTERS), 32, 64, self.layers, 4, self.placement, self.norm)
        decoder = initialise(Decoder(config), self.scheme, seed)
        if not self.final_norm:
            decoder.final_norm = nn.Identity()
        data, optimizer = sentences(100_000), torch.optim.Adam(decoder.parameters(), betas=(0.9, 0.98))
        for step in range(self.steps):
            optimizer.param_groups[0]["lr"] = self.rate * min(1, (step + 1) / max(1, self.warmup))
            loss = language_loss(decoder, random_windows(data, 32, 8, seed * 10**6 + step))
            if not loss.isfinite():
                return
            yield loss.item()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
