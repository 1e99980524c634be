"""Initialisation, windows, rates and losses are what their docstrings say."""

import math

import pytest
import torch

from helpers import training
from helpers.decoder import PLACEMENTS, Config, Decoder
from helpers.training import initialise, language_loss, random_windows

D, N = 128, 3


def fresh(placement="pre", scheme="xavier", seed=0, layers=N):
    return initialise(Decoder(Config(60, 30, D, layers, 4, placement)), scheme, seed)


def matrices(decoder):
    """Return name → weight of block 1, with query, key and value apart."""
    attention, mlp = decoder.blocks[0].attention.f, decoder.blocks[0].mlp.f
    query, key, value = attention.qkv.weight.detach().chunk(3)
    return {
        "query": query,
        "key": key,
        "value": value,
        "out": attention.out.weight.detach(),
        "up": mlp.up.weight.detach(),
        "down": mlp.down.weight.detach(),
    }


@pytest.mark.parametrize("scheme", ("xavier", "gpt2"))
def test_the_same_seed_gives_the_same_weights_whatever_was_there_before(scheme):
    decoder = fresh(scheme=scheme, seed=3)
    reference = {name: p.clone() for name, p in decoder.state_dict().items()}
    with torch.no_grad():
        for parameter in decoder.parameters():
            parameter.fill_(7.0)
    torch.manual_seed(99)
    state = torch.get_rng_state()
    assert initialise(decoder, scheme, 3) is decoder
    assert all(torch.equal(p, reference[name]) for name, p in decoder.state_dict().items())
    assert torch.equal(torch.get_rng_state(), state)  # torch's own generator is left alone
    other = fresh(scheme=scheme, seed=4).state_dict()
    assert all(not torch.equal(other[name], p) for name, p in reference.items() if p.std() > 0)


def test_placements_start_from_the_same_weights():
    # only then can a comparison of placements be one of placements; DeepNorm's gains differ by design
    first = fresh("pre").state_dict()
    for placement in set(PLACEMENTS) - {"deepnorm"}:
        other = fresh(placement).state_dict()
        assert all(torch.equal(p, first[name]) for name, p in other.items() if name in first)


@pytest.mark.parametrize("scheme", ("xavier", "gpt2"))
@pytest.mark.parametrize("placement", PLACEMENTS)
def test_norms_start_neutral_biases_at_zero_and_embeddings_at_one_fiftieth(placement, scheme):
    decoder = fresh(placement, scheme)
    for name, parameter in decoder.named_parameters():
        if name.endswith(("bias", "beta", "gamma")):
            assert torch.equal(parameter, torch.full_like(parameter, float(name.endswith("gamma"))))
    for embedding in (decoder.token_embedding, decoder.position_embedding):
        assert embedding.weight.std().item() == pytest.approx(0.02, rel=0.05)


def test_xavier_has_its_bound_and_its_standard_deviation():
    for name, weight in matrices(fresh()).items():
        bound = math.sqrt(6 / sum(weight.shape))
        assert weight.abs().max().item() == pytest.approx(bound, rel=0.01), name
        assert weight.std().item() == pytest.approx(math.sqrt(2 / sum(weight.shape)), rel=0.03), name


def test_deepnorm_scales_value_output_and_mlp_by_beta():
    plain, scaled = matrices(fresh(layers=12)), matrices(fresh("deepnorm", layers=12))
    beta = (8 * 12) ** -0.25
    assert beta == pytest.approx(0.319, abs=1e-3)
    for name in plain:
        gain = 1.0 if name in ("query", "key") else beta
        torch.testing.assert_close(scaled[name], gain * plain[name], rtol=1e-5, atol=1e-7)


def test_gpt2_scales_the_maps_that_write_to_the_stream():
    for name, weight in matrices(fresh(scheme="gpt2")).items():
        expected = 0.02 / math.sqrt(2 * N) if name in ("out", "down") else 0.02
        assert weight.std().item() == pytest.approx(expected, rel=0.03), name


def test_another_scheme_is_refused():
    with pytest.raises(ValueError, match="Choose one of: xavier, gpt2"):
        fresh(scheme="he")


def test_an_untrained_decoder_knows_nothing():
    windows = random_windows(torch.arange(1000) % 60, 20, 8, seed=0)
    loss = language_loss(fresh(scheme="gpt2").eval(), windows).item()
    assert loss == pytest.approx(math.log(60), abs=0.1)


@torch.no_grad()
def test_the_loss_is_the_mean_surprise_at_the_next_token():
    decoder = fresh().eval()
    for parameter in decoder.parameters():
        parameter.add_(0.05)
    windows = random_windows(torch.randint(60, (500,), generator=torch.Generator().manual_seed(0)), 9, 4, seed=1)
    total = 0.0
    for window in windows:
        probabilities = decoder(window[None, :-1]).double().softmax(-1)[0]
        total -= sum(math.log(probabilities[t, window[t + 1]]) for t in range(9))
    assert language_loss(decoder, windows).item() == pytest.approx(total / 36, rel=1e-5)


def test_windows_are_consecutive_and_reproducible():
    data = torch.arange(1000, dtype=torch.int32)
    windows = random_windows(data, 12, 64, seed=5)
    assert windows.shape == (64, 13) and windows.dtype == torch.int64
    assert (windows.diff() == 1).all()
    assert torch.equal(windows, random_windows(data, 12, 64, seed=5))
    assert not torch.equal(windows, random_windows(data, 12, 64, seed=6))


def test_windows_reach_both_ends_of_the_data_and_not_further():
    data = torch.arange(8)
    starts = random_windows(data, 5, 200, seed=0)[:, 0]
    assert set(starts.tolist()) == {0, 1, 2}
    assert random_windows(data, 7, 2, seed=0).tolist() == [list(range(8))] * 2


def test_gradients_are_computed_where_an_earlier_cell_has_switched_them_off():
    """`torch.set_grad_enabled(False)` broke the lengths of the gradients, and the training."""
    windows = training.random_windows(training.sentences(500), length=16, batch=2, seed=0)
    decoder = training.initialise(Decoder(Config(28, 32, 16, 2, 2)))
    expected = training.at_initialisation(decoder, windows)
    losses = list(training.Run(layers=1, steps=3).losses())
    with torch.no_grad():
        assert training.at_initialisation(decoder, windows) == expected
        assert list(training.Run(layers=1, steps=3).losses()) == losses
        for _ in training.Run(layers=1, steps=2).losses():
            assert not torch.is_grad_enabled(), "the caller's cell stays as it is"


def test_a_run_is_the_same_whatever_torchs_default_format_is():
    losses = list(training.Run(layers=1, steps=3).losses())
    torch.set_default_dtype(torch.bfloat16)
    try:
        assert list(training.Run(layers=1, steps=3).losses()) == losses
    finally:
        torch.set_default_dtype(torch.float32)
