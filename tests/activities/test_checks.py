"""The checks know the mistakes, take right answers of any style, and survive whatever they are given."""

import time

import nbformat
import pytest
import torch
from nbclient import NotebookClient

from helpers import checks, language
from helpers.language import LANGUAGES, say


def verdict(task, answer, seed=0):
    """Return the sentence of a check."""
    try:
        checks.check(task, answer, seed)
    except checks.NotRight as found:
        return str(found)
    return say("check.right")


def loop(**_):
    while True:
        try:
            while True:
                pass
        except Exception:
            pass


@pytest.mark.parametrize("reader", LANGUAGES)
@pytest.mark.parametrize("task", list(checks._TASKS))
def test_every_mistake_gets_its_own_sentence_and_the_right_answer_passes(task, reader, monkeypatch):
    language.use(reader)
    entry = checks._TASKS[task]
    monkeypatch.delitem(entry, "refuses", raising=False)  # some expressions call torch's norms for short
    sentences = [mistake[reader] for mistake in entry["mistakes"]]
    assert len(set(sentences)) == len(sentences)
    names = {}
    exec(checks.NAMES, names)
    for expression, sentence in [(entry["right"], say("check.right"))] + [
        (expression, m[reader]) for m in entry["mistakes"] for expression in (m["wrong"], *m.get("also", []))
    ]:
        if "cases" in entry:
            answer = lambda expression=expression, **case: eval(expression, names | case)
        else:
            answer = eval(expression, names)
        for seed in (0, 1, 2):
            assert verdict(task, answer, seed) == sentence, expression


@pytest.mark.parametrize("answer", [None, ...])
@pytest.mark.parametrize("task", list(checks._TASKS))
def test_an_untouched_stub_is_not_done_yet(task, answer):
    assert verdict(task, answer) == say("check.not_done")
    if "cases" in checks._TASKS[task]:
        assert verdict(task, lambda **_: answer) == say("check.not_done")


@pytest.mark.parametrize("task", list(checks._TASKS))
@pytest.mark.parametrize("answer", [3, "x", [], {}, object(), torch.zeros(2), print, lambda: 1, lambda *a, **k: 1 / 0])
def test_any_object_ends_in_a_sentence(task, answer):
    found = verdict(task, answer)
    assert found and found != say("check.right")


@pytest.mark.parametrize("reader", LANGUAGES)
def test_a_shown_sentence_breaks_between_words(reader):
    """JupyterLab breaks a line of an error that is too long after any letter."""
    language.use(reader)
    shown = checks.NotRight(say("check.different"))._render_traceback_()
    assert len(shown) > 1 and all(len(line) <= 72 for line in shown)
    assert " ".join(shown) == say("check.different")


def test_an_endless_loop_ends():
    start = time.monotonic()
    assert verdict("layer-norm", loop) == say("check.too_long", seconds=checks.LIMIT)
    assert time.monotonic() - start < 2 * checks.LIMIT


@pytest.mark.parametrize("reader", LANGUAGES)
def test_after_a_cell_with_an_error_right_is_not_said_without_a_word(reader):
    """A syntax error leaves the right answer of before in place; a check that has found a mistake does not."""
    setup = f'from helpers import checks, language\nlanguage.use("{reader}")\ny = [3.5, 1, 2, 1.5, -2]'
    check = 'checks.check("by-hand", y)'
    sources = [setup, check, "y = [3.5, 1", check, "1 / 0", check, 'checks.check("by-hand", None)', check]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
    NotebookClient(notebook, timeout=60, kernel_name="python3", allow_errors=True).execute()
    shown = [notebook.cells[i].outputs[0].text.strip().replace("\n", " ") for i in (1, 3, 5, 7)]
    right, doubtful = language.catalogue(reader)["check.right"], language.catalogue(reader)["check.doubtful"]
    assert shown == [right, doubtful, doubtful, right]


def test_on_a_slow_computer_the_alarm_does_not_ring_in_the_sentence(monkeypatch):
    """It rang again after 0.2 s, when a sentence with a number took longer the first time."""
    monkeypatch.setattr(checks, "LIMIT", 0.3)
    monkeypatch.setattr(language, "say", lambda key, say=say, **values: time.sleep(0.6) or say(key, **values))
    with pytest.raises(checks.NotRight):
        checks.check("layer-norm", loop)


def test_writing_to_the_input_is_found():
    def overwrites(x, gamma, beta, eps):
        x -= x.mean(-1, keepdim=True)
        return x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * gamma + beta

    assert verdict("layer-norm", overwrites) == say("check.overwrites")


def test_the_students_random_state_stays():
    torch.manual_seed(3)
    expected = torch.randn(1)
    torch.manual_seed(3)
    verdict("layer-norm", lambda x, gamma, beta, eps: x)
    assert torch.equal(torch.randn(1), expected)


def test_the_sentences_show_no_marks_of_markdown():
    """An error is shown as it is: a backtick stays one."""
    for reader in LANGUAGES:
        language.use(reader)
        sentences = [text for key, text in language.catalogue(reader).items() if key.startswith("check.")]
        sentences += [mistake[reader] for entry in checks._TASKS.values() for mistake in entry["mistakes"]]
        assert not [text for text in sentences if "`" in text or "Schreibe " in text]
