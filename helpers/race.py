"""The warmup race under the name that the lessons import; it lives in explorers/race.py."""

from helpers.explorers.race import CHOICES, CHUNK, KINDS, WarmupRace, chunked, ends, stored

__all__ = ["CHOICES", "CHUNK", "KINDS", "WarmupRace", "chunked", "ends", "stored"]
