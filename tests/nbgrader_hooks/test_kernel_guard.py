"""The guard of the grading kernel keeps the helpers as they are and lets honest code import them as anywhere."""

import json
import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import helpers
from nbgrader_hooks.labels import labels_of

GUARD = next(Path(helpers.__file__).parents[1].joinpath("tools").rglob("kernel_guard.py"))


@pytest.fixture
def graded(tmp_path):
    """Return a function that runs cells as they are run while answers are graded, and returns what they print."""

    def run(*cells):
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
        client = NotebookClient(
            notebook,
            timeout=60,
            kernel_name="python3",
            allow_errors=True,
            extra_arguments=[f"--IPKernelApp.exec_files={GUARD}"],
            resources={"metadata": {"path": str(tmp_path)}},
        )
        client.execute(env=os.environ | {"GUARD_WORDS": json.dumps(labels_of("01_layernorm-en"))})
        return ["".join(out.get("text", out.get("ename", "")) for out in cell.outputs) for cell in notebook.cells]

    return run


IMPORT = "from helpers import language"


def test_a_module_that_an_answer_imports_first_is_found_in_its_package(graded):
    """import helpers.norms; helpers.norms… was an AttributeError, but only while answers were graded."""
    use = "import helpers.norms\nimport helpers.activities.check\nprint(helpers.norms.rms_norm.__name__)"
    named = "import helpers.decoder as decoder, helpers\nprint(helpers.decoder is decoder)"
    assert graded(IMPORT, use, named, "print(helpers.activities.check.check.__name__)")[1:] == [
        "rms_norm\n",
        "True\n",
        "check\n",
    ]


def test_what_stands_in_the_helpers_stays(graded):
    changes = [
        "language.say = print",
        "del language.say",
        "import helpers\nhelpers.language = None",
        "import helpers, types\nhelpers.new = types.ModuleType('helpers.new')",
        "import helpers.norms, sys, types\nsys.modules['helpers.norms'] = fake = types.ModuleType('helpers.norms')\n"
        "helpers.norms = fake",
    ]
    assert graded(IMPORT, *changes)[1:] == ["AttributeError"] * len(changes)


def test_the_check_gets_its_name_back(graded):
    cells = (
        "from helpers.activities.check import check",
        "def check(*_):\n    print('taken')",
        "check('by-hand', [3.5, 1, 2, 1.5, -2])",
    )
    assert graded(*cells)[2] == "Right.\n"


def test_an_answer_finds_no_names_of_the_guard(graded):
    names = "print([name for name in globals() if getattr(globals()[name], '__module__', '') == '__main__'])"
    assert graded(names) == ["[]\n"]
