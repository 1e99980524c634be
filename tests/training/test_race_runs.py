"""The stored runs are what their script makes: it resumes, repeats itself, and its curves can be trained again."""

import itertools
import json
import math

import pytest
import torch

from helpers.explorers import race
from helpers.training import LETTERS, Run, sentences, unigram
from training import race_runs

EXPLODED = 100  # nats; guessing costs about 3
FIRST = 40  # steps of each kind that are trained again
RUNS = {"tiny": (Run("pre", layers=1, steps=30), 3), "other": (Run("none", layers=1, steps=20), 2)}


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    monkeypatch.setattr(race_runs, "RUNS", RUNS)
    return tmp_path / "runs.json"


def test_the_text_is_made_of_sentences_and_always_the_same():
    text = "".join(LETTERS[i] for i in sentences(100_000))
    assert len(text) == 100_000 and text.startswith("".join(LETTERS[i] for i in sentences(500)))
    assert text[:60] == "some old letter watches no green field. no long boat follows"
    assert set(text) <= set(LETTERS)
    assert all(5 <= len(sentence.split()) <= 10 for sentence in text.split(". ")[:-1])
    assert 2.7 < unigram() < 2.9 < torch.tensor(len(LETTERS)).log()


def test_a_curve_is_the_means_of_full_chunks():
    assert race.chunked([1.0] * 10 + [2.0] * 9) == [1.0]
    assert race.chunked([1 / 3] * 20) == [0.333, 0.333]
    assert race.chunked([]) == []


def test_an_interrupted_script_goes_on_where_it_stopped(tiny, monkeypatch):
    race_runs.main(["--out", str(tiny)])
    whole = tiny.read_text()
    store = json.loads(whole)
    assert {name: len(entry["losses"]) for name, entry in store["runs"].items()} == {"tiny": 3, "other": 2}
    assert all(len(curve) == 3 for curve in store["runs"]["tiny"]["losses"])
    store["runs"]["tiny"]["losses"].pop()
    del store["runs"]["other"]
    race_runs.save(store, tiny)
    race_runs.main(["--out", str(tiny)])
    assert tiny.read_text() == whole
    trained = []
    monkeypatch.setattr(Run, "losses", lambda _, seed=0: trained.append(seed) or iter([0.0] * 30))
    race_runs.main(["--out", str(tiny)])
    assert trained == []


def test_other_settings_are_not_mixed_in(tiny, monkeypatch):
    race_runs.main(["--out", str(tiny), "--only", "tiny"])
    monkeypatch.setattr(race_runs, "RUNS", {"tiny": (Run("pre", layers=2, steps=30), 3)})
    with pytest.raises(SystemExit, match="other settings"):
        race_runs.main(["--out", str(tiny)])


def test_the_race_runs_are_those_of_the_script():
    stored = race.stored()
    assert set(stored) == set(race_runs.RUNS)
    for name, (run, curves) in stored.items():
        assert (run, len(curves)) == race_runs.RUNS[name]
        assert all(len(curve) == run.steps // 10 for curve in curves), name


@pytest.mark.slow
@pytest.mark.parametrize("name", race_runs.RUNS)
def test_the_beginning_of_a_stored_curve_comes_again(name):
    # rounding errors grow, so only the first steps are the same on every machine
    run, curves = race.stored()[name]
    losses = [*itertools.islice(run.losses(seed=0), FIRST if run.layers < 24 else 10)]
    again = race.chunked(losses)
    stored = curves[0][: len(again)]
    if max(stored) > EXPLODED:
        # such a loss doubles or halves with the last bit of a weight, so only its order of magnitude is the run's own
        assert [math.log10(loss) for loss in again] == pytest.approx([math.log10(loss) for loss in stored], abs=1)
    else:
        assert again == pytest.approx(stored, rel=0.03, abs=0.02)
