"""A class hands in 42 files; the table of marks must hold what each of them deserves, row by row."""

import csv
import re
import shutil
from html import unescape
from pathlib import Path

import pytest

from course import collecting, course_folder, grade_submissions
from helpers import language
from helpers.activities.check import TASKS
from tests.course.class_of_42 import later
from tests.course.class_of_42.handing_in import hand_in
from tests.course.class_of_42.submissions import CLASS, MOODLE, WAITS
from tests.support import small_course as small

pytestmark = pytest.mark.whole_class
LESSONS = sorted({submission.lesson for submission in CLASS})
GRADED = [submission for submission in CLASS if submission.points is not None]


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Return the course with all files collected, and graded once."""
    folder = tmp_path_factory.mktemp("class")
    course = folder / "course"
    course_folder.create(course, ["de", "en"])
    collecting.collect(course, hand_in(CLASS, course, folder / "in"))
    report, good = grade_submissions.grade(course)
    assert good, report
    return course


@pytest.fixture(scope="module")
def later_course(course, tmp_path_factory):
    """Return a copy of the course with points by hand, corrected names and newer files, graded once more.

    The newer zip file lies in the place of the one before, under its name."""
    downloads = course.parent / "in"
    course = Path(shutil.copytree(course, tmp_path_factory.mktemp("later") / "course"))
    for student, assignment, cell, points, comment in later.BY_HAND:
        give(course, student, assignment, cell, points, comment)
    grade_submissions.grade(course)
    lines = [f"{found},{right}\n" for found, right in later.NAMES]
    (course / "names.csv").write_text("".join(lines), encoding="utf8")
    collecting.collect(course, hand_in(later.NEWER, course, downloads))
    report, good = grade_submissions.grade(course)
    assert good, report
    return course


def give(course, student, assignment, cell, points, comment):
    """Give points and a comment for a written answer, as the formgrader does."""
    lesson = course_folder.lesson_of(assignment)
    with small.open_gradebook(course) as gradebook:
        grade = gradebook.find_grade(cell, lesson, assignment, student)
        grade.manual_score = points
        grade.needs_manual_grade = False
        gradebook.find_comment(cell, lesson, assignment, student).manual_comment = comment
        gradebook.db.commit()


def table(course):
    """Return the header of the table of marks, and student → (lesson → points as they stand there, total, note)."""
    with open(course / "marks.csv", encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file, delimiter=";")
    found = {}
    for student, *points, total, note in rows:
        found[student] = dict(zip(LESSONS, points)), total, note
    return header, found


def written(points):
    """Return points as a German table writes them."""
    return f"{points:g}".replace(".", ",")


def in_table(student):
    """Return a name as it stands in a table that a spreadsheet reads."""
    return f"'{student}" if student.startswith(("=", "+", "-", "@")) else student


def deserved(submissions):
    """Return student → lesson → the best points of a student."""
    best = {}
    for one in submissions:
        lessons = best.setdefault(in_table(one.who), {})
        if one.points is not None:
            lessons[one.lesson] = max(one.points, lessons.get(one.lesson, 0))
    return best


def rows_of(points):
    """Return student → (the cells of the lessons, the total), as they stand in the table."""
    rows = {}
    for student, lessons in points.items():
        cells = {lesson: written(lessons[lesson]) if lesson in lessons else "" for lesson in LESSONS}
        rows[student] = cells, written(sum(lessons.values()))
    return rows


def page_of(course, submission):
    """Return the text of the feedback of a submission as a reader sees it."""
    folder = course / "feedback" / submission.who
    wanted = folder / f"{submission.lesson}-{submission.language}"
    folder = wanted if wanted.exists() else next(folder.iterdir())
    page = next(folder.glob("*.html")).read_text(encoding="utf8")
    body = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.S)
    return " ".join(unescape(re.sub(r"<[^>]+>", "", body)).split())


def sentence(task, key, reader):
    """Return what a check says, up to its first placeholder: a mistake's sentence, or one of the catalogue."""
    if key.startswith("check."):
        return language.catalogue(reader)[key].split("{")[0]
    [mistake] = [mistake for mistake in TASKS[task].mistakes if mistake.name == key]
    return mistake.sentences[reader]


def missing(phrases, text):
    return [phrase for phrase in phrases if phrase not in text]


def test_each_row_of_the_table_holds_what_was_deserved(course):
    header, found = table(course)
    assert header == ["student", *(f"{lesson} /20" for lesson in LESSONS), "total /80", "note"]
    assert {student: (points, total) for student, (points, total, _) in found.items()} == rows_of(deserved(CLASS))


def test_each_note_says_what_the_teacher_must_know(course):
    notes = {student: note for student, (_, _, note) in table(course)[1].items()}
    wrong = {one.who: missing(one.notes, notes.get(in_table(one.who), "")) for one in CLASS}
    assert {student: phrases for student, phrases in wrong.items() if phrases} == {}


def test_notes_say_nothing_that_is_not_so(course):
    notes = {student: note for student, (_, _, note) in table(course)[1].items()}
    quiet = ("Amelie_Thoma", "Bruno_Keller", "Carla_Weiß", "Denis_Öztürk", "Mira_Nowak", "Olga_Petrov", "'@Di_Wolf")
    assert [notes[student] for student in quiet] == ["01_layernorm-de: a written answer waits"] * 2 + [
        "01_layernorm-en: a written answer waits"
    ] + ["01_layernorm-de: a written answer waits"] * 3 + ["01_layernorm-en: a written answer waits"]
    assert notes["Emil_Sand"] == ""
    assert "was changed" not in notes["Sven_Ek"]


def test_no_cell_of_the_table_is_a_formula(course):
    with open(course / "marks.csv", encoding="utf-8-sig", newline="") as file:
        cells = [cell for row in csv.reader(file, delimiter=";") for cell in row]
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))] == []


def test_the_feedback_names_each_mistake_in_the_language_of_the_assignment(course):
    wrong = {}
    for one in GRADED:
        wanted = [sentence(task, key, one.language) for task, key in one.told]
        wrong[one.who, one.language] = missing([" ".join(text.split()) for text in wanted], page_of(course, one))
    assert {who: phrases for who, phrases in wrong.items() if phrases} == {}


def test_the_feedback_shows_what_was_written(course):
    for one in GRADED:
        assert missing(one.shown, page_of(course, one)) == [], one.who


def test_the_feedback_says_of_an_answer_that_waits_that_it_is_not_marked_yet(course):
    words = {"de": "noch nicht bewertet / 4", "en": "not marked yet / 4"}
    for one in MOODLE:
        if one.points is not None:
            assert (words[one.language] in page_of(course, one)) == (WAITS in one.notes), one.who


def test_a_script_in_an_answer_is_only_text(course):
    for path in [*(course / "feedback").rglob("*.html"), *(course / "autograded").rglob("*.ipynb")]:
        assert "<script>fetch" not in path.read_text(encoding="utf8"), path


# afterwards


def test_points_by_hand_corrected_names_and_second_attempts(later_course):
    expected = deserved(CLASS)
    for old, (new, lesson, points) in later.RENAMED.items():
        del expected[old]
        expected[new] = {lesson: points}
    for one in later.NEWER:
        expected[one.who] = {one.lesson: one.points}
    _, found = table(later_course)
    assert {student: (points, total) for student, (points, total, _) in found.items()} == rows_of(expected)


def test_the_notes_afterwards(later_course):
    notes = {student: note for student, (_, _, note) in table(later_course)[1].items()}
    wrong = {one.who: missing(one.notes, notes[one.who]) for one in later.NEWER}
    assert {student: phrases for student, phrases in wrong.items() if phrases} == {}
    for student, phrases in later.NOT_ANY_MORE.items():
        assert missing(phrases, notes[student]) == list(phrases), student


def test_comments_are_in_the_feedback_under_the_right_name(later_course):
    names = {old: new for old, (new, _, _) in later.RENAMED.items()}
    for student, assignment, _, _, comment in later.BY_HAND:
        folder = later_course / "feedback" / names.get(student, student) / assignment
        assert comment in unescape(next(folder.glob("*.html")).read_text(encoding="utf8")), student
