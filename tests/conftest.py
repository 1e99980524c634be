"""What every test starts from."""

import json
import os
import re
import shutil
import socket
from pathlib import Path

import pytest
import torch
from filelock import FileLock

from helpers import language

# threads of two processes wait for one another, many times as long
os.environ["OMP_NUM_THREADS"] = "1"
torch.set_num_threads(1)


# what takes minutes, or a network, or a program of its own: left out unless -m names it
ON_REQUEST = ("full_size", "jupyterhub", "network", "whole_class")
# fixtures that take many seconds to make
COSTLY_FIXTURES = {"executed", "german", "graded", "prefix", "site", "stick"}


def pytest_collection_modifyitems(config, items):
    """Mark what is slow by its fixtures, leave out what runs on request only, and let the slow files start first.

    Two processes share the files; a long one that starts last would be waited for.
    """
    for item in items:
        if COSTLY_FIXTURES.intersection(item.fixturenames):
            item.add_marker("slow")
    named = set(re.findall(r"\w+", config.option.markexpr or ""))
    left_out = [marker for marker in ON_REQUEST if marker not in named]
    dropped = [item for item in items if any(item.get_closest_marker(marker) for marker in left_out)]
    config.hook.pytest_deselected(items=dropped)
    kept = [item for item in items if item not in dropped]
    slow_files = {item.path for item in kept if item.get_closest_marker("slow")}
    items[:] = sorted(kept, key=lambda item: item.path not in slow_files)


@pytest.fixture(autouse=True)
def in_english():
    """Start every test in English; the language is a setting of the whole process."""
    language.use("en")


@pytest.fixture(scope="session")
def made_once(tmp_path_factory):
    """Return a function that fills a folder once for all processes that run the tests: (name, fill) → (folder, note).

    fill: takes the empty folder and returns what is to be known of it, as JSON. Tests do not change such a folder.
    """
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent

    def make(name, fill):
        folder, note = base / name, base / f"{name}.json"
        with FileLock(base / f"{name}.lock"):
            if not note.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                note.write_text(json.dumps(fill(folder)), encoding="utf8")
        return folder, json.loads(note.read_text(encoding="utf8"))

    return make


@pytest.fixture(scope="session")
def site(made_once):
    """The folder of the whole static site, built without a network; about a minute on one core."""
    from website import build  # here, since it takes seconds and few tests need it

    def refuse(*_):
        raise AssertionError("building the site must not use the network")

    def fill(folder):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(socket.socket, "connect", refuse)
            patch.setattr(socket, "getaddrinfo", refuse)
            build.build(build.ROOT, folder)

    return made_once("site", fill)[0]


@pytest.fixture(scope="session")
def made(made_once):
    """Return a tree with a small assignment, and a course made from it."""
    from course import course_folder, grade_submissions  # here, since the tests of the norms need no nbgrader
    from tests.support import small_course as small

    grade_submissions.KERNELS = 1  # one for each of the two processes that run the tests

    def fill(folder):
        course_folder.create(small.make_tree(folder) / "course", ["en", "de", "sv"], folder, timeout=5)

    return made_once("tree", fill)[0]


@pytest.fixture
def course(made, tmp_path):
    """Return a course of its own for a test; the place of a course is not written down in it."""
    return Path(shutil.copytree(made / "course", tmp_path / "course"))


@pytest.fixture(scope="session")
def grading_server():
    """What grades a submission without importing nbgrader anew: (course, student, assignment) → reason of a failure."""
    from tests.support.grading_server import GradingServer

    server = GradingServer()
    yield server
    server.close()


@pytest.fixture(scope="session")
def graded(made, made_once, grading_server):
    """Return a graded course of a small class and what each student deserves; the class holds a broken submission."""
    from course import collecting, grade_submissions
    from tests.support import small_course as small

    def fill(folder):
        course = Path(shutil.copytree(made / "course", folder / "course"))
        deserved = small.hand_in(course, folder / "in", small.IN_CI)
        small.put("no notebook", folder, "in", "none", "a.ipynb")
        for lang, kind in (("de", "wrong"), ("sv", "right")):  # one student, two languages
            notebook = small.damaged(kind, small.released(course, lang), course)
            small.put(notebook, folder, "in", "two", f"{lang}.ipynb")
        collecting.collect(course, [folder / "in"])
        small.put("broken", course, "submitted", "broken", "01_layernorm-en", "01_layernorm.ipynb")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(grade_submissions, "grade_apart", grading_server)
            report, good = grade_submissions.grade(course)
        return [deserved | {"two": 5}, report, good]

    folder, note = made_once("class", fill)
    return folder / "course", *note
