"""Every answer of a student gets the sentence that it must get, in every language and for several seeds."""

import pytest

from helpers import language
from helpers.activities.check import TASKS, NotRight, check
from helpers.language import LANGUAGES, say

from . import ANSWERS, assignment_1, assignment_2, assignment_3, assignment_4


def verdict(task, answer, seed=0):
    """Return the sentence of a check."""
    try:
        check(task, answer, seed)
    except NotRight as found:
        return str(found)
    return say("check.right")


def begins_as_expected(case, reader, found):
    """Return whether what a check has said is the expected sentence, up to its first placeholder."""
    if case.key:
        return found.startswith(language.catalogue(reader)[case.key].split("{")[0])
    [mistake] = [mistake for mistake in TASKS[case.task].mistakes if mistake.name == case.mistake]
    return found == mistake.sentences[reader]


def name_of(case):
    return f"{case.task}: {case.mistake or case.key}: {getattr(case.answer, '__name__', 'value')}"


@pytest.mark.slow
@pytest.mark.parametrize("case", ANSWERS, ids=name_of)
def test_an_answer_gets_its_sentence(case):
    for seed, reader in enumerate(LANGUAGES):  # each with numbers of its own
        language.use(reader)
        found = verdict(case.task, case.answer, seed)
        assert begins_as_expected(case, reader, found), found


@pytest.mark.parametrize("task", TASKS)
def test_every_known_mistake_is_made_and_every_task_has_right_answers_of_many_styles(task):
    made = {case.mistake for case in ANSWERS if case.task == task and case.mistake}
    assert made == {mistake.name for mistake in TASKS[task].mistakes}
    assert len([case for case in ANSWERS if case.task == task and case.key == "check.right"]) >= 6


def test_every_assignment_has_answers_here():
    for module in (assignment_1, assignment_2, assignment_3, assignment_4):
        functions = [case.answer.__module__ for case in ANSWERS if getattr(case.answer, "__module__", "")]
        assert module.__name__ in functions
