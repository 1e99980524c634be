"""Norms, a readable decoder, its residual stream, and pictures; import a module by name: `from helpers import trace`."""
