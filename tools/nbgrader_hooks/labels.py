"""The words that students read on a page of feedback and while answers are graded, in the assignment's language."""

import tomllib
from pathlib import Path

from .handing_out import language_of

LABELS = tomllib.loads(Path(__file__).with_name("labels.toml").read_text(encoding="utf8"))


def labels_of(assignment):
    """Return the words of an assignment's language, name → text."""
    return LABELS.get(language_of(assignment), LABELS["en"])
