"""Norms, a readable decoder, its residual stream, and pictures; import a room by name: `from helpers import trace`."""
