"""The models of the lessons, by name, and a student's own.

    from helpers import models
    model = models.load("gpt2")                    # GPT-2 small, or a bundled model that stands in for it
    model = models.load("bundled/ln-post")         # one of the five that come with the lessons
    model = models.load(decoder, tokenizer)        # a transformers decoder of your own
    model = models.load("HuggingFaceTB/SmolLM2-135M")  # a repository on the hub

Weights are read from safetensors, everything else from JSON; no code of a repository runs.
"""

import os

# How the library behaves that speaks to the hub. It reads these variables when it is imported, which `hub` does when
# it first needs the library; a value that the reader has set stays. No machine data in the requests, and no English
# warnings about tokens and symbolic links beside the sentences in the reader's language.
os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
os.environ.setdefault("HF_HUB_DISABLE_SYMLINKS_WARNING", "1")
os.environ.setdefault("HF_HUB_VERBOSITY", "error")

from helpers.models.hub import FILES  # noqa: E402
from helpers.models.loading import BUNDLED, CHECKPOINTS, NAMES, load  # noqa: E402
from helpers.models.model import Model, Refused, readable  # noqa: E402
from helpers.models.transformers_weights import decoder_from_transformers, to_transformers  # noqa: E402

__all__ = [
    "BUNDLED",
    "CHECKPOINTS",
    "FILES",
    "NAMES",
    "Model",
    "Refused",
    "decoder_from_transformers",
    "load",
    "readable",
    "to_transformers",
]
