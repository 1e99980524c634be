"""LayerNorm and RMSNorm over the last dimension, one token at a time, as formulas and as modules."""

import torch
from torch import nn

WIDER = {torch.float16: torch.float32}  # float16 ends at 65,504, and the squares have to fit; for the others: float64


def layer_norm(x, gamma=1.0, beta=0.0, eps=1e-5):
    """Return γ ⊙ (x − μ) / √(σ² + ε) + β, with the biased variance σ² (Ba et al. 2016).

    x: shape (..., d); the result has the same shape and dtype, or torch's default dtype if x holds integers.
    gamma, beta: shape (d,), or a number. eps: a number, in the unit of σ².
    Statistics are computed in a wider format. NaN in a token gives NaN in that token."""
    wide = x.to(WIDER.get(x.dtype, torch.float64))
    centred = wide - wide.mean(-1, keepdim=True)
    variance = centred.square().mean(-1, keepdim=True)
    return (gamma * (centred * (variance + eps).rsqrt()) + beta).to(torch.result_type(x, 1.0))


def rms_norm(x, gamma=1.0, eps=1e-5):
    """Return γ ⊙ x / √(mean(x²) + ε) (Zhang & Sennrich 2019).

    Shapes, dtypes and NaN as in `layer_norm`; there is no mean and no β."""
    wide = x.to(WIDER.get(x.dtype, torch.float64))
    mean_square = wide.square().mean(-1, keepdim=True)
    return (gamma * (wide * (mean_square + eps).rsqrt())).to(torch.result_type(x, 1.0))


class LayerNorm(nn.Module):
    """LayerNorm over the last dimension, of size d, with learned gain γ and bias β of shape (d,)."""

    def __init__(self, d, eps=1e-5):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(d))
        self.beta = nn.Parameter(torch.zeros(d))
        self.eps = eps

    def forward(self, x):
        return layer_norm(x, self.gamma, self.beta, self.eps)


class RMSNorm(nn.Module):
    """RMSNorm over the last dimension, of size d, with a learned gain γ of shape (d,)."""

    def __init__(self, d, eps=1e-5):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(d))
        self.eps = eps

    def forward(self, x):
        return rms_norm(x, self.gamma, self.eps)
