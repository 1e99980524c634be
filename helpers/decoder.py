"""A decoder to read: it holds GPT-2 small (pre-norm), GPT-1 (post-norm) and the bundled family."""

from dataclasses import dataclass, replace
from numbers import Integral

import torch
import torch.nn.functional as F
from torch import nn

from helpers.norms import LayerNorm, RMSNorm

PLACEMENTS = ("pre", "post", "sandwich", "deepnorm", "output", "none")
NORMS = {"layernorm": LayerNorm, "rmsnorm": RMSNorm}


@dataclass(frozen=True)
class Config:
    """The shape of a decoder. `width` is d, the number of features a token has in the stream.

    Raises ValueError for an unknown placement or norm, for sizes below 1, and for a width that the heads cannot
    share evenly."""

    vocab_size: int
    positions: int
    width: int
    layers: int
    heads: int
    placement: str = "pre"
    norm: str = "layernorm"
    eps: float = 1e-5

    def __post_init__(self):
        if not isinstance(self.placement, str) or self.placement not in PLACEMENTS:
            raise ValueError(f"“{self.placement}” is not a placement. Choose one of: {', '.join(PLACEMENTS)}.")
        if not isinstance(self.norm, str) or self.norm not in NORMS:
            raise ValueError(f"“{self.norm}” is not a norm. Choose one of: {', '.join(NORMS)}.")
        for name in ("vocab_size", "positions", "width", "layers", "heads"):
            size = getattr(self, name)
            if not isinstance(size, Integral) or isinstance(size, bool) or size < 1:
                raise ValueError(f"{name} is a whole number, at least 1, and not {size!r}.")
        if self.width % self.heads != 0:
            raise ValueError(f"The width {self.width} is not a multiple of {self.heads} heads.")


class Attention(nn.Module):
    """Causal self-attention, (B, T, d) to (B, T, d)."""

    def __init__(self, config):
        super().__init__()
        self.heads = config.heads
        self.qkv = nn.Linear(config.width, 3 * config.width)
        self.out = nn.Linear(config.width, config.width)

    def split_heads(self, x):
        """Return (B, T, d) as (B, heads, T, d / heads)."""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x):
        queries, keys, values = self.qkv(x).chunk(3, dim=-1)
        mixed = F.scaled_dot_product_attention(
            self.split_heads(queries),
            self.split_heads(keys),
            self.split_heads(values),
            is_causal=True,
        )
        joined = mixed.transpose(1, 2).flatten(2)  # (B, T, d)
        return self.out(joined)


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
        self.f = f
        self.placement = config.placement
        self.alpha = (2 * config.layers) ** 0.25  # DeepNorm's α (Wang et al. 2022)
        make_norm = NORMS[config.norm]
        if self.placement != "none":
            self.norm = make_norm(config.width, config.eps)
        if self.placement == "sandwich":
            self.norm_after = make_norm(config.width, config.eps)

    @property
    def writer(self):
        """The module whose output is added to the stream."""
        match self.placement:
            case "sandwich":
                return self.norm_after
            case "output":
                return self.norm
            case _:
                return self.f

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
        self.token_embedding = new_embedding(config.vocab_size, config.width)
        self.position_embedding = new_embedding(config.positions, config.width)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        if config.placement in ("pre", "sandwich", "output"):  # no norm follows the last addition
            self.final_norm = NORMS[config.norm](config.width, config.eps)
        else:
            self.final_norm = nn.Identity()

    def hidden(self, ids):
        """Return what the output matrix reads: the stream after the last block and the final norm, (B, T, d).

        Raises ValueError for other shapes, for ids that the vocabulary lacks and for more tokens than positions."""
        self._check(ids)
        tokens = ids.shape[1]
        x = self.token_embedding(ids) + self.position_embedding.weight[:tokens]
        for block in self.blocks:
            x = block(x)
        return self.final_norm(x)

    def forward(self, ids):
        return self.hidden(ids) @ self.token_embedding.weight.T

    def _check(self, ids):
        """Raise ValueError unless these are ids that the decoder can read."""
        if not torch.is_tensor(ids):
            raise ValueError(
                "The decoder reads token ids as whole numbers in a tensor of shape (B, T). "
                f"It got an object of the type {type(ids).__name__}: use torch.tensor(ids)."
            )
        if ids.dim() != 2 or ids.dtype not in (torch.int32, torch.int64):
            raise ValueError(
                "The decoder reads token ids as whole numbers in a tensor of shape (B, T). "
                f"It got: {tuple(ids.shape)}, {ids.dtype}."
            )
        size = self.config.vocab_size
        outside = (ids < 0) | (ids >= size)
        if outside.any():
            raise ValueError(f"There is no token {ids[outside][0].item()}: the ids go from 0 to {size - 1}.")
        tokens = ids.shape[1]
        if tokens > self.config.positions:
            raise ValueError(f"The input has {tokens} tokens, but this model reads at most {self.config.positions}.")

    def rewired(self, placement):
        """Return a decoder that shares these very weights, in another placement; ValueError for an unknown one.

        A norm that the new placement has and the old one lacks gets γ = 1 and β = 0."""
        with torch.device("meta"):  # no memory for weights that are replaced at once
            other = Decoder(replace(self.config, placement=placement))
        shared = self.state_dict(keep_vars=True)
        missing, _ = other.load_state_dict(shared, strict=False, assign=True)
        new = {}
        for name in missing:
            value = 0.0 if name.endswith("beta") else 1.0
            new[name] = self.token_embedding.weight.new_full((self.config.width,), value)
        other.load_state_dict(new, strict=False, assign=True)
        return other.train(self.training)


def new_embedding(rows, width):
    """Return an embedding with uniform weights of standard deviation 0.02, which is GPT-2's.

    A uniform distribution on (−h, h) has the standard deviation h / √3. A normal one takes a second on torch's meta
    device."""
    half = 0.02 * 3**0.5
    weights = torch.empty(rows, width).uniform_(-half, half)
    return nn.Embedding.from_pretrained(weights, freeze=False)
