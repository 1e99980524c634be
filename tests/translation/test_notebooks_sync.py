"""`sync`, `translated` and `nav`: what they write, what they refuse, and that a second run changes nothing."""

import re

import pytest

import notebooks
from lint import all_findings, links
from notebook_files import cell_sources, layout, navigation, reading
from tests.support.small_tree import TRANSLATED, Tree
from translation import up_to_date

FIRST, SECOND = "01_first.ipynb", "02_second.ipynb"


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


def run(tree, *words):
    """Run a command on the tree; return its report as one text, and whether all was well."""
    report, good = notebooks.perform(notebooks.arguments().parse_args(words), tree.root)
    return "\n".join(report), good


def changed(before, tree):
    """Return the files, below the folder of the notebooks, that are new or not as they were."""
    after = tree.bytes()
    return {str(p.relative_to(tree.root / "notebooks")) for p in after if after[p] != before.get(p)}


# sync


def test_sync_changes_nothing_in_a_tree_that_is_in_step(tree):
    before = tree.bytes()
    assert run(tree, "sync") == ("nothing to do", True)
    assert tree.bytes() == before


def test_sync_creates_missing_notebooks_without_marks_or_outputs_and_says_what_waits(tree):
    tree.path("sv", FIRST).unlink()
    report, good = run(tree, "sync")
    assert good and f"notebooks/sv/{FIRST}: created" in report
    assert f"notebooks/sv/{FIRST}: not translated yet: title idea read" in report
    new, english = (reading.read(tree.path(language, FIRST)) for language in ("sv", "en"))
    assert cell_sources.ids(new) == cell_sources.ids(english) and new.metadata == english.metadata
    for cell, original in zip(new.cells, english.cells, strict=True):
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count, dict(cell.metadata)) == ([], None, {})
        elif cell.id not in layout.BARS:
            assert cell.source == original.source and up_to_date.mark(cell) is None
    assert cell_sources.by_id(new)["setup"].source == 'from helpers import language\n\nlanguage.use("sv")'


def test_sync_twice_writes_once(tree):
    tree.path("sv", FIRST).unlink()
    with tree.edit("en", SECOND) as notebook:
        notebook.cells.insert(1, reading.nbformat.v4.new_code_cell("x = 1", id="new"))
    first = run(tree, "sync")[0]
    before = tree.bytes()
    second = run(tree, "sync")[0]
    assert tree.bytes() == before and "created" in first and "created" not in second and "written" not in second


def test_sync_copies_changed_code_drops_its_outputs_and_keeps_the_others(tree):
    picture = tree.cell("de", FIRST, "picture")
    with tree.edit("en", FIRST) as notebook:
        cell_sources.by_id(notebook)["setup"].source += "\nprint(1)"
    assert run(tree, "sync")[1]
    assert tree.cell("de", FIRST, "setup").source.endswith('language.use("de")\nprint(1)')
    assert tree.cell("de", FIRST, "setup").execution_count is None
    assert tree.cell("de", FIRST, "picture") == picture and picture.outputs
    assert any(
        "#setup (from helpers import language): its outputs are missing" in finding
        for finding in all_findings.check(tree.root)
    )


def test_sync_keeps_translations_and_marks_and_names_what_is_behind(tree):
    text, mark = tree.cell("sv", FIRST, "read"), up_to_date.mark(tree.cell("sv", FIRST, "read"))
    with tree.edit("en", FIRST) as notebook:
        cell_sources.by_id(notebook)["read"].source += " It grows."
    before = tree.bytes()
    report, good = run(tree, "sync")
    assert good and tree.bytes() == before
    for language in layout.OTHERS:
        assert f"notebooks/{language}/{FIRST}: behind the English text: read" in report
    assert tree.cell("sv", FIRST, "read") == text and up_to_date.mark(text) == mark


def test_sync_takes_over_the_order_and_the_metadata_of_cells(tree):
    with tree.edit("en", FIRST) as notebook:
        notebook.cells.insert(1, notebook.cells.pop(3))
        cell_sources.by_id(notebook)["idea"].metadata["nbgrader"] = {"locked": True}
        english = cell_sources.ids(notebook)
    run(tree, "sync")
    german = reading.read(tree.path("de", FIRST))
    assert cell_sources.ids(german) == english
    cell = cell_sources.by_id(german)["idea"]
    assert cell.metadata["nbgrader"] == {"locked": True} and up_to_date.mark(cell) is not None
    assert cell.source == TRANSLATED["de"][FIRST]["idea"]


def test_sync_removes_code_and_untranslated_cells_that_are_gone(tree):
    long = "Does torch agree?"
    with tree.edit("en", FIRST) as notebook:
        notebook.cells.insert(2, reading.nbformat.v4.new_markdown_cell(long, id="new"))
        notebook.cells.insert(3, reading.nbformat.v4.new_code_cell("y = 2", id="more"))
    run(tree, "sync")
    assert tree.cell("de", FIRST, "new").source == long
    with tree.edit("en", FIRST) as notebook:
        notebook.cells = [cell for cell in notebook.cells if cell.id not in ("new", "more")]
    assert run(tree, "sync") == (f"notebooks/de/{FIRST}: written\nnotebooks/sv/{FIRST}: written", True)
    assert cell_sources.ids(reading.read(tree.path("sv", FIRST))) == cell_sources.ids(
        reading.read(tree.path("en", FIRST))
    )


def test_sync_fetches_an_untranslated_cell_again_when_the_original_changes(tree):
    with tree.edit("en", FIRST) as notebook:
        new = reading.nbformat.v4.new_markdown_cell("This is what the cell is about.", id="new")
        notebook.cells.insert(2, new)
    run(tree, "sync")
    with tree.edit("en", FIRST) as notebook:
        cell_sources.by_id(notebook)["new"].source = "This is not what the cell is about."
    run(tree, "sync")
    assert tree.cell("sv", FIRST, "new").source == "This is not what the cell is about."


@pytest.mark.parametrize("text", ("What is it?", "## Quellen\n\nOf the one and the other"))
def test_sync_keeps_what_a_translator_wrote_and_did_not_mark_yet(tree, text):
    with tree.edit("en", FIRST) as notebook:
        new = reading.nbformat.v4.new_markdown_cell("This is what the cell is about.", id="new")
        notebook.cells.insert(2, new)
    run(tree, "sync")
    with tree.edit("de", FIRST) as notebook:
        cell_sources.by_id(notebook)["new"].source = text
    with tree.edit("en", FIRST) as notebook:
        cell_sources.by_id(notebook)["new"].source = "This is not what the cell is about."
    run(tree, "sync")
    assert tree.cell("de", FIRST, "new").source == text
    assert tree.cell("sv", FIRST, "new").source == "This is not what the cell is about."


def without(id_):
    def change(notebook):
        notebook.cells = [cell for cell in notebook.cells if cell.id != id_]

    return change


def as_code(notebook):
    at = cell_sources.ids(notebook).index("read")
    notebook.cells[at] = reading.nbformat.v4.new_code_cell("z = 3", id="read")


def rename(notebook):
    cell_sources.by_id(notebook)["read"].id = "read-on"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (without("read"), "the English lesson has no such cell"),
        (rename, "give it the id that its original has now"),
        (as_code, "the original is a code cell now"),
    ],
)
@pytest.mark.parametrize("marked", (True, False))
def test_sync_refuses_to_lose_a_translated_cell_and_writes_the_other_notebooks(tree, change, says, marked):
    if not marked:
        for language in layout.OTHERS:
            with tree.edit(language, FIRST) as notebook:
                del cell_sources.by_id(notebook)["read"].metadata["translation"]
    with tree.edit("en", FIRST) as notebook:
        change(notebook)
    with tree.edit("en", SECOND) as notebook:
        cell_sources.by_id(notebook)["count"].source = "print(2)"
    before = tree.bytes()
    report, good = run(tree, "sync")
    assert not good
    for language in layout.OTHERS:
        assert re.search(rf"notebooks/{language}/{FIRST}#read \(.+\): .*{says}", report)
    assert changed(before, tree) == {f"de/{SECOND}", f"sv/{SECOND}"}


def test_sync_refuses_two_cells_of_one_id(tree):
    with tree.edit("de", FIRST) as notebook:
        notebook.cells[3].id = notebook.cells[5].id
    before = tree.bytes()
    report, good = run(tree, "sync")
    assert not good and f"notebooks/de/{FIRST}#read: two cells have this id" in report and tree.bytes() == before


def test_sync_leaves_a_notebook_without_an_original_alone(tree):
    tree.path("en", SECOND).unlink()
    before = tree.bytes()
    report, good = run(tree, "sync")
    assert not good and f"notebooks/sv/{SECOND}: there is no English notebook of this name" in report
    assert tree.bytes() == before


# translated


@pytest.mark.parametrize("lesson", ("01_first", FIRST, "01", f"notebooks/en/{FIRST}"))
def test_translated_marks_cells_in_both_languages(tree, lesson):
    with tree.edit("en", FIRST) as notebook:
        cell_sources.by_id(notebook)["read"].source += " It grows."
    report, good = run(tree, "translated", lesson, "read", "title")
    assert good and f"notebooks/de/{FIRST}: marked: read title" in report
    assert all_findings.check(tree.root) == []


@pytest.mark.parametrize("words", (("01_first", "read", "--lang", "sv"), (f"notebooks/sv/{FIRST}", "read")))
def test_translated_marks_cells_of_one_language(tree, words):
    with tree.edit("en", FIRST) as notebook:
        cell_sources.by_id(notebook)["read"].source += " It grows."
    before = tree.bytes()
    run(tree, "translated", *words)
    assert changed(before, tree) == {f"sv/{FIRST}"}
    assert [finding.split(" (")[0] for finding in all_findings.check(tree.root)] == [f"notebooks/de/{FIRST}#read"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("01_first", "read", "unknown"), f"^notebooks/en/{FIRST} has no cell 'unknown'$"),
        (("03", "read"), "^'03' is no lesson; choose from: 01_first, 02_second$"),
        (("0", "read"), "^'0' is more than one lesson; choose from"),
        (("01_first", "setup"), "'setup' of 01_first.ipynb is not a markdown cell"),
        (("01_first", "nav-top"), "'nav-top' is written by nav"),
        ((f"notebooks/en/assignments/{FIRST}", "read"), "is made from the solutions"),
    ],
)
def test_translated_refuses_in_one_sentence_and_writes_nothing(tree, words, says):
    for language in layout.LANGUAGES:
        reading.write(tree.path(language, f"assignments/{FIRST}"), reading.read(tree.path(language, FIRST)))
    before = tree.bytes()
    with pytest.raises(ValueError, match=says) as refused:
        run(tree, "translated", *words)
    assert "\n" not in str(refused.value) and tree.bytes() == before


def test_translated_refuses_a_cell_whose_formula_differs_and_shows_it(tree):
    with tree.edit("en", SECOND) as notebook:
        cell_sources.by_id(notebook)["formula"].source = "$$y = x - f(x)$$"
    before = tree.bytes()
    with pytest.raises(
        ValueError, match=rf"de/{SECOND}#formula .*: formulas differ.*y=x\+f.* here, y=x-f.* there; nothing"
    ):
        run(tree, "translated", "02", "formula")
    assert tree.bytes() == before


def test_translated_names_numbers_that_differ_and_marks_the_cell(tree):
    with tree.edit("en", FIRST) as notebook:
        cell_sources.by_id(notebook)["read"].source += " It has 3,000 steps, 1.5 of 12."
    for language, numbers in (("de", " 3000 oder 1,5 von 12."), ("sv", " 3\u202f000 eller 1,6 av 12.")):
        with tree.edit(language, FIRST) as notebook:
            cell_sources.by_id(notebook)["read"].source += numbers
    report, good = run(tree, "translated", "01", "read")
    *marked, question = report.split("\n")
    assert good and marked == [f"notebooks/{language}/{FIRST}: marked: read" for language in ("de", "sv")]
    assert question.startswith(f"notebooks/sv/{FIRST}#read") and "1.5 only in English, 1.6 only here" in question
    assert all_findings.check(tree.root) == []
    tree.replace(f"notebooks/sv/{FIRST}", "1,6 av 12", "1,7 av 12")
    [found] = all_findings.check(tree.root)
    assert "#read (" in found and "numbers differ, 1.5 only in English, 1.7 only here; correct them; if" in found
    assert found.endswith("python tools/notebooks.py translated 01_first read --lang sv")


def test_translated_refuses_a_cell_that_is_still_english(tree):
    with tree.edit("sv", FIRST) as notebook:
        cell_sources.by_id(notebook)["read"].source = tree.cell("en", FIRST, "read").source
    before = tree.bytes()
    with pytest.raises(ValueError, match=rf"sv/{FIRST}#read .*: still the English text; nothing is marked"):
        run(tree, "translated", "01", "read")
    assert tree.bytes() == before


def test_translated_names_the_notebook_that_has_the_cell(tree):
    reading.write(tree.path("en", f"solutions/{FIRST}"), reading.read(tree.path("en", FIRST)))
    says = "has no cell 'read'; there is one: python tools/notebooks.py translated 01_first read; there is one: .*"
    with pytest.raises(ValueError, match=rf"^notebooks/en/{SECOND} {says} translated solutions/01_first read$"):
        run(tree, "translated", "02", "read")


def test_translated_refuses_a_language_without_the_notebook(tree):
    tree.path("sv", FIRST).unlink()
    before = tree.bytes()
    with pytest.raises(ValueError, match=f"no notebooks/sv/{FIRST} yet; run python tools/notebooks.py sync"):
        run(tree, "translated", "01_first", "read")
    assert tree.bytes() == before


def test_a_refusal_reaches_the_author_as_one_sentence(tree):
    with pytest.raises(SystemExit, match="has no cell 'nothing'"):
        notebooks.main(["translated", "01_first", "nothing"], tree.root)


# nav


def test_nav_writes_bars_in_the_words_of_each_language(tree):
    first = {language: tree.cell(language, FIRST, "nav-top").source for language in layout.LANGUAGES}
    assert first["en"] == (
        f"[Contents](../../README.md) | [Next: 2 · Second →]({SECOND}) | "
        f"[Deutsch](../de/{FIRST}) | [Svenska](../sv/{FIRST})"
    )
    assert first["de"].startswith(
        f"[Inhalt (englisch)](../../README.md) | [Weiter: 2 · Das Zweite →]({SECOND}) | [English](../en/"
    )
    assert first["sv"].startswith(
        f"[Innehåll (på engelska)](../../README.md) | [Nästa: 2 · Det andra →]({SECOND}) | [English](../en/"
    )
    bar = tree.cell("de", SECOND, "nav-top").source
    assert bar.startswith(f"[← Zurück: 1 · Das Erste]({FIRST}) | [Inhalt (englisch)]")
    assert tree.cell("sv", SECOND, "nav-bottom").source.startswith(f"[← Föregående: 1 · Det första]({FIRST})")


def test_nav_is_safe_to_repeat_and_marks_the_translations(tree):
    before = tree.bytes()
    assert run(tree, "nav") == ("nothing to do", True)
    assert tree.bytes() == before
    for id_ in layout.BARS:
        original = tree.cell("en", FIRST, id_)
        assert up_to_date.mark(original) is None
        assert up_to_date.state(original, tree.cell("de", FIRST, id_)) == "current"


def test_nav_follows_a_heading_and_puts_missing_and_moved_bars_in_their_place(tree):
    with tree.edit("en", SECOND) as notebook:
        cell_sources.by_id(notebook)[
            "title"
        ].source = "# 2 · Other\n\nThis is the lesson that comes after the first one."
    with tree.edit("de", FIRST) as notebook:
        notebook.cells = [*notebook.cells[1:-1], notebook.cells[0]]
    report, _ = run(tree, "nav")
    assert set(report.split("\n")) == {f"notebooks/{x}/{FIRST}: bars written" for x in layout.LANGUAGES}
    assert "[Next: 2 · Other →]" in tree.cell("en", FIRST, "nav-bottom").source
    german = cell_sources.ids(reading.read(tree.path("de", FIRST)))
    assert (german[0], german[-1]) == layout.BARS and len(set(german)) == len(german)


def test_nav_links_assignments_one_level_deeper_and_among_themselves(tree):
    for language in layout.LANGUAGES:
        for name in (FIRST, SECOND):
            reading.write(tree.path(language, f"assignments/{name}"), reading.read(tree.path(language, name)))
    run(tree, "nav")
    assert tree.cell("sv", f"assignments/{SECOND}", "nav-top").source == (
        f"[← Föregående: 1 · Det första]({FIRST}) | [Innehåll (på engelska)](../../../README.md) | "
        f"[Lektion](../{SECOND}) | [English](../../en/assignments/{SECOND}) | [Deutsch](../../de/assignments/{SECOND})"
    )
    bar = tree.cell("de", FIRST, "nav-bottom").source
    assert f" | [Aufgabenblatt](assignments/{FIRST}) | [English]" in bar
    for path in layout.all_notebooks(tree.root):
        for bar in (reading.read(path).cells[0], reading.read(path).cells[-1]):
            assert list(links.dead(tree.root, path, bar.source, "")) == []
    assert len(navigation.bars(tree.books(), "de", f"assignments/{FIRST}")) == 2
