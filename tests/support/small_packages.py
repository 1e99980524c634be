"""Packages that stand in for the pinned ones, so that the commands of the README run to their end within seconds."""

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).parents[2]

# What a program that the README starts says: where a kernel in a folder of notebooks imports `helpers` from, and MARK
# in it. The path is written in hex, since each locale has letters of its own.
PROBE = """import subprocess, sys
code = "import os, helpers; print(os.fsencode(helpers.__file__).hex(), helpers.MARK)"
sys.exit(subprocess.run([sys.executable, "-c", code], cwd="notebooks/de").returncode)
"""
STARTED = ("jupyterlab", "pytest")  # the packages that are programs


def write_wheel(folder, name, version, modules):
    """Write a package of pure Python into a folder; modules: path → source."""
    stem = f"{name.replace('-', '_')}-{version}"
    texts = dict(modules)
    texts[f"{stem}.dist-info/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    texts[f"{stem}.dist-info/WHEEL"] = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = f"{stem}.dist-info/RECORD"
    texts[record] = "".join(f"{path},,\n" for path in [*texts, record])
    with ZipFile(folder / f"{stem}-py3-none-any.whl", "w") as archive:
        for path, text in texts.items():
            archive.writestr(path, text)


def pins():
    """Return (name, version) of all packages in the two files of requirements."""
    found = []
    for file in ("requirements.txt", "tests/requirements.txt"):
        for line in (ROOT / file).read_text(encoding="utf8").splitlines():
            name, equal, version = line.partition("==")
            if equal:
                found.append((name, version))
    return found


def fill(folder):
    """Fill a folder with what the README's commands install: stand-ins for the pins, and what builds the project."""
    versions = dict(pins())
    real = ["hatchling", f"editables=={versions.pop('editables')}"]
    pip = [sys.executable, "-m", "pip", "download", "-q", "--only-binary=:all:", "--dest", str(folder)]
    subprocess.run([*pip, *real], check=True, timeout=300)
    for name, version in versions.items():
        module = name.replace("-", "_")
        modules = {f"{module}/__init__.py": ""}
        if name in STARTED:
            modules[f"{module}/__main__.py"] = PROBE
        write_wheel(folder, name, version, modules)
