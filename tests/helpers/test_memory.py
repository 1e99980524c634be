"""Peak memory of each English lesson and solved assignment with GPT-2 small and GPT-1 of full size and random weights:
`pytest -m full_size -s`, Linux, 2.5 GB of disk, about six minutes on two busy cores."""

import os
import subprocess
import sys

import nbformat
import pytest

from notebook_files.layout import ROOT
from running import execution
from tests.support import stand_ins

pytestmark = pytest.mark.full_size

LESSONS = sorted((ROOT / "notebooks/en").glob("*.ipynb"))
SOLUTIONS = sorted((ROOT / "notebooks/en/solutions").glob("*.ipynb"))
BOUND = 1300  # MB, resident, which includes the pages of the weights that are read from their files


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of the project with the pins of the stand-ins, which this process's environment then leads to."""
    root = tmp_path_factory.mktemp("full_size")
    folders = stand_ins.make_folders(root, small=False)
    project = stand_ins.copy_project(root / "project", folders)
    env = {"PYTHONPATH": str(project), "HF_HOME": str(root / "home"), "OMP_NUM_THREADS": "1"}
    code = "from helpers import models; assert all([models.load(name).name == name for name in models.CHECKPOINTS])"
    with stand_ins.serve(folders) as hub, pytest.MonkeyPatch.context() as patch:
        for name, value in env.items():
            patch.setenv(name, value)
        patch.delenv("HF_HUB_OFFLINE", raising=False)
        subprocess.run([sys.executable, "-c", code], env=os.environ | {"HF_ENDPOINT": hub.url}, check=True, cwd=project)
        patch.setenv("HF_HUB_OFFLINE", "1")
        yield project


@pytest.mark.parametrize("path", [*LESSONS, *SOLUTIONS], ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_peak_memory(path, project):
    notebook = nbformat.read(path, as_version=4)
    seconds, peak = execution.execute(notebook, str(project / "notebooks/en"))
    megabytes = peak * 1024**2 / 1e6
    print(f"\n{path.relative_to(ROOT)}: {megabytes:.0f} MB, {seconds:.0f} s")
    assert megabytes <= BOUND
    told = " ".join(o.get("text", "") for cell in notebook.cells if cell.cell_type == "code" for o in cell.outputs)
    assert "could not be loaded" not in " ".join(told.split())  # its lines end anywhere between words
