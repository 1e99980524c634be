"""The norms are their formulas, in every format and shape; and the check of that catches the usual mistakes."""

import math

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.norms import LayerNorm, RMSNorm, layer_norm, rms_norm

EPS = 1e-5
DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
NORMS = pytest.mark.parametrize("norm", (layer_norm, rms_norm))
MODULES = pytest.mark.parametrize("module", (LayerNorm, RMSNorm))


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
    actual = norm(x)
    expected = exact(x, centre, eps)
    assert actual.dtype == x.dtype and actual.shape == x.shape
    # rounding x − μ costs max|x| / √(σ² + ε) roundings of the format that the statistics are computed in
    computed_in = torch.finfo(torch.float32 if x.dtype == torch.float16 else torch.float64).eps
    wide = x.double()
    spread = wide - wide.mean(-1, keepdim=True) if centre else wide
    condition = wide.abs().amax(-1, keepdim=True) / (spread.square().mean(-1, keepdim=True) + eps).sqrt()
    rounding = torch.finfo(x.dtype).eps * expected.abs() + torch.finfo(x.dtype).tiny
    worst = ((actual.double() - expected).abs() - rounding - 8 * computed_in * (1 + condition)).max()
    assert worst <= 0, f"{tuple(x.shape)} {x.dtype}: {worst} beyond rounding"


# The formulas

ROWS = {
    **{f"width {d}": numbers(5, d, seed=d) for d in (1, 2, 7, 768, 4096)},
    "1 dimension": numbers(6),
    "2 dimensions": numbers(3, 6),
    "3 dimensions": numbers(2, 3, 6),
    "zeros": torch.zeros(2, 6),
    "constant": torch.full((2, 6), 0.1),
    "huge mean": numbers(4, 64, mean=1e4, std=4.0),
    "squares beyond float16": torch.tensor([[300.0, -300.0, 301.0, 100.0]]),
    "the largest of float16": torch.tensor([[65504.0, -65504.0, 65504.0, 0.0]]),
    "tiny": numbers(4, 6, std=1e-3),
    "below float16": numbers(4, 6, std=1e-20),
    "the largest of float32": torch.tensor([[3e38, -3e38, 1e38, 0.0]]),
    "one massive feature": torch.cat([numbers(3, 63), torch.full((3, 1), 3000.0)], -1),
}
FITTING = [(name, dtype) for name, x in ROWS.items() for dtype in DTYPES if x.to(dtype).isfinite().all()]


@pytest.mark.parametrize(("name", "dtype"), FITTING, ids=str)
def test_both_formulas_are_exact_but_for_rounding(name, dtype):
    x = ROWS[name].to(dtype)
    assert_exact(layer_norm, x, centre=True)
    assert_exact(rms_norm, x, centre=False)


@pytest.mark.slow
@settings(derandomize=True, deadline=None, max_examples=100)
@given(
    st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=40),
    st.sampled_from((1e-12, 1e-5, 1e-2)),
)
def test_both_formulas_are_exact_on_any_row_and_with_any_eps(row, eps):
    x = torch.tensor(row, dtype=torch.float64)
    assert_exact(lambda x: layer_norm(x, eps=eps), x, centre=True, eps=eps)
    assert_exact(lambda x: rms_norm(x, eps=eps), x, centre=False, eps=eps)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("d", (1, 4, 64))
def test_modules_equal_torchs_with_the_same_gain_bias_and_eps(d, dtype):
    x = numbers(2, 5, d, mean=0.5, std=2.0).to(dtype)
    gamma = numbers(d, seed=1, mean=1.0).to(dtype)
    beta = numbers(d, seed=2).to(dtype)
    pairs = (
        (LayerNorm(d, eps=1e-3), torch.nn.LayerNorm(d, eps=1e-3)),
        (RMSNorm(d, eps=1e-3), torch.nn.RMSNorm(d, eps=1e-3)),
    )
    # torch rounds results of 16 bits once or twice, so the two may be two roundings apart
    rounding = {torch.float16: 2e-3, torch.bfloat16: 1.6e-2, torch.float32: 2e-6, torch.float64: 1e-14}[dtype]
    for ours, theirs in pairs:
        for module in (ours, theirs):
            values = (gamma, beta)  # RMSNorm has a gain only
            for parameter, value in zip(module.to(dtype).parameters(), values):
                parameter.data = value
        torch.testing.assert_close(ours(x), theirs(x), rtol=rounding, atol=2 * rounding)


@MODULES
def test_a_new_module_changes_nothing_after_the_norm_and_has_torchs_eps(module):
    formula = {LayerNorm: layer_norm, RMSNorm: rms_norm}[module]
    x = numbers(3, 6, std=1e-3)
    assert torch.equal(module(6)(x), formula(x))
    assert module(6).eps == torch.nn.LayerNorm(6).eps


def test_the_gain_is_applied_before_the_cast_to_16_bits():
    """OLMo 2's order: one rounding. Llama's gives other numbers."""
    x = numbers(64, 96, std=3.0).bfloat16()
    gamma = numbers(96, seed=1, mean=1.0, std=0.3).bfloat16()
    beta = numbers(96, seed=2).bfloat16()
    wide_gamma = gamma.double()
    assert torch.equal(rms_norm(x, gamma), rms_norm(x.double(), wide_gamma).bfloat16())
    assert torch.equal(layer_norm(x, gamma, beta), layer_norm(x.double(), wide_gamma, beta.double()).bfloat16())
    llama = gamma * rms_norm(x)
    assert not torch.equal(rms_norm(x, gamma), llama)


@pytest.mark.parametrize("dtype", (torch.float16, torch.bfloat16, torch.float32), ids=str)
@pytest.mark.parametrize("value", (0.0, 0.1, -300.0, 65504.0))
@pytest.mark.parametrize("d", (1, 3, 768))
def test_a_constant_row_gives_exactly_beta(d, value, dtype):
    beta = numbers(d).to(dtype)
    assert torch.equal(layer_norm(torch.full((2, d), value).to(dtype), beta=beta), beta.expand(2, d))


@NORMS
@pytest.mark.parametrize("bad", (float("nan"), float("inf")))
def test_what_is_no_number_stays_in_its_token(norm, bad):
    x = numbers(2, 3, 6)
    before = x.clone()
    clean = norm(x)
    assert torch.equal(x, before)  # the input is not written to
    x[0, 1, 4] = bad
    result = norm(x)
    assert result[0, 1, 4].isnan()
    assert result[0, 1].isnan().all() or not math.isnan(bad)
    result[0, 1] = clean[0, 1]
    assert torch.equal(result, clean)


@pytest.mark.parametrize("shape", ((1,), (5,), (2, 2, 3)))
def test_gradients_are_those_of_the_formula(shape):
    x = numbers(*shape, seed=3).requires_grad_()
    gamma = numbers(shape[-1], seed=4).requires_grad_()
    beta = numbers(shape[-1], seed=5).requires_grad_()
    assert torch.autograd.gradcheck(layer_norm, (x, gamma, beta))
    assert torch.autograd.gradcheck(rms_norm, (x, gamma))


# What does not fit


@MODULES
@pytest.mark.parametrize("d", ((5, 7), [7], 7.0, "7", 0, -1, True, None), ids=str)
def test_a_width_that_is_not_the_size_of_one_dimension_is_refused(module, d):
    """LayerNorm((5, 7)) normalised the last dimension only."""
    with pytest.raises(ValueError, match="last dimension"):
        module(d)


@MODULES
@pytest.mark.parametrize("shape", ((2, 1), (2, 6), (1,), (7, 2)))
def test_another_width_than_the_modules_is_refused(module, shape):
    """LayerNorm(7) widened an input of shape (2, 1) to (2, 7)."""
    with pytest.raises(ValueError, match=rf"shape \(7,\), but x has \({shape[-1]},\) features"):
        module(7)(torch.ones(shape))


@NORMS
def test_a_gain_or_bias_of_another_shape_is_refused(norm):
    for gamma in (torch.ones(1), torch.ones(7), torch.ones(2, 1), torch.ones(2, 3)):
        with pytest.raises(ValueError, match="gamma has the shape"):
            norm(torch.ones(2, 3), gamma=gamma)
    with pytest.raises(ValueError, match="beta has the shape"):
        layer_norm(torch.ones(2, 3), beta=torch.ones(2, 1))
    x = numbers(2, 3)
    assert torch.equal(norm(x, gamma=torch.tensor(2.0)), norm(x, gamma=2.0))  # a number is one in a tensor, too


# The mistakes that people make. A check that lets one of them pass proves nothing.


def unbiased(x):
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + EPS).sqrt()


def eps_outside_the_root(x):
    return (x - x.mean(-1, keepdim=True)) / (x.std(-1, correction=0, keepdim=True) + EPS)


def over_the_tokens(x):
    return (x - x.mean(0, keepdim=True)) / (x.var(0, correction=0, keepdim=True) + EPS).sqrt()


def over_everything(x):
    return (x - x.mean()) / (x.var(correction=0) + EPS).sqrt()


def in_one_pass(x):
    mean = x.mean(-1, keepdim=True)
    return (x - mean) * (x.square().mean(-1, keepdim=True) - mean.square() + EPS).rsqrt()


def not_rooted(x):
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, correction=0, keepdim=True) + EPS)


def not_widened(x):
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + EPS).sqrt()


MISTAKES = {
    # mistake → (name of the rows that show it, dtype, whether LayerNorm was meant)
    unbiased: ("width 7", torch.float32, True),
    eps_outside_the_root: ("tiny", torch.float32, True),
    over_the_tokens: ("2 dimensions", torch.float32, True),
    over_everything: ("3 dimensions", torch.float32, True),
    not_widened: ("squares beyond float16", torch.float16, True),
    in_one_pass: ("huge mean", torch.float32, True),
    not_rooted: ("huge mean", torch.float64, True),
    rms_norm: ("width 7", torch.float32, True),
    layer_norm: ("width 7", torch.float32, False),
}


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.__name__)
def test_the_check_of_exactness_catches_the_mistake(mistake):
    name, dtype, centre = MISTAKES[mistake]
    x = ROWS[name].to(dtype)
    with pytest.raises(AssertionError, match="beyond rounding"):
        assert_exact(mistake, x, centre)


@pytest.mark.parametrize("norm", [layer_norm, rms_norm, LayerNorm(2), RMSNorm(2)])
@pytest.mark.parametrize("x", [[1.0, 2.0], numpy.ones(2), 3.0, None])
def test_what_is_no_tensor_gets_a_sentence(norm, x):
    """It was an AttributeError."""
    with pytest.raises(TypeError, match=type(x).__name__):
        norm(x)


@pytest.mark.parametrize("values", [[1.0, 2.0], numpy.ones(2), "1"])
def test_a_gain_that_is_neither_tensor_nor_number_gets_a_sentence(values):
    x = torch.ones(3, 2)
    for norm in (layer_norm, rms_norm):
        with pytest.raises(TypeError, match=f"gamma .*{type(values).__name__}"):
            norm(x, gamma=values)
    with pytest.raises(TypeError, match="beta"):
        layer_norm(x, beta=values)
    assert layer_norm(x, gamma=numpy.float64(2.0)).shape == x.shape
