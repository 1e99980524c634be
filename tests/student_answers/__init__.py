"""Answers as students write them, and what a check must say about each of them.

One module for each assignment, grouped by task. An answer to try is one more entry:

    @wrong("layer-norm", "unbiased")         makes the known mistake of this name and gets its sentence
    @told("layer-norm", "check.refused")     gets this sentence of the catalogue
    @right("layer-norm")                     is right

stands before a function; `wrong_values`, `told_values` and `right_values` list answers that are values.
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class StudentAnswer:
    """An answer to a task. What is expected: the name of a mistake, or a key of the catalogue such as check.right."""

    task: str
    answer: Any
    mistake: str | None = None
    key: str | None = None


ANSWERS = []


def right(task):
    return told(task, "check.right")


def told(task, key):
    def keep(function):
        ANSWERS.append(StudentAnswer(task, function, key=key))
        return function

    return keep


def wrong(task, mistake):
    def keep(function):
        ANSWERS.append(StudentAnswer(task, function, mistake=mistake))
        return function

    return keep


def right_values(task, *values):
    told_values(task, "check.right", *values)


def told_values(task, key, *values):
    ANSWERS.extend(StudentAnswer(task, value, key=key) for value in values)


def wrong_values(task, mistake, *values):
    ANSWERS.extend(StudentAnswer(task, value, mistake=mistake) for value in values)
