"""The explorers of the lessons, one file each; base.py holds what they share."""

from helpers.explorers.layer_norm_against_rms_norm import layer_norm_against_rms_norm
from helpers.explorers.layer_norm_steps import layer_norm_steps
from helpers.explorers.placement import placement
from helpers.explorers.race import WarmupRace
from helpers.explorers.residual_stream import residual_stream

__all__ = ["WarmupRace", "layer_norm_against_rms_norm", "layer_norm_steps", "placement", "residual_stream"]
