"""The residual stream by forward hooks, in `helpers.gpt` and in transformers' decoders from GPT-1 to OLMo 2."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn
from torch.overrides import TorchFunctionMode

from helpers.gpt import Block, Decoder
from helpers.language import say


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
        """Return the L2 norm of the stream at every point and token, (2N + 1, ..., T)."""
        return torch.stack([x.norm(dim=-1) for x in self.stream])

    def write_lengths(self):
        """Return the L2 norm of what each sublayer wrote, (2N, ..., T)."""
        return torch.stack([x.norm(dim=-1) for x in self.writes])


class _Quick(TorchFunctionMode):
    """Linear layers by oneDNN, which takes half of MKL's time on AMD processors but knows no gradients."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        fits = torch.backends.mkldnn.is_available() and function is F.linear and len(args) == 3
        if fits and all(part is None or part.is_cpu and part.dtype == torch.float32 for part in args):
            return torch.ops.mkldnn._linear_pointwise(*args, "none", [], None)
        return function(*args, **(kwargs or {}))


@torch.no_grad()
def trace(model, ids):
    """Run a model in eval mode on token ids of shape (T,) or (B, T) and return its Trace; no logits are computed.

    Raises UnknownDecoder for blocks it does not understand, also when what the sublayers wrote does not add up
    to the stream (parallel sublayers, scaled residual connections)."""
    body = model if isinstance(model, Decoder) else getattr(model, "base_model", model)
    blocks, final_norm = _find_blocks(body)
    seen, handles = {}, []

    def keep(module, side, key):
        def see(_, args, kwargs, output=None):  # of tensors, or of tuples that start with the stream
            value = output if side == "output" else args or next(iter(kwargs.values()))
            seen[key] = value if torch.is_tensor(value) else value[0]

        register = module.register_forward_hook if side == "output" else module.register_forward_pre_hook
        handles.append(register(see, with_kwargs=True))

    batch = ids if (ids := torch.as_tensor(ids)).dim() == 2 else ids[None]
    try:
        keep(blocks[0], "input", ("embedding", 0))
        for number, block in enumerate(blocks, 1):
            for kind, (writer, (module, side)) in zip(("attention", "mlp"), _sublayers(block, final_norm), strict=True):
                keep(writer, "output", (kind, number, "write"))
                keep(module, side, (kind, number))
        if final_norm is not None:
            keep(final_norm, "output", "final")
        with _Quick():
            body.hidden(batch) if isinstance(body, Decoder) else body(batch, use_cache=False)
    finally:
        for handle in handles:
            handle.remove()
    if len(seen) < len(handles):  # a part that never runs has another role than its name says
        raise UnknownDecoder(say("trace.no_sublayers", model=type(body).__name__))
    points = [("embedding", 0), *((kind, number + 1) for number in range(len(blocks)) for kind in ("attention", "mlp"))]
    shaped = lambda key: seen[key] if ids.dim() == 2 else seen[key][0]
    stream, writes = [shaped(point) for point in points], [shaped((*point, "write")) for point in points[1:]]
    result = Trace(points, stream, writes, None if final_norm is None else shaped("final"))
    if not isinstance(model, Decoder):
        _check_sums(result, blocks, final_norm)
    return result


def _find_blocks(body):
    """Return the list of blocks and the final norm (or None) of a model without its output matrix."""
    lists = [part for part in getattr(body, "children", list)() if isinstance(part, nn.ModuleList) and len(part)]
    if not lists:
        raise UnknownDecoder(say("trace.no_blocks", model=type(body).__name__, part="model.decoder"))
    final_norm = next((getattr(body, name) for name in ("final_norm", "ln_f", "norm") if hasattr(body, name)), None)
    return max(lists, key=len), None if isinstance(final_norm, nn.Identity) else final_norm


def _sublayers(block, final_norm):
    """Return for attention and MLP: the module whose output is written, and where to read the stream after it."""
    parts = dict(block.named_children())
    if isinstance(block, Block):
        return [(part.writer, (part, "output")) for part in (block.attention, block.mlp)]
    has = lambda *names: all(name in parts for name in names)
    attention, mlp, after_mlp = parts.get("self_attn", parts.get("attn")), parts.get("mlp"), (block, "output")
    if attention is not None and mlp is not None:
        if has("post_attention_layernorm", "post_feedforward_layernorm"):  # Gemma 2 and 3, OLMo 2
            attention, mlp = parts["post_attention_layernorm"], parts["post_feedforward_layernorm"]
            return [(attention, (parts.get("pre_feedforward_layernorm", parts["mlp"]), "input")), (mlp, after_mlp)]
        if has("post_self_attn_layernorm", "post_mlp_layernorm"):  # GLM-4, both sides as well
            attention, mlp = parts["post_self_attn_layernorm"], parts["post_mlp_layernorm"]
        if has("ln_1") and final_norm is None:  # GPT-1: the norm follows the addition
            return [(attention, (parts["ln_1"], "output")), (mlp, after_mlp)]
        before_mlp = parts.get("ln_2", parts.get("post_attention_layernorm"))  # GPT-2's and Llama's name
        if before_mlp is not None:
            return [(attention, (before_mlp, "input")), (mlp, after_mlp)]
    raise UnknownDecoder(say("trace.no_sublayers", model=type(block).__name__))


def _check_sums(result, blocks, final_norm):
    """Raise UnknownDecoder unless stream + write gives the next point, at the last token."""
    for index, ((kind, number), write) in enumerate(zip(result.points[1:], result.writes, strict=True)):
        expected = result.stream[index][..., -1, :] + write[..., -1, :]
        if final_norm is None:
            expected = getattr(blocks[number - 1], "ln_1" if kind == "attention" else "ln_2")(expected)
        actual = result.stream[index + 1][..., -1, :]
        if not torch.allclose(expected, actual, rtol=1e-2, atol=1e-2 * actual.abs().max().item()):
            raise UnknownDecoder(say("trace.no_sum", block=number))
