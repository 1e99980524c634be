"""The committed notebooks: what a reader without a kernel sees, and what running them again gives."""

import itertools
import re

import nbformat
import pytest
import torch

import notebooks
from lint import claims_ledger, stored_outputs
from notebook_files import cell_sources, layout
from running import execution
from tests.support.small_tree import Tree

PATHS = layout.all_notebooks()
SOLVED = layout.solved(PATHS)


def name_of(path):
    """Return a notebook's path below the folder of the notebooks."""
    return str(path.relative_to(layout.ROOT / "notebooks"))


NAMES = [name_of(path) for path in PATHS]


@pytest.fixture(params=PATHS, ids=name_of)
def committed(request):
    return nbformat.read(request.param, as_version=4)


@pytest.fixture(params=SOLVED, ids=name_of)
def solved(request):
    return nbformat.read(request.param, as_version=4)


@pytest.mark.parametrize("path", [path for path in PATHS if path not in SOLVED], ids=name_of)
def test_an_assignment_is_handed_out_without_outputs_and_solutions(path):
    text = path.read_text(encoding="utf8")
    assert not [cell.id for cell in code_cells(nbformat.reads(text, as_version=4)) if cell.outputs]
    assert "### " not in text and "seed=1)" not in text


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def test_there_are_notebooks():
    assert "en/04_residual_stream.ipynb" in NAMES


def test_is_valid_and_has_speaking_cell_ids(committed):
    nbformat.validate(committed)
    ids = [cell.id for cell in committed.cells]
    assert len(set(ids)) == len(ids)
    assert not [
        i for i in ids if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", i) or re.fullmatch(r"[0-9a-f]{8}", i)
    ]


def test_was_executed_from_top_to_bottom(solved):
    cells = code_cells(solved)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    stale = [cell.id for cell in cells if cell.metadata.get("executed") != cell_sources.digest(cell.source)]
    assert not stale, f"run tools/notebooks.py run: the outputs of {stale} come from another source"


def test_shows_no_error_and_no_value_out_of_bounds(committed):
    assert not [o for cell in code_cells(committed) for o in cell.outputs if o.output_type == "error"]
    assert not list(claims_ledger.all_out_of_bounds(committed, ""))


def test_reader_without_a_kernel_sees_pictures_with_alternative_texts(committed):
    assert "widgets" not in committed.metadata
    for cell in code_cells(committed):
        for output in cell.outputs:
            data = output.get("data", {})
            assert stored_outputs.WIDGET_VIEW not in data
            shown = data.get("text/plain", "") + output.get("text", "")
            assert not re.search(r"<(Figure|helpers|matplotlib)|(VBox|HTML|HBox|Picture|Card)\(", shown), cell.id
            for image in re.findall(r"<img[^>]*>", data.get("text/html", "")):
                alt = re.search(r'alt="([^"]*)"', image)
                assert alt and len(alt[1]) > 40, cell.id
            if "image/png" in data:  # for LaTeX; a page shows the HTML beside it
                assert output.metadata["image/png"]["alt"] and "<img" in data["text/html"], cell.id
            assert "image/svg+xml" not in data, f"{cell.id} has no place for an alternative text"


def one_of_each():
    """Return every lesson and every solution once: their code is the same in all languages, as `check` sees to.

    Lessons in English, since the browser runs the others; the solutions in one language after the other.
    """
    english = sorted(path for path in SOLVED if "en" in path.parts)
    lessons = [path for path in english if path.parent.name == "en"]
    solutions = [path for path in english if path.parent.name == "solutions"]
    folders = itertools.cycle(layout.LANGUAGES)
    turns = [path.parents[2] / folder / "solutions" / path.name for path, folder in zip(solutions, folders)]
    return [*lessons, *turns]


@pytest.fixture(scope="module")
def executed():
    """Notebooks run again, on copies."""
    return execution.run(one_of_each(), write=False)


def test_running_again_raises_nothing_and_stays_within_bounds(executed):
    report, good = executed
    assert good, "\n".join(report)


def test_lessons_stay_below_the_memory_of_a_small_machine(executed):
    report, _ = executed
    peaks = {line.split(":")[0]: float(found[1]) for line in report if (found := re.search(r"peak (\d+) MB", line))}
    limit = 900 if torch.version.cuda is None else 1300  # CUDA's libraries are read even without a device
    assert peaks and max(peaks.values()) <= limit, peaks


@pytest.fixture
def tiny(tmp_path):
    """A notebook with a picture, a widget and a printed line."""
    source = """
import ipywidgets
print("hello")
class Both:
    def _repr_mimebundle_(self, **kwargs):
        return ipywidgets.HTML("x")._repr_mimebundle_() | {"text/html": "<p>x</p>"}
Both()
"""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source.strip(), id="both")])
    path = tmp_path / "tiny.ipynb"
    nbformat.write(notebook, path)
    return path


def test_run_writes_outputs_marks_and_no_widget(tiny, capfd):
    report, good = execution.run([tiny])
    assert "WARNING" not in capfd.readouterr().err
    assert good and re.search(r"\d s, peak \d+ MB", report[0])
    notebook = nbformat.read(tiny, as_version=4)
    [cell] = notebook.cells
    assert cell.metadata["executed"] == cell_sources.digest(cell.source)
    assert cell.outputs[-1].data["text/html"] == "<p>x</p>"
    assert stored_outputs.WIDGET_VIEW not in cell.outputs[-1].data and "widgets" not in notebook.metadata


def test_run_takes_a_lesson_in_all_languages_and_a_path_in_one(tmp_path, tiny):
    tree = Tree(tmp_path / "project")

    def paths(*languages):
        return [tree.path(language, "02_second.ipynb") for language in languages]

    for word in ("02", "02_second", "02_second.ipynb"):
        assert notebooks.named(tree.root, [word]) == paths("en", "de", "sv")
    for word in ("notebooks/en/02_second.ipynb", str(tree.path("en", "02_second.ipynb"))):
        assert notebooks.named(tree.root, [word, word]) == paths("en")
    assert notebooks.named(tree.root, [str(tiny), "02"]) == [tiny, *paths("en", "de", "sv")]
    for word in ("03", "notebooks/en/03_third.ipynb", ""):
        with pytest.raises(ValueError, match="choose from: 01_first, 02_second$"):
            notebooks.named(tree.root, [word])


def test_run_reports_a_failing_cell_and_leaves_the_file_alone(tiny):
    notebook = nbformat.read(tiny, as_version=4)
    notebook.cells[0].source = "raise KeyError('planted')"
    nbformat.write(notebook, tiny)
    before = tiny.read_bytes()
    report, good = execution.run([tiny])
    assert not good and "planted" in report[0]
    assert tiny.read_bytes() == before


DEATHS = {
    "end of the process": "import os\nos._exit(1)",
    "killed, as by a full memory": "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
}


def notebooks_of(folder, **sources):
    """Write a notebook of one cell for each source; return their paths in order."""
    paths = []
    for name, source in sources.items():
        cell = nbformat.v4.new_code_cell(source, id="only")
        nbformat.write(nbformat.v4.new_notebook(cells=[cell]), folder / f"{name}.ipynb")
        paths.append(folder / f"{name}.ipynb")
    return paths


@pytest.mark.slow
@pytest.mark.parametrize("death", DEATHS)
def test_a_kernel_that_dies_is_one_line_and_the_others_are_run_and_written(tmp_path, death):
    paths = notebooks_of(tmp_path, first="print(1)", dies=DEATHS[death], last="print(2)")
    before = paths[1].read_bytes()
    report, good = execution.run(paths)
    [line] = [line for line in report if "dies.ipynb" in line]
    assert not good and "kernel died" in line and "#only" in line and "\n" not in line
    assert paths[1].read_bytes() == before
    for path in (paths[0], paths[2]):
        assert nbformat.read(path, as_version=4).cells[0].outputs


@pytest.mark.slow
@pytest.mark.parametrize(
    "content", ["", "{", "null", '{"cells": 3, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}']
)
def test_a_file_that_is_no_notebook_is_one_line_and_the_others_are_run_and_written(tmp_path, content):
    [good_one] = notebooks_of(tmp_path, last="print(2)")
    (tmp_path / "a.ipynb").write_text(content)
    report, good = execution.run([tmp_path / "a.ipynb", tmp_path / "gone.ipynb", good_one])
    assert not good and len(report) == 3 and "is not a notebook" in report[0] and "gone.ipynb" in report[1]
    assert nbformat.read(good_one, as_version=4).cells[0].outputs


@pytest.mark.slow
def test_run_finds_a_value_out_of_bounds(tiny):
    notebook = nbformat.read(tiny, as_version=4)
    notebook.cells[0].source = "from helpers.activities import claims\nclaims.check('off-by-one', 13)"
    nbformat.write(notebook, tiny)
    report, good = execution.run([tiny])
    assert not good and report[-1].startswith(f"{tiny}#both (from helpers.activities impor…): off-by-one: ")
    assert "= 13, outside its bounds" in report[-1] and "helpers/activities/claims.toml" in report[-1]


@pytest.mark.slow
def test_run_reports_a_cell_that_does_not_end(tiny, monkeypatch):
    monkeypatch.setattr(execution, "CELL_LIMIT", 2)
    notebook = nbformat.read(tiny, as_version=4)
    notebook.cells[0].source = "while True: pass"
    nbformat.write(notebook, tiny)
    report, good = execution.run([tiny])
    assert not good and "timed out" in report[0]


@pytest.mark.slow
def test_kernels_run_on_one_thread(tiny):
    notebook = nbformat.read(tiny, as_version=4)
    notebook.cells[0].source = "import os\nassert os.environ['OMP_NUM_THREADS'] == '1'"
    nbformat.write(notebook, tiny)
    assert execution.run([tiny])[1]
