"""The two checkpoints of the lessons, GPT-2 small and GPT-1, as this project's decoder."""

import json
from pathlib import Path

from safetensors.torch import load_file

from helpers import language
from helpers.models import hub
from helpers.models.model import Model
from helpers.models.transformers_weights import decoder_from_transformers

CHECKPOINTS = language.data("models/checkpoints.toml")


def from_cache_or_hub(name, tell):
    """Return the Model of a checkpoint. Raises what `hub.files` raises, and hub.Damaged for another model's files."""
    entry = CHECKPOINTS[name]
    paths = hub.files(entry["repo"], entry["revision"], entry["title"], tell, entry.get("sha256"))
    weights, config_file, tokenizer = (paths[file] for file in hub.FILES)
    config = json.loads(Path(config_file).read_text(encoding="utf8"))
    for setting, expected in entry["settings"].items():
        if config.get(setting) != expected:
            raise hub.Damaged(f"{config_file}: {setting} is not {expected}")
    try:
        decoder = decoder_from_transformers(load_file(weights), config)
    except ValueError as error:
        raise hub.Damaged(f"{weights}: {error}") from error
    return Model(name, decoder.float(), hub.read_tokenizer(tokenizer), decoder.config.positions)
