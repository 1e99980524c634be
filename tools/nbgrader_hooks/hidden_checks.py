"""Keeps the hidden checks out of the feedback, wherever they were printed."""

import html
import re

from nbgrader.preprocessors import ClearHiddenTests
from nbgrader.utils import is_grade, is_solution

SENTENCES = ("NotRight", "CellTimeoutError", "DeadKernelError")  # errors that are a sentence to the student
SHORTEST = 8  # characters of a hidden line that is looked for in outputs; shorter ones stand everywhere


def is_check(cell):
    """Return whether a cell holds a check: it gives points and is not the student's to write."""
    return is_grade(cell) and not is_solution(cell)


def hidden_lines(notebook, begin, end):
    """Return the hidden lines of a notebook's checks that are long enough to be told from others.

    begin and end are the words that stand around hidden lines."""
    lines = set()
    for cell in notebook.cells:
        if is_check(cell):
            for region in re.findall(f"{re.escape(begin)}.*?\n(.*?){re.escape(end)}", cell.source, re.S):
                lines.update(line.strip() for line in region.split("\n"))
    return {line for line in lines if len(line) >= SHORTEST and line.strip("# ")}


def without_lines(text, lines):
    """Return a text without lines of code, as they stand, as Python and as HTML writes them."""
    for line in lines:
        for written in (line, repr(line)[1:-1], html.escape(line, quote=False), html.escape(line)):
            text = text.replace(written, "…")
    return text


def scrub(values, lines):
    """Replace lines of code in all texts of an output, or of a part of one, in place."""
    for key, value in values.items() if isinstance(values, dict) else enumerate(values):
        if isinstance(value, (dict, list)):
            scrub(value, lines)
        elif isinstance(value, str):
            values[key] = without_lines(value, lines)


def sentence_of(output):
    """Return what an error of a check says, without the name that our own kinds of error have in Python."""
    if output.ename in SENTENCES:
        return output.evalue
    return f"{output.ename}: {output.evalue}"


class HideChecks(ClearHiddenTests):
    """For the feedback: takes the hidden tests out of the checks and out of whatever the cells printed."""

    def preprocess(self, nb, resources):
        lines = hidden_lines(nb, self.begin_test_delimeter, self.end_test_delimeter)
        for cell in nb.cells:
            for output in cell.get("outputs", []):
                if output.output_type == "error" and is_check(cell):
                    output.traceback = [sentence_of(output)]
                scrub(output, lines)
        return super().preprocess(nb, resources)

    def preprocess_cell(self, cell, resources, cell_index):
        if not is_check(cell):  # a student may have written the words that begin a hidden test
            return cell, resources
        return super().preprocess_cell(cell, resources, cell_index)
