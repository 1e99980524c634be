"""Predict, then run: choices are kept beside the notebook, and the answer is the measured one."""

import html
import json
import subprocess
import sys
import threading

import pytest
from bs4 import BeautifulSoup, NavigableString
from IPython.core.formatters import DisplayFormatter

from helpers import language
from helpers.activities import predict as predictions


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("value", "answer"), [(1, 0), (2.9, 0), (3, 1), (99, 3), (1e9, 3)])
def test_answer_is_the_measured_one(value, answer):
    assert predictions.predict("growth", value, (3, 25, 75)).answer == answer


@pytest.mark.parametrize("lang", language.LANGUAGES)
def test_answer_appears_after_the_choice_only(lang):
    language.use(lang)
    question = predictions.predict("growth", 99.2, (3, 25, 75))
    assert question.radio.value is None and question.reveal.value == ""
    question.radio.value = 2
    assert language.say("predict.wrong") in question.reveal.value and language.number(99.2) in question.reveal.value
    question.radio.value = 3  # the first choice was the prediction
    first = language.say("predict.first", choice=language.say("predict.growth_3"))
    assert first in question.reveal.value and language.number(99.2) in question.reveal.value
    assert language.say("predict.right") not in question.reveal.value
    question.radio.value = 2
    assert language.say("predict.wrong") in question.reveal.value


def test_a_right_first_choice_is_called_right():
    question = predictions.predict("growth", 99.2, (3, 25, 75))
    question.radio.value = 3
    assert language.say("predict.right") in question.reveal.value


def test_reader_may_see_the_answer_without_choosing():
    question = predictions.predict("growth", 99.2, (3, 25, 75))
    question.radio.value = predictions.SHOW
    assert "99.2" in question.reveal.value and language.say("predict.wrong") not in question.reveal.value


def test_choice_survives_a_restart_and_is_the_only_thing_kept(folder):
    predictions.predict("growth", 99.2, (3, 25, 75)).radio.value = 1
    again = predictions.predict("growth", 99.2, (3, 25, 75))
    assert again.radio.value == 1 and "99.2" in again.reveal.value
    assert json.loads((folder / "predictions.json").read_text()) == {
        "growth": {"choice": 1, "answer": 3, "measured": 99.2}
    }


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"growth": {"choice": 99}}', '{"growth": {"choice": "x"}}', "\xff"]
)
def test_damaged_file_is_no_obstacle(folder, content):
    (folder / "predictions.json").write_bytes(content.encode("latin1"))
    question = predictions.predict("growth", 99.2, (3, 25, 75))
    assert question.radio.value is None
    question.radio.value = 0
    assert predictions.load()["growth"]["choice"] == 0


@pytest.mark.parametrize("lang", language.LANGUAGES)
def test_folder_that_cannot_be_written_gets_a_sentence_and_the_choice_stays(monkeypatch, lang):
    """The sentence says that it counts until the kernel stops; the cell, run again, once asked anew."""

    def refuse(*_):
        raise PermissionError("planted")

    language.use(lang)
    monkeypatch.setattr(predictions, "save", refuse)
    question = predictions.predict("growth", 3.3, (3, 25, 75))
    question.radio.value = 0
    assert language.say("predict.not_kept") in question.reveal.value and language.number(3.3) in question.reveal.value
    again = predictions.predict("growth", 3.3, (3, 25, 75))
    assert again.radio.value == 0 and language.say("predict.not_kept") in again.reveal.value
    again.radio.value = 1  # which is right, but not what was chosen first
    assert language.say("predict.right") not in again.reveal.value
    assert html.escape(language.say("predict.growth_1")) in again.reveal.value


def test_a_file_that_cannot_be_read_is_not_replaced(folder):
    """It may hold the choices of a whole course."""
    (folder / "predictions.json").mkdir()
    question = predictions.predict("growth", 99.2, (3, 25, 75))
    question.radio.value = 0
    assert language.say("predict.not_kept") in question.reveal.value
    assert predictions.predict("growth", 99.2, (3, 25, 75)).radio.value == 0


OTHER_KERNEL = """
from helpers.activities.predict import predict
predict("growth", 99.2, (3, 25, 75)).radio.value = {choice!r}
"""


@pytest.mark.parametrize("choice", [1, predictions.SHOW])
@pytest.mark.parametrize("lang", language.LANGUAGES)
def test_of_two_kernels_with_the_same_question_the_first_choice_stays_and_the_second_is_told(folder, choice, lang):
    language.use(lang)
    question = predictions.predict("growth", 99.2, (3, 25, 75))  # shown before the other kernel's reader chooses
    subprocess.run([sys.executable, "-c", OTHER_KERNEL.format(choice=choice)], check=True)
    question.radio.value = 3
    assert predictions.load()["growth"]["choice"] == choice
    first = language.say("predict.show" if choice == predictions.SHOW else "predict.growth_2")
    assert language.say("predict.elsewhere", choice=first) in html.unescape(question.reveal.value)
    assert language.say("predict.right") not in question.reveal.value and language.number(99.2) in question.reveal.value
    assert predictions.predict("growth", 99.2, (3, 25, 75)).radio.value == choice


def test_the_same_choice_in_two_kernels_is_simply_judged(folder):
    question = predictions.predict("growth", 99.2, (3, 25, 75))
    predictions.save("growth", {"choice": 3, "answer": 3, "measured": 99.2})
    question.radio.value = 3
    assert language.say("predict.right") in question.reveal.value


@pytest.mark.parametrize("lang", language.LANGUAGES)
def test_question_answer_and_what_is_stored_say_their_language(lang):
    language.use(lang)
    question = predictions.predict("growth", 99.2, (3, 25, 75))
    question.radio.value = 0
    stored = DisplayFormatter().format(question)[0]["text/html"]
    for shown in (stored, question.reveal.value, question.box.children[0].value):
        soup = BeautifulSoup(shown, "html.parser")
        for text in soup.find_all(string=lambda string: type(string) is NavigableString and string.strip()):
            assert text.find_parent(lang=lang) is not None, text


def test_two_notebooks_that_write_at_once_lose_nothing():
    def write(name):
        for i in range(25):
            predictions.save(f"{name}{i}", {"choice": i, "measured": 1.0})

    threads = [threading.Thread(target=write, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(predictions.load()) == 50


def test_a_reader_sees_one_file_and_no_lock(folder):
    predictions.predict("growth", 99.2, (3, 25, 75)).radio.value = 1
    assert [path.name for path in folder.iterdir() if not path.name.startswith(".")] == ["predictions.json"]


def test_reader_without_a_kernel_sees_question_answers_and_the_measured_one():
    shown, _ = DisplayFormatter().format(predictions.predict("growth", 99.2, (3, 25, 75)))
    page, text = shown["text/html"], shown["text/plain"]
    assert language.say("predict.growth") in page and page.count("<li>") == 4 and "99.2" in page
    assert language.say("predict.growth") in text and len(text.splitlines()) == 6 and "99.2" in text


# Nothing that a student has predicted may be lost

ALL = {"fused": {"choice": 1, "answer": 1, "measured": 0.9}, "leak": {"choice": 2, "answer": 0, "measured": 0.0}}


def test_earlier_predictions_stay_when_an_editor_has_put_a_mark_before_them(folder):
    """With a byte order mark, the next click deleted all of them."""
    (folder / "predictions.json").write_text(json.dumps(ALL), encoding="utf-8-sig")
    assert predictions.load() == ALL
    predictions.predict("growth", 99.2, (3, 25, 75)).radio.value = 0
    assert predictions.load() == ALL | {"growth": {"choice": 0, "answer": 3, "measured": 99.2}}
    assert not list(folder.glob("*damaged*"))


def test_entries_that_nobody_understands_stay_in_the_file(folder):
    (folder / "predictions.json").write_text(json.dumps(ALL | {"note": "mine", "count": 3}))
    predictions.predict("growth", 99.2, (3, 25, 75)).radio.value = 0
    found = json.loads((folder / "predictions.json").read_text())
    assert found["note"] == "mine" and found["count"] == 3 and set(ALL) < set(found)


DAMAGED = {
    "a stray comma": json.dumps(ALL)[:-1] + ",}",
    "a merge": f"<<<<<<< HEAD\n{json.dumps(ALL)}\n=======\n{{}}\n>>>>>>> other\n",
    "half of it": json.dumps(ALL)[:40],
    "a list": json.dumps([ALL]),
    "another encoding": json.dumps({"ä": ALL}, ensure_ascii=False).encode("utf16").decode("latin1"),
}


@pytest.mark.parametrize("damage", DAMAGED)
@pytest.mark.parametrize("lang", language.LANGUAGES)
def test_a_damaged_file_is_set_aside_and_the_student_told(folder, damage, lang):
    """The next click replaced it by a file with one prediction."""
    language.use(lang)
    content = DAMAGED[damage].encode("latin1")
    for kept in ("predictions.damaged.json", "predictions.damaged2.json"):  # one set aside before is not overwritten
        (folder / "predictions.json").write_bytes(content)
        question = predictions.predict("growth", 99.2, (3, 25, 75))
        question.radio.value = 0
        assert (folder / kept).read_bytes() == content
        assert language.say("predict.damaged", file="predictions.json", kept=kept) in html.unescape(
            question.reveal.value
        )
        assert list(predictions.load()) == ["growth"]
    assert (folder / "predictions.damaged.json").read_bytes() == content
    later = predictions.predict("fused", 1.0, (0.9, 1.1))
    later.radio.value = 0
    assert "damaged" not in later.reveal.value and len(predictions.load()) == 2


def test_a_damaged_file_that_cannot_be_renamed_stays(folder, monkeypatch):
    (folder / "predictions.json").write_text("{,}")

    def refuse(*_):
        raise PermissionError("planted")

    monkeypatch.setattr("pathlib.Path.rename", refuse)
    question = predictions.predict("growth", 99.2, (3, 25, 75))
    question.radio.value = 0
    assert language.say("predict.not_kept") in question.reveal.value
    assert (folder / "predictions.json").read_text() == "{,}"


# What was measured


@pytest.mark.parametrize("lang", language.LANGUAGES)
@pytest.mark.parametrize("choice", [3, predictions.SHOW])
def test_a_measurement_that_is_no_number_is_no_answer(folder, lang, choice):
    """NaN was the last answer, and counted as the class's."""
    language.use(lang)
    question = predictions.predict("growth", float("nan"), (3, 25, 75))
    question.radio.value = choice
    assert html.escape(language.say("predict.no_number")) in question.reveal.value
    for verdict in ("right", "wrong"):
        assert language.say(f"predict.{verdict}") not in question.reveal.value
    assert json.loads((folder / "predictions.json").read_text()) == {"growth": {"choice": choice}}
    predictions.predict("growth", 99.2, (3, 25, 75))  # run again, with a number
    assert predictions.load() == {"growth": {"choice": choice, "answer": 3, "measured": 99.2}}


def test_after_another_measurement_page_and_file_agree(folder):
    """The page judged by the new value, and the class by the one in the file."""
    predictions.predict("growth", 99.2, (3, 25, 75)).radio.value = 3
    stored = (folder / "predictions.json").read_text()
    again = predictions.predict("growth", 10.5, (3, 25, 75))
    told = html.unescape(again.reveal.value)
    assert language.say("predict.right") in told and "99.2" in told and "10.5" in told
    assert language.say("predict.growth_2") in told, "what this run has measured"
    nothing = predictions.predict("growth", float("nan"), (3, 25, 75))
    assert language.say("predict.right") in nothing.reveal.value and "NaN" in nothing.reveal.value
    assert (folder / "predictions.json").read_text() == stored
    same = predictions.predict("growth", 99.2, (3, 25, 75))
    assert same.reveal.value.count("99.2") == 1
