"""The decoder: each placement is its formula, nothing looks ahead, and rewiring shares the weights."""

import pytest
import torch
import torch.nn.functional as F

from helpers.decoder import NORMS, PLACEMENTS, Config, Decoder, Sublayer

SMALL = {"vocab_size": 50, "positions": 12, "width": 24, "layers": 3, "heads": 4}
GPT2_SMALL = {"vocab_size": 50257, "positions": 1024, "width": 768, "layers": 12, "heads": 12}
# N(x) is the norm, f the sublayer, M the second norm, a = (2N)^¼
FORMULAS = {
    "pre": lambda x, f, N, M, a: x + f(N(x)),
    "post": lambda x, f, N, M, a: N(x + f(x)),
    "sandwich": lambda x, f, N, M, a: x + M(f(N(x))),
    "deepnorm": lambda x, f, N, M, a: N(a * x + f(x)),
    "output": lambda x, f, N, M, a: x + N(f(x)),
    "none": lambda x, f, N, M, a: x + f(x),
}


def randomised(decoder, seed=0):
    """Draw every weight so that no gain is 1 and no bias 0, and return the decoder in eval mode."""
    random = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in decoder.named_parameters():
            parameter.normal_(1.0 if name.endswith("gamma") else 0.0, 0.3, generator=random)
    return decoder.eval()


def decoder(placement="pre", norm="layernorm", seed=0, **changes):
    return randomised(Decoder(Config(**SMALL | changes, placement=placement, norm=norm)), seed)


def ids(batch=2, tokens=9, seed=1):
    return torch.randint(SMALL["vocab_size"], (batch, tokens), generator=torch.Generator().manual_seed(seed))


def torchs_norm(module):
    """Return torch's own norm with a module's gain and bias."""
    shape = module.gamma.shape
    if isinstance(module, NORMS["layernorm"]):
        return lambda x: F.layer_norm(x, shape, module.gamma, module.beta, module.eps)
    return lambda x: F.rms_norm(x, shape, module.gamma, module.eps)


def by_formula(sublayer, x, layers):
    norm = torchs_norm(sublayer.norm) if hasattr(sublayer, "norm") else None
    second = torchs_norm(sublayer.norm_after) if hasattr(sublayer, "norm_after") else None
    return FORMULAS[sublayer.placement](x, sublayer.f, norm, second, (2 * layers) ** 0.25)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("placement", PLACEMENTS)
@torch.no_grad()
def test_a_decoder_is_its_formula(placement, norm):
    model = decoder(placement, norm)
    assert set(FORMULAS) == set(PLACEMENTS)
    x = model.token_embedding.weight[ids()] + model.position_embedding.weight[torch.arange(9)]
    for block in model.blocks:
        for sublayer in (block.attention, block.mlp):
            x = by_formula(sublayer, x, SMALL["layers"])
    if placement in ("pre", "sandwich", "output"):
        x = torchs_norm(model.final_norm)(x)
    torch.testing.assert_close(model.hidden(ids()), x, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(model(ids()), x @ model.token_embedding.weight.T, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("placement", PLACEMENTS)
@torch.no_grad()
def test_no_placement_passes_for_another(placement):
    sublayer = decoder(placement).blocks[0].mlp
    norms = {"norm": NORMS["layernorm"](24), "norm_after": NORMS["layernorm"](24)}
    x = torch.randn(2, 5, 24, generator=torch.Generator().manual_seed(0))
    N, M = (torchs_norm(getattr(sublayer, name, norms[name])) for name in norms)
    for other in set(PLACEMENTS) - {placement}:
        wrong = FORMULAS[other](x, sublayer.f, N, M, 6**0.25)
        assert (sublayer(x) - wrong).abs().max() > 0.1


@torch.no_grad()
def test_attention_is_its_formula():
    attention = decoder().blocks[0].attention.f
    x = torch.randn(2, 5, 24, generator=torch.Generator().manual_seed(0))
    q, k, v = (x @ w.T + b for w, b in zip(attention.qkv.weight.chunk(3), attention.qkv.bias.chunk(3), strict=True))
    heads = []
    for part in range(4):
        here = slice(6 * part, 6 * part + 6)
        scores = q[..., here] @ k[..., here].mT / 6**0.5
        scores = scores.masked_fill(torch.ones(5, 5).triu(1).bool(), float("-inf"))
        heads.append(scores.softmax(-1) @ v[..., here])
    torch.testing.assert_close(attention(x), attention.out(torch.cat(heads, -1)), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("placement", PLACEMENTS)
@torch.no_grad()
def test_sublayers_that_write_nothing_leave_a_clean_path_or_the_norm(placement, norm):
    model = decoder(placement, norm)
    for name, parameter in model.named_parameters():
        if ".f.out." in name or ".f.down." in name or name.endswith("beta"):
            parameter.zero_()
    x = torch.randn(2, 5, 24, generator=torch.Generator().manual_seed(0))
    block = model.blocks[0]
    if placement in ("post", "deepnorm"):
        alpha = (2 * model.config.layers) ** 0.25 if placement == "deepnorm" else 1
        # the norm does not see the scale α, but for ε
        first = torchs_norm(block.attention.norm)(alpha * x)
        expected = torchs_norm(block.mlp.norm)(alpha * first)
        torch.testing.assert_close(block(x), expected)
        assert (block(x) - x).abs().max() > 0.1
    else:
        assert torch.equal(block(x), x)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("placement", PLACEMENTS)
@torch.no_grad()
def test_a_later_token_never_moves_an_earlier_one(placement, norm):
    model, tokens = decoder(placement, norm), ids()
    before = model(tokens)
    for position in range(tokens.shape[-1]):
        changed = tokens.clone()
        changed[:, position] = (changed[:, position] + 1) % SMALL["vocab_size"]
        after = model(changed)
        assert torch.equal(after[:, :position], before[:, :position])
        moved = (after - before)[:, position:].abs().amax((0, 2))
        assert (moved > 1e-4).all()  # and every token from there on reads it


@pytest.mark.parametrize("placement", PLACEMENTS)
@torch.no_grad()
def test_a_shorter_input_and_another_batch_give_the_same_logits(placement):
    model, tokens = decoder(placement), ids(3)
    whole = model(tokens)
    for length in (1, 2, 8):
        torch.testing.assert_close(model(tokens[:1, :length]), whole[:1, :length], rtol=1e-4, atol=1e-4)


def test_the_norms_sit_where_the_placement_says():
    expected = {"pre": 7, "post": 6, "sandwich": 13, "deepnorm": 6, "output": 7, "none": 0}
    assert set(expected) == set(PLACEMENTS)
    for norm, kind in NORMS.items():
        for placement, count in expected.items():
            modules = Decoder(Config(**SMALL, placement=placement, norm=norm)).modules()
            assert sum(isinstance(module, kind) for module in modules) == count


@torch.no_grad()
def test_deepnorm_scales_the_skip_path_by_alpha():
    x = torch.randn(1, 5, 24, generator=torch.Generator().manual_seed(0))
    for placement, layers, alpha in (("deepnorm", 12, 2.213), ("deepnorm", 48, 96**0.25), ("post", 12, 1)):
        sublayer = Sublayer(torch.nn.Identity(), Config(**SMALL | {"layers": layers}, placement=placement))
        sublayer.norm = torch.nn.Identity()
        torch.testing.assert_close(sublayer(x), (alpha + 1) * x, rtol=2e-4, atol=0)


@torch.no_grad()
def test_deepnorm_keeps_more_of_its_input_than_post_norm():
    x = torch.randn(1, 1000, 24, generator=torch.Generator().manual_seed(0))
    x -= x.mean(-1, keepdim=True)
    cosines = {}
    for placement in ("deepnorm", "post"):
        sublayer = Sublayer(torch.nn.Linear(24, 24), Config(**SMALL | {"layers": 12}, placement=placement))
        sublayer.f.weight.copy_(torch.eye(24).roll(1, 0))
        sublayer.f.bias.zero_()
        cosines[placement] = F.cosine_similarity(sublayer(x), x, dim=-1).mean().item()
    # f moves every feature by one, so it keeps the length and forgets x: α / √(α² + 1) = 0.911 and 1 / √2 = 0.707
    assert cosines == {"deepnorm": pytest.approx(0.911, abs=0.03), "post": pytest.approx(0.707, abs=0.03)}


def test_gpt2_small_has_124439808_parameters_of_which_38400_are_in_norms():
    with torch.device("meta"):
        parameters = dict(Decoder(Config(**GPT2_SMALL)).named_parameters())
        halved = dict(Decoder(Config(**GPT2_SMALL, norm="rmsnorm")).named_parameters())

    def in_norms(found):
        return sum(p.numel() for name, p in found.items() if name.endswith(("gamma", "beta")))

    assert sum(p.numel() for p in parameters.values()) == 124_439_808
    assert in_norms(parameters) == 38_400
    assert in_norms(halved) == 19_200


@pytest.mark.slow
@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("trained", PLACEMENTS)
@torch.no_grad()
def test_a_rewired_decoder_has_the_same_weights_in_another_placement(trained, placement):
    original = decoder(trained)
    before, logits = {name: p.clone() for name, p in original.state_dict().items()}, original(ids())
    other = original.rewired(placement)
    shared, own = dict(original.named_parameters()), dict(other.named_parameters())
    for name, parameter in own.items():
        if name in shared:
            assert parameter.data_ptr() == shared[name].data_ptr()
        else:
            assert torch.equal(parameter, torch.full_like(parameter, 1.0 if name.endswith("gamma") else 0.0))
    assert other.config == Config(**SMALL, placement=placement)
    assert not other.training and not any(p.is_meta for p in other.parameters())
    # the reference: a new decoder into which the weights are copied
    copied = Decoder(other.config).eval()
    copied.load_state_dict(other.state_dict())
    assert torch.equal(other(ids()), copied(ids()))
    assert original.config.placement == trained and torch.equal(original(ids()), logits)
    assert all(torch.equal(p, before[name]) for name, p in original.state_dict().items())
    assert torch.equal(other(ids()), logits) == (placement == trained)


def test_a_change_of_the_original_shows_in_the_rewired_decoder():
    original = decoder()
    other = original.rewired("post")
    with torch.no_grad():
        original.token_embedding.weight.zero_()
    assert other.token_embedding.weight.abs().sum() == 0


def test_a_rewired_decoder_keeps_dtype_and_mode():
    original = decoder("none").double().train()
    other = original.rewired("sandwich")
    assert {p.dtype for p in other.parameters()} == {torch.float64}
    assert other.training


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_every_parameter_learns(placement):
    model = decoder(placement)
    F.cross_entropy(model(ids()).flatten(0, 1), ids(seed=2).flatten()).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and parameter.grad.abs().sum() > 0, name


@pytest.mark.parametrize("wrong", ("middle", "Pre", ["pre"], None), ids=str)
def test_an_unknown_placement_or_norm_is_refused_with_the_list_of_known_ones(wrong):
    with pytest.raises(ValueError, match="not a placement. Choose one of: pre, post, sandwich"):
        Config(**SMALL, placement=wrong)
    with pytest.raises(ValueError, match="not a placement. Choose one of: pre, post, sandwich"):
        decoder().rewired(wrong)
    with pytest.raises(ValueError, match="not a norm. Choose one of: layernorm, rmsnorm"):
        Config(**SMALL, norm=wrong)


@pytest.mark.parametrize("size", ("vocab_size", "positions", "width", "layers", "heads"))
@pytest.mark.parametrize("wrong", (0, -1, 2.0, "2", True, None), ids=str)
def test_sizes_are_whole_numbers_from_1_on(size, wrong):
    with pytest.raises(ValueError, match=f"{size} is a whole number, at least 1"):
        Config(**SMALL | {size: wrong})


WRONG_IDS = {
    "without a batch": (torch.tensor([1, 2, 3]), r"shape \(B, T\)\. It got: \(3,\), torch.int64"),
    "three dimensions": (torch.ones(1, 1, 1, dtype=torch.long), r"shape \(B, T\)"),
    "fractions": (torch.ones(1, 2), "whole numbers"),
    "bool": (torch.ones(1, 2, dtype=torch.bool), "whole numbers"),
    "beyond the vocabulary": (torch.tensor([[1, 50]]), "no token 50: the ids go from 0 to 49"),
    "negative": (torch.tensor([[-1, 1]]), "no token -1"),
    "too many": (torch.ones(1, 13, dtype=torch.long), "13 tokens, but this model reads at most 12"),
}


@pytest.mark.parametrize("what", WRONG_IDS)
def test_ids_that_the_decoder_cannot_read_are_refused(what):
    wrong, phrase = WRONG_IDS[what]
    with pytest.raises(ValueError, match=phrase):
        decoder()(wrong)


def test_as_many_tokens_as_positions_are_read_and_one_position_is_not_spread_over_many():
    assert decoder()(ids(tokens=12)).shape == (2, 12, 50)
    with pytest.raises(ValueError, match="at most 1"):
        decoder(positions=1)(ids(tokens=2))


def test_a_width_that_the_heads_cannot_share_is_refused():
    with pytest.raises(ValueError, match="24 is not a multiple of 5"):
        Config(**SMALL | {"heads": 5})


@pytest.mark.parametrize("ids", [[[1, 2]], None, "ab"])
def test_ids_that_are_no_tensor_get_a_sentence(ids):
    with pytest.raises(ValueError, match=f"object of the type {type(ids).__name__}"):
        Decoder(Config(4, 4, 4, 1, 1))(ids)
