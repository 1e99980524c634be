"""A small project for each test, and one kernel at a time in each of the two processes that run the tests."""

import pytest

from running import execution
from tests.support.small_tree import Tree

execution.KERNELS = 1


@pytest.fixture
def tree(tmp_path):
    """Return a project of a few notebooks that has no findings."""
    return Tree(tmp_path)
