"""The trace sees the stream where it really is: in our decoder, in transformers' models, and in nothing else."""

import pytest
import torch
import torch.nn.functional as F
import transformers
from torch import nn

from helpers import language
from helpers.gpt import PLACEMENTS, Config, Decoder
from helpers.trace import UnknownDecoder, _Quick, trace

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
    return sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules())


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
    run = lambda: model(some_ids()) if kind == "ours" else model(some_ids()).logits
    before, hooks = run(), hooks_of(model)
    result = trace(model, some_ids())
    assert hooks_of(model) == hooks
    assert torch.equal(run(), before)
    assert not any(x.requires_grad for x in result.stream + result.writes)


def test_hooks_are_removed_when_the_forward_raises():
    for model in (decoder(), build("gpt2")):
        with pytest.raises((IndexError, ValueError)):
            trace(model, some_ids(1, 7) + 1000)  # no such token
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


PARALLEL = {"parallel_attn": True, "hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": 2}
STRANGERS = {
    # kind → (settings, key of the sentence, what the sentence names)
    "bert": (LLAMA, "no_blocks", "BertModel"),
    "opt": (
        {"vocab_size": 40, "hidden_size": WIDTH, "ffn_dim": 24, "num_hidden_layers": 2, "num_attention_heads": 2}
        | {"word_embed_proj_dim": WIDTH, "max_position_embeddings": 20, "pad_token_id": 1},
        "no_blocks",
        "OPTModel",
    ),
    "gpt_neox": (LLAMA, "no_sublayers", "GPTNeoXLayer"),
    "cohere": (LLAMA, "no_sublayers", "CohereDecoderLayer"),
    "falcon": (PARALLEL | {"vocab_size": 40}, "no_sublayers", "FalconDecoderLayer"),
    "granite": (LLAMA | {"residual_multiplier": 0.2}, "no_sum", "1"),  # a sublayer's output is scaled
}
BEGINNINGS = {"en": "The trace does not understand", "de": "Die Spur kann", "sv": "Spårningen förstår inte"}


@pytest.mark.parametrize("kind", STRANGERS)
def test_a_model_that_the_trace_does_not_understand_is_refused_in_the_readers_language(kind):
    settings, key, name = STRANGERS[kind]
    model = build(kind, settings)
    sentences = set()
    for reader in language.LANGUAGES:
        language.use(reader)
        with pytest.raises(UnknownDecoder) as error:
            trace(model, some_ids())
        sentence = str(error.value)
        assert sentence.startswith(BEGINNINGS[reader]) and name in sentence
        assert sentence == language.say(f"trace.{key}", model=name, block=1, part="model.decoder")
        sentences.add(sentence)
        assert hooks_of(model) == 0
    assert len(sentences) == 3


def test_a_model_without_any_blocks_is_refused():
    with pytest.raises(UnknownDecoder, match="Linear: it finds no list of blocks"):
        trace(nn.Linear(2, 2), some_ids())


def test_parallel_sublayers_behind_familiar_names_are_found_out():
    # the names are GPT-2's, but the MLP reads the input of the block
    class Parallel(TupleBlock):
        def forward(self, x, *_):
            return (x + self.attn(self.ln_1(x))[0] + self.mlp(self.ln_2(x)),)

    torch.manual_seed(0)
    model = TupleModel(by_keyword=False)
    model.h = nn.ModuleList(Parallel() for _ in range(2))
    with pytest.raises(UnknownDecoder, match="in block 1 the stream does not grow"):
        trace(model, some_ids())


def test_a_part_that_never_runs_is_found_out():
    class Idle(TupleBlock):
        def forward(self, x, *_):
            return (x + self.attn(self.ln_1(x))[0],)

    model = TupleModel(by_keyword=False)
    model.h[1] = Idle()
    with pytest.raises(UnknownDecoder, match="TupleModel: its attention, its MLP or the norm"):
        trace(model, some_ids())


@torch.no_grad()
def test_too_many_tokens_are_a_sentence():
    with pytest.raises(ValueError, match="21 tokens, but this model reads at most 20"):
        trace(decoder(), some_ids(21))


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


@torch.no_grad()
@pytest.mark.parametrize("shape", [(1, 1, 24), (2, 7, 24), (1, 130, 24), (0, 24), (24,)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("bias", [True, False])
def test_quick_linear_layers_map_as_torchs_own(shape, dtype, bias):
    random = torch.Generator().manual_seed(0)
    x = torch.randn(shape, generator=random).to(dtype)
    for weight in (torch.randn(48, 24, generator=random), torch.randn(24, 48, generator=random).T):  # GPT-2's lies so
        linear = torch.nn.Linear(24, 48, bias)
        linear.weight.copy_(weight) if weight.is_contiguous() else setattr(linear, "weight", torch.nn.Parameter(weight))
        linear.to(dtype)
        expected = linear(x)
        with _Quick():
            torch.testing.assert_close(linear(x), expected)


def test_only_the_trace_takes_the_quick_linear_layers(monkeypatch):
    model = Decoder(Config(vocab_size=50, positions=40, width=24, layers=3, heads=4)).eval()
    calls = []
    quick = torch.ops.mkldnn._linear_pointwise
    monkeypatch.setattr(torch.ops.mkldnn, "_linear_pointwise", lambda *given: calls.append(1) or quick(*given))
    result = trace(model, some_ids())
    assert len(calls) == 4 * model.config.layers or not torch.backends.mkldnn.is_available()
    del calls[:]
    with torch.no_grad():
        torch.testing.assert_close(model.hidden(some_ids()), result.final)
    model(some_ids()).sum().backward()
    assert calls == []
