"""Answers to assignment 1, LayerNorm, as students write them."""

import itertools
from collections import deque, namedtuple
from decimal import Decimal
from fractions import Fraction

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from . import right, right_values, told, told_values, wrong, wrong_values

# by-hand

X = np.array([6, 0.5, 4.5, 2, 2])


GAMMA, BETA = np.array([2, 0.8, 4, 1, 3]), np.array([0.5, 2, -1, 2, -0.5])


MEAN, EPS = X.mean(), 0.1


SQUARES = [(feature - MEAN) ** 2 for feature in X]


wrong_values("by-hand", "unbiased", GAMMA * (X - MEAN) / (sum(SQUARES) / 4 + EPS) ** 0.5 + BETA)


wrong_values(
    "by-hand",
    "eps-outside",
    GAMMA * (X - MEAN) / (np.sqrt(X.var()) + EPS) + BETA,
    [round(y, 4) for y in ((X - MEAN) / (X.std() + EPS) * GAMMA + BETA).tolist()],
)


wrong_values("by-hand", "unbiased-eps-outside", GAMMA * (X - MEAN) / (torch.tensor(X).std().item() + EPS) + BETA)


wrong_values(
    "by-hand",
    "eps-missing",
    ((X - MEAN) / X.std() * GAMMA + BETA).tolist(),
    F.layer_norm(torch.tensor(X), (5,), torch.tensor(GAMMA), torch.tensor(BETA), 1e-5),
)


wrong_values(
    "by-hand", "unbiased-eps-missing", GAMMA * (X - MEAN) / X.std(ddof=1) + BETA, [3.217, 1.094, 1.717, 1.547, -1.859]
)


wrong_values("by-hand", "no-root", GAMMA * (X - MEAN) / (X.var() + EPS) + BETA)


wrong_values(
    "by-hand",
    "sum-of-squares",
    GAMMA * (X - MEAN) / (sum(SQUARES) + EPS) ** 0.5 + BETA,
    (GAMMA * (X - MEAN) / np.linalg.norm(X - MEAN) + BETA).tolist(),
)


wrong_values("by-hand", "not-centred", list(GAMMA * X / np.sqrt((X**2).mean() + EPS) + BETA))


wrong_values("by-hand", "sign", [-2.5, 3, -4, 2.5, 1])


wrong_values(
    "by-hand",
    "no-gain-no-bias",
    [1.5, -1.25, 0.75, -0.5, -0.5],
    tuple((X - MEAN) / 2),
    (X - MEAN) / X.std(),
    (X - MEAN) / X.std(ddof=1),
    X - MEAN,
)


wrong_values("by-hand", "no-gain", [2, 0.75, -0.25, 1.5, -1])


wrong_values("by-hand", "no-bias", [3.0, -1.0, 3.0, -0.5, -1.5])


wrong_values("by-hand", "gain-and-bias-exchanged", [2.75, -1.7, 3.25, 0, 3.25], list(BETA * (X - MEAN) / 2 + GAMMA))


wrong_values(
    "by-hand",
    "text",
    "3.5, 1, 2, 1.5, -2",
    "[3.5, 1, 2, 1.5, -2]",
    ["3.5", "1", "2", "1.5", "-2"],
    ("3,5", 1, 2, 1.5, -2),
    "?",
)


wrong_values(
    "by-hand", "not-a-list", torch.tensor([[3.5, 1, 2, 1.5, -2]]), 7, {3.5, 1, 2, 1.5, -2}, np.ones((5, 1)), {"y": 3.5}
)


wrong_values("by-hand", "order", [1, 3.5, 2, 1.5, -2], (-2, 1.5, 2, 1, 3.5))


wrong_values(
    "by-hand",
    "four-right",
    [3.5, 1, 2, 1.5, 2],
    [3.5, 1, 2, 1.5, -2.5],
    [-3.5, 1.0, 2.0, 1.5, -2.0],
    (3.5, 1, 0, 1.5, -2),
)


wrong_values("by-hand", "some-right", [3.5, 0, 0, 0, 0], [3.5, 1, 2, -1.5, 2], [0, 1, 0, 1.5, float("nan")])


wrong_values("by-hand", "bias-before-gain", [4, 0.6, -1, 1.5, -3], torch.tensor(GAMMA * ((X - MEAN) / 2 + BETA)))


right_values(
    "by-hand",
    [3.5, 1, 2, 1.5, -2],
    (3.5, 1.0, 2.0, 1.5, -2.0),
    torch.tensor([3.5, 1.0, 2.0, 1.5, -2.0]),
    np.array([3.5, 1.0, 2.0, 1.5, -2.0], dtype=np.float32),
    [3.501, 1.0, 1.999, 1.5, -2.0],
    list(GAMMA * (X - MEAN) / (X.var() + EPS) ** 0.5 + BETA),
    GAMMA * (X - MEAN) / np.sqrt((X**2).mean() - MEAN**2 + EPS) + BETA,
    nn.Parameter(F.layer_norm(torch.tensor(X), (5,), torch.tensor(GAMMA), torch.tensor(BETA), EPS)),
)


# layer-norm


@wrong("layer-norm", "unbiased")
def torch_var(x, gamma, beta, eps):
    mean = x.mean(dim=-1, keepdim=True)
    var = x.var(dim=-1, keepdim=True)
    return gamma * (x - mean) / torch.sqrt(var + eps) + beta


@wrong("layer-norm", "unbiased")
def sum_over_d_minus_1(x, gamma, beta, eps):
    d = x.shape[-1]
    mean = x.sum(-1, keepdim=True) / d
    var = ((x - mean) ** 2).sum(-1, keepdim=True) / (d - 1)
    return gamma * ((x - mean) / (var + eps) ** 0.5) + beta


@wrong("layer-norm", "eps-outside")
def textbook(x, gamma, beta, eps):
    mu = x.mean(-1, keepdim=True)
    sigma = ((x - mu) ** 2).mean(-1, keepdim=True).sqrt()
    return gamma * ((x - mu) / (sigma + eps)) + beta


@wrong("layer-norm", "unbiased-eps-outside")
def annotated_transformer(x, gamma, beta, eps):
    mean = x.mean(-1, keepdim=True)
    std = x.std(-1, keepdim=True)
    return gamma * (x - mean) / (std + eps) + beta


@wrong("layer-norm", "eps-missing")
def no_eps(x, gamma, beta, eps):
    mean, std = x.mean(-1, keepdim=True), x.std(-1, correction=0, keepdim=True)
    return gamma * (x - mean) / std + beta


@told("layer-norm", "check.refused")
def fixed_eps(x, gamma, beta, eps):
    return F.layer_norm(x, x.shape[-1:], gamma, beta)


@wrong("layer-norm", "unbiased-eps-missing")
def torch_std(x, gamma, beta, eps):
    mean = x.mean(dim=-1, keepdim=True)
    return gamma * (x - mean) / x.std(dim=-1, keepdim=True) + beta


@wrong("layer-norm", "root-of-the-root")
def root_of_std(x, gamma, beta, eps):
    std, mean = torch.std_mean(x, -1, correction=0, keepdim=True)
    return gamma * (x - mean) / torch.sqrt(std + eps) + beta


@wrong("layer-norm", "root-of-the-root")
def root_of_unbiased_std(x, gamma, beta, eps):
    return gamma * (x - x.mean(2, True)) / torch.sqrt(x.std(2, keepdim=True) + eps) + beta


@wrong("layer-norm", "square-for-root")
def two_for_a_half(x, gamma, beta, eps):
    mean = torch.mean(x, dim=-1).unsqueeze(-1)
    variance = torch.mean((x - mean) ** 2, dim=-1).unsqueeze(-1)
    std = (variance + eps) ** 2
    return (x - mean) / std * gamma + beta


@wrong("layer-norm", "no-root")
def over_variance(x, gamma, beta, eps):
    mean = x.mean(2, keepdim=True)
    return gamma * (x - mean) / (((x - mean) ** 2).mean(2, keepdim=True) + eps) + beta


@wrong("layer-norm", "no-root")
def over_unbiased_variance(x, gamma, beta, eps):
    return gamma * (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + eps) + beta


@wrong("layer-norm", "reciprocal")
def over_rsqrt(x, gamma, beta, eps):
    centred = x - x.mean(-1, keepdim=True)
    scale = torch.rsqrt(centred.pow(2).mean(-1, keepdim=True) + eps)
    return centred / scale * gamma + beta


@wrong("layer-norm", "token-axis")
def axis_1(x, gamma, beta, eps):
    out = torch.empty_like(x)
    for b in range(x.shape[0]):
        for i in range(x.shape[2]):
            column = x[b, :, i]
            out[b, :, i] = gamma[i] * (column - column.mean()) / (column.var(unbiased=False) + eps).sqrt() + beta[i]
    return out


@wrong("layer-norm", "token-axis")
def axis_1_unbiased(x, gamma, beta, eps):
    return (x - x.mean(dim=1, keepdim=True)) / torch.sqrt(x.var(dim=1, keepdim=True) + eps) * gamma + beta


@wrong("layer-norm", "tokens-and-features")
def both_axes_unbiased(x, gamma, beta, eps):
    return (x - x.mean((1, 2), True)) / (x.std((1, 2), keepdim=True) + eps) * gamma + beta


@wrong("layer-norm", "over-examples")
def axis_0(x, gamma, beta, eps):
    return (x - x.mean(0)) / torch.sqrt(((x - x.mean(0)) ** 2).mean(0) + eps) * gamma + beta


@wrong("layer-norm", "over-examples")
def axis_0_unbiased(x, gamma, beta, eps):
    return (x - x.mean(0)) / torch.sqrt(x.var(0) + eps) * gamma + beta


@wrong("layer-norm", "tokens-and-features")
def one_example(x, gamma, beta, eps):
    return torch.stack([gamma * (e - e.mean()) / (e.var(unbiased=False) + eps).sqrt() + beta for e in x])


@told("layer-norm", "check.refused")
def normalized_shape(x, gamma, beta, eps):
    return F.layer_norm(x, x.shape[1:], eps=eps) * gamma + beta


@told("layer-norm", "check.refused")
def torch_batch_norm(x, gamma, beta, eps):
    return F.batch_norm(x.transpose(1, 2), None, None, gamma, beta, training=True, eps=eps).transpose(1, 2)


@wrong("layer-norm", "batchnorm")
def two_axes_unbiased(x, gamma, beta, eps):
    return (x - x.mean((0, 1))) / (x.var((0, 1)) + eps).sqrt() * gamma + beta


@wrong("layer-norm", "batchnorm")
def flattened(x, gamma, beta, eps):
    flat = x.reshape(-1, x.shape[-1])
    return (gamma * (flat - flat.mean(0)) / (flat.var(0, unbiased=False) + eps).sqrt() + beta).view_as(x)


@wrong("layer-norm", "whole-tensor")
def numpy_without_axis(x, gamma, beta, eps):
    a = x.numpy()
    return torch.from_numpy((a - a.mean()) / np.sqrt(a.var() + eps)) * gamma + beta


@wrong("layer-norm", "whole-tensor")
def std_without_axis(x, gamma, beta, eps):
    return gamma * (x - x.mean()) / (x.std() + eps) + beta


@wrong("layer-norm", "one-variance")
def squares_without_axis(x, gamma, beta, eps):
    centred = x - x.mean(-1, keepdim=True)
    return gamma * centred / torch.sqrt((centred**2).mean() + eps) + beta


@wrong("layer-norm", "one-variance")
def var_without_axis(x, gamma, beta, eps):
    return gamma * (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var() + eps) + beta


@wrong("layer-norm", "brackets-missing")
def mean_over_root(x, gamma, beta, eps):
    mean, variance = x.mean(-1, keepdim=True), x.var(-1, correction=0, keepdim=True)
    return gamma * x - mean / torch.sqrt(variance + eps) + beta


@wrong("layer-norm", "brackets-missing")
def mean_over_root_in_brackets(x, gamma, beta, eps):
    mean, variance = x.mean(-1, keepdim=True), x.var(-1, correction=0, keepdim=True)
    return gamma * (x - mean / torch.sqrt(variance + eps)) + beta


@wrong("layer-norm", "rms-norm")
def llama(x, gamma, beta, eps):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * gamma + beta


@wrong("layer-norm", "mean-square-for-variance")
def square_too_early(x, gamma, beta, eps):
    mean = x.mean(-1, keepdim=True)
    variance = (x**2).mean(-1, keepdim=True)
    return gamma * (x - mean) / torch.sqrt(variance + eps) + beta


@wrong("layer-norm", "numerator-not-centred")
def numerator_of_x(x, gamma, beta, eps):
    mean = x.mean(-1, keepdim=True)
    variance = ((x - mean) ** 2).mean(-1, keepdim=True)
    return gamma * x / torch.sqrt(variance + eps) + beta


@wrong("layer-norm", "unit-length")
def over_length(x, gamma, beta, eps):
    centred = x - x.mean(-1, keepdim=True)
    return gamma * centred / centred.norm(dim=-1, keepdim=True) + beta


@wrong("layer-norm", "sum-of-squares")
def sum_for_mean(x, gamma, beta, eps):
    centred = x - x.mean(-1, keepdim=True)
    return gamma * centred / (centred.square().sum(-1, keepdim=True) + eps).sqrt() + beta


@wrong("layer-norm", "no-gain-no-bias")
def standardised(x, gamma, beta, eps):
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + eps).sqrt()


@wrong("layer-norm", "no-gain-no-bias")
def standardised_unbiased(x, gamma, beta, eps):
    return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps)


@wrong("layer-norm", "no-gain")
def only_bias(x, gamma, beta, eps):
    return standardised_for(x, eps) + beta


@wrong("layer-norm", "no-bias")
def only_gain(x, gamma, beta, eps):
    return gamma * standardised_for(x, eps)


@wrong("layer-norm", "bias-before-gain")
def brackets(x, gamma, beta, eps):
    return gamma * (standardised_for(x, eps) + beta)


@wrong("layer-norm", "scaled-before")
def affine_first(x, gamma, beta, eps):
    return standardised_for(x * gamma + beta, eps)


@wrong("layer-norm", "one-plus-gain")
def gemma(x, gamma, beta, eps):
    return standardised_for(x, eps) * (1 + gamma) + beta


def standardised_for(x, eps):
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, unbiased=False, keepdim=True) + eps).sqrt()


@right("layer-norm")
def loops(x, gamma, beta, eps):
    out = torch.zeros(x.shape)
    for b, example in enumerate(x):
        for t, token in enumerate(example):
            mean = sum(token) / len(token)
            variance = sum((feature - mean) ** 2 for feature in token) / len(token)
            for i, feature in enumerate(token):
                out[b, t, i] = gamma[i] * (feature - mean) / (variance + eps) ** 0.5 + beta[i]
    return out


@right("layer-norm")
def einsum(x, gamma, beta, eps):
    d = x.shape[-1]
    centred = x - torch.einsum("btd->bt", x)[..., None] / d
    variance = torch.einsum("btd,btd->bt", centred, centred) / d
    return torch.einsum("btd,bt,d->btd", centred, (variance + eps).rsqrt(), gamma) + beta


@right("layer-norm")
def numpy_round_trip(x, gamma, beta, eps):
    a = x.numpy().astype(np.float64)
    y = (a - a.mean(-1, keepdims=True)) / np.sqrt(a.var(-1, keepdims=True) + eps)
    return torch.tensor(y * gamma.numpy() + beta.numpy())


@right("layer-norm")
def mean_of_squares_minus_square_of_mean(x, gamma, beta, eps):
    mean = x.mean(-1, keepdim=True)
    variance = (x**2).mean(-1, keepdim=True) - mean**2
    return gamma * (x - mean) / torch.sqrt(variance + eps) + beta


@right("layer-norm")
def in_place_on_a_copy(x, gamma, beta, eps):
    y = x.clone()
    y -= y.mean(-1, keepdim=True)
    y /= (y.pow(2).mean(-1, keepdim=True) + eps).sqrt()
    y *= gamma
    y += beta
    return y


@right("layer-norm")
def folded_into_one_line(x, gamma, beta, eps):
    scale = gamma / (x.var(2, correction=0, keepdim=True) + eps).sqrt()
    return x * scale + (beta - x.mean(2, keepdim=True) * scale)


@right("layer-norm")
def transposed(x, gamma, beta, eps):
    y = x.permute(2, 0, 1)
    y = (y - y.mean(0)) / (y.var(0, unbiased=False) + eps) ** 0.5
    return y.permute(1, 2, 0) * gamma + beta


@right("layer-norm")
def unbiased_put_right(x, gamma, beta, eps):
    d = x.shape[-1]
    variance = x.var(-1, keepdim=True) * (d - 1) / d
    return (x - x.mean(-1, keepdim=True)) * torch.rsqrt(variance + eps) * gamma + beta


@told("layer-norm", "check.refused")
def module(x, gamma, beta, eps):
    norm = nn.LayerNorm(x.shape[-1], eps=eps)
    norm.weight, norm.bias = nn.Parameter(gamma), nn.Parameter(beta)
    return norm(x)


@right("layer-norm")
def matrices(x, gamma, beta, eps):
    d = x.shape[-1]
    centring = torch.eye(d) - torch.ones(d, d) / d
    y = x @ centring
    return y * (y.square().mean(-1, keepdim=True) + eps).pow(-0.5) @ torch.diag(gamma) + beta


# which-axis

B, T, D = 3, 5, 4


BOX = torch.arange(60.0).view(B, T, D)


def mean(*axes):
    return BOX.mean(axes, keepdim=True).shape


wrong_values("which-axis", "shares-not-statistics", [(1, 1, D), (B, T, 1), (1, T, D)])


wrong_values("which-axis", "swapped", [mean(0, 1), mean(2), mean(1, 2)])


wrong_values(
    "which-axis",
    "order",
    *[
        [mean(*axes) for axes in order]
        for order in itertools.permutations(((2,), (0, 1), (1, 2)))
        if order[1:] not in (((0, 1), (1, 2)), ((2,), (1, 2)))  # the right one, and "swapped"
    ],
)


wrong_values(
    "which-axis", "no-keepdim", [BOX.mean(2).shape, BOX.mean((0, 1)).shape, BOX.mean((1, 2)).shape], [(3, 5), (4), (3)]
)


wrong_values("which-axis", "layernorm-over-tokens-and-features", [mean(1, 2), mean(0, 1), mean(1, 2)])


wrong_values(
    "which-axis", "layernorm-over-tokens", (mean(1), mean(0, 1), mean(1, 2)), [mean(0, 1), mean(0, 1), mean(1, 2)]
)


wrong_values("which-axis", "batchnorm-over-examples", [mean(2), mean(0), mean(1, 2)])


wrong_values(
    "which-axis", "batchnorm-within-an-example", *[[mean(2), mean(*axes), mean(1, 2)] for axes in ((1,), (2,), (1, 2))]
)


wrong_values("which-axis", "batchnorm-over-everything", [[3, 5, 1], [1, 1, 1], [3, 1, 1]])


wrong_values(
    "which-axis", "both-over-everything", *[[mean(2), mean(0, 1), mean(*axes)] for axes in ((0, 1, 2), (0, 2), (0, 1))]
)


wrong_values("which-axis", "both-kept", [mean(2), mean(0, 1), mean(0)])


wrong_values("which-axis", "third-like-the-first", [mean(2), mean(0, 1), mean(2)])


wrong_values(
    "which-axis", "axes", [(2,), (0, 1), (1, 2)], [2, (0, 1), (1, 2)], [-1, (0, 1), (-2, -1)], [[-1], [0, 1], [1, 2]]
)


wrong_values("which-axis", "one-list", [3, 5, 1, 1, 1, 4, 3, 1, 1])


wrong_values(
    "which-axis",
    "text",
    ["(3, 5, 1)", "(1, 1, 4)", "(3, 1, 1)"],
    "[(3, 5, 1), (1, 1, 4), (3, 1, 1)]",
    ("(3,5,1)", "(1,1,4)", "(3,1,1)"),
)


wrong_values("which-axis", "shapes-of-the-gain", [nn.LayerNorm(D).weight.shape, nn.BatchNorm1d(D).weight.shape, (T, D)])


wrong_values("which-axis", "counts", [D, B * T, T * D])


wrong_values("which-axis", "averaged-axes-kept", [(1, 1, D), (1, 1, D), (1, T, D)])


wrong_values(
    "which-axis", "not-averaged", [BOX.shape, mean(0, 1), mean(1, 2)], [mean(2), BOX.shape, mean(1, 2)], [[3, 5, 4]] * 3
)


wrong_values(
    "which-axis",
    "other-text",
    "(3, 5, 1)",
    ["(1, 1, 4)", "(3, 5, 1)", "(3, 1, 1)"],
    "3, 5, 1",
    ["LayerNorm", (1, 1, 4), 3],
)


wrong_values("which-axis", "not-three-tuples", (3, 5, 1), [1, 1, 4], (3, 5, 4), 7, {(3, 5, 1), (1, 1, 4), (3, 1, 1)})


wrong_values("which-axis", "layernorm-and-batchnorm", [mean(1, 2), mean(0), mean(1, 2)])


right_values(
    "which-axis",
    [(3, 5, 1), (1, 1, 4), (3, 1, 1)],
    ((3, 5, 1), (1, 1, 4), (3, 1, 1)),
    [[3, 5, 1], [1, 1, 4], [3, 1, 1]],
    [mean(2), mean(0, 1), mean(1, 2)],
    [mean(-1), BOX.flatten(0, 1).mean(0).view(1, 1, -1).shape, BOX.flatten(1).mean(1)[:, None, None].shape],
    np.array([[3, 5, 1], [1, 1, 4], [3, 1, 1]]),
    torch.tensor([[3, 5, 1], [1, 1, 4], [3, 1, 1]]),
    [torch.Size([3, 5, 1]), torch.Size([1, 1, 4]), torch.Size([3, 1, 1])],
)


# leak


def exchanged(x, last):
    changed = x.clone()
    changed[:, -1] = last
    return changed


@wrong("leak", "always-zero")
def one_token_at_a_time(norm, x, last):
    changed = exchanged(x, last)
    return (norm(changed[:, :1])[:, 0] - norm(x[:, :1])[:, 0]).norm(dim=-1)


@wrong("leak", "always-zero")
def before_the_norm(norm, x, last):
    return (exchanged(x, last) - x)[:, 0].norm(dim=-1)


@wrong("leak", "always-zero")
def an_alias(norm, x, last):
    x = x.clone()
    changed = x
    changed[:, -1] = last
    return torch.linalg.norm(norm(changed)[:, 0] - norm(x)[:, 0], dim=-1)


@wrong("leak", "always-zero")
def after_the_norm(norm, x, last):
    before = norm(x)
    after = before.clone()
    after[:, -1] = last
    return (after - before)[:, 0].norm(dim=-1)


@wrong("leak", "last-token-measured")
def the_wrong_end(norm, x, last):
    return (norm(exchanged(x, last)) - norm(x))[:, -1].norm(dim=-1)


@wrong("leak", "first-token-changed")
def the_first(norm, x, last):
    changed = x.clone()
    changed[:, 0] = last
    return (norm(changed)[:, 0] - norm(x)[:, 0]).norm(dim=-1)


@wrong("leak", "last-example-changed")
def index_without_a_colon(norm, x, last):
    changed = x.clone()
    changed[-1] = last
    return (norm(changed) - norm(x))[:, 0].norm(dim=-1)


@wrong("leak", "example-0-measured")
def first_index_for_the_token(norm, x, last):
    return (norm(exchanged(x, last)) - norm(x))[0].norm(dim=-1)


@wrong("leak", "example-0-measured")
def one_vector(norm, x, last):
    return torch.linalg.norm(norm(exchanged(x, last))[0, 0] - norm(x)[0, 0])


@wrong("leak", "example-0-measured")
def one_vector_for_all(norm, x, last):
    distance = torch.dist(norm(exchanged(x, last))[0][0], norm(x)[0][0])
    return torch.stack([distance for _ in x])


@wrong("leak", "example-0-measured")
def a_list_of_one(norm, x, last):
    return [(norm(exchanged(x, last)) - norm(x))[0, 0].norm()]


@wrong("leak", "example-0-changed")
def one_example_changed(norm, x, last):
    changed = x.clone()
    changed[0, -1] = last
    return (norm(changed) - norm(x))[:, 0].norm(dim=-1)


@wrong("leak", "one-example-at-a-time")
def loop_over_examples(norm, x, last):
    distances = []
    for before, after in zip(x, exchanged(x, last)):
        distances.append((norm(after[None]) - norm(before[None]))[0, 0].norm())
    return torch.stack(distances)


@wrong("leak", "added")
def plus(norm, x, last):
    changed = x.clone()
    changed[:, -1] += last
    return (norm(changed) - norm(x))[:, 0].norm(dim=-1)


@wrong("leak", "appended")
def one_token_more(norm, x, last):
    longer = torch.cat([x, last.expand(x.shape[0], 1, x.shape[2])], dim=1)
    return (norm(longer)[:, 0] - norm(x)[:, 0]).norm(dim=-1)


@wrong("leak", "feature-0")
def the_last_axis(norm, x, last):
    return (norm(exchanged(x, last))[:, :, 0] - norm(x)[:, :, 0]).norm(dim=1)


@wrong("leak", "all-tokens")
def without_an_index(norm, x, last):
    return (norm(exchanged(x, last)) - norm(x)).flatten(1).norm(dim=1)


@wrong("leak", "input-for-output")
def one_norm_only(norm, x, last):
    return (norm(exchanged(x, last))[:, 0] - x[:, 0]).norm(dim=-1)


@wrong("leak", "difference-of-lengths")
def lengths_first(norm, x, last):
    return torch.abs(norm(exchanged(x, last))[:, 0].norm(dim=1) - norm(x)[:, 0].norm(dim=1))


@wrong("leak", "squared")
def no_root(norm, x, last):
    return ((norm(exchanged(x, last))[:, 0] - norm(x)[:, 0]) ** 2).sum(dim=-1)


@wrong("leak", "root-mean-square")
def rms(norm, x, last):
    return ((norm(exchanged(x, last))[:, 0] - norm(x)[:, 0]) ** 2).mean(dim=-1) ** 0.5


@wrong("leak", "signed-sum")
def signs(norm, x, last):
    return (norm(exchanged(x, last)) - norm(x))[:, 0, :].sum(1)


@wrong("leak", "absolute-sum")
def l1(norm, x, last):
    return torch.linalg.norm((norm(exchanged(x, last)) - norm(x))[:, 0], ord=1, dim=-1)


@wrong("leak", "largest")
def the_largest(norm, x, last):
    return (norm(exchanged(x, last)) - norm(x))[:, 0].abs().max(dim=-1).values


@wrong("leak", "mean-absolute")
def the_mean(norm, x, last):
    return (norm(exchanged(x, last))[:, 0] - norm(x)[:, 0]).abs().mean(-1)


@right("leak")
def copy_and_index(norm, x, last):
    return (norm(exchanged(x, last)) - norm(x))[:, 0].norm(dim=-1)


@right("leak")
def concatenated(norm, x, last):
    new = torch.cat([x[:, :-1], last.repeat(x.shape[0], 1, 1)], dim=1)
    return torch.linalg.vector_norm(norm(x)[:, 0, :] - norm(new)[:, 0, :], dim=1)


@right("leak")
def with_loops(norm, x, last):
    changed = x.clone()
    for example in changed:
        example[x.shape[1] - 1] = last
    before, after = norm(x), norm(changed)
    return torch.tensor([sum((a - b) ** 2 for a, b in zip(p[0], q[0])) ** 0.5 for p, q in zip(before, after)])


@right("leak")
def with_einsum(norm, x, last):
    move = (norm(exchanged(x, last)) - norm(x))[:, 0]
    return torch.einsum("bd,bd->b", move, move).sqrt()


@right("leak")
def by_numpy(norm, x, last):
    changed = x.numpy().copy()
    changed[:, -1, :] = last.numpy()
    before, after = norm(x).numpy(), norm(torch.from_numpy(changed)).numpy()
    return np.linalg.norm(after[:, 0] - before[:, 0], axis=1)


@wrong("leak", "length-for-movement")
def length(norm, x, last):
    return norm(x)[:, 0].norm(dim=-1)


@wrong("leak", "length-for-movement")
def length_afterwards(norm, x, last):
    return torch.linalg.vector_norm(norm(exchanged(x, last))[:, 0], dim=-1)


@right("leak")
def there_and_back(norm, x, last):
    before = norm(x).clone()
    kept = x[:, -1].clone()
    x[:, -1] = last
    after = norm(x).clone()
    x[:, -1] = kept
    return (after - before).norm(dim=2)[:, 0]


@right("leak")
def masked(norm, x, last):
    is_last = (torch.arange(x.shape[1]) == x.shape[1] - 1)[:, None]
    return (norm(torch.where(is_last, last, x)) - norm(x))[:, 0].pow(2).sum(-1).sqrt()


@right("leak")
def list_of_distances(norm, x, last):
    after, before = norm(exchanged(x, last)), norm(x)
    return torch.stack([torch.dist(a[0], b[0]) for a, b in zip(after, before)])


# answers that were right or got the general sentence once

wrong_values(
    "by-hand",
    "root-of-the-root",
    (X - MEAN) / 2**0.5 * GAMMA + BETA,
    ((X - MEAN) / (X.std() + EPS) ** 0.5 * GAMMA + BETA).tolist(),
    [round(y, 2) for y in ((X - MEAN) / 2**0.5 * GAMMA + BETA).tolist()],
)
wrong_values("by-hand", "eps-squared", (X - MEAN) / np.sqrt(X.var() + EPS**2) * GAMMA + BETA)
wrong_values(
    "by-hand",
    "unbiased",
    [round(y, 2) for y in (GAMMA * (X - MEAN) / (sum(SQUARES) / 4 + EPS) ** 0.5 + BETA).tolist()],
    [round(y, 1) for y in (GAMMA * (X - MEAN) / (sum(SQUARES) / 4 + EPS) ** 0.5 + BETA).tolist()],
)
wrong_values("by-hand", "text", np.array(["3.5", "1", "2", "1.5", "-2"]), ["3.5", 1, 2, 1.5, -2])
wrong_values("by-hand", "order", np.array([1, 3.5, 2, 1.5, -2]), torch.tensor([-2, 1.5, 2, 1, 3.5]))
wrong_values("by-hand", "not-a-list", [[3.5], 1, 2, 1.5, -2], print, nn.LayerNorm)
told_values("by-hand", "check.gap", [3.5, 1, 2, 1.5, ...], [None, 1, 2, 1.5, -2], [None] * 5)
told_values("by-hand", "check.comma", [3, 5, 1, 2, 1, 5, -2])
told_values("by-hand", "check.shape", [3.5, 1, 2, 1.5], [], (3.5,), np.array([3.5, 1, 2]))
told_values("by-hand", "check.different", [0, 0, 0, 0, 0], [10**400] * 5, [float("inf")] * 5)
right_values(
    "by-hand",
    np.array([3.5, 1, 2, 1.5, -2], dtype=object),
    np.array([3.5, 1, 2, 1.5, -2], dtype=np.float16),
    np.array([3.5, 1, 2, 1.5, -2], dtype=">f8"),
    np.array([3.5, 1, 2, 1.5, -2], dtype=np.longdouble),
    np.array([-2, 1.5, 2, 1, 3.5])[::-1],
    [np.float32(3.5), np.float64(1), np.int8(2), torch.tensor(1.5), -2],
    [Fraction(7, 2), Fraction(1), 2, Fraction(3, 2), -2],
    [Decimal("3.5"), 1, 2, Decimal("1.5"), -2],
    deque([3.5, 1, 2, 1.5, -2]),
    namedtuple("Token", "a b c d e")(3.5, 1, 2, 1.5, -2),
    torch.tensor([3.5, 1, 2, 1.5, -2], requires_grad=True),
    torch.tensor([3.5, 1, 2, 1.5, -2]).to_sparse(),
    torch.tensor([3.5, 1, 2, 1.5, -2], dtype=torch.bfloat16),
)
wrong_values("which-axis", "other-text", np.array(["LayerNorm", "BatchNorm"]), [(3, 5, 1), (1, 1, 4), "(3, 1, 1)"])
wrong_values("which-axis", "not-averaged", np.array([[3, 5, 4]] * 3))
wrong_values("which-axis", "swapped", torch.tensor([mean(0, 1), mean(2), mean(1, 2)]))
wrong_values("which-axis", "not-three-tuples", {"LayerNorm": (3, 5, 1)}, zip((3, 1, 3), (5, 1, 1), (1, 4, 1)))
told_values("which-axis", "check.shape", BOX, BOX.mean(2))
told_values("which-axis", "check.gap", [(3, 5, 1), (1, 1, 4), ...], [(3, 5, 1), None, (3, 1, 1)])
told_values("which-axis", "check.shape", [(3, 5, 1), (1, 1, 4)], [(3, 5, 1), (1, 4), (3, 1, 1)])
right_values("which-axis", [mean(2), np.array([1, 1, 4]), [3.0, 1.0, 1.0]])


@wrong("layer-norm", "root-of-the-root")
def rsqrt_of_a_root(x, gamma, beta, eps):
    mu = x.mean(-1, keepdim=True)
    sigma = torch.sqrt(((x - mu) ** 2).mean(-1, keepdim=True) + eps)
    return gamma * (x - mu) * torch.rsqrt(sigma) + beta


@wrong("layer-norm", "root-of-the-root")
def rsqrt_of_a_root_unbiased(x, gamma, beta, eps):
    sigma = torch.sqrt(x.var(-1, keepdim=True) + eps)
    return gamma * (x - x.mean(-1, keepdim=True)) / torch.sqrt(sigma) + beta


@wrong("layer-norm", "eps-squared")
def squared_eps(x, gamma, beta, eps):
    mu = x.mean(-1, keepdim=True)
    sigma = ((x - mu) ** 2).mean(-1, keepdim=True) ** 0.5
    return gamma * (x - mu) / torch.sqrt(sigma**2 + eps**2) + beta


@wrong("layer-norm", "gain-and-bias-exchanged")
def bias_as_the_factor(x, gamma, beta, eps):
    return standardised_for(x, eps) * beta + gamma


@told("layer-norm", "check.arguments")
def short_names(x, g, b, eps):
    return standardised_for(x, eps) * g + b


@told("layer-norm", "check.arguments")
def without_eps(x, gamma, beta):
    return standardised_for(x, 1e-5) * gamma + beta


@told("layer-norm", "check.arguments")
def bias_before_gain_in_the_first_line(x, beta, gain, eps):
    return standardised_for(x, eps) * gain + beta


@right("layer-norm")
def with_a_default_for_eps(x, gamma, beta, eps=1e-5):
    return standardised_for(x, eps) * gamma + beta


@right("layer-norm")
def arguments_in_another_order(eps, beta, gamma, x):
    return standardised_for(x, eps) * gamma + beta


@right("layer-norm")
def by_position_only(x, gamma, /, beta, eps):
    return standardised_for(x, eps) * gamma + beta


@right("layer-norm")
def all_arguments_at_once(*given):
    x, gamma, beta, eps = given
    return standardised_for(x, eps) * gamma + beta


@right("layer-norm")
def all_arguments_by_name(**given):
    return standardised_for(given["x"], given["eps"]) * given["gamma"] + given["beta"]


@right("layer-norm")
def nested_lists(x, gamma, beta, eps):
    return (standardised_for(x, eps) * gamma + beta).tolist()


@right("layer-norm")
def list_of_examples(x, gamma, beta, eps):
    return [standardised_for(example, eps) * gamma + beta for example in x]


@right("layer-norm")
def lists_of_tokens(x, gamma, beta, eps):
    return [[standardised_for(token, eps) * gamma + beta for token in example] for example in x]


@right("layer-norm")
def with_a_gradient(x, gamma, beta, eps):
    return nn.Parameter(standardised_for(x, eps) * gamma + beta)


BUFFER = torch.zeros(1000)


@right("layer-norm")
def always_in_the_same_memory(x, gamma, beta, eps):
    result = BUFFER[: x.numel()].view_as(x)
    return result.copy_(standardised_for(x, eps) * gamma + beta)


@right("layer-norm")
def printing(x, gamma, beta, eps):
    print(x)
    return standardised_for(x, eps) * gamma + beta


@told("layer-norm", "check.rounded")
def two_decimals(x, gamma, beta, eps):
    return (standardised_for(x, eps) * gamma + beta).round(decimals=2)


@wrong("layer-norm", "no-gain")
def two_decimals_without_gain(x, gamma, beta, eps):
    return (standardised_for(x, eps) + beta).round(decimals=2)


@told("layer-norm", "check.text")
def as_text(x, gamma, beta, eps):
    return str(standardised_for(x, eps) * gamma + beta)


@told("layer-norm", "check.gap")
def one_example_is_missing(x, gamma, beta, eps):
    return [standardised_for(x[0], eps) * gamma + beta, *[None] * (len(x) - 1)]


@told("layer-norm", "check.raises")
def misspelt(x, gamma, beta, eps):
    return standardised_for(x, eps) * gama + beta  # noqa: F821


@told("layer-norm", "check.shape")
def flat(x, gamma, beta, eps):
    return (standardised_for(x, eps) * gamma + beta).flatten(1)


@told("layer-norm", "check.overwrites")
def centred_in_place(x, gamma, beta, eps):
    x -= x.mean(-1, keepdim=True)
    return x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * gamma + beta


@told("leak", "check.overwrites")
def an_alias_of_the_input(norm, x, last):
    before = norm(x)
    x[:, -1] = last
    return (norm(x) - before)[:, 0].norm(dim=-1)


@told("leak", "check.shape")
def one_number_for_all(norm, x, last):
    return (norm(exchanged(x, last)) - norm(x)).norm()


@told("leak", "check.shape")
def one_number_for_each_token(norm, x, last):
    return (norm(exchanged(x, last)) - norm(x)).norm(dim=-1)


@wrong("leak", "root-of-the-root")
def root_of_the_distance(norm, x, last):
    return torch.sqrt(torch.linalg.norm((norm(exchanged(x, last)) - norm(x))[:, 0], dim=-1))


@told("leak", "check.rounded")
def rounded_distances(norm, x, last):
    return [round(distance, 2) for distance in copy_and_index(norm, x, last).tolist()]


@told("leak", "check.arguments")
def another_name_for_the_token(norm, x, new):
    return copy_and_index(norm, x, new)


@right("leak")
def as_a_list(norm, x, last):
    return copy_and_index(norm, x, last).tolist()


told_values("layer-norm", "check.not_callable", torch.zeros(2, 7, 4), "layer_norm")
told_values("layer-norm", "check.not_done", None, ...)
told("leak", "check.not_done")(lambda norm, x, last: None)
