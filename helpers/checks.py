"""The old place of the checks: notebooks that students saved, and courses made, before the checks moved import it."""

from helpers.activities.check import NotRight, check  # noqa: F401
