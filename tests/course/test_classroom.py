"""The teacher's commands: what goes wrong, the real assignments, and a class of 30 that does everything classes do."""

import signal
import subprocess
import sys

import pytest

import classroom
from course import collecting, course_configuration, course_folder, grade_submissions
from nbgrader_hooks import is_check
from notebook_files import layout, reading
from tests.support import small_course as small


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["create", "{full}"], "not empty"),
        (["create", "{new}", "--lang", "de"], "notebooks/de/solutions holds no notebooks"),
        (["collect", "{full}", "x.ipynb"], "holds no course"),
        (["grade", "{new}"], "holds no course"),
        (["grade", "{course}"], "holds no submissions"),
        (["collect", "{course}", "no-such-file"], "there is no no-such-file"),
        (["predictions", "no-such-file"], "there is no no-such-file"),
        (["predictions", "{course}"], "no predictions have been collected"),
        (["collect", "{full}", "{course}"], "the course comes first"),
        (["predictions", "{full}", "--lang", "de", "--lang", "sv"], "a page has one language"),
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


def test_a_mistyped_command_is_answered_with_the_commands_of_teachers_only(capsys):
    with pytest.raises(SystemExit):
        classroom.main(["colect", "course"])
    told = capsys.readouterr().err
    assert "collect" in told and "grade-one" not in told


def test_a_command_that_is_stopped_says_one_sentence(course, monkeypatch, capsys):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(collecting, "collect", stop)
    before = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(SystemExit) as end:
            classroom.main(["collect", str(course), str(course)])
    finally:
        signal.signal(signal.SIGINT, before)
    told = capsys.readouterr().err
    assert end.value.code == 130 and "nothing is lost" in told and told.count("\n") == 1


@pytest.mark.parametrize("folder", ["new", "empty"])
def test_a_course_that_was_stopped_while_it_was_made_can_be_made_again(tmp_path, monkeypatch, folder):
    root = small.make_tree(tmp_path / "tree")
    (tmp_path / "empty").mkdir()

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(course_configuration, "interface", stop)
        with pytest.raises(KeyboardInterrupt):
            course_folder.create(tmp_path / folder, ["en"], root)
    assert course_folder.create(tmp_path / folder, ["en"], root)


@pytest.mark.parametrize("words", [["grade", "course"], ["collect", "course", "in"], ["create", "course"]])
def test_without_its_packages_the_tool_says_one_sentence(tmp_path, words):
    """As with a Python outside of the environment: -S leaves out all packages that are installed."""
    command = [sys.executable, "-S", str(layout.ROOT / "tools" / "classroom.py"), *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout == ""
    assert "pip install -r tests/requirements.txt" in done.stderr and done.stderr.count("\n") == 1


def grade_solutions(course, languages, folder):
    """Hand in the solutions themselves and grade them; return the table and whether all could be graded."""
    for language in languages:
        for file in course_folder.sources(layout.ROOT, language):
            small.put(reading.read(file), folder, f"reference{language}", file.name)
    collecting.collect(course, [folder])
    return grade_submissions.grade(course)


def check_points(notebook):
    """Return the points that the checks of a notebook give."""
    return sum(cell.metadata.nbgrader.points for cell in notebook.cells if is_check(cell))


@pytest.mark.slow
@pytest.mark.parametrize("languages", [["en"], pytest.param(layout.LANGUAGES, marks=pytest.mark.whole_class)])
def test_solutions_get_full_marks(tmp_path, languages):
    course_folder.create(tmp_path / "course", languages)
    report, good = grade_solutions(tmp_path / "course", languages, tmp_path / "in")
    assert good, report
    for language in languages:
        points = [check_points(reading.read(file)) for file in course_folder.sources(layout.ROOT, language)]
        found = small.scores(tmp_path / "course")[f"reference{language}"]
        assert [float(value) for value in found[: len(points)]] == points, report


@pytest.mark.whole_class
def test_class_of_30(tmp_path):
    """With the usual time limit, and with torch, which every lesson imports."""
    course = tmp_path / "course"
    course_folder.create(course, ["en", "de", "sv"], small.make_tree(tmp_path, "from helpers import norms\n"))
    deserved = small.hand_in(course, tmp_path / "in", [*small.DESERVED, *small.DESERVED][:29])
    small.put("no notebook", tmp_path, "in", "none", "a.ipynb")
    collected, _ = collecting.collect(course, [tmp_path / "in"])
    assert [line for line in collected if "skipped" in line and "none" in line]
    report, good = grade_submissions.grade(course)
    found = small.scores(course)
    del found["student"]
    assert "was skipped" in found.pop("none")[2]
    assert good, report
    assert {name: float(row[0]) for name, row in found.items()} == deserved
