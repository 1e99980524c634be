"""The links in the README, in a small tree of its own."""

import re
import shutil
import subprocess
from urllib.parse import parse_qs, urlsplit

import pytest

import notebooks
from notebook_files import binder_links
from notebook_files.layout import LANGUAGES, ROOT

README = "# Title\n\nBefore.\n\n<!-- badges -->\nHow to.\n<!-- /badges -->\n\nAfter.\n"


@pytest.fixture
def root(tmp_path):
    (tmp_path / "README.md").write_text(README)
    for language in LANGUAGES:
        for lesson in ("02_rmsnorm", "01_layernorm", "assignments/01_layernorm", "solutions/01_layernorm"):
            path = tmp_path / "notebooks" / language / f"{lesson}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("{}")
    return tmp_path


def written(root):
    """Return the README's text before, between and after the marks."""
    return re.split("<!-- /?badges -->", (root / "README.md").read_text(encoding="utf8"))


def links(text):
    return re.findall(r"\]\((https[^)]*)\)", text)


def test_one_badge_a_language_opens_its_first_lesson_in_jupyterlab(root):
    assert binder_links.badges(root, "anna/some.lessons") == ["README.md: written"]
    before, between, after = written(root)
    assert (before, after) == ("# Title\n\nBefore.\n\n", "\n\nAfter.\n")
    start = "https://mybinder.org/v2/gh/anna/some.lessons/HEAD?urlpath=lab/tree/notebooks"
    assert links(between) == [f"{start}/{language}/01_layernorm.ipynb" for language in LANGUAGES]
    assert (ROOT / re.search(r"\]\((notebooks/images/[^)]*)\)\]", between)[1]).is_file()
    for words in ("ten minutes", "zehn Minuten", "tio minuter"):
        assert words in between


def test_class_links_fetch_the_repository_and_open_each_lesson_and_assignment(root):
    binder_links.badges(root, "anna/lessons", "https://hub.example.org:8000/jupyter/")
    found = [urlsplit(link) for link in links(written(root)[1]) if "mybinder" not in link]
    assert {link.netloc + link.path for link in found} == {"hub.example.org:8000/jupyter/hub/user-redirect/git-pull"}
    queries = [parse_qs(link.query, strict_parsing=True) for link in found]
    assert [query.pop("urlpath")[0] for query in queries] == [
        f"lab/tree/lessons/notebooks/{language}/{lesson}.ipynb"
        for language in LANGUAGES
        for lesson in ("01_layernorm", "02_rmsnorm", "assignments/01_layernorm")
    ]
    assert all(query["repo"] == ["https://github.com/anna/lessons"] for query in queries)


def branches(root):
    """Return the branches that the class links fetch."""
    queries = [parse_qs(urlsplit(link).query) for link in links(written(root)[1]) if "mybinder" not in link]
    return {query["branch"][0] for query in queries}


@pytest.mark.parametrize("branch", ["autumn-2026", "class/7b", "åk-9"])
def test_class_links_fetch_the_branch_that_is_named(root, branch):
    with pytest.raises(SystemExit) as caught:
        notebooks.main(["badges", "anna/lessons", "--hub", "https://hub.example.org", "--branch", branch], root)
    assert caught.value.code == 0 and branches(root) == {branch}


def test_without_a_name_class_links_fetch_the_branch_of_the_checkout(root):
    subprocess.run(["git", "init", "-q", "-b", "autumn", root], check=True)
    binder_links.badges(root, "anna/lessons", "https://hub.example.org")
    assert branches(root) == {"autumn"}


@pytest.mark.parametrize("branch", ["", "a b", "-a", "a..b", "a/", "a:b", "a\nb"])
def test_what_is_no_branch_is_refused(root, branch):
    with pytest.raises(ValueError, match="not the name of a branch"):
        binder_links.badges(root, "anna/lessons", "https://hub.example.org", branch)
    assert (root / "README.md").read_text() == README


def test_a_language_without_lessons_is_named(root):
    shutil.rmtree(root / "notebooks" / "sv")
    with pytest.raises(ValueError, match="no lessons in notebooks/sv"):
        binder_links.badges(root, "anna/lessons")
    assert (root / "README.md").read_text() == README


def test_again_changes_nothing_and_another_address_replaces_all(root):
    binder_links.badges(root, "anna/lessons", "https://hub.example.org")
    assert binder_links.badges(root, "anna/lessons", "https://hub.example.org") == ["README.md: unchanged"]
    binder_links.badges(root, "otto/other")
    text = "".join(written(root))
    assert "otto/other" in text and "anna" not in text and "hub.example.org" not in text


@pytest.mark.parametrize(
    "repository",
    ["", "anna", "anna/", "/lessons", "a/b/c", "https://github.com/anna/lessons", "anna/lessons.git", "anna/..",
     "an na/lessons", "anna/les)sons", "anna/lessons\n", "-anna/lessons", "anna/lektiönen"],
)  # fmt: skip
def test_what_is_no_repository_is_refused_in_one_sentence(repository, root):
    with pytest.raises(SystemExit) as caught:
        notebooks.main(["badges", "--", repository], root)
    assert repr(repository) in caught.value.code and "\n" not in caught.value.code
    assert (root / "README.md").read_text() == README


@pytest.mark.parametrize(
    "hub", ["", "hub.example.org", "ftp://hub.example.org", "https://", "https://a b", "https://h/?x=1", "https://h)"]
)
def test_what_is_no_hub_is_refused(hub, root):
    with pytest.raises(ValueError, match="is not the address of a JupyterHub"):
        binder_links.badges(root, "anna/lessons", hub)
    assert (root / "README.md").read_text() == README


@pytest.mark.parametrize("text", ["# Title\n", "<!-- badges -->", "<!-- /badges --><!-- badges -->", README * 2])
def test_a_readme_without_one_pair_of_marks_is_left_alone(text, root):
    (root / "README.md").write_text(text)
    with pytest.raises(ValueError, match="README.md needs one"):
        binder_links.badges(root, "anna/lessons")
    assert (root / "README.md").read_text() == text


def test_the_command(root):
    with pytest.raises(SystemExit) as caught:
        notebooks.main(["badges", "anna/lessons", "--hub", "http://hub.example.org"], root)
    assert caught.value.code == 0
    assert links(written(root)[1])
