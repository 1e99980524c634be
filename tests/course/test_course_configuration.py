"""The course's nbgrader_config.py: nbgrader's own commands use it, and one of an older version is renewed."""

import subprocess
import sys

import pytest

from course import collecting, course_configuration, grade_submissions
from notebook_files.layout import ROOT
from tests.support import small_course as small


def old_text(timeout=7):
    """Return the configuration that the tool wrote when its hooks were a module `grading` in `tools`."""
    text = (ROOT / "tests" / "support" / "nbgrader_config_of_old.txt").read_text(encoding="utf8")
    return text.format(tools="/srv/lessons/tools", timeout=timeout)


def put_in(course, tmp_path, name="ada"):
    notebook = small.answered(small.released(course), judgement="<script>alert(1)</script> Mine.")
    return small.put(notebook, tmp_path, "in", f"{name}.ipynb")


@pytest.mark.slow
@pytest.mark.parametrize("first", ["collect", "grade"])
def test_an_old_course_is_renewed_and_graded(course, tmp_path, first):
    path = course / "nbgrader_config.py"
    submission = put_in(course, tmp_path)
    if first == "collect":
        path.write_text(old_text() + "c.LimitOutput.max_lines = 77\n", encoding="utf8")
        report, _ = collecting.collect(course, [submission])
    else:
        collecting.collect(course, [submission])
        path.write_text(old_text() + "c.LimitOutput.max_lines = 77\n", encoding="utf8")
        report, _ = grade_submissions.grade(course)
    assert "renewed" in report[0] and "nbgrader_config_before.py" in report[0]
    assert "max_lines = 77" in (course / "nbgrader_config_before.py").read_text(encoding="utf8")
    assert course_configuration.load(course).Execute.timeout == 7
    assert grade_submissions.grade(course)[1]
    assert small.scores(course)["ada"][0] == "5"
    assert course_configuration.renew(course) == []


def test_a_configuration_of_the_teachers_own_is_left_alone(tmp_path):
    text = "c = get_config()\n"
    (tmp_path / "nbgrader_config.py").write_text(text, encoding="utf8")
    assert course_configuration.renew(tmp_path) == []
    assert (tmp_path / "nbgrader_config.py").read_text(encoding="utf8") == text


def test_a_project_that_has_moved_is_named_in_one_sentence(course):
    path = course / "nbgrader_config.py"
    path.write_text(path.read_text(encoding="utf8").replace(str(ROOT), "/nowhere/lessons"), encoding="utf8")
    with pytest.raises(ValueError, match="PROJECT") as refusal:
        course_configuration.load(course)
    assert "/nowhere/lessons" in str(refusal.value) and "\n" not in str(refusal.value)


def test_the_configuration_changes_no_search_path(course):
    before = list(sys.path)
    course_configuration.load(course)
    assert sys.path == before


@pytest.mark.slow
def test_nbgraders_own_commands_work_in_the_course(course, tmp_path):
    collecting.collect(course, [put_in(course, tmp_path)])
    for command in ("autograde", "generate_feedback"):
        words = [sys.executable, "-m", "nbgrader", command, "01_layernorm-en", "--student", "ada"]
        done = subprocess.run(words, cwd=course, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert (course / "feedback" / "ada" / "01_layernorm-en" / "01_layernorm-en_ada.html").is_file()
    graded = next((course / "autograded").rglob("*.ipynb")).read_text(encoding="utf8")
    assert "<script" not in graded
