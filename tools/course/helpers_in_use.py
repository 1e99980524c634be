"""Which `helpers` the answers of a class would run with, and whether the course's notebooks were made for them."""

import ast
import hashlib
import json
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from jupyter_client import KernelManager

from course import student_code
from nbgrader_hooks.execution import kernel_environment

FIND = """
import json
from importlib.util import find_spec
found = find_spec("helpers")
print(json.dumps(list(found.submodule_search_locations or []) if found else []))
"""
NAMED = 3  # files that a sentence names


def folder_in_use():
    """Return the folder of the `helpers` that a grading kernel imports, or None if it finds none."""
    python = KernelManager(kernel_name="python3").format_kernel_cmd()[0]
    with TemporaryDirectory() as room:
        result = subprocess.run(
            [python, "-c", FIND],
            cwd=room,
            env=kernel_environment(room),
            capture_output=True,
            text=True,
            encoding="utf8",
        )
    lines = result.stdout.strip().split("\n")
    places = json.loads(lines[-1]) if result.returncode == 0 and lines[-1] else []
    return Path(places[0]) if places else None


def contents(folder):
    """Return path → digest of the files of a package; what Python and editors leave behind does not count."""
    digests = {}
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.is_file() and "__pycache__" not in parts and not any(part.startswith(".") for part in parts):
            digests["/".join(parts)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return digests


def differing(first, second):
    """Return the names of the files that differ between two packages, or are in one only."""
    ours = contents(first)
    theirs = contents(second)
    return sorted(name for name in ours | theirs if ours.get(name) != theirs.get(name))


def refuse_others(project):
    """Raise ValueError if a grading kernel would import another `helpers` than the project's, or none."""
    own = project / "helpers"
    used = folder_in_use()
    install = f"run in {project}: pip install ."
    if used is None:
        raise ValueError(f"the answers need the package helpers, which Python does not find; {install}")
    if used.resolve() == own.resolve():
        return
    names = differing(own, used)
    if names:
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        raise ValueError(
            f"nothing was graded: the answers would run with the helpers in {used}, but this course belongs to "
            f"{own}, which differs in {', '.join(names[:NAMED])}{more}; {install}"
        )


def refuse_older_notebooks(assignments, project):
    """Raise ValueError if notebooks that were handed out import what the project's `helpers` no longer have.

    Every check in them would fail, and every answer would get no points. assignments: name → notebook."""
    for assignment, notebook in assignments.items():
        for cell in notebook.cells:
            if cell.cell_type != "code":
                continue
            for module in imported_modules(cell.source):
                if not is_in_helpers(module, project):
                    raise ValueError(
                        f"nothing was graded: {assignment} was made with another version of this project; it imports "
                        f"{module}, which {project / 'helpers'} lacks. Grade this course with the version that made "
                        "it; the marks and comments given so far stay as they are"
                    )


def imported_modules(source):
    """Return the modules of `helpers` that a cell imports, "helpers.norms" for `from helpers import norms` as well."""
    found = []
    for statement in student_code.statements(source):
        node = statement.node
        if isinstance(node, ast.ImportFrom) and node.module == "helpers":
            found += [f"helpers.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append(node.module or "")
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
    return [module for module in found if module.partition(".")[0] == "helpers"]


def is_in_helpers(module, project):
    """Return whether a module of `helpers` is in the project, as a file or as a folder."""
    path = project.joinpath(*module.split("."))
    return path.is_dir() or path.with_name(f"{path.name}.py").is_file()
