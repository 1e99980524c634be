"""Grades submissions as `classroom.py grade-one` does, each in a process of its own that need not import nbgrader anew.

Run as a program it reads a job a line and answers with a line: the reason of a failure, or "". Importing what grading
needs takes longer than grading a small submission, so it is done once and every job runs in a copy of this process.
"""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).parents[2]


class GradingServer:
    """Stands in for `grade_submissions.grade_apart`; one job at a time."""

    def __init__(self):
        self.turn = threading.Lock()
        self.process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf8",
        )

    def __call__(self, directory, student, assignment):
        with self.turn:
            self.process.stdin.write(json.dumps([str(directory.resolve()), student, assignment]) + "\n")
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()


def answer(job, answers):
    """Grade a submission and write the reason of a failure to a pipe."""
    from course import one_submission

    directory, student, assignment = job
    reason = one_submission.grade(Path(directory), student, assignment)
    with os.fdopen(answers, "w", encoding="utf8") as pipe:
        pipe.write(json.dumps(str(reason)) + "\n")


def main():
    """Answer jobs until the standard input ends."""
    sys.path[:1] = [str(ROOT), str(ROOT / "tools")]  # in place of this file's folder
    answers = os.dup(1)
    os.dup2(2, 1)  # what nbgrader prints is no answer
    import course.one_submission  # noqa: F401, for the copies of this process

    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                answer(json.loads(line), answers)
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        if status:
            os.write(answers, json.dumps(f"ended with code {status}").encode() + b"\n")


if __name__ == "__main__":
    main()
