"""LayerNorm and RMSNorm over the last dimension, one token at a time, as formulas and as modules."""

from numbers import Integral, Real

import torch
from torch import nn


def layer_norm(x, gamma=1.0, beta=0.0, eps=1e-5):
    """Return γ ⊙ (x − μ) / √(σ² + ε) + β, with the biased variance σ² (Ba et al. 2016).

    x: shape (..., d); the result has the same shape and dtype, or torch's default dtype if x holds integers.
    gamma, beta: shape (d,), or a number; ValueError for another shape. eps: a number, in the unit of σ².
    Raises TypeError for an x that is no tensor, such as a list, and for a gamma or beta that is neither.
    Everything is computed in a wider format and rounded to the dtype of x once, after γ and β.
    NaN in a token gives NaN in that token."""
    _check_tensor(x)
    _check_shape("gamma", gamma, x)
    _check_shape("beta", beta, x)
    wide = x.to(_wider(x.dtype))
    centred = wide - wide.mean(-1, keepdim=True)
    variance = centred.square().mean(-1, keepdim=True)
    normalised = centred * (variance + eps).rsqrt()
    return (gamma * normalised + beta).to(torch.result_type(x, 1.0))


def rms_norm(x, gamma=1.0, eps=1e-5):
    """Return γ ⊙ x / √(mean(x²) + ε) (Zhang & Sennrich 2019).

    Shapes, dtypes, NaN and what is raised as in `layer_norm`; there is no mean and no β.
    γ multiplies the number in the wider format, and then comes the cast to the dtype of x, as in OLMo 2. Llama casts
    first and multiplies then, so in 16 bits it rounds twice."""
    _check_tensor(x)
    _check_shape("gamma", gamma, x)
    wide = x.to(_wider(x.dtype))
    mean_square = wide.square().mean(-1, keepdim=True)
    normalised = wide * (mean_square + eps).rsqrt()
    return (gamma * normalised).to(torch.result_type(x, 1.0))


def _wider(dtype):
    """Return the format to compute in: float16 ends at 65,504, and the squares have to fit."""
    if dtype == torch.float16:
        return torch.float32
    return torch.float64


def _check_tensor(x):
    """Raise TypeError for a list or an array of another library."""
    if not torch.is_tensor(x):
        kind = type(x).__name__
        raise TypeError(
            f"The norms here read a tensor of torch, not an object of the type {kind}: use torch.tensor(x)."
        )


def _check_shape(name, values, x):
    """Raise ValueError for a gain or bias that would change the shape of x, or that x has no features for; TypeError
    for one that is neither a tensor nor a number."""
    if not torch.is_tensor(values) and not isinstance(values, Real):
        kind = type(values).__name__
        raise TypeError(f"{name} is a tensor of torch or a number, not an object of the type {kind}.")
    if torch.is_tensor(values) and values.dim() > 0 and values.shape != x.shape[-1:]:
        raise ValueError(f"{name} has the shape {tuple(values.shape)}, but x has {tuple(x.shape[-1:])} features.")


def _check_width(d):
    """Raise ValueError unless d is the size of one dimension."""
    if not isinstance(d, Integral) or isinstance(d, bool) or d < 1:
        raise ValueError(f"The norms here normalise the last dimension. Give its size d, one whole number, not {d!r}.")


class LayerNorm(nn.Module):
    """LayerNorm over the last dimension, of size d, with learned gain γ and bias β of shape (d,).

    Raises ValueError when d is no whole number, and for an x whose last dimension has another size."""

    def __init__(self, d, eps=1e-5):
        super().__init__()
        _check_width(d)
        self.gamma = nn.Parameter(torch.ones(d))
        self.beta = nn.Parameter(torch.zeros(d))
        self.eps = eps

    def forward(self, x):
        return layer_norm(x, self.gamma, self.beta, self.eps)


class RMSNorm(nn.Module):
    """RMSNorm over the last dimension, of size d, with a learned gain γ of shape (d,).

    Raises ValueError as LayerNorm does."""

    def __init__(self, d, eps=1e-5):
        super().__init__()
        _check_width(d)
        self.gamma = nn.Parameter(torch.ones(d))
        self.eps = eps

    def forward(self, x):
        return rms_norm(x, self.gamma, self.eps)
