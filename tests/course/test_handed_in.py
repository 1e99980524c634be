"""Whose a file is, and how files, folders and zip files come into a course."""

import re
import shutil
from pathlib import Path
from zipfile import ZipFile

import pytest

from course import answer_cells, collecting, course_folder
from notebook_files import layout, reading
from tests.support import small_course as small


@pytest.mark.parametrize("language", layout.LANGUAGES)
def test_language_is_told_from_the_cells_not_from_the_folder(course, tmp_path, language):
    path = small.put(small.answered(small.released(course, language)), tmp_path, "sv", "ada_01_layernorm_en.ipynb")
    collecting.collect(course, [path])
    assert small.submitted(course, "ada", f"01_layernorm-{language}")


def test_outputs_are_not_taken_over(course, tmp_path):
    path = small.put(small.damaged("huge", small.released(course), course), tmp_path, "ada.ipynb")
    assert path.stat().st_size > 50_000_000
    report, good = collecting.collect(course, [path])
    assert good and all(cell.get("outputs", []) == [] for cell in small.submitted(course, "ada").cells)


def test_what_cannot_be_used_is_skipped_and_the_others_go_on(course, tmp_path):
    (tmp_path / "in" / "ada").mkdir(parents=True)
    for number, text in enumerate(["", "hello", "[]", "{}", '{"cells": [1, {"source": 2}]}', "\x00", "[" * 100_000]):
        (tmp_path / "in" / "ada" / f"{number}.ipynb").write_text(text)
    (tmp_path / "in" / "ada" / "picture.png").write_bytes(b"\x89PNG\xff")
    small.put(reading.read(layout.ROOT / "notebooks/en/01_layernorm.ipynb"), tmp_path, "in", "ada", "a lesson.ipynb")
    small.put(small.answered(small.released(course), double="#" * 11_000_000), tmp_path, "in", "ada", "long.ipynb")
    small.put(small.answered(small.released(course)), tmp_path, "in", "bo", "good.ipynb.txt")
    report, good = collecting.collect(course, [tmp_path / "in"])
    skipped = [line for line in report if "skipped" in line]
    assert not good and len(report) == 11 and len(skipped) == 10
    assert any("larger than 10 MB" in line for line in skipped)
    assert any("a lesson.ipynb: skipped, this is the lesson 01_layernorm, not its" in line for line in skipped)
    assert any("1.ipynb: skipped, not a notebook that can be read: JSON error at line 1" in line for line in skipped)
    assert small.submitted(course, "bo")


@pytest.mark.parametrize("lesson", sorted((layout.ROOT / "notebooks/de").glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_lesson_is_told_from_an_assignment(course, lesson):
    with pytest.raises(ValueError, match=f"this is the lesson {lesson.stem}, not its assignment"):
        answer_cells.assignment_of(answer_cells.read(lesson), course_folder.released_notebooks(course))


def test_what_is_no_notebook_of_the_course_is_said(course, tmp_path):
    """An assignment, handed in to a course that has another one."""
    path = layout.ROOT / "notebooks/en/assignments/04_residual_stream.ipynb"
    with pytest.raises(ValueError, match="not one of the course's assignments"):
        answer_cells.assignment_of(answer_cells.read(path), course_folder.released_notebooks(course))
    cut = tmp_path / "cut.ipynb"
    cut.write_text('{\n"cells": [\n{"source": "half')
    with pytest.raises(ValueError, match="JSON error at line 3"):
        answer_cells.read(cut)


def test_a_byte_order_mark_does_no_harm(course, tmp_path):
    for path in (
        small.put(small.answered(small.released(course)), tmp_path, "ada", "01_layernorm.ipynb"),
        small.put({"growth": {"choice": 1}}, tmp_path, "ada", "predictions.json"),
    ):
        path.write_text(path.read_text(encoding="utf8"), encoding="utf-8-sig")
    assert collecting.collect(course, [tmp_path / "ada"])[1]
    assert small.submitted(course, "ada") and (course / "predictions" / "ada").is_dir()


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
        ("lovelaceada_LATE_4711_678901_01_layernorm-1.ipynb", None, "lovelaceada"),
        ("lovelaceada_4711_678901_my homework (2).ipynb", None, "lovelaceada"),
        ("ada_LATE_4711_678901", "ada_LATE_4711_678901", "ada"),
        ("ada_2026_01_layernorm.ipynb", None, "ada_2026"),
    ],
)
def test_student_is_named_by_the_file_or_the_folder(tmp_path, file, folder, student):
    assert collecting.student_of(tmp_path / file, folder, [small.LESSON]) == student


def test_predictions_are_collected_for_the_page_of_the_class(course, tmp_path):
    small.put(small.answered(small.released(course)), tmp_path, "in", "ada", "01_layernorm.ipynb")
    first = small.put({"growth": {"choice": 1}}, tmp_path, "in", "ada", "predictions.json")
    small.put({"post": {"choice": 0}}, tmp_path, "in", "ada", "sv", "predictions.json")
    (tmp_path / "in" / "ada" / "predictions.json.lock").touch()
    report, good = collecting.collect(course, [tmp_path / "in"])
    assert good and [line.partition(": ")[2] for line in report] == [
        "ada, 01_layernorm-en",
        "ada, predictions",
        "ada~2, predictions",
    ]
    small.put({"growth": {"choice": 1}, "post": {"choice": 2}}, first)
    collecting.collect(course, [tmp_path / "in"])
    kept = sorted(course.glob("predictions/*/predictions.json"))
    assert [path.parent.name for path in kept] == ["ada", "ada~2"] and kept[0].read_text().count("choice") == 2
    assert course_folder.submissions(course) == [("ada", "01_layernorm-en")]
    assert not collecting.collect(course, [small.put([], tmp_path, "bo", "predictions.json")])[1]


def test_second_notebook_is_a_second_attempt_and_the_same_file_is_not(course, tmp_path):
    first = small.put(small.answered(small.released(course)), tmp_path, "a", "ada.ipynb")
    second = small.put(
        small.answered(small.released(course), double="def double(x):\n    return 1"), tmp_path, "b", "ada.ipynb"
    )
    for _ in range(2):
        report, _ = collecting.collect(course, [first, second])
        assert [re.search(r": (\S+),", line)[1] for line in report] == ["ada", "ada~2"]


def test_the_same_answers_from_another_file_are_no_second_attempt(course, tmp_path):
    for folder in ("monday", "tuesday"):
        put_class(tmp_path / folder, course)
        small.put({"growth": {"choice": 1}}, tmp_path / folder, "ada", "predictions.json")
        assert collecting.collect(course, [tmp_path / folder])[1]
    assert {path.name for path in (course / "submitted").iterdir()} == {"ada"}
    assert {path.name for path in (course / "predictions").iterdir()} == {"ada"}


def test_a_wrong_name_goes_with_its_folder(course, tmp_path):
    wrong = small.put(small.answered(small.released(course)), tmp_path, "download", "01_layernorm.ipynb")
    collecting.collect(course, [wrong])
    shutil.rmtree(course / "submitted" / "download")
    collecting.collect(course, [wrong.rename(wrong.with_name("ada_01_layernorm.ipynb"))])
    assert course_folder.submissions(course) == [("ada", "01_layernorm-en")]


@pytest.mark.parametrize("line", ["Moodle_4711,Åsa Öberg", "Moodle 4711;Åsa Öberg"])
def test_a_corrected_name_stays_corrected(course, tmp_path, line):
    small.put(small.answered(small.released(course)), tmp_path, "in", "Moodle 4711", "01_layernorm.ipynb")
    small.put({"growth": {"choice": 1}}, tmp_path, "in", "Moodle 4711", "predictions.json")
    (course / "names.csv").write_text(f"as found,name\n{line}\n".replace(",", line[11]), encoding="utf-8-sig")
    for _ in range(2):
        assert collecting.collect(course, [zipped(tmp_path / "in", tmp_path / "class")])[1]
    assert course_folder.submissions(course) == [("Åsa_Öberg", "01_layernorm-en")]
    assert [path.name for path in (course / "predictions").iterdir()] == ["Åsa_Öberg"]


def test_names_that_differ_only_in_case_are_named(course, tmp_path):
    for student in ("Ada", "ada", "bo"):
        small.put(small.answered(small.released(course)), tmp_path, "in", student, "01_layernorm.ipynb")
    report, good = collecting.collect(course, [tmp_path / "in"])
    assert good and report[-1].startswith("names that differ only in case: Ada, ada;") and "bo" not in report[-1]


def test_loose_predictions_among_the_folders_of_students_are_nobodys(course, tmp_path):
    small.put(small.answered(small.released(course)), tmp_path, "in", "ada", "01_layernorm.ipynb")
    small.put({"growth": {"choice": 1}}, tmp_path, "in", "predictions.json")
    report, good = collecting.collect(course, [tmp_path / "in"])
    assert not good and report[-1].endswith("skipped, put it in a folder with the student's name")
    assert not (course / "predictions").exists()


# zip files


def put_class(folder, course):
    """Write what Ada hands in below a folder, as Moodle names it; return the folder."""
    small.put(small.answered(small.released(course)), folder, "ada_12_assignsubmission_file_", "01_layernorm.ipynb")
    return folder


def zipped(folder, target):
    """Make a zip file of a folder; return its path."""
    return Path(shutil.make_archive(str(target), "zip", folder))


def test_a_zip_file_is_taken_as_a_folder_and_one_inside_of_it_too(course, tmp_path):
    small.put(small.answered(small.released(course)), tmp_path, "bo", "notebooks", "en", "work.ipynb")
    target = put_class(tmp_path / "all", course) / "bo_13_assignsubmission_file_"
    target.mkdir()
    zipped(tmp_path / "bo", target / "homework")
    everything = zipped(tmp_path / "all", tmp_path / "Norms-4711")
    for _ in range(2):  # the second time nothing is new
        report, good = collecting.collect(course, [everything])
        assert good and course_folder.submissions(course) == [("ada", "01_layernorm-en"), ("bo", "01_layernorm-en")]
        assert [re.search(r": (\w+),", line)[1] for line in report] == ["ada", "bo"]


def test_a_zip_file_of_one_student_names_its_student(course, tmp_path):
    small.put(small.answered(small.released(course)), tmp_path, "x", "notebooks", "en", "01_layernorm.ipynb")
    (tmp_path / "in").mkdir()
    zipped(tmp_path / "x", tmp_path / "in" / "Åsa Öberg")
    collecting.collect(course, [tmp_path / "in"])
    assert course_folder.submissions(course) == [("Åsa_Öberg", "01_layernorm-en")]


def test_a_zip_file_cannot_write_elsewhere(course, tmp_path):
    with ZipFile(tmp_path / "bad.zip", "w") as archive:
        for name in ("../../../escaped", "/escaped", "ada/../../../../escaped"):
            archive.writestr(name, "x")
    collecting.collect(course, [tmp_path / "bad.zip"])
    assert all((course / "unpacked") in path.parents for path in tmp_path.rglob("escaped"))


def test_zip_files_that_cannot_be_unpacked_are_named_and_the_others_go_on(course, tmp_path, monkeypatch):
    folder = put_class(tmp_path / "in", course)
    (folder / "damaged.zip").write_bytes(b"PK\3\4 half")
    with ZipFile(folder / "large.zip", "w") as archive:
        archive.writestr("zeros", bytes(1001))
    monkeypatch.setattr(collecting, "LARGEST_ZIP", 1000)
    report, good = collecting.collect(course, [folder])
    assert not good and sum("skipped, cannot be unpacked" in line for line in report) == 2
    assert course_folder.submissions(course) == [("ada", "01_layernorm-en")]


def test_a_zip_file_in_a_zip_file_in_a_zip_file_is_left_alone(course, tmp_path):
    (tmp_path / "0").mkdir()
    for depth in range(4):
        (tmp_path / str(depth + 1)).mkdir()
        zipped(tmp_path / str(depth), tmp_path / str(depth + 1) / "inner")
    report, good = collecting.collect(course, [tmp_path / "4"])
    assert not good and "cannot be unpacked" in report[0] and len(report) == 1
