"""How files, folders and zip files come into a course, and what happens to those that cannot be used."""

import json
import os
import re
import shutil
import sys
import unicodedata
from pathlib import Path
from zipfile import ZipFile

import pytest

from course import answer_cells, collecting, course_folder, handed_in_files
from notebook_files import layout, reading
from tests.support import small_course as small


@pytest.mark.parametrize("language", layout.LANGUAGES)
def test_language_is_told_from_the_cells_not_from_the_folder(course, tmp_path, language):
    path = small.put(small.answered(small.released(course, language)), tmp_path, "sv", "ada_01_layernorm_en.ipynb")
    collecting.collect(course, [path])
    assert small.submitted(course, "ada", f"01_layernorm-{language}")


@pytest.mark.slow
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
    assert any("0.ipynb: skipped, the file is empty" in line for line in skipped)
    assert any("picture.png: skipped, a picture: ask the student" in line for line in skipped)
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


def test_an_assignment_without_marks_is_told_from_another_notebook(course, tmp_path):
    """Some programs drop the cells' ids and all that nbgrader has written into them."""
    notebook = small.answered(small.released(course))
    for cell in notebook.cells:
        cell.pop("id")
        cell.metadata = {}
    report, good = collecting.collect(course, [small.put(notebook, tmp_path, "in", "ada", "01_layernorm.ipynb")])
    assert not good and "this is the assignment 01_layernorm" in report[0]
    assert "removed the marks" in report[0] and "ask the student" in report[0]


def test_a_byte_order_mark_does_no_harm(course, tmp_path):
    for path in (
        small.put(small.answered(small.released(course)), tmp_path, "ada", "01_layernorm.ipynb"),
        small.put({"growth": {"choice": 1}}, tmp_path, "ada", "predictions.json"),
    ):
        path.write_text(path.read_text(encoding="utf8"), encoding="utf-8-sig")
    assert collecting.collect(course, [tmp_path / "ada"])[1]
    assert small.submitted(course, "ada") and (course / "predictions" / "ada").is_dir()


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


def test_a_newer_file_in_the_place_of_an_older_one_is_a_further_attempt(course, tmp_path):
    """As when Moodle's zip file is downloaded again under the same name; what was better stays."""
    right = small.answered(small.released(course))
    for double in (None, "def double(x):\n    return 1", "def double(x):\n    return 1", None):
        notebook = small.answered(right, **({"double": double} if double else {}))
        path = small.put(notebook, tmp_path, "in", "ada_12_assignsubmission_file_", "01_layernorm.ipynb")
        assert collecting.collect(course, [path.parents[1]])[1]
    assert [student for student, _ in course_folder.submissions(course)] == ["ada", "ada~2"]
    assert small.cell(small.submitted(course, "ada"), "double").source.endswith("x + x")
    assert small.cell(small.submitted(course, "ada~2"), "double").source.endswith("return 1")


def test_the_same_answers_from_another_file_are_no_second_attempt(course, tmp_path):
    for folder in ("monday", "tuesday"):
        target = put_class(tmp_path / folder, course)
        small.put({"growth": {"choice": 1}}, target / "ada_12_assignsubmission_file_", "predictions.json")
        assert collecting.collect(course, [tmp_path / folder])[1]
    assert {path.name for path in (course / "submitted").iterdir()} == {"ada"}
    assert {path.name for path in (course / "predictions").iterdir()} == {"ada"}


def test_other_predictions_are_an_attempt_and_more_of_them_are_not(course, tmp_path):
    for choices in ({"growth": 1}, {"growth": 1, "post": 2}, {"growth": 0}):
        entries = {question: {"choice": choice} for question, choice in choices.items()}
        collecting.collect(course, [small.put(entries, tmp_path, "ada", "predictions.json")])
    kept = sorted(course.glob("predictions/*/predictions.json"))
    assert [path.parent.name for path in kept] == ["ada", "ada~2"]
    assert '"post"' in kept[0].read_text() and '"post"' not in kept[1].read_text()


def test_a_wrong_name_goes_with_its_folder(course, tmp_path):
    wrong = small.put(small.answered(small.released(course)), tmp_path, "download", "01_layernorm.ipynb")
    collecting.collect(course, [wrong])
    shutil.rmtree(course / "submitted" / "download")
    collecting.collect(course, [wrong.rename(wrong.with_name("ada_01_layernorm.ipynb"))])
    assert course_folder.submissions(course) == [("ada", "01_layernorm-en")]


def test_loose_predictions_among_the_folders_of_students_are_nobodys(course, tmp_path):
    small.put(small.answered(small.released(course)), tmp_path, "in", "ada", "01_layernorm.ipynb")
    small.put({"growth": {"choice": 1}}, tmp_path, "in", "predictions.json")
    report, good = collecting.collect(course, [tmp_path / "in"])
    assert not good and report[-1].endswith("skipped, put it in a folder with the student's name")
    assert not (course / "predictions").exists()


# files that cannot be used


OTHER_FILES = {  # name and contents → what the sentence says
    ("work.pdf", b"%PDF-1.7 x"): "a PDF",
    ("work.ipynb", b"%PDF-1.7 x"): "a PDF",
    ("work.py", b"def double(x):\n    return 2 * x\n"): "a Python program",
    ("work.html", b"<!DOCTYPE html><html></html>"): "a web page",
    ("empty.ipynb", b""): "the file is empty",
    ("blank.ipynb", b"\n\n"): "the file is empty",
    ("cut.ipynb", b'{\n"cells": [\n{"source": "half'): "JSON error at line 3",
    ("old.ipynb", b'{"nbformat": 3, "worksheets": []}'): "old version of the format",
    ("data.ipynb", b'{"x": 1}'): "other data",
    ("work.7z", b"7z\xbc\xaf\x27\x1c"): "7-Zip",
    ("notes.txt", "Grüße".encode("cp1252")): "a text file",
}


@pytest.mark.parametrize(("file", "words"), OTHER_FILES.items(), ids=[name for name, _ in OTHER_FILES])
def test_a_file_that_is_no_notebook_is_named_and_its_student_has_a_row(course, tmp_path, file, words):
    name, contents = file
    (tmp_path / "in" / "Bo Ek").mkdir(parents=True)
    (tmp_path / "in" / "Bo Ek" / name).write_bytes(contents)
    small.put(small.answered(small.released(course)), tmp_path, "in", "ada", "01_layernorm.ipynb")
    report, good = collecting.collect(course, [tmp_path / "in"])
    assert not good and course_folder.submissions(course) == [("ada", "01_layernorm-en")]
    assert any("skipped" in line and words in line and "the student" in line for line in report)
    ((student, (sentence,)),) = course_folder.skipped(course).items()
    assert student == "Bo_Ek" and name in sentence and words in sentence


def test_a_word_document_and_a_wrong_ending_are_told_from_zip_files(course, tmp_path):
    for name, inside in (("work.docx", "word/document.xml"), ("work.ipynb", "word/document.xml")):
        (tmp_path / "in" / "bo").mkdir(parents=True, exist_ok=True)
        with ZipFile(tmp_path / "in" / "bo" / name, "w") as archive:
            archive.writestr(inside, "x")
    report, good = collecting.collect(course, [tmp_path / "in"])
    assert not good and len(report) == 2 and all("a Word document" in line for line in report)


def test_a_skipped_file_is_forgotten_once_it_can_be_used(course, tmp_path):
    path = tmp_path / "in" / "bo" / "01_layernorm.ipynb"
    small.put({}, path)
    collecting.collect(course, [tmp_path / "in"])
    assert list(course_folder.skipped(course)) == ["bo"]
    small.put(small.answered(small.released(course)), path)
    assert collecting.collect(course, [tmp_path / "in"])[1]
    assert course_folder.skipped(course) == {}


def test_a_file_that_was_replaced_since_leaves_no_note_when_it_is_collected_again(course, tmp_path):
    student = "bo_13_assignsubmission_file_"
    small.put({}, put_class(tmp_path / "first", course), student, "01_layernorm.ipynb")
    first = zipped(tmp_path / "first", tmp_path / "first")
    small.put(small.answered(small.released(course)), put_class(tmp_path / "second", course), student, "better.ipynb")
    second = zipped(tmp_path / "second", tmp_path / "second")
    assert not collecting.collect(course, [first])[1]
    assert list(course_folder.skipped(course)) == ["bo"]
    assert collecting.collect(course, [second])[1]
    for _ in range(2):
        report, good = collecting.collect(course, [first])
        assert good and course_folder.skipped(course) == {}
        assert any("since replaced" in line for line in report)
    small.put({"other": 1}, tmp_path, "third", student, "01_layernorm.ipynb")  # damaged anew, in another way
    assert not collecting.collect(course, [zipped(tmp_path / "third", tmp_path / "third")])[1]
    assert list(course_folder.skipped(course)) == ["bo"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_name_that_cannot_be_decoded_blocks_nobody_and_no_later_call(course, tmp_path):
    folder = os.fsencode(tmp_path / "in") + b"/M\xfcller"
    os.makedirs(folder)
    small.put(small.answered(small.released(course)), os.fsdecode(folder), "01_layernorm.ipynb")
    small.put(small.answered(small.released(course)), tmp_path, "in", "ada", "01_layernorm.ipynb")
    for _ in range(2):
        report, good = collecting.collect(course, [tmp_path / "in"])
        assert not good and course_folder.submissions(course) == [("ada", "01_layernorm-en")]
        assert any("skipped" in line and "perhaps Müller" in line for line in report)
        assert all(line.encode("utf8") for line in report)
    assert list(course_folder.skipped(course)) == ["Müller"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_course_below_a_folder_that_cannot_be_decoded_keeps_its_records(made, tmp_path):
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/Kurs M\xfcller"))
    course = Path(shutil.copytree(made / "course", folder / "course"))
    path = small.put(small.answered(small.released(course)), folder, "in", "ada", "01_layernorm.ipynb")
    for _ in range(2):
        assert collecting.collect(course, [path.parents[1]])[1]
    assert course_folder.submissions(course) == [("ada", "01_layernorm-en")]


@pytest.mark.slow
@pytest.mark.parametrize("record", ["collected.json", "skipped.json", "doubts.json"])
@pytest.mark.parametrize("damage", ["", "{", "[]", "\x00", "[" * 100_000])
def test_a_damaged_record_is_named_set_aside_and_blocks_nothing(course, tmp_path, record, damage):
    small.put(small.answered(small.released(course)), tmp_path, "in", "Anna S_123_assignsubmission_file_", "a.ipynb")
    collecting.collect(course, [tmp_path / "in"])
    (course / record).write_text(damage)
    assert course_folder.repairs_of(course, "Anna_S", "01_layernorm-en") == []
    assert list(course_folder.skipped(course)) == (["skipped.json"] if record == "skipped.json" else [])
    report, good = collecting.collect(course, [tmp_path / "in"])
    assert good and course_folder.submissions(course) == [("Anna_S", "01_layernorm-en")]
    if record != "doubts.json":  # which is made anew each time
        assert any(record in line and "set aside" in line for line in report)
        assert [path.read_text() for path in course.glob(f"{record}.damaged-*")] == [damage]
    assert not [line for line in collecting.collect(course, [tmp_path / "in"])[0] if "set aside" in line]


def test_an_interrupted_write_leaves_the_old_record(course, tmp_path, monkeypatch):
    small.put(small.answered(small.released(course)), tmp_path, "in", "ada", "a.ipynb")
    collecting.collect(course, [tmp_path / "in"])
    before = (course / "collected.json").read_bytes()

    def disk_is_full(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "replace", disk_is_full)
    small.put(small.answered(small.released(course)), tmp_path, "in", "bo", "a.ipynb")
    with pytest.raises(OSError, match="No space"):
        collecting.collect(course, [tmp_path / "in"])
    assert (course / "collected.json").read_bytes() == before


def test_a_submission_that_was_damaged_afterwards_stays_and_a_new_one_comes_beside_it(course, tmp_path):
    small.put(small.answered(small.released(course)), tmp_path, "in", "ada", "a.ipynb")
    collecting.collect(course, [tmp_path / "in"])
    place = course_folder.place_of(course, "ada", "01_layernorm-en")
    place.write_text("damaged")
    assert collecting.collect(course, [tmp_path / "in"])[1]
    assert place.read_text() == "damaged" and small.submitted(course, "ada~2")


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


def locked(path):
    """Mark all that is in a zip file as encrypted; its contents are not, but nobody gets that far."""
    data = bytearray(path.read_bytes())
    for start, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        place = data.find(start)
        while place >= 0:
            data[place + offset] |= 1
            place = data.find(start, place + 4)
    path.write_bytes(data)


def test_a_zip_file_with_a_password_is_called_so(course, tmp_path):
    folder = put_class(tmp_path / "in", course) / "bo_13_assignsubmission_file_"
    folder.mkdir()
    with ZipFile(folder / "homework.zip", "w") as archive:
        archive.writestr("01_layernorm.ipynb", "{}")
    locked(folder / "homework.zip")
    report, good = collecting.collect(course, [zipped(tmp_path / "in", tmp_path / "class")])
    assert not good and any("password" in line and "ask the student" in line for line in report)
    assert course_folder.submissions(course) == [("ada", "01_layernorm-en")]
    assert list(course_folder.skipped(course)) == ["bo"]


def test_one_damaged_file_in_a_zip_file_costs_only_itself(course, tmp_path):
    put_class(tmp_path / "in", course)
    small.put("x" * 1000, tmp_path, "in", "bo_13_assignsubmission_file_", "01_layernorm.ipynb")
    everything = tmp_path / "class.zip"
    with ZipFile(everything, "w") as archive:  # stored as it is, so that a byte can be changed
        for path in sorted((tmp_path / "in").rglob("*.ipynb")):
            archive.write(path, path.relative_to(tmp_path / "in"))
    everything.write_bytes(everything.read_bytes().replace(b"x" * 1000, b"y" * 1000))
    report, good = collecting.collect(course, [everything])
    assert not good and course_folder.submissions(course) == [("ada", "01_layernorm-en")]
    assert list(course_folder.skipped(course)) == ["bo"]


def test_names_in_a_zip_file_of_a_mac_are_read_as_they_were(course, tmp_path):
    """It writes UTF-8, with letters taken apart, and does not say so."""
    everything = tmp_path / "class.zip"
    name = unicodedata.normalize("NFD", "Åsa Öberg").encode("utf8")
    stand_in = b"x" * len(name)
    with ZipFile(everything, "w") as archive:
        archive.writestr(f"{stand_in.decode()}/01_layernorm.ipynb", json.dumps(small.answered(small.released(course))))
    everything.write_bytes(everything.read_bytes().replace(stand_in, name))
    collecting.collect(course, [everything])
    assert course_folder.submissions(course) == [("Åsa_Öberg", "01_layernorm-en")]


def test_zip_files_of_several_students_with_the_same_folder_inside_stay_apart(course, tmp_path):
    for student in ("ada", "bo"):
        small.put(small.answered(small.released(course)), tmp_path, student, "homework", "01_layernorm.ipynb")
        (tmp_path / "in").mkdir(exist_ok=True)
        zipped(tmp_path / student, tmp_path / "in" / student)
    collecting.collect(course, [tmp_path / "in"])
    assert [student for student, _ in course_folder.submissions(course)] == ["ada", "bo"]


def test_zip_files_that_a_teacher_names_with_the_same_only_folder_stay_apart(course, tmp_path):
    for student in ("ada", "bo"):
        small.put(small.answered(small.released(course)), tmp_path, student, "homework", "01_layernorm.ipynb")
    files = [zipped(tmp_path / student, tmp_path / f"{student}-zip") for student in ("ada", "bo")]
    collecting.collect(course, files)
    assert len({student for student, _ in course_folder.submissions(course)}) == 2


def test_a_class_in_one_folder_of_a_zip_file_is_no_single_student(course, tmp_path):
    for student in ("ada", "bo"):
        small.put(small.answered(small.released(course)), tmp_path, "x", "class", student, "01_layernorm.ipynb")
    collecting.collect(course, [zipped(tmp_path / "x", tmp_path / "class")])
    assert [student for student, _ in course_folder.submissions(course)] == ["ada", "bo"]


def test_zip_files_that_cannot_be_unpacked_are_named_and_the_others_go_on(course, tmp_path, monkeypatch):
    folder = put_class(tmp_path / "in", course)
    (folder / "damaged.zip").write_bytes(b"PK\3\4 half")
    with ZipFile(folder / "large.zip", "w") as archive:
        archive.writestr("zeros", bytes(1001))
    monkeypatch.setattr(handed_in_files, "LARGEST_ZIP", 1000)
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
