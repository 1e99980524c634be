"""Weights between this project's decoder and transformers' GPT-2 and GPT-1, both ways, without a copy."""

import tomllib
from collections.abc import Mapping
from importlib.resources import files

import torch

from helpers.decoder import Config, Decoder

TABLES = tomllib.loads(files("helpers").joinpath("models/transformers_names.toml").read_text(encoding="utf8"))
FIELDS = TABLES["fields"]
NAMES = TABLES["names"]
BUFFERS = tuple(TABLES["buffers"])
LAYOUTS = TABLES["layouts"]
PREFIX = "transformer."
OUTPUT_MATRIX = "lm_head.weight"


def decoder_from_transformers(tensors, settings):
    """Return a decoder that holds GPT-2's or GPT-1's weights, in eval mode; it shares their memory.

    tensors: name → tensor as in model.safetensors, with or without the prefix "transformer.". The stored causal masks
    of old checkpoints are not needed, nor is an output matrix that equals the token embedding.
    settings: the parsed config.json.
    Raises ValueError when the settings, or the names, shapes or types of the tensors, are not those of such a model:
    nothing is left out silently, and nothing is made up."""
    layout = _layout_of(settings)
    config = _config_of(settings, layout)
    tensors = _without_prefix(tensors)
    _check_blocks(tensors, config.layers)
    with torch.device("meta"):  # no memory for weights that are replaced at once
        decoder = Decoder(config)
    state = {}
    used = set()
    for name, parameter in decoder.state_dict().items():
        foreign, transposed = _foreign_name(name, layout)
        state[name] = _tensor(tensors, foreign, transposed, parameter.shape)
        used.add(foreign)
    _check_rest(tensors, used, state["token_embedding.weight"])
    decoder.load_state_dict(state, assign=True)
    return decoder.eval()


def to_transformers(decoder):
    """Return transformers' GPT2LMHeadModel (pre-norm) or OpenAIGPTLMHeadModel (post-norm) with these weights.

    The memory is shared. Raises ValueError for a decoder that neither of them can hold."""
    import transformers  # takes seconds, so only here

    config = decoder.config
    kinds = {"pre": "gpt2", "post": "openai-gpt"}
    if config.norm != "layernorm" or config.placement not in kinds:
        raise ValueError("transformers' GPT-2 and GPT-1 hold LayerNorm decoders, pre-norm and post-norm")
    kind = kinds[config.placement]
    layout = LAYOUTS[kind]
    fields = {field: getattr(config, own) for field, own in FIELDS.items()}
    settings = transformers.AutoConfig.for_model(kind, bos_token_id=None, eos_token_id=None, **fields)
    state = {}
    for name, tensor in decoder.state_dict().items():
        foreign, transposed = _foreign_name(name, layout)
        state[PREFIX + foreign] = tensor.T if transposed else tensor
    transformers.utils.logging.disable_progress_bar()  # there is nothing to wait for: no tensor is copied
    architecture = getattr(transformers, layout["architecture"])
    dtype = decoder.token_embedding.weight.dtype
    model = architecture.from_pretrained(None, config=settings, state_dict=state, dtype=dtype)
    return model.eval()


def _foreign_name(name, layout):
    """Return transformers' name of a decoder's parameter, and whether its matrix is stored transposed there."""
    transposed = name.startswith("blocks") and name.endswith("weight")  # Conv1D stores (in, out)
    known = NAMES | layout["names"]
    parts = name.split(".")
    foreign = []
    if parts[0] == "blocks":  # "blocks.3.attention.f.qkv.weight"
        foreign += [known["blocks"], parts[1]]
        parts = parts[2:]
    module = ".".join(parts[:-1])
    parameter = parts[-1]
    foreign += [known[module], known.get(parameter, parameter)]
    return ".".join(foreign), transposed


def _layout_of(settings):
    """Return the layout of a type of model; ValueError for another type, and for a setting the decoder lacks."""
    if not isinstance(settings, Mapping):
        raise ValueError(f"config.json should hold an object with settings, not a {type(settings).__name__}.")
    kind = settings.get("model_type")
    if not isinstance(kind, str) or kind not in LAYOUTS:
        raise ValueError(f"This checkpoint is of the type “{kind}”. The decoder reads: {', '.join(LAYOUTS)}.")
    layout = LAYOUTS[kind]
    for setting, expected in layout["settings"].items():
        found = settings.get(setting, expected)
        if found != expected:
            raise ValueError(f"The decoder cannot do {setting} = {found!r}, only {expected!r}.")
    return layout


def _config_of(settings, layout):
    """Return the Config that config.json describes; ValueError for a field that is missing or no number."""
    values = {}
    for field, own in FIELDS.items():
        if field not in settings:
            raise ValueError(f"config.json has no field {field}.")
        value = settings[field]
        is_size = isinstance(value, int) and not isinstance(value, bool) and value > 0
        is_small_number = isinstance(value, float) and 0 <= value < 1
        if own == "eps" and not is_small_number:
            raise ValueError(f"{field} in config.json should be a number between 0 and 1, and is {value!r}.")
        if own != "eps" and not is_size:
            raise ValueError(f"{field} in config.json should be a whole number, at least 1, and is {value!r}.")
        values[own] = value
    return Config(placement=layout["placement"], **values)


def _without_prefix(tensors):
    """Return the tensors under their names without "transformer."; ValueError if a name is there with and without."""
    bare = {}
    for name, tensor in tensors.items():
        short = name.removeprefix(PREFIX)
        if short in bare:
            raise ValueError(f"The tensor {short} is there twice, with and without the prefix “{PREFIX}”.")
        bare[short] = tensor
    return bare


def _check_blocks(tensors, layers):
    """Raise ValueError unless the tensors are those of this many blocks."""
    numbers = set()
    for name in tensors:
        part, _, rest = name.partition(".")
        number, _, _ = rest.partition(".")
        if part == "h" and number.isdecimal():
            numbers.add(int(number))
    if numbers and len(numbers) != layers:
        raise ValueError(f"The file holds {len(numbers)} blocks, but config.json says n_layer = {layers}.")


def _tensor(tensors, name, transposed, shape):
    """Return one of the tensors, as the decoder stores it; ValueError if it is missing or of another kind."""
    if name not in tensors:
        raise ValueError(f"The tensor {name} is missing.")
    tensor = tensors[name]
    if not tensor.is_floating_point():
        raise ValueError(f"The tensor {name} holds {tensor.dtype}; weights are floating-point numbers.")
    own = tensor
    expected = shape
    if transposed:
        expected = shape[::-1]
        if tensor.dim() == 2:
            own = tensor.T
    if own.shape != shape:
        raise ValueError(f"The tensor {name} has the shape {tuple(tensor.shape)}; it should be {tuple(expected)}.")
    return own


def _check_rest(tensors, used, token_embedding):
    """Raise ValueError for a tensor that the decoder has no place for, and for an output matrix of its own."""
    for name, tensor in tensors.items():
        if name in used or name.endswith(BUFFERS):
            continue
        if name != OUTPUT_MATRIX:
            raise ValueError(f"The decoder has no place for the tensor {name}.")
        if not torch.equal(tensor, token_embedding):
            raise ValueError(f"{name} differs from the token embedding; the decoder uses one matrix for both.")
