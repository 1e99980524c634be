"""What nbgrader does differently in a course of this project.

A course's nbgrader_config.py loads this folder by its path, so these files import libraries and one another only.

    handing_out.py      the stubs of written answers
    execution.py        the kernel in which answers run
    answer_digests.py   which answers a mark was given for
    sanitising.py       what a student wrote, without anything that acts in a browser
    hidden_checks.py    feedback that does not give the hidden checks away
    feedback_pages.py   the pages that students get back
    labels.py           the words on them, in the assignment's language
"""

from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from nbgrader.preprocessors import ClearSolutions, Execute

from .answer_digests import RecordAnswers
from .execution import GUARD, PROJECT, DropWarnings, ExecuteApart
from .feedback_pages import TEMPLATES, FeedbackPage, Waiting, WordsOfTheCourse
from .handing_out import TEXT_STUBS, TextStubs
from .hidden_checks import HideChecks, is_check
from .sanitising import Sanitise

__all__ = ["TEXT_STUBS", "configure", "is_check"]
BUSY = 60  # seconds to wait for the gradebook while another submission is written into it


def replaced(steps, old, new):
    """Return a list of steps with another one in place of `old`."""
    return [new if step is old else step for step in steps]


def configure(c, course):
    """Set up nbgrader for a course. c is the object that get_config() returns, course the course's folder."""
    c.CourseDirectory.root = str(course)
    c.CourseDirectory.db_url = f"sqlite:///{course / 'gradebook.db'}?timeout={BUSY}"  # two submissions write at a time
    c.Classroom.project = str(PROJECT)

    c.ClearSolutions.code_stub = {"python": "..."}  # words of no language, so that the code is the same in all
    c.GenerateAssignment.preprocessors = replaced(GenerateAssignment.preprocessors.default(), ClearSolutions, TextStubs)

    c.Execute.kernel_name = "python3"
    c.Execute.timeout = 15  # seconds a cell
    c.Execute.iopub_timeout = 10
    c.Execute.extra_arguments = ["--HistoryManager.hist_file=:memory:", f"--IPKernelApp.exec_files={GUARD}"]
    c.LimitOutput.max_lines = 200
    c.LimitOutput.max_traceback = 40
    run, *others = replaced(Autograde.autograde_preprocessors.default(), Execute, ExecuteApart)
    c.Autograde.autograde_preprocessors = [run, DropWarnings, *others, RecordAnswers, Sanitise]

    c.HTMLExporter.preprocessors = [Sanitise]  # also when the formgrader shows what was graded before this step existed
    c.GenerateFeedback.exporter_class = FeedbackPage
    c.GenerateFeedback.preprocessors = [
        HideChecks,
        *GenerateFeedback.preprocessors.default(),
        Waiting,
        WordsOfTheCourse,
    ]
    c.FeedbackPage.template_name = "feedback_page"
    c.FeedbackPage.extra_template_basedirs = [str(TEMPLATES)]
