"""The trace sees the stream where it really is: in our decoder, in transformers' models, and in nothing else."""

import types

import pytest
import torch
import torch.nn.functional as F
import transformers
from torch import nn

from helpers.decoder import PLACEMENTS, Block, Config, Decoder, Sublayer
from helpers.trace import Trace, UnknownDecoder, trace

LAYERS, WIDTH = 3, 16
GPT = {"vocab_size": 40, "n_positions": 20, "n_embd": WIDTH, "n_layer": LAYERS, "n_head": 2}
LLAMA = {
    "vocab_size": 40,
    "hidden_size": WIDTH,
    "intermediate_size": 24,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 8,
    "max_position_embeddings": 20,
    "pad_token_id": 0,
}
EXPERTS = {"num_experts": 4, "num_local_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 8}
FAMILIES = {
    "gpt2": GPT,
    "openai-gpt": GPT,
    "llama": LLAMA,
    "mistral": LLAMA,
    "qwen2": LLAMA,
    "qwen3": LLAMA,
    "gemma": LLAMA,
    "gemma2": LLAMA,
    "gemma3_text": LLAMA,
    "glm4": LLAMA,
    "olmo2": LLAMA,
    "olmo3": LLAMA,
    "phi3": LLAMA,
    "mixtral": LLAMA | EXPERTS,
    "qwen3_moe": LLAMA | EXPERTS,
}


def build(kind, settings=None, factory=transformers.AutoModelForCausalLM):
    """Return a small random model of transformers in eval mode; no weight of it is 0 or 1."""
    torch.manual_seed(0)
    model = factory.from_config(transformers.AutoConfig.for_model(kind, **(settings or FAMILIES[kind])))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0.0, 0.3)
    return model.eval()


def decoder(placement="pre", norm="layernorm", layers=LAYERS):
    torch.manual_seed(0)
    model = Decoder(Config(40, 20, WIDTH, layers, 2, placement, norm))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0.5, 0.3)
    return model.eval()


def some_ids(*size):
    return torch.randint(40, size or (2, 7), generator=torch.Generator().manual_seed(1))


def assert_close(actual, expected):
    torch.testing.assert_close(actual, expected, rtol=1e-5, atol=1e-5 * expected.abs().max().item())


def hooks_of(model):
    """Return how many hooks a model carries, as its modules say when they are copied."""
    states = [module.__getstate__() for module in model.modules()]
    return sum(len(state["_forward_hooks"]) + len(state["_forward_pre_hooks"]) for state in states)


@torch.no_grad()
def assert_right(model, ids):
    """Assert that the stream is what enters and leaves the blocks, and that writes add up to it; return the trace."""
    result = trace(model, ids)
    body = model.base_model
    seen = []
    hooks = [body.layers[0].register_forward_pre_hook(lambda _, args: seen.append(args[0]))]
    for block in body.layers:
        hooks.append(block.register_forward_hook(lambda _, __, output: seen.append(output)))
    model(ids)
    for hook in hooks:
        hook.remove()
    assert all(torch.equal(a, b) for a, b in zip(result.after_blocks(), seen, strict=True))
    for index, write in enumerate(result.writes):
        assert torch.equal(result.stream[index] + write, result.stream[index + 1])
        assert write.abs().max() > 1e-3
    return result


def test_twelve_blocks_give_25_points_in_order():
    result = trace(decoder(layers=12), some_ids())
    assert result.points[:4] == [("embedding", 0), ("attention", 1), ("mlp", 1), ("attention", 2)]
    assert result.points[-1] == ("mlp", 12)
    assert len(result.points) == len(set(result.points)) == len(result.stream) == 25
    assert len(result.writes) == 24 and len(result.after_blocks()) == 13


@pytest.mark.parametrize("kind", FAMILIES)
@torch.no_grad()
def test_the_stream_is_what_transformers_calls_hidden_states(kind):
    model = build(kind)
    theirs = model(some_ids(), output_hidden_states=True).hidden_states
    result = trace(model, some_ids())
    ours = result.after_blocks()
    assert len(theirs) == len(ours) == LAYERS + 1
    for mine, other in zip(ours[:-1], theirs[:-1], strict=True):
        assert_close(mine, other)
    if kind == "openai-gpt":
        assert result.final is None
        assert_close(ours[-1], theirs[-1])
    else:
        assert_close(result.final, theirs[-1])
        # what transformers lists last has been normalised; the trace's last point has not
        assert (result.stream[-1] - result.final).abs().max() > 0.1
        final_norm = getattr(model.base_model, "norm", None) or model.base_model.ln_f
        assert_close(final_norm(result.stream[-1]), result.final)


@pytest.mark.parametrize("kind", FAMILIES)
@torch.no_grad()
def test_the_stream_plus_what_is_written_is_the_next_point(kind):
    model = build(kind)
    result = trace(model, some_ids())
    assert len(result.writes) == 2 * LAYERS
    for index, ((part, number), write) in enumerate(zip(result.points[1:], result.writes, strict=True)):
        expected = result.stream[index] + write
        if kind == "openai-gpt":
            block = model.transformer.h[number - 1]
            expected = (block.ln_1 if part == "attention" else block.ln_2)(expected)
        assert_close(result.stream[index + 1], expected)
        assert write.abs().max() > 1e-3  # a write of nothing would add up as well


@torch.no_grad()
def test_llamas_sublayers_write_what_a_second_computation_gives():
    # adding up would not notice if two sublayers' parts were exchanged along with their points
    model = build("llama")
    result = trace(model, some_ids())
    for number, block in enumerate(model.model.layers):
        stream_before_mlp = result.stream[2 * number + 1]
        assert_close(result.writes[2 * number + 1], block.mlp(block.post_attention_layernorm(stream_before_mlp)))


@torch.no_grad()
def test_both_sided_norms_count_to_what_is_written():
    for kind, after_mlp, before_mlp in (
        ("gemma2", "post_feedforward_layernorm", "pre_feedforward_layernorm"),
        ("glm4", "post_mlp_layernorm", "post_attention_layernorm"),
        ("olmo2", "post_feedforward_layernorm", None),
    ):
        model = build(kind)
        result = trace(model, some_ids())
        for number, block in enumerate(model.model.layers):
            x = result.stream[2 * number + 1]
            x = x if before_mlp is None else getattr(block, before_mlp)(x)
            assert_close(result.writes[2 * number + 1], getattr(block, after_mlp)(block.mlp(x)))


def by_hand(model, ids):
    """Return (stream, writes) of our decoder, computed without its forward methods."""
    x = model.token_embedding.weight[ids] + model.position_embedding.weight[torch.arange(ids.shape[-1])]
    stream, writes = [x], []
    for block in model.blocks:
        for part in (block.attention, block.mlp):
            match model.config.placement:
                case "pre":
                    write = part.f(part.norm(x))
                    x = x + write
                case "post":
                    write = part.f(x)
                    x = part.norm(x + write)
                case "sandwich":
                    write = part.norm_after(part.f(part.norm(x)))
                    x = x + write
                case "deepnorm":
                    write = part.f(x)
                    x = part.norm((2 * LAYERS) ** 0.25 * x + write)
                case "output":
                    write = part.norm(part.f(x))
                    x = x + write
                case "none":
                    write = part.f(x)
                    x = x + write
            stream.append(x)
            writes.append(write)
    return stream, writes


@pytest.mark.parametrize("norm", ("layernorm", "rmsnorm"))
@pytest.mark.parametrize("placement", PLACEMENTS)
@torch.no_grad()
def test_our_decoders_trace_is_the_computation_by_hand(placement, norm):
    model = decoder(placement, norm)
    result = trace(model, some_ids())
    stream, writes = by_hand(model, some_ids())
    for mine, expected in zip(result.stream + result.writes, stream + writes, strict=True):
        assert_close(mine, expected)
    assert (result.final is None) == (placement in ("post", "deepnorm", "none"))
    if result.final is not None:
        assert torch.equal(result.final, model.hidden(some_ids()))
        assert (result.stream[-1] - result.final).abs().max() > 0.1
    else:
        assert torch.equal(result.stream[-1], model.hidden(some_ids()))


@torch.no_grad()
def test_lengths_are_l2_norms_over_the_features():
    result = trace(decoder(), some_ids())
    assert result.lengths().shape == (2 * LAYERS + 1, 2, 7) and result.write_lengths().shape == (2 * LAYERS, 2, 7)
    for lengths, vectors in ((result.lengths(), result.stream), (result.write_lengths(), result.writes)):
        expected = torch.stack(vectors).double().square().sum(-1).sqrt().float()
        torch.testing.assert_close(lengths, expected)


@pytest.mark.parametrize("kind", ("ours", "gpt2", "openai-gpt", "gemma3_text"))
def test_one_sequence_and_a_batch_of_it_give_the_same(kind):
    model = decoder("sandwich") if kind == "ours" else build(kind)
    ids = some_ids()
    batch, single = trace(model, ids), trace(model, ids[1])
    assert single.stream[-1].shape == (7, WIDTH) and single.lengths().shape == (2 * LAYERS + 1, 7)
    assert single.points == batch.points
    for one, many in zip(single.stream + single.writes, batch.stream + batch.writes, strict=True):
        assert_close(one, many[1])
    assert (single.final is None) == (batch.final is None)
    if single.final is not None:
        assert_close(single.final, batch.final[1])
    assert trace(model, ids[1, :1]).stream[-1].shape == (1, WIDTH)  # a single token, too


def test_the_body_of_a_model_is_traced_like_the_model():
    model = build("gpt2")
    whole, body = trace(model, some_ids()), trace(model.transformer, some_ids())
    assert all(torch.equal(a, b) for a, b in zip(whole.stream, body.stream, strict=True))


@pytest.mark.parametrize("kind", ["ours", *FAMILIES])
def test_tracing_leaves_the_model_as_it_was_and_keeps_no_graph(kind):
    model = decoder() if kind == "ours" else build(kind)

    def run():
        return model(some_ids()) if kind == "ours" else model(some_ids()).logits

    before = run()
    hooks = hooks_of(model)
    result = trace(model, some_ids())
    assert hooks_of(model) == hooks
    assert torch.equal(run(), before)
    assert not any(x.requires_grad for x in result.stream + result.writes)


def test_hooks_are_removed_when_the_forward_raises():
    class Broken(nn.Module):
        def forward(self, x):
            raise ZeroDivisionError

    ours = decoder()
    ours.blocks[1].mlp.f = Broken()
    theirs = build("gpt2")
    theirs.transformer.h[1].mlp = Broken()
    for model in (ours, theirs):
        with pytest.raises(ZeroDivisionError):
            trace(model, some_ids())
        assert hooks_of(model) == 0


class TupleAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.value = nn.Linear(WIDTH, WIDTH)

    def forward(self, x, attention_mask=None):
        mixed = self.value(x).cumsum(1) / torch.arange(1, x.shape[1] + 1)[:, None]
        return mixed, None


class TupleBlock(nn.Module):
    """A block as in transformers 4: called by keyword, and answering with a tuple."""

    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attn, self.mlp = TupleAttention(), nn.Linear(WIDTH, WIDTH)

    def forward(self, hidden_states=None, attention_mask=None, use_cache=None):
        hidden_states = hidden_states + self.attn(self.ln_1(hidden_states), attention_mask=attention_mask)[0]
        return (hidden_states + self.mlp(self.ln_2(hidden_states)), None)


class TupleModel(nn.Module):
    def __init__(self, by_keyword):
        super().__init__()
        self.by_keyword = by_keyword
        self.wte, self.ln_f = nn.Embedding(40, WIDTH), nn.LayerNorm(WIDTH)
        self.h = nn.ModuleList(TupleBlock() for _ in range(LAYERS))

    def forward(self, input_ids, use_cache=True):
        states = [self.wte(input_ids)]
        for block in self.h:
            x = states[-1]
            states.append((block(hidden_states=x) if self.by_keyword else block(x, None))[0])
        self.states = states
        return (self.ln_f(states[-1]),)


@pytest.mark.parametrize("by_keyword", (False, True))
def test_blocks_that_return_tuples_are_read_as_well(by_keyword):
    torch.manual_seed(0)
    model = TupleModel(by_keyword).eval()
    result = trace(model, some_ids())
    assert all(torch.equal(a, b) for a, b in zip(result.after_blocks(), model.states, strict=True))
    for index, write in enumerate(result.writes):
        assert_close(result.stream[index + 1], result.stream[index] + write)
    assert torch.equal(result.final, model.ln_f(model.states[-1]))


def test_gpt2_itself_with_blocks_that_return_tuples(monkeypatch):
    # as if transformers were of version 4: the block answers with a tuple, and the model takes its first entry
    model = build("gpt2")
    expected = trace(model, some_ids())
    block = type(model.transformer.h[0])
    forward = block.forward
    monkeypatch.setattr(block, "forward", lambda self, *args, **kwargs: (forward(self, *args, **kwargs),))
    monkeypatch.setattr(block, "__call__", lambda self, *a, **k: nn.Module.__call__(self, *a, **k)[0])
    result = trace(model, some_ids())
    assert all(torch.equal(a, b) for a, b in zip(result.stream, expected.stream, strict=True))


# What is refused, each with a sentence that says what is the case


SEQUENTIAL_GPT_NEOX = LLAMA | {"use_parallel_residual": False}
FALCON = {"vocab_size": 40, "hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 2}
PARALLEL = {
    "gpt_neox": LLAMA,
    "gptj": GPT | {"rotary_dim": 4},
    "codegen": GPT | {"rotary_dim": 4, "n_head": 4},
    "phi": LLAMA | {"num_key_value_heads": 2},
    "cohere": LLAMA,
    "cohere2": LLAMA,
    "falcon": FALCON,
    "stablelm": LLAMA | {"use_parallel_residual": True, "partial_rotary_factor": 0.5},
}


@pytest.mark.parametrize("kind", PARALLEL)
def test_parallel_sublayers_are_called_parallel(kind):
    """It was said that a name is not known."""
    with pytest.raises(UnknownDecoder, match="in parallel: both read the same"):
        trace(build(kind, PARALLEL[kind]), some_ids())


def test_falcon_with_two_norms_is_parallel_as_well():
    model = build("falcon", FALCON | {"new_decoder_architecture": True, "num_kv_heads": 1})
    with pytest.raises(UnknownDecoder, match="in parallel"):
        trace(model, some_ids())


def test_parallel_sublayers_behind_familiar_names_are_found_out():
    # the names are GPT-2's, but the MLP reads the input of the block
    class Parallel(TupleBlock):
        def forward(self, x, *_):
            return (x + self.attn(self.ln_1(x))[0] + self.mlp(self.ln_2(x)),)

    torch.manual_seed(0)
    model = TupleModel(by_keyword=False)
    model.h = nn.ModuleList(Parallel() for _ in range(2))
    with pytest.raises(UnknownDecoder, match="in parallel"):
        trace(model, some_ids())
    assert hooks_of(model) == 0


def test_the_same_blocks_one_after_the_other_are_traced():
    model = build("gpt_neox", SEQUENTIAL_GPT_NEOX)
    assert_right(model, some_ids())


SCALED = {
    "granite": LLAMA | {"residual_multiplier": 0.22, "embedding_multiplier": 12},
    "minicpm3": LLAMA
    | {"q_lora_rank": 8, "kv_lora_rank": 8, "qk_nope_head_dim": 4, "qk_rope_head_dim": 4, "v_head_dim": 8}
    | {"num_key_value_heads": 2},
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dtype", "embedding"),
    [
        *((dtype, size) for dtype in (torch.float32, torch.float64) for size in (0.02, 0.3, 300.0, 22_712.0)),
        # in 16 bits a write may leave no mark at all on a stream that is larger in every feature
        *((dtype, size) for dtype in (torch.bfloat16, torch.float16) for size in (0.02, 0.3, 30.0)),
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", SCALED)
def test_scaled_writes_are_refused_however_large_the_stream(kind, dtype, embedding):
    """Writes that were 4.55 times too long passed beside a large stream."""
    model = build(kind, SCALED[kind])
    with torch.no_grad():
        model.get_input_embeddings().weight.mul_(embedding / 0.3 / 12)
    with pytest.raises(UnknownDecoder, match="in block 1 the stream does not grow by what the attention"):
        trace(model.to(dtype), some_ids())


@pytest.mark.parametrize("dtype", (torch.float32, torch.bfloat16), ids=str)
def test_a_scaled_write_beside_an_outlier_feature_is_refused_and_a_right_one_traced(dtype):
    # SmolLM2's first token has a length of 22,712, nearly all of it in three features
    for multiplier in (1.0, 0.98):
        model = build("granite", LLAMA | {"residual_multiplier": multiplier})
        with torch.no_grad():
            model.model.embed_tokens.weight[:, 3] = 22_712.0
        model.to(dtype)
        if multiplier == 1.0:
            assert_right(model, some_ids())
        else:
            with pytest.raises(UnknownDecoder, match="does not grow"):
                trace(model, some_ids())


@pytest.mark.parametrize("late", ("block", "token"))
def test_a_wrong_write_in_the_last_block_or_at_the_first_token_is_found_out(late):
    class Scaled(TupleBlock):
        def forward(self, x, *_):
            x = x + self.attn(self.ln_1(x))[0]
            scale = torch.ones(x.shape[1], 1)
            if late == "block":
                scale *= 1.01
            else:
                scale[0] = 1.01
            return (x + scale * self.mlp(self.ln_2(x)),)

    torch.manual_seed(0)
    model = TupleModel(by_keyword=False)
    model.h[-1] = Scaled()
    with pytest.raises(UnknownDecoder, match=f"in block {LAYERS} the stream does not grow by what the mlp"):
        trace(model, some_ids())


def test_a_part_that_never_runs_is_found_out():
    class Idle(TupleBlock):
        def forward(self, x, *_):
            return (x + self.attn(self.ln_1(x))[0],)

    model = TupleModel(by_keyword=False)
    model.h[1] = Idle()
    with pytest.raises(UnknownDecoder, match="TupleModel.* never runs"):
        trace(model, some_ids())


def test_blocks_that_run_twice_are_found_out():
    class Looped(TupleModel):
        def forward(self, input_ids):
            x = self.wte(input_ids)
            for block in [*self.h, *self.h]:
                x = block(x)[0]
            return (self.ln_f(x),)

    with pytest.raises(UnknownDecoder, match="more than once"):
        trace(Looped(by_keyword=False), some_ids())


def test_a_final_norm_with_an_unknown_name_is_not_taken_for_none():
    class Renamed(TupleModel):
        def forward(self, input_ids):
            x = self.wte(input_ids)
            for block in self.h:
                x = block(x)[0]
            return (self.closing(x),)

    model = Renamed(by_keyword=False)
    model.closing = model.ln_f
    del model.ln_f
    with pytest.raises(UnknownDecoder, match="after its last block.* another part"):
        trace(model, some_ids())


def test_several_streams_are_refused():
    tiny = {
        "q_lora_rank": 8,
        "kv_lora_rank": 8,
        "qk_rope_head_dim": 4,
        "moe_intermediate_size": 8,
        "n_routed_experts": 4,
    }
    model = build("deepseek_v4", LLAMA | tiny | {"num_experts_per_tok": 2})
    with pytest.raises(UnknownDecoder, match="several streams"):
        trace(model, some_ids())


BART = {"d_model": WIDTH, "encoder_layers": 2, "decoder_layers": 2, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24}
BART |= {"vocab_size": 40, "encoder_attention_heads": 2, "decoder_attention_heads": 2, "pad_token_id": 1}


def test_models_without_blocks_of_their_own_are_refused():
    opt = {"vocab_size": 40, "hidden_size": WIDTH, "ffn_dim": 24, "num_hidden_layers": 2, "num_attention_heads": 2}
    opt |= {"word_embed_proj_dim": WIDTH, "max_position_embeddings": 20, "pad_token_id": 1}
    for model, name in (
        (build("bert", LLAMA), "BertModel"),
        (build("opt", opt), "OPTModel"),
        (nn.Linear(2, 2), "Linear"),
    ):
        with pytest.raises(UnknownDecoder, match=f"{name}: it finds no list of blocks") as error:
            trace(model, some_ids())
        assert "model." not in str(error.value), "a hint that leads nowhere"


def test_an_encoder_with_a_decoder_is_refused():
    with pytest.raises(UnknownDecoder, match="an encoder with a decoder"):
        trace(build("bart", BART, transformers.AutoModelForSeq2SeqLM), some_ids())


def test_of_a_model_of_pictures_and_text_the_part_to_trace_is_named():
    text = LLAMA | {"model_type": "llama"}
    vision = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1}
    vision |= {"image_size": 8, "patch_size": 4, "model_type": "clip_vision_model"}
    model = build("llava", {"text_config": text, "vision_config": vision}, transformers.AutoModelForImageTextToText)
    with pytest.raises(UnknownDecoder, match=r"`trace\(model\.model\.language_model, ids\)`"):
        trace(model, some_ids())
    assert_right(model.model.language_model, some_ids())


def test_what_is_no_model_is_refused_and_a_loaded_model_is_asked_for_its_decoder():
    for wrong in (None, "gpt2", torch.zeros(2), [1]):
        with pytest.raises(UnknownDecoder, match=f"It got a {type(wrong).__name__}") as error:
            trace(wrong, some_ids())
        assert "model.decoder" not in str(error.value)

    class Loaded:
        decoder = decoder()

    with pytest.raises(UnknownDecoder, match="`model.decoder`"):
        trace(Loaded(), some_ids())


# Models whose final norm has another name, or that are built post-norm


def test_persimmons_final_norm_is_found():
    """It was taken for a model without one, and ended in an AttributeError."""
    model = build("persimmon", LLAMA)
    result = assert_right(model, some_ids())
    assert_close(result.final, model.model.final_layernorm(result.stream[-1]))


@pytest.mark.parametrize("kind", ("nomic_bert", "jina_embeddings_v3", "gte"))
@torch.no_grad()
def test_post_norm_models_are_traced(kind):
    """They ended in an AttributeError."""
    model = build(kind, LLAMA | {"type_vocab_size": 2, "num_key_value_heads": 2}, transformers.AutoModel)
    result = trace(model, some_ids())
    assert result.final is None
    assert_close(result.stream[-1], model(some_ids()).last_hidden_state)
    for index, (part, number) in enumerate(result.points[1:]):
        block = model.layers[number - 1]
        norm = block.post_attention_layernorm if part == "attention" else block.post_mlp_layernorm
        assert_close(result.stream[index + 1], norm(result.stream[index] + result.writes[index]))


# Eval mode


@pytest.mark.parametrize("kind", ("gpt2", "openai-gpt"))
def test_a_model_in_train_mode_is_traced_without_dropout_and_stays_in_train_mode(kind):
    """It gave other numbers each time."""
    model = build(kind)
    expected = trace(model, some_ids()).lengths()
    model.train()
    model.transformer.h[1].eval()  # on purpose, say a frozen block
    before = {name: module.training for name, module in model.named_modules()}
    assert torch.equal(trace(model, some_ids()).lengths(), expected)
    assert {name: module.training for name, module in model.named_modules()} == before
    with pytest.raises(ValueError):
        trace(model, some_ids(1, 21))  # too many tokens
    model.transformer.h[2].mlp.register_forward_hook(lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        trace(model, some_ids())
    assert {name: module.training for name, module in model.named_modules()} == before


# NaN, inf, and the format of the lengths


@pytest.mark.parametrize("bad", (float("nan"), float("inf")))
@pytest.mark.parametrize("kind", ("ours", "gpt2", "openai-gpt", "llama", "gemma2"))
def test_a_model_that_has_diverged_is_traced(kind, bad):
    """NaN was taken for a sum that does not fit."""
    model = decoder() if kind == "ours" else build(kind)
    clean = trace(model, some_ids(1, 7)).lengths()
    with torch.no_grad():
        if kind == "ours":
            model.blocks[1].mlp.f.down.bias[2] = bad
        elif kind in ("gpt2", "openai-gpt"):
            model.transformer.h[1].mlp.c_proj.bias[2] = bad
        else:
            model.model.layers[1].mlp.down_proj.weight[2] = bad
    lengths = trace(model, some_ids(1, 7)).lengths()
    assert torch.equal(lengths[:4], clean[:4])
    assert not lengths[4:].isfinite().any()


def test_one_token_with_nan_leaves_the_check_of_the_others():
    model = build("granite", LLAMA | {"residual_multiplier": 0.5})
    with torch.no_grad():
        model.model.embed_tokens.weight[some_ids()[0, -1]] = float("nan")
    with pytest.raises(UnknownDecoder, match="does not grow"):
        trace(model, some_ids())


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        (torch.bfloat16, torch.float32),
        (torch.float16, torch.float32),
        (torch.float32, torch.float32),
        (torch.float64, torch.float64),
    ],
    ids=str,
)
def test_lengths_are_exact_in_every_format(dtype, expected):
    """bfloat16 kept three digits, and float16 lengths above 65,504 were infinite."""
    model = build("llama")
    with torch.no_grad():
        model.model.embed_tokens.weight.fill_(30_000.0)
    result = trace(model.to(dtype), some_ids())
    for lengths, vectors in ((result.lengths(), result.stream), (result.write_lengths(), result.writes)):
        assert lengths.dtype == expected and vectors[0].dtype == dtype
        exact = torch.stack(vectors).double().square().sum(-1).sqrt()
        torch.testing.assert_close(lengths.double(), exact, rtol=1e-6, atol=1e-6)
    assert result.lengths()[0].max() > 65_504


# Token ids


def test_what_a_tokenizer_returns_is_traced():
    """`trace(model, tokenizer(text, return_tensors="pt"))`, the most natural call, ended in a crash."""
    for model in (build("gpt2"), build("llama"), decoder()):
        expected = trace(model, some_ids()).lengths()
        mask = torch.ones_like(some_ids())
        for ids in (
            transformers.BatchEncoding({"input_ids": some_ids(), "attention_mask": mask}),
            {"input_ids": some_ids()},
            {"input_ids": some_ids().tolist(), "attention_mask": mask.tolist()},
            some_ids().tolist(),
            some_ids().numpy(),
            some_ids().to(torch.int16),
        ):
            assert torch.equal(trace(model, ids).lengths(), expected)
        one = {"input_ids": some_ids()[0].tolist(), "attention_mask": mask[0].tolist()}
        torch.testing.assert_close(trace(model, one).lengths(), expected[:, 0])


@pytest.mark.parametrize("side", ("left", "right"))
@pytest.mark.parametrize("kind", ("gpt2", "llama"))
def test_the_mask_of_a_padded_batch_is_honoured(kind, side):
    model = build(kind)
    short = some_ids(1, 5)[0]
    padding = torch.zeros(2, dtype=torch.long)

    def pad(values):
        return torch.cat([padding, values] if side == "left" else [values, padding])

    batch = {"input_ids": torch.stack([some_ids(1, 7)[0], pad(short)])}
    batch["attention_mask"] = torch.stack([torch.ones(7, dtype=torch.long), pad(torch.ones_like(short))])
    real = slice(2, 7) if side == "left" else slice(0, 5)
    with torch.no_grad():
        theirs = model(**batch, output_hidden_states=True).hidden_states
    for mine, other in zip(trace(model, batch).after_blocks()[:-1], theirs[:-1], strict=True):
        assert_close(mine, other)
    batch["position_ids"] = torch.stack([torch.arange(7), pad(torch.arange(5))])
    alone = trace(model, short).lengths()
    torch.testing.assert_close(trace(model, batch).lengths()[:, 1, real], alone, rtol=1e-4, atol=1e-4)


def test_our_decoder_takes_padding_on_the_right_only():
    model = decoder()
    right = {"input_ids": some_ids(1, 7), "attention_mask": torch.tensor([[1, 1, 1, 1, 1, 0, 0]])}
    expected = trace(model, some_ids(1, 7)[:, :5]).lengths()
    torch.testing.assert_close(trace(model, right).lengths()[..., :5], expected)
    with pytest.raises(ValueError, match="padding on the right only"):
        trace(model, right | {"attention_mask": right["attention_mask"].flip(1)})


WRONG_IDS = {
    "empty": ([], "no token ids"),
    "an empty batch": (torch.zeros(1, 0, dtype=torch.long), "no token ids"),
    "fractions": ([1.5, 2.0], "whole numbers"),
    "bool": ([True, False], "whole numbers"),
    "text": ("Tea", "reads token ids, not text"),
    "texts": (["Tea"], "cannot make one tensor"),
    "ragged": ([[1, 2], [3]], "pad sequences"),
    "None": (None, "cannot make one tensor"),
    "one number": (3, r"shape \(T,\) or \(B, T\)"),
    "three dimensions": ([[[1]]], r"shape \(T,\) or \(B, T\)"),
    "beyond the vocabulary": ([1, 40], "no token 40.* 0 to 39"),
    "negative": ([1, -2], "no token -2"),
    "too many": ([1] * 21, "21 tokens, but this model reads at most 20"),
    "a mapping of something else": ({"labels": [1]}, "input_ids"),
    "a mask of another length": ({"input_ids": [[1, 2]], "attention_mask": [[1]]}, "attention mask"),
}


@pytest.mark.parametrize("what", WRONG_IDS)
@pytest.mark.parametrize("kind", ("ours", "gpt2", "openai-gpt"))
def test_wrong_ids_get_a_sentence(kind, what):
    ids, phrase = WRONG_IDS[what]
    model = decoder() if kind == "ours" else build(kind)
    with pytest.raises(ValueError, match=phrase):
        trace(model, ids)
    assert hooks_of(model) == 0


def test_a_model_without_a_table_of_positions_reads_on():
    model = build("llama")  # trained, as it were, on 20 positions
    assert trace(model, some_ids(30)).lengths().shape == (2 * LAYERS + 1, 30)


@torch.no_grad()
def test_post_norm_keeps_the_length_that_its_gain_gives():
    # with γ = 1 and β = 0 every point after a norm has the length √d, whatever was written
    model = Decoder(Config(40, 20, WIDTH, LAYERS, 2, "post")).eval()
    model.token_embedding.weight.normal_(generator=torch.Generator().manual_seed(0))
    lengths = trace(model, some_ids()).lengths()
    torch.testing.assert_close(lengths[1:], torch.full_like(lengths[1:], WIDTH**0.5), rtol=1e-3, atol=0)


def test_traced_embedding_is_the_sum_that_enters_the_first_block():
    model = build("gpt2")
    expected = model.transformer.wte(some_ids()) + model.transformer.wpe.weight[:7]
    assert_close(trace(model, some_ids()).stream[0], expected.detach())


def test_the_reference_by_hand_is_not_blind():
    # a trace of one placement must not equal the computation of another
    result = trace(decoder("pre"), some_ids())
    stream, _ = by_hand(decoder("pre").rewired("none"), some_ids())
    assert not torch.allclose(result.stream[-1], stream[-1], rtol=1e-2)
    assert F.mse_loss(result.stream[0], stream[0]) < 1e-9


# What a reader changes in a model: a trace of other numbers than the model's would be believed


class Overwriting(Sublayer):
    """Adds in place, as some write it."""

    def forward(self, x):
        x += self.f(self.norm(x))
        return x


class ScaledSublayer(Sublayer):
    def forward(self, x):
        return x + 0.1 * self.f(self.norm(x))


class HalvedBlock(Block):
    def forward(self, x):
        return 0.5 * super().forward(x)


class OtherAlpha(Sublayer):
    def forward(self, x):
        return self.norm(1.5 * x + self.f(x))


def zeros(module, args, output):
    return torch.zeros_like(output)


def what_it_read(module, args, output):
    return args[0]


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("number", range(LAYERS))
@pytest.mark.parametrize("change", (zeros, what_it_read))
def test_a_hook_that_changes_the_stream_of_our_decoder_is_told(change, number, placement):
    """The numbers of an ablated block came back without a word."""
    model = decoder(placement)
    for part in (model.blocks[number], model.blocks[number].attention, model.blocks[number].mlp):
        hook = part.register_forward_hook(change)
        with pytest.raises(UnknownDecoder, match=r"the stream changes between|does not grow|another part"):
            trace(model, some_ids())
        hook.remove()
    trace(model, some_ids())


@pytest.mark.parametrize("number", range(LAYERS))
@pytest.mark.parametrize("kind", ("gpt2", "openai-gpt", "llama", "gemma2", "olmo2"))
def test_a_hook_that_changes_what_the_next_block_reads_is_told(kind, number):
    model = build(kind)
    body = model.base_model
    blocks = getattr(body, "h", None) or body.layers

    def doubled(module, args):
        return (2 * args[0], *args[1:])

    def halved(module, args, output):
        if torch.is_tensor(output):
            return output / 2
        return (output[0] / 2, *output[1:])

    hooks = [blocks[number].register_forward_hook]
    if number > 0:  # what the first block reads is where the stream starts
        hooks.append(blocks[number].register_forward_pre_hook)
    for register, change in zip(hooks, (halved, doubled)):
        hook = register(change)
        with pytest.raises(UnknownDecoder):
            trace(model, some_ids())
        hook.remove()


def test_a_hook_on_what_is_written_is_part_of_the_trace():
    """Ablating a sublayer where it writes leaves a stream that adds up."""
    model = decoder()
    model.blocks[1].mlp.f.register_forward_hook(zeros)
    result = trace(model, some_ids())
    assert not result.writes[3].any() and torch.equal(result.stream[3], result.stream[4])


@pytest.mark.parametrize("kind", (ScaledSublayer, OtherAlpha))
def test_a_sublayer_of_ones_own_that_adds_otherwise_is_told(kind):
    placement = "deepnorm" if kind is OtherAlpha else "pre"
    model = decoder(placement)
    for name in ("attention", "mlp"):
        block = decoder(placement).blocks[1]
        part = getattr(block, name)
        part.__class__ = kind
        model.blocks[1] = block
        with pytest.raises(UnknownDecoder, match=f"in block 2 the stream does not grow by what the {name}"):
            trace(model, some_ids())


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("number", range(LAYERS))
def test_a_block_of_ones_own_that_changes_the_stream_after_its_sublayers_is_told(number, placement):
    model = decoder(placement)
    model.blocks[number].__class__ = HalvedBlock
    with pytest.raises(UnknownDecoder, match=r"the stream changes between|another part"):
        trace(model, some_ids())


def test_additions_in_place_are_traced_with_the_numbers_from_before_them():
    expected = trace(decoder(), some_ids())
    model = decoder()
    for block in model.blocks:
        block.attention.__class__ = Overwriting
        block.mlp.__class__ = Overwriting
    found = trace(model, some_ids())
    for mine, other in zip(found.stream + found.writes, expected.stream + expected.writes, strict=True):
        assert torch.equal(mine, other)


def test_additions_in_place_in_blocks_of_ones_own_are_no_scaled_connections():
    """They were said to be scaled."""

    class InPlace(TupleBlock):
        def forward(self, x, *_):
            x += self.attn(self.ln_1(x))[0]
            x += self.mlp(self.ln_2(x))
            return (x,)

    torch.manual_seed(0)
    model = TupleModel(by_keyword=False)
    expected = trace(model, some_ids())
    for block in model.h:
        block.__class__ = InPlace
    found = trace(model, some_ids())
    for mine, other in zip(found.stream + found.writes, expected.stream + expected.writes, strict=True):
        assert torch.equal(mine, other)


def test_a_mixture_of_experts_that_returns_its_tokens_in_one_row_is_traced():
    """A Llama 4 was told to give the trace its `model`, which was then refused for several streams."""
    model = build("llama4_text", LLAMA | {"num_local_experts": 4, "interleave_moe_layer_step": 2, "head_dim": 8})
    with pytest.raises(UnknownDecoder, match=r"`trace\(model\.model, ids\)`"):
        trace(model, some_ids())
    result = trace(model.model, some_ids())
    for index, write in enumerate(result.writes):
        assert torch.equal(result.stream[index] + write, result.stream[index + 1])


# Entries of the mapping


def test_entries_that_change_no_numbers_are_left_out():
    """They ended in "iteration over a 0-d tensor", a TypeError, and a sentence about sequences."""
    others = {"output_hidden_states": True, "use_cache": True, "return_dict": False, "attention_mask": None}
    for model in (build("gpt2"), build("llama"), decoder()):
        expected = trace(model, some_ids()).lengths()
        for name, value in others.items():
            assert torch.equal(trace(model, {"input_ids": some_ids(), name: value}).lengths(), expected), name


@pytest.mark.parametrize("name", ("position_ids", "inputs_embeds", "token_type_ids"))
def test_entries_that_our_decoder_does_not_read_are_told(name):
    """They were left out silently, and the trace was that of other positions."""
    with pytest.raises(ValueError, match=name):
        trace(decoder(), {"input_ids": some_ids(), name: torch.zeros(2, 7, dtype=torch.long)})


def test_entries_that_a_module_of_ones_own_does_not_read_are_told():
    with pytest.raises(ValueError, match="attention_mask"):
        trace(TupleModel(by_keyword=False), {"input_ids": some_ids(), "attention_mask": torch.ones(2, 7)})


@pytest.mark.parametrize("kind", ("ours", "gpt2", "llama"))
@pytest.mark.parametrize("shape", ((7,), (2,), (1, 7), ()))
def test_a_mask_of_another_shape_than_the_ids_gets_a_sentence(kind, shape):
    """One axis beside a batch ended in an IndexError."""
    model = decoder() if kind == "ours" else build(kind)
    with pytest.raises(ValueError, match="attention mask has the shape"):
        trace(model, {"input_ids": some_ids(), "attention_mask": torch.ones(shape, dtype=torch.long)})


def test_a_configuration_that_is_not_of_transformers_is_no_promise():
    """`use_cache` was given to a module that does not read it."""
    model = TupleModel(by_keyword=False)
    expected = trace(model, some_ids()).lengths()
    model.config = types.SimpleNamespace(vocab_size=40)
    assert torch.equal(trace(model, some_ids()).lengths(), expected)


def test_weights_without_numbers_get_a_sentence():
    with torch.device("meta"):
        models = [Decoder(Config(40, 20, WIDTH, LAYERS, 2)), TupleModel(by_keyword=False)]
        models.append(transformers.GPT2LMHeadModel(transformers.GPT2Config(**GPT)))
    for model in models:
        with pytest.raises(ValueError, match="meta device"):
            trace(model, some_ids())


# Lengths at the ends of the formats


@pytest.mark.parametrize(
    ("dtype", "sizes"),
    [(torch.float32, (1e20, 1e30, 1e-25, 1e-40)), (torch.bfloat16, (1e20, 1e-25)), (torch.float64, (1e200, 1e-200))],
)
def test_a_length_that_fits_does_not_overflow_or_vanish(dtype, sizes):
    """The squares of 1e20 do not fit into float32, and those of 1e-25 are 0."""
    for size in sizes:
        vectors = torch.full((1, 3, 4), size, dtype=dtype)
        found = Trace([("embedding", 0)], [vectors], [vectors], None)
        for lengths in (found.lengths(), found.write_lengths()):
            expected = 2 * vectors[..., 0].double()
            torch.testing.assert_close(lengths[0].double(), expected, rtol=1e-5, atol=0)


def test_lengths_of_what_is_no_number_and_of_zeros():
    vectors = torch.tensor([[0.0, 0.0], [float("nan"), 1.0], [float("inf"), 1.0]])
    zero, nan, infinite = Trace([], [vectors], [], None).lengths()[0].tolist()
    assert zero == 0 and nan != nan and infinite == float("inf")
