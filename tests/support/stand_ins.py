"""A copy of the project whose pins are those of two repositories with random weights, for whole processes to run in."""

import json
import shutil
from pathlib import Path

from helpers import models
from tests.support import loopback_hub

ROOT = Path(__file__).parents[2]
REPOS = {"gpt2": "openai-community/gpt2", "gpt1": "openai-community/openai-gpt"}


def make_folders(root, **shape):
    """Write both repositories' folders below `root`; return name → folder.

    shape: as in `loopback_hub.make_gpt2_folder`.
    """
    makers = {"gpt2": loopback_hub.make_gpt2_folder, "gpt1": loopback_hub.make_gpt1_folder}
    return {name: make(Path(root) / name, **shape) for name, make in makers.items()}


def copy_project(target, folders):
    """Copy the project to `target`, without .git, and pin in helpers/models/checkpoints.toml what the folders hold."""
    left_out = shutil.ignore_patterns(".*", "__pycache__", "leftovers", "assignments", "solutions", "predictions.json*")
    shutil.copytree(ROOT, target, ignore=left_out)
    table = target / "helpers" / "models" / "checkpoints.toml"
    sections = []
    for name, folder in folders.items():
        pins = loopback_hub.checkpoint(folder, REPOS[name], models.CHECKPOINTS[name]["bundled"])
        sections.append(f"[{name}]\n" + "".join(f"{key} = {_toml(value)}\n" for key, value in pins.items()))
    table.write_text("\n".join(sections), encoding="utf8")
    return target


def _toml(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + " }"
    return json.dumps(value)


def serve(folders):
    """Return a hub on loopback that serves these folders, with their hashes computed."""
    for folder in folders.values():
        for file in folder.iterdir():
            loopback_hub.hashes(file)
    return loopback_hub.Hub({REPOS[name]: folder for name, folder in folders.items()})
