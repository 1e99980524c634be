"""The table of marks as a spreadsheet reads it."""

import csv

import pytest

from course import course_folder, marks_table
from tests.support import small_course as small


@pytest.mark.parametrize("text", ["=1+1", "+49 1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1"])
def test_no_text_becomes_a_formula(text):
    assert marks_table.spreadsheet_cell(text) == f"'{text}"


def test_numbers_stay_numbers_and_plain_text_stays_as_it_is():
    assert marks_table.spreadsheet_cell(-1.5) == "-1.5"
    assert marks_table.spreadsheet_cell(-1.5, ",") == "-1,5"
    assert marks_table.spreadsheet_cell(0) == "0" and marks_table.spreadsheet_cell(None) == ""
    assert marks_table.spreadsheet_cell("Ada = Eva") == "Ada = Eva"


def test_names_and_notes_become_no_formulas_either(course):
    table = marks_table.Table({"01_layernorm": 9.0})
    table.score("=HYPERLINK(1)", "01_layernorm-en", -0.5)
    table.note("=HYPERLINK(1)", "", ["+cmd"])
    marks_table.write(course, table.header(), table.rows())
    assert small.scores(course)["'=HYPERLINK(1)"] == ["-0.5", "-0.5", "'+cmd"]


def test_the_rows_stand_in_the_order_of_the_alphabet_whether_names_have_capitals_or_not():
    table = marks_table.Table({"01_layernorm": 9.0})
    for student in ("Zoe", "adam", "Bo", "Adam", "de_Boer", "@di"):
        table.score(student, "01_layernorm-en", 1)
    assert [row[0] for row in table.rows()] == ["@di", "Adam", "adam", "Bo", "de_Boer", "Zoe"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "languages, expected",
    [
        (["en", "de"], "Ada,4.5,4.5,a.b; c\r\n"),
        (["sv"], 'Ada;4,5;4,5;"a.b; c"\r\n'),
        (["de", "en"], 'Ada;4,5;4,5;"a.b; c"\r\n'),
    ],
)
def test_the_first_language_of_a_course_decides_the_decimal_mark(tmp_path, languages, expected):
    course_folder.create(tmp_path / "course", languages, small.make_tree(tmp_path))
    marks_table.write(tmp_path / "course", ["x"], [["Ada", 4.5, 4.5, "a.b; c"]])
    assert (tmp_path / "course" / "marks.csv").read_bytes().decode("utf8") == "\ufeffx\r\n" + expected


def test_a_teacher_can_choose_the_decimal_mark(course):
    path = course / "nbgrader_config.py"
    path.write_text(path.read_text(encoding="utf8") + 'c.Classroom.decimal_mark = ","\n', encoding="utf8")
    marks_table.write(course, ["student", "01_layernorm /4.5"], [["Ada", 4.5]])
    with open(course / "marks.csv", encoding="utf-8-sig", newline="") as file:
        assert list(csv.reader(file, delimiter=";")) == [["student", "01_layernorm /4,5"], ["Ada", "4,5"]]
