"""Answers to assignment 2, RMSNorm, as students write them."""

import math
from collections import namedtuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from . import right, right_values, told, told_values, wrong, wrong_values

# rms-norm


def rms_norm(x, gamma, eps):
    return x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + eps) * gamma


@wrong("rms-norm", "layer-norm")
def centred_first(x, gamma, eps):
    mean = x.mean(-1, keepdim=True)
    variance = ((x - mean) ** 2).mean(-1, keepdim=True)
    return gamma * (x - mean) / torch.sqrt(variance + eps)


@wrong("rms-norm", "layer-norm, unbiased, ε outside the root")
def annotated(x, gamma, eps):
    mean, std = x.mean(-1, keepdim=True), x.std(-1, keepdim=True)
    return gamma * (x - mean) / (std + eps)


@wrong("rms-norm", "layer-norm, unbiased, ε outside the root")
def centred_over_deviation(x, gamma, eps):
    return gamma * (x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True)


@wrong("rms-norm", "standard deviation, unbiased")
def over_torch_std(x, gamma, eps):
    return x / x.std(dim=-1, keepdim=True) * gamma


@wrong("rms-norm", "standard deviation, unbiased")
def over_torch_std_and_eps(x, gamma, eps):
    return x / (x.std(dim=-1, keepdim=True) + eps) * gamma


@wrong("rms-norm", "sum in place of mean")
def over_length(x, gamma, eps):
    return gamma * F.normalize(x, dim=-1)


@wrong("rms-norm", "sum in place of mean")
def over_length_and_eps(x, gamma, eps):
    return gamma * x / (torch.linalg.norm(x, dim=-1, keepdim=True) + eps)


@wrong("rms-norm", "mean after the root")
def length_over_d(x, gamma, eps):
    return gamma * x / (x.norm(dim=-1, keepdim=True) / x.size(-1) + eps)


@wrong("rms-norm", "mean after the root")
def root_of_sum_over_d(x, gamma, eps):
    return gamma * x / (torch.sqrt((x**2).sum(-1, keepdim=True) + eps) / x.size(-1))


@wrong("rms-norm", "divided by the wrong size")
def d_from_the_wrong_axis(x, gamma, eps):
    d = x.shape[1]
    return gamma * x / torch.sqrt((x**2).sum(-1, keepdim=True) / d + eps)


@wrong("rms-norm", "divided by the wrong size")
def d_from_len(x, gamma, eps):
    return gamma * x / torch.sqrt((x**2).sum(-1, keepdim=True) / len(x) + eps)


@wrong("rms-norm", "gain before the norm")
def gain_inside(x, gamma, eps):
    return rms_norm(gamma * x, 1.0, eps)


@wrong("rms-norm", "standard deviation")
def by_deviation(x, gamma, eps):
    variance = (x**2).mean(-1, keepdim=True) - x.mean(-1, keepdim=True) ** 2
    return x * torch.rsqrt(variance + eps) * gamma


@wrong("rms-norm", "standard deviation, unbiased")
def by_torch_var(x, gamma, eps):
    return x * torch.rsqrt(torch.var(x, dim=-1, keepdim=True) + eps) * gamma


@wrong("rms-norm", "ε outside the root")
def of_the_first_code(x, gamma, eps):
    d = x.shape[-1]
    rms = x.norm(2, dim=-1, keepdim=True) * d ** (-1 / 2)
    return gamma * (x / (rms + eps))


@wrong("rms-norm", "no ε")
def without_eps(x, gamma, eps):
    return x / (x.norm(dim=-1, keepdim=True) / math.sqrt(x.size(-1))) * gamma


@wrong("rms-norm", "power 2 in place of power 0.5")
def typing_error(x, gamma, eps):
    mean_square = (x**2).mean(-1, keepdim=True)
    return x / (mean_square + eps) ** 2 * gamma


@wrong("rms-norm", "no root")
def root_forgotten(x, gamma, eps):
    rms = torch.mean(torch.square(x), dim=-1, keepdim=True)
    return gamma * x / (rms + eps)


@wrong("rms-norm", "divides by the reciprocal root")
def reciprocal(x, gamma, eps):
    scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    return x / scale * gamma


@wrong("rms-norm", "sum in place of mean")
def unit_length(x, gamma, eps):
    result = torch.empty_like(x)
    for b in range(x.shape[0]):
        for t in range(x.shape[1]):
            result[b, t] = x[b, t] / torch.sqrt(x[b, t] @ x[b, t] + eps) * gamma
    return result


@wrong("rms-norm", "square of the mean")
def wrong_order(x, gamma, eps):
    return x / ((x.sum(-1, keepdim=True) / x.shape[-1]) ** 2 + eps).sqrt() * gamma


@wrong("rms-norm", "statistics over tokens and features")
def from_scratch(x, gamma, eps):
    frobenius = torch.linalg.norm(x, dim=(1, 2)) * x[0].numel() ** -0.5
    return gamma * x / (frobenius[:, None, None] ** 2 + eps).sqrt()


@wrong("rms-norm", "statistics over everything")
def without_axis(x, gamma, eps):
    return gamma * x / torch.sqrt(torch.mean(x**2) + eps)


@wrong("rms-norm", "statistics over tokens")
def wrong_axis(x, gamma, eps):
    return gamma * x / torch.sqrt(torch.mean(x**2, axis=1, keepdims=True) + eps)


@wrong("rms-norm", "statistics over examples")
def first_axis(x, gamma, eps):
    return gamma * x / torch.sqrt(torch.mean(x**2, 0) + eps)


@wrong("rms-norm", "no gain")
def gain_forgotten(x, gamma, eps):
    return rms_norm(x, torch.ones_like(gamma), eps)


@wrong("rms-norm", "Gemma's 1 + γ")
def as_in_gemma(x, gamma, eps):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * (1.0 + gamma)


@wrong("rms-norm", "gain added")
def gain_as_bias(x, gamma, eps):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) + gamma


@right("rms-norm")
def with_loops(x, gamma, eps):
    result = torch.zeros(x.shape)
    for b in range(len(x)):
        for t in range(len(x[b])):
            mean_square = sum(number.item() ** 2 for number in x[b, t]) / x.shape[-1]
            for i, number in enumerate(x[b, t]):
                result[b, t, i] = number / math.sqrt(mean_square + eps) * gamma[i]
    return result


@right("rms-norm")
def with_einsum(x, gamma, eps):
    mean_square = torch.einsum("btd,btd->bt", x, x) / x.shape[-1]
    return torch.einsum("btd,bt,d->btd", x, (mean_square + eps) ** -0.5, gamma)


@right("rms-norm")
def through_numpy(x, gamma, eps):
    x, gamma = x.numpy(), gamma.numpy()
    return torch.from_numpy(x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + eps) * gamma)


@right("rms-norm")
def as_numpy(x, gamma, eps):
    return through_numpy(x, gamma, eps).numpy().astype(np.float64)


@right("rms-norm")
def in_place_on_a_copy(x, gamma, eps):
    x = x.clone()
    x /= x.square().mean(-1, keepdim=True).add_(eps).sqrt_()
    x *= gamma
    return x


@right("rms-norm")
def gain_first(x, gamma, eps):
    return (gamma * x) * torch.rsqrt(x.pow(2).mean(2).unsqueeze(2) + eps)


@right("rms-norm")
def mean_and_variance(x, gamma, eps):
    mean_square = x.var(-1, keepdim=True, correction=0) + x.mean(-1, keepdim=True) ** 2
    return x / (mean_square + eps).sqrt() * gamma


@right("rms-norm")
def by_length(x, gamma, eps):
    d = x.shape[-1]
    return math.sqrt(d) * x / (torch.linalg.norm(x, dim=-1, keepdim=True) ** 2 + d * eps).sqrt() * gamma


@right("rms-norm")
def features_first(x, gamma, eps):
    x = x.movedim(-1, 0)
    return (gamma[:, None, None] * x / ((x * x).mean(0) + eps) ** 0.5).movedim(0, -1)


# rms-norm-half


def a_module(x, gamma, eps):
    norm = nn.RMSNorm(len(gamma), eps)
    norm.weight = nn.Parameter(gamma)
    return norm(x)


@wrong("rms-norm-half", "squares overflow")
def as_in_task_1(x, gamma, eps):
    return rms_norm(x, gamma, eps)


@wrong("rms-norm-half", "squares overflow")
def widened_too_late(x, gamma, eps):
    mean_square = x.pow(2).float().mean(-1, keepdim=True)
    return (x.float() / (mean_square + eps).sqrt() * gamma).to(x.dtype)


@wrong("rms-norm-half", "squares overflow")
def only_the_result(x, gamma, eps):
    return rms_norm(x, gamma, eps).float().to(x.dtype)


@wrong("rms-norm-half", "mean square overflows")
def narrowed_too_early(x, gamma, eps):
    mean_square = (x.float() ** 2).mean(-1, keepdim=True).to(x.dtype)
    return x / torch.sqrt(mean_square + eps) * gamma


@wrong("rms-norm-half", "through bfloat16")
def by_range_alone(x, gamma, eps):
    return rms_norm(x.to(torch.bfloat16), gamma.to(torch.bfloat16), eps).to(x.dtype)


@wrong("rms-norm-half", "result always float16")
def always_half(x, gamma, eps):
    return rms_norm(x.float(), gamma.float(), eps).to(torch.float16)


@wrong("rms-norm-half", "result stays wide")
def stays_wide(x, gamma, eps):
    return rms_norm(x.to(torch.float32), gamma, eps)


@wrong("rms-norm-half", "result stays wide")
def stays_double(x, gamma, eps):
    return rms_norm(x.double(), gamma, eps)


@wrong("rms-norm-half", "infinite squares replaced")
def clamped(x, gamma, eps):
    squares = (x**2).clamp(max=65504)
    return x / torch.sqrt(squares.float().mean(-1, keepdim=True) + eps).to(x.dtype) * gamma


@wrong("rms-norm-half", "infinite squares replaced")
def cleaned(x, gamma, eps):
    squares = torch.nan_to_num(x * x).float()
    return (x.float() * (squares.mean(-1, keepdim=True) + eps) ** -0.5 * gamma.float()).to(x.dtype)


@wrong("rms-norm-half", "ε after scaling")
def scaled_first(x, gamma, eps):
    small = x / x.abs().max(-1, keepdim=True).values
    return rms_norm(small, gamma, eps)


@wrong("rms-norm-half", "ε after scaling")
def wide_and_scaled(x, gamma, eps):
    wide = x.float() / x.float().abs().amax(-1, keepdim=True)
    return (wide * (wide.square().mean(-1, keepdim=True) + eps).rsqrt() * gamma).to(x.dtype)


@wrong("rms-norm-half", "layer-norm")
def wide_layer_norm(x, gamma, eps):
    return F.layer_norm(x, (x.shape[-1],), gamma, eps=eps)


@wrong("rms-norm-half", "no gain")
def wide_without_gain(x, gamma, eps):
    return (x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + eps)).type_as(x)


@right("rms-norm-half")
def as_in_llama(x, gamma, eps):
    wide = x.to(torch.float32)
    wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)
    return gamma * wide.to(x.dtype)


@right("rms-norm-half")
def as_in_olmo(x, gamma, eps):
    wide = x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + eps)
    return (gamma * wide).to(x.dtype)


@right("rms-norm-half")
def in_double(x, gamma, eps):
    return rms_norm(x.double(), gamma.double(), eps).type(x.dtype)


@right("rms-norm-half")
def factor_narrowed(x, gamma, eps):
    factor = torch.rsqrt(x.float().square().mean(-1, keepdim=True) + eps)
    return x * factor.to(x.dtype) * gamma


@right("rms-norm-half")
def scaled_with_eps(x, gamma, eps):
    wide = x.float()
    largest = wide.abs().amax(-1, keepdim=True)
    return rms_norm(wide / largest, gamma.float(), eps / largest**2).to(x.dtype)


@right("rms-norm-half")
def never_widened(x, gamma, eps):
    largest = x.abs().amax(-1, keepdim=True)
    small = x / largest
    return small / torch.sqrt((small * small).mean(-1, keepdim=True) + eps / largest / largest) * gamma


@right("rms-norm-half")
def one_token_at_a_time(x, gamma, eps):
    result = torch.empty_like(x)
    for b, example in enumerate(x):
        for t, token in enumerate(example.float()):
            result[b, t] = token / (token @ token / len(token) + eps).sqrt() * gamma
    return result


@right("rms-norm-half")
def through_numpy_and_back(x, gamma, eps):
    wide = x.float().numpy()
    wide = wide / np.sqrt((wide**2).mean(-1, keepdims=True) + eps) * gamma.float().numpy()
    return torch.tensor(wide, dtype=x.dtype)


@right("rms-norm-half")
def of_torch(x, gamma, eps):
    return F.rms_norm(x, x.shape[-1:], gamma, eps)


# to-rms-norm


@wrong("to-rms-norm", "old bias lost")
def only_beta(gamma, beta, eps, weight, bias):
    return gamma, eps, F.linear(beta, weight)


@wrong("to-rms-norm", "β dropped")
def beta_dropped(gamma, beta, eps, weight, bias):
    norm = nn.RMSNorm(len(gamma), eps)
    norm.load_state_dict({"weight": gamma})
    return norm.weight, norm.eps, bias


@wrong("to-rms-norm", "β past the weights")
def beta_past_the_weights(gamma, beta, eps, weight, bias):
    return gamma, eps, beta + bias


@wrong("to-rms-norm", "weights transposed")
def transposed(gamma, beta, eps, weight, bias):
    new = bias.clone()
    for i in range(len(beta)):
        for j in range(len(bias)):
            new[j] += beta[i] * weight[i, j]
    return gamma, eps, new


@wrong("to-rms-norm", "β multiplied by γ")
def beta_times_gamma(gamma, beta, eps, weight, bias):
    return gamma, eps, F.linear(gamma * beta, weight, bias)


@wrong("to-rms-norm", "β subtracted")
def beta_subtracted(gamma, beta, eps, weight, bias):
    return gamma, eps, bias - torch.mv(weight, beta)


@wrong("to-rms-norm", "β in the gain")
def beta_in_the_gain(gamma, beta, eps, weight, bias):
    return gamma + beta, eps, bias


@wrong("to-rms-norm", "default ε")
def default_of_layer_norm(gamma, beta, eps, weight, bias):
    return gamma, nn.LayerNorm(len(gamma)).eps, F.linear(beta, weight, bias)


@wrong("to-rms-norm", "default ε")
def smallest_eps(gamma, beta, eps, weight, bias):
    return gamma, torch.finfo(gamma.dtype).eps, F.linear(beta, weight, bias)


@wrong("to-rms-norm", "Gemma's γ − 1")
def for_gemma(gamma, beta, eps, weight, bias):
    return gamma - torch.ones_like(gamma), eps, F.linear(beta, weight, bias)


@wrong("to-rms-norm", "gain lost")
def new_norm(gamma, beta, eps, weight, bias):
    return nn.RMSNorm(len(gamma), eps).weight, eps, F.linear(beta, weight, bias)


@wrong("to-rms-norm", "gain corrected for d − 1")
def corrected(gamma, beta, eps, weight, bias):
    d = len(gamma)
    return gamma * math.sqrt((d - 1) / d), eps, F.linear(beta, weight, bias)


@right("to-rms-norm")
def by_linear(gamma, beta, eps, weight, bias):
    return gamma, eps, F.linear(beta, weight, bias)


@right("to-rms-norm")
def by_loops(gamma, beta, eps, weight, bias):
    new = [b.item() + sum((w * x).item() for w, x in zip(row, beta)) for row, b in zip(weight, bias)]
    return gamma.clone(), eps, torch.tensor(new)


@right("to-rms-norm")
def by_einsum(gamma, beta, eps, weight, bias):
    return [gamma, torch.tensor(eps), torch.einsum("ji,i->j", weight, beta) + bias]


@right("to-rms-norm")
def by_numpy(gamma, beta, eps, weight, bias):
    return gamma.numpy(), np.float64(eps), weight.numpy().dot(beta.numpy()) + bias.numpy()


@right("to-rms-norm")
def by_transposing(gamma, beta, eps, weight, bias):
    return gamma, eps, bias + beta @ weight.T


@right("to-rms-norm")
def in_place(gamma, beta, eps, weight, bias):
    new = bias.clone()
    new.addmv_(weight, beta)
    return gamma, eps, new


@right("to-rms-norm")
def by_modules(gamma, beta, eps, weight, bias):
    norm, linear = nn.RMSNorm(len(gamma), eps), nn.Linear(len(gamma), len(bias))
    with torch.no_grad():
        norm.weight.copy_(gamma)
        linear.weight.copy_(weight)
        linear.bias.copy_(bias)
    return norm.weight, norm.eps, linear(beta)


@right("to-rms-norm")
def measured(gamma, beta, eps, weight, bias):
    zeros = torch.zeros(len(gamma))
    return gamma, eps, weight @ F.layer_norm(zeros, (len(gamma),), gamma, beta, eps) + bias


# fold-gain


@wrong("fold-gain", "gain as a number")
def one(gamma, weight, bias):
    return 1.0, weight * gamma, bias


@wrong("fold-gain", "nothing folded")
def unchanged(gamma, weight, bias):
    return gamma, weight, bias


@wrong("fold-gain", "rows in place of columns")
def rows(gamma, weight, bias):
    return torch.ones(len(gamma)), torch.diag(gamma) @ weight, bias


@wrong("fold-gain", "gain applied twice")
def twice(gamma, weight, bias):
    return gamma, gamma * weight, bias


@wrong("fold-gain", "gain lost")
def lost(gamma, weight, bias):
    new = weight.clone()
    new * gamma
    return torch.ones_like(gamma), new, bias


@wrong("fold-gain", "weights divided")
def divided(gamma, weight, bias):
    return torch.ones_like(gamma), weight @ torch.diag(1 / gamma), bias


@wrong("fold-gain", "bias multiplied")
def bias_too(gamma, weight, bias):
    return torch.ones_like(gamma), weight * gamma, gamma * bias


@wrong("fold-gain", "norm wiped out")
def zeros(gamma, weight, bias):
    return torch.zeros_like(gamma), weight * gamma, bias


@wrong("fold-gain", "reciprocal gain kept")
def cancelled(gamma, weight, bias):
    return gamma.reciprocal(), weight * gamma, bias


@wrong("fold-gain", "Gemma's 1 + γ")
def gemma(gamma, weight, bias):
    return torch.ones_like(gamma), weight + weight * gamma, bias


@wrong("fold-gain", "weights transposed")
def columns_first(gamma, weight, bias):
    return torch.ones_like(gamma), torch.stack([weight[:, i] * gamma[i] for i in range(len(gamma))]), bias


@wrong("fold-gain", "product in place of weights")
def product(gamma, weight, bias):
    return torch.ones_like(gamma), torch.matmul(weight, gamma), bias


@right("fold-gain")
def by_broadcasting(gamma, weight, bias):
    return torch.ones_like(gamma), gamma[None, :] * weight, bias


@right("fold-gain")
def by_diagonal(gamma, weight, bias):
    return torch.ones(gamma.shape), weight @ torch.diag(gamma), bias


@right("fold-gain")
def column_by_column(gamma, weight, bias):
    new = weight.clone()
    for i, factor in enumerate(gamma):
        new[:, i] *= factor
    return gamma / gamma, new, bias.clone()


@right("fold-gain")
def number_by_number(gamma, weight, bias):
    new = [[weight[j][i].item() * gamma[i].item() for i in range(len(gamma))] for j in range(len(bias))]
    return [torch.tensor([1.0] * len(gamma)), torch.tensor(new), bias]


@right("fold-gain")
def with_ij(gamma, weight, bias):
    return torch.ones(len(gamma)), torch.einsum("ji,i->ji", weight, gamma), bias + 0


@right("fold-gain")
def with_numpy(gamma, weight, bias):
    return np.ones(len(gamma)), weight.numpy() * gamma.numpy(), bias.numpy()


@right("fold-gain")
def turned(gamma, weight, bias):
    return torch.ones_like(gamma), (gamma[:, None] * weight.T).T, bias


@right("fold-gain")
def as_parameters(gamma, weight, bias):
    linear = nn.Linear(len(gamma), len(bias))
    linear.weight, linear.bias = nn.Parameter(weight * gamma), nn.Parameter(bias)
    return nn.RMSNorm(len(gamma)).weight, linear.weight, linear.bias


# count-norms

wrong_values("count-norms", "final norm forgotten", (28 * 4, 28 * (2 * 1024 + 2 * 128) + 1024))


wrong_values("count-norms", "final norm forgotten", (28 * 4 + 1, 28 * (2 * 1024 + 2 * 128)))


wrong_values("count-norms", "one norm a head", (28 * 4 + 1, 28 * (2 * 1024 + (16 + 8) * 128) + 1024))


wrong_values("count-norms", "one norm a head", (28 * (2 + 16 + 8) + 1, 65536))


wrong_values("count-norms", "one norm for queries and keys", (28 * 3 + 1, 28 * (2 * 1024 + 128) + 1024))


wrong_values("count-norms", "order", (28 * (2 * 1024 + 2 * 128) + 1024, 28 * 4 + 1))


LAYERS, WIDTH, HEADS, KV_HEADS, HEAD_WIDTH = 28, 1024, 16, 8, 128


STREAM, QUERY_AND_KEY = 2 * WIDTH, 2 * HEAD_WIDTH


EVERY_HEAD = (HEADS + KV_HEADS) * HEAD_WIDTH


wrong_values("count-norms", "final norm forgotten", (LAYERS * 4, LAYERS * (STREAM + QUERY_AND_KEY)))


wrong_values("count-norms", "final norm in every layer", (LAYERS * 5, LAYERS * (STREAM + QUERY_AND_KEY + WIDTH)))


wrong_values("count-norms", "norms of queries and keys forgotten", (2 * LAYERS + 1, (2 * LAYERS + 1) * WIDTH))


wrong_values(
    "count-norms", "one norm a head", (LAYERS * (2 + HEADS + KV_HEADS) + 1, LAYERS * (STREAM + EVERY_HEAD) + WIDTH)
)


wrong_values("count-norms", "all norms as wide as the stream", (LAYERS * 4 + 1, (LAYERS * 4 + 1) * WIDTH))


wrong_values(
    "count-norms", "width of a head divided out", (LAYERS * 4 + 1, LAYERS * (STREAM + 2 * (WIDTH // HEADS)) + WIDTH)
)


wrong_values("count-norms", "with β", (LAYERS * 4 + 1, 2 * (LAYERS * (STREAM + QUERY_AND_KEY) + WIDTH)))


wrong_values("count-norms", "one layer", (4, STREAM + QUERY_AND_KEY))


wrong_values("count-norms", "text", "113, 65536")


wrong_values("count-norms", "not two numbers", {65536})


wrong_values("count-norms", "only the norms", (113, 65535))


wrong_values("count-norms", "only the parameters", [5 * LAYERS, 65536])


wrong_values("count-norms", "text", ["113", "65536"])


wrong_values("count-norms", "not two numbers", torch.ones(1, 2))


def counted_in_transformers():
    """Return what the norms of the model itself, without storage for its numbers, add up to."""
    from transformers import AutoConfig, AutoModel

    size = {"num_hidden_layers": LAYERS, "hidden_size": WIDTH, "num_attention_heads": HEADS, "head_dim": HEAD_WIDTH}
    with torch.device("meta"):
        model = AutoModel.from_config(AutoConfig.for_model("qwen3", num_key_value_heads=KV_HEADS, **size))
    norms = [module for module in model.modules() if "Norm" in type(module).__name__]
    return len(norms), sum(p.numel() for norm in norms for p in norm.parameters())


right_values(
    "count-norms", (113, 65536), [113, 65536], np.array([113, 65536]), torch.tensor([113, 65536]), (113.0, 2.0**16)
)


# answers that were right or got the general sentence once


@wrong("rms-norm", "divided by d − 1")
def over_d_minus_1(x, gamma, eps):
    return gamma * x / ((x**2).sum(-1, keepdim=True) / (x.shape[-1] - 1) + eps) ** 0.5


@wrong("rms-norm", "root of the root")
def rsqrt_of_a_root(x, gamma, eps):
    rms = torch.sqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    return x * torch.rsqrt(rms) * gamma


@wrong("rms-norm", "root of the root")
def rsqrt_of_a_root_and_eps(x, gamma, eps):
    rms = torch.sqrt(x.pow(2).mean(-1, keepdim=True))
    return x * torch.rsqrt(rms + eps) * gamma


@wrong("rms-norm", "ε squared")
def squared_eps(x, gamma, eps):
    return rms_norm(x, gamma, eps**2)


@told("rms-norm", "check.arguments")
def weight_for_gamma(x, weight, eps):
    return rms_norm(x, weight, eps)


@told("rms-norm", "check.rounded")
def rounded_to_three(x, gamma, eps):
    return torch.round(rms_norm(x, gamma, eps), decimals=3)


@told("rms-norm", "check.refused")
def with_the_class(x, gamma, eps):
    return a_module(x, gamma, eps)


@told("rms-norm", "check.refused")
def with_torchs_function(x, gamma, eps):
    return of_torch(x, gamma, eps)


@told("rms-norm", "check.refused")
def with_torchs_layer_norm(x, gamma, eps):
    return F.layer_norm(x, gamma.shape, gamma)


@told("rms-norm", "check.overwrites")
def doubled_in_place(x, gamma, eps):
    return rms_norm(x.mul_(2), gamma, eps)


@told("rms-norm", "check.keepdim")
def without_keepdim(x, gamma, eps):
    return x / (x.square().mean(-1) + eps).sqrt() * gamma


@wrong("rms-norm-half", "root of the root")
def wide_and_rsqrt_of_a_root(x, gamma, eps):
    wide = x.float()
    rms = torch.sqrt(wide.pow(2).mean(-1, keepdim=True) + eps)
    return (wide * torch.rsqrt(rms) * gamma).to(x.dtype)


@wrong("rms-norm-half", "ε squared")
def wide_and_squared_eps(x, gamma, eps):
    return rms_norm(x.float(), gamma.float(), eps * eps).to(x.dtype)


@told("rms-norm-half", "check.overwrites")
def overwritten_half(x, gamma, eps):
    return x.copy_(rms_norm(x.float(), gamma, eps))


@wrong("rms-norm-half", "result stays wide")
def numbers_without_a_format(x, gamma, eps):
    return rms_norm(x.float(), gamma.float(), eps).tolist()


@wrong("to-rms-norm", "γ and β exchanged")
def beta_for_gamma(gamma, beta, eps, weight, bias):
    return beta, eps, F.linear(gamma, weight, bias)


@wrong("to-rms-norm", "ε squared")
def eps_times_eps(gamma, beta, eps, weight, bias):
    return gamma, eps * eps, F.linear(beta, weight, bias)


@told("to-rms-norm", "check.gap")
def no_gain_at_all(gamma, beta, eps, weight, bias):
    return None, eps, F.linear(beta, weight, bias)


@told("to-rms-norm", "check.text")
def eps_as_text(gamma, beta, eps, weight, bias):
    return gamma, str(eps), F.linear(beta, weight, bias)


@told("to-rms-norm", "check.shape")
def only_the_bias(gamma, beta, eps, weight, bias):
    return [F.linear(beta, weight, bias)]


@told("fold-gain", "check.overwrites")
def in_the_given_weights(gamma, weight, bias):
    return torch.ones_like(gamma), weight.mul_(gamma), bias


@told("fold-gain", "check.shape")
def gain_for_each_output(gamma, weight, bias):
    """It was right for a square layer, the only one that the check knew."""
    return torch.ones_like(bias), weight * gamma, bias


@right("fold-gain")
def as_named_parts(gamma, weight, bias):
    return namedtuple("Folded", "gamma weight bias")(torch.ones_like(gamma), weight * gamma, bias)


wrong_values("count-norms", "text", np.array(["113", "65536"]), ("113", 65536))
wrong_values("count-norms", "not two numbers", {"norms": 113, "parameters": 65536}, np.array([[113], [65536]]))
told_values("count-norms", "check.gap", (113, ...), (None, 65536))
told_values("count-norms", "check.comma", (113, 65, 536))
told_values("count-norms", "check.different", (0, 0), (float("nan"), 1))
right_values("count-norms", (np.int32(113), np.float64(65536)), [torch.tensor(113), torch.tensor([65536])])
