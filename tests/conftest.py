"""What every test starts from."""

import os
import socket

import pytest
import torch

import classroom
import notebooks
from helpers import language

notebooks.KERNELS = classroom.KERNELS = 1  # one for each of the two processes that run the tests
# threads of two processes wait for one another, many times as long
os.environ["OMP_NUM_THREADS"] = "1"
torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def in_english():
    """Start every test in English; the language is a setting of the whole process."""
    language.use("en")


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The folder of the whole static site, built without a network; about a minute on one core."""
    import website  # here, since it takes seconds and few tests need it

    folder = tmp_path_factory.mktemp("site")

    def refuse(*_):
        raise AssertionError("building the site must not use the network")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", refuse)
        patch.setattr(socket, "getaddrinfo", refuse)
        website.build(website.ROOT, folder)
    return folder
