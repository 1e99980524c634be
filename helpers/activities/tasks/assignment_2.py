"""Assignment 2, RMSNorm: what its checks know. How to add a mistake: see the head of this package."""

import torch
import torch.nn.functional as F

from helpers.activities.tasks import TORCH_NORMS, Task, holds_text

# 1 · RMSNorm


def rms_norm_cases(randn):
    return [
        {"x": randn(2, 7, 4) + 1, "gamma": randn(4) + 2, "eps": 0.1},
        {"x": 2 * randn(4, 2, 6) - 1, "gamma": randn(6) + 2, "eps": 0.3},
    ]


def rms_norm(x, gamma, eps):
    return x / (mean_square(x) + eps).sqrt() * gamma


def mean_square(x):
    return x.square().mean(-1, keepdim=True)


def sum_of_squares(x):
    return x.square().sum(-1, keepdim=True)


def centred(x):
    return x - x.mean(-1, keepdim=True)


def variance(x):
    return x.var(-1, correction=0, keepdim=True)


RMS_NORM = Task("rms-norm", rms_norm, rms_norm_cases, refuses=TORCH_NORMS)


@RMS_NORM.mistake("layer-norm")
def rms_norm_layer_norm(x, gamma, eps):
    return F.layer_norm(x, x.shape[-1:], gamma, None, eps)


@RMS_NORM.mistake("layer-norm, unbiased, ε outside the root")
def rms_norm_layer_norm_unbiased_eps_outside_the_root(x, gamma, eps):
    return centred(x) / (x.std(-1, keepdim=True) + eps) * gamma


@RMS_NORM.mistake("layer-norm, unbiased, ε outside the root")
def rms_norm_layer_norm_unbiased_eps_outside_the_root_eps_inside(x, gamma, eps):
    return centred(x) / (x.var(-1, keepdim=True) + eps).sqrt() * gamma


@RMS_NORM.mistake("layer-norm, unbiased, ε outside the root")
def rms_norm_layer_norm_unbiased_eps_outside_the_root_without_eps(x, gamma, eps):
    return centred(x) / x.std(-1, keepdim=True) * gamma


@RMS_NORM.mistake("standard deviation")
def rms_norm_standard_deviation(x, gamma, eps):
    return x / (variance(x) + eps).sqrt() * gamma


@RMS_NORM.mistake("standard deviation")
def rms_norm_standard_deviation_eps_outside(x, gamma, eps):
    return x / (x.std(-1, keepdim=True, correction=0) + eps) * gamma


@RMS_NORM.mistake("standard deviation, unbiased")
def rms_norm_standard_deviation_unbiased(x, gamma, eps):
    return x / (x.var(-1, keepdim=True) + eps).sqrt() * gamma


@RMS_NORM.mistake("standard deviation, unbiased")
def rms_norm_standard_deviation_unbiased_eps_outside(x, gamma, eps):
    return x / (x.std(-1, keepdim=True) + eps) * gamma


@RMS_NORM.mistake("standard deviation, unbiased")
def rms_norm_standard_deviation_unbiased_without_eps(x, gamma, eps):
    return x / x.std(-1, keepdim=True) * gamma


@RMS_NORM.mistake("ε outside the root")
def rms_norm_eps_outside_the_root(x, gamma, eps):
    return x / (mean_square(x).sqrt() + eps) * gamma


@RMS_NORM.mistake("no ε")
def rms_norm_no_eps(x, gamma, eps):
    return x / mean_square(x).sqrt() * gamma


@RMS_NORM.mistake("ε squared")
def rms_norm_eps_squared(x, gamma, eps):
    return x / (mean_square(x) + eps**2).sqrt() * gamma


@RMS_NORM.mistake("power 2 in place of power 0.5")
def rms_norm_power_2_in_place_of_power_0_5(x, gamma, eps):
    return x / (mean_square(x) + eps) ** 2 * gamma


@RMS_NORM.mistake("no root")
def rms_norm_no_root(x, gamma, eps):
    return x / (mean_square(x) + eps) * gamma


@RMS_NORM.mistake("root of the root")
def rms_norm_root_of_the_root(x, gamma, eps):
    return x / (mean_square(x) + eps).sqrt().sqrt() * gamma


@RMS_NORM.mistake("root of the root")
def rms_norm_root_of_the_root_eps_between(x, gamma, eps):
    return x / (mean_square(x).sqrt() + eps).sqrt() * gamma


@RMS_NORM.mistake("root of the root")
def rms_norm_root_of_the_root_without_eps(x, gamma, eps):
    return x / mean_square(x).sqrt().sqrt() * gamma


@RMS_NORM.mistake("divides by the reciprocal root")
def rms_norm_divides_by_the_reciprocal_root(x, gamma, eps):
    return x * (mean_square(x) + eps).sqrt() * gamma


@RMS_NORM.mistake("sum in place of mean")
def rms_norm_sum_in_place_of_mean(x, gamma, eps):
    return x / (x.square().sum(-1, keepdim=True) + eps).sqrt() * gamma


@RMS_NORM.mistake("sum in place of mean")
def rms_norm_sum_in_place_of_mean_eps_outside(x, gamma, eps):
    return x / (x.norm(dim=-1, keepdim=True) + eps) * gamma


@RMS_NORM.mistake("sum in place of mean")
def rms_norm_sum_in_place_of_mean_without_eps(x, gamma, eps):
    return x / x.norm(dim=-1, keepdim=True) * gamma


@RMS_NORM.mistake("mean after the root")
def rms_norm_mean_after_the_root(x, gamma, eps):
    return x / ((x.square().sum(-1, keepdim=True) + eps).sqrt() / x.shape[-1]) * gamma


@RMS_NORM.mistake("mean after the root")
def rms_norm_mean_after_the_root_eps_outside(x, gamma, eps):
    return x / (x.norm(dim=-1, keepdim=True) / x.shape[-1] + eps) * gamma


@RMS_NORM.mistake("mean after the root")
def rms_norm_mean_after_the_root_without_eps(x, gamma, eps):
    return x / (x.norm(dim=-1, keepdim=True) / x.shape[-1]) * gamma


@RMS_NORM.mistake("divided by d − 1")
def rms_norm_divided_by_d_minus_1(x, gamma, eps):
    return x / (sum_of_squares(x) / (x.shape[-1] - 1) + eps).sqrt() * gamma


@RMS_NORM.mistake("divided by d − 1")
def rms_norm_divided_by_d_minus_1_eps_outside(x, gamma, eps):
    return x / ((sum_of_squares(x) / (x.shape[-1] - 1)).sqrt() + eps) * gamma


@RMS_NORM.mistake("divided by d − 1")
def rms_norm_divided_by_d_minus_1_without_eps(x, gamma, eps):
    return x / (sum_of_squares(x) / (x.shape[-1] - 1)).sqrt() * gamma


@RMS_NORM.mistake("divided by the wrong size")
def rms_norm_divided_by_the_wrong_size(x, gamma, eps):
    return x / (x.square().sum(-1, keepdim=True) / x.shape[1] + eps).sqrt() * gamma


@RMS_NORM.mistake("divided by the wrong size")
def rms_norm_divided_by_the_wrong_size_examples(x, gamma, eps):
    return x / (x.square().sum(-1, keepdim=True) / len(x) + eps).sqrt() * gamma


@RMS_NORM.mistake("square of the mean")
def rms_norm_square_of_the_mean(x, gamma, eps):
    return x / (x.mean(-1, keepdim=True).square() + eps).sqrt() * gamma


@RMS_NORM.mistake("statistics over tokens and features")
def rms_norm_statistics_over_tokens_and_features(x, gamma, eps):
    return x / (x.square().mean((1, 2), keepdim=True) + eps).sqrt() * gamma


@RMS_NORM.mistake("statistics over everything")
def rms_norm_statistics_over_everything(x, gamma, eps):
    return x / (x.square().mean() + eps).sqrt() * gamma


@RMS_NORM.mistake("statistics over tokens")
def rms_norm_statistics_over_tokens(x, gamma, eps):
    return x / (x.square().mean(1, keepdim=True) + eps).sqrt() * gamma


@RMS_NORM.mistake("statistics over examples")
def rms_norm_statistics_over_examples(x, gamma, eps):
    return x / (x.square().mean(0, keepdim=True) + eps).sqrt() * gamma


@RMS_NORM.mistake("no gain")
def rms_norm_no_gain(x, gamma, eps):
    return F.rms_norm(x, x.shape[-1:], None, eps)


@RMS_NORM.mistake("gain before the norm")
def rms_norm_gain_before_the_norm(x, gamma, eps):
    return F.rms_norm(gamma * x, x.shape[-1:], None, eps)


@RMS_NORM.mistake("Gemma's 1 + γ")
def rms_norm_gemmas_1_plus_gamma(x, gamma, eps):
    return F.rms_norm(x, x.shape[-1:], 1 + gamma, eps)


@RMS_NORM.mistake("gain added")
def rms_norm_gain_added(x, gamma, eps):
    return F.rms_norm(x, x.shape[-1:], None, eps) + gamma


# 2 · In 16 bits

# The sizes are chosen, not drawn, so that no order of roundings changes a result by 0.1 %, and the gains are powers of
# two. All tokens of the first case overflow, the first of them only in a square and not in the mean. The third case
# tells the formats apart.
LARGE = torch.tensor([[0.0, 400, 0, 0], [80, 453, 786, 471], [357, 579, 699, 310]])
SMALL = torch.tensor([[18.0, 35, 12, 5], [14, 15, 20, 52], [26, 32, 61, 20]]) / 16
POWERS_OF_TWO = torch.tensor([0.5, -2, 4, 2])


def rms_norm_half_cases(randn):
    def tokens(sizes):
        """Return tokens of these sizes, each twice in an example, with signs and an order that are drawn."""
        return (sizes.repeat(2, 1) * randn(2, 6, 4).sign())[..., randn(4).argsort()]

    same_size = 256 * randn(2, 6, 4).sign()
    return [
        {"x": tokens(LARGE).half(), "gamma": POWERS_OF_TWO.half(), "eps": 0.1},
        {"x": tokens(SMALL).half(), "gamma": POWERS_OF_TWO.half(), "eps": 0.1},
        {"x": same_size.bfloat16(), "gamma": POWERS_OF_TWO.bfloat16(), "eps": 1e-5},
    ]


def rms_norm_half(x, gamma, eps):
    return rms_norm(x.float(), gamma.float(), eps).to(x.dtype)


RMS_NORM_HALF = Task("rms-norm-half", rms_norm_half, rms_norm_half_cases)


@RMS_NORM_HALF.mistake("squares overflow")
def rms_norm_half_squares_overflow(x, gamma, eps):
    return x * (mean_square(x) + eps).rsqrt() * gamma


@RMS_NORM_HALF.mistake("mean square overflows")
def rms_norm_half_mean_square_overflows(x, gamma, eps):
    return x * (mean_square(x.float()).to(x.dtype) + eps).rsqrt() * gamma


@RMS_NORM_HALF.mistake("through bfloat16")
def rms_norm_half_through_bfloat16(x, gamma, eps):
    return F.rms_norm(x.bfloat16(), x.shape[-1:], gamma.bfloat16(), eps).to(x.dtype)


@RMS_NORM_HALF.mistake("result always float16")
def rms_norm_half_result_always_float16(x, gamma, eps):
    return F.rms_norm(x.float(), x.shape[-1:], gamma.float(), eps).half()


@RMS_NORM_HALF.mistake("result stays wide")
def rms_norm_half_result_stays_wide(x, gamma, eps):
    return F.rms_norm(x.float(), x.shape[-1:], gamma.float(), eps)


@RMS_NORM_HALF.mistake("infinite squares replaced")
def rms_norm_half_infinite_squares_replaced(x, gamma, eps):
    return x * (x.square().nan_to_num().float().mean(-1, keepdim=True) + eps).rsqrt().to(x.dtype) * gamma


@RMS_NORM_HALF.mistake("ε after scaling")
def rms_norm_half_eps_after_scaling(x, gamma, eps):
    return (x / x.abs().amax(-1, keepdim=True)).float().mul(
        ((x / x.abs().amax(-1, keepdim=True)).float().square().mean(-1, keepdim=True) + eps).rsqrt()
    ).to(x.dtype) * gamma


@RMS_NORM_HALF.mistake("layer-norm")
def rms_norm_half_layer_norm(x, gamma, eps):
    return F.layer_norm(x.float(), x.shape[-1:], gamma.float(), None, eps).to(x.dtype)


@RMS_NORM_HALF.mistake("root of the root")
def rms_norm_half_root_of_the_root(x, gamma, eps):
    wide = x.float()
    return (wide / (mean_square(wide) + eps).sqrt().sqrt() * gamma.float()).to(x.dtype)


@RMS_NORM_HALF.mistake("root of the root")
def rms_norm_half_root_of_the_root_eps_between(x, gamma, eps):
    wide = x.float()
    return (wide / (mean_square(wide).sqrt() + eps).sqrt() * gamma.float()).to(x.dtype)


@RMS_NORM_HALF.mistake("ε squared")
def rms_norm_half_eps_squared(x, gamma, eps):
    return rms_norm(x.float(), gamma.float(), eps**2).to(x.dtype)


@RMS_NORM_HALF.mistake("no gain")
def rms_norm_half_no_gain(x, gamma, eps):
    return F.rms_norm(x.float(), x.shape[-1:], None, eps).to(x.dtype)


# 3 · From LayerNorm to RMSNorm


def to_rms_norm_cases(randn):
    """In the first case the layer is square, so that weights with rows and columns exchanged raise no error."""
    return [
        {"gamma": randn(4) + 2, "beta": randn(4) - 1, "eps": 0.1, "weight": randn(4, 4), "bias": randn(4)},
        {"gamma": randn(4) + 2, "beta": randn(4) - 1, "eps": 0.3, "weight": randn(6, 4), "bias": randn(6)},
    ]


def to_rms_norm(gamma, beta, eps, weight, bias):
    return [gamma, eps, bias + weight @ beta]


TO_RMS_NORM = Task("to-rms-norm", to_rms_norm, to_rms_norm_cases)


@TO_RMS_NORM.mistake("β dropped")
def to_rms_norm_beta_dropped(gamma, beta, eps, weight, bias):
    return [gamma, eps, bias]


@TO_RMS_NORM.mistake("old bias lost")
def to_rms_norm_old_bias_lost(gamma, beta, eps, weight, bias):
    return [gamma, eps, weight @ beta]


@TO_RMS_NORM.mistake("β past the weights")
def to_rms_norm_beta_past_the_weights(gamma, beta, eps, weight, bias):
    return [gamma, eps, bias + beta]


@TO_RMS_NORM.mistake("weights transposed")
def to_rms_norm_weights_transposed(gamma, beta, eps, weight, bias):
    return [gamma, eps, bias + beta @ weight]


@TO_RMS_NORM.mistake("β multiplied by γ")
def to_rms_norm_beta_multiplied_by_gamma(gamma, beta, eps, weight, bias):
    return [gamma, eps, bias + weight @ (gamma * beta)]


@TO_RMS_NORM.mistake("β subtracted")
def to_rms_norm_beta_subtracted(gamma, beta, eps, weight, bias):
    return [gamma, eps, bias - weight @ beta]


@TO_RMS_NORM.mistake("β in the gain")
def to_rms_norm_beta_in_the_gain(gamma, beta, eps, weight, bias):
    return [gamma + beta, eps, bias]


@TO_RMS_NORM.mistake("γ and β exchanged")
def to_rms_norm_gamma_and_beta_exchanged(gamma, beta, eps, weight, bias):
    return [beta, eps, bias + weight @ gamma]


@TO_RMS_NORM.mistake("default ε")
def to_rms_norm_default_eps(gamma, beta, eps, weight, bias):
    return [gamma, 1e-05, bias + weight @ beta]


@TO_RMS_NORM.mistake("ε squared")
def to_rms_norm_eps_squared(gamma, beta, eps, weight, bias):
    return [gamma, eps**2, bias + weight @ beta]


@TO_RMS_NORM.mistake("Gemma's γ − 1")
def to_rms_norm_gemmas_gamma_minus_1(gamma, beta, eps, weight, bias):
    return [gamma - 1, eps, bias + weight @ beta]


@TO_RMS_NORM.mistake("gain lost")
def to_rms_norm_gain_lost(gamma, beta, eps, weight, bias):
    return [torch.ones_like(gamma), eps, bias + weight @ beta]


@TO_RMS_NORM.mistake("gain corrected for d − 1")
def to_rms_norm_gain_corrected_for_d_minus_1(gamma, beta, eps, weight, bias):
    return [gamma * ((len(gamma) - 1) / len(gamma)) ** 0.5, eps, bias + weight @ beta]


# 4 · Fold the gain


def fold_gain_cases(randn):
    """In the first case the layer is square, so that the wrong axis of the weights raises no error."""
    return [
        {"gamma": randn(4) + 2, "weight": randn(4, 4), "bias": randn(4)},
        {"gamma": randn(4) + 2, "weight": randn(6, 4), "bias": randn(6)},
    ]


def fold_gain(gamma, weight, bias):
    return [torch.ones_like(gamma), weight * gamma, bias]


FOLD_GAIN = Task("fold-gain", fold_gain, fold_gain_cases)


@FOLD_GAIN.mistake("rows in place of columns")
def fold_gain_rows_in_place_of_columns(gamma, weight, bias):
    return [torch.ones_like(gamma), weight * gamma[:, None], bias]


@FOLD_GAIN.mistake("gain applied twice")
def fold_gain_gain_applied_twice(gamma, weight, bias):
    return [gamma, weight * gamma, bias]


@FOLD_GAIN.mistake("gain lost")
def fold_gain_gain_lost(gamma, weight, bias):
    return [torch.ones_like(gamma), weight, bias]


@FOLD_GAIN.mistake("nothing folded")
def fold_gain_nothing_folded(gamma, weight, bias):
    return [gamma, weight, bias]


@FOLD_GAIN.mistake("weights divided")
def fold_gain_weights_divided(gamma, weight, bias):
    return [torch.ones_like(gamma), weight / gamma, bias]


@FOLD_GAIN.mistake("bias multiplied")
def fold_gain_bias_multiplied(gamma, weight, bias):
    return [torch.ones_like(gamma), weight * gamma, bias * gamma]


@FOLD_GAIN.mistake("norm wiped out")
def fold_gain_norm_wiped_out(gamma, weight, bias):
    return [torch.zeros_like(gamma), weight * gamma, bias]


@FOLD_GAIN.mistake("gain as a number")
def fold_gain_gain_as_a_number(gamma, weight, bias):
    return [1.0, weight * gamma, bias]


@FOLD_GAIN.mistake("reciprocal gain kept")
def fold_gain_reciprocal_gain_kept(gamma, weight, bias):
    return [1 / gamma, weight * gamma, bias]


@FOLD_GAIN.mistake("Gemma's 1 + γ")
def fold_gain_gemmas_1_plus_gamma(gamma, weight, bias):
    return [torch.ones_like(gamma), weight * (1 + gamma), bias]


@FOLD_GAIN.mistake("weights transposed")
def fold_gain_weights_transposed(gamma, weight, bias):
    return [torch.ones_like(gamma), (weight * gamma).T, bias]


@FOLD_GAIN.mistake("product in place of weights")
def fold_gain_product_in_place_of_weights(gamma, weight, bias):
    return [torch.ones_like(gamma), weight @ gamma, bias]


# 5 · Count

COUNT_NORMS = Task("count-norms", right=[113, 65536])  # 4 · 28 + 1, and 28 · (2 · 1024 + 2 · 128) + 1024


def is_pair_of_numbers(answer):
    return isinstance(answer, list) and len(answer) == 2 and all(isinstance(one, int | float) for one in answer)


COUNT_NORMS.wrong_values("final norm forgotten", [112, 64512], [112, 65536], [113, 64512])


COUNT_NORMS.wrong_values("final norm in every layer", [140, 93184])


COUNT_NORMS.wrong_values("norms of queries and keys forgotten", [57, 58368])


COUNT_NORMS.wrong_values("one norm a head", [729, 144384], [113, 144384], [729, 65536])


COUNT_NORMS.wrong_values("one norm for queries and keys", [85, 61952])


COUNT_NORMS.wrong_values("all norms as wide as the stream", [113, 115712])


COUNT_NORMS.wrong_values("width of a head divided out", [113, 61952])


COUNT_NORMS.wrong_values("with β", [113, 131072])


COUNT_NORMS.wrong_values("one layer", [4, 2304])


COUNT_NORMS.wrong_values("order", [65536, 113])


@COUNT_NORMS.mistake("text")
def count_norms_text(answer):
    return holds_text(answer)


@COUNT_NORMS.mistake("not two numbers")
def count_norms_not_two_numbers(answer):
    return not isinstance(answer, list) or any(isinstance(one, list) for one in answer)


@COUNT_NORMS.mistake("only the norms")
def count_norms_only_the_norms(answer):
    return is_pair_of_numbers(answer) and answer[0] == 113


@COUNT_NORMS.mistake("only the parameters")
def count_norms_only_the_parameters(answer):
    return is_pair_of_numbers(answer) and answer[1] == 65536


TASKS = (
    RMS_NORM,
    RMS_NORM_HALF,
    TO_RMS_NORM,
    FOLD_GAIN,
    COUNT_NORMS,
)
