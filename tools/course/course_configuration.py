"""The file nbgrader_config.py of a course: writing it, renewing an old one, and what follows from it."""

import os
import re
from pathlib import Path

from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory
from traitlets.config.loader import PyFileConfigLoader

from notebook_files.layout import ROOT

NAME = "nbgrader_config.py"
KEPT = "nbgrader_config_before.py"  # what a course's configuration is called after it has been replaced
TEMPLATE = Path(__file__).with_name("nbgrader_config.txt")
OURS = "made by tools/classroom.py"  # stands in every configuration that this tool has written
RENEWED = "course_hooks"  # stands in those that load the hooks by their place
TIMEOUT = 15  # seconds a cell


def decimal_mark_of(languages):
    """Return the decimal mark for a course: the one of its first language."""
    return "." if languages[0] == "en" else ","


def write(directory, languages, timeout=TIMEOUT, project=ROOT):
    """Write the configuration of a course in languages, of which the first decides the decimal mark of the marks."""
    text = TEMPLATE.read_text(encoding="utf8").format(
        project=str(project), timeout=timeout, decimal_mark=decimal_mark_of(languages)
    )
    replace_file(directory / NAME, text)


def replace_file(path, text):
    """Write a text into a file whole: whoever reads it sees the old text or the new one, and never a part."""
    beside = path.with_name(path.name + ".new")
    beside.write_text(text, encoding="utf8", errors="backslashreplace", newline="")
    os.replace(beside, path)


def renew(directory):
    """Replace the configuration of a course that an older version of this tool has made, and keep the old one beside.

    Return what was done, as lines of a report; none if there is nothing to do."""
    path = directory / NAME
    old = path.read_text(encoding="utf8") if path.is_file() else ""
    if OURS not in old or RENEWED in old:
        return []
    kept = free_name(directory / KEPT)
    replace_file(kept, old)
    timeout = re.search(r"^c\.Execute\.timeout = (\d+)", old, re.M)
    english = any((directory / "release").glob("*-en"))
    write(directory, ["en"] if english else ["de"], int(timeout[1]) if timeout else TIMEOUT)
    return [f"{path} was of an older version and is renewed; if you had changed it, see {kept.name} for your lines"]


def free_name(path):
    """Return a path that does not exist: this one, or one with a number."""
    number = 2
    found = path
    while found.exists():
        found = path.with_stem(f"{path.stem}_{number}")
        number += 1
    return found


def load(directory):
    """Return the configuration of a course. Raises ValueError if the folder holds no course, or its project is gone."""
    if not (directory / NAME).is_file():
        raise ValueError(f"{directory} holds no course; make one with: classroom.py create {directory}")
    try:
        return PyFileConfigLoader(NAME, path=str(directory.resolve())).load_config()
    except FileNotFoundError as error:
        raise ValueError(
            f"{directory / NAME} names a project that is not there ({error.filename}); "
            "write its new place behind PROJECT in that file"
        ) from None


def interface(directory):
    """Return nbgrader's interface to a course, without its messages."""
    config = load(directory)
    api = NbGraderAPI(coursedir=CourseDirectory(config=config), config=config)
    api.log.propagate = False
    return api


def project_of(directory):
    """Return the folder of the project that a course belongs to."""
    return Path(load(directory).Classroom.get("project", ROOT))


def decimal_mark(directory):
    """Return the decimal mark of a course's table of marks, "." or ","."""
    return "," if load(directory).Classroom.get("decimal_mark") == "," else "."


def reason(result):
    """Return why a step of nbgrader failed, in one line."""
    texts = (result.get("log") or "") + "\n" + result.get("error", "")
    lines = [line.strip() for line in texts.split("\n") if line.strip()]
    named = [line for line in lines if re.match(r"[\w.]+(Error|Exception)\b", line) and "NbGraderException" not in line]
    return (named or lines or ["unknown"])[-1]
