"""Everyone gets the mark they deserve, and what is graded and unchanged is not graded again."""

import os
import shutil
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell

from course import answer_cells, collecting, course_folder, grade_submissions
from notebook_files import reading
from tests.support import small_course as small

pytestmark = pytest.mark.usefixtures("quick_grading")


@pytest.fixture
def right(graded, tmp_path):
    """Return a course of its own in which one student is left, who has everything right."""
    course = Path(shutil.copytree(graded[0], tmp_path / "course"))
    small.keep_only(course, "right")
    return course


def test_everyone_gets_the_mark_they_deserve(graded):
    course, deserved, report, good = graded
    found = small.scores(course)
    assert found.pop("student") == ["01_layernorm /9", "total /9", "note"]
    broken = found.pop("broken")
    skipped = found.pop("none")
    assert skipped[:2] == ["", "0"] and "a.ipynb was skipped" in skipped[2]
    assert not good and broken[:2] == ["", "0"] and "01_layernorm-en: not graded, " in broken[2]
    assert {name: float(row[0]) for name, row in found.items()} == deserved


def test_table_says_where_a_written_answer_waits(graded):
    found = small.scores(graded[0])
    assert found["right"][2] == "01_layernorm-en: a written answer waits"
    assert found["blank"][2] == "01_layernorm-en: no answer was written"
    assert "01_layernorm-sv: a written answer waits" in found["two"][2]
    assert "two/01_layernorm-sv counts" in found["two"][2]


@pytest.mark.slow
def test_what_is_graded_and_unchanged_is_not_graded_again(course, tmp_path, monkeypatch):
    done = []
    grade_apart = grade_submissions.grade_apart

    def noted(directory, student, assignment):
        done.append(student)
        return grade_apart(directory, student, assignment)

    monkeypatch.setattr(grade_submissions, "grade_apart", noted)

    def graded_now(*options):
        done.clear()
        assert grade_submissions.grade(course, *options)[1]
        return sorted(done)

    for student in ("ada", "bo"):
        small.put(small.answered(small.released(course), judgement="Mine."), tmp_path, "in", student, "a.ipynb")
    collecting.collect(course, [tmp_path / "in"])
    assert graded_now() == ["ada", "bo"]
    assert graded_now() == []
    small.give(course, "bo", 2, "Well said.")
    assert graded_now() == []  # no check runs again for points, only the feedback is written
    assert "Well said." in small.feedback(course, "bo") and small.scores(course)["bo"] == ["7", "7", ""]
    small.submit(course, "ada", small.answered(small.released(course), double="def double(x):\n    return x"))
    assert graded_now() == ["ada"]
    assert small.scores(course)["ada"][0] == "3"
    assert graded_now(True) == ["ada", "bo"]
    assert small.given(course, "bo") == (2, "Well said.")
    assert small.scores(course)["bo"] == ["7", "7", ""]


def test_after_an_interruption_only_the_rest_is_graded(course, monkeypatch):
    grade_apart = grade_submissions.grade_apart
    done = []

    def stopped_at_bo(directory, student, assignment):
        if student == "bo":
            raise KeyboardInterrupt
        return grade_apart(directory, student, assignment)

    def noted(directory, student, assignment):
        done.append(student)
        return grade_apart(directory, student, assignment)

    for student in ("ada", "bo", "cy"):
        small.submit(course, student, small.answered(small.released(course), judgement=f"I am {student}."))
    monkeypatch.setattr(grade_submissions, "KERNELS", 1)
    monkeypatch.setattr(grade_submissions, "grade_apart", stopped_at_bo)
    with pytest.raises(KeyboardInterrupt):
        grade_submissions.grade(course)
    monkeypatch.setattr(grade_submissions, "grade_apart", noted)
    assert grade_submissions.grade(course)[1]
    assert done == ["bo", "cy"]
    assert [row[0] for row in small.scores(course).values()][1:] == ["5", "5", "5"]


def test_a_submission_that_is_gone_leaves_no_feedback_mark_or_student(graded, tmp_path):
    course = Path(shutil.copytree(graded[0], tmp_path / "course"))
    shutil.rmtree(course / "submitted" / "blank")
    shutil.rmtree(course / "submitted" / "broken")
    assert grade_submissions.grade(course)[1]
    assert "blank" not in small.scores(course) and "right" in small.scores(course)
    assert not [path for path in course.glob("*/*") if path.name == "blank"]
    with small.open_gradebook(course) as gradebook:
        assert "blank" not in {student.id for student in gradebook.students}


@pytest.mark.slow
def test_of_two_attempts_the_table_names_the_one_that_counts(course, tmp_path):
    wrong = small.answered(small.released(course), double="def double(x):\n    return x")
    first = small.put(wrong, tmp_path, "a", "ada.ipynb")
    second = small.put(small.answered(small.released(course)), tmp_path, "b", "ada.ipynb")
    collecting.collect(course, [first, second])
    grade_submissions.grade(course)
    points, total, note = small.scores(course)["ada"]
    assert (points, total) == ("5", "5") and "ada~2/01_layernorm-en counts" in note


@pytest.mark.slow
def test_table_says_what_collect_repaired(course, tmp_path):
    notebook = small.answered(small.released(course))
    notebook.cells.remove(small.cell(notebook, "double"))
    notebook.cells.append(new_code_cell("triple = lambda x: 3 * x"))
    collecting.collect(course, [small.put(notebook, tmp_path, "ada.ipynb")])
    repairs = course_folder.repairs_of(course, "ada", "01_layernorm-en")
    assert repairs
    grade_submissions.grade(course)
    note = small.scores(course)["ada"][2]
    assert note.count("01_layernorm-en") == 1 and all(repair in note for repair in repairs)


def test_students_whose_files_were_skipped_have_a_row_with_the_reason(right, monkeypatch):
    skipped = {"zoe": ["a.pdf was skipped: a PDF"], "right": ["b.txt was skipped: no notebook"]}
    monkeypatch.setattr(course_folder, "skipped", lambda directory: skipped)
    grade_submissions.grade(right)
    found = small.scores(right)
    assert found["zoe"][:2] == ["", "0"] and "a.pdf was skipped: a PDF" in found["zoe"][2]
    assert found["right"][0] == "5" and "b.txt was skipped: no notebook" in found["right"][2]


def test_suspicious_answers_get_a_note(right, monkeypatch):
    monkeypatch.setattr(answer_cells, "suspicious", lambda notebook: ["answer double names _TASKS"])
    grade_submissions.grade(right)
    assert "answer double names _TASKS" in small.scores(right)["right"][2]


def test_a_bad_file_among_the_submissions_stops_nobody(right):
    """Also not at a later call, and whoever handed it in has a row that says what is the case."""
    submitted = right / "submitted"
    small.put("x", submitted, "lost", "01_layernorm-xx", "01_layernorm.ipynb")  # no such assignment
    small.put("x", submitted, "called", "01_layernorm-en", "other.ipynb")
    for name, content in (("bytes", b"\xff\xfe\x00bad"), ("empty", b""), ("pdf", b"%PDF-1.7"), ("list", b"[1, 2]")):
        path = small.put("x", submitted, name, "01_layernorm-en", "01_layernorm.ipynb")
        path.write_bytes(content)
    odd = small.released(right)
    odd.cells[0].metadata = [1]
    small.put(odd, submitted, "odd", "01_layernorm-en", "01_layernorm.ipynb")
    (submitted / os.fsdecode(b"sk\xe9ne") / "01_layernorm-en").mkdir(parents=True)
    shutil.copy(next((submitted / "right").rglob("*.ipynb")), submitted / os.fsdecode(b"sk\xe9ne") / "01_layernorm-en")
    for _ in range(2):
        report, good = grade_submissions.grade(right)
        found = small.scores(right)
        assert not good and found["right"][0] == "5"
        for name in ("lost", "called", "bytes", "empty", "pdf", "list", "odd", "sk\\udce9ne"):
            assert found[name][:2] == ["", "0"] and "not graded, " in found[name][2], name


def test_a_damaged_record_of_what_is_graded_is_made_anew(right):
    (right / "graded.json").write_text('{"right/01_lay', encoding="utf8")
    assert grade_submissions.grade(right)[1]
    assert small.scores(right)["right"][0] == "5"
    assert reading.read(next((right / "autograded").rglob("*.ipynb"))).cells
