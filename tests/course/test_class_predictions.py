"""What a class predicted: from the files that lessons write to one page, without names unless asked for."""

import base64
import json
import math
import re
import shutil
import xml.etree.ElementTree
from html.parser import HTMLParser
from pathlib import Path

import pytest

import classroom
from course import collecting, predictions_page
from helpers import language
from helpers.activities import predict as predictions
from helpers.language import LANGUAGES, say
from notebook_files import layout

QUESTIONS = {match[1] for key in language.catalogue("en") if (match := re.fullmatch(r"predict\.(\w+?)_1", key))}


def entry(choice, answer=3, measured=99.2):
    return {"choice": choice, "answer": answer, "measured": measured}


def put(folder, student, name="predictions.json", **entries):
    path = folder / student / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(entries), encoding="utf8")
    return path


@pytest.fixture
def room(tmp_path):
    """Four students: three chose, two of them rightly, one looked at once; one run measured something else."""
    put(tmp_path / "in", "Ada", growth=entry(3), fused=entry(0, 0, 0.6))
    put(tmp_path / "in", "Bo/notebooks/sv", growth=entry(3), fused=entry(0, 1, 0.97))
    put(tmp_path / "in", "Cem", growth=entry(0))
    put(tmp_path / "in", "Dora", growth=entry("show"))
    (tmp_path / "in" / "Dora" / "predictions.json.lock").touch()
    (tmp_path / "in" / "Dora" / "01_layernorm.ipynb").write_text("{}")
    return tmp_path / "in"


class Page(HTMLParser):
    """The text, the rows of the tables and the pictures of a page."""

    def __init__(self, path):
        super().__init__()
        self.rows, self.alts, self.svgs, self.in_cell = [], [], [], False
        self.source = path.read_text(encoding="utf8")
        self.feed(self.source)

    def handle_starttag(self, tag, attributes):
        self.in_cell = tag in ("td", "th")
        if tag == "tr":
            self.rows.append([])
        elif self.in_cell:
            self.rows[-1].append("")
        elif tag == "img":
            self.alts.append(dict(attributes)["alt"])
            data = base64.b64decode(dict(attributes)["src"].partition("base64,")[2])
            self.svgs.append("\n".join(xml.etree.ElementTree.fromstring(data).itertext()))

    def handle_data(self, data):
        if self.in_cell:
            self.rows[-1][-1] += data

    def handle_endtag(self, tag):
        self.in_cell = False


def shown(paths, tmp_path, lang="en", **options):
    """Return the Page of some files, the report and whether all was good."""
    report, good = predictions_page.write(paths, tmp_path / "page.html", lang, **options)
    return Page(tmp_path / "page.html"), report, good


@pytest.mark.parametrize("lang", LANGUAGES)
def test_table_says_what_was_believed_and_what_was_measured(room, tmp_path, lang):
    page, report, good = shown([room], tmp_path, lang)
    options = [say(f"predict.growth_{number}") for number in range(1, 5)]
    rows = {row[0]: row[1:] for row in page.rows}
    assert good and "4 students, 2 questions" in report[-1]
    assert rows[say("predict.growth")] == ["3", "1", "2", options[3], options[3], language.number(99.2)]
    less, same = say("predict.fused_1"), say("predict.fused_2")
    spread = say("class.range", low=language.number(0.6), high=language.number(0.97))
    assert rows[say("predict.fused")] == ["2", "0", "1", less, f"{less} (1); {same} (1)", spread]
    assert f'lang="{lang}"' in page.source and say("class.title") in page.source


@pytest.mark.parametrize("lang", LANGUAGES)
def test_picture_shows_shares_and_marks_the_measured_answers(room, tmp_path, lang):
    page, *_ = shown([room], tmp_path, lang)
    (drift, cost), (alt, _) = (" ".join(svg.split()) for svg in reversed(page.svgs)), reversed(page.alts)
    for count, percent in ((2, 67), (1, 33), (0, 0)):
        assert " ".join(say("class.share", count=count, percent=percent).split()) in drift
    assert drift.count(say("class.measured")) == 1 and cost.count(say("class.runs", count=1)) == 2
    assert f"{say('predict.growth_4')}: 2" in alt and say("class.alt", answer=say("predict.growth_4")) in alt


def test_page_asks_no_network_and_names_nobody_unless_asked(room, tmp_path):
    page, report, _ = shown([room], tmp_path)
    seen = "".join([re.sub('base64,[^"]*', "", page.source), *page.svgs, *report])
    assert "about as long" in seen and not re.search("Ada|Bo|Cem|Dora", seen)
    assert not re.search(r'(src|href)="(?!data:)|url\(|@import', page.source)
    page, *_ = shown([room], tmp_path, names=True)
    assert "about as long: Cem; about 100 times: Ada, Bo" in [row[-1] for row in page.rows]


def test_broken_files_are_named_and_the_others_shown(room, tmp_path):
    put(room, "Eva", growth=entry(1))
    for student, text in (("F1", "{"), ("F2", "[]"), ("F3", "\ud800"), ("F4", "[" * 100_000)):
        path = put(room, student)
        path.write_bytes(text.encode("utf8", "surrogatepass"))
    page, report, good = shown([room], tmp_path)
    assert not good and sum("skipped, not a file of predictions" in line for line in report) == 4
    assert "5 students" in report[-1]
    with pytest.raises(SystemExit) as end:
        classroom.main(["predictions", str(room), "--out", str(tmp_path / "page.html")])
    assert end.value.code == 1


@pytest.mark.parametrize(
    "bad",
    [None, 3, {}, {"choice": 0, "measured": 1.0}, entry(4), entry(-1), entry("x"), entry(0, 4), entry(0, True)]
    + [entry([0]), entry(0, 1, "9"), entry(0, 1, None)],
)
def test_an_entry_that_no_lesson_writes_is_left_out(tmp_path, bad):
    put(tmp_path, "Ada", growth=bad, post=entry(0, 0))
    page, report, good = shown([tmp_path / "Ada" / "predictions.json"], tmp_path)
    assert good and "left out" in report[0] and report[0].endswith("growth")
    assert [row[0] for row in page.rows[1:]] == [say("predict.post")]


def test_unknown_questions_and_numbers_beyond_all_bounds_do_no_harm(tmp_path):
    put(tmp_path, "Ada", **{"<b>": entry(0)}, no_warmup=entry(2, 2, math.inf), no_norm=entry(2, 2, math.nan))
    page, report, _ = shown([tmp_path], tmp_path)
    assert "<b>" in report[0] and {row[-1] for row in page.rows[1:]} >= {"∞", "NaN"}


def test_nothing_to_show_is_one_sentence(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="there is no prediction"):
        predictions_page.write([tmp_path / "empty"], tmp_path / "page.html")
    with pytest.raises(SystemExit, match="there is no"):
        classroom.main(["predictions", str(tmp_path / "nowhere")])


def test_every_question_of_the_lessons_has_its_place(tmp_path):
    found = {question: entry(0, 0) for question in QUESTIONS}
    for lang in LANGUAGES:
        language.use(lang)
        questions = predictions_page.by_lesson({"Ada": found}, layout.ROOT)
        assert len(questions) == 4
        assert sorted(q.name for each in questions.values() for q in each) == sorted(QUESTIONS)


def test_what_a_lesson_writes_is_what_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    predictions.predict("growth", 99.2, (3, 25, 75)).radio.value = 1
    students, report, good = predictions_page.read([tmp_path / "predictions.json"])
    assert good and not report and list(students.values()) == [{"growth": entry(1)}]


@pytest.mark.parametrize(
    ("path", "student"),
    [
        ("in/Ada/predictions.json", "Ada"),
        ("in/Ada/notebooks/de/predictions.json", "Ada"),
        ("in/Ada~2/predictions.json", "Ada"),
        ("in/Åsa Öberg_12_assignsubmission_file_/predictions.json", "Åsa_Öberg"),
        ("in/Sven de la Cruz/predictions.json", "Sven_de_la_Cruz"),
        ("in/predictions_ada_lovelace.json", "ada_lovelace"),
        ("in/ada-predictions (1).json", "ada"),
    ],
)
def test_who_predicted(tmp_path, path, student):
    put(tmp_path, Path(path).parent, Path(path).name, growth=entry(1))
    students, report, good = predictions_page.read([tmp_path / "in"])
    assert good and not report and list(students) == [student]


@pytest.mark.parametrize(
    "places",
    [
        ["Anna S_12_assignsubmission_file_/predictions.json", "Anna S_13_assignsubmission_file_/predictions.json"],
        [
            "Participant_12_assignsubmission_file_/predictions.json",
            "Participant_13_assignsubmission_file_/predictions.json",
        ],
        ["Jan de Vries/predictions.json", "Jan Vries/predictions.json"],
        ["Li/predictions.json", "Li En/predictions.json"],
        ["Åsa/predictions.json", "Åsa (2)/predictions.json"],
        ["predictions (1).json", "predictions (2).json"],
    ],
)
def test_the_choices_of_two_students_are_two_choices(tmp_path, places):
    for number, place in enumerate(places):
        put(tmp_path / "in", Path(place).parent, Path(place).name, growth=entry(number))
    students, *_ = predictions_page.read([tmp_path / "in"])
    assert sorted(entries["growth"]["choice"] for entries in students.values()) == [0, 1]


def test_a_loose_file_among_the_folders_of_students_is_named_and_the_page_is_made(room, tmp_path):
    (room / "predictions.json").write_text(json.dumps({"growth": entry(0)}))
    page, report, good = shown([room], tmp_path)
    assert not good and "4 students" in report[-1]
    assert any("in/predictions.json: skipped, put it in a folder" in Path(line).as_posix() for line in report)


def test_of_two_files_of_a_student_the_first_choice_counts(tmp_path):
    put(tmp_path, "Ada/de", growth=entry(0))
    put(tmp_path, "Ada/en", growth=entry(3), post=entry(1, 1))
    students, *_ = predictions_page.read([tmp_path])
    assert students == {"Ada": {"growth": entry(0), "post": entry(1, 1)}}


def test_predictions_are_read_from_a_zip_file_too(room, tmp_path):
    plain, packed = (tmp_path / f"{name}.html" for name in ("plain", "packed"))
    predictions_page.write([room], plain)
    predictions_page.write([Path(shutil.make_archive(str(tmp_path / "class"), "zip", room))], packed)
    assert packed.read_text(encoding="utf8") == plain.read_text(encoding="utf8")


def test_a_course_is_read_in_its_own_folder_of_predictions(course, tmp_path):
    """Each student counts once, although the same files lie among what was unpacked."""
    put(tmp_path / "in", "ada_12_assignsubmission_file_", growth=entry(1))
    everything = shutil.make_archive(str(tmp_path / "class"), "zip", tmp_path / "in")
    assert collecting.collect(course, [Path(everything)])[1]
    put(tmp_path / "in", "ada_12_assignsubmission_file_", growth=entry(2))
    everything = shutil.make_archive(str(tmp_path / "later"), "zip", tmp_path / "in")
    assert collecting.collect(course, [Path(everything)])[1]
    assert (course / "predictions" / "ada~2").is_dir()
    report, good = predictions_page.write([course], tmp_path / "page.html")
    assert good and "1 student, 1 question" in report[-1]
