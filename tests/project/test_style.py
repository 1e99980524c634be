"""What holds for the whole tree."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def tracked():
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    return [ROOT / name for name in names if name and (ROOT / name).exists()]


def test_ruff_finds_nothing():
    for arguments in (["check"], ["format", "--check"]):
        result = subprocess.run(
            [sys.executable, "-m", "ruff", *arguments, "."], cwd=ROOT, capture_output=True, text=True
        )
        assert result.returncode == 0, result.stdout


@pytest.mark.slow
def test_importing_helpers_does_not_import_transformers():
    code = (
        "import sys\n"
        "from helpers import explorers, figures, models, trace, training\n"
        "from helpers.activities import claims, predict\n"
        "print([m for m in ('transformers', 'huggingface_hub', 'matplotlib.pyplot') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


@pytest.mark.slow
def test_what_a_student_opens_brings_no_catalogue_no_ledger_and_no_widget():
    """The norms, the decoder, the trace and the training can be read and used on their own."""
    code = (
        "import sys\n"
        "from helpers import decoder, norms, trace, training\n"
        "print(sorted(name for name in sys.modules if name.partition('.')[0] in ('helpers', 'ipywidgets', 'IPython')))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    expected = ["helpers", "helpers.decoder", "helpers.norms", "helpers.trace", "helpers.training"]
    assert ast.literal_eval(result.stdout) == expected


def test_requirements_are_pinned_exactly():
    for name in ("requirements.txt", "tests/requirements.txt"):
        lines = [line for line in (ROOT / name).read_text().splitlines() if line and not line.startswith("#")]
        assert all(re.fullmatch(r"[\w-]+==[\w.]+|\.", line) for line in lines), name


def imported(path):
    """Return the names of the packages that a Python file imports."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.add(node.module.split(".")[0])
    return names


def test_every_import_of_helpers_is_in_the_requirements():
    pinned = re.findall(r"^([\w-]+)==", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    known = {name.lower().replace("-", "_") for name in pinned} | {
        "helpers",
        "IPython",
        "httpx2",
        "numpy",
    }  # of ipykernel, hub, matplotlib
    for path in (ROOT / "helpers").rglob("*.py"):
        assert imported(path) <= known | set(sys.stdlib_module_names), path.name


def test_no_conditional_expression_stands_inside_another():
    """Ruff has no rule for it."""
    found = []
    for top in ("tools", "benchmarks"):
        for path in (ROOT / top).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
                inner = [part for part in ast.walk(node) if isinstance(part, ast.IfExp)]
                if isinstance(node, ast.IfExp) and len(inner) > 1:
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert found == []


def test_names_no_machine_and_no_registry():
    registry = re.compile(r"(?<![\w.])/(root|home|work)/|pypi\.org|pythonhosted")
    for path in tracked():
        if path.suffix in {".py", ".md", ".toml", ".txt", ".ipynb", ""} and path != Path(__file__):
            assert not registry.search(path.read_text(encoding="utf8")), path


def test_only_safetensors_hold_weights():
    assert not [path for path in tracked() if path.suffix in {".pt", ".pth", ".bin", ".pkl", ".npy", ".npz"}]


def test_jupyterlab_gets_its_settings_from_the_installation():
    """Without them the arrow keys move between cells and not inside a widget, and a news question covers the page."""
    settings = Path(sys.prefix, "share/jupyter/lab/settings/overrides.d/norm-lessons.json")
    assert settings.read_text() == (ROOT / "helpers" / "jupyterlab.json").read_text()
