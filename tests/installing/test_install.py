"""The README's commands and install.py, below folders and in locales in which an installation did not start.

The commands are those of the README, word by word; small packages stand in for the pinned ones. Each runs with the
Python that runs the tests, and with 3.11 and 3.12 where this machine has them.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import offline
from notebook_files.layout import LANGUAGES, ROOT
from tests.support import small_packages

pytestmark = pytest.mark.slow

FOLDERS = ("Kurs Müller (2)", "Övning")
RUNNING = "{}.{}".format(*sys.version_info)
VERSIONS = sorted({RUNNING, "3.11", "3.12"})
# each way of installing with each Python, and below either folder
CASES = [(RUNNING, FOLDERS[0]), *((version, FOLDERS[1]) for version in VERSIONS if version != RUNNING)]
README = (ROOT / "README.md").read_text(encoding="utf8")
START, TEST = re.findall(r"^    (python3\.11 .*)$", README, re.M)
CHARMAP = Path("/usr/share/i18n/charmaps/CP1252.gz")
WINDOWS_LOCALE = "de_DE.CP1252"  # how Windows reads files that do not say their encoding


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheels")
    small_packages.fill(folder)
    return folder


@pytest.fixture(scope="module")
def locales(tmp_path_factory):
    """Return name → variables for two locales in which the letters of the folders are no UTF-8."""
    if "CI" not in os.environ and not (shutil.which("localedef") and CHARMAP.exists()):
        pytest.skip("Debian's package `locales` is missing")
    folder = tmp_path_factory.mktemp("locales")
    subprocess.run(["localedef", "-i", "de_DE", "-f", "CP1252", folder / WINDOWS_LOCALE], check=True)
    found = {"C": {"LC_ALL": "C"}, "cp1252": {"LC_ALL": WINDOWS_LOCALE, "LOCPATH": str(folder)}}
    code = "import locale, sys; print(locale.getencoding(), sys.stdout.encoding)"
    result = subprocess.run([sys.executable, "-I", "-c", code], env=found["cp1252"], capture_output=True, check=True)
    assert result.stdout.decode().split() == ["CP1252", "cp1252"]
    return found


def can_make_environments(python):
    """Return whether there is a Python at a path that runs and has what `python -m venv` needs."""
    if not python.exists():
        return False
    return subprocess.run([python, "-c", "import ensurepip, venv"], capture_output=True).returncode == 0


@pytest.fixture
def python(request):
    """Return the path of a Python; its name is that of the README with its own version."""
    name = f"python{request.param}"
    places = [Path(sys.base_prefix, "bin", name)]
    if shutil.which(name):
        places.append(Path(shutil.which(name)))
    places += sorted(Path.home().glob(f".pyenv/versions/{request.param}.*/bin/{name}"))
    for place in places:
        if can_make_environments(place):
            return place
    return pytest.skip(f"there is no Python {request.param} on this machine")


def make_project(folder):
    """Put what the README's commands need into a folder."""
    folder.mkdir()
    for name in ("LICENSE", "README.md", "pyproject.toml", "requirements.txt"):
        shutil.copyfile(ROOT / name, folder / name)
    (folder / "tests").mkdir()
    shutil.copyfile(ROOT / "tests" / "requirements.txt", folder / "tests" / "requirements.txt")
    without = shutil.ignore_patterns("__pycache__", "*.safetensors")
    shutil.copytree(ROOT / "helpers", folder / "helpers", ignore=without)
    for language in LANGUAGES:
        lesson = Path("notebooks", language, "01_layernorm.ipynb")
        (folder / lesson).parent.mkdir(parents=True)
        shutil.copyfile(ROOT / lesson, folder / lesson)
    mark(folder, 1)
    return folder


def mark(project, number):
    """Change `helpers` of a project, as an update does."""
    file = project / "helpers" / "__init__.py"
    file.write_text(f'"""A stand-in."""\n\nMARK = {number}\n', encoding="utf8")


def environment(python, wheels, variables):
    """Return the variables for a command: this Python, this locale, and packages from this folder only."""
    env = {key: os.environ[key] for key in ("HOME", "TMPDIR") if key in os.environ}
    env["PATH"] = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    env["PIP_CONFIG_FILE"] = os.devnull
    env["PIP_NO_INDEX"] = "1"
    env["PIP_FIND_LINKS"] = str(wheels)
    return env | variables


def said(command, folder, env):
    """Run a command that ends in a PROBE; return where it found `helpers`, and the MARK in it."""
    result = subprocess.run(command, cwd=folder, env=env, capture_output=True, timeout=300)
    assert result.returncode == 0, result.stderr.decode(errors="replace")[-2000:]
    place, number = result.stdout.decode().splitlines()[-1].split()
    return Path(os.fsdecode(bytes.fromhex(place))), int(number)


def shell(line, python):
    """Return a command of the README for this Python."""
    return ["bash", "-c", line.replace("python3.11", python.name)]


START_AGAIN = [".venv/bin/python", "-m", "jupyterlab"]


@pytest.mark.parametrize(("python", "name"), CASES, indirect=["python"])
def test_a_reader_installs_starts_and_updates(name, python, wheels, locales, tmp_path):
    project = make_project(tmp_path / name)
    first = environment(python, wheels, locales["C"])
    place, number = said(shell(START, python), project, first)
    assert place.is_relative_to(project / ".venv") and number == 1
    mark(project, 2)
    second = environment(python, wheels, locales["cp1252"])
    place, number = said(shell(START, python), project, second)
    assert place.is_relative_to(project / ".venv") and number == 2
    assert said(START_AGAIN, project, first) == said(START_AGAIN, project, second) == (place, 2)


@pytest.mark.parametrize(
    ("python", "name", "locale"),
    [(*case, "C") for case in CASES] + [(RUNNING, FOLDERS[1], "cp1252")],
    indirect=["python"],
)
def test_a_contributor_uses_the_helpers_of_the_folder(name, locale, python, wheels, locales, tmp_path):
    project = make_project(tmp_path / name)
    own = project / "helpers" / "__init__.py"
    env = environment(python, wheels, locales[locale])
    assert said(shell(TEST, python), project, env) == (own, 1)
    mark(project, 2)
    assert said(START_AGAIN, project, env) == (own, 2)


def test_a_foreign_package_helpers_goes_as_the_page_of_troubles_says(wheels, locales, tmp_path):
    python = Path(sys.base_prefix, "bin", f"python{RUNNING}")
    project = make_project(tmp_path / FOLDERS[0])
    env = environment(python, wheels, locales["C"])
    said(shell(START, python), project, env)
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    small_packages.write_wheel(foreign, "helpers", "0.1", {"helpers/__init__.py": 'MARK = "foreign"\n'})
    pip = [project / ".venv/bin/python", "-m", "pip", "install", "-q", "--find-links", foreign, "helpers"]
    subprocess.run(pip, env=env, check=True)
    code = "import helpers; print(helpers.MARK)"
    command = [project / ".venv/bin/python", "-c", code]
    found = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
    assert found.stdout == "foreign\n"
    for language in LANGUAGES:
        page = (ROOT / "notebooks" / language / "troubles.md").read_text(encoding="utf8")
        [remove] = re.findall(r"`(\.venv/bin/python -m pip uninstall [^`]+)`", page)
    subprocess.run(["bash", "-c", remove], cwd=project, env=env, check=True, capture_output=True)
    assert said(shell(START, python), project, env)[1] == 1


# from a stick


def make_stick(folder, project, wheels, monkeypatch):
    """Fill a stick with a project, packages, and no weights."""

    def take(target, *_):
        shutil.copytree(wheels, target)

    monkeypatch.setattr(offline, "fetch", take)
    monkeypatch.setattr(offline, "copy_weights", lambda cache: [])
    (project / "tools").mkdir()
    offline.fill(folder, "de", root=project)
    return folder


def declare(stick, version):
    """Let the packages of a stick be for another Python; the stand-ins are for all."""
    record = stick / "stick.json"
    contents = json.loads(record.read_text(encoding="utf8"))
    contents["python"] = version
    record.write_text(json.dumps(contents), encoding="utf8")


@pytest.mark.parametrize(("python", "name"), CASES, indirect=["python"])
def test_a_computer_installs_from_a_stick_and_starts(name, python, wheels, locales, tmp_path, monkeypatch):
    stick = make_stick(tmp_path / f"stick of {name}", make_project(tmp_path / "project"), wheels, monkeypatch)
    declare(stick, python.name.removeprefix("python"))
    (tmp_path / name).mkdir()
    environments = [environment(python, "/nowhere", variables) for variables in locales.values()]
    for number, env in enumerate(environments):
        folder = tmp_path / name / str(number)
        result = subprocess.run([python, stick / "install.py", folder], env=env, capture_output=True, timeout=300)
        assert result.returncode == 0, result.stderr.decode(errors="replace")[-2000:]
        for other in environments:
            place, _ = said(["sh", folder / "start.sh"], tmp_path, other)
            assert place.is_relative_to(folder)


def cannot_install(stick, folder, variables):
    """Run install.py where pip must fail; return its outputs. The folder must be gone afterwards."""
    command = [sys.executable, stick / "install.py", folder]
    env = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]} | variables
    result = subprocess.run(command, env=env, capture_output=True, timeout=300)
    assert result.returncode == 1 and not folder.exists()
    assert b"Traceback" not in result.stderr and b"ERROR: " in result.stderr
    return result.stdout, result.stderr


@pytest.fixture
def broken_stick(wheels, tmp_path, monkeypatch):
    """Return a stick whose requirements pip refuses, with a ü in what it says."""
    project = make_project(tmp_path / "project")
    text = "# -*- coding: utf-8 -*-\n==für\n"
    (project / "requirements.txt").write_text(text, encoding="utf8")
    monkeypatch.setattr(offline, "packages", lambda root: [])
    stick = make_stick(tmp_path / "stick", project, wheels, monkeypatch)
    declare(stick, RUNNING)
    return stick


def test_what_pip_says_in_an_encoding_of_its_own_is_shown(broken_stick, locales, tmp_path):
    _, told = cannot_install(broken_stick, tmp_path / "new", locales["cp1252"])
    assert "==für".encode("cp1252") in told


def test_a_console_that_lacks_a_letter_of_the_folder_is_no_reason_to_stop(broken_stick, tmp_path):
    told, _ = cannot_install(broken_stick, tmp_path / "Kurs Łódź", {"PYTHONIOENCODING": "cp1252"})
    assert b"Kurs \\u0141\xf3d\\u017a" in told


def test_the_tests_use_the_helpers_of_their_own_project():
    code = "import helpers; print(helpers.__file__)"
    result = subprocess.run([sys.executable, "-c", code], cwd=sys.base_prefix, capture_output=True, text=True)
    assert Path(result.stdout.strip()) == ROOT / "helpers" / "__init__.py"
