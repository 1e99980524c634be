"""The module behind the notebooks: norms, a readable decoder, its residual stream, and the pictures.

Each file is one room and is imported by name, for example `from helpers import models, widgets`."""
