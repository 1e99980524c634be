"""A course is graded with the helpers of its own project, and no checkout's solutions can be read meanwhile."""

import shutil
from pathlib import Path

import pytest

import helpers
from course import collecting, grade_submissions, helpers_in_use
from notebook_files import layout, reading
from tests.support import small_course as small

LEFT_OUT = shutil.ignore_patterns("__pycache__", ".*")


@pytest.fixture
def other(tmp_path, monkeypatch):
    """Return another checkout, whose helpers a kernel imports from now on; they hold the same as the project's."""
    checkout = tmp_path / "other checkout"
    shutil.copytree(Path(helpers.__file__).parent, checkout / "helpers", ignore=LEFT_OUT)
    (checkout / "notebooks").mkdir()
    (checkout / "notebooks" / "solution.txt").write_text("the solution", encoding="utf8")
    monkeypatch.setenv("PYTHONPATH", str(checkout))
    return checkout


def hand_in(course, tmp_path, **answers):
    notebook = small.answered(small.released(course), **answers)
    collecting.collect(course, [small.put(notebook, tmp_path, "in", "ada.ipynb")])


def test_other_helpers_than_those_of_the_project_are_refused_with_one_sentence(course, tmp_path, other):
    hand_in(course, tmp_path)
    with open(other / "helpers" / "norms.py", "a", encoding="utf8") as file:
        file.write("\n")
    with pytest.raises(ValueError) as refusal:
        grade_submissions.grade(course)
    sentence = str(refusal.value)
    assert str(other / "helpers") in sentence and str(layout.ROOT / "helpers") in sentence
    assert "norms.py" in sentence and "pip install ." in sentence and "\n" not in sentence
    assert not (course / "marks.csv").exists()


@pytest.mark.parametrize("line", ["from helpers.gone import check", "from helpers import gone", "import helpers.gone"])
def test_a_course_of_another_version_is_refused_with_one_sentence(course, tmp_path, line):
    """After an update that moved a module every answer of a course under way got no points."""
    hand_in(course, tmp_path)
    path = next((course / "release").glob("*/*.ipynb"))
    notebook = reading.read(path)
    notebook.cells[1].source = line
    notebook.cells[1].cell_type = "code"
    reading.write(path, notebook)
    with pytest.raises(ValueError) as refusal:
        grade_submissions.grade(course)
    assert "helpers.gone" in str(refusal.value) and "version" in str(refusal.value)
    assert not (course / "marks.csv").exists()


def test_helpers_that_are_not_found_are_refused(tmp_path):
    (tmp_path / "helpers").mkdir()
    (tmp_path / "helpers" / "norms.py").write_text("", encoding="utf8")
    with pytest.raises(ValueError, match="pip install ."):
        helpers_in_use.refuse_others(tmp_path)


def test_a_copy_with_the_same_contents_will_do(other):
    (other / "helpers" / "__pycache__").mkdir()
    (other / "helpers" / "__pycache__" / "norms.pyc").write_bytes(b"x")
    helpers_in_use.refuse_others(layout.ROOT)


@pytest.mark.slow
def test_solutions_cannot_be_read_neither_the_projects_nor_those_beside_the_helpers(course, tmp_path, other):
    reading_them = f"""from pathlib import Path
for place in ({str(other / "notebooks" / "solution.txt")!r}, {str(layout.ROOT / "notebooks" / "en" / "teachers.md")!r},
              {str(layout.ROOT / "tests" / "conftest.py")!r}, {str(layout.ROOT / "tools" / "classroom.py")!r}):
    try:
        print("READ", Path(place).read_text()[:20])
    except PermissionError:
        print("refused")
def double(x):
    return 2 * x"""
    hand_in(course, tmp_path, double=reading_them)
    assert grade_submissions.grade(course)[1]
    assert small.scores(course)["ada"][0] == "5"
    graded = reading.read(next((course / "autograded").rglob("*.ipynb")))
    printed = "".join(output.text for output in small.cell(graded, "double").outputs)
    assert printed.count("refused") == 4 and "READ" not in printed
