"""The entries of the ledger and the cards that notebooks show of them."""

import pytest

from helpers.activities import claims
from lint import all_findings, claims_ledger
from notebook_files import cell_sources, layout, reading
from running import execution
from tests.support.faults import FIRST

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
    "one text for all languages": (
        'claim.en = "It grows."\nclaim.de = "Er wächst."\nclaim.sv = "Den växer."',
        'claim = "It grows."',
        ".claim: It grows. is not in three languages; write claim.en, claim.de, claim.sv",
    ),
    "a list for a text": ('found.en = "That is true."', "found.en = [1]", ".found.en: missing; write it"),
    "a number for a text": ('found.en = "That is true."', "found.en = 3", ".found.en: missing; write it"),
    "a source that is a number": ('source = "Ioffe & Szegedy 2015"', "source = 2015", ".source: 2015 is no text"),
    "a verdict that is a list": ('verdict = "true"', "verdict = [1]", '.verdict: "[1]"; write'),
    "a list of lists": ('said_by = ["en"]', 'said_by = [["en"]]', ".said_by: [['en']]; write a list"),
    "true for a lesson": ("lesson = 1", "lesson = true", ".lesson: True is no lesson"),
    "no table": ("[grows]", "grows = 3\n[other]", ": is no entry; write [grows]"),
}


def test_the_verdicts_are_those_of_the_cards():
    assert set(claims.COLOURS) == set(claims_ledger.VERDICTS)


@pytest.mark.slow
@pytest.mark.parametrize("fault", ENTRIES)
def test_an_entry_that_is_not_whole_is_found(tree, fault):
    old, new, says = ENTRIES[fault]
    tree.replace("helpers/activities/claims.toml", old, new)
    found = all_findings.check(tree.root)
    assert any(f.startswith(f"helpers/activities/claims.toml#grows{says}") for f in found), found


def test_a_text_that_is_the_same_in_all_languages_is_found(tree):
    for text in ("Er wächst.", "Den växer."):
        tree.replace("helpers/activities/claims.toml", f'"{text}"', '"It grows."')
    assert "helpers/activities/claims.toml#grows.claim: the same in all languages; translate it" in all_findings.check(
        tree.root
    )


def test_a_claim_that_no_lesson_shows_is_found(tree):
    tree.replace("helpers/activities/claims.toml", "[grows]", "[shrinks]")
    found = all_findings.check(tree.root)
    cell = f"notebooks/en/{FIRST}#picture (draw(mean(x))): "
    assert any(f.startswith(cell) and "has no claim grows; correct the name" in f for f in found)
    assert any(f.startswith("helpers/activities/claims.toml#shrinks: no lesson shows it") for f in found)


def recode(tree, code):
    """Put other code into the cell `picture` of all languages, as if it had been run."""
    for language in layout.LANGUAGES:
        with tree.edit(language, FIRST) as notebook:
            cell = cell_sources.by_id(notebook)["picture"]
            cell.source = code
            cell.metadata["executed"] = cell_sources.digest(code)


@pytest.mark.parametrize(
    "code",
    [
        "claims.check('grows', 7)",
        'claims.check("grows", 7, "here")',
        'claims.check(\n    "grows",\n    7,\n    on="here",\n)',
        'claims.check(claim="grows", value=7)',
        'claims . check ( "grows" , 7 )',
        '%matplotlib inline\nfor x in (7, 8):\n    if x: claims.check(r"grows", x)',
    ],
)
def test_a_call_is_read_as_python_reads_it(tree, code):
    recode(tree, code)
    assert all_findings.check(tree.root) == []


@pytest.mark.parametrize("code", ['# claims.check("grows", 7)', "x = 'claims.check(\"grows\", 7)'"])
def test_a_call_in_a_comment_or_a_text_is_none(tree, code):
    recode(tree, code)
    assert any("grows: no lesson shows it" in f for f in all_findings.check(tree.root))


@pytest.mark.parametrize(
    "code",
    [
        'claims.check("grows", x["y"], on="cell")',
        "claims.check('grows', 7, 'cell')",
        'claims.check(\n    "grows",\n    7,\n    on="cell",\n)',
        'claims.check("grows", 7, on="gpt2" if big else "cell")',
        'claims.check("grows", 7, on="cell" if big else "gpt2")',
    ],
)
def test_a_place_of_measurement_without_bounds_is_found(tree, code):
    tree.replace("helpers/activities/claims.toml", "[5, 8]", "{ gpt2 = [5, 8] }")
    recode(tree, code)
    [found] = all_findings.check(tree.root)
    assert found.startswith(f"notebooks/en/{FIRST}#picture") and "grows.bounds has none for 'cell'; add them" in found


def test_an_id_that_is_computed_is_found(tree):
    recode(tree, 'for name in ("grows",):\n    claims.check(name, 7)')
    assert any("#picture" in f and "an id that is computed" in f for f in all_findings.check(tree.root))


def test_a_cell_that_is_no_python_is_a_finding(tree):
    recode(tree, 'claims.check("grows", 7')
    assert any(f"en/{FIRST}#picture" in f and "is no Python" in f for f in all_findings.check(tree.root))


def test_a_claim_of_another_lesson_is_found(tree):
    tree.replace("helpers/activities/claims.toml", "lesson = 1", "lesson = 2")
    [found] = all_findings.check(tree.root)
    assert found == (
        f"notebooks/en/{FIRST}#picture (draw(mean(x))): shows grows, which belongs to lesson 2; "
        "move it, or correct helpers/activities/claims.toml"
    )


def test_a_quotation_mark_in_a_text_is_explained_in_one_line(tree):
    tree.replace("helpers/activities/claims.toml", "It grows.", 'It "grows".')
    [found] = all_findings.check(tree.root)
    assert found.startswith("helpers/activities/claims.toml: ") and "at line 7, column" in found
    assert found.endswith('; write a quotation mark inside a text as the language writes it, or as \\"')


# the cards


def change_card(tree, **fields):
    """Change the data of the card of the small project's claim in the German lesson."""
    with tree.edit("de", FIRST) as notebook:
        for output in cell_sources.by_id(notebook)["picture"].outputs:
            if claims_ledger.CARD in output.data:
                output.data[claims_ledger.CARD].update(fields)


@pytest.mark.parametrize(
    ("bounds", "shown", "says"),
    [
        ("[5, 8]", {}, None),
        (
            "[5, 6.5]",
            {},
            "grows = 7 is outside the present bounds in helpers/activities/claims.toml, 5 to 6.5, unlike on its card",
        ),
        ("{ here = [5, 8], gpt2 = [0, 1] }", {}, None),
        ("{ here = [0, 1], gpt2 = [5, 8] }", {}, "grows = 7 is outside the present bounds"),
        ("[5]", {}, None),  # a finding of its own
        ('["5", "8"]', {}, None),
        ("[5, 8]", {"within": False}, "grows = 7 is within the present bounds"),
        ("[5, 8]", {"value": "nan"}, "grows = nan is outside the present bounds"),
    ],
)
def test_a_stored_value_is_compared_with_the_present_bounds(tree, bounds, shown, says):
    tree.replace("helpers/activities/claims.toml", "[5, 8]", bounds)
    change_card(tree, **shown)
    present = [f for f in all_findings.check(tree.root) if "present bounds" in f]
    found = [f for f in present if f.startswith("notebooks/de")]
    assert len(found) == (says is not None)
    assert all(f.startswith(f"notebooks/de/{FIRST}#picture") and says in f for f in found)


@pytest.mark.parametrize(
    "card", [None, 3, "text", {}, {"id": "grows"}, {"value": None}, {"value": "seven"}, {"texts": []}, {"within": 1}]
)
def test_a_card_without_its_data_is_found(tree, card):
    if isinstance(card, dict) and card:
        change_card(tree, **card)
        if "id" in card:
            change_card(tree, texts="")
    else:
        with tree.edit("de", FIRST) as notebook:
            cell_sources.by_id(notebook)["picture"].outputs[1].data = {claims_ledger.CARD: card}
    [found] = all_findings.check(tree.root)
    assert found.startswith(f"notebooks/de/{FIRST}#picture") and "card" in found and "run it: " in found


def test_a_cell_that_shows_no_card_of_what_it_checks_is_found(tree):
    with tree.edit("sv", FIRST) as notebook:
        cell_sources.by_id(notebook)["picture"].outputs.pop()
    [found] = all_findings.check(tree.root)
    assert found.startswith(f"notebooks/sv/{FIRST}#picture") and "shows no card of grows; run it" in found


@pytest.mark.slow
@pytest.mark.parametrize("reader", layout.LANGUAGES)
def test_the_card_that_a_cell_shows_is_read_from_a_notebook_that_was_run(tmp_path, reader):
    imports = "from helpers import language\nfrom helpers.activities import claims\n"
    code = imports + f"language.use({reader!r})\nclaims.check('off-by-one', 12)"
    path = tmp_path / "one.ipynb"
    reading.write(path, reading.nbformat.v4.new_notebook(cells=[reading.nbformat.v4.new_code_cell(code, id="one")]))
    report, good = execution.run([path])
    assert good, report
    notebook = reading.read(path)
    ledger = claims_ledger.load(layout.ROOT)
    [card] = claims_ledger.cards(notebook.cells[0])
    assert (card["id"], card["value"], card["language"]) == ("off-by-one", 12.0, reader)
    assert list(claims_ledger.check_cards(notebook, ledger, reader, "one.ipynb")) == []
    ledger["off-by-one"]["found"][reader] = "Another sentence."
    [found] = claims_ledger.check_cards(notebook, ledger, reader, "one.ipynb")
    assert "off-by-one has changed" in found
