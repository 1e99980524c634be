"""How the tests of a course grade it."""

import pytest

from course import grade_submissions


@pytest.fixture
def quick_grading(grading_server, monkeypatch):
    """Grade without importing nbgrader anew for each submission.

    The command itself is tried with the committed solutions, in test_classroom.py, and with an old course."""
    monkeypatch.setattr(grade_submissions, "grade_apart", grading_server)
