"""The residual stream, read with forward hooks: in this project's decoder and in decoders of transformers.

A forward hook is a function that torch calls whenever a module runs, with what the module reads and returns.
"""

import inspect
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
# the embedding of the tokens, in a module that does not say which one it is
TOKEN_TABLES = ("wte", "embed_tokens", "tok_embeddings", "token_embedding", "tokens_embed", "embedding")
# learned positions, a row each
POSITION_TABLES = ("wpe", "positions_embed", "embed_positions", "position_embedding", "position_embeddings")
# what transformers' models read beside the tokens, which changes what they return and not what they compute
OPTIONS = ("use_cache", "output_hidden_states", "output_attentions", "return_dict")


class UnknownDecoder(ValueError):
    """The model's blocks are not built in a way that the trace understands.

    part: the path of a part of the model that the trace may understand, for example "model.language_model", or None."""

    def __init__(self, sentence, part=None):
        super().__init__(sentence)
        self.part = part


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
        return torch.stack([length(x) for x in self.stream])

    def write_lengths(self):
        """Return the L2 norm of what each sublayer wrote, (2N, ..., T); dtypes as in `lengths`."""
        return torch.stack([length(x) for x in self.writes])


def length(x):
    """Return the L2 norm of vectors (..., d) over their features, (...).

    It is float32, or float64 for vectors of float64: bfloat16 would keep three digits, and float16 ends at 65,504.
    The squares are taken of x / max|x|, so that they neither overflow nor vanish where the norm itself does not."""
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    largest = wide.abs().amax(-1, keepdim=True)
    usable = largest.isfinite() & (largest > 0)
    scale = torch.where(usable, largest, 1.0)
    return torch.linalg.vector_norm(wide / scale, dim=-1) * scale.squeeze(-1)


@torch.no_grad()
def trace(model, ids):
    """Run a model on token ids and return its Trace; no logits are computed, no gradients are kept.

    model: a `Decoder`, or a decoder of transformers. It runs in eval mode (without dropout), and afterwards each of
    its modules is in the mode that it was in. Hooks on its modules run with it, and the trace sees what they change.
    ids: whole numbers of shape (T,) or (B, T), as a tensor, an array or a list; or what a tokenizer returns, a
    mapping with "input_ids". Its other entries are given to the model as well, but for those that are None and those
    that only choose what a model returns (`OPTIONS`). A `Decoder` reads an "attention_mask" and no other entry.

    Padding: without a mask every id is read as a token, padding too. With a mask the trace is that of
    `model(**mapping)`. The points of the padding tokens are in the trace, but they mean nothing. GPT-1 and GPT-2
    count their positions from the left, so pad on the right; a `Decoder` takes padding on the right only.

    What is returned has been checked, to the last bit and at every token: each sublayer of a `Decoder`, and each block
    of any model, reads the point before; point and write add up to the next point (DeepNorm: α times the point; in
    post-norm they add up to what the norm reads); and the model hands on the last point, or its final norm reads it.

    Raises UnknownDecoder where that is not so (parallel sublayers, scaled residual connections, a hook that changes
    the stream between two sublayers), and when the blocks are built in a way that the trace does not understand.
    Raises ValueError for what is no token ids, for ids outside of the vocabulary, for too many tokens, for entries
    that the model does not read, and for a model whose weights are on the meta device."""
    body = _body_of(model)
    blocks = _blocks_of(body)
    if blocks is None:
        raise _no_blocks(model, body)
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
        with _Recorder(sublayers, inputs["input_ids"].shape) as recorder:
            recorder.watch(blocks[0], final_norm)
            handed_on = _first_tensor(_run(body, inputs))
        recorder.check_complete(body)
        result = Trace(
            points,
            [place.value for place in recorder.stream],
            [place.value for place in recorder.writes],
            recorder.final.value,
        )
        _check_end(result, handed_on, body)
        for index, sublayer in enumerate(sublayers):
            kind, number = points[index + 1]
            if index in recorder.not_read:
                raise UnknownDecoder(_why_not_read(points[index], points[index + 1], body))
            if not _adds_up(result, index, sublayer, recorder):
                raise UnknownDecoder(_why_no_sum(kind, number, blocks[number - 1], body, inputs))
        if len(sublayers) in recorder.not_read:
            raise UnknownDecoder(_why_not_read(points[-1], None, body))
    if is_batch:
        return result
    final = result.final
    if final is not None:
        final = final[0]
    return Trace(points, [x[0] for x in result.stream], [x[0] for x in result.writes], final)


# Where the parts are


@dataclass(frozen=True)
class _Sublayer:
    """Where the hooks of one sublayer go."""

    writer: nn.Module  # its output is what the sublayer writes
    place: nn.Module  # where the stream after the sublayer is seen, ...
    side: str  # ... as this module's "input" or "output"
    reader: nn.Module | None = None  # a module, other than the last place, whose input is the stream before
    norm: nn.Module | None = None  # in post-norm, the norm that reads the sum
    alpha: float = 1.0  # by which DeepNorm multiplies the stream before it adds


def _body_of(model):
    """Return the model without its output matrix."""
    if isinstance(model, Decoder):
        return model
    if not isinstance(model, nn.Module):
        if isinstance(getattr(model, "decoder", None), nn.Module):
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
    if isinstance(block, Block) and isinstance(block.attention, Sublayer) and isinstance(block.mlp, Sublayer):
        return [_own_sublayer(block.attention), _own_sublayer(block.mlp)]
    parts = dict(block.named_children())
    attention = _find(parts, ATTENTIONS)
    mlp = _find(parts, MLPS)
    if attention is None or mlp is None:
        raise UnknownDecoder(
            f"The trace finds no attention or no MLP in {type(block).__name__}. "
            f"It reads blocks that hold both, one after the other, under the names of GPT-2, Llama and their like."
        )
    norms = _norms_after_addition(parts)
    if final_norm is None and norms is not None:  # post-norm: the last norm of the last block is the last of the model
        return _post_norm_sublayers(block, attention, mlp, norms)
    return _pre_norm_sublayers(block, attention, mlp, parts)


def _own_sublayer(part):
    """Return the _Sublayer of a `Sublayer` of this project."""
    if part.placement not in ("post", "deepnorm"):
        return _Sublayer(part.writer, part, "output", reader=part)
    alpha = 1.0
    if part.placement == "deepnorm":
        alpha = part.alpha
    return _Sublayer(part.writer, part.norm, "output", reader=part, norm=part.norm, alpha=alpha)


def _norms_after_addition(parts):
    """Return the two norms of a post-norm block, by their names, or None."""
    for after_attention, after_mlp in POST_NORMS:
        if after_attention in parts and after_mlp in parts:
            return parts[after_attention], parts[after_mlp]
    return None


def _post_norm_sublayers(block, attention, mlp, norms):
    """Return the _Sublayers of a block of transformers whose norms follow the additions."""
    after_attention, after_mlp = norms
    return [
        _Sublayer(attention, after_attention, "output", reader=block, norm=after_attention),
        _Sublayer(mlp, after_mlp, "output", norm=after_mlp),
    ]


def _pre_norm_sublayers(block, attention, mlp, parts):
    """Return the _Sublayers of a block of transformers that adds last."""
    attention_writer = attention
    mlp_writer = mlp
    for after_attention, after_mlp in OUTPUT_NORMS:
        if after_attention in parts and after_mlp in parts:
            attention_writer = parts[after_attention]
            mlp_writer = parts[after_mlp]
    before_mlp = _find(parts, NORMS_BEFORE_MLP)
    if before_mlp is None or before_mlp is attention_writer:
        before_mlp = mlp  # OLMo 2's MLP reads the stream itself
    return [
        _Sublayer(attention_writer, before_mlp, "input", reader=block),
        _Sublayer(mlp_writer, block, "output"),
    ]


# The token ids


def _read_inputs(ids):
    """Return a dictionary with "input_ids", of shape (T,) or (B, T) and whole numbers, and what came with it."""
    given = {"input_ids": ids}
    if isinstance(ids, Mapping):
        given = dict(ids)
    if "input_ids" not in given:
        raise ValueError('The trace finds no "input_ids" in this mapping. Give it what a tokenizer returns.')
    if isinstance(given["input_ids"], str):
        raise ValueError(
            "The trace reads token ids, not text. Give it what the tokenizer makes of the text: `model.encode(text)`."
        )
    inputs = {}
    for name, values in given.items():
        if name != "input_ids" and (values is None or name in OPTIONS):
            continue
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
    _check_names(inputs, body)
    shape = inputs["input_ids"].shape
    table = token_table(body)
    device = inputs["input_ids"].device
    if table is not None:
        _check_vocabulary(inputs["input_ids"], table.num_embeddings)
        if table.weight.device.type != "meta":
            device = table.weight.device
    limit = most_tokens(body)
    if limit is not None and shape[-1] > limit:
        raise ValueError(f"The input has {shape[-1]} tokens, but this model reads at most {limit}.")
    fitted = {}
    for name, values in inputs.items():
        is_one_text = len(shape) == 1 and values.shape == shape
        batch = values[None] if is_one_text else values
        fitted[name] = batch.to(device)
    mask = fitted.get("attention_mask")
    if mask is not None:
        fits = mask.shape == fitted["input_ids"].shape
        is_for_transformers = mask.dim() >= 3 and not isinstance(body, Decoder)  # which reads masks with more axes, too
        if not fits and not is_for_transformers:
            found = tuple(inputs["attention_mask"].shape)
            raise ValueError(f"The attention mask has the shape {found}, the ids have {tuple(shape)}.")
    return fitted


def _check_names(inputs, body):
    """Raise ValueError for an entry that the model does not read; none is left out silently."""
    if isinstance(body, Decoder):
        known = {"input_ids", "attention_mask"}
    else:
        parameters = inspect.signature(body.forward).parameters.values()
        if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
            return
        known = {"input_ids"}
        known.update(parameter.name for parameter in parameters)
    for name in inputs:
        if name not in known:
            raise ValueError(f'{type(body).__name__} does not read the entry "{name}". Leave it out of the mapping.')


def token_table(body):
    """Return the embedding of the tokens of a model, an nn.Embedding, or None where it cannot be told."""
    if isinstance(body, Decoder):
        return body.token_embedding
    try:
        table = body.get_input_embeddings()
    except (AttributeError, NotImplementedError):
        table = _find(dict(body.named_children()), TOKEN_TABLES)
    if isinstance(table, nn.Embedding):
        return table
    return None


def _check_vocabulary(ids, size):
    """Raise ValueError unless all ids are rows of the embedding; on a GPU torch would lose the whole process."""
    smallest = ids.min().item()
    largest = ids.max().item()
    for token in (smallest, largest):
        if token < 0 or token >= size:
            raise ValueError(f"There is no token {token}: the ids of this model go from 0 to {size - 1}.")


def most_tokens(body):
    """Return how many positions a model with learned positions has, or None for others, which have no such end."""
    if isinstance(body, Decoder):
        return body.config.positions
    table = _find(dict(body.named_children()), POSITION_TABLES)
    if not isinstance(table, nn.Embedding):
        return None
    limit = getattr(getattr(body, "config", None), "max_position_embeddings", None)
    if isinstance(limit, int):
        return min(limit, table.num_embeddings)
    return table.num_embeddings


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


class _Place:
    """What passed one place of a model."""

    def __init__(self):
        self.runs = 0  # how often the place was passed
        self.value = None  # a copy of what passed it last, or None if that was no tensor

    def put(self, value):
        """Keep a copy of a value: a model may go on and change the tensor itself, as `x += write` does."""
        self.runs += 1
        self.value = None
        if value is not None:
            self.value = value.clone()


class _Recorder:
    """Keeps copies of what passes at some places of a model, until the `with` block ends.

    What the sublayers read is compared at once, and not kept."""

    def __init__(self, sublayers, shape):
        self.sublayers = sublayers
        self.shape = shape  # (B, T)
        self.stream = [_Place()]
        self.writes = []
        for _ in sublayers:
            self.stream.append(_Place())
            self.writes.append(_Place())
        self.final = _Place()
        self.has_final_norm = False
        self.not_read = set()  # the points, by their index, that what follows does not read
        self.sums = {}  # in post-norm: index of the sublayer → whether its norm has read the sum
        self.hooks = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for hook in self.hooks:
            hook.remove()

    def watch(self, first_block, final_norm):
        """Set the hooks: on the sublayers, on the block that reads the embedding, and on the final norm, if any."""
        self._on_input(first_block, self.stream[0].put)
        for index, sublayer in enumerate(self.sublayers):
            if sublayer.reader is not None and sublayer.reader is not first_block:
                self._compare_reading(index, sublayer.reader)
            self._keep_write(index, sublayer.writer)
            if sublayer.norm is not None:
                self._compare_sum(index, sublayer)
            point = self.stream[index + 1]
            if sublayer.side == "input":
                self._on_input(sublayer.place, point.put)
            else:
                self._on_output(sublayer.place, point.put)
        if final_norm is not None:
            self.has_final_norm = True
            self._compare_reading(len(self.sublayers), final_norm)
            self._on_output(final_norm, self.final.put)

    def _on_input(self, module, see):
        """Call `see` with what the module reads, each time that it runs."""

        def hook(module, args, kwargs):
            see(_first_input(args, kwargs))

        self.hooks.append(module.register_forward_pre_hook(hook, with_kwargs=True))

    def _on_output(self, module, see):
        """Call `see` with what the module returns, each time that it runs."""

        def hook(module, args, output):
            see(_first_tensor(output))

        self.hooks.append(module.register_forward_hook(hook))

    def _keep_write(self, index, writer):
        """Keep what a sublayer writes as (B, T, d); a mixture of experts may return (B · T, d)."""
        tokens = self.shape.numel()

        def see(written):
            if written is not None and written.dim() == 2 and len(written) == tokens:
                written = written.unflatten(0, self.shape)
            self.writes[index].put(written)

        self._on_output(writer, see)

    def _compare_reading(self, index, reader):
        """Note whether a module reads the point of this index, as it was when it was kept."""

        def see(read):
            point = self.stream[index].value
            if point is None:  # NanoChat's final norm follows the embedding, too
                return
            if read is None or not _equal(point.to(read.device), read):
                self.not_read.add(index)
            else:
                self.not_read.discard(index)

        self._on_input(reader, see)

    def _compare_sum(self, index, sublayer):
        """Note whether the norm after an addition reads the sum of stream and write."""

        def see(read):
            before = self.stream[index].value
            write = self.writes[index].value
            self.sums[index] = _is_sum(before, write, read, sublayer.alpha)

        self._on_input(sublayer.norm, see)

    def check_complete(self, body):
        """Raise UnknownDecoder unless each place was passed exactly once, the final norm at least once, and each time
        by a tensor of shape (B, T, d)."""
        name = type(body).__name__
        places = [*self.stream, *self.writes]
        if self.has_final_norm:
            places.append(self.final)
        for place in places:
            if place.value is None:
                raise UnknownDecoder(
                    f"The trace does not understand {name}: a part that it knows by name never runs, or returns no "
                    "tensor."
                )
            if place.runs > 1 and place is not self.final:
                raise UnknownDecoder(
                    f"The trace does not understand {name}: a part of its blocks runs more than once in one pass."
                )
        for place in self.stream:
            self._check_shape(place, "as its residual stream", name)
        for place in self.writes:
            self._check_shape(place, "as what a sublayer writes", name)

    def _check_shape(self, place, what, name):
        found = tuple(place.value.shape)
        if place.value.dim() == 3:
            return
        sentence = (
            f"The trace reads one residual stream, a tensor (B, T, d). {name} has a tensor of shape {found} {what}"
        )
        if place.value.dim() > 3:
            sentence += "; some models keep several streams for each token"
        raise UnknownDecoder(f"{sentence}.")


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
    if torch.is_tensor(first):
        return first
    return None


def _run(body, inputs):
    """Run the model up to its final norm and return what it returns; ValueError for weights without numbers."""
    try:
        return _forward(body, inputs)
    except (RuntimeError, NotImplementedError) as error:
        if any(parameter.is_meta for parameter in body.parameters()):
            raise ValueError(
                f"The weights of this {type(body).__name__} are on the meta device, where tensors have a shape and no "
                "numbers. Load the model together with its weights."
            ) from error
        raise


def _forward(body, inputs):
    others = dict(inputs)
    ids = others.pop("input_ids")
    if isinstance(body, Decoder):
        mask = others.get("attention_mask", torch.ones_like(ids)).bool()
        if bool((mask[:, 1:] & ~mask[:, :-1]).any()):
            raise ValueError("This decoder reads no attention mask, so it takes padding on the right only.")
        return body.hidden(ids)
    if "use_cache" in inspect.signature(body.forward).parameters:  # what transformers keeps for the next token
        others["use_cache"] = False
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


def _is_sum(before, write, found, alpha=1.0):
    """Return whether what is found is α times the stream before, plus the write.

    An addition of two numbers in one format has one right result, whatever computes it. So the sums must be equal to
    the last bit, at every token: then nothing hides behind a large stream, an outlier feature, or coarse numbers, as
    long as rounding does not swallow a write whole."""
    if before is None or write is None or found is None or before.shape != write.shape:
        return False
    scaled = before.to(found.device)
    if alpha != 1.0:
        scaled = alpha * scaled
    expected = scaled + write.to(found.device)
    return _equal(expected.to(found.dtype), found)


def _adds_up(result, index, sublayer, recorder):
    """Return whether the point before a sublayer and its write add up to the next point, or to what its norm reads."""
    if sublayer.norm is not None:
        return recorder.sums[index]
    return _is_sum(result.stream[index], result.writes[index], result.stream[index + 1])


def _check_end(result, handed_on, body):
    """Raise UnknownDecoder unless the model hands on what the trace takes for its end."""
    end = result.stream[-1]
    if result.final is not None:
        end = result.final
    if handed_on is None or not _equal(end.to(handed_on.device), handed_on):
        raise UnknownDecoder(
            f"The trace does not understand {type(body).__name__}: after its last block, and after the final norm if "
            "the trace finds one, comes another part, perhaps a norm with a name that is not known here."
        )


def _why_not_read(point, following, body):
    """Return the sentence for a point that changes before the next sublayer, or the final norm, reads it."""
    kind, number = point
    where = "the embedding"
    if number > 0:
        where = f"the {kind} sublayer of block {number}"
    reader = "the final norm"
    if following is not None:
        kind, number = following
        reader = f"the {kind} sublayer of block {number}"
    return (
        f"The trace does not understand {type(body).__name__}: the stream changes between {where} and {reader}. "
        "Does a hook or a block of your own change it there?"
    )


def _why_no_sum(kind, number, block, body, inputs):
    """Return the sentence for a block in which the stream does not grow by what the sublayer returns."""
    name = type(block).__name__
    parts = dict(block.named_children())
    attention = _find(parts, ATTENTIONS)
    mlp = _find(parts, MLPS)
    own = isinstance(block, Block)  # its MLP reads what the attention's sublayer returns
    if kind == "attention" and not own and _in_parallel(attention, mlp, body, inputs):
        return (
            f"In {name} attention and MLP run in parallel: both read the same stream, and both outputs are added to "
            "it at once. So there is no point of the stream between them, and the trace cannot show one."
        )
    return (
        f"The trace does not understand {name}: in block {number} the stream does not grow by what the {kind} "
        "sublayer returns. Its output may be scaled before it is added, pass a norm with a name that is not known "
        "here, or be changed by a hook."
    )


def _in_parallel(attention, mlp, body, inputs):
    """Return whether the MLP reads the same when the attention returns zeros."""
    read = []

    def see(module, args, kwargs):
        value = _first_input(args, kwargs)
        if value is not None:
            value = value.clone()
        read.append(value)

    def silence(module, args, output):
        if torch.is_tensor(output):
            return torch.zeros_like(output)
        return (torch.zeros_like(output[0]), *output[1:])

    with mlp.register_forward_pre_hook(see, with_kwargs=True):
        _run(body, inputs)
        with attention.register_forward_hook(silence):
            _run(body, inputs)
    if len(read) != 2:
        return False
    as_it_is, without_attention = read
    if as_it_is is None or without_attention is None:
        return False
    return _equal(as_it_is, without_attention)


def _no_blocks(model, body):
    """Return the UnknownDecoder for a model that holds no list of blocks where the trace looks for it."""
    name = type(body).__name__
    if getattr(getattr(body, "config", None), "is_encoder_decoder", False):
        return UnknownDecoder(f"{name} is an encoder with a decoder. The trace reads models that are one decoder.")
    for path, part in model.named_modules():
        if path and _can_be_traced(part):
            sentence = (
                f"{name} holds a decoder among other parts. Give the trace that part: `trace(model.{path}, ids)`."
            )
            return UnknownDecoder(sentence, path)
    return UnknownDecoder(
        f"The trace does not understand {name}: it finds no list of blocks in it. It reads decoders whose blocks hold "
        "an attention and an MLP, one after the other."
    )


def _can_be_traced(part):
    """Return whether a part of a model reads token ids and holds blocks with an attention and an MLP."""
    if isinstance(part, nn.ModuleDict):  # it has no forward pass of its own
        return False
    blocks = _blocks_of(part)
    if blocks is None or token_table(part) is None:
        return False
    final_norm = _final_norm_of(part)
    try:
        for block in blocks:
            _sublayers_of(block, final_norm)
    except UnknownDecoder:
        return False
    return True
