"""Experiments on decoders: how they start, and how they train."""

import math

import torch
import torch.nn.functional as F
from torch import nn


@torch.no_grad()
def initialise(decoder, scheme="xavier", seed=0):
    """Draw the decoder's weights anew, in place, and return the decoder.

    "xavier": every matrix Xavier-uniform (Glorot & Bengio 2010); with DeepNorm, the MLP and the
    value and output maps of the attention get the gain β = (8N)^−¼ (Wang et al. 2022).
    "gpt2": standard deviation 0.02, and 0.02 / √(2N) for the maps that write to the stream
    (Radford et al. 2019). Biases and β are 0, γ is 1, embeddings have standard deviation 0.02 in both.
    Raises ValueError for another scheme.
    """
    if scheme not in ("xavier", "gpt2"):
        raise ValueError(f"scheme {scheme!r} is not one of xavier, gpt2")
    config = decoder.config
    random = torch.Generator().manual_seed(seed)
    beta = (8 * config.layers) ** -0.25 if config.placement == "deepnorm" else 1.0
    for embedding in (decoder.token_embedding, decoder.position_embedding):
        embedding.weight.normal_(std=0.02, generator=random)
    for block in decoder.blocks:
        attention, mlp = block.attention.f, block.mlp.f
        query, key, value = attention.qkv.weight.chunk(3)
        for weight, gain in ((query, 1.0), (key, 1.0), (value, beta)):
            _draw(weight, scheme, gain, 1.0, random)
        for linear, writes in ((attention.out, True), (mlp.up, False), (mlp.down, True)):
            _draw(linear.weight, scheme, beta, (2 * config.layers) ** -0.5 if writes else 1.0, random)
    for name, parameter in decoder.named_parameters():
        if name.endswith(("bias", "beta", "gamma")):
            parameter.fill_(1.0 if name.endswith("gamma") else 0.0)
    return decoder


def _draw(weight, scheme, xavier_gain, gpt2_factor, random):
    if scheme == "xavier":
        nn.init.xavier_uniform_(weight, gain=xavier_gain, generator=random)
    else:
        weight.normal_(std=0.02 * gpt2_factor, generator=random)


def language_loss(decoder, windows):
    """Return the mean cross-entropy of the next token, in nats, over windows of ids (B, T + 1)."""
    logits = decoder(windows[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), windows[:, 1:].flatten())


def random_windows(data, length, batch, seed):
    """Return `batch` windows of `length` + 1 ids from the 1-d tensor `data`, drawn with this seed."""
    random = torch.Generator().manual_seed(seed)
    starts = torch.randint(len(data) - length, (batch,), generator=random)
    return data[starts[:, None] + torch.arange(length + 1)].long()


def learning_rate(step, steps, peak, warmup):
    """Return the rate at a step: linear warmup from 0 to `peak`, then a cosine down to 0."""
    if step < warmup:
        return peak * (step + 1) / warmup
    return peak * 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, steps - warmup)))
