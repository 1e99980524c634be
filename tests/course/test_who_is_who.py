"""Two people are never one: what the names of files and folders say, and what the teacher decides in names.csv."""

import re

import pytest
from nbgrader.api import Gradebook

import classroom
from course import collecting, course_folder, renaming, student_names
from tests.support import small_course as small

pytestmark = pytest.mark.usefixtures("quick_grading")

LESSON = small.LESSON
ASSIGNMENT = f"{LESSON}-en"
FILE = f"{LESSON}.ipynb"


def moodle(name, number):
    return f"{name}_{number}_assignsubmission_file_/{FILE}"


def hand_in(course, folder, *places, **answers):
    """Hand the same answers in at several places below a folder; return the report."""
    for place in places:
        small.put(small.answered(small.released(course), **answers), folder, place)
    return collecting.collect(course, [folder])[0]


def students(course):
    return [student for student, _ in course_folder.submissions(course)]


@pytest.mark.parametrize(
    ("place", "student"),
    [
        ("ada_01_layernorm.ipynb", "ada"),
        ("01_layernorm - Åsa Öberg (1).ipynb", "Åsa_Öberg"),
        ("01-LayerNorm_ada-Copy1.ipynb", "ada"),
        ("ada layernorm de.ipynb", "ada"),
        ("01_layernorm-de.ipynb", "in"),
        ("bo/01_layernorm.ipynb", "bo"),
        ("bo/sv/assignments/01_layernorm (2).ipynb", "bo"),
        ("Ada Lovelace_123_assignsubmission_file_/work.ipynb", "Ada_Lovelace"),
        ("Ada Lovelace_123_assignsubmission_file_work.ipynb", "Ada_Lovelace"),
        ("lovelaceada_LATE_4711_678901_01_layernorm-1.ipynb", "lovelaceada"),
        ("lovelaceada_late_4711_678901_01_layernorm.ipynb", "lovelaceada"),
        ("lovelaceada_4711_678901_my homework (2).ipynb", "lovelaceada"),
        ("ada_LATE_4711_678901/work.ipynb", "ada"),
        ("anon_aB3x9_7890123_01_layernorm.ipynb", "anon_aB3x9"),
        ("LATE_anon_aB3x9_7890123_01_layernorm.ipynb", "anon_aB3x9"),
        ("Participant_123459_assignsubmission_file_/01_layernorm.ipynb", "Participant_123459"),
        ("Gruppe A-Teilnehmerin_123459_assignsubmission_file_/work.ipynb", "Gruppe_A-Teilnehmerin_123459"),
        ("ada_2026_01_layernorm.ipynb", "ada_2026"),
        ("Jan de Vries/01_layernorm.ipynb", "Jan_de_Vries"),
        ("01_layernorm_Sven de la Cruz.ipynb", "Sven_de_la_Cruz"),
        ("Li En_01_layernorm.ipynb", "Li_En"),
        ("En Svensson_12_assignsubmission_file_/x.ipynb", "En_Svensson"),
    ],
)
def test_a_student_is_named_by_the_file_or_the_folder(course, tmp_path, place, student):
    hand_in(course, tmp_path / "in", place)
    assert students(course) == [student]


@pytest.mark.slow
@pytest.mark.parametrize(
    "places",
    [
        [moodle("Anna Svensson", 123456), moodle("Anna Svensson", 123457)],
        [moodle("Participant", 123459), moodle("Participant", 123460)],
        [moodle("Teilnehmerin", 123459), moodle("Teilnehmerin", 123460), moodle("Teilnehmerin", 9)],
        [moodle("Teilnehmer_in", 123459), moodle("Teilnehmer_in", 123460)],
        [moodle("Deltagare", 123459), moodle("Deltagare", 123460)],
        [moodle("Μετέχων", 123459), moodle("Μετέχων", 123460)],
        [f"svenssonanna_12345{n}_7890123_{FILE}" for n in (6, 7)],
        [f"svenssonanna_LATE_123456_7890123_{FILE}", f"svenssonanna_123457_7890124_{FILE}"],
        [f"anon_aB3x9_7890123_{FILE}", f"anon_aB3x8_7890124_{FILE}"],
        [f"Müller Åsa/{FILE}", f"Müller Åsa (2)/{FILE}", f"Müller Åsa (3)/{FILE}"],
        [f"Jan de Vries/{FILE}", f"Jan Vries/{FILE}"],
        [f"Jan de Vries_{FILE}", f"Jan Vries_{FILE}"],
        [f"Li En/{FILE}", f"Li/{FILE}", f"Li Sv/{FILE}"],
        ["01_layernorm_Sven de la Cruz.ipynb", "01_layernorm_Sven la Cruz.ipynb"],
        [FILE, "01_layernorm (1).ipynb", "01_layernorm (2).ipynb"],
        ["01_layernorm-de.ipynb", "01_layernorm.ipynb", "01-layernorm.ipynb", "layernorm.ipynb"],
        ["01_layernorm Kopie.ipynb", "01_layernorm - Kopie.ipynb", "01_layernorm.ipynb"],
        [f"ada_{FILE}", "ada_01_layernorm (1).ipynb", "ada_01_layernorm-Copy1.ipynb"],
        [f"Ada/{FILE}", f"ada/{FILE}"],
        [f"O'Brien/{FILE}", f"O Brien/{FILE}"],
        [f"Anna-Lena Berg/{FILE}", f"Anna Lena Berg/{FILE}"],
        [moodle("Anna Svensson", 123456), f"Anna Svensson/{FILE}"],
        [f"{'Anna ' * 40}Berg/{FILE}", f"{'Anna ' * 40}Ek/{FILE}"],
        [moodle("Anna " * 30, 123456), moodle("Anna " * 30, 123457)],
    ],
    ids=lambda places: places[0][:40],
)
@pytest.mark.parametrize("in_turn", [False, True])
def test_two_people_stay_two_people(course, tmp_path, places, in_turn):
    """Their answers are the same; they may come in one call or in several, and again."""
    if in_turn:
        for place in places:
            hand_in(course, tmp_path / "in", place)
    for _ in range(2):
        hand_in(course, tmp_path / "in", *places)
        found = students(course)
        assert len(found) == len(places) and not [name for name in found if "~" in name]
        assert len({name.casefold() for name in found}) == len(places)


def test_what_cannot_be_known_stands_in_the_report_and_in_the_notes(course, tmp_path):
    report = hand_in(course, tmp_path / "in", f"Müller Åsa/{FILE}", f"Müller Åsa (2)/{FILE}", f"bo/{FILE}")
    assert any("Müller_Åsa" in line and "Müller_Åsa_2" in line and "names.csv" in line for line in report[3:])
    for student, other in (("Müller_Åsa", "Müller_Åsa_2"), ("Müller_Åsa_2", "Müller_Åsa")):
        notes = course_folder.repairs_of(course, student, ASSIGNMENT)
        assert len(notes) == 1 and other in notes[0] and "names.csv" in notes[0]
    assert course_folder.repairs_of(course, "bo", ASSIGNMENT) == []


def test_a_second_file_of_one_student_on_a_platform_is_a_second_attempt(course, tmp_path):
    hand_in(course, tmp_path / "in", f"svenssonanna_123456_7890123_{FILE}")
    answers = {"double": "def double(x):\n    return x * 2"}
    hand_in(course, tmp_path / "in", "svenssonanna_123456_7890199_01_layernorm-1.ipynb", **answers)
    assert students(course) == ["svenssonanna", "svenssonanna~2"]


def test_moodle_numbers_each_assignment_anew():
    """The same name with another number in another lesson is one person; in the same lesson it is not."""

    def people(*seen):
        sightings = []
        for number, lesson, download in seen:
            identity = student_names.Identity("Anna Svensson", number, "moodle", f"Anna Svensson_{number}_x")
            sightings.append(student_names.Sighting(identity, lesson, download))
        found = student_names.People(sightings)
        return [found.name(one.identity) for one in sightings], found.report(), found.doubts()

    names, report, doubts = people(("1", "01_layernorm", "a.zip"), ("2", "02_rmsnorm", "b.zip"))
    assert names == ["Anna_Svensson"] * 2 and "Anna_Svensson" in report[0] and "names.csv" in doubts["Anna_Svensson"][0]
    for others in ([("2", "01_layernorm", "b.zip")], [("2", "02_rmsnorm", "a.zip")]):
        names, report, _ = people(("1", "01_layernorm", "a.zip"), *others)
        assert names == ["Anna_Svensson_1", "Anna_Svensson_2"] and len(report) == 1


# names.csv


LINES = [
    "Anna Svensson_123457_assignsubmission_file_,Anna Berg",
    "Anna Svensson_123457_assignsubmission_file_;Anna Berg",
    "Anna Svensson_123457_assignsubmission_file_\tAnna Berg",
    '"Anna Svensson_123457_assignsubmission_file_","Anna Berg"',
    "Anna_Svensson_123457;Anna Berg",
    "Anna Svensson_123457;Anna Berg",
]


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("encoding", ["utf8", "utf-8-sig", "cp1252", "utf16"])
def test_names_csv_takes_what_was_found_or_what_is_shown(course, tmp_path, line, encoding):
    places = [moodle("Anna Svensson", 123456), moodle("Anna Svensson", 123457)]
    text = f"as found{line[43:44] or ';'}name\r\nÅsa;Åsa Ö\r\n{line}\r\n"
    (course / "names.csv").write_bytes(text.encode(encoding))
    hand_in(course, tmp_path / "in", *places)
    assert students(course) == ["Anna_Berg", "Anna_Svensson_123456"]


def test_names_csv_joins_what_belongs_together(course, tmp_path):
    places = [f"Müller Åsa/{FILE}", f"Müller Åsa (2)/{FILE}", f"svenssonanna_123456_7890123_{FILE}"]
    hand_in(course, tmp_path / "in", *places)
    (course / "names.csv").write_text("Müller Åsa (2);Müller Åsa\nsvenssonanna;Müller Åsa\n", encoding="cp1252")
    report = hand_in(course, tmp_path / "in", *places)
    assert students(course) == ["Müller_Åsa", "Müller_Åsa~2", "Müller_Åsa~3"]  # all attempts stay
    assert not [line for line in report if "kept apart" in line]


def test_names_csv_separates_what_was_taken_for_one():
    found = [f"Anna Svensson_{number}_assignsubmission_file_" for number in (1, 2)]
    sightings = [
        student_names.Sighting(student_names.Identity("Anna Svensson", str(number), "moodle", name), lesson, name)
        for number, (name, lesson) in enumerate(zip(found, ("01_layernorm", "02_rmsnorm")), start=1)
    ]
    people = student_names.People(sightings, [(found[1], "Anna Berg")])
    assert [people.name(one.identity) for one in sightings] == ["Anna_Svensson_1", "Anna_Berg"]


def test_a_line_that_names_nobody_is_named(course, tmp_path):
    (course / "names.csv").write_text("as found,name\nEva,Eva Ek\n")
    report = hand_in(course, tmp_path / "in", f"ada/{FILE}")
    assert any("Eva" in line for line in report) and not any("as found" in line for line in report)


@pytest.mark.parametrize("line", ["Moodle_4711,Åsa Öberg", "Moodle 4711;Åsa Öberg"])
def test_a_corrected_name_stays_corrected(course, tmp_path, line):
    (course / "names.csv").write_text(f"as found,name\n{line}\n", encoding="utf-8-sig")
    small.put({"growth": {"choice": 1}}, tmp_path, "in", "Moodle 4711", "predictions.json")
    for _ in range(2):
        hand_in(course, tmp_path / "in", f"Moodle 4711/{FILE}")
    assert students(course) == ["Åsa_Öberg"]
    assert [path.name for path in (course / "predictions").iterdir()] == ["Åsa_Öberg"]


# a name that changes takes everything along


def grade(course):
    with pytest.raises(SystemExit) as end:
        classroom.main(["grade", str(course)])
    assert end.value.code == 0


def gradebook_of(course):
    return Gradebook(f"sqlite:///{course / 'gradebook.db'}")


def mark_by_hand(course, student, points, comment):
    with gradebook_of(course) as gradebook:
        grade = gradebook.find_grade("judgement", LESSON, ASSIGNMENT, student)
        grade.manual_score, grade.needs_manual_grade = points, False
        gradebook.find_comment("judgement", LESSON, ASSIGNMENT, student).manual_comment = comment
        gradebook.db.commit()


def marked_by_hand(course, student):
    with gradebook_of(course) as gradebook:
        grade = gradebook.find_grade("judgement", LESSON, ASSIGNMENT, student)
        comment = gradebook.find_comment("judgement", LESSON, ASSIGNMENT, student)
        return grade.manual_score, comment.manual_comment


def in_gradebook(course):
    with gradebook_of(course) as gradebook:
        return sorted(student.id for student in gradebook.students)


@pytest.mark.slow
def test_a_corrected_name_takes_points_comments_and_feedback_along(course, tmp_path):
    hand_in(course, tmp_path / "in", f"Moodle 4711/{FILE}", judgement="Mine.")
    small.put({"growth": {"choice": 1}}, tmp_path, "in", "Moodle 4711", "predictions.json")
    collecting.collect(course, [tmp_path / "in"])
    grade(course)
    mark_by_hand(course, "Moodle_4711", 2.5, "Well said.")
    (course / "names.csv").write_text("Moodle 4711;Åsa Öberg\n", encoding="utf8")
    report = hand_in(course, tmp_path / "in", f"Moodle 4711/{FILE}", judgement="Mine.")
    assert any("Moodle_4711" in line and "Åsa_Öberg" in line for line in report)
    assert students(course) == ["Åsa_Öberg"] and in_gradebook(course) == ["Åsa_Öberg"]
    assert marked_by_hand(course, "Åsa_Öberg") == (2.5, "Well said.")
    for folder in ("submitted", "autograded", "feedback", "predictions"):
        assert [path.name for path in (course / folder).iterdir()] == ["Åsa_Öberg"], folder
    grade(course)
    assert small.scores(course)["Åsa_Öberg"][0] == "7.5"


@pytest.mark.slow
def test_a_namesake_who_comes_later_leaves_the_first_one_the_marks(course, tmp_path):
    hand_in(course, tmp_path / "in", moodle("Anna Svensson", 123456), judgement="Mine.")
    assert students(course) == ["Anna_Svensson"]
    grade(course)
    mark_by_hand(course, "Anna_Svensson", 2.5, "Well said.")
    hand_in(course, tmp_path / "later", moodle("Anna Svensson", 123457), judgement="Mine.")
    assert students(course) == ["Anna_Svensson_123456", "Anna_Svensson_123457"]
    assert marked_by_hand(course, "Anna_Svensson_123456") == (2.5, "Well said.")
    assert in_gradebook(course) == ["Anna_Svensson_123456"]


@pytest.mark.slow
def test_two_who_become_one_keep_both_attempts_with_their_marks(course, tmp_path):
    places = [f"Müller Åsa/{FILE}", f"Müller Åsa (2)/{FILE}"]
    hand_in(course, tmp_path / "in", *places, judgement="Mine.")
    grade(course)
    mark_by_hand(course, "Müller_Åsa", 1, "One.")
    mark_by_hand(course, "Müller_Åsa_2", 2, "Two.")
    (course / "names.csv").write_text("Müller Åsa (2);Müller Åsa\n", encoding="utf8")
    hand_in(course, tmp_path / "in", *places, judgement="Mine.")
    assert marked_by_hand(course, "Müller_Åsa") == (1, "One.")
    assert marked_by_hand(course, "Müller_Åsa~2") == (2, "Two.")


@pytest.mark.slow
def test_an_answer_changed_after_marking_leaves_the_points_with_the_old_one(course, tmp_path):
    hand_in(course, tmp_path / "in", f"ada/{FILE}", judgement="Mine.")
    grade(course)
    mark_by_hand(course, "ada", 2.5, "Well said.")
    graded = sorted(path for folder in ("autograded", "feedback") for path in (course / folder).rglob("*.*"))
    hand_in(course, tmp_path / "in", f"ada/{FILE}", judgement="Another.")
    assert students(course) == ["ada", "ada~2"]
    assert marked_by_hand(course, "ada") == (2.5, "Well said.") and all(path.exists() for path in graded)
    assert small.cell(small.submitted(course, "ada"), "judgement").source == "Mine."


@pytest.mark.slow
def test_a_new_submission_does_not_get_the_points_of_one_that_was_deleted(course, tmp_path):
    hand_in(course, tmp_path / "in", f"ada/{FILE}", judgement="Mine.")
    grade(course)
    mark_by_hand(course, "ada", 2.5, "Well said.")
    course_folder.place_of(course, "ada", ASSIGNMENT).unlink()
    hand_in(course, tmp_path / "in", f"ada/{FILE}", judgement="Another.")
    assert students(course) == ["ada~2"]


@pytest.mark.slow
def test_rename_student_moves_everything_and_later_files_follow(course, tmp_path):
    hand_in(course, tmp_path / "in", f"ada/{FILE}", f"eva/{FILE}", judgement="Mine.")
    (tmp_path / "in" / "ada" / "work.pdf").write_bytes(b"%PDF")
    collecting.collect(course, [tmp_path / "in"])
    grade(course)
    mark_by_hand(course, "ada", 2.5, "Well said.")
    renaming.rename_student(course, "ada", "eva")
    assert students(course) == ["eva", "eva~2"] and marked_by_hand(course, "eva~2") == (2.5, "Well said.")
    assert list(course_folder.skipped(course)) == ["eva"]
    hand_in(course, tmp_path / "in", f"ada/{FILE}", judgement="Mine.")
    assert students(course) == ["eva", "eva~2"]
    with pytest.raises(ValueError, match="nothing of a student nobody"):
        renaming.rename_student(course, "nobody", "eva")


@pytest.mark.slow
def test_a_move_that_fails_leaves_everything_in_its_place(course, tmp_path, monkeypatch):
    hand_in(course, tmp_path / "in", f"ada/{FILE}", judgement="Mine.")
    grade(course)
    mark_by_hand(course, "ada", 2.5, "Well said.")
    before = sorted(course.rglob("*ada*"))
    rename = renaming.os.rename

    def in_use(old, new):
        if "feedback" in str(new) and "eva" in str(new):
            raise PermissionError(13, "the folder is in use")
        rename(old, new)

    monkeypatch.setattr(renaming.os, "rename", in_use)
    with pytest.raises(PermissionError):
        renaming.rename_student(course, "ada", "eva")
    assert sorted(course.rglob("*ada*")) == before and not list(course.rglob("*eva*"))
    assert marked_by_hand(course, "ada") == (2.5, "Well said.") and in_gradebook(course) == ["ada"]


# records of courses that were begun with an older version


def old_course(course, folder, places):
    """Make a course as it was collected before: attempts by name alone, and a record of the files."""
    lines = []
    for attempt, place in places.items():
        path = small.put(small.answered(small.released(course)), folder, place)
        small.put(small.answered(small.released(course)), course_folder.place_of(course, attempt, ASSIGNMENT))
        lines.append(f' "{attempt}": "{path.resolve()}"')
    text = '{"' + ASSIGNMENT + '": {' + ",\n".join(lines) + "}}"
    (course / "collected.json").write_text(text, encoding="utf8")


def test_a_record_of_an_older_version_is_read(course, tmp_path):
    old_course(course, tmp_path / "in", {"ada": f"ada/{FILE}", "Jan_Vries": f"Jan de Vries/{FILE}"})
    collecting.collect(course, [tmp_path / "in"])
    assert students(course) == ["Jan_de_Vries", "ada"]


def test_two_whom_an_older_version_took_for_one_are_told_apart(course, tmp_path):
    places = {"Anna_Svensson": moodle("Anna Svensson", 123456), "Anna_Svensson~2": moodle("Anna Svensson", 123457)}
    old_course(course, tmp_path / "in", places)
    hand_in(course, tmp_path / "other", f"bo/{FILE}")  # even if their files do not come again
    assert students(course) == ["Anna_Svensson_123456", "Anna_Svensson_123457", "bo"]


def test_a_lost_record_costs_nothing(course, tmp_path):
    places = [moodle("Anna Svensson", 123456), moodle("Anna Svensson", 123457), f"ada/{FILE}"]
    hand_in(course, tmp_path / "in", *places)
    before = students(course)
    (course / "collected.json").unlink()
    hand_in(course, tmp_path / "in", *places)
    assert students(course) == before


def test_the_report_says_whose_each_file_is(course, tmp_path):
    report = hand_in(course, tmp_path / "in", moodle("Anna Svensson", 123456), f"bo/{FILE}")
    assert [re.search(r": (\S+), 01_layernorm-en", line)[1] for line in report] == ["Anna_Svensson", "bo"]


def test_once_names_csv_has_decided_no_doubt_is_left(course, tmp_path):
    places = [f"Müller Åsa/{FILE}", f"Müller Åsa (2)/{FILE}"]
    hand_in(course, tmp_path / "in", *places)
    (course / "names.csv").write_text("Müller Åsa (2),Ulrik Müller\n", encoding="utf8")
    report = hand_in(course, tmp_path / "in", *places)
    assert students(course) == ["Müller_Åsa", "Ulrik_Müller"]
    assert not [line for line in report if "perhaps one person" in line]
    assert course_folder.repairs_of(course, "Müller_Åsa", ASSIGNMENT) == []
    assert course_folder.repairs_of(course, "Ulrik_Müller", ASSIGNMENT) == []


def test_of_three_of_one_name_the_two_that_names_csv_does_not_decide_stay_in_doubt(course, tmp_path):
    places = [f"Müller Åsa/{FILE}", f"Müller Åsa (2)/{FILE}", f"Müller Åsa (3)/{FILE}"]
    (course / "names.csv").write_text("Müller Åsa (2),Ulrik Müller\n", encoding="utf8")
    report = hand_in(course, tmp_path / "in", *places)
    told = [line for line in report if "perhaps one person" in line]
    assert len(told) == 1 and "Müller_Åsa_3" in told[0] and "Ulrik" not in told[0]
