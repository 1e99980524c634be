"""Weights between this project's decoder and transformers' GPT-2 and GPT-1, both ways, without a copy."""

import torch

from helpers.gpt import Config, Decoder
from helpers.language import data, one_of

TABLES = data("models/transformers_names.toml")
FIELDS, NAMES, LAYOUTS = TABLES["fields"], TABLES["names"], TABLES["layouts"]


def _foreign_name(name, layout):
    """Return transformers' name of a decoder parameter, and whether its matrix is stored transposed there."""
    transposed = name.startswith("blocks") and name.endswith("weight")  # Conv1D stores (in, out)
    for own, foreign in (NAMES | layout["names"]).items():
        name = name.replace(own, foreign)
    return name, transposed


def decoder_from_transformers(tensors, settings):
    """Return a decoder that holds GPT-2's or GPT-1's weights, in eval mode; it shares their memory.

    tensors: name → tensor as in model.safetensors, with or without the prefix "transformer.".
    settings: the parsed config.json. Raises ValueError when a setting, a name or a shape does not fit."""
    layout = LAYOUTS[one_of(LAYOUTS, settings.get("model_type"), "model_type.unknown")]
    for setting, expected in layout["settings"].items():
        if settings.get(setting, expected) != expected:
            raise ValueError(f"the decoder cannot do {setting} = {settings[setting]!r}, only {expected!r}")
    config = Config(placement=layout["placement"], **{own: settings[field] for field, own in FIELDS.items()})
    tensors = {name.removeprefix("transformer."): tensor for name, tensor in tensors.items()}
    with torch.device("meta"):
        decoder = Decoder(config)
    state = {}
    for name, parameter in decoder.state_dict().items():
        foreign, transposed = _foreign_name(name, layout)
        if foreign not in tensors:
            raise ValueError(f"the tensor {foreign} is missing")
        tensor = tensors[foreign].T if transposed else tensors[foreign]
        if tensor.shape != parameter.shape:
            raise ValueError(f"the tensor {foreign} has the shape {tuple(tensors[foreign].shape)}")
        state[name] = tensor
    decoder.load_state_dict(state, assign=True)
    return decoder.eval()


def to_transformers(decoder):
    """Return transformers' GPT2LMHeadModel (pre-norm) or OpenAIGPTLMHeadModel (post-norm) with these weights.

    The memory is shared. Raises ValueError for a decoder that neither of them can hold."""
    import transformers  # takes seconds, so only here

    config = decoder.config
    kind = {"pre": "gpt2", "post": "openai-gpt"}.get(config.placement)
    if config.norm != "layernorm" or kind is None:
        raise ValueError("transformers' GPT-2 and GPT-1 hold LayerNorm decoders, pre-norm and post-norm")
    fields = {field: getattr(config, own) for field, own in FIELDS.items()}
    settings = transformers.AutoConfig.for_model(kind, bos_token_id=None, eos_token_id=None, **fields)
    state = {}
    for name, tensor in decoder.state_dict().items():
        foreign, transposed = _foreign_name(name, LAYOUTS[kind])
        state[f"transformer.{foreign}"] = tensor.T if transposed else tensor
    transformers.utils.logging.disable_progress_bar()  # there is nothing to wait for: no tensor is copied
    load = getattr(transformers, LAYOUTS[kind]["architecture"]).from_pretrained
    return load(None, config=settings, state_dict=state, dtype=tensor.dtype).eval()
