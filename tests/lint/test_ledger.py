"""The entries of the ledger and the cards that notebooks show of them."""

import pytest

from helpers import claims
from lint import all_findings, claims_ledger, stored_outputs
from notebook_files import cell_sources, layout, reading
from tests.support.faults import FIRST
from tests.support.small_tree import Tree


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


def test_every_card_of_the_project_is_compared():
    for path in layout.solved(layout.all_notebooks()):
        cells = reading.read(path).cells
        shown = [stored_outputs.shown(output) for cell in cells for output in cell.get("outputs", [])]
        cards = sum(len(claims_ledger.CARD.findall(text)) for text in shown)
        assert cards == path.read_text(encoding="utf8").count("data-claim="), path
        assert cards or path.parent.name == "solutions", path


# the entries


ENTRIES = {
    "verdict": ('verdict = "true"', 'verdict = "probably"', '.verdict: "probably"; write true, depends, false or open'),
    "field": ("said_by = ", "sad_by = ", ": lacks said_by; add it"),
    "unknown field": ("said_by = ", "sad_by = ", ".sad_by: no field of a claim; they are lesson, said_by, verdict"),
    "language": ('said_by = ["en"]', 'said_by = ["fr"]', ".said_by: ['fr']; write a list of en, de, sv"),
    "lesson": ("lesson = 1", "lesson = 7", ".lesson: 7 is no lesson; write one of 1, 2"),
    "list for a lesson": ("lesson = 1", "lesson = [1]", ".lesson: [1] is no lesson"),
    "order": ("[5, 8]", "[8, 5]", ".bounds: [8, 5]; write [lowest, highest]"),
    "one bound": ("[5, 8]", "[5]", ".bounds: [5]; write [lowest, highest]"),
    "endless": ("[5, 8]", "[5, inf]", ".bounds: [5, inf]; write"),
    "words": ("[5, 8]", '["5", "8"]', ".bounds: ['5', '8']; write"),
    "a place": ("[5, 8]", "{ gpt2 = [8, 5] }", ".bounds: [8, 5]; write"),
    "text": ('measures.de = "Länge des Stroms"', 'measures.de = "x"', None),
}


def test_the_verdicts_are_those_of_the_cards():
    assert claims_ledger.VERDICTS == tuple(claims.COLOURS)


@pytest.mark.parametrize("fault", ENTRIES)
def test_an_entry_that_is_not_whole_is_found(tree, fault):
    old, new, says = ENTRIES[fault]
    tree.replace("helpers/claims.toml", old, new)
    found = all_findings.check(tree.root)
    assert any(f.startswith(f"helpers/claims.toml#grows{says}") for f in found) if says else not found, found


def test_a_text_that_is_the_same_in_all_languages_is_found(tree):
    for text in ("Er wächst.", "Den växer."):
        tree.replace("helpers/claims.toml", f'"{text}"', '"It grows."')
    assert "helpers/claims.toml#grows.claim: the same in all languages; translate it" in all_findings.check(tree.root)


def test_a_claim_that_no_lesson_shows_is_found(tree):
    tree.replace("helpers/claims.toml", "[grows]", "[shrinks]")
    found = all_findings.check(tree.root)
    assert found == [
        f"notebooks/en/{FIRST}#picture (draw(mean(x))): the ledger, helpers/claims.toml, has no claim grows; "
        "correct the name",
        "helpers/claims.toml#shrinks: no lesson shows it; add claims.check('shrinks', …) to a cell, or delete the entry",
    ]


def test_a_claim_of_another_lesson_is_found(tree):
    tree.replace("helpers/claims.toml", "lesson = 1", "lesson = 2")
    [found] = all_findings.check(tree.root)
    assert found == (
        f"notebooks/en/{FIRST}#picture (draw(mean(x))): shows grows, which belongs to lesson 2; "
        "move it, or correct helpers/claims.toml"
    )


def test_a_place_of_measurement_without_bounds_is_found(tree):
    tree.replace("helpers/claims.toml", "[5, 8]", "{ gpt2 = [5, 8] }")
    for language in layout.LANGUAGES:
        with tree.edit(language, FIRST) as notebook:
            cell = cell_sources.by_id(notebook)["picture"]
            cell.source = cell.source.replace("7)", 'x["y"], on="cell")')
            cell.metadata["executed"] = cell_sources.digest(cell.source)
    [found] = all_findings.check(tree.root)
    assert found.startswith(f"notebooks/en/{FIRST}#picture") and "grows.bounds has none for 'cell'; add them" in found


def test_a_quotation_mark_in_a_text_is_explained_in_one_line(tree):
    tree.replace("helpers/claims.toml", "It grows.", 'It "grows".')
    [found] = all_findings.check(tree.root)
    assert found.startswith("helpers/claims.toml: ") and "at line 7, column" in found
    assert found.endswith('; write a quotation mark inside a text as the language writes it, or as \\"')


# the cards


def card(within="true", value="7.0", on="cell"):
    """Return what the real card of the small project's claim would be, in German."""
    texts = "<b>Stimmt</b> · Er wächst.<br>Länge des Stroms = 7.<br>Das stimmt. <small>Ioffe &amp; Szegedy 2015</small>"
    marks = f'data-claim="grows" data-within="{within}" data-on="{on}" data-value="{value}"'
    return f'<div class="claim" {marks} style="x">{texts}</div>'


@pytest.mark.parametrize(
    ("bounds", "shown", "says"),
    [
        ("[5, 8]", {}, None),
        (
            "[5, 6.5]",
            {},
            "grows = 7 is outside the present bounds in helpers/claims.toml, 5 to 6.5, unlike on its card",
        ),
        ("{ cell = [5, 8], gpt2 = [0, 1] }", {}, None),
        ("{ cell = [0, 1], gpt2 = [5, 8] }", {}, "grows = 7 is outside the present bounds"),
        ("[5]", {}, None),  # a finding of its own
        ('["5", "8"]', {}, None),
        ("[5, 8]", {"within": "false"}, "grows = 7 is within the present bounds"),
        ("[5, 8]", {"value": "nan"}, "grows = nan is outside the present bounds"),
    ],
)
def test_a_stored_value_is_compared_with_the_present_bounds(tree, bounds, shown, says):
    tree.replace("helpers/claims.toml", "[5, 8]", bounds)
    with tree.edit("de", FIRST) as notebook:
        cell_sources.by_id(notebook)["picture"].outputs[0].data["text/html"] = card(**shown)
    found = [f for f in all_findings.check(tree.root) if "present bounds" in f]
    assert len(found) == (says is not None)
    assert all(f.startswith(f"notebooks/de/{FIRST}#picture") and says in f for f in found)
