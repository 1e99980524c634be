"""Nothing that a teacher gave disappears, and no points count silently for an answer that they were not given for."""

import shutil
from pathlib import Path

import pytest

from course import collecting, grade_submissions, renaming
from tests.support import small_course as small

pytestmark = pytest.mark.usefixtures("quick_grading")


@pytest.fixture
def marked(graded, tmp_path):
    """Return a course of two students in which the teacher has given 2.5 points and a comment for a written answer."""
    course = Path(shutil.copytree(graded[0], tmp_path / "course"))
    small.keep_only(course, "right", "blank")
    small.give(course, "right", 2.5, "Well said.")
    return course


def right_again(course, **answers):
    """Return the notebook of the student "right", with other answers."""
    return small.answered(small.released(course), **{"judgement": "The second, because."} | answers)


@pytest.mark.parametrize("again", [False, True])
def test_points_of_the_hand_grader_are_added_and_stay(marked, again):
    for _ in range(2):
        assert grade_submissions.grade(marked, again)[1]
        assert small.scores(marked)["right"] == ["7.5", "7.5", ""]
        assert small.given(marked, "right") == (2.5, "Well said.")
    assert "Well said." in small.feedback(marked, "right")


def test_a_corrected_name_takes_points_and_comments_along(marked):
    """The wrong name's folder is deleted and the same file collected under the right name, as the page says."""
    grade_submissions.grade(marked)
    small.keep_only(marked, "blank")
    small.submit(marked, "Anna_Svensson", right_again(marked))
    assert grade_submissions.grade(marked)[1]
    found = small.scores(marked)
    assert found["Anna_Svensson"] == ["7.5", "7.5", ""] and "right" not in found
    assert small.given(marked, "Anna_Svensson") == (2.5, "Well said.")
    assert "Well said." in small.feedback(marked, "Anna_Svensson")


def test_marks_of_a_submission_that_is_gone_are_kept_and_come_back_with_it(marked):
    small.keep_only(marked, "blank")
    grade_submissions.grade(marked)
    points, total, note = small.scores(marked)["right"]
    assert (points, total) == ("", "0") and "2.5 points" in note and "a comment" in note
    assert "Well said." in (marked / "set_aside.json").read_text(encoding="utf8")
    small.submit(marked, "right", right_again(marked))
    grade_submissions.grade(marked)
    assert small.scores(marked)["right"] == ["7.5", "7.5", ""]
    assert small.given(marked, "right") == (2.5, "Well said.")


def test_marks_move_to_nobody_if_two_have_the_same_answers(marked):
    small.keep_only(marked, "blank")
    for name in ("eva", "isa"):
        small.submit(marked, name, right_again(marked))
    grade_submissions.grade(marked)
    found = small.scores(marked)
    assert found["eva"][0] == found["isa"][0] == "5"
    assert "2.5 points" in found["right"][2]


def test_points_for_an_answer_that_was_rewritten_do_not_count_for_the_new_one(marked):
    grade_submissions.grade(marked)
    small.submit(marked, "right", right_again(marked, judgement="Something else."))
    grade_submissions.grade(marked)
    points, _, note = small.scores(marked)["right"]
    assert points == "5" and "waits" in note and "2.5 points were given for the old" in note
    page = small.feedback(marked, "right")
    assert "For your earlier answer: 2.5 points." in page and "Well said." in page
    small.give(marked, "right", 4, "Better.")
    grade_submissions.grade(marked)
    assert small.scores(marked)["right"] == ["9", "9", ""]
    small.submit(marked, "right", right_again(marked))  # and back to the first one
    grade_submissions.grade(marked)
    assert small.scores(marked)["right"][0] == "7.5" and small.given(marked, "right") == (2.5, "Well said.")


def test_marks_that_were_set_aside_follow_a_student_who_is_renamed(marked):
    small.submit(marked, "right", right_again(marked, judgement="Something else."))
    grade_submissions.grade(marked)
    renaming.rename_student(marked, "right", "Eva")
    grade_submissions.grade(marked)
    found = small.scores(marked)
    assert "right" not in found and "2.5 points were given for the old" in found["Eva"][2]
    assert "For your earlier answer: 2.5 points." in small.feedback(marked, "Eva")


def test_points_stay_if_other_answers_are_rewritten(marked):
    wrong = "def square(x):\n    return x"
    small.submit(marked, "right", right_again(marked, square=wrong))
    grade_submissions.grade(marked)
    assert small.scores(marked)["right"] == ["4.5", "4.5", ""]


def test_points_given_by_hand_for_code_do_not_count_for_other_code(marked):
    with small.open_gradebook(marked) as gradebook:
        gradebook.find_grade("square-check", small.LESSON, "01_layernorm-en", "right").manual_score = 1
        gradebook.db.commit()
    grade_submissions.grade(marked)
    assert small.scores(marked)["right"][0] == "5.5"
    small.submit(marked, "right", right_again(marked, square="def square(x):\n    return x * x"))
    grade_submissions.grade(marked)
    points, _, note = small.scores(marked)["right"]
    assert points == "7.5" and "square-check" in note and "1 point" in note


def test_a_second_attempt_says_what_was_given_for_the_first(marked, tmp_path):
    other = small.put(right_again(marked, judgement="Rewritten."), tmp_path, "in", "right.ipynb")
    collecting.collect(marked, [other])
    grade_submissions.grade(marked)
    points, _, note = small.scores(marked)["right"]
    assert points == "7.5" and "right/01_layernorm-en counts" in note
    assert "attempt 2" in note and "new answer waits, 2.5 points were given for attempt 1" in note


def test_a_second_attempt_with_the_same_written_answer_has_its_points(marked, tmp_path):
    other = small.put(right_again(marked, double="def double(x):\n    return 1"), tmp_path, "in", "right.ipynb")
    collecting.collect(marked, [other])
    grade_submissions.grade(marked)
    points, _, note = small.scores(marked)["right"]
    assert points == "7.5" and "waits" not in note
    assert small.given(marked, "right~2") == (2.5, "Well said.")


def test_points_of_which_nobody_knows_the_answer_count_and_wait(marked):
    shutil.rmtree(marked / "autograded" / "right")
    (marked / "graded.json").unlink()
    grade_submissions.grade(marked)
    points, _, note = small.scores(marked)["right"]
    assert points == "7.5" and "judgement waits" in note


def test_a_damaged_file_of_marks_set_aside_is_named_and_stays(marked):
    (marked / "set_aside.json").write_text('[{"mark": ', encoding="utf8")
    with pytest.raises(ValueError, match="set_aside.json is damaged"):
        grade_submissions.grade(marked)
    assert small.given(marked, "right") == (2.5, "Well said.")
    assert (marked / "set_aside.json").read_text(encoding="utf8") == '[{"mark": '


# a run that is stopped


def stop_before(grade_apart, directory, student, assignment):
    """Stop before a submission is graded."""
    raise KeyboardInterrupt


def stop_within(grade_apart, directory, student, assignment):
    """Stop when nbgrader has run the checks and doubts all points given by hand, and nothing has come after that."""
    grade_apart(directory, student, assignment)
    with small.open_gradebook(directory) as gradebook:
        gradebook.find_grade("judgement", small.LESSON, assignment, student).needs_manual_grade = True
        gradebook.db.commit()
    raise KeyboardInterrupt


def grade_and_stop(course, how):
    """Grade a course and stop it at its first submission."""
    grade_apart = grade_submissions.grade_apart
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grade_submissions, "grade_apart", lambda *job: how(grade_apart, *job))
        with pytest.raises(KeyboardInterrupt):
            grade_submissions.grade(course)


@pytest.mark.parametrize("how", [stop_before, stop_within])
def test_points_for_the_same_answer_in_a_second_attempt_count_after_an_interruption(marked, tmp_path, how):
    grade_submissions.grade(marked)
    other = small.put(right_again(marked, double="def double(x):\n    return 1"), tmp_path, "in", "right.ipynb")
    collecting.collect(marked, [other])
    grade_and_stop(marked, how)
    grade_and_stop(marked, how)
    grade_submissions.grade(marked)
    points, _, note = small.scores(marked)["right"]
    assert points == "7.5" and "waits" not in note
    assert small.given(marked, "right~2") == (2.5, "Well said.")


@pytest.mark.parametrize("how", [stop_before, stop_within])
def test_points_go_with_their_answers_after_an_interruption(marked, how):
    """The answer is rewritten, marked and rewritten to the first one; the points of either stay its own."""
    small.submit(marked, "right", right_again(marked, judgement="Something else."))
    grade_and_stop(marked, how)
    grade_submissions.grade(marked)
    assert small.scores(marked)["right"][0] == "5"
    small.give(marked, "right", 4, "Better.")
    small.submit(marked, "right", right_again(marked))
    grade_and_stop(marked, how)
    grade_submissions.grade(marked)
    assert small.scores(marked)["right"][0] == "7.5" and small.given(marked, "right") == (2.5, "Well said.")
    small.submit(marked, "right", right_again(marked, judgement="Something else."))
    grade_submissions.grade(marked)
    assert small.scores(marked)["right"][0] == "9" and small.given(marked, "right") == (4, "Better.")


def test_after_an_interruption_marks_still_move_to_nobody_if_two_have_the_same_answers(marked):
    small.keep_only(marked, "blank")
    for name in ("eva", "isa"):
        small.submit(marked, name, right_again(marked))
    grade_apart = grade_submissions.grade_apart

    def stopped_at_isa(directory, student, assignment):
        if student == "isa":
            raise KeyboardInterrupt
        return grade_apart(directory, student, assignment)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grade_submissions, "KERNELS", 1)
        patch.setattr(grade_submissions, "grade_apart", stopped_at_isa)
        with pytest.raises(KeyboardInterrupt):
            grade_submissions.grade(marked)
    grade_submissions.grade(marked)
    found = small.scores(marked)
    assert found["eva"][0] == found["isa"][0] == "5"
    assert "2.5 points" in found["right"][2]
