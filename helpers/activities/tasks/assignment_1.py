"""Assignment 1, LayerNorm: what its checks know. How to add a mistake: see the head of this package."""

import torch
import torch.nn.functional as F

from helpers.activities.tasks import TORCH_NORMS, Task, holds_text

# 1 · LayerNorm by hand

X = torch.tensor([6, 0.5, 4.5, 2, 2])  # its mean is 3, the sum of the squared differences 19.5, the variance 3.9
GAMMA = torch.tensor([2, 0.8, 4, 1, 3])
BETA = torch.tensor([0.5, 2, -1, 2, -0.5])  # and ε = 0.1
RIGHT_NUMBERS = [3.5, 1.0, 2.0, 1.5, -2.0]

BY_HAND = Task("by-hand", right=RIGHT_NUMBERS)


def is_list_of_numbers(answer):
    return isinstance(answer, list) and all(isinstance(one, int | float) for one in answer)


def right_places(answer):
    """Return how many of five numbers are right in their places."""
    return sum(round(number, 2) == right for number, right in zip(answer, RIGHT_NUMBERS))


BY_HAND.wrong_values("unbiased", (X - 3) / (19.5 / 4 + 0.1) ** 0.5 * GAMMA + BETA)


BY_HAND.wrong_values("eps-outside", (X - 3) / (3.9**0.5 + 0.1) * GAMMA + BETA)


BY_HAND.wrong_values("unbiased-eps-outside", (X - 3) / ((19.5 / 4) ** 0.5 + 0.1) * GAMMA + BETA)


BY_HAND.wrong_values("eps-missing", (X - 3) / 3.9**0.5 * GAMMA + BETA)


BY_HAND.wrong_values("eps-squared", (X - 3) / (3.9 + 0.01) ** 0.5 * GAMMA + BETA)


BY_HAND.wrong_values("unbiased-eps-missing", (X - 3) / (19.5 / 4) ** 0.5 * GAMMA + BETA)


BY_HAND.wrong_values("no-root", (X - 3) / 4 * GAMMA + BETA)


BY_HAND.wrong_values(
    "root-of-the-root",
    (X - 3) / 2**0.5 * GAMMA + BETA,
    (X - 3) / (3.9**0.5 + 0.1) ** 0.5 * GAMMA + BETA,
    (X - 3) / 3.9**0.25 * GAMMA + BETA,
)


BY_HAND.wrong_values("sum-of-squares", (X - 3) / 19.6**0.5 * GAMMA + BETA, (X - 3) / 19.5**0.5 * GAMMA + BETA)


BY_HAND.wrong_values("not-centred", X / 13**0.5 * GAMMA + BETA)


BY_HAND.wrong_values("sign", (3 - X) / 2 * GAMMA + BETA)


BY_HAND.wrong_values(
    "no-gain-no-bias",
    (X - 3) / 2,
    (X - 3) / 1,
    (X - 3) / 3.9**0.5,
    (X - 3) / (19.5 / 4) ** 0.5,
    (X - 3) / (19.5 / 4 + 0.1) ** 0.5,
    (X - 3) / 4,
)


BY_HAND.wrong_values("no-gain", (X - 3) / 2 + BETA)


BY_HAND.wrong_values("no-bias", (X - 3) / 2 * GAMMA)


BY_HAND.wrong_values("bias-before-gain", ((X - 3) / 2 + BETA) * GAMMA)


BY_HAND.wrong_values("gain-and-bias-exchanged", (X - 3) / 2 * BETA + GAMMA)


@BY_HAND.mistake("text")
def by_hand_text(answer):
    return holds_text(answer)


@BY_HAND.mistake("not-a-list")
def by_hand_not_a_list(answer):
    return not isinstance(answer, list) or any(isinstance(one, list) for one in answer)


@BY_HAND.mistake("order")
def by_hand_order(answer):
    return is_list_of_numbers(answer) and sorted(round(one, 2) for one in answer) == sorted(RIGHT_NUMBERS)


@BY_HAND.mistake("four-right")
def by_hand_four_right(answer):
    return is_list_of_numbers(answer) and len(answer) == 5 and right_places(answer) == 4


@BY_HAND.mistake("some-right")
def by_hand_some_right(answer):
    return is_list_of_numbers(answer) and len(answer) == 5 and right_places(answer) in (1, 2, 3)


# 2 · The function


def layer_norm_cases(randn):
    return [
        {"x": 2 * randn(2, 7, 4) + 3, "gamma": randn(4) + 2, "beta": randn(4) - 1, "eps": 0.1},
        {"x": randn(4, 2, 6) - 2, "gamma": randn(6) - 2, "beta": randn(6) + 1, "eps": 0.3},
    ]


def layer_norm(x, gamma, beta, eps):
    return gamma * standardised(x, eps) + beta


def centred(x):
    return x - x.mean(-1, keepdim=True)


def variance(x):
    return x.var(-1, correction=0, keepdim=True)


def mean_square(x):
    return x.square().mean(-1, keepdim=True)


def standardised(x, eps):
    return centred(x) / (variance(x) + eps).sqrt()


LAYER_NORM = Task("layer-norm", layer_norm, layer_norm_cases, refuses=TORCH_NORMS)


@LAYER_NORM.mistake("unbiased")
def layer_norm_unbiased(x, gamma, beta, eps):
    return centred(x) / (x.var(-1, keepdim=True) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("eps-outside")
def layer_norm_eps_outside(x, gamma, beta, eps):
    return centred(x) / (x.std(-1, correction=0, keepdim=True) + eps) * gamma + beta


@LAYER_NORM.mistake("unbiased-eps-outside")
def layer_norm_unbiased_eps_outside(x, gamma, beta, eps):
    return centred(x) / (x.std(-1, keepdim=True) + eps) * gamma + beta


@LAYER_NORM.mistake("eps-missing")
def layer_norm_eps_missing(x, gamma, beta, eps):
    return F.layer_norm(x, x.shape[-1:], gamma, beta, 1e-9)


@LAYER_NORM.mistake("eps-squared")
def layer_norm_eps_squared(x, gamma, beta, eps):
    return centred(x) / (variance(x) + eps**2).sqrt() * gamma + beta


@LAYER_NORM.mistake("eps-squared")
def layer_norm_eps_squared_unbiased(x, gamma, beta, eps):
    return centred(x) / (x.var(-1, keepdim=True) + eps**2).sqrt() * gamma + beta


@LAYER_NORM.mistake("unbiased-eps-missing")
def layer_norm_unbiased_eps_missing(x, gamma, beta, eps):
    return centred(x) / x.std(-1, keepdim=True) * gamma + beta


@LAYER_NORM.mistake("square-for-root")
def layer_norm_square_for_root(x, gamma, beta, eps):
    return centred(x) / (variance(x) + eps) ** 2 * gamma + beta


@LAYER_NORM.mistake("no-root")
def layer_norm_no_root(x, gamma, beta, eps):
    return centred(x) / (variance(x) + eps) * gamma + beta


@LAYER_NORM.mistake("no-root")
def layer_norm_no_root_unbiased(x, gamma, beta, eps):
    return centred(x) / (x.var(-1, keepdim=True) + eps) * gamma + beta


@LAYER_NORM.mistake("no-root")
def layer_norm_no_root_without_eps(x, gamma, beta, eps):
    return centred(x) / variance(x) * gamma + beta


@LAYER_NORM.mistake("no-root")
def layer_norm_no_root_unbiased_without_eps(x, gamma, beta, eps):
    return centred(x) / x.var(-1, keepdim=True) * gamma + beta


@LAYER_NORM.mistake("root-of-the-root")
def layer_norm_root_of_the_root(x, gamma, beta, eps):
    return centred(x) / (x.std(-1, correction=0, keepdim=True) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("root-of-the-root")
def layer_norm_root_of_the_root_unbiased(x, gamma, beta, eps):
    return centred(x) / (x.std(-1, keepdim=True) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("root-of-the-root")
def layer_norm_root_of_the_root_with_eps(x, gamma, beta, eps):
    return centred(x) / (variance(x) + eps).sqrt().sqrt() * gamma + beta


@LAYER_NORM.mistake("root-of-the-root")
def layer_norm_root_of_the_root_with_eps_unbiased(x, gamma, beta, eps):
    return centred(x) / (x.var(-1, keepdim=True) + eps).sqrt().sqrt() * gamma + beta


@LAYER_NORM.mistake("root-of-the-root")
def layer_norm_root_of_the_root_without_eps(x, gamma, beta, eps):
    return centred(x) / variance(x).sqrt().sqrt() * gamma + beta


@LAYER_NORM.mistake("reciprocal")
def layer_norm_reciprocal(x, gamma, beta, eps):
    return centred(x) * (variance(x) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("token-axis")
def layer_norm_token_axis(x, gamma, beta, eps):
    return (x - x.mean(1, keepdim=True)) / (x.var(1, correction=0, keepdim=True) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("token-axis")
def layer_norm_token_axis_unbiased(x, gamma, beta, eps):
    return (x - x.mean(1, keepdim=True)) / (x.var(1, keepdim=True) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("token-axis")
def layer_norm_token_axis_by_std(x, gamma, beta, eps):
    return (x - x.mean(1, keepdim=True)) / (x.std(1, keepdim=True) + eps) * gamma + beta


@LAYER_NORM.mistake("tokens-and-features")
def layer_norm_tokens_and_features(x, gamma, beta, eps):
    return (x - x.mean((1, 2), keepdim=True)) / (x.var((1, 2), correction=0, keepdim=True) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("tokens-and-features")
def layer_norm_tokens_and_features_unbiased(x, gamma, beta, eps):
    return (x - x.mean((1, 2), keepdim=True)) / (x.var((1, 2), keepdim=True) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("tokens-and-features")
def layer_norm_tokens_and_features_by_std(x, gamma, beta, eps):
    return (x - x.mean((1, 2), keepdim=True)) / (x.std((1, 2), keepdim=True) + eps) * gamma + beta


@LAYER_NORM.mistake("batchnorm")
def layer_norm_batchnorm(x, gamma, beta, eps):
    return (x - x.mean((0, 1), keepdim=True)) / (x.var((0, 1), correction=0, keepdim=True) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("batchnorm")
def layer_norm_batchnorm_unbiased(x, gamma, beta, eps):
    return (x - x.mean((0, 1), keepdim=True)) / (x.var((0, 1), keepdim=True) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("batchnorm")
def layer_norm_batchnorm_by_std(x, gamma, beta, eps):
    return (x - x.mean((0, 1), keepdim=True)) / (x.std((0, 1), keepdim=True) + eps) * gamma + beta


@LAYER_NORM.mistake("over-examples")
def layer_norm_over_examples(x, gamma, beta, eps):
    return (x - x.mean(0)) / (x.var(0, correction=0) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("over-examples")
def layer_norm_over_examples_unbiased(x, gamma, beta, eps):
    return (x - x.mean(0)) / (x.var(0) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("whole-tensor")
def layer_norm_whole_tensor(x, gamma, beta, eps):
    return (x - x.mean()) / (x.var(correction=0) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("whole-tensor")
def layer_norm_whole_tensor_unbiased(x, gamma, beta, eps):
    return (x - x.mean()) / (x.var() + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("whole-tensor")
def layer_norm_whole_tensor_by_std(x, gamma, beta, eps):
    return (x - x.mean()) / (x.std() + eps) * gamma + beta


@LAYER_NORM.mistake("one-variance")
def layer_norm_one_variance(x, gamma, beta, eps):
    return centred(x) / (centred(x).square().mean() + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("one-variance")
def layer_norm_one_variance_of_all_numbers(x, gamma, beta, eps):
    return centred(x) / (x.var(correction=0) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("one-variance")
def layer_norm_one_variance_of_all_numbers_unbiased(x, gamma, beta, eps):
    return centred(x) / (x.var() + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("rms-norm")
def layer_norm_rms_norm(x, gamma, beta, eps):
    return x / (mean_square(x) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("mean-square-for-variance")
def layer_norm_mean_square_for_variance(x, gamma, beta, eps):
    return centred(x) / (mean_square(x) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("numerator-not-centred")
def layer_norm_numerator_not_centred(x, gamma, beta, eps):
    return x / (variance(x) + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("brackets-missing")
def layer_norm_brackets_missing(x, gamma, beta, eps):
    return gamma * x - x.mean(-1, keepdim=True) / (variance(x) + eps).sqrt() + beta


@LAYER_NORM.mistake("brackets-missing")
def layer_norm_brackets_missing_gain_outside(x, gamma, beta, eps):
    return gamma * (x - x.mean(-1, keepdim=True) / (variance(x) + eps).sqrt()) + beta


@LAYER_NORM.mistake("unit-length")
def layer_norm_unit_length(x, gamma, beta, eps):
    return F.normalize(x - x.mean(-1, keepdim=True), dim=-1) * gamma + beta


@LAYER_NORM.mistake("sum-of-squares")
def layer_norm_sum_of_squares(x, gamma, beta, eps):
    return centred(x) / (variance(x) * x.shape[-1] + eps).sqrt() * gamma + beta


@LAYER_NORM.mistake("no-gain-no-bias")
def layer_norm_no_gain_no_bias(x, gamma, beta, eps):
    return standardised(x, eps)


@LAYER_NORM.mistake("no-gain-no-bias")
def layer_norm_no_gain_no_bias_unbiased(x, gamma, beta, eps):
    return centred(x) / (x.var(-1, keepdim=True) + eps).sqrt()


@LAYER_NORM.mistake("no-gain-no-bias")
def layer_norm_no_gain_no_bias_by_std(x, gamma, beta, eps):
    return centred(x) / (x.std(-1, keepdim=True) + eps)


@LAYER_NORM.mistake("no-gain")
def layer_norm_no_gain(x, gamma, beta, eps):
    return F.layer_norm(x, x.shape[-1:], None, beta, eps)


@LAYER_NORM.mistake("no-bias")
def layer_norm_no_bias(x, gamma, beta, eps):
    return F.layer_norm(x, x.shape[-1:], gamma, None, eps)


@LAYER_NORM.mistake("bias-before-gain")
def layer_norm_bias_before_gain(x, gamma, beta, eps):
    return gamma * (standardised(x, eps) + beta)


@LAYER_NORM.mistake("gain-and-bias-exchanged")
def layer_norm_gain_and_bias_exchanged(x, gamma, beta, eps):
    return beta * standardised(x, eps) + gamma


@LAYER_NORM.mistake("gain-and-bias-exchanged")
def layer_norm_gain_and_bias_exchanged_unbiased(x, gamma, beta, eps):
    return beta * centred(x) / (x.var(-1, keepdim=True) + eps).sqrt() + gamma


@LAYER_NORM.mistake("scaled-before")
def layer_norm_scaled_before(x, gamma, beta, eps):
    return F.layer_norm(gamma * x + beta, x.shape[-1:], eps=eps)


@LAYER_NORM.mistake("one-plus-gain")
def layer_norm_one_plus_gain(x, gamma, beta, eps):
    return F.layer_norm(x, x.shape[-1:], 1 + gamma, beta, eps)


# 3 · Which axis?

WHICH_AXIS = Task("which-axis", right=[(3, 5, 1), (1, 1, 4), (3, 1, 1)])  # x has the shape (3, 5, 4)


WHICH_AXIS.wrong_values("shares-not-statistics", [(1, 1, 4), (3, 5, 1), (1, 5, 4)])


WHICH_AXIS.wrong_values("swapped", [(1, 1, 4), (3, 5, 1), (3, 1, 1)])


WHICH_AXIS.wrong_values(
    "order",
    [(3, 5, 1), (3, 1, 1), (1, 1, 4)],
    [(1, 1, 4), (3, 1, 1), (3, 5, 1)],
    [(3, 1, 1), (3, 5, 1), (1, 1, 4)],
    [(3, 1, 1), (1, 1, 4), (3, 5, 1)],
)


WHICH_AXIS.wrong_values("no-keepdim", [(3, 5), (4,), (3,)], [(3, 5), 4, 3])


WHICH_AXIS.wrong_values("layernorm-over-tokens-and-features", [(3, 1, 1), (1, 1, 4), (3, 1, 1)])


WHICH_AXIS.wrong_values(
    "layernorm-over-tokens",
    [(3, 1, 4), (1, 1, 4), (3, 1, 1)],
    [(1, 1, 4), (1, 1, 4), (3, 1, 1)],
    [(1, 1, 1), (1, 1, 4), (3, 1, 1)],
)


WHICH_AXIS.wrong_values("batchnorm-over-examples", [(3, 5, 1), (1, 5, 4), (3, 1, 1)])


WHICH_AXIS.wrong_values(
    "batchnorm-within-an-example",
    [(3, 5, 1), (3, 1, 4), (3, 1, 1)],
    [(3, 5, 1), (3, 5, 1), (3, 1, 1)],
    [(3, 5, 1), (3, 1, 1), (3, 1, 1)],
)


WHICH_AXIS.wrong_values(
    "batchnorm-over-everything", [(3, 5, 1), (1, 1, 1), (3, 1, 1)], [(3, 5, 1), (1, 5, 1), (3, 1, 1)]
)


WHICH_AXIS.wrong_values(
    "both-over-everything",
    [(3, 5, 1), (1, 1, 4), (1, 1, 1)],
    [(3, 5, 1), (1, 1, 4), (1, 1, 4)],
    [(3, 5, 1), (1, 1, 4), (1, 5, 1)],
)


WHICH_AXIS.wrong_values("both-kept", [(3, 5, 1), (1, 1, 4), (1, 5, 4)])


WHICH_AXIS.wrong_values("third-like-the-first", [(3, 5, 1), (1, 1, 4), (3, 5, 1)])


WHICH_AXIS.wrong_values("shapes-of-the-gain", [(4,), (4,), (5, 4)])


WHICH_AXIS.wrong_values("counts", [4, 15, 20])


WHICH_AXIS.wrong_values(
    "axes",
    [2, (0, 1), (1, 2)],
    [-1, (0, 1), (1, 2)],
    [(2,), (0, 1), (1, 2)],
    [(-1,), (0, 1), (1, 2)],
    [-1, (0, 1), (-2, -1)],
    [(-1,), (0, 1), (-2, -1)],
)


WHICH_AXIS.wrong_values("one-list", [3, 5, 1, 1, 1, 4, 3, 1, 1])


WHICH_AXIS.wrong_values(
    "text",
    ["(3, 5, 1)", "(1, 1, 4)", "(3, 1, 1)"],
    ["(3,5,1)", "(1,1,4)", "(3,1,1)"],
    "[(3, 5, 1), (1, 1, 4), (3, 1, 1)]",
)


WHICH_AXIS.wrong_values("layernorm-and-batchnorm", [(3, 1, 1), (1, 5, 4), (3, 1, 1)])


WHICH_AXIS.wrong_values("averaged-axes-kept", [(1, 1, 4), (1, 1, 4), (1, 5, 4)])


@WHICH_AXIS.mistake("not-averaged")
def which_axis_not_averaged(answer):
    return isinstance(answer, list) and [3, 5, 4] in answer


@WHICH_AXIS.mistake("other-text")
def which_axis_other_text(answer):
    return holds_text(answer)


@WHICH_AXIS.mistake("not-three-tuples")
def which_axis_not_three_tuples(answer):
    if not isinstance(answer, list):
        return True
    return len(answer) == 3 and all(isinstance(one, int) for one in answer)


# 4 · Measure the leak


def batch_norm(x):
    """Return BatchNorm over positions, in training mode, of x of shape (B, T, d)."""
    return F.batch_norm(x.transpose(1, 2), None, None, training=True).transpose(1, 2)


def norm_of_each_token(x):
    return F.layer_norm(x, x.shape[-1:])


def norm_of_each_example(x):
    return F.layer_norm(x, x.shape[1:])


def leak_cases(randn):
    return [
        {"norm": batch_norm, "x": 2 * randn(2, 7, 4) + 3, "last": 2 * randn(4) - 3},
        {"norm": norm_of_each_token, "x": 2 * randn(2, 7, 4) + 3, "last": 2 * randn(4) - 3},
        {"norm": norm_of_each_example, "x": randn(2, 3, 6) - 1, "last": 3 * randn(6)},
    ]


def leak(norm, x, last):
    return movement(norm, x, last)[:, 0].norm(dim=-1)


def with_last(x, last):
    """Return x with another last token in every example."""
    return torch.cat([x[:, :-1], last.expand(len(x), 1, -1)], 1)


def movement(norm, x, last):
    """Return by how much the output of the norm changes when the last token does, of shape (B, T, d)."""
    return norm(with_last(x, last)) - norm(x)


LEAK = Task("leak", leak, leak_cases)


@LEAK.mistake("always-zero")
def leak_always_zero(norm, x, last):
    return torch.zeros(len(x))


@LEAK.mistake("one-example-at-a-time")
def leak_one_example_at_a_time(norm, x, last):
    return torch.cat([norm(b) - norm(a) for a, b in zip(x.split(1), with_last(x, last).split(1))])[:, 0].norm(dim=-1)


@LEAK.mistake("last-token-measured")
def leak_last_token_measured(norm, x, last):
    return movement(norm, x, last)[:, -1].norm(dim=-1)


@LEAK.mistake("first-token-changed")
def leak_first_token_changed(norm, x, last):
    return (norm(torch.cat([last.expand(len(x), 1, -1), x[:, 1:]], 1)) - norm(x))[:, 0].norm(dim=-1)


@LEAK.mistake("last-example-changed")
def leak_last_example_changed(norm, x, last):
    return (norm(torch.cat([x[:-1], last.expand(1, x.shape[1], -1)])) - norm(x))[:, 0].norm(dim=-1)


@LEAK.mistake("example-0-measured")
def leak_example_0_measured(norm, x, last):
    return movement(norm, x, last)[0].norm(dim=-1)


@LEAK.mistake("example-0-measured")
def leak_example_0_measured_as_a_number(norm, x, last):
    return movement(norm, x, last)[0, 0].norm()


@LEAK.mistake("example-0-measured")
def leak_example_0_measured_for_all_examples(norm, x, last):
    return movement(norm, x, last)[0, 0].norm().expand(len(x))


@LEAK.mistake("example-0-measured")
def leak_example_0_measured_as_a_list(norm, x, last):
    return movement(norm, x, last)[0, :1].norm(dim=-1)


@LEAK.mistake("example-0-changed")
def leak_example_0_changed(norm, x, last):
    return (norm(torch.cat([torch.cat([x[:1, :-1], last[None, None]], 1), x[1:]])) - norm(x))[:, 0].norm(dim=-1)


@LEAK.mistake("added")
def leak_added(norm, x, last):
    return (norm(torch.cat([x[:, :-1], x[:, -1:] + last], 1)) - norm(x))[:, 0].norm(dim=-1)


@LEAK.mistake("appended")
def leak_appended(norm, x, last):
    return (norm(torch.cat([x, last.expand(len(x), 1, -1)], 1)) - F.pad(norm(x), (0, 0, 0, 1)))[:, 0].norm(dim=-1)


@LEAK.mistake("feature-0")
def leak_feature_0(norm, x, last):
    return movement(norm, x, last)[..., 0].norm(dim=-1)


@LEAK.mistake("all-tokens")
def leak_all_tokens(norm, x, last):
    return movement(norm, x, last).norm(dim=(1, 2))


@LEAK.mistake("input-for-output")
def leak_input_for_output(norm, x, last):
    return (norm(with_last(x, last)) - x)[:, 0].norm(dim=-1)


@LEAK.mistake("difference-of-lengths")
def leak_difference_of_lengths(norm, x, last):
    return (norm(with_last(x, last))[:, 0].norm(dim=-1) - norm(x)[:, 0].norm(dim=-1)).abs()


@LEAK.mistake("squared")
def leak_squared(norm, x, last):
    return movement(norm, x, last)[:, 0].square().sum(-1)


@LEAK.mistake("root-of-the-root")
def leak_root_of_the_root(norm, x, last):
    return movement(norm, x, last)[:, 0].norm(dim=-1).sqrt()


@LEAK.mistake("root-mean-square")
def leak_root_mean_square(norm, x, last):
    return movement(norm, x, last)[:, 0].square().mean(-1).sqrt()


@LEAK.mistake("signed-sum")
def leak_signed_sum(norm, x, last):
    return movement(norm, x, last)[:, 0].sum(-1)


@LEAK.mistake("absolute-sum")
def leak_absolute_sum(norm, x, last):
    return movement(norm, x, last)[:, 0].abs().sum(-1)


@LEAK.mistake("largest")
def leak_largest(norm, x, last):
    return movement(norm, x, last)[:, 0].abs().amax(-1)


@LEAK.mistake("mean-absolute")
def leak_mean_absolute(norm, x, last):
    return movement(norm, x, last)[:, 0].abs().mean(-1)


@LEAK.mistake("length-for-movement")
def leak_length_for_movement(norm, x, last):
    return norm(x)[:, 0].norm(dim=-1)


@LEAK.mistake("length-for-movement")
def leak_length_for_movement_after_the_change(norm, x, last):
    return norm(with_last(x, last))[:, 0].norm(dim=-1)


TASKS = (
    BY_HAND,
    LAYER_NORM,
    WHICH_AXIS,
    LEAK,
)
