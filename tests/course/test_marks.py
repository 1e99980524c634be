"""Everyone gets the mark they deserve, and what is graded and unchanged is not graded again."""

import shutil
from pathlib import Path

from nbformat.v4 import new_code_cell
from nbgrader.api import Gradebook

from course import collecting, marking
from tests.support import small_course as small


def test_everyone_gets_the_mark_they_deserve(graded):
    course, deserved, report, good = graded
    found = small.scores(course)
    assert found.pop("student") == ["01_layernorm /9", "total /9", "note"]
    broken = found.pop("broken")
    assert not good and broken[:2] == ["", "0"] and "01_layernorm-en: not graded, " in broken[2]
    assert {name: float(row[0]) for name, row in found.items()} == deserved


def test_table_says_where_a_written_answer_waits(graded):
    found = small.scores(graded[0])
    waits = "01_layernorm-en: a written answer waits"
    assert found["right"][2] == waits
    assert (
        found["blank"][2] == "01_layernorm-en: no answer was written"
        and found["two"][2] == waits.replace("-en", "-sv") + "; two/01_layernorm-sv counts"
    )


def test_points_of_the_hand_grader_are_added_and_stay(graded, tmp_path):
    course = Path(shutil.copytree(graded[0], tmp_path / "course"))
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        found = gradebook.find_grade("judgement", small.LESSON, "01_layernorm-en", "right")
        found.manual_score, found.needs_manual_grade = 3, False
        gradebook.db.commit()
    for kept in (course / "submitted").iterdir():
        if kept.name != "right":
            shutil.rmtree(kept)
    assert marking.grade(course)[1]
    assert small.scores(course)["right"] == ["8", "8", ""]


def test_what_is_graded_and_unchanged_is_not_graded_again(course, tmp_path, monkeypatch):
    done, grade_apart = [], marking.grade_apart
    monkeypatch.setattr(marking, "grade_apart", lambda *job: done.append(job[1]) or grade_apart(*job))

    def graded_now(*options):
        done.clear()
        assert marking.grade(course, *options)[1]
        return sorted(done)

    for student in ("ada", "bo"):
        small.put(small.answered(small.released(course), judgement="Mine."), tmp_path, "in", student, "a.ipynb")
    collecting.collect(course, [tmp_path / "in"])
    assert graded_now() == ["ada", "bo"] and graded_now() == []
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        gradebook.find_comment("judgement", small.LESSON, "01_layernorm-en", "bo").manual_comment = "Well said."
        gradebook.db.commit()
    assert graded_now() == ["bo"]
    assert "Well said." in next(course.glob("feedback/bo/*/*.html")).read_text(encoding="utf8")
    small.put(
        small.answered(small.released(course), double="def double(x):\n    return x"), tmp_path, "in", "ada", "a.ipynb"
    )
    collecting.collect(course, [tmp_path / "in"])
    assert graded_now() == ["ada"] and small.scores(course)["ada"][0] == "3"
    assert graded_now(True) == ["ada", "bo"]


def test_a_submission_that_is_gone_leaves_no_feedback_mark_or_student(graded, tmp_path):
    course = Path(shutil.copytree(graded[0], tmp_path / "course"))
    shutil.rmtree(course / "submitted" / "blank")
    shutil.rmtree(course / "submitted" / "broken")
    assert marking.grade(course)[1]
    assert "blank" not in small.scores(course) and "right" in small.scores(course)
    assert not [path for path in course.glob("*/*") if path.name == "blank"]
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        assert "blank" not in {student.id for student in gradebook.students}


def test_of_two_attempts_the_table_names_the_one_that_counts(course, tmp_path):
    wrong = small.answered(small.released(course), double="def double(x):\n    return x")
    first = small.put(wrong, tmp_path, "a", "ada.ipynb")
    second = small.put(small.answered(small.released(course)), tmp_path, "b", "ada.ipynb")
    collecting.collect(course, [first, second])
    marking.grade(course)
    assert small.scores(course)["ada"] == ["5", "5", "ada~2/01_layernorm-en counts"]


def test_table_says_what_collect_repaired_until_the_student_hands_in_again(course, tmp_path):
    notebook = small.answered(small.released(course))
    notebook.cells.remove(small.cell(notebook, "double"))
    notebook.cells.append(new_code_cell("double = lambda x: 2 * x"))
    collecting.collect(course, [small.put(notebook, tmp_path, "ada.ipynb")])
    marking.grade(course)
    missing, own = "answer double was missing and counts as blank", "code cells of the student's own, left out: 1"
    assert small.scores(course)["ada"][2] == f"01_layernorm-en: {missing}; 01_layernorm-en: {own}"
    collecting.collect(course, [small.put(small.answered(small.released(course)), tmp_path, "ada.ipynb")])
    marking.grade(course)
    assert small.scores(course)["ada"] == ["5", "5", ""]


def test_without_english_the_table_is_as_excel_writes_it_there(tmp_path):
    rows = ["Ada", "4.5", "4.5", "a.b; c"], ["Bo", "", "0", ""]
    for language, expected in (
        ("en", "Ada,4.5,4.5,a.b; c\r\nBo,,0,\r\n"),
        ("sv", 'Ada;4,5;4,5;"a.b; c"\r\nBo;;0;\r\n'),
    ):
        (tmp_path / language / "release" / f"01-{language}").mkdir(parents=True)
        marking.write_table(tmp_path / language, ["x"], rows)
        text = (tmp_path / language / "marks.csv").read_bytes().decode("utf8")
        assert text == "\ufeffx\r\n" + expected
