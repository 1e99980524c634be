"""The parts of the benchmark beside peers that can be wrong without a sign: what is compared, and how often."""

import itertools
import sys

import nbformat
import pytest
import torch
from nbclient import NotebookClient

import benchmark
import clicks
import contestants
import peers


def points(shift=0.0, missing=0):
    made = [torch.full((1, 3, 4), float(index)) for index in range(2 * 2 * contestants.LAYERS + 2 - missing)]
    made[7] = made[7] + shift
    half = 2 * contestants.LAYERS + 1
    return lambda: (made[:half], made[half:-1], made[-1])


def test_sides_that_found_the_same_pass_and_others_do_not():
    contestants.must_agree({"ours": points(), "peer": points(1e-6)})
    for wrong, message in ((points(0.01), "peer, point 7"), (points(missing=1), "49 points")):
        with pytest.raises(AssertionError, match=message):
            contestants.must_agree({"ours": points(), "peer": wrong})


def test_a_side_without_points_of_its_own_is_compared_at_its_end():
    stream, writes, final = points()()
    contestants.must_agree({"ours": points(), "forward": lambda: (None, None, final)})
    with pytest.raises(AssertionError, match="transformers hidden, point 49"):
        contestants.must_agree({"ours": points(), "transformers hidden": lambda: ("all", None, final + 1)})


def test_what_a_run_prints_comes_back_and_what_stops_it_is_said(tmp_path):
    with pytest.raises(RuntimeError, match="no-such-side"):
        contestants.run(sys.executable, "time", tmp_path, "--sides", "no-such-side")


def test_a_cache_is_read_in_the_order_of_the_trace():
    names = ["blocks.0.hook_resid_pre"]
    for block, part in itertools.product(range(contestants.LAYERS), ("hook_resid_mid", "hook_resid_post")):
        names.append(f"blocks.{block}.{part}")
    writes = [f"blocks.{b}.hook_{part}_out" for b in range(contestants.LAYERS) for part in ("attn", "mlp")]
    every = [*names, *writes, contestants.FINAL]
    assert contestants.from_cache(dict(zip(every, every))) == (names, writes, contestants.FINAL)


def test_every_side_runs_as_often_as_the_others():
    runs = []
    found = contestants.medians({"a": lambda: runs.append("a"), "b": lambda: runs.append("b")}, rounds=3)
    assert runs == ["a", "b"] * 3 and found.keys() == {"a", "b"}


def test_the_clicks_lead_through_sixteen_states_and_none_twice():
    state = dict.fromkeys(("quantity", "axis", "writes", "reference"), False)
    seen = {tuple(state.values())}
    for name, value in clicks.path():
        assert state[name] != value, "a click that changes nothing"
        state[name] = value
        seen.add(tuple(state.values()))
    assert len(seen) == 16


@pytest.mark.parametrize("name", ["OURS", "INTERACT", "TRIP"])
def test_each_side_of_the_clicks_shows_its_widget(name):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(getattr(clicks, name))])
    NotebookClient(notebook, timeout=60, kernel_name="python3").execute()  # raises what the cell raises
    shown = [output.data for output in notebook.cells[0].outputs if "data" in output]
    assert any("application/vnd.jupyter.widget-view+json" in data for data in shown)


def test_first_picture_ends_at_the_cell_that_shows_one_and_fails_without():
    show = "from IPython.display import HTML, display\ndisplay(HTML('<img alt=\"\">'))"
    assert peers.first_picture(["1 + 1", show, "raise SystemError"]) > 0
    with pytest.raises(RuntimeError, match="no cell shows a picture"):
        peers.first_picture(["1 + 1"])
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        peers.first_picture(["1 / 0", show])


def test_a_finished_environment_is_used_again(tmp_path, monkeypatch):
    commands = []
    monkeypatch.setattr(peers.subprocess, "run", lambda command, **_: commands.append(command))
    (tmp_path / "bin").mkdir()
    peers.environment(tmp_path, ["nnsight==0.8.1"])
    assert "nnsight==0.8.1" in commands[1] and any(str(part).startswith("torch==") for part in commands[1])
    peers.environment(tmp_path, ["nnsight==0.8.1"])
    assert len(commands) == 2
    peers.environment(tmp_path, ["nnsight==0.8.0"])
    assert len(commands) == 4


def test_an_unknown_section_gets_one_sentence(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["benchmark.py", "clicks"])
    with pytest.raises(SystemExit):
        benchmark.main()
    assert capsys.readouterr().err.splitlines()[-1].endswith("no such section: clicks")
