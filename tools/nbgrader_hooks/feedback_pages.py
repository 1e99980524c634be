"""The page of feedback that a student gets back: in the course's language, for a phone as well, without a network."""

from pathlib import Path

from jinja2 import pass_context
from nbconvert.exporters import HTMLExporter
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade

from .handing_out import language_of
from .labels import labels_of
from .sanitising import html_of

TEMPLATES = Path(__file__).with_name("templates")
NO_RESPONSE = "No response."  # what nbgrader writes as its own comment
BARS = ("nav-top", "nav-bottom")  # the ids of the cells with links to other notebooks
ATTEMPT = "~"  # ada~2 is Ada's second attempt


def number(value, assignment):
    """Return a number of points as the assignment's language writes it."""
    text = f"{value or 0:g}"
    return text if language_of(assignment) not in ("de", "sv") else text.replace(".", ",")


def comment_on_earlier(points, comment, assignment):
    """Return what a student reads about marks for an answer that has been replaced by a new one since.

    points is a number or None, comment a text or None."""
    labels = labels_of(assignment)
    told = []
    if points is not None:
        told.append(labels["earlier"].format(points=number(points, assignment)))
    if comment:
        told.append(labels["earlier_comment"].format(comment=comment))
    return " ".join(told)


def title_of(student, assignment):
    """Return the title of a page, "01_layernorm – Anna Svensson, attempt 2"."""
    name, _, attempt = student.partition(ATTEMPT)
    title = f"{assignment.rpartition('-')[0]} – {name.replace('_', ' ')}"
    return f"{title}, {labels_of(assignment)['attempt'].format(number=attempt)}" if attempt else title


class WordsOfTheCourse(NbGraderPreprocessor):
    """Puts nbgrader's own comments, and what pictures are called, into the assignment's language."""

    def preprocess(self, nb, resources):
        self.labels = labels_of(resources["nbgrader"]["assignment"])
        return super().preprocess(nb, resources)

    def preprocess_cell(self, cell, resources, cell_index):
        graded = cell.metadata.get("nbgrader", {})
        if graded.get("comment") == NO_RESPONSE:
            graded["comment"] = self.labels["nothing"]
        for output in cell.get("outputs", []):
            for kind in ("image/png", "image/jpeg"):
                if kind in output.get("data", {}):
                    output.metadata.setdefault(kind, {}).setdefault("alt", self.labels["picture"])
        return cell, resources


class Waiting(NbGraderPreprocessor):
    """Notes which answers wait for the teacher: they have no points yet, which is another thing than 0 points."""

    def preprocess(self, nb, resources):
        names = resources["nbgrader"]
        names["some_wait"] = False
        with Gradebook(names["db_url"]) as gradebook:
            for cell in nb.cells:
                if is_grade(cell):
                    name = cell.metadata.nbgrader["grade_id"]
                    grade = gradebook.find_grade(name, names["notebook"], names["assignment"], names["student"])
                    waits = grade.needs_manual_grade and grade.manual_score is None
                    cell.metadata.nbgrader["waits"] = waits
                    names["some_wait"] = names["some_wait"] or waits
        return nb, resources


class FeedbackPage(HTMLExporter):
    """Writes a page with the student's name, in a file of its own name, and without the bars, which lead out of it."""

    @pass_context
    def markdown2html(self, context, source):
        return html_of(source)

    def from_notebook_node(self, nb, resources=None, **kw):
        names = resources["nbgrader"]
        student = names["student"]
        assignment = names["assignment"]
        nb.cells = [cell for cell in nb.cells if cell.get("id") not in BARS]
        resources["labels"] = labels_of(assignment)
        resources["language"] = language_of(assignment)
        resources["title"] = title_of(student, assignment)
        resources["number"] = lambda value: number(value, assignment)
        resources["unique_key"] = f"{assignment}_{student}"  # the name of the file
        return super().from_notebook_node(nb, resources, **kw)
