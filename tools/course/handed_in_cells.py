"""The cells of a notebook that was handed in: how they are read, and which of the released cells each of them is."""

import json
import unicodedata
from dataclasses import dataclass

from nbgrader.utils import is_solution

from course import file_kinds, student_code
from notebook_files import reading

LARGEST_FILE = 300_000_000  # bytes, with outputs
LARGEST = 10_000_000  # characters of all cells, without outputs
FIRST_WORDS = 60  # characters of what is named in a note
MOST_NAMED = 3  # cells that a note names; the others are counted
ASK_AGAIN = "ask the student to download the notebook again (File → Download) and to hand that in"


def read(path):
    """Return the cells that a student handed in. Raises ValueError with the reason if they cannot be used."""
    size = path.stat().st_size
    if size > LARGEST_FILE:
        raise ValueError(f"larger than {LARGEST_FILE // 10**6} MB: ask the student to clear the outputs first")
    cells = cells_of(path, path.read_bytes())
    if sum(len(cell["source"]) + len(str(cell.get("attachments", ""))) for cell in cells) > LARGEST:
        raise ValueError(f"larger than {LARGEST // 10**6} MB without its outputs")
    return cells


def cells_of(path, data):
    """Return the cells of a notebook's bytes. Raises ValueError, which says what the file is, if it is none."""
    try:
        text = data.decode("utf16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(file_kinds.not_a_notebook(path)) from None
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        if not text.lstrip().startswith("{"):
            raise ValueError(file_kinds.not_a_notebook(path)) from None
        where = f"JSON error at line {error.lineno}"
        raise ValueError(f"a damaged notebook that cannot be read, {where}: {ASK_AGAIN}") from None
    except (ValueError, RecursionError):
        raise ValueError(f"a damaged notebook that cannot be read: {ASK_AGAIN}") from None
    version = content.get("nbformat") if isinstance(content, dict) else None
    if isinstance(version, int) and version < 4 or isinstance(content, dict) and "worksheets" in content:
        ask = "ask the student to open it in JupyterLab, to save it and to hand it in again"
        raise ValueError(f"a notebook of an old version of the format ({version}): {ask}")
    if not isinstance(content, dict) or "cells" not in content:
        raise ValueError(f"not a notebook that can be read, but other data: {file_kinds.ASK}")
    try:
        cells = reading.nbformat.v4.reads(text).cells
    except (ValueError, RecursionError, TypeError, AttributeError, KeyError):
        raise ValueError(f"not a notebook that can be read: {ASK_AGAIN}") from None
    if not isinstance(cells, list):
        raise ValueError(f"not a notebook that can be read, its cells are no list: {ASK_AGAIN}")
    cells = [cell for cell in cells if isinstance(cell, dict) and isinstance(cell.get("source"), str)]
    for cell in cells:
        cell["source"] = cell["source"].replace("\r\n", "\n").replace("\r", "\n")
    return cells


def grade_id(cell, known=None):
    """Return the grade_id of a cell, from its metadata or, in a dictionary of known ones, by its cell id; or None."""
    metadata = cell.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    found = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    return found if isinstance(found, str) else (known or {}).get(cell.get("id"))


def ids_of(notebook):
    """Return cell id → grade_id of a released notebook."""
    return {cell.get("id"): grade_id(cell) for cell in notebook.cells if grade_id(cell)}


@dataclass
class Handed:
    """A cell that was handed in. given: the released cell that it is, or None for a student's own. answer: the
    grade_id of the answer that it belongs to, also for a cell of the student's own, or None."""

    cell: dict
    given: dict | None
    answer: str | None = None

    @property
    def source(self):
        return self.cell["source"]

    @property
    def is_own(self):
        return self.given is None

    @property
    def is_own_code(self):
        return self.is_own and self.cell.get("cell_type") == "code" and student_code.python_of(self.source) is not None


def comparable(text):
    """Return a text without what systems change in it: line ends, spaces that do not break, composed letters."""
    lines = unicodedata.normalize("NFC", text).replace("\r", "").replace("\xa0", " ").split("\n")
    return "\n".join(line.rstrip() for line in lines).strip()


def placed(cells, released):
    """Return a Handed for each cell, in order; what is empty and of the student's own is left out."""
    by_grade_id = {grade_id(cell): cell for cell in released.cells if grade_id(cell)}
    by_id = {cell.get("id"): cell for cell in released.cells}
    by_text = {comparable(cell.source): cell for cell in reversed(released.cells)}
    found = []
    for cell in cells:
        given = by_grade_id.get(grade_id(cell)) or by_id.get(cell.get("id"))
        if given is None and grade_id(cell) is None:
            given = by_text.get(comparable(cell["source"]))
        if given is not None or cell["source"].strip():
            answer = grade_id(given) if given is not None and is_solution(given) else None
            found.append(Handed(cell, given, answer))
    return found


def first_words(text):
    """Return the first words of a text in quotation marks, or "" for an empty one."""
    words = " ".join(text.encode("utf8", "replace").decode("utf8").split())
    if not words:
        return ""
    return f"“{words}”" if len(words) <= FIRST_WORDS else f"“{words[: FIRST_WORDS - 1].rstrip()}…”"


def named(what, texts):
    """Return a phrase that names texts by their first words; none without texts."""
    if not texts:
        return []
    more = f" and {len(texts) - MOST_NAMED} more" if len(texts) > MOST_NAMED else ""
    return [f"{what}: {', '.join(first_words(text) for text in texts[:MOST_NAMED])}{more}"]
