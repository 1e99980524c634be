"""A decoder to read: it holds GPT-2 small (pre-norm), GPT-1 (post-norm) and the bundled family."""

from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from torch import nn

from helpers.language import one_of, say
from helpers.norms import LayerNorm, RMSNorm

PLACEMENTS = ("pre", "post", "sandwich", "deepnorm", "output", "none")
NORMS = {"layernorm": LayerNorm, "rmsnorm": RMSNorm}


@dataclass(frozen=True)
class Config:
    """The shape of a decoder. `width` is d, the number of features a token has in the stream."""

    vocab_size: int
    positions: int
    width: int
    layers: int
    heads: int
    placement: str = "pre"
    norm: str = "layernorm"
    eps: float = 1e-5

    def __post_init__(self):
        one_of(PLACEMENTS, self.placement, "placement.unknown")
        one_of(NORMS, self.norm, "norm.unknown")
        if self.heads < 1 or self.width % self.heads:
            raise ValueError(f"width {self.width} is not a multiple of {self.heads} heads")


class Attention(nn.Module):
    """Causal self-attention, (B, T, d) to (B, T, d)."""

    def __init__(self, config):
        super().__init__()
        self.heads = config.heads
        self.qkv = nn.Linear(config.width, 3 * config.width)
        self.out = nn.Linear(config.width, config.width)

    def forward(self, x):
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)  # (B, heads, T, d / heads)
        return self.out(mixed.transpose(1, 2).flatten(2))


class MLP(nn.Module):
    """Two linear maps with a GELU between them, applied to each token, (B, T, d) to (B, T, d)."""

    def __init__(self, config):
        super().__init__()
        self.up = nn.Linear(config.width, 4 * config.width)
        self.down = nn.Linear(4 * config.width, config.width)

    def forward(self, x):
        return self.down(F.gelu(self.up(x), approximate="tanh"))


class Sublayer(nn.Module):
    """A function f (attention or MLP) with its norm and its residual connection."""

    def __init__(self, f, config):
        super().__init__()
        self.f, self.placement, self.alpha = f, config.placement, (2 * config.layers) ** 0.25  # α: Wang et al. 2022
        if self.placement != "none":
            self.norm = NORMS[config.norm](config.width, config.eps)
        if self.placement == "sandwich":
            self.norm_after = NORMS[config.norm](config.width, config.eps)

    @property
    def writer(self):
        """The module whose output is added to the stream."""
        return getattr(self, {"sandwich": "norm_after", "output": "norm"}.get(self.placement, "f"))

    def forward(self, x):
        match self.placement:
            case "pre":
                return x + self.f(self.norm(x))
            case "post":
                return self.norm(x + self.f(x))
            case "sandwich":
                return x + self.norm_after(self.f(self.norm(x)))
            case "deepnorm":
                return self.norm(self.alpha * x + self.f(x))
            case "output":
                return x + self.norm(self.f(x))
            case "none":
                return x + self.f(x)


class Block(nn.Module):
    """Attention, then the MLP."""

    def __init__(self, config):
        super().__init__()
        self.attention = Sublayer(Attention(config), config)
        self.mlp = Sublayer(MLP(config), config)

    def forward(self, x):
        return self.mlp(self.attention(x))


class Decoder(nn.Module):
    """Token ids of shape (B, T) to logits of shape (B, T, vocab_size)."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        half = 0.02 * 3**0.5  # uniform, standard deviation 0.02 as in GPT-2; normal_ takes a second on the meta device
        start = lambda rows: torch.empty(rows, config.width).uniform_(-half, half)
        self.token_embedding = nn.Embedding.from_pretrained(start(config.vocab_size), freeze=False)
        self.position_embedding = nn.Embedding.from_pretrained(start(config.positions), freeze=False)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        last = config.placement in ("pre", "sandwich", "output")  # no norm follows the last addition
        self.final_norm = NORMS[config.norm](config.width, config.eps) if last else nn.Identity()

    def hidden(self, ids):
        """Return what the output matrix reads: the stream after the last block and the final norm, (B, T, d).

        Raises ValueError for other shapes, for ids that the vocabulary lacks and for more tokens than positions."""
        last = self.config.vocab_size - 1
        if ids.dim() != 2 or ids.dtype not in (torch.int32, torch.int64) or bool(((ids < 0) | (ids > last)).any()):
            raise ValueError(say("decoder.ids", last=last, got=f"{tuple(ids.shape)}, {ids.dtype}"))
        if ids.shape[-1] > self.config.positions:
            raise ValueError(say("decoder.too_long", tokens=ids.shape[-1], limit=self.config.positions))
        x = self.token_embedding(ids) + self.position_embedding.weight[: ids.shape[-1]]
        for block in self.blocks:
            x = block(x)
        return self.final_norm(x)

    def forward(self, ids):
        return self.hidden(ids) @ self.token_embedding.weight.T

    def rewired(self, placement):
        """Return a decoder that shares these very weights, in another placement; ValueError for an unknown one.

        A norm that the new placement has and the old one lacks gets γ = 1 and β = 0."""
        with torch.device("meta"):
            other = Decoder(replace(self.config, placement=placement))
        missing, _ = other.load_state_dict(self.state_dict(keep_vars=True), strict=False, assign=True)
        weight, width = self.token_embedding.weight, self.config.width
        fresh = {name: weight.new_full((width,), 0.0 if name.endswith("beta") else 1.0) for name in missing}
        other.load_state_dict(fresh, strict=False, assign=True)
        return other.train(self.training)
