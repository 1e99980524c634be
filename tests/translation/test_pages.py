"""The pages beside the lessons stay in step in three languages: each fault is found where it was planted."""

import pytest

import notebooks
from lint import all_findings, spelling
from notebook_files import layout
from tests.support.small_tree import Tree
from translation import markdown_pages

PAGES = {
    "en": "# For teachers\n\nStart with [lesson 1](01_first.ipynb). It takes 1.5 hours, and that is not long.\n\n"
    "```\nrun qwx\n```\n\n<!-- LATER -->\n",
    "de": "# Für Lehrkräfte\n\nBeginne mit [Lektion 1](01_first.ipynb). Sie dauert 1,5 Stunden, das ist nicht lang.\n\n"
    "```\nrun qwx\n```\n\n<!-- LATER -->\n",
    "sv": "# För lärare\n\nBörja med [lektion 1](01_first.ipynb). Den tar 1,5 timmar, och det är inte länge.\n\n"
    "```\nrun qwx\n```\n\n<!-- LATER -->\n",
}


@pytest.fixture
def tree(tmp_path):
    tree = Tree(tmp_path)
    for language, text in PAGES.items():
        tree.put(f"notebooks/{language}/teachers.md", text)
    markdown_pages.translated(tmp_path, "teachers")
    return tree


def test_the_pages_of_the_project_have_no_findings():
    assert "teachers.md" in markdown_pages.load(layout.ROOT)["en"]
    findings = markdown_pages.check(layout.ROOT)
    assert not findings, "\n".join(findings)


def test_clean_pages_have_no_findings(tree):
    assert markdown_pages.check(tree.root) == [] and all_findings.check(tree.root) == []


@pytest.mark.parametrize(
    ("language", "old", "new", "said"),
    [
        ("en", "It takes", "It often takes", "notebooks/sv/teachers.md: behind, "),
        ("de", "<!-- translation of ", "<!-- translated from ", "notebooks/de/teachers.md: no mark "),
        ("de", "run qwx", "run qwy", "notebooks/de/teachers.md: code spans differ "),
        ("sv", "01_first", "02_second", "notebooks/sv/teachers.md: links differ "),
        ("de", "1,5", "1.5", "notebooks/de/teachers.md: decimal point: 1.5"),
        ("sv", "# För lärare", "För lärare", "notebooks/sv/teachers.md: headings differ "),
        ("sv", "timmar", "layers", "notebooks/sv/teachers.md: “layers” is not in the glossary"),
        ("de", PAGES["de"].split("\n")[2], PAGES["sv"].split("\n")[2], "notebooks/de/teachers.md: reads as Swedish"),
        ("de", PAGES["de"], PAGES["en"], "notebooks/de/teachers.md: still the English text"),
        ("en", "run qwx", "run /" + "home/ada/qwx", "is a path of one machine"),
    ],
)
def test_a_fault_is_found(tree, language, old, new, said):
    tree.replace(f"notebooks/{language}/teachers.md", old, new)
    assert any(said in line for line in markdown_pages.check(tree.root)), markdown_pages.check(tree.root)


def test_a_page_that_one_language_lacks_or_has_alone_is_found(tree):
    (tree.root / "notebooks/de/teachers.md").rename(tree.root / "notebooks/de/parents.md")
    assert [line.split(";")[0] for line in markdown_pages.check(tree.root)] == [
        "notebooks/de/teachers.md: missing",
        "notebooks/de/parents.md: has no English original",
    ]


def test_a_link_of_a_page_that_leads_nowhere_is_found(tree):
    tree.replace("notebooks/de/teachers.md", "01_first", "03_third")
    assert (
        "notebooks/de/teachers.md: the link 03_third.ipynb leads to no file of the project; correct it"
        in all_findings.check(tree.root)
    )


def test_the_words_of_a_page_are_read_without_its_code_and_comments(tree):
    read = {(language, at): text for language, at, text in spelling.texts(tree.root)}
    text = read["sv", "notebooks/sv/teachers.md"]
    assert "timmar" in text and "qwx" not in text and "LATER" not in text and "translation" not in text


def perform(tree, *words):
    return notebooks.perform(notebooks.arguments().parse_args(words), tree.root)


def test_the_commands_check_and_translated_know_pages(tree):
    tree.replace("notebooks/en/teachers.md", "It takes", "It often takes")
    report, good = perform(tree, "check")
    assert not good and len(report) == 2
    assert perform(tree, "translated", "teachers", "--lang", "de") == (["notebooks/de/teachers.md: marked"], True)
    assert len(perform(tree, "check")[0]) == 1
    perform(tree, "translated", "teachers")
    assert perform(tree, "check") == (["nothing found"], True)


def test_numbers_of_a_page_that_differ_are_found_until_someone_means_them(tree):
    with (tree.root / "notebooks/sv/teachers.md").open("a", encoding="utf8") as page:
        page.write("\n1,5 av 12.\n")
    [found] = markdown_pages.check(tree.root)
    assert "numbers differ, none only in English, 12 only here" in found and "translated teachers" in found
    perform(tree, "translated", "teachers")
    assert markdown_pages.check(tree.root) == []
    tree.replace("notebooks/sv/teachers.md", "av 12", "av 13")
    assert len(markdown_pages.check(tree.root)) == 1


@pytest.mark.parametrize("words", [("parents",), ("01_first",)])
def test_marking_what_is_no_page_says_so_and_writes_nothing(tree, words):
    before = [path.read_bytes() for path in sorted(tree.root.rglob("*.md"))]
    with pytest.raises(ValueError, match="there is no notebooks/en/.*; for a lesson name the cells, too"):
        perform(tree, "translated", *words)
    assert [path.read_bytes() for path in sorted(tree.root.rglob("*.md"))] == before
