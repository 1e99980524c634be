"""What of the benchmarks can be wrong without a sign: that the sides compare the same, and that each side is shown."""

import nbformat
import pytest
import torch
from nbclient import NotebookClient

from benchmarks import __main__ as command
from benchmarks.measures import browser_clicks, starting, tracers


def points(shift=0.0, missing=0):
    """Return a side that finds the stream, the writes and the output of the final norm."""
    made = [torch.full((1, 3, 4), float(index)) for index in range(tracers.POINTS - missing)]
    made[7] = made[7] + shift
    half = tracers.POINTS // 2
    return lambda: (made[:half], made[half:-1], made[-1])


def test_sides_that_found_the_same_pass_and_others_do_not():
    tracers.must_agree({"ours": points(), "library": points(1e-6)})
    for wrong, message in ((points(0.01), "library, point 7"), (points(missing=1), "49 points")):
        with pytest.raises(AssertionError, match=message):
            tracers.must_agree({"ours": points(), "library": wrong})


def test_a_side_without_points_of_its_own_is_compared_at_its_end():
    final = points()()[2]
    tracers.must_agree({"ours": points(), "forward": lambda: (None, None, final)})
    with pytest.raises(AssertionError, match="transformers hidden, point 49"):
        tracers.must_agree({"ours": points(), "transformers hidden": lambda: ("all", None, final + 1)})


@pytest.mark.slow
@pytest.mark.parametrize("name", ["OURS", "INTERACT", "TRIP"])
def test_each_side_of_the_clicks_shows_its_widget(name):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(getattr(browser_clicks, name))])
    NotebookClient(notebook, timeout=60, kernel_name="python3").execute()  # raises what the cell raises
    shown = [output.data for output in notebook.cells[0].outputs if "data" in output]
    assert any("application/vnd.jupyter.widget-view+json" in data for data in shown)


@pytest.mark.slow
def test_first_picture_ends_at_the_cell_that_shows_one_and_fails_without():
    show = "from IPython.display import HTML, display\ndisplay(HTML('<img alt=\"\">'))"
    assert starting.first_picture(["1 + 1", show, "raise SystemError"]) > 0
    with pytest.raises(RuntimeError, match="no cell shows a picture"):
        starting.first_picture(["1 + 1"])
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        starting.first_picture(["1 / 0", show])


def test_what_a_lesson_imports_is_read_from_the_lesson():
    imports = starting.imports_of("04_residual_stream")
    assert "import torch" in imports and "from helpers" in imports


def test_an_unknown_section_gets_one_sentence(capsys):
    with pytest.raises(SystemExit):
        command.main(["widget"])
    assert "no such section: widget" in capsys.readouterr().err.splitlines()[-1]
