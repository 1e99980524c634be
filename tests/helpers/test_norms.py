"""The norms are the formulas, in every dtype, for every shape; and these checks catch the usual mistakes."""

import math
import random

import pytest
import torch
import torch.nn.functional as F
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from helpers.norms import LayerNorm, RMSNorm, layer_norm, rms_norm

EPS = 1e-5
DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
WIDTHS = (1, 2, 3, 4, 7, 64, 768, 4096)
steady = settings(derandomize=True, deadline=None, max_examples=60)


def numbers(*shape, seed=0, mean=0.0, std=1.0):
    """Return normally distributed float64 numbers."""
    return mean + std * torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def exact(x, centre, eps=EPS):
    """Return the norm of a float tensor in float64, row by row, with sums that do not round."""
    rows = []
    for row in x.double().reshape(-1, x.shape[-1]).tolist():
        mean = math.fsum(row) / len(row) if centre else 0.0
        centred = [value - mean for value in row]
        root = math.sqrt(math.fsum(value * value for value in centred) / len(row) + eps)
        rows.append([value / root for value in centred])
    return torch.tensor(rows, dtype=torch.float64).reshape(x.shape)


def assert_exact(norm, x, centre, eps=EPS):
    """Assert that norm(x) is the exact result, but for rounding to x's dtype and rounding while computing."""
    actual, expected = norm(x), exact(x, centre, eps)
    assert actual.dtype == x.dtype and actual.shape == x.shape
    # rounding x − μ costs max|x| / √(σ² + ε) roundings of the format that the statistics are computed in
    computed_in = torch.finfo(torch.float32 if x.dtype == torch.float16 else torch.float64).eps
    wide = x.double()
    spread = wide - wide.mean(-1, keepdim=True) if centre else wide
    condition = wide.abs().amax(-1, keepdim=True) / (spread.square().mean(-1, keepdim=True) + eps).sqrt()
    rounding = torch.finfo(x.dtype).eps * expected.abs() + torch.finfo(x.dtype).tiny
    worst = ((actual.double() - expected).abs() - rounding - 8 * computed_in * (1 + condition)).max()
    assert worst <= 0, f"{tuple(x.shape)} {x.dtype}: {worst} beyond rounding"


def rows():
    """Return name → rows in float64: what a norm meets, and what breaks a careless one."""
    found = {f"width {d}": numbers(5, d, seed=d) for d in WIDTHS}
    found |= {f"{len(shape)} dimensions": numbers(*shape) for shape in ((6,), (3, 6), (2, 3, 6))}
    found |= {
        "zeros": torch.zeros(2, 6),
        "constant": torch.full((2, 6), 0.1),
        "huge mean": numbers(4, 64, mean=1e4, std=4.0),
        "squares beyond float16": torch.tensor([[300.0, -300.0, 301.0, 100.0]]),
        "the largest of float16": torch.tensor([[65504.0, -65504.0, 65504.0, 0.0]]),
        "tiny": numbers(4, 6, std=1e-3),
        "below float16": numbers(4, 6, std=1e-20),
        "beyond float16": numbers(4, 6, std=1e20),
        "the largest of float32": torch.tensor([[3e38, -3e38, 1e38, 0.0]]),
        "one massive feature": torch.cat([numbers(3, 63), torch.full((3, 1), 3000.0)], -1),
    }
    return found


def rows_that_fit():
    """Return (name, dtype) for all rows and all dtypes that can hold their numbers."""
    return [(name, dtype) for name, x in rows().items() for dtype in DTYPES if x.to(dtype).isfinite().all()]


@pytest.mark.parametrize(("name", "dtype"), rows_that_fit(), ids=str)
def test_both_formulas_are_exact_but_for_rounding(name, dtype):
    x = rows()[name].to(dtype)
    assert_exact(layer_norm, x, centre=True)
    assert_exact(rms_norm, x, centre=False)


@pytest.mark.parametrize("eps", (1e-12, 1e-5, 1e-2))
def test_eps_is_taken_as_given(eps):
    x = numbers(4, 6, std=1e-3)
    assert_exact(lambda x: layer_norm(x, eps=eps), x, centre=True, eps=eps)
    assert_exact(lambda x: rms_norm(x, eps=eps), x, centre=False, eps=eps)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("d", WIDTHS)
@pytest.mark.parametrize("leading", ((), (5,), (2, 5)), ids=str)
def test_formulas_and_modules_equal_torch(leading, d, dtype):
    x = numbers(*leading, d, seed=d, mean=0.5, std=2.0).to(dtype)
    gamma, beta = numbers(d, seed=1, mean=1.0).to(dtype), numbers(d, seed=2).to(dtype)
    # torch rounds half-precision results once or twice, so the two may be two roundings apart
    rounding = {torch.float16: 2e-3, torch.bfloat16: 1.6e-2, torch.float32: 2e-6, torch.float64: 1e-14}[dtype]
    # a width of 1 leaves LayerNorm nothing but rounding, which √ε magnifies
    close = lambda a, b: torch.testing.assert_close(a, b, rtol=rounding, atol=2 * rounding)
    close(layer_norm(x, gamma, beta), F.layer_norm(x, (d,), gamma, beta, EPS))
    close(rms_norm(x, gamma), F.rms_norm(x, (d,), gamma, EPS))
    ours, theirs = LayerNorm(d).to(dtype), torch.nn.LayerNorm(d, dtype=dtype)
    theirs.load_state_dict({"weight": gamma, "bias": beta})
    ours.load_state_dict({"gamma": gamma, "beta": beta})
    close(ours(x), theirs(x))
    ours, theirs = RMSNorm(d).to(dtype), torch.nn.RMSNorm(d, eps=EPS, dtype=dtype)
    theirs.load_state_dict({"weight": gamma})
    ours.load_state_dict({"gamma": gamma})
    close(ours(x), theirs(x))


def test_a_new_module_has_gain_one_and_bias_zero_and_torchs_eps():
    assert torch.equal(LayerNorm(3).gamma, torch.ones(3)) and torch.equal(LayerNorm(3).beta, torch.zeros(3))
    assert torch.equal(RMSNorm(3).gamma, torch.ones(3)) and len(list(RMSNorm(3).parameters())) == 1
    assert LayerNorm(3).eps == torch.nn.LayerNorm(3).eps == RMSNorm(3).eps


def test_a_module_keeps_its_own_eps():
    x = numbers(2, 6, std=1e-3)
    for module, formula in ((LayerNorm, layer_norm), (RMSNorm, rms_norm)):
        torch.testing.assert_close(module(6, eps=1e-2)(x), formula(x, eps=1e-2))


def test_the_textbook_rows():
    torch.testing.assert_close(
        layer_norm(torch.tensor([1.0, 0, 0, 0])),
        torch.tensor([1.7320, -0.5773, -0.5773, -0.5773]),
        atol=1e-4,
        rtol=0,
    )
    torch.testing.assert_close(
        rms_norm(torch.tensor([1.0, 2, 3, 4])), torch.tensor([0.3651, 0.7303, 1.0954, 1.4606]), atol=1e-4, rtol=0
    )


@pytest.mark.parametrize("dtype", (torch.float16, torch.bfloat16, torch.float32), ids=str)
@pytest.mark.parametrize("value", (0.0, 0.1, -300.0, 65504.0))
@pytest.mark.parametrize("d", WIDTHS)
def test_a_constant_row_gives_exactly_beta(d, value, dtype):
    beta = numbers(d).to(dtype)
    assert torch.equal(layer_norm(torch.full((2, d), value).to(dtype), beta=beta), beta.expand(2, d))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("bad", (float("nan"), float("inf")))
@pytest.mark.parametrize("norm", (layer_norm, rms_norm))
def test_nan_stays_nan_and_stays_in_its_token(norm, bad, dtype):
    x = numbers(2, 3, 6).to(dtype)
    clean = norm(x)
    x[0, 1, 4] = bad
    result = norm(x)
    assert result[0, 1, 4].isnan()
    if math.isnan(bad):
        assert result[0, 1].isnan().all()
    result[0, 1] = clean[0, 1]
    assert torch.equal(result, clean)


def test_a_norm_does_not_write_to_its_input():
    for norm in (layer_norm, rms_norm):
        x = numbers(3, 6)
        before = x.clone()
        norm(x, gamma=numbers(6))
        assert torch.equal(x, before)


@pytest.mark.parametrize("shape", ((1,), (5,), (2, 4), (2, 2, 3)))
def test_gradients_are_those_of_the_formula(shape):
    x = numbers(*shape, seed=3).requires_grad_()
    gamma, beta = numbers(shape[-1], seed=4).requires_grad_(), numbers(shape[-1], seed=5).requires_grad_()
    assert torch.autograd.gradcheck(layer_norm, (x, gamma, beta))
    assert torch.autograd.gradcheck(rms_norm, (x, gamma))


def test_gradients_equal_torchs_in_float32():
    for ours, theirs, count in ((layer_norm, F.layer_norm, 3), (rms_norm, F.rms_norm, 2)):
        inputs = [numbers(3, 64).float(), numbers(64, seed=1).float(), numbers(64, seed=2).float()][:count]
        inputs = [tensor.requires_grad_() for tensor in inputs]
        weights = numbers(3, 64, seed=6).float()
        mine = torch.autograd.grad((ours(*inputs) * weights).sum(), inputs)
        other = torch.autograd.grad((theirs(inputs[0], (64,), *inputs[1:], eps=EPS) * weights).sum(), inputs)
        torch.testing.assert_close(mine, other, rtol=1e-5, atol=1e-5)


# Properties, on rows that hypothesis chooses: (d,) in float64.
values = st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=40)
vectors = values.map(lambda row: torch.tensor(row, dtype=torch.float64))
factors = st.floats(1e-3, 1e3)


def tolerance(x, eps=EPS):
    """Return how far rounding in float64 may move the norm of a row."""
    return 1e-14 * (1 + x.abs().max().item() / math.sqrt(x.var(correction=0).item() + eps))


@steady
@given(vectors, st.floats(-1e6, 1e6))
def test_layer_norm_does_not_see_a_shift(x, shift):
    shifted = x + shift
    assert (layer_norm(shifted) - layer_norm(x)).abs().max() <= tolerance(shifted) + tolerance(x)


@steady
@given(vectors, factors)
def test_neither_norm_sees_a_scale_when_eps_scales_along(x, factor):
    # with ε fixed the invariance holds only where the variance is large against ε
    layer_change = layer_norm(factor * x, eps=factor**2 * EPS) - layer_norm(x)
    rms_change = rms_norm(factor * x, eps=factor**2 * EPS) - rms_norm(x)
    assert layer_change.abs().max() <= 4 * tolerance(x)
    assert rms_change.abs().max() <= 1e-13 * math.sqrt(len(x))


@steady
@given(st.integers(0, 2**32 - 1), st.integers(2, 200), factors)
def test_on_ordinary_rows_eps_does_not_matter_to_the_invariance(seed, d, factor):
    x = numbers(d, seed=seed, std=3.0)
    assume(x.var(correction=0) * min(factor, 1) ** 2 > 1e-4)
    bound = EPS / (x.var(correction=0).item() * min(factor, 1) ** 2) * math.sqrt(d)
    assert (layer_norm(factor * x) - layer_norm(x)).abs().max() <= bound
    assert (rms_norm(factor * x) - rms_norm(x)).abs().max() <= bound


def test_rms_norm_does_see_a_shift():
    x = torch.tensor([1.0, 2, 3, 4])
    assert (rms_norm(x + 5) - rms_norm(x)).abs().max() > 0.3
    assert (layer_norm(x + 5) - layer_norm(x)).abs().max() < 1e-6


@steady
@given(vectors)
def test_both_norms_are_odd(x):
    assert torch.equal(layer_norm(-x), -layer_norm(x))
    assert torch.equal(rms_norm(-x), -rms_norm(x))


@steady
@given(vectors, st.integers(0, 2**32 - 1))
def test_permuted_features_give_a_permuted_result(x, seed):
    order = list(range(len(x)))
    random.Random(seed).shuffle(order)
    assert (layer_norm(x[order]) - layer_norm(x)[order]).abs().max() <= tolerance(x)
    assert (rms_norm(x[order]) - rms_norm(x)[order]).abs().max() <= 1e-13 * math.sqrt(len(x))


@steady
@given(vectors)
def test_layer_norm_gives_mean_zero_and_mean_square_at_most_one(x):
    result, variance = layer_norm(x), x.var(correction=0).item()
    assert abs(result.mean().item()) <= tolerance(x)
    mean_square = result.square().mean().item()
    assert mean_square <= 1 + tolerance(x)
    assert mean_square == pytest.approx(variance / (variance + EPS), abs=4 * tolerance(x))


@steady
@given(vectors)
def test_rms_norm_gives_a_mean_square_at_most_one_and_keeps_the_signs(x):
    result, mean_square = rms_norm(x), x.square().mean().item()
    assert result.square().mean().item() <= 1 + 1e-12
    assert result.square().mean().item() == pytest.approx(mean_square / (mean_square + EPS), abs=1e-12)
    assert torch.equal(result.sign(), x.sign())


@steady
@given(vectors)
def test_on_centred_rows_the_two_norms_are_one(x):
    centred = x - x.mean()
    assert (rms_norm(centred) - layer_norm(centred)).abs().max() <= tolerance(x)


@steady
@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(1, 6), st.integers(1, 70))
def test_each_token_has_its_own_statistics(seed, batch, tokens, d):
    x = numbers(batch, tokens, d, seed=seed, std=5.0)
    for norm in (layer_norm, rms_norm):
        alone = torch.stack([norm(row) for row in x.reshape(-1, d)]).reshape(x.shape)
        assert (norm(x) - alone).abs().max() <= 1e-12
        changed = x.clone()
        changed[-1, -1] = 1e6
        assert torch.equal(norm(changed).reshape(-1, d)[:-1], norm(x).reshape(-1, d)[:-1])


# The mistakes that people make. A check that lets one of them pass proves nothing.
def unbiased(x):
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + EPS).sqrt()


def eps_outside_the_root(x):
    return (x - x.mean(-1, keepdim=True)) / (x.std(-1, correction=0, keepdim=True) + EPS)


def over_the_tokens(x):
    return (x - x.mean(0, keepdim=True)) / (x.var(0, correction=0, keepdim=True) + EPS).sqrt()


def over_everything(x):
    return (x - x.mean()) / (x.var(correction=0) + EPS).sqrt()


def not_widened(x):
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + EPS).sqrt()


def in_one_pass(x):
    mean = x.mean(-1, keepdim=True)
    return (x - mean) * (x.square().mean(-1, keepdim=True) - mean.square() + EPS).rsqrt()


def not_centred(x):
    return x * (x.square().mean(-1, keepdim=True) + EPS).rsqrt()


def not_rooted(x):
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, correction=0, keepdim=True) + EPS)


def rms_unbiased(x):
    return x * (x.square().sum(-1, keepdim=True) / (x.shape[-1] - 1) + EPS).rsqrt()


def rms_eps_outside_the_root(x):
    return x / (x.square().mean(-1, keepdim=True).sqrt() + EPS)


def rms_over_the_tokens(x):
    return x * (x.square().mean(0, keepdim=True) + EPS).rsqrt()


MISTAKES = {
    # mistake → (name of the rows that show it, dtype, whether LayerNorm was meant)
    unbiased: ("width 4", torch.float32, True),
    eps_outside_the_root: ("tiny", torch.float32, True),
    over_the_tokens: ("2 dimensions", torch.float32, True),
    over_everything: ("3 dimensions", torch.float32, True),
    not_widened: ("squares beyond float16", torch.float16, True),
    in_one_pass: ("huge mean", torch.float32, True),
    not_centred: ("width 4", torch.float32, True),
    not_rooted: ("huge mean", torch.float64, True),
    rms_unbiased: ("width 4", torch.float32, False),
    rms_eps_outside_the_root: ("tiny", torch.float32, False),
    rms_over_the_tokens: ("2 dimensions", torch.float32, False),
    layer_norm: ("width 4", torch.float32, False),
}


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.__name__)
def test_the_check_of_exactness_catches_the_mistake(mistake):
    name, dtype, centre = MISTAKES[mistake]
    x = rows()[name].to(dtype)
    assert_exact(layer_norm if centre else rms_norm, x, centre)
    with pytest.raises(AssertionError, match="beyond rounding"):
        assert_exact(mistake, x, centre)
    right, wrong = exact(x, centre), mistake(x).double()
    assert not (right - wrong).abs().max() <= 0.01, "the mistake must be far larger than any tolerance"


def test_300_in_float16_survives_only_the_wider_format():
    x = torch.full((1, 4), 300.0, dtype=torch.float16)
    assert torch.equal(not_centred(x), torch.zeros_like(x))  # 300² is infinite in float16
    assert torch.equal(rms_norm(x), torch.ones_like(x))
