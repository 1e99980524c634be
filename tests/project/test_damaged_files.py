"""Whatever is wrong with a file of the project, an author's command ends in findings or in one sentence."""

import json
import shutil

import pytest

import notebooks
from notebook_files import layout
from tests.support.faults import FIRST, SECOND
from tests.support.small_tree import Tree

COMMANDS = {  # those that write nothing come first
    "check": ["check"],
    "spelling": ["spelling"],
    "translated": ["translated", "01_first", "read"],
    "translated page": ["translated", "teachers"],
    "badges": ["badges", "anna/lessons", "--hub", "https://hub.example.org"],
    "sync": ["sync"],
    "nav": ["nav"],
}


@pytest.fixture
def tree(tmp_path):
    tree = Tree(tmp_path)
    tree.put("README.md", "# A project\n\n<!-- badges -->\n<!-- /badges -->\n")
    for language in layout.LANGUAGES:
        tree.put(f"notebooks/{language}/teachers.md", "# 1\n")
    return tree


def outcome(tree, command):
    """Return the lines that a command prints, or the sentence that it refuses with."""
    try:
        report, _ = notebooks.perform(notebooks.arguments().parse_args(COMMANDS[command]), tree.root)
    except (ValueError, OSError) as refusal:
        assert "\n" not in str(refusal)
        return [str(refusal)]
    return report


def in_json(change, language="en", name=FIRST):
    """Return a damage: the JSON of a notebook changed by a function."""

    def plant(tree):
        path = tree.path(language, name)
        notebook = json.loads(path.read_text(encoding="utf8"))
        change(notebook)
        path.write_text(json.dumps(notebook), encoding="utf8")

    return plant


def cell(number, **fields):
    """Return a damage: other fields of a cell of the small lesson."""
    return in_json(lambda notebook: notebook["cells"][number].update(fields))


def without(number, field):
    """Return a damage: a field that a cell lacks."""
    return in_json(lambda notebook: notebook["cells"][number].pop(field))


def content(name, data):
    """Return a damage: other bytes in a file."""
    return lambda tree: (tree.root / name).write_bytes(data)


TEXT, CODE = 3, 4
EN, DE = f"notebooks/en/{FIRST}", f"notebooks/de/{FIRST}"
UNREADABLE = {  # damage → the file that every command names that reads it
    "empty notebook": (content(EN, b""), EN),
    "notebook of null": (content(EN, b"null"), EN),
    "notebook of a list": (content(EN, b"[]"), EN),
    "notebook of a number": (content(EN, b"3"), EN),
    "deep nest": (content(EN, b"[" * 100_000), EN),
    "UTF-16": (content(DE, '{"cells": []}'.encode("utf-16")), DE),
    "Latin-1": (content(DE, '{"cells": "ä"}'.encode("latin-1")), DE),
    "cells of text": (in_json(lambda n: n.update(cells="x")), EN),
    "cells of null": (in_json(lambda n: n.update(cells=None)), EN),
    "no cells": (in_json(lambda n: n.pop("cells")), EN),
    "cell of null": (in_json(lambda n: n["cells"].append(None)), EN),
    "cell of text": (in_json(lambda n: n["cells"].append("x")), EN),
    "metadata of a list": (in_json(lambda n: n.update(metadata=[1])), EN),
    "no source": (without(TEXT, "source"), EN),
    "source of null": (cell(TEXT, source=None), EN),
    "source of numbers": (cell(TEXT, source=[1, 2]), EN),
    "half a surrogate": (cell(TEXT, source="\ud800"), EN),
    "no type": (without(TEXT, "cell_type"), EN),
    "another type": (cell(TEXT, cell_type="heading"), EN),
    "metadata of a cell of text": (cell(TEXT, metadata="x"), EN),
    "id of a number": (cell(TEXT, id=3), EN),
    "outputs of text": (cell(CODE, outputs="x"), EN),
    "outputs of null": (cell(CODE, outputs=[None]), EN),
    "output without a type": (cell(CODE, outputs=[{}]), EN),
    "data of a list": (cell(CODE, outputs=[{"output_type": "display_data", "data": [1]}]), EN),
    "HTML of a number": (cell(CODE, outputs=[{"output_type": "display_data", "data": {"text/html": 1}}]), EN),
}
DAMAGED = {
    "no metadata": in_json(lambda n: n.pop("metadata")),
    "no metadata of a cell": without(TEXT, "metadata"),
    "no outputs": without(CODE, "outputs"),
    "no id": without(TEXT, "id"),
    "no id of code": without(CODE, "id"),
    "no ids at all": in_json(lambda n: [each.pop("id") for each in n["cells"]]),
    "no id in a translation": in_json(lambda n: n["cells"][TEXT].pop("id"), "sv"),
    "no cells at all": in_json(lambda n: n["cells"].clear()),
    "nbgrader is a text": cell(TEXT, metadata={"nbgrader": "x"}),
    "nbgrader is null": cell(CODE, metadata={"nbgrader": None}),
    "translation is a list": in_json(lambda n: n["cells"][TEXT].update(metadata={"translation": [1]}), "de"),
    "mark is a number": in_json(lambda n: n["cells"][TEXT].update(metadata={"translation": {"of": 3}}), "de"),
    "HTML that ends nowhere": cell(TEXT, source='<a href="x <b <!-- <![CDATA[ </'),
    "Markdown that ends nowhere": cell(TEXT, source="$$ x\n```\n[a](b\n![c\n| d |\n**e *f `g"),
    "no Python": cell(CODE, source="claims.check("),
    "null in code": cell(CODE, source="claims.check(\0"),
    "a notebook that is a folder": lambda tree: tree.path("en", "03_third.ipynb").mkdir(),
    "a folder of a fourth language": lambda tree: shutil.copytree(
        tree.root / "notebooks/en", tree.root / "notebooks/fr"
    ),
    "no notebooks": lambda tree: shutil.rmtree(tree.root / "notebooks"),
    "no Swedish": lambda tree: shutil.rmtree(tree.root / "notebooks/sv"),
    "no catalogue": lambda tree: shutil.rmtree(tree.root / "helpers/language/text"),
    "no ledger": lambda tree: (tree.root / "helpers/activities/claims.toml").unlink(),
    "no README": lambda tree: (tree.root / "README.md").unlink(),
    "empty ledger": content("helpers/activities/claims.toml", b""),
    "empty catalogue": content("helpers/language/text/de.toml", b""),
    "empty README": content("README.md", b""),
    "empty page": content("notebooks/de/teachers.md", b""),
    "ledger of a number": content("helpers/activities/claims.toml", b"grows = 3"),
    "ledger with one text": content("helpers/activities/claims.toml", b'[grows]\nclaim = "It grows."'),
    "ledger of lists": content("helpers/activities/claims.toml", b"[[grows]]\nclaim = [1]"),
    "catalogue without sections": content("helpers/language/text/de.toml", b'length = "x"'),
    "catalogue of a number": content("helpers/language/text/de.toml", b"[axis]\nlength = 3"),
    "catalogue of a table": content("helpers/language/text/en.toml", b"[axis.length]\nen = 3"),
    "braces that do not match": content("helpers/language/text/sv.toml", b'[axis]\nlength = "{x"'),
    "ledger in Latin-1": content("helpers/activities/claims.toml", '[grows]\nclaim = "ä"'.encode("latin-1")),
    "page in Latin-1": content("notebooks/de/teachers.md", "ä".encode("latin-1")),
    "README in Latin-1": content("README.md", "<!-- badges -->ä<!-- /badges -->".encode("latin-1")),
    "page with a byte order mark": content("notebooks/de/teachers.md", b"\xef\xbb\xbf# 1\r\n"),
}


@pytest.mark.slow
@pytest.mark.parametrize("damage", [*DAMAGED, *UNREADABLE])
def test_no_damage_ends_a_command_in_a_traceback(tree, damage):
    plant = DAMAGED[damage] if damage in DAMAGED else UNREADABLE[damage][0]
    plant(tree)
    for command in COMMANDS:
        assert outcome(tree, command), command


@pytest.mark.slow
@pytest.mark.parametrize("damage", UNREADABLE)
def test_a_notebook_that_cannot_be_read_is_named_and_nothing_is_written(tree, damage):
    plant, file = UNREADABLE[damage]
    plant(tree)
    before = tree.bytes()
    for command in ("check", "translated", "sync", "nav"):
        [line] = outcome(tree, command)
        assert file in line and tree.bytes() == before, command


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("helpers/activities/claims.toml", "is not UTF-8"),
        ("helpers/language/text/sv.toml", "is not UTF-8"),
        ("notebooks/sv/teachers.md", "is not UTF-8"),
        ("README.md", "is not UTF-8"),
    ],
)
def test_a_text_in_another_encoding_is_named(tree, name, says):
    (tree.root / name).write_bytes("ä".encode("latin-1"))
    assert any(name in line and says in line for line in outcome(tree, "check"))


@pytest.mark.parametrize("damage", ["no id", "no id of code", "no ids at all", "no id in a translation"])
def test_a_cell_without_an_id_is_named_and_its_notebook_left_alone(tree, damage):
    DAMAGED[damage](tree)
    with tree.edit("en", SECOND) as notebook:
        notebook.cells[-2].source = "print(2)"
    before = tree.bytes()
    report = outcome(tree, "sync")
    assert any("has no id" in line for line in report) and any(f"de/{SECOND}: written" in line for line in report)
    assert all(tree.bytes()[path] == before[path] for path in before if path.name == FIRST)
    assert any("has no id" in line for line in outcome(tree, "check"))


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("helpers/activities/claims.toml", 'grows = "x"', "helpers/activities/claims.toml#grows: is no entry"),
        ("helpers/language/text/de.toml", 'length = "x"', "helpers/language/text/de.toml#length: stands in no section"),
        (
            "helpers/language/text/de.toml",
            "[axis]\nlength = 3",
            "helpers/language/text/de.toml#axis.length: is no text",
        ),
    ],
)
def test_what_has_not_the_form_of_a_text_is_a_finding(tree, name, text, says):
    tree.put(name, text)
    assert any(line.startswith(says) for line in outcome(tree, "check"))
