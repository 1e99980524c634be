"""Norms, a readable decoder, its residual stream, pictures; import a module by name: `from helpers import trace`."""
