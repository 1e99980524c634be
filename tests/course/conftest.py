"""How the tests of a course grade it."""

import pytest

from course import grade_submissions
from tests.support.grading_server import GradingServer


@pytest.fixture(scope="session")
def grading_server():
    server = GradingServer()
    yield server
    server.close()


@pytest.fixture
def quick_grading(grading_server, monkeypatch):
    """Grade without importing nbgrader anew for each submission; what the command does is seen in `graded`."""
    monkeypatch.setattr(grade_submissions, "grade_apart", grading_server)
