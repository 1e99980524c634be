"""No word of what a reader sees is unknown to hunspell's dictionaries and to the lists of technical words."""

import os
import re
import tomllib

import pytest

from lint import spelling
from notebook_files import cell_sources, layout
from tests.support.small_tree import ALT, Tree
from texts import wording


@pytest.fixture(autouse=True)
def dictionaries():
    """Skip on a machine that lacks them, fail in CI."""
    if lacks := spelling.missing():
        message = f"{lacks} not found; Debian: apt-get install hunspell hunspell-en-gb hunspell-de-de hunspell-sv"
        pytest.fail(message) if os.environ.get("CI") else pytest.skip(message)


@pytest.mark.slow
def test_no_word_of_the_project_is_misspelt():
    findings = spelling.unknown(layout.ROOT)
    assert not findings, "\n".join(findings)


@pytest.mark.parametrize("name", ("names", *layout.LANGUAGES))
def test_the_lists_hold_each_word_once(name):
    words = (spelling.LISTS / f"{name}.txt").read_text(encoding="utf8").split("\n")
    again = [word for word in words if words.count(word) > 1 or (word != word.lower() and word.lower() in words)]
    assert not again


@pytest.mark.parametrize("language", layout.LANGUAGES)
def test_the_terms_of_the_glossary_are_known(language):
    glossary = tomllib.loads(wording.GLOSSARY.read_text(encoding="utf8"))
    terms = [word for entry in glossary.values() for word in spelling.words(entry[language])]
    assert spelling.rejected(language, terms) - {"re"} == set()  # -re, an ending


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path)


def planted(tree, language, id_, text):
    """Return what is found after a text is added to a cell."""
    with tree.edit(language, "01_first.ipynb") as notebook:
        cell_sources.by_id(notebook)[id_].source += text
    return spelling.unknown(tree.root)


def test_a_clean_project_has_no_unknown_word(tree):
    assert spelling.unknown(tree.root) == []


@pytest.mark.parametrize(("language", "word"), [("en", "recieve"), ("de", "Schtrom"), ("sv", "strömen")])
def test_a_misspelt_word_is_found_in_its_language_file_and_cell(tree, language, word):
    found = planted(tree, language, "read", f" {word}.")
    assert len(found) == 1
    assert re.match(rf"notebooks/{language}/01_first.ipynb#read \(.+\): unknown word: {word};", found[0])


def test_a_misspelt_word_is_found_elsewhere(tree):
    tree.replace("helpers/language/text/sv.toml", "strömmens längd", "strömens längd")
    tree.replace("helpers/activities/claims.toml", "Das stimmt.", "Das schtimmt.")
    tree.replace("README.md", "A project", "A projekt")
    with tree.edit("en", "01_first.ipynb") as notebook:
        output = cell_sources.by_id(notebook)["picture"].outputs[0]
        output.data["text/html"] = output.data["text/html"].replace(ALT["en"], "A lin that ends.")
    assert [line.split(";")[0] for line in sorted(spelling.unknown(tree.root))] == [
        "README.md: unknown word: projekt",
        "helpers/activities/claims.toml#grows.found.de: unknown word: schtimmt",
        "helpers/language/text/sv.toml#axis.length: unknown word: strömens",
        "notebooks/en/01_first.ipynb#picture (draw(mean(x))): unknown word: lin",
    ]


def test_formulas_code_addresses_tags_and_names_are_not_read(tree):
    text = r" $\sqrt{qwx}$ `qwx` https://qwx.org/qwx <span class='qwx'>line</span> [x](https://qwx.org) qwx_y qw.qx qw8"
    assert planted(tree, "en", "read", text) == []


def test_endings_of_abbreviations_and_possessives_are_no_words(tree):
    assert planted(tree, "sv", "read", " MLP:ns linje och GPT-2:s ström.") == []
    assert planted(tree, "en", "read", " GPT’s line and the lines’ ends, don’t you see.") == []
