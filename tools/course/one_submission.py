"""Grading one submission; `classroom.py grade` does it in a process of its own for each."""

from contextlib import suppress

from nbgrader.api import MissingEntry

from course import course_configuration, manual_marks
from nbgrader_hooks.feedback_pages import comment_on_earlier


def grade(directory, student, assignment):
    """Run the checks of a submission and write its feedback; return the reason of a failure, or "".

    The teacher's points and comments in the gradebook are for these answers: see manual_marks."""
    api = course_configuration.interface(directory)
    flagged = waiting_cells(api.gradebook, student, assignment)
    result = api.autograde(assignment, student, force=True)
    if not result["success"]:
        return course_configuration.reason(result)
    finish_marks(directory, api.gradebook, student, assignment, flagged)
    return write_feedback(directory, student, assignment)


def write_feedback(directory, student, assignment):
    """Write the feedback on a submission that is graded; return the reason of a failure, or ""."""
    api = course_configuration.interface(directory)
    result = api.generate_feedback(assignment, student, force=True)
    return "" if result["success"] else course_configuration.reason(result)


def waiting_cells(gradebook, student, assignment):
    """Return the names of the cells of a submission that wait for the teacher."""
    with gradebook:
        notebook = manual_marks.notebook_of(gradebook, student, assignment)
        return {grade.name for grade in notebook.grades if grade.needs_manual_grade} if notebook else set()


def finish_marks(directory, gradebook, student, assignment, flagged):
    """Let the teacher's points count again, which nbgrader has marked as doubtful, and mention marks for old answers.

    flagged are the names of the cells that waited before, in spite of their points."""
    with gradebook, suppress(MissingEntry):
        notebook = manual_marks.notebook_of(gradebook, student, assignment)
        for grade in notebook.grades:
            if grade.manual_score is not None and grade.name not in flagged:
                grade.needs_manual_grade = False
        for entry in manual_marks.read_set_aside(directory):
            if (entry.student, entry.assignment, entry.why) == (student, assignment, manual_marks.REWRITTEN):
                mention(notebook, entry.mark, assignment)
        gradebook.db.commit()


def mention(notebook, mark, assignment):
    """Show a student, in place of nbgrader's own comment on a cell, what was given for an earlier answer there."""
    for comment in notebook.comments:
        if comment.name == mark.cell:
            comment.auto_comment = comment_on_earlier(mark.points, mark.comment, assignment)
