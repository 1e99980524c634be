"""`load`: a model by name or a student's own, and what stands in when a model cannot be had."""

import functools
import json
import os
import textwrap
from pathlib import Path

from safetensors import safe_open

from helpers import language
from helpers.decoder import Config, Decoder
from helpers.models import hub, own
from helpers.models.checkpoints import CHECKPOINTS, from_cache_or_hub
from helpers.models.model import Model, Refused

BUNDLED = tuple(f"bundled/{name}" for name in ("ln-pre", "ln-post", "rms-pre", "rms-sandwich", "ln-deepnorm"))
NAMES = (*CHECKPOINTS, *BUNDLED)
STANDS_IN = "bundled/ln-pre"  # for a repository that a student named


def print_wrapped(sentence):
    """Print a sentence in lines of at most 72 characters."""
    print(textwrap.fill(sentence, 72, break_on_hyphens=False, break_long_words=False))


def load(model, tokenizer=None, tell=print_wrapped):
    """Return a Model: one of NAMES, a repository on the hub, or a transformers decoder with its tokenizer.

    tokenizer: of a decoder that is given as an object, from transformers or the library tokenizers, or any object with
    `encode`, text to ids, and `decode`, ids to text; it may be left out if the vocabulary has 256 entries, which are
    then the bytes of the text.
    tell gets each sentence for the reader: before a download, when a damaged file was removed, which commit of a
    repository was loaded, and why a bundled model stands in. Then the name of what is returned is that of the bundled
    model. Raises Refused, a ValueError with one sentence, for a model that is none or cannot be traced, for a tokenizer
    that is missing or of another model, and for the name of a folder or of a repository that does not suit.

    A decoder of two blocks with random weights, which needs no network:

    >>> import transformers
    >>> from helpers import models
    >>> from helpers.trace import trace
    >>> settings = transformers.LlamaConfig(
    ...     vocab_size=256, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4
    ... )
    >>> mine = models.load(transformers.LlamaForCausalLM(settings))
    >>> mine.name, mine.pieces(mine.encode("Tea"))
    ('LlamaForCausalLM', ['T', 'e', 'a'])
    >>> trace(mine.decoder, mine.encode("Tea")).lengths().shape  # 2 blocks with 2 sublayers each, and the embedding
    torch.Size([5, 3])
    """
    if not isinstance(model, str):
        return own.from_object(model, tokenizer)
    if tokenizer is not None:
        raise Refused(language.say("load.tokenizer_of_name", name=model))
    if model in BUNDLED:
        return _bundled(model)
    if model in CHECKPOINTS:
        entry = CHECKPOINTS[model]
        fetch = functools.partial(from_cache_or_hub, model, tell)
        return _or_bundled(fetch, title=entry["title"], bundled=entry["bundled"], tell=tell)
    if os.path.isdir(model):
        raise Refused(language.say("load.folder", name=model))
    if hub.is_repository(model):
        fetch = functools.partial(own.from_hub, model, tell)
        return _or_bundled(fetch, title=model, bundled=STANDS_IN, tell=tell)
    raise Refused(language.say("load.unknown", name=model, names=", ".join(NAMES)))


def _or_bundled(fetch, *, title, bundled, tell):
    """Return fetch(), a Model, or the bundled model after a sentence that says why and what to do."""
    try:
        with hub.errors_told_apart():
            return fetch()
    except hub.NotLoaded as problem:
        tell(language.say("load.fallback", title=title, bundled=bundled, why=problem.why(), how=problem.how()))
    return _bundled(bundled)


def _bundled(name):
    """Return a model that comes with the lessons; its shape is written in its file."""
    with safe_open(Path(__file__).parent / f"{name}.safetensors", "pt") as file:
        config = Config(**json.loads(file.metadata()["config"]))
        decoder = Decoder(config).float()  # also where torch's default is another format
        decoder.load_state_dict({key: file.get_tensor(key) for key in file.keys()})  # noqa: SIM118, the file is no dictionary
    return Model(name, decoder.eval(), None, config.positions)
