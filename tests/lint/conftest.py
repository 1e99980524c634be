"""One kernel at a time runs notebooks in each of the two processes that run the tests."""

from running import execution

execution.KERNELS = 1
