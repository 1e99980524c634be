"""Weights between this project's decoder and transformers' GPT-2 and GPT-1, both ways, without a copy."""

import torch

from helpers.gpt import Config, Decoder

# model_type in config.json → what the decoder must be, what the settings must say (or leave out), and how
# transformers calls the parts outside the blocks
LAYOUTS = {
    "gpt2": {"placement": "pre",
             "settings": {"activation_function": "gelu_new", "tie_word_embeddings": True, "scale_attn_weights": True,
                          "scale_attn_by_inverse_layer_idx": False},
             "outside": {"token_embedding": "wte", "position_embedding": "wpe", "final_norm": "ln_f"}},
    "openai-gpt": {"placement": "post",
                   "settings": {"afn": "gelu", "tie_word_embeddings": True},  # its "gelu" is the tanh form, too
                   "outside": {"token_embedding": "tokens_embed", "position_embedding": "positions_embed"}},
}  # fmt: skip
INSIDE = {"attention.norm": "ln_1", "attention.f.qkv": "attn.c_attn", "attention.f.out": "attn.c_proj",
          "mlp.norm": "ln_2", "mlp.f.up": "mlp.c_fc", "mlp.f.down": "mlp.c_proj"}  # fmt: skip
FIELDS = {"vocab_size": "vocab_size", "n_positions": "positions", "n_embd": "width", "n_layer": "layers",
          "n_head": "heads", "layer_norm_epsilon": "eps"}  # fmt: skip
ENDINGS = {"gamma": "weight", "beta": "bias", "weight": "weight", "bias": "bias"}


def _foreign_name(name, layout):
    """Return transformers' name of a decoder parameter, and whether its matrix is stored transposed there."""
    *parts, ending = name.split(".")
    if parts[0] == "blocks":
        part = INSIDE[".".join(parts[2:])]
        return f"h.{parts[1]}.{part}.{ENDINGS[ending]}", ending == "weight"  # Conv1D stores (in, out)
    return f"{layout['outside'][parts[0]]}.{ENDINGS[ending]}", False


def decoder_from_transformers(tensors, settings):
    """Return a decoder that holds GPT-2's or GPT-1's weights, in eval mode; it shares their memory.

    tensors: name → tensor as in model.safetensors, with or without the prefix "transformer.".
    settings: the parsed config.json. Raises ValueError when a setting, a name or a shape does not fit."""
    layout = LAYOUTS.get(settings.get("model_type"))
    if layout is None:
        raise ValueError(f"model_type {settings.get('model_type')!r} is not one of {', '.join(LAYOUTS)}")
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
    if config.norm != "layernorm" or config.placement not in ("pre", "post"):
        raise ValueError("transformers' GPT-2 and GPT-1 hold LayerNorm decoders, pre-norm and post-norm")
    model_type = "gpt2" if config.placement == "pre" else "openai-gpt"
    fields = {field: getattr(config, own) for field, own in FIELDS.items()}
    settings = transformers.AutoConfig.for_model(model_type, bos_token_id=None, eos_token_id=None, **fields)
    state = {}
    for name, tensor in decoder.state_dict().items():
        foreign, transposed = _foreign_name(name, LAYOUTS[model_type])
        state[f"transformer.{foreign}"] = tensor.T if transposed else tensor
    architecture = transformers.GPT2LMHeadModel if model_type == "gpt2" else transformers.OpenAIGPTLMHeadModel
    dtype = decoder.token_embedding.weight.dtype
    transformers.utils.logging.disable_progress_bar()  # there is nothing to wait for: no tensor is copied
    return architecture.from_pretrained(None, config=settings, state_dict=state, dtype=dtype).eval()
