"""How the cells of a submission run: in a kernel of their own, in an empty folder, watched by kernel_guard.py."""

import json
import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat.v4 import new_output
from nbgrader.preprocessors import Execute, NbGraderPreprocessor
from nbgrader.utils import is_grade
from traitlets import Integer

from .hidden_checks import is_check
from .labels import labels_of

PROJECT = Path(__file__).resolve().parents[2]
GUARD = Path(__file__).with_name("kernel_guard.py")
KEPT = re.compile(r"PATH|LANG|LC_\w+|TZ|SYSTEMROOT|VIRTUAL_ENV|PYTHON\w*|LD_LIBRARY_PATH|NBGRADER_\w+|JPY_\w+", re.I)
TELLING = ("notebooks", "tests", "tools", ".git")  # folders of a project in which solutions and hidden checks stand

os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # nbgrader calls alembic


def projects_at_hand():
    """Return the folders of this project and, if it is another one, of the project whose `helpers` is imported."""
    found = find_spec("helpers")
    around = [Path(place).resolve().parent for place in found.submodule_search_locations] if found else []
    others = [folder for folder in around if folder != PROJECT and (folder / "notebooks").is_dir()]
    return [PROJECT, *others]


def not_to_be_read(course):
    """Return the folders that a student's code must not read: the course's, and all that hold solutions or checks."""
    telling = [project / name for project in projects_at_hand() for name in TELLING]
    return [Path(course), *(folder for folder in telling if folder.exists())]


def kernel_environment(room):
    """Return the variables of a kernel's environment: of the teacher's only those that it needs. room is its folder."""
    needed = {name: value for name, value in os.environ.items() if KEPT.fullmatch(name)}
    homes = dict.fromkeys(("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP", "IPYTHONDIR"), str(room))
    models = os.environ.get("HF_HOME") or str(Path.home() / ".cache" / "huggingface")
    offline = {"HF_HOME": models, "HF_HUB_OFFLINE": "1", "MPLCONFIGDIR": matplotlib.get_cachedir()}
    return needed | homes | offline | {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}


class ExecuteApart(Execute):
    """Runs the cells in an empty folder of their own, with the guard; a cell that ends the kernel is left out."""

    longest_output = Integer(1_000_000, help="characters of output that are kept of a cell").tag(config=True)
    most_restarts = Integer(4, help="kernels that a notebook may end or block").tag(config=True)

    def preprocess(self, nb, resources):
        self.labels = labels_of(resources["nbgrader"]["assignment"])
        message = self.labels["stopped"].format(seconds=self.timeout)
        self.error_on_timeout = {"ename": "CellTimeoutError", "evalue": message, "traceback": [message]}
        self.ending = set()  # the indices of the cells that ended a kernel
        self.written = {}  # index of a cell → characters of its output
        while True:
            with TemporaryDirectory(prefix="answers-", ignore_cleanup_errors=True) as self.room:
                try:
                    return super().preprocess(nb, resources)
                except (DeadKernelError, CellTimeoutError):
                    if len(self.ending) >= self.most_restarts:
                        raise
                    self.ending.add(self.at)

    def preprocess_cell(self, cell, resources, index):
        self.at = index
        self.written[index] = 0
        if index in self.ending:
            message = self.labels["ended"]
            cell.outputs = [new_output("error", ename="DeadKernelError", evalue=message, traceback=[message])]
            return cell, resources
        # a check stays out of In and the history, from which a later cell could print it
        cell = self.execute_cell(cell, index, store_history=not is_grade(cell))
        names = [output.get("ename") for output in cell.get("outputs", [])]
        if "CellTimeoutError" in names:  # it was interrupted for that
            cell.outputs = [output for output, name in zip(cell.outputs, names) if name != "KeyboardInterrupt"]
        for output, name in zip(cell.get("outputs", []), names):
            if name == "StdinNotImplementedError":
                output.evalue = self.labels["no_input"]
                output.traceback = [f"input(): {self.labels['no_input']}"]
        return cell, resources

    def setup_kernel(self, **kwargs):
        hidden = os.pathsep.join(str(folder) for folder in not_to_be_read(os.getcwd()))  # nbgrader is in the course
        environment = kernel_environment(self.room) | {
            "GUARD_HIDDEN": hidden,
            "GUARD_WORDS": json.dumps(self.labels),
        }
        return super().setup_kernel(**kwargs | {"cwd": self.room, "env": environment})

    def output(self, outs, msg, display_id, cell_index):
        content = msg["content"]
        shown = sum(len(str(value)) for value in content.get("data", {}).values())
        self.written[cell_index] += len(content.get("text", "")) + shown
        if self.written[cell_index] <= self.longest_output:
            return super().output(outs, msg, display_id, cell_index)
        return None


class DropWarnings(NbGraderPreprocessor):
    """Drops what the checks wrote to stderr: nbgrader takes a warning there for a failure."""

    def preprocess_cell(self, cell, resources, cell_index):
        if is_check(cell) and cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
        return cell, resources
