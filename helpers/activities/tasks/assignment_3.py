"""Assignment 3, where the norm sits: what its checks know. How to add a mistake: see the head of this package."""

import torch
import torch.nn.functional as F

from helpers.activities.tasks import Task


def norm_with(gamma, beta):
    """Return a LayerNorm with this gain and this bias, a function of x."""

    def norm(x):
        return F.layer_norm(x, gamma.shape, gamma, beta, 0.1)

    return norm


# 1a · Pre-norm


def block_cases(randn):
    attention_weight = randn(4, 4)
    mlp_weight = randn(4, 4)

    def attention(x):
        return x.cumsum(-2) @ attention_weight

    def mlp(x):
        return F.gelu(x @ mlp_weight) + 1

    norm_1 = norm_with(randn(4) + 2, randn(4) - 1)
    norm_2 = norm_with(randn(4) + 2, randn(4) + 1)
    x = 2 * randn(2, 5, 4) + 1
    return [{"x": x, "attention": attention, "mlp": mlp, "norm_1": norm_1, "norm_2": norm_2}]


def pre_norm_block(x, attention, mlp, norm_1, norm_2):
    h = x + attention(norm_1(x))
    return h + mlp(norm_2(h))


PRE_NORM_BLOCK = Task("pre-norm-block", pre_norm_block, block_cases)


@PRE_NORM_BLOCK.mistake("residual on the normalised copy")
def pre_norm_block_residual_on_the_normalised_copy(x, attention, mlp, norm_1, norm_2):
    n = norm_1(x)
    m = norm_2(n + attention(n))
    return m + mlp(m)


@PRE_NORM_BLOCK.mistake("residual on the normalised copy")
def pre_norm_block_residual_on_the_normalised_copy_in_the_attention(x, attention, mlp, norm_1, norm_2):
    n = norm_1(x)
    h = n + attention(n)
    return h + mlp(norm_2(h))


@PRE_NORM_BLOCK.mistake("residual on the normalised copy")
def pre_norm_block_residual_on_the_normalised_copy_in_the_mlp(x, attention, mlp, norm_1, norm_2):
    m = norm_2(x + attention(norm_1(x)))
    return m + mlp(m)


@PRE_NORM_BLOCK.mistake("post-norm")
def pre_norm_block_post_norm(x, attention, mlp, norm_1, norm_2):
    h = norm_1(x + attention(x))
    return norm_2(h + mlp(h))


@PRE_NORM_BLOCK.mistake("output norm")
def pre_norm_block_output_norm(x, attention, mlp, norm_1, norm_2):
    h = x + norm_1(attention(x))
    return h + norm_2(mlp(h))


@PRE_NORM_BLOCK.mistake("one norm for both sublayers")
def pre_norm_block_one_norm_for_both_sublayers(x, attention, mlp, norm_1, norm_2):
    h = x + attention(norm_1(x))
    return h + mlp(norm_1(h))


@PRE_NORM_BLOCK.mistake("norms exchanged")
def pre_norm_block_norms_exchanged(x, attention, mlp, norm_1, norm_2):
    h = x + attention(norm_2(x))
    return h + mlp(norm_1(h))


@PRE_NORM_BLOCK.mistake("parallel sublayers")
def pre_norm_block_parallel_sublayers(x, attention, mlp, norm_1, norm_2):
    return x + attention(norm_1(x)) + mlp(norm_2(x))


@PRE_NORM_BLOCK.mistake("the attention's write is lost")
def pre_norm_block_the_attentions_write_is_lost(x, attention, mlp, norm_1, norm_2):
    h = x + attention(norm_1(x))
    return x + mlp(norm_2(h))


@PRE_NORM_BLOCK.mistake("no residual connection around the MLP")
def pre_norm_block_no_residual_connection_around_the_mlp(x, attention, mlp, norm_1, norm_2):
    return mlp(norm_2(x + attention(norm_1(x))))


@PRE_NORM_BLOCK.mistake("no residual connections")
def pre_norm_block_no_residual_connections(x, attention, mlp, norm_1, norm_2):
    return mlp(norm_2(attention(norm_1(x))))


@PRE_NORM_BLOCK.mistake("no residual connection around the attention")
def pre_norm_block_no_residual_connection_around_the_attention(x, attention, mlp, norm_1, norm_2):
    h = attention(norm_1(x))
    return h + mlp(norm_2(h))


@PRE_NORM_BLOCK.mistake("no norm before the MLP")
def pre_norm_block_no_norm_before_the_mlp(x, attention, mlp, norm_1, norm_2):
    h = x + attention(norm_1(x))
    return h + mlp(h)


@PRE_NORM_BLOCK.mistake("no norms")
def pre_norm_block_no_norms(x, attention, mlp, norm_1, norm_2):
    h = x + attention(x)
    return h + mlp(h)


@PRE_NORM_BLOCK.mistake("only the attention")
def pre_norm_block_only_the_attention(x, attention, mlp, norm_1, norm_2):
    return x + attention(norm_1(x))


@PRE_NORM_BLOCK.mistake("the MLP comes first")
def pre_norm_block_the_mlp_comes_first(x, attention, mlp, norm_1, norm_2):
    h = x + mlp(norm_2(x))
    return h + attention(norm_1(h))


# 1b · Post-norm


def post_norm_block(x, attention, mlp, norm_1, norm_2):
    h = norm_1(x + attention(x))
    return norm_2(h + mlp(h))


POST_NORM_BLOCK = Task("post-norm-block", post_norm_block, block_cases)


@POST_NORM_BLOCK.mistake("pre-norm")
def post_norm_block_pre_norm(x, attention, mlp, norm_1, norm_2):
    h = x + attention(norm_1(x))
    return h + mlp(norm_2(h))


@POST_NORM_BLOCK.mistake("the norm acts on the write only")
def post_norm_block_the_norm_acts_on_the_write_only(x, attention, mlp, norm_1, norm_2):
    h = x + norm_1(attention(x))
    return h + norm_2(mlp(h))


@POST_NORM_BLOCK.mistake("a norm before the sublayer, too")
def post_norm_block_a_norm_before_the_sublayer_too(x, attention, mlp, norm_1, norm_2):
    h = norm_1(x + attention(norm_1(x)))
    return norm_2(h + mlp(norm_2(h)))


@POST_NORM_BLOCK.mistake("the residual connection starts before the norm")
def post_norm_block_the_residual_connection_starts_before_the_norm(x, attention, mlp, norm_1, norm_2):
    s = x + attention(x)
    return norm_2(s + mlp(norm_1(s)))


@POST_NORM_BLOCK.mistake("one norm for both sublayers")
def post_norm_block_one_norm_for_both_sublayers(x, attention, mlp, norm_1, norm_2):
    h = norm_1(x + attention(x))
    return norm_1(h + mlp(h))


@POST_NORM_BLOCK.mistake("norms exchanged")
def post_norm_block_norms_exchanged(x, attention, mlp, norm_1, norm_2):
    h = norm_2(x + attention(x))
    return norm_1(h + mlp(h))


@POST_NORM_BLOCK.mistake("only one norm, at the end of the block")
def post_norm_block_only_one_norm_at_the_end_of_the_block(x, attention, mlp, norm_1, norm_2):
    h = x + attention(x)
    return norm_2(h + mlp(h))


@POST_NORM_BLOCK.mistake("no norm after the MLP")
def post_norm_block_no_norm_after_the_mlp(x, attention, mlp, norm_1, norm_2):
    h = norm_1(x + attention(x))
    return h + mlp(h)


@POST_NORM_BLOCK.mistake("only the attention")
def post_norm_block_only_the_attention(x, attention, mlp, norm_1, norm_2):
    return norm_1(x + attention(x))


@POST_NORM_BLOCK.mistake("the attention's write is lost")
def post_norm_block_the_attentions_write_is_lost(x, attention, mlp, norm_1, norm_2):
    h = norm_1(x + attention(x))
    return norm_2(x + mlp(h))


@POST_NORM_BLOCK.mistake("no residual connections")
def post_norm_block_no_residual_connections(x, attention, mlp, norm_1, norm_2):
    return norm_2(mlp(norm_1(attention(x))))


@POST_NORM_BLOCK.mistake("no residual connection around the MLP")
def post_norm_block_no_residual_connection_around_the_mlp(x, attention, mlp, norm_1, norm_2):
    return norm_2(mlp(norm_1(x + attention(x))))


# 1c · Sandwich norm


def sandwich_sublayer_cases(randn):
    weight = randn(4, 4)

    def f(x):
        return F.gelu(x @ weight) + x.cumsum(-2)

    norm_before = norm_with(randn(4) + 2, randn(4) - 1)
    norm_after = norm_with(randn(4) + 2, randn(4) + 1)
    return [{"x": 2 * randn(2, 5, 4) + 1, "f": f, "norm_before": norm_before, "norm_after": norm_after}]


def sandwich_sublayer(x, f, norm_before, norm_after):
    return x + norm_after(f(norm_before(x)))


SANDWICH_SUBLAYER = Task("sandwich-sublayer", sandwich_sublayer, sandwich_sublayer_cases)


@SANDWICH_SUBLAYER.mistake("the outer norm acts on the sum")
def sandwich_sublayer_the_outer_norm_acts_on_the_sum(x, f, norm_before, norm_after):
    return norm_after(x + f(norm_before(x)))


@SANDWICH_SUBLAYER.mistake("pre-norm")
def sandwich_sublayer_pre_norm(x, f, norm_before, norm_after):
    return x + f(norm_before(x))


@SANDWICH_SUBLAYER.mistake("output norm")
def sandwich_sublayer_output_norm(x, f, norm_before, norm_after):
    return x + norm_after(f(x))


@SANDWICH_SUBLAYER.mistake("post-norm")
def sandwich_sublayer_post_norm(x, f, norm_before, norm_after):
    return norm_after(x + f(x))


@SANDWICH_SUBLAYER.mistake("norms exchanged")
def sandwich_sublayer_norms_exchanged(x, f, norm_before, norm_after):
    return x + norm_before(f(norm_after(x)))


@SANDWICH_SUBLAYER.mistake("residual on the normalised copy")
def sandwich_sublayer_residual_on_the_normalised_copy(x, f, norm_before, norm_after):
    n = norm_before(x)
    return n + norm_after(f(n))


@SANDWICH_SUBLAYER.mistake("no residual connection")
def sandwich_sublayer_no_residual_connection(x, f, norm_before, norm_after):
    return norm_after(f(norm_before(x)))


@SANDWICH_SUBLAYER.mistake("the same norm on both sides")
def sandwich_sublayer_the_same_norm_on_both_sides(x, f, norm_before, norm_after):
    return x + norm_before(f(norm_before(x)))


# 1d · DeepNorm


def deepnorm_sublayer_cases(randn):
    weight = randn(4, 4)

    def f(x):
        return x.cumsum(-2) @ weight

    norm = norm_with(randn(4) + 2, randn(4) - 1)
    return [
        {"x": randn(2, 5, 4) + 1, "f": f, "norm": norm, "layers": 5},
        {"x": randn(5, 2, 4) - 1, "f": f, "norm": norm, "layers": 11},
    ]


def deepnorm_sublayer(x, f, norm, layers):
    return norm(alpha(layers) * x + f(x))


def alpha(layers):
    """Return DeepNorm's α for a decoder with this many blocks (Wang et al. 2022)."""
    return (2 * layers) ** 0.25


def beta(layers):
    """Return DeepNorm's β, the factor of weights at initialisation, for a decoder with this many blocks."""
    return (8 * layers) ** -0.25


DEEPNORM_SUBLAYER = Task("deepnorm-sublayer", deepnorm_sublayer, deepnorm_sublayer_cases)


@DEEPNORM_SUBLAYER.mistake("alpha on the sublayer")
def deepnorm_sublayer_alpha_on_the_sublayer(x, f, norm, layers):
    return norm(x + alpha(layers) * f(x))


@DEEPNORM_SUBLAYER.mistake("alpha on the whole sum")
def deepnorm_sublayer_alpha_on_the_whole_sum(x, f, norm, layers):
    return norm(alpha(layers) * (x + f(x)))


@DEEPNORM_SUBLAYER.mistake("beta in place of alpha")
def deepnorm_sublayer_beta_in_place_of_alpha(x, f, norm, layers):
    return norm(beta(layers) * x + f(x))


@DEEPNORM_SUBLAYER.mistake("beta in place of alpha")
def deepnorm_sublayer_beta_in_place_of_alpha_with_2(x, f, norm, layers):
    return norm((2 * layers) ** (-0.25) * x + f(x))


@DEEPNORM_SUBLAYER.mistake("beta on the sublayer")
def deepnorm_sublayer_beta_on_the_sublayer(x, f, norm, layers):
    return norm(alpha(layers) * x + beta(layers) * f(x))


@DEEPNORM_SUBLAYER.mistake("plain post-norm")
def deepnorm_sublayer_plain_post_norm(x, f, norm, layers):
    return norm(x + f(x))


@DEEPNORM_SUBLAYER.mistake("alpha of 12 layers")
def deepnorm_sublayer_alpha_of_12_layers(x, f, norm, layers):
    return norm(24**0.25 * x + f(x))


@DEEPNORM_SUBLAYER.mistake("pre-norm with alpha")
def deepnorm_sublayer_pre_norm_with_alpha(x, f, norm, layers):
    return alpha(layers) * x + f(norm(x))


@DEEPNORM_SUBLAYER.mistake("pre-norm with alpha")
def deepnorm_sublayer_pre_norm_with_alpha_no_norm_at_all(x, f, norm, layers):
    return alpha(layers) * x + f(x)


@DEEPNORM_SUBLAYER.mistake("output norm with alpha")
def deepnorm_sublayer_output_norm_with_alpha(x, f, norm, layers):
    return alpha(layers) * x + norm(f(x))


@DEEPNORM_SUBLAYER.mistake("a norm before the sublayer, too")
def deepnorm_sublayer_a_norm_before_the_sublayer_too(x, f, norm, layers):
    return norm(alpha(layers) * x + f(norm(x)))


@DEEPNORM_SUBLAYER.mistake("the power binds more tightly than the factor 2")
def deepnorm_sublayer_the_power_binds_more_tightly_than_the_factor_2(x, f, norm, layers):
    return norm(2 * layers**0.25 * x + f(x))


@DEEPNORM_SUBLAYER.mistake("the power binds more tightly than the division")
def deepnorm_sublayer_the_power_binds_more_tightly_than_the_division(x, f, norm, layers):
    return norm((2 * layers) ** 1 / 4 * x + f(x))


@DEEPNORM_SUBLAYER.mistake("square root")
def deepnorm_sublayer_square_root(x, f, norm, layers):
    return norm((2 * layers) ** 0.5 * x + f(x))


@DEEPNORM_SUBLAYER.mistake("square root")
def deepnorm_sublayer_square_root_no_root(x, f, norm, layers):
    return norm(2 * layers * x + f(x))


@DEEPNORM_SUBLAYER.mistake("square root")
def deepnorm_sublayer_square_root_cube_root(x, f, norm, layers):
    return norm((2 * layers) ** (1 / 3) * x + f(x))


@DEEPNORM_SUBLAYER.mistake("factor 2 forgotten")
def deepnorm_sublayer_factor_2_forgotten(x, f, norm, layers):
    return norm(layers**0.25 * x + f(x))


@DEEPNORM_SUBLAYER.mistake("sublayers counted as layers")
def deepnorm_sublayer_sublayers_counted_as_layers(x, f, norm, layers):
    return norm((4 * layers) ** 0.25 * x + f(x))


@DEEPNORM_SUBLAYER.mistake("the decoder of an encoder-decoder")
def deepnorm_sublayer_the_decoder_of_an_encoder_decoder(x, f, norm, layers):
    return norm((3 * layers) ** 0.25 * x + f(x))


# 2 · Write the identity test


def pre_norm(x, f, norm):
    return x + f(norm(x))


def post_norm(x, f, norm):
    return norm(x + f(x))


def no_norm(x, f, norm):
    return x + f(x)


def output_norm(x, f, norm):
    return x + norm(f(x))


def on_the_copy(x, f, norm):
    return norm(x) + f(norm(x))


def deepnorm(x, f, norm):
    return norm(1.5 * x + f(x))


def no_residual(x, f, norm):
    return f(norm(x))


def features_exchanged(x, f, norm):
    return x.flip(-1) + f(norm(x))


def last_feature_changed(x, f, norm):
    return x + torch.tensor([0.0, 0, 0, 1]) + f(norm(x))


def last_number_changed(x, f, norm):
    change = torch.zeros(x.numel())
    change[-1] = 1
    return x + change.view_as(x) + f(norm(x))


def first_number_changed(x, f, norm):
    change = torch.zeros(x.numel())
    change[0] = 1
    return x + change.view_as(x) + f(norm(x))


def standardise(x):
    return F.layer_norm(x, x.shape[-1:])


def rms_norm(x):
    return F.rms_norm(x, x.shape[-1:], eps=1e-12)


def overwriting(norm):
    """Return a norm that writes its result into the memory of its input."""

    def overwrite(x):
        return x.copy_(norm(x))

    return overwrite


def passes_cases(randn):
    """Return sublayers with norms: those that keep x are pre-norm, no norm, and output norm with a bias of 0."""
    ones = torch.ones(4)
    zeros = torch.zeros(4)
    trained = norm_with(randn(4) + 2, randn(4) - 1)
    far_away = norm_with(randn(4) + 9, randn(4).abs() + 1)
    overwritten = overwriting(norm_with(randn(4) + 9, randn(4).abs() + 1))
    without_bias = norm_with(randn(4) + 2, zeros)
    with_negative_bias = norm_with(ones, -0.5 - randn(4).abs())
    with_balanced_bias = norm_with(ones, torch.tensor([0.5, -0.5, 0.25, -0.25]))
    return [
        {"sublayer": pre_norm, "norm": trained, "d": 4},
        {"sublayer": post_norm, "norm": far_away, "d": 4},
        {"sublayer": no_norm, "norm": standardise, "d": 4},
        {"sublayer": output_norm, "norm": without_bias, "d": 4},
        {"sublayer": on_the_copy, "norm": rms_norm, "d": 4},
        {"sublayer": deepnorm, "norm": rms_norm, "d": 4},
        {"sublayer": pre_norm, "norm": overwritten, "d": 4},
        {"sublayer": output_norm, "norm": with_negative_bias, "d": 4},
        {"sublayer": output_norm, "norm": with_balanced_bias, "d": 4},
        {"sublayer": no_residual, "norm": standardise, "d": 4},
        {"sublayer": features_exchanged, "norm": standardise, "d": 4},
        {"sublayer": pre_norm, "norm": standardise, "d": 6},
        {"sublayer": last_feature_changed, "norm": standardise, "d": 4},
        {"sublayer": last_number_changed, "norm": standardise, "d": 4},
        {"sublayer": first_number_changed, "norm": standardise, "d": 4},
    ]


def passes(sublayer, norm, d):
    x = varied_tokens(d)
    return torch.equal(sublayer(x.clone(), torch.zeros_like, norm), x)


def varied_tokens(d):
    """Return three tokens whose numbers all differ."""
    return torch.arange(3.0 * d).cos().view(3, d)


IDENTITY_TEST = Task("identity-test", passes, passes_cases)


@IDENTITY_TEST.mistake("the sublayer is not silent")
def identity_test_the_sublayer_is_not_silent(sublayer, norm, d):
    x = varied_tokens(d)
    return torch.equal(sublayer(x.clone(), lambda h: h, norm), x)


@IDENTITY_TEST.mistake("the answer is turned round")
def identity_test_the_answer_is_turned_round(sublayer, norm, d):
    x = varied_tokens(d)
    return not torch.equal(sublayer(x.clone(), torch.zeros_like, norm), x)


@IDENTITY_TEST.mistake("one equal number is enough")
def identity_test_one_equal_number_is_enough(sublayer, norm, d):
    x = varied_tokens(d)
    return (sublayer(x.clone(), torch.zeros_like, norm) == x).any().item()


@IDENTITY_TEST.mistake("a tensor in place of a verdict")
def identity_test_a_tensor_in_place_of_a_verdict(sublayer, norm, d):
    x = varied_tokens(d)
    return sublayer(x.clone(), torch.zeros_like, norm) == x


@IDENTITY_TEST.mistake("a tensor in place of a verdict")
def identity_test_a_tensor_in_place_of_a_verdict_of_an_overwritten_input(sublayer, norm, d):
    x = varied_tokens(d)
    return sublayer(x, torch.zeros_like, norm) == x


@IDENTITY_TEST.mistake("only the first token is compared")
def identity_test_only_the_first_token_is_compared(sublayer, norm, d):
    x = varied_tokens(d)
    return torch.equal(sublayer(x.clone(), torch.zeros_like, norm)[0], x[0])


@IDENTITY_TEST.mistake("only the first number is compared")
def identity_test_only_the_first_number_is_compared(sublayer, norm, d):
    x = varied_tokens(d)
    return (sublayer(x.clone(), torch.zeros_like, norm)[0, 0] == x[0, 0]).item()


@IDENTITY_TEST.mistake("only the shape is compared")
def identity_test_only_the_shape_is_compared(sublayer, norm, d):
    return sublayer(torch.ones(3, d), torch.zeros_like, norm).shape == (3, d)


@IDENTITY_TEST.mistake("the input is overwritten before it is compared")
def identity_test_the_input_is_overwritten_before_it_is_compared(sublayer, norm, d):
    x = varied_tokens(d)
    return torch.equal(sublayer(x, torch.zeros_like, norm), x)


@IDENTITY_TEST.mistake("the input is zero")
def identity_test_the_input_is_zero(sublayer, norm, d):
    return torch.equal(sublayer(torch.zeros(3, d), torch.zeros_like, norm), torch.zeros(3, d))


@IDENTITY_TEST.mistake("the input is zero")
def identity_test_the_input_is_zero_and_overwritten(sublayer, norm, d):
    x = torch.zeros(3, d)
    return torch.equal(sublayer(x, torch.zeros_like, norm), x)


@IDENTITY_TEST.mistake("all features are alike")
def identity_test_all_features_are_alike(sublayer, norm, d):
    return torch.equal(sublayer(torch.ones(3, d), torch.zeros_like, norm), torch.ones(3, d))


@IDENTITY_TEST.mistake("all features are alike")
def identity_test_all_features_are_alike_and_overwritten(sublayer, norm, d):
    x = torch.ones(3, d)
    return torch.equal(sublayer(x, torch.zeros_like, norm), x)


@IDENTITY_TEST.mistake("the input is normalised already")
def identity_test_the_input_is_normalised_already(sublayer, norm, d):
    x = F.rms_norm(varied_tokens(d), (d,), eps=1e-12)
    return torch.allclose(sublayer(x.clone(), torch.zeros_like, norm), x, atol=1e-4)


@IDENTITY_TEST.mistake("differences without their absolute value")
def identity_test_differences_without_their_absolute_value(sublayer, norm, d):
    x = varied_tokens(d)
    return bool((sublayer(x.clone(), torch.zeros_like, norm) - x).max() < 1e-4)


@IDENTITY_TEST.mistake("differences cancel in the mean")
def identity_test_differences_cancel_in_the_mean(sublayer, norm, d):
    x = varied_tokens(d)
    return bool((sublayer(x.clone(), torch.zeros_like, norm) - x).mean().abs() < 1e-4)


@IDENTITY_TEST.mistake("only lengths are compared")
def identity_test_only_lengths_are_compared(sublayer, norm, d):
    x = varied_tokens(d)
    return torch.allclose(sublayer(x.clone(), torch.zeros_like, norm).norm(dim=-1), x.norm(dim=-1))


@IDENTITY_TEST.mistake("compared with the normalised input")
def identity_test_compared_with_the_normalised_input(sublayer, norm, d):
    x = varied_tokens(d)
    return torch.allclose(sublayer(x.clone(), torch.zeros_like, norm), norm(x.clone()), atol=1e-4)


# 3 · Three planted bugs

PLANTED_BUGS = Task("planted-bugs", right={"A": 4, "B": 3, "C": 2})


PLANTED_BUGS.wrong_values("counted from zero", {"A": 3, "B": 2, "C": 1})


PLANTED_BUGS.wrong_values("A: the copy itself is blamed", {"A": 3})


PLANTED_BUGS.wrong_values("A: the healthy sublayer is blamed", {"A": 2}, {"A": 1})


PLANTED_BUGS.wrong_values("B: the sum is blamed", {"B": 4})


PLANTED_BUGS.wrong_values("B: the residual connection is blamed", {"B": 2})


PLANTED_BUGS.wrong_values("B: the first norm is blamed", {"B": 1})


PLANTED_BUGS.wrong_values("C: alpha on the residual path is blamed", {"C": 4})


PLANTED_BUGS.wrong_values("C: a missing norm before the sublayer is blamed", {"C": 1}, {"C": 3})


@PLANTED_BUGS.mistake("no such line")
def planted_bugs_no_such_line(answer):
    if not isinstance(answer, dict):
        return False
    return any(isinstance(line, int | float) and line not in (1, 2, 3, 4) for line in answer.values())


# 4 · Which curve belongs to which placement?

WHICH_CURVE = Task(
    "which-curve",
    right={"A": "sandwich", "B": "deepnorm", "C": "post", "D": "pre"},
    names=("pre", "post", "sandwich", "deepnorm"),
)


WHICH_CURVE.wrong_values(
    "post-norm and DeepNorm exchanged", {"A": "sandwich", "B": "post", "C": "deepnorm", "D": "pre"}
)


WHICH_CURVE.wrong_values(
    "pre-norm and sandwich norm exchanged", {"A": "pre", "B": "deepnorm", "C": "post", "D": "sandwich"}
)


WHICH_CURVE.wrong_values("both pairs exchanged", {"A": "pre", "B": "post", "C": "deepnorm", "D": "sandwich"})


WHICH_CURVE.wrong_values(
    "pre-norm and post-norm exchanged", {"A": "sandwich", "B": "deepnorm", "C": "pre", "D": "post"}
)


WHICH_CURVE.wrong_values(
    "DeepNorm is thought to grow because of alpha", {"A": "deepnorm", "B": "sandwich", "C": "post", "D": "pre"}
)


WHICH_CURVE.wrong_values(
    "sandwich norm is thought to be flat", {"A": "post", "B": "deepnorm", "C": "sandwich", "D": "pre"}
)


WHICH_CURVE.wrong_values(
    "growing and flat streams exchanged", {"A": "deepnorm", "B": "sandwich", "C": "pre", "D": "post"}
)


WHICH_CURVE.wrong_values(
    "a flat stream is given a free path", {"B": "pre"}, {"C": "pre"}, {"B": "sandwich"}, {"C": "sandwich"}
)


@WHICH_CURVE.mistake("one placement twice")
def which_curve_one_placement_twice(answer):
    if not isinstance(answer, dict):
        return False
    known = [one for one in answer.values() if one in WHICH_CURVE.names]
    return len(set(known)) < len(known)


TASKS = (
    PRE_NORM_BLOCK,
    POST_NORM_BLOCK,
    SANDWICH_SUBLAYER,
    DEEPNORM_SUBLAYER,
    IDENTITY_TEST,
    PLANTED_BUGS,
    WHICH_CURVE,
)
