"""What nbgrader does differently in a course of this project; the course's nbgrader_config.py imports it.

As a program it grades one submission in a process of its own: python -m course.nbgrader_hooks DIR STUDENT ASSIGNMENT, in the folder tools
"""

import html
import json
import os
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from jinja2 import pass_context
from math_core import LatexError, LatexToMathML
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbconvert.exporters import HTMLExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat.v4 import new_output
from nbgrader.preprocessors import ClearHiddenTests, ClearSolutions, Execute, NbGraderPreprocessor
from nbgrader.utils import is_grade, is_solution
from traitlets import Integer

from notebook_files.layout import BARS

TOOLS = Path(__file__).resolve().parents[1]
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # nbgrader calls alembic
TEXT_STUBS = {"en": "Your answer", "de": "Deine Antwort", "sv": "Ditt svar"}
KEPT = re.compile(r"PATH|LANG|LC_\w+|TZ|SYSTEMROOT|VIRTUAL_ENV|PYTHON\w*|LD_LIBRARY_PATH|NBGRADER_\w+|JPY_\w+", re.I)
STYLE = """<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
pre { white-space: pre-wrap !important; overflow-wrap: anywhere; word-break: normal; }
summary { display: list-item; }
div.nbgrader_cell .panel-heading { height: auto; overflow: hidden; }
</style>
</head>"""
SHORTEST = 8  # characters of a hidden line that is looked for in outputs; shorter ones stand everywhere


def language_of(assignment):
    """Return the language of an assignment, "de" for "01_layernorm-de"."""
    return assignment.rpartition("-")[2]


class TextStubs(ClearSolutions):
    """Replaces written answers by the stub of the assignment's language."""

    def preprocess(self, nb, resources):
        self.text_stub = TEXT_STUBS[language_of(resources["nbgrader"]["assignment"])]
        return super().preprocess(nb, resources)


class ExecuteApart(Execute):
    """Runs the cells in an empty folder of their own, with the guard; a cell that ends the kernel is left out.

    The kernel gets no variables of the teacher's environment but those that it needs."""

    longest_output = Integer(1_000_000, help="characters of output that are kept of a cell").tag(config=True)
    most_restarts = Integer(4, help="kernels that a notebook may end or block").tag(config=True)

    def preprocess(self, nb, resources):
        message = f"stopped after {self.timeout} s"
        stopped = {"ename": "CellTimeoutError", "evalue": message, "traceback": [f"CellTimeoutError: {message}"]}
        self.ending, self.written, self.error_on_timeout = set(), {}, stopped
        while True:
            with TemporaryDirectory(prefix="answers-", ignore_cleanup_errors=True) as self.room:
                try:
                    return super().preprocess(nb, resources)
                except (DeadKernelError, CellTimeoutError):
                    if len(self.ending) >= self.most_restarts:
                        raise
                    self.ending.add(self.at)

    def preprocess_cell(self, cell, resources, index):
        self.at, self.written[index] = index, 0
        if index in self.ending:
            message = "this cell ended the kernel or could not be interrupted"
            cell.outputs = [new_output("error", ename="DeadKernelError", evalue=message, traceback=[message])]
            return cell, resources
        # a check stays out of In and the history, from which a later cell could print it
        cell = self.execute_cell(cell, index, store_history=not is_grade(cell))
        names = [output.get("ename") for output in cell.get("outputs", [])]
        if "CellTimeoutError" in names:  # it was interrupted for that
            cell.outputs = [output for output, name in zip(cell.outputs, names) if name != "KeyboardInterrupt"]
        return cell, resources

    def setup_kernel(self, **kwargs):
        return super().setup_kernel(**kwargs | {"cwd": self.room, "env": self.environment()})

    def environment(self):
        """Return the variables of the kernel's environment."""
        import matplotlib

        room = dict.fromkeys(("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP", "IPYTHONDIR"), self.room)
        cache = os.environ.get("HF_HOME") or str(Path.home() / ".cache" / "huggingface")
        return (
            {name: value for name, value in os.environ.items() if KEPT.fullmatch(name)}
            | room
            | {"HF_HOME": cache, "HF_HUB_OFFLINE": "1", "MPLCONFIGDIR": matplotlib.get_cachedir()}
            | {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
            | {"GUARD_HIDDEN": os.pathsep.join([os.getcwd(), str(TOOLS.parent / "notebooks")])}
        )

    def output(self, outs, msg, display_id, cell_index):
        content = msg["content"]
        size = len(content.get("text", "")) + sum(len(str(value)) for value in content.get("data", {}).values())
        self.written[cell_index] += size
        if self.written[cell_index] <= self.longest_output:
            return super().output(outs, msg, display_id, cell_index)


class HideChecks(ClearHiddenTests):
    """For the feedback: takes the hidden tests out of the checks and out of whatever the cells printed."""

    def preprocess(self, nb, resources):
        lines = {line for cell in nb.cells if is_check(cell) for line in self.hidden_lines(cell.source)}
        for cell in nb.cells:
            for output in cell.get("outputs", []):
                if output.output_type == "error" and is_check(cell):
                    output.traceback = [f"{output.ename}: {output.evalue}"]
                scrub(output, lines)
        return super().preprocess(nb, resources)

    def preprocess_cell(self, cell, resources, cell_index):
        if not is_check(cell):  # a student may have written the words that begin a hidden test
            return cell, resources
        return super().preprocess_cell(cell, resources, cell_index)

    def hidden_lines(self, source):
        """Return the hidden lines of a check that are long enough to be told from others."""
        pattern = f"{self.begin_test_delimeter}.*?\n(.*?){self.end_test_delimeter}"
        lines = (line.strip() for region in re.findall(pattern, source, re.S) for line in region.split("\n"))
        return [line for line in lines if len(line) >= SHORTEST and line.strip("# ")]


def is_check(cell):
    """Return whether a cell holds a check: it gives points and is not the student's to write."""
    return is_grade(cell) and not is_solution(cell)


def scrub(values, lines):
    """Replace lines of code in all texts of an output, or of a part of one, in place."""
    for key, value in values.items() if isinstance(values, dict) else enumerate(values):
        if isinstance(value, (dict, list)):
            scrub(value, lines)
        elif isinstance(value, str):
            for line in lines:
                value = value.replace(line, "…").replace(repr(line)[1:-1], "…")
            values[key] = value


class Formulas(IPythonRenderer):
    """Writes formulas as MathML, which every browser shows without a network, and what is none as it stands."""

    def inline_math(self, body):
        return formula(body, False)

    def block_math(self, body):
        return f'<div style="overflow-x: auto">{formula(body, True)}</div>'


def formula(text, display):
    """Return a formula as MathML, or its source if it cannot be read, as may happen with what a student wrote."""
    try:
        return LatexToMathML().convert_with_local_state(text, displaystyle=display)
    except LatexError:
        return f"<code>{html.escape(text)}</code>"


class Feedback(HTMLExporter):
    """nbgrader's page of feedback for a phone as well, without MathJax and the bars, which lead out of the page."""

    @pass_context
    def markdown2html(self, context, source):
        pictures = context.get("cell", {}).get("attachments")
        return MarkdownWithMath(renderer=Formulas(escape=False, attachments=pictures)).render(source)

    def from_notebook_node(self, nb, resources=None, **kw):
        nb.cells = [cell for cell in nb.cells if cell.get("id") not in BARS]
        page, resources = super().from_notebook_node(nb, resources, **kw)
        page = re.sub("<!-- Load mathjax -->.*?<!-- End of mathjax configuration -->", "", page, flags=re.S)
        return page.replace("</head>", STYLE, 1), resources


class DropWarnings(NbGraderPreprocessor):
    """Drops what the checks wrote to stderr: nbgrader takes a warning there for a failure."""

    def preprocess_cell(self, cell, resources, cell_index):
        if is_check(cell) and cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
        return cell, resources


def configuration(directory):
    """Return the configuration of a course. Raises ValueError if the folder holds no course."""
    from traitlets.config.loader import PyFileConfigLoader

    if not (directory / "nbgrader_config.py").is_file():
        raise ValueError(f"{directory} holds no course; make one with: classroom.py create {directory}")
    return PyFileConfigLoader("nbgrader_config.py", path=str(directory.resolve())).load_config()


def interface(directory):
    """Return nbgrader's interface to a course, without its messages."""
    from nbgrader.apps.api import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory

    config = configuration(directory)
    api = NbGraderAPI(coursedir=CourseDirectory(config=config), config=config)
    api.log.propagate = False
    return api


def reason(result):
    """Return why a step of nbgrader failed, in one line."""
    texts = (result.get("log") or "") + "\n" + result.get("error", "")
    lines = [line.strip() for line in texts.split("\n") if line.strip()]
    named = [line for line in lines if re.match(r"[\w.]+(Error|Exception)\b", line) and "NbGraderException" not in line]
    return (named or lines or ["unknown"])[-1]


def grade_one(directory, student, assignment):
    """Grade a submission that is not graded yet and write its feedback; return the reason of a failure, or ""."""
    api = interface(directory)
    for result in (
        api.autograde(assignment, student, force=False),
        api.generate_feedback(assignment, student, force=True),
    ):
        if not result["success"]:
            return reason(result)
    return ""


if __name__ == "__main__":
    print(json.dumps(grade_one(Path(sys.argv[1]), *sys.argv[2:])))
