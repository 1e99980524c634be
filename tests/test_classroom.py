"""The teacher's tool, with a small assignment whose class does everything that classes do."""

import csv
import json
import re
import shutil
import time
from html import unescape
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

import classroom
import grading
import handed_in
import lessons
import small_course as small

IN_CI = ["right", "loop", "escape", "spy", "tamper", "tampered", "duplicated", "deleted", "syntax", "blank", "exit"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a tree with a small assignment, and a course made from it."""
    tree = small.make_tree(tmp_path_factory.mktemp("tree"))
    classroom.create(tree / "course", ["en", "de", "sv"], tree, timeout=5)
    return tree


@pytest.fixture
def course(made, tmp_path):
    """Return a course of its own for a test; the place of a course is not written down in it."""
    return Path(shutil.copytree(made / "course", tmp_path / "course"))


def released(course, language="en"):
    return lessons.read(course / "release" / f"{small.LESSON}-{language}" / f"{small.LESSON}.ipynb")


def put(notebook, *path):
    """Write a notebook to a path and return it."""
    path = Path(*path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook), encoding="utf8")
    return path


def scores(course):
    """Return student → the other cells of the row in the table of marks."""
    with open(course / "marks.csv", encoding="utf-8-sig", newline="") as file:
        return {row[0]: row[1:] for row in csv.reader(file)}


def submitted(course, student, assignment="01_layernorm-en"):
    return lessons.read(course / "submitted" / student / assignment / f"{small.LESSON}.ipynb")


# create and release


def test_release_has_stubs_of_its_language_and_no_solution_or_hidden_check(course):
    for language, stub in grading.TEXT_STUBS.items():
        notebook = released(course, language)
        text = "\n".join(cell.source for cell in notebook.cells)
        assert small.cell(notebook, "judgement").source == stub
        assert small.cell(notebook, "double").source == "def double(x):\n    ..."
        assert "hidden" not in text.lower() and "return 2" not in text and "SOLUTION" not in text
        assert small.cell(notebook, "double-check").metadata.editable is False


def test_code_is_the_same_in_all_languages(course):
    english, *others = (released(course, language) for language in lessons.LANGUAGES)
    code = [cell.source for cell in english.cells if cell.cell_type == "code"]
    for language, other in zip(lessons.OTHERS, others):
        there = [cell.source for cell in other.cells if cell.cell_type == "code"]
        assert there[1:] == code[1:] and there[0] == code[0].replace('use("en")', f'use("{language}")')


def test_release_writes_the_same_twice_and_what_the_course_hands_out(made, course):
    assert len(classroom.release(made)) == 3
    assert classroom.release(made) == ["nothing has changed"]
    for language in lessons.LANGUAGES:
        path = made / "notebooks" / language / "assignments" / f"{small.LESSON}.ipynb"
        assert lessons.read(path) == released(course, language)


def test_committed_assignments_are_what_release_makes(tmp_path):
    def texts(root, folder):
        files = (root / "notebooks").glob(f"*/{folder}/*.ipynb")
        return {str(file.relative_to(root)): file.read_text(encoding="utf8") for file in files}

    for name, text in texts(lessons.ROOT, "solutions").items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf8")
    classroom.release(tmp_path)
    made = texts(tmp_path, "assignments")
    assert texts(lessons.ROOT, "assignments") == made, "run: python tools/classroom.py release"


# collect


@pytest.mark.parametrize(
    "kind, phrases",
    [
        ("right", []),
        ("blank", []),
        ("syntax", []),
        ("colab", []),
        ("stripped", []),
        ("duplicated", ["cell double was there 2 times", "cell double-check was there 2 times"]),
        ("deleted", ["cell square-check was missing and is back"]),
        ("tampered", ["cell square-check was changed and is as it was"]),
        ("reordered", ["cells were in another order"]),
        ("retyped", ["answer judgement was a raw cell"]),
    ],
)
def test_what_is_repaired_is_reported_and_only_answers_differ(course, kind, phrases):
    start = released(course)
    cells = [cell for cell in small.damaged(kind, start, course).cells if "source" in cell]
    notebook, repairs = handed_in.take_over(cells, start)
    assert repairs == phrases
    answers = {"double", "square", "judgement"}
    for before, after in zip(start.cells, notebook.cells, strict=True):
        assert after == before or handed_in.grade_id(before) in answers


def test_missing_answer_is_blank_and_own_cells_are_left_out(course):
    notebook = small.answered(released(course))
    notebook.cells.remove(small.cell(notebook, "double"))
    notebook.cells.insert(3, lessons.nbformat.v4.new_code_cell("import math"))
    taken, repairs = handed_in.take_over(notebook.cells, released(course))
    assert repairs == [
        "answer double was missing and counts as blank",
        "1 code cells of the student's own were left out",
    ]
    assert small.cell(taken, "double") == small.cell(released(course), "double")


def test_last_of_two_answers_counts_unless_it_is_blank(course):
    start = released(course)
    notebook = small.damaged("duplicated", start, course)
    assert small.cell(handed_in.take_over(notebook.cells, start)[0], "double").source.endswith("x + x")
    notebook.cells.append(small.cell(start, "double"))
    assert small.cell(handed_in.take_over(notebook.cells, start)[0], "double").source.endswith("x + x")


@pytest.mark.parametrize("language", lessons.LANGUAGES)
def test_language_is_told_from_the_cells_not_from_the_folder(course, tmp_path, language):
    path = put(small.answered(released(course, language)), tmp_path, "sv", "ada_01_layernorm_en.ipynb")
    classroom.collect(course, [path])
    assert submitted(course, "ada", f"01_layernorm-{language}")


def test_outputs_are_not_taken_over(course, tmp_path):
    path = put(small.damaged("huge", released(course), course), tmp_path, "ada.ipynb")
    assert path.stat().st_size > 50_000_000
    report, good = classroom.collect(course, [path])
    assert good and all(cell.get("outputs", []) == [] for cell in submitted(course, "ada").cells)


def test_what_cannot_be_used_is_skipped_and_the_others_go_on(course, tmp_path):
    (tmp_path / "in" / "ada").mkdir(parents=True)
    for number, text in enumerate(["", "hello", "[]", "{}", '{"cells": [1, {"source": 2}]}', "\x00", "[" * 100_000]):
        (tmp_path / "in" / "ada" / f"{number}.ipynb").write_text(text)
    (tmp_path / "in" / "ada" / "picture.png").write_bytes(b"\x89PNG\xff")
    put(lessons.read(lessons.ROOT / "notebooks/en/01_layernorm.ipynb"), tmp_path, "in", "ada", "a lesson.ipynb")
    put(small.answered(released(course), double="#" * 11_000_000), tmp_path, "in", "ada", "long.ipynb")
    put(small.answered(released(course)), tmp_path, "in", "bo", "good.ipynb.txt")
    report, good = classroom.collect(course, [tmp_path / "in"])
    skipped = [line for line in report if "skipped" in line]
    assert not good and len(report) == 11 and len(skipped) == 10
    assert any("larger than 10 MB" in line for line in skipped) and "not one of the course" in "".join(skipped)
    assert submitted(course, "bo")


@pytest.mark.parametrize(
    "file, folder, student",
    [
        ("ada_01_layernorm.ipynb", None, "ada"),
        ("01_layernorm - Åsa Öberg (1).ipynb", None, "Åsa_Öberg"),
        ("01-LayerNorm_ada-Copy1.ipynb", None, "ada"),
        ("ada layernorm de.ipynb", None, "ada"),
        ("bo/01_layernorm.ipynb", None, "bo"),
        ("bo/sv/assignments/01_layernorm (2).ipynb", None, "bo"),
        ("work.ipynb", "Ada Lovelace_123_assignsubmission_file_", "Ada_Lovelace"),
        ("work.ipynb", "../ada*", "ada"),
    ],
)
def test_student_is_named_by_the_file_or_the_folder(tmp_path, file, folder, student):
    assert handed_in.student_of(tmp_path / file, folder, [small.LESSON]) == student


def test_predictions_are_collected_for_the_page_of_the_class(course, tmp_path):
    put(small.answered(released(course)), tmp_path, "in", "ada", "01_layernorm.ipynb")
    first = put({"growth": {"choice": 1}}, tmp_path, "in", "ada", "predictions.json")
    put({"post": {"choice": 0}}, tmp_path, "in", "ada", "sv", "predictions.json")
    (tmp_path / "in" / "ada" / "predictions.json.lock").touch()
    report, good = classroom.collect(course, [tmp_path / "in"])
    assert good and [line.partition(": ")[2] for line in report] == [
        "ada, 01_layernorm-en",
        "ada, predictions",
        "ada~2, predictions",
    ]
    put({"growth": {"choice": 1}, "post": {"choice": 2}}, first)
    classroom.collect(course, [tmp_path / "in"])
    kept = sorted(course.glob("predictions/*/predictions.json"))
    assert [path.parent.name for path in kept] == ["ada", "ada~2"] and kept[0].read_text().count("choice") == 2
    assert classroom.submissions(course) == [("ada", "01_layernorm-en")]
    assert not classroom.collect(course, [put([], tmp_path, "bo", "predictions.json")])[1]


def test_second_notebook_is_a_second_attempt_and_the_same_file_is_not(course, tmp_path):
    first = put(small.answered(released(course)), tmp_path, "a", "ada.ipynb")
    second = put(small.answered(released(course), double="def double(x):\n    return 1"), tmp_path, "b", "ada.ipynb")
    for _ in range(2):
        report, _ = classroom.collect(course, [first, second])
        assert [re.search(r": (\S+),", line)[1] for line in report] == ["ada", "ada~2"]


# grade


@pytest.fixture(scope="module")
def graded(made, tmp_path_factory):
    """Return a graded course of a small class and what each student deserves; the class holds a broken submission."""
    folder = tmp_path_factory.mktemp("class")
    course = Path(shutil.copytree(made / "course", folder / "course"))
    deserved = small.hand_in(course, folder / "in", IN_CI)
    put("no notebook", folder, "in", "none", "a.ipynb")
    for language, kind in (("de", "wrong"), ("sv", "right")):  # one student, two languages
        put(small.damaged(kind, released(course, language), course), folder, "in", "two", f"{language}.ipynb")
    classroom.collect(course, [folder / "in"])
    put("broken", course, "submitted", "broken", "01_layernorm-en", "01_layernorm.ipynb")
    report, good = classroom.grade(course)
    return course, deserved | {"two": 5}, report, good


def test_everyone_gets_the_mark_they_deserve(graded):
    course, deserved, report, good = graded
    found = scores(course)
    assert found.pop("student") == ["01_layernorm /9", "total /9", "note"]
    broken = found.pop("broken")
    assert not good and broken[:2] == ["", "0"] and "01_layernorm-en: not graded, " in broken[2]
    assert {name: float(row[0]) for name, row in found.items()} == deserved


def test_table_says_where_a_written_answer_waits(graded):
    found = scores(graded[0])
    assert found["right"][2] == "01_layernorm-en: a written answer waits"
    assert found["blank"][2] == "" and found["two"][2] == "01_layernorm-sv: a written answer waits"


def test_feedback_does_not_show_the_hidden_checks(graded):
    course, deserved, *_ = graded
    pages = sorted((course / "feedback").rglob("*.html"))
    assert len(pages) == len(deserved) + 1
    for page in pages:
        text = unescape(re.sub(r"<[^>]+>", "", page.read_text(encoding="utf8")))
        assert "== 49" not in text, page


def test_code_does_not_get_out_of_its_folder(graded):
    course = graded[0]
    notebook = lessons.read(next((course / "autograded" / "escape").rglob("*.ipynb")))
    assert "ESCAPED 0" in str(small.cell(notebook, "double").outputs)
    assert not list(course.parent.rglob("escaped"))


def test_checks_cannot_be_replaced(graded):
    notebook = lessons.read(next((graded[0] / "autograded" / "tamper").rglob("*.ipynb")))
    assert small.cell(notebook, "double").outputs == []


def test_points_of_the_hand_grader_are_added_and_stay(graded, tmp_path):
    course = Path(shutil.copytree(graded[0], tmp_path / "course"))
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        found = gradebook.find_grade("judgement", small.LESSON, "01_layernorm-en", "right")
        found.manual_score, found.needs_manual_grade = 3, False
        gradebook.db.commit()
    for kept in (course / "submitted").iterdir():
        if kept.name != "right":
            shutil.rmtree(kept)
    assert classroom.grade(course)[1]
    assert scores(course)["right"] == ["8", "8", ""]


# what goes wrong


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["create", "{full}"], "not empty"),
        (["create", "{new}", "--lang", "de"], "notebooks/de/solutions holds no notebooks"),
        (["collect", "{full}", "x.ipynb"], "holds no course"),
        (["grade", "{new}"], "holds no course"),
        (["grade", "{course}"], "holds no submissions"),
        (["collect", "{course}", "no-such-file"], "there is no no-such-file"),
    ],
)
def test_wrong_input_gets_one_sentence(course, tmp_path, words, sentence):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("")
    places = {"full": tmp_path / "full", "new": tmp_path / "new", "course": course}
    with pytest.raises(SystemExit) as end:
        classroom.main([word.format(**places) for word in words], tmp_path)
    assert sentence in str(end.value) and "\n" not in str(end.value)
    assert not (tmp_path / "new").exists()


# the real assignments, and a class of 30


def grade_solutions(course, languages, folder):
    """Hand in the solutions themselves and grade them; return the table and whether all could be graded."""
    for language in languages:
        for file in classroom.sources(lessons.ROOT, language):
            put(lessons.read(file), folder, f"reference{language}", file.name)
    classroom.collect(course, [folder])
    return classroom.grade(course)


def check_points(notebook):
    """Return the points that the checks of a notebook give."""
    return sum(cell.metadata.nbgrader.points for cell in notebook.cells if grading.is_check(cell))


@pytest.mark.parametrize("languages", [["en"], pytest.param(lessons.LANGUAGES, marks=pytest.mark.whole_class)])
def test_solutions_get_full_marks(tmp_path, languages):
    classroom.create(tmp_path / "course", languages)
    report, good = grade_solutions(tmp_path / "course", languages, tmp_path / "in")
    assert good, report
    for language in languages:
        points = [check_points(lessons.read(file)) for file in classroom.sources(lessons.ROOT, language)]
        found = scores(tmp_path / "course")[f"reference{language}"]
        assert [float(value) for value in found[: len(points)]] == points, report


@pytest.mark.whole_class
def test_class_of_30(tmp_path):
    """Within eight minutes, with the usual time limit, and with torch, which every lesson imports."""
    course = tmp_path / "course"
    classroom.create(course, ["en", "de", "sv"], small.make_tree(tmp_path, "from helpers import norms\n"))
    deserved = small.hand_in(course, tmp_path / "in", [*small.DESERVED, *small.DESERVED][:29])
    put("no notebook", tmp_path, "in", "none", "a.ipynb")
    start = time.perf_counter()
    collected, _ = classroom.collect(course, [tmp_path / "in"])
    assert [line for line in collected if "skipped" in line and "none" in line]
    report, good = classroom.grade(course)
    seconds = time.perf_counter() - start
    print(*report, f"{seconds:.0f} s", sep="\n")
    found = scores(course)
    del found["student"]
    assert good and {name: float(row[0]) for name, row in found.items()} == deserved
    assert seconds < 480
