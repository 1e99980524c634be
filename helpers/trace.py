"""The residual stream, read with forward hooks: in this project's decoder and in decoders of transformers.

A forward hook is a function that torch calls whenever a module runs, with what the module reads and returns.
"""

from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import nn

from helpers.decoder import Block, Decoder, Sublayer

# What transformers calls the parts. A wrong guess does no harm: `trace` checks every sum.
ATTENTIONS = ("self_attn", "attn", "attention", "self_attention")
MLPS = ("mlp", "feed_forward", "ffn")
# a norm after a sublayer whose output is added to the stream: (after attention, after MLP)
OUTPUT_NORMS = (
    ("post_attention_layernorm", "post_feedforward_layernorm"),  # Gemma 2 and 3, OLMo 2
    ("post_self_attn_layernorm", "post_mlp_layernorm"),  # GLM-4
)
# a norm after the addition, in post-norm models: (after attention, after MLP)
POST_NORMS = (
    ("ln_1", "ln_2"),  # GPT-1
    ("post_attention_layernorm", "post_mlp_layernorm"),  # Nomic-BERT
)
# the norm that reads the stream between attention and MLP
NORMS_BEFORE_MLP = (
    "ln_2",  # GPT-2
    "pre_feedforward_layernorm",  # Gemma 2 and 3
    "feedforward_layernorm",  # Apertus
    "mlp_norm",  # ModernBERT's decoder
    "post_attention_layernorm",  # Llama, whose name says where it stands, not what it does
)
FINAL_NORMS = ("final_norm", "ln_f", "norm", "final_layernorm", "final_layer_norm")


class UnknownDecoder(ValueError):
    """The model's blocks are not built in a way that the trace understands."""


@dataclass
class Trace:
    """What one forward pass wrote. T tokens, width d, N blocks; `...` is the batch, if there is one."""

    points: list  # 2N + 1 pairs (kind, block): "embedding", "attention" or "mlp", and a block from 1 to N
    stream: list  # 2N + 1 tensors (..., T, d): after the embedding and after every sublayer, before any final norm
    writes: list  # 2N tensors (..., T, d): what each sublayer added (in post-norm and DeepNorm the norm follows)
    final: torch.Tensor | None  # (..., T, d): the output of the final norm, or None in a model without one

    def after_blocks(self):
        """Return N + 1 tensors (..., T, d): the stream after the embedding and after each whole block."""
        return self.stream[::2]

    def lengths(self):
        """Return the L2 norm of the stream at every point and token, (2N + 1, ..., T).

        Lengths are float32, also in a model of 16 bits, or float64 in a model of float64. NaN stays NaN."""
        return torch.stack([_length(x) for x in self.stream])

    def write_lengths(self):
        """Return the L2 norm of what each sublayer wrote, (2N, ..., T); dtypes as in `lengths`."""
        return torch.stack([_length(x) for x in self.writes])


def _length(x):
    """Return the L2 norm over the features; bfloat16 would keep three digits, and float16 ends at 65,504."""
    wide = torch.promote_types(x.dtype, torch.float32)
    return torch.linalg.vector_norm(x, dim=-1, dtype=wide)


@torch.no_grad()
def trace(model, ids):
    """Run a model on token ids and return its Trace; no logits are computed, no gradients are kept.

    model: a `Decoder`, or a decoder of transformers. It runs in eval mode (without dropout), and afterwards each of
    its modules is in the mode that it was in.
    ids: whole numbers of shape (T,) or (B, T), as a tensor, an array or a list; or what a tokenizer returns, a
    mapping with "input_ids". Its other entries, such as "attention_mask", are given to the model as well.

    Padding: without a mask every id is read as a token, padding too. With a mask the trace is that of
    `model(**mapping)`. The points of the padding tokens are in the trace, but they mean nothing. GPT-1 and GPT-2
    count their positions from the left, so pad on the right; a `Decoder` takes padding on the right only.

    Raises UnknownDecoder when the blocks are built in a way that the trace does not understand, also when stream
    and write do not add up to the next point (parallel sublayers, scaled residual connections).
    Raises ValueError for what is no token ids, for ids outside of the vocabulary, and for too many tokens."""
    body = _body_of(model)
    blocks = _blocks_of(body)
    if blocks is None:
        raise UnknownDecoder(_why_no_blocks(model, body))
    final_norm = _final_norm_of(body)
    points = [("embedding", 0)]
    sublayers = []
    for number, block in enumerate(blocks, start=1):
        points += [("attention", number), ("mlp", number)]
        sublayers += _sublayers_of(block, final_norm)
    inputs = _read_inputs(ids)
    is_batch = inputs["input_ids"].dim() == 2
    inputs = _fit_inputs(inputs, body)

    with _eval_mode(body):
        with _Recorder() as recorder:
            recorder.keep(blocks[0], "input", ("stream", points[0]))
            for point, sublayer in zip(points[1:], sublayers, strict=True):
                recorder.keep(sublayer.writer, "output", ("write", point))
                recorder.keep(sublayer.place, sublayer.side, ("stream", point))
            if final_norm is not None:
                recorder.keep(final_norm, "output", "final")
            handed_on = _first_tensor(_run(body, inputs))
        recorder.check_complete(body)
        result = Trace(
            points,
            [recorder.seen["stream", point] for point in points],
            [recorder.seen["write", point] for point in points[1:]],
            recorder.seen.get("final"),
        )
        _check_ends(result, handed_on, body)
        wrong = _first_wrong_sum(result, sublayers)
        if wrong is not None:
            kind, number = wrong
            raise UnknownDecoder(_why_no_sum(kind, number, blocks[number - 1], body, inputs))
    if is_batch:
        return result
    final = None if result.final is None else result.final[0]
    return Trace(points, [x[0] for x in result.stream], [x[0] for x in result.writes], final)


# Where the parts are


@dataclass(frozen=True)
class _Sublayer:
    """Where the hooks of one sublayer go."""

    writer: nn.Module  # its output is what the sublayer writes
    place: nn.Module  # where the stream after the sublayer is seen, ...
    side: str  # ... as this module's "input" or "output"
    norm: nn.Module | None = None  # in post-norm, the norm between the addition and that place


def _body_of(model):
    """Return the model without its output matrix."""
    if isinstance(model, Decoder):
        return model
    if not isinstance(model, nn.Module):
        if isinstance(getattr(model, "decoder", None), Decoder):
            raise UnknownDecoder("The trace reads the decoder of a loaded model: give it `model.decoder`.")
        raise UnknownDecoder(f"The trace reads a decoder, a module of torch. It got a {type(model).__name__}.")
    return getattr(model, "base_model", model)


def _blocks_of(body):
    """Return the longest list of modules directly in the model's body, or None."""
    lists = [part for part in body.children() if isinstance(part, nn.ModuleList) and len(part) > 0]
    return max(lists, key=len, default=None)


def _final_norm_of(body):
    """Return the norm after the last block, or None where no part has such a name; `_check_ends` finds out others."""
    for name in FINAL_NORMS:
        part = getattr(body, name, None)
        if isinstance(part, nn.Module) and not isinstance(part, nn.Identity):
            return part
    return None


def _find(parts, names):
    """Return the first of the named parts that is there, or None."""
    for name in names:
        if name in parts:
            return parts[name]
    return None


def _sublayers_of(block, final_norm):
    """Return two _Sublayer, of the attention and of the MLP."""
    if isinstance(block, Block):
        return [_Sublayer(part.writer, part, "output") for part in (block.attention, block.mlp)]
    parts = dict(block.named_children())
    attention = _find(parts, ATTENTIONS)
    mlp = _find(parts, MLPS)
    if attention is None or mlp is None:
        raise UnknownDecoder(
            f"The trace finds no attention or no MLP in {type(block).__name__}. "
            f"It reads blocks that hold both, one after the other, under the names of GPT-2, Llama and their like."
        )
    if final_norm is None:  # post-norm: the last norm of the last block is the last of the model
        for after_attention, after_mlp in POST_NORMS:
            if after_attention in parts and after_mlp in parts:
                norms = parts[after_attention], parts[after_mlp]
                return [
                    _Sublayer(attention, norms[0], "output", norms[0]),
                    _Sublayer(mlp, norms[1], "output", norms[1]),
                ]
    writers = [attention, mlp]
    for after_attention, after_mlp in OUTPUT_NORMS:
        if after_attention in parts and after_mlp in parts:
            writers = [parts[after_attention], parts[after_mlp]]
    before_mlp = _find(parts, NORMS_BEFORE_MLP)
    if before_mlp is None or before_mlp is writers[0]:
        before_mlp = mlp  # OLMo 2's MLP reads the stream itself
    return [_Sublayer(writers[0], before_mlp, "input"), _Sublayer(writers[1], block, "output")]


# The token ids


def _read_inputs(ids):
    """Return a dictionary with "input_ids", of shape (T,) or (B, T) and whole numbers, and what came with it."""
    inputs = dict(ids) if isinstance(ids, Mapping) else {"input_ids": ids}
    if "input_ids" not in inputs:
        raise ValueError('The trace finds no "input_ids" in this mapping. Give it what a tokenizer returns.')
    if isinstance(inputs["input_ids"], str):
        raise ValueError("The trace reads token ids, not text. Give it `tokenizer(text).input_ids`.")
    for name, values in inputs.items():
        try:
            inputs[name] = torch.as_tensor(values)
        except (TypeError, ValueError, RuntimeError) as error:
            raise ValueError(
                f"The trace cannot make one tensor of the {name}. It reads whole numbers of shape (T,) or (B, T); "
                "pad sequences of different lengths, and give their attention mask as well."
            ) from error
    found = inputs["input_ids"]
    if found.dim() not in (1, 2):
        raise ValueError(f"The trace reads token ids of shape (T,) or (B, T). It got the shape {tuple(found.shape)}.")
    if found.numel() == 0:
        raise ValueError("There are no token ids to trace. Give at least one.")
    if found.is_floating_point() or found.is_complex() or found.dtype == torch.bool:
        raise ValueError(f"Token ids are whole numbers. These are of the type {found.dtype}.")
    inputs["input_ids"] = found.long()
    return inputs


def _fit_inputs(inputs, body):
    """Return the inputs as the model reads them, each as a batch and on its device; ValueError if they do not fit."""
    shape = inputs["input_ids"].shape
    table = _token_table(body)
    device = inputs["input_ids"].device
    if table is not None:
        _check_vocabulary(inputs["input_ids"], table.num_embeddings)
        if table.weight.device.type != "meta":
            device = table.weight.device
    limit = _most_tokens(body, table)
    if limit is not None and shape[-1] > limit:
        raise ValueError(f"The input has {shape[-1]} tokens, but this model reads at most {limit}.")
    fitted = {}
    for name, values in inputs.items():
        if name == "attention_mask" and values.dim() == len(shape) and values.shape != shape:
            raise ValueError(f"The attention mask has the shape {tuple(values.shape)}, the ids have {tuple(shape)}.")
        if len(shape) == 1 and values.shape == shape:
            values = values[None]
        fitted[name] = values.to(device)
    return fitted


def _token_table(body):
    """Return the embedding of the tokens, or None where it cannot be told."""
    if isinstance(body, Decoder):
        return body.token_embedding
    try:
        table = body.get_input_embeddings()
    except (AttributeError, NotImplementedError):
        return None
    return table if isinstance(table, nn.Embedding) else None


def _check_vocabulary(ids, size):
    """Raise ValueError unless all ids are rows of the embedding; on a GPU torch would lose the whole process."""
    smallest = ids.min().item()
    largest = ids.max().item()
    if smallest < 0 or largest >= size:
        outside = smallest if smallest < 0 else largest
        raise ValueError(f"There is no token {outside}: the ids of this model go from 0 to {size - 1}.")


def _most_tokens(body, token_table):
    """Return how many positions a model with learned positions has, or None for others, which have no such end."""
    if isinstance(body, Decoder):
        return body.config.positions
    limit = getattr(getattr(body, "config", None), "max_position_embeddings", None)
    for part in body.children():
        if isinstance(part, nn.Embedding) and part is not token_table and part.num_embeddings == limit:
            return limit
    return None


# The forward pass


@contextmanager
def _eval_mode(model):
    """Put every module into eval mode, and in the end each back into its own: some may be in eval mode on purpose."""
    modes = [(module, module.training) for module in model.modules()]
    try:
        for module, _ in modes:
            module.training = False
        yield
    finally:
        for module, training in modes:
            module.training = training


class _Recorder:
    """Keeps what passes at some places of a model, until the `with` block ends."""

    def __init__(self):
        self.runs = {}  # how often each place was passed
        self.seen = {}  # what passed it last
        self.hooks = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for hook in self.hooks:
            hook.remove()

    def keep(self, module, side, key):
        """Keep the module's "input" or "output" under this key."""

        def see_input(module, args, kwargs):
            self._put(key, _first_input(args, kwargs))

        def see_output(module, args, output):
            self._put(key, _first_tensor(output))

        self.runs[key] = 0
        if side == "input":
            self.hooks.append(module.register_forward_pre_hook(see_input, with_kwargs=True))
        else:
            self.hooks.append(module.register_forward_hook(see_output))

    def _put(self, key, value):
        self.runs[key] += 1
        self.seen[key] = value

    def check_complete(self, body):
        """Raise UnknownDecoder unless a tensor of shape (B, T, d) was seen at every place."""
        name = type(body).__name__
        for key, runs in self.runs.items():
            value = self.seen.get(key)
            if value is None:
                raise UnknownDecoder(
                    f"The trace does not understand {name}: a part that it knows by name never runs, or returns no "
                    "tensor."
                )
            if runs > 1 and key != "final":  # NanoChat's final norm follows the embedding, too
                raise UnknownDecoder(
                    f"The trace does not understand {name}: a part of its blocks runs more than once in one pass."
                )
            if value.dim() != 3:
                raise UnknownDecoder(
                    f"The trace reads one residual stream, a tensor (B, T, d). In {name} a tensor of shape "
                    f"{tuple(value.shape)} passes; some models keep several streams for each token."
                )


def _first_input(args, kwargs):
    """Return the first tensor that a module reads; blocks and norms read the stream first."""
    if args:
        return _first_tensor(args)
    return _first_tensor(tuple(kwargs.values()))


def _first_tensor(value):
    """Return a tensor itself, or the first entry of a tuple; None if that is no tensor."""
    if torch.is_tensor(value):
        return value
    try:
        first = value[0]
    except (TypeError, KeyError, IndexError):
        return None
    return first if torch.is_tensor(first) else None


def _run(body, inputs):
    """Run the model up to its final norm and return what it returns."""
    others = dict(inputs)
    ids = others.pop("input_ids")
    if isinstance(body, Decoder):
        mask = others.get("attention_mask", torch.ones_like(ids)).bool()
        if bool((mask[:, 1:] & ~mask[:, :-1]).any()):
            raise ValueError("This decoder reads no attention mask, so it takes padding on the right only.")
        return body.hidden(ids)
    if hasattr(body, "config"):  # a model of transformers
        return body(ids, **others, use_cache=False)
    return body(ids, **others)


# The checks


def _equal(a, b):
    """Return whether two tensors hold the same numbers; NaN counts as equal to NaN."""
    if torch.equal(a, b):
        return True
    if a.shape != b.shape:
        return False
    same = (a == b) | (a.isnan() & b.isnan())
    return bool(same.all())


def _check_ends(result, handed_on, body):
    """Raise UnknownDecoder unless the model hands on what the trace takes for its end."""
    end = result.stream[-1] if result.final is None else result.final
    if handed_on is None or not _equal(end, handed_on):
        raise UnknownDecoder(
            f"The trace does not understand {type(body).__name__}: after its last block, and after the final norm if "
            "the trace finds one, comes another part, perhaps a norm with a name that is not known here."
        )


def _first_wrong_sum(result, sublayers):
    """Return the first point (kind, block) that is not the point before it plus the write, or None.

    An addition of two numbers in one format has one right result, whatever computes it. So the sums must be equal to
    the last bit, at every token: then nothing hides behind a large stream, an outlier feature, or coarse numbers, as
    long as rounding does not swallow a write whole."""
    for index, sublayer in enumerate(sublayers):
        if isinstance(sublayer.place, Sublayer):
            continue  # this project's own; its `forward` says what it adds
        before = result.stream[index]
        write = result.writes[index]
        after = result.stream[index + 1]
        if before.shape != write.shape:
            return result.points[index + 1]
        expected = before.to(after.device) + write.to(after.device)
        if sublayer.norm is not None:
            expected = sublayer.norm(expected)
        if not _equal(expected.to(after.dtype), after):
            return result.points[index + 1]
    return None


def _why_no_sum(kind, number, block, body, inputs):
    """Return the sentence for a block in which the stream does not grow by what the sublayer returns."""
    name = type(block).__name__
    parts = dict(block.named_children())
    attention = _find(parts, ATTENTIONS)
    mlp = _find(parts, MLPS)
    if kind == "attention" and _in_parallel(attention, mlp, lambda: _run(body, inputs)):
        return (
            f"In {name} attention and MLP run in parallel: both read the same stream, and both outputs are added to "
            "it at once. So there is no point of the stream between them, and the trace cannot show one."
        )
    return (
        f"The trace does not understand {name}: in block {number} the stream does not grow by what the {kind} "
        "sublayer returns. Its output may be scaled before it is added, or pass a norm with a name that is not "
        "known here."
    )


def _in_parallel(attention, mlp, run):
    """Return whether the MLP reads the same when the attention returns zeros."""
    read = []

    def see(module, args, kwargs):
        read.append(_first_input(args, kwargs))

    def silence(module, args, output):
        if torch.is_tensor(output):
            return torch.zeros_like(output)
        return (torch.zeros_like(output[0]), *output[1:])

    with mlp.register_forward_pre_hook(see, with_kwargs=True):
        run()
        with attention.register_forward_hook(silence):
            run()
    return len(read) == 2 and None not in read and _equal(*read)


def _why_no_blocks(model, body):
    """Return the sentence for a model that holds no list of blocks where the trace looks for it."""
    name = type(body).__name__
    if getattr(getattr(body, "config", None), "is_encoder_decoder", False):
        return f"{name} is an encoder with a decoder. The trace reads models that are one decoder."
    for path, part in model.named_modules():
        if _can_be_traced(part):
            return f"{name} holds a decoder among other parts. Give the trace that part: `trace(model.{path}, ids)`."
    return (
        f"The trace does not understand {name}: it finds no list of blocks in it. It reads decoders whose blocks hold "
        "an attention and an MLP, one after the other."
    )


def _can_be_traced(part):
    """Return whether a part of a model reads token ids and holds blocks with an attention and an MLP."""
    blocks = _blocks_of(part)
    if blocks is None or _token_table(part) is None:
        return False
    try:
        for block in blocks:
            _sublayers_of(block, _final_norm_of(part))
    except UnknownDecoder:
        return False
    return True
