"""What every test starts from."""

import pytest

from helpers import language


@pytest.fixture(autouse=True)
def in_english():
    """Start every test in English; the language is a setting of the whole process."""
    language.use("en")
