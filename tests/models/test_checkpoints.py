"""The decoder computes what transformers' GPT-2 and GPT-1 compute, at every point, on any weights."""

import random

import pytest
import torch
import transformers

from helpers.decoder import Config, Decoder
from helpers.models import transformers_weights
from helpers.trace import trace

ARCHITECTURES = {
    "gpt2": (transformers.GPT2Config, transformers.GPT2LMHeadModel),
    "openai-gpt": (transformers.OpenAIGPTConfig, transformers.OpenAIGPTLMHeadModel),
}
FULL_SIZE = {"gpt2": (50257, 1024), "openai-gpt": (40478, 512)}  # vocabulary, positions; both 12 × 768, 12 heads
LIMITS = {torch.float32: 1e-4, torch.float64: 1e-10}


def build(kind, seed, std=None, **shape):
    """Return transformers' own model with random weights; no gain is 1 and no bias 0."""
    make_config, architecture = ARCHITECTURES[kind]
    torch.manual_seed(seed)
    model = architecture(make_config(**shape, bos_token_id=0, eos_token_id=0)).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "ln_" in name and name.endswith("weight"):
                parameter.normal_(1.0, 0.3)
            elif name.endswith("bias"):
                parameter.normal_(0.0, 0.2)
            elif std is not None:
                parameter.normal_(0.0, std)
    return model


def load(model):
    """Return the decoder that holds the weights of transformers' model, as read from a checkpoint."""
    return transformers_weights.decoder_from_transformers(model.state_dict(), model.config.to_dict())


@torch.no_grad()
def largest_difference(decoder, model, ids):
    """Return the largest absolute difference over the logits and all hidden states."""
    raw = []
    handle = model.transformer.h[-1].register_forward_hook(
        lambda _, __, output: raw.append(output if torch.is_tensor(output) else output[0])
    )
    theirs = model(ids, output_hidden_states=True)
    handle.remove()
    ours = trace(decoder, ids)
    last = ours.stream[-1] if ours.final is None else ours.final  # transformers' last entry is behind the final norm
    pairs = [
        *zip([*ours.after_blocks()[:-1], last], theirs.hidden_states, strict=True),
        (ours.stream[-1], raw[0]),
        (decoder(ids), theirs.logits),
    ]
    assert all(a.dtype == b.dtype and a.shape == b.shape for a, b in pairs)
    return max((a - b).abs().max().item() for a, b in pairs)


def small_shapes(count=12):
    """Return `count` random shapes, each with a seed and (batch, tokens)."""
    draw, found = random.Random(0), []
    for seed in range(count):
        heads, positions = draw.choice((1, 2, 3, 4)), draw.choice((1, 2, 8, 40))
        shape = {
            "vocab_size": draw.choice((2, 17, 100)),
            "n_positions": positions,
            "n_embd": heads * draw.choice((2, 5, 8)),
            "n_layer": draw.choice((1, 2, 5)),
            "n_head": heads,
            "layer_norm_epsilon": draw.choice((1e-5, 1e-3)),
        }
        found.append((seed, shape, (draw.choice((1, 3)), draw.randint(1, positions))))
    return found


@pytest.mark.parametrize(("seed", "shape", "size"), small_shapes(), ids=lambda value: str(value)[:40])
@pytest.mark.parametrize("kind", ARCHITECTURES)
def test_small_models_agree_at_every_point(kind, seed, shape, size):
    model = build(kind, seed, std=0.3, **shape)
    ids = torch.randint(shape["vocab_size"], size)
    for dtype, limit in LIMITS.items():
        model.to(dtype)
        assert largest_difference(load(model), model, ids) <= limit


@pytest.mark.slow
@pytest.mark.parametrize("kind", ARCHITECTURES)
def test_models_of_full_size_agree_at_every_point(kind):
    vocabulary, positions = FULL_SIZE[kind]
    model = build(kind, 0, vocab_size=vocabulary, n_positions=positions)
    ids = torch.randint(vocabulary, (1, 32))
    for dtype, limit in LIMITS.items():
        model.to(dtype)
        decoder = load(model)
        assert (decoder.config.layers, decoder.config.width, decoder.config.heads) == (12, 768, 12)
        difference = largest_difference(decoder, model, ids)
        print(f"{kind} {dtype}: {difference:.1e}")
        assert difference <= limit
    back = transformers_weights.to_transformers(decoder)
    assert [p.data_ptr() for p in back.parameters()] == [p.data_ptr() for p in model.parameters()]


def places(module):
    """Return where in memory each tensor of a module is."""
    return {name: tensor.data_ptr() for name, tensor in module.state_dict().items()}


@pytest.mark.parametrize("kind", ARCHITECTURES)
def test_loading_and_the_way_back_share_the_memory(kind):
    shape = {"vocab_size": 100, "n_positions": 16, "n_embd": 24, "n_layer": 3, "n_head": 4}
    model = build(kind, 1, std=0.3, **shape)
    ids = torch.randint(100, (2, 9))
    for dtype in LIMITS:
        model.to(dtype)
        decoder = load(model)
        back = transformers_weights.to_transformers(decoder)
        assert type(back) is type(model) and not back.training
        assert places(back) == places(model)
        assert set(places(decoder).values()) == set(places(model).values())
        with torch.no_grad():
            assert torch.equal(back(ids).logits, model(ids).logits)


def test_a_decoder_of_our_own_goes_to_transformers_and_comes_back():
    for placement in ("pre", "post"):
        config = Config(vocab_size=30, positions=10, width=16, layers=2, heads=2, placement=placement, eps=1e-3)
        torch.manual_seed(0)
        decoder = Decoder(config).eval()
        model = transformers_weights.to_transformers(decoder)
        assert largest_difference(decoder, model, torch.randint(30, (2, 10))) <= 1e-4
        again = load(model)
        assert again.config == config
        assert all(torch.equal(p, again.state_dict()[name]) for name, p in decoder.state_dict().items())


@pytest.mark.parametrize(
    ("placement", "norm"),
    [("pre", "rmsnorm"), ("post", "rmsnorm"), ("sandwich", "layernorm"), ("deepnorm", "layernorm")],
)
def test_what_transformers_cannot_hold_is_refused(placement, norm):
    config = Config(vocab_size=30, positions=10, width=16, layers=1, heads=2, placement=placement, norm=norm)
    with pytest.raises(ValueError, match="LayerNorm decoders, pre-norm and post-norm"):
        transformers_weights.to_transformers(Decoder(config))


SHAPE = {"vocab_size": 20, "n_positions": 8, "n_embd": 8, "n_layer": 1, "n_head": 2}


@pytest.mark.parametrize("kind", ARCHITECTURES)
def test_names_with_and_without_the_prefix_are_read(kind):
    model = build(kind, 0, **SHAPE)
    ids = torch.randint(20, (1, 8))
    bare = transformers_weights.decoder_from_transformers(model.transformer.state_dict(), model.config.to_dict())
    assert torch.equal(bare(ids), load(model)(ids))


def test_the_settings_that_config_json_really_has_are_enough():
    # GPT-2's and GPT-1's config.json are older than many settings of today
    for kind, activation in (("gpt2", {"activation_function": "gelu_new"}), ("openai-gpt", {"afn": "gelu"})):
        settings = SHAPE | activation | {"model_type": kind, "layer_norm_epsilon": 1e-5}
        model = build(kind, 0, **SHAPE)
        decoder = transformers_weights.decoder_from_transformers(model.state_dict(), settings)
        assert largest_difference(decoder, model, torch.randint(20, (1, 8))) <= 1e-4


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("gpt2", {"model_type": "llama"}),
        ("gpt2", {"activation_function": "relu"}),
        ("gpt2", {"activation_function": "gelu"}),  # the erf form
        ("gpt2", {"scale_attn_weights": False}),
        ("gpt2", {"scale_attn_by_inverse_layer_idx": True}),
        ("gpt2", {"tie_word_embeddings": False}),
        ("openai-gpt", {"afn": "silu"}),
        ("gpt2", {"n_embd": 16}),
        ("gpt2", {"n_layer": 2}),
        ("gpt2", {"vocab_size": 21}),
    ],
    ids=str,
)
def test_a_checkpoint_that_does_not_fit_is_refused(kind, changes):
    model = build(kind, 0, **SHAPE)
    load(model)
    with pytest.raises(ValueError):
        transformers_weights.decoder_from_transformers(model.state_dict(), model.config.to_dict() | changes)


def checkpoint(kind="gpt2", layers=1):
    """Return (tensors, settings) of a small random checkpoint, without the prefix."""
    model = build(kind, 0, **SHAPE | {"n_layer": layers})
    return dict(model.transformer.state_dict()), model.config.to_dict()


@pytest.mark.parametrize("kind", ARCHITECTURES)
def test_a_file_with_more_or_fewer_blocks_than_the_config_says_is_refused(kind):
    """A third block was ignored, and the logits were off by 0.74."""
    tensors, settings = checkpoint(kind, layers=3)
    for layers in (2, 4):
        with pytest.raises(ValueError, match=f"holds 3 blocks, but config.json says n_layer = {layers}"):
            transformers_weights.decoder_from_transformers(tensors, settings | {"n_layer": layers})


@pytest.mark.parametrize("kind", ARCHITECTURES)
def test_a_missing_tensor_is_named(kind):
    tensors, settings = checkpoint(kind)
    for name in tensors:
        fewer = {other: tensor for other, tensor in tensors.items() if other != name}
        with pytest.raises(ValueError, match=rf"{name} is missing"):
            transformers_weights.decoder_from_transformers(fewer, settings)


@pytest.mark.parametrize("name", ("score.weight", "h.0.crossattention.c_attn.weight", "h.0.attn.c_attn.weight_scale"))
def test_a_tensor_too_many_is_named(name):
    tensors, settings = checkpoint()
    with pytest.raises(ValueError, match=f"no place for the tensor {name}"):
        transformers_weights.decoder_from_transformers(tensors | {name: torch.ones(1)}, settings)


def test_a_final_norm_in_a_post_norm_file_is_named():
    tensors, settings = checkpoint("openai-gpt")
    with pytest.raises(ValueError, match=r"no place for the tensor ln_f\.weight"):
        transformers_weights.decoder_from_transformers(tensors | {"ln_f.weight": torch.ones(8)}, settings)


def test_masks_and_a_tied_output_matrix_are_not_too_many():
    tensors, settings = checkpoint()
    mask = torch.ones(8, 8).tril().bool()[None, None]
    old = tensors | {"h.0.attn.bias": mask, "h.0.attn.masked_bias": torch.tensor(-1e4)}
    old["lm_head.weight"] = tensors["wte.weight"].clone()
    ids = torch.randint(20, (1, 8))
    expected = transformers_weights.decoder_from_transformers(tensors, settings)(ids)
    assert torch.equal(transformers_weights.decoder_from_transformers(old, settings)(ids), expected)


def test_an_output_matrix_of_its_own_is_refused():
    tensors, settings = checkpoint()
    with pytest.raises(ValueError, match="lm_head.weight differs from the token embedding"):
        transformers_weights.decoder_from_transformers(
            tensors | {"lm_head.weight": tensors["wte.weight"] + 1}, settings
        )


def test_a_tensor_with_and_without_the_prefix_is_refused():
    tensors, settings = checkpoint()
    twice = tensors | {"transformer.wte.weight": tensors["wte.weight"] + 1}
    with pytest.raises(ValueError, match="wte.weight is there twice"):
        transformers_weights.decoder_from_transformers(twice, settings)


@pytest.mark.parametrize("dtype", (torch.int8, torch.int64, torch.bool), ids=str)
def test_tensors_of_whole_numbers_are_refused(dtype):
    for name in ("wte.weight", "h.0.mlp.c_fc.weight", "ln_f.bias"):
        tensors, settings = checkpoint()
        tensors[name] = tensors[name].to(dtype)
        with pytest.raises(ValueError, match=f"{name} holds {dtype}; weights are floating-point"):
            transformers_weights.decoder_from_transformers(tensors, settings)


def test_a_tensor_of_another_shape_is_named_with_both_shapes():
    tensors, settings = checkpoint()
    for name, wrong, right in (
        ("h.0.mlp.c_fc.weight", (32, 8), r"\(8, 32\)"),
        ("h.0.mlp.c_fc.weight", (32,), r"\(8, 32\)"),
        ("ln_f.weight", (1, 8), r"\(8,\)"),
    ):
        with pytest.raises(ValueError, match=f"{name} has the shape .* should be {right}"):
            transformers_weights.decoder_from_transformers(tensors | {name: torch.ones(wrong)}, settings)


@pytest.mark.parametrize("field", ("vocab_size", "n_positions", "n_embd", "n_layer", "n_head", "layer_norm_epsilon"))
def test_a_field_of_the_config_that_is_missing_or_no_number_is_named(field):
    tensors, settings = checkpoint()
    rest = {name: value for name, value in settings.items() if name != field}
    with pytest.raises(ValueError, match=f"no field {field}"):
        transformers_weights.decoder_from_transformers(tensors, rest)
    for wrong in ("8", None, [8], -1, 8.5, True):
        with pytest.raises(ValueError, match=f"{field} in config.json should be a"):
            transformers_weights.decoder_from_transformers(tensors, rest | {field: wrong})


def test_a_config_that_is_no_object_or_names_no_type_is_refused():
    tensors, settings = checkpoint()
    with pytest.raises(ValueError, match="not a list"):
        transformers_weights.decoder_from_transformers(tensors, [settings])
    for kind in (None, ["gpt2"], "llama"):
        with pytest.raises(ValueError, match="reads: gpt2, openai-gpt"):
            transformers_weights.decoder_from_transformers(tensors, settings | {"model_type": kind})


@pytest.mark.parametrize("part", ("h.0.ln_1.weight", "h.0.ln_2.bias", "h.0.attn.c_attn.bias", "h.0.mlp.c_fc.weight"))
def test_the_comparison_sees_a_single_wrong_weight(part):
    for kind in ARCHITECTURES:
        model = build(kind, 0, std=0.3, **SHAPE)
        ids = torch.randint(20, (1, 8))
        decoder = load(model)
        assert largest_difference(decoder, model, ids) <= 1e-4
        tensors = {name: tensor.clone() for name, tensor in model.state_dict().items()}
        tensors[f"transformer.{part}"].view(-1)[-1] += 0.5
        wrong = transformers_weights.decoder_from_transformers(tensors, model.config.to_dict())
        assert largest_difference(wrong, model, ids) > 1e-3
