"""The static site: complete, closed in itself, and small enough; tests/test_browser_website.py looks at it."""

import itertools
import json
import posixpath
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbconvert.filters.markdown_mistune import MarkdownWithMath

from helpers import explorers
from helpers import language as language_in_use
from notebook_files import navigation
from notebook_files.layout import LANGUAGES, ROOT
from tests.support.small_tree import Tree
from website import build, explorer_states

LESSONS = ("01_layernorm", "02_rmsnorm", "03_placement", "04_residual_stream")
PAGES = [f"{language}/{name}.html" for language in LANGUAGES for name in LESSONS]
LIMIT = 3_000_000  # bytes of a page with all it can load


@pytest.fixture(scope="session")
def pages(site):
    """Path of a page → its BeautifulSoup."""
    return {
        path.relative_to(site).as_posix(): BeautifulSoup(path.read_text(encoding="utf8"), "html.parser")
        for path in site.rglob("*.html")
    }


def states_of(page):
    """Return the lists of states of a page's explorers."""
    return [json.loads(script.string) for script in page.select('script[type="application/json"]')]


def loaded(path, page):
    """Return the files that a page can load, as paths on the site."""
    sources = {element["src"] for element in page.select("[src]")}
    sources |= {element["href"] for element in page.select("link[rel=stylesheet]")}
    sources |= {state[0] for states in states_of(page) for state in states}
    return {posixpath.normpath(posixpath.join(posixpath.dirname(path), source)) for source in sources}


def test_has_twelve_lessons_three_pages_of_contents_and_the_model_card(pages):
    assert set(pages) == {*PAGES, "index.html", "de/index.html", "sv/index.html", "en/models.html"}


def test_every_link_and_every_anchor_has_its_target(site, pages):
    for path, page in pages.items():
        ids = [element["id"] for element in page.select("[id]")]
        assert len(ids) == len(set(ids)), path
        assert all((site / source).is_file() for source in loaded(path, page)), path
        for link in page.select("a[href]"):
            target, _, anchor = link["href"].partition("#")
            if re.match("https?:", target):
                continue
            found = posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) if target else path
            assert (site / found).is_file(), (path, link["href"])
            assert not anchor or pages[found].find(id=anchor), (path, link["href"])


def test_loads_nothing_from_elsewhere(site, pages):
    for path, page in pages.items():
        assert not page.select("iframe, object, embed, base, style, [style*='url(']"), path
        for element in page.select("[src], link[href]"):
            source = element.get("src") or element["href"]
            assert not re.match(r"(\w+:)?//", source) and not source.startswith("http"), (path, source)
    for file in (*site.glob("*.css"), *site.glob("*.js"), *site.rglob("*.svg")):
        text = re.sub(r'xmlns(:\w+)?="[^"]*"|"http://www\.w3\.org[^"]*"', "", file.read_text(encoding="utf8"))
        assert not re.search(r"https?:|@import|url\((?!#)", text), file


@pytest.mark.parametrize("path", PAGES)
def test_a_page_with_all_that_it_can_load_stays_below_three_megabytes(site, pages, path):
    size = sum((site / file).stat().st_size for file in {path, *loaded(path, pages[path])})
    assert size < LIMIT, f"{path} can load {size / 1e6:.2f} MB"


def test_a_page_names_its_language_and_links_to_itself_in_the_others(pages):
    for path in PAGES:
        page, name = pages[path], path.split("/")[1]
        assert page.html["lang"] == path[:2] and len(page.select("h1")) == 1
        assert page.title.string.startswith(page.h1.get_text()[:8])
        links = [link["href"] for link in page.select("header a[hreflang]")]
        assert [posixpath.normpath(f"{path[:2]}/{link}") for link in links] == [f"{o}/{name}" for o in LANGUAGES]
    assert len({page.title.string for path, page in pages.items() if path in PAGES}) == len(PAGES)


def test_the_bars_of_the_notebooks_become_links_between_pages(pages):
    for language in LANGUAGES:
        words = navigation.WORDS[language]
        texts = [[a.get_text() for a in pages[f"{language}/{n}.html"].select("header nav a")][:-3] for n in LESSONS]
        assert [len(row) for row in texts] == [2, 3, 3, 2]
        assert texts[0][0] == words["contents"] and texts[3][0].startswith(f"← {words['previous']}: 3")
        assert texts[1][2].startswith(f"{words['next']}: 3")
    assert not [a for path in pages for a in pages[path].select("main a[href$='.ipynb'], main a[href$='.md']")]


def test_notebook_and_assignment_can_be_downloaded_as_they_are(site, pages):
    for path in PAGES:
        files = [link["href"] for link in pages[path].select("a[download]")]
        name = path.split("/")[1].replace("html", "ipynb")
        assert files == [name, f"assignments/{name}"]
        for file in files:
            assert (site / path[:2] / file).read_bytes() == (ROOT / "notebooks" / path[:2] / file).read_bytes()


def test_every_formula_is_mathml(pages):
    for path in PAGES:
        notebook = nbformat.read(ROOT / "notebooks" / path.replace("html", "ipynb"), as_version=4)
        text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
        formulas = re.findall(r"\$\$.+?\$\$|\$[^$\n]+\$", text, re.S)
        assert len(pages[path].select("math")) == len(formulas) > 20
        assert not pages[path].select("merror")
        prose = BeautifulSoup(str(pages[path].main), "html.parser")
        for element in prose.select("pre, code, script, math"):
            element.decompose()
        assert not re.search(r"\$|\\[a-z]", prose.get_text())


def test_a_formula_keeps_what_its_reader_needs():
    """A decimal comma without a space, bold digits, functions that stand apart, and letters of a name in one word."""

    def to_html(source):
        return MarkdownWithMath(renderer=build.Renderer(lambda url: None)).render(source)

    assert '<mo rspace="0">,</mo>' in to_html("$1{,}5$") and "𝟏" in to_html(r"$\mathbf{1}$")
    assert "<mi>RMS</mi>" in to_html(r"$$\mathrm{RMS}(x)$$") and 'display="block"' in to_html("$$x$$")


@pytest.mark.parametrize("path", PAGES)
def test_every_picture_of_the_notebook_is_there_with_its_text(pages, path):
    notebook = (ROOT / "notebooks" / path.replace("html", "ipynb")).read_text(encoding="utf8")
    images = pages[path].select("img")
    assert len(images) == notebook.count("data:image/") and all(len(image["alt"]) > 40 for image in images)
    assert all(image["loading"] == "lazy" and image["width"] and image["height"] for image in images)


@pytest.mark.parametrize("path", PAGES)
def test_an_explorer_has_a_state_for_every_setting_and_starts_with_its_picture(pages, path):
    explorers_here = pages[path].select(".explorer")
    assert explorers_here
    for explorer in explorers_here:
        (states,) = states_of(explorer)
        count, start = 1, 0
        for control in explorer.select("[data-control]"):
            options = int(control["data-count"])
            chosen = control.select_one("input[checked], option[selected]")
            value = 0 if chosen is None else int(chosen.get("value", 1))
            assert options > 1 and control.get_text(strip=True)
            count, start = count * options, start * options + value
        image, told = explorer.img, explorer.select_one("[role=status]").get_text()
        assert len(states) == count and [image["src"], image["alt"], told] == states[start]
        assert len({state[1] for state in states}) > len(states) / 2


def test_states_are_drawn_in_the_language_of_the_page(pages):
    texts = {}
    for path in PAGES:
        texts.setdefault(path[3:], []).append({s[1] for states in states_of(pages[path]) for s in states})
    for of_languages in texts.values():
        assert not set.intersection(*of_languages) and not of_languages[0] & (of_languages[1] | of_languages[2])


def test_the_words_of_the_site_exist_in_all_languages_and_none_is_left_in_english(pages):
    def keys(words):
        return {key: keys(value) if isinstance(value, dict) else "" for key, value in words.items()}

    assert len({json.dumps(keys(build.SITE_WORDS[language]), sort_keys=True) for language in LANGUAGES}) == 1
    english = [text for text in build.SITE_WORDS["en"].values() if isinstance(text, str) and len(text) > 9]
    english += list(build.SITE_WORDS["en"]["live"].values())
    for path, page in pages.items():
        if page.html["lang"] != "en":
            shown = page.get_text()
            assert not [text for text in english if text in shown], path


def test_nothing_is_written_over_a_folder_that_holds_something(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ValueError, match="not empty"):
        build.build(ROOT, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.slow
def test_equal_notebooks_make_equal_sites(tmp_path):
    tree = Tree(tmp_path / "project")
    with tree.edit("en", "02_second.ipynb") as notebook:
        notebook.cells[-2].source = "from helpers.explorers import race\n\nrace.WarmupRace()"
    sites = []
    for name in ("one", "two"):
        build.build(tree.root, tmp_path / name)
        sites.append({p.relative_to(tmp_path / name): p.read_bytes() for p in (tmp_path / name).rglob("*.*")})
    assert sites[0] == sites[1] and len([path for path in sites[0] if path.suffix == ".svg"]) > 20


def test_a_link_to_what_the_site_has_not_got_becomes_text(tmp_path):
    tree = Tree(tmp_path / "project")
    with tree.edit("en", "01_first.ipynb") as notebook:
        notebook.cells[1].source += "\n\nSee [the code](../../helpers/norms.py) and [next](02_second.ipynb#formula)."
    build.build(tree.root, tmp_path / "site")
    text = (tmp_path / "site/en/01_first.html").read_text(encoding="utf8")
    assert "See the code and" in text and '<a href="02_second.html#formula">next</a>' in text


def test_a_new_explorer_without_states_is_named(tmp_path):
    tree = Tree(tmp_path / "project")
    with tree.edit("en", "02_second.ipynb") as notebook:
        notebook.cells[-2].source = "explorers.something_new()"
    with pytest.raises(ValueError, match=r"explorers\.something_new has no prepared states"):
        build.build(tree.root, tmp_path / "site")


def test_a_picture_that_is_none_is_named_with_its_page(tmp_path):
    tree = Tree(tmp_path / "project")
    with tree.edit("en", "01_first.ipynb") as notebook:
        broken = '<img alt="x" src="data:image/svg+xml;base64,AAAA">'
        (output,) = [output for cell in notebook.cells for output in cell.get("outputs", [])][:1]
        output.data = {"text/html": broken}
    with pytest.raises(ValueError, match="en/01_first.html.*SVG"):
        build.build(tree.root, tmp_path / "site")


def written(svg):
    """Return what a reader reads in a picture: the text of its SVG (bytes), element by element."""
    texts = []
    for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):
        texts.append("".join(element.itertext()))
    return texts


@pytest.mark.parametrize("path", [f"{lang}/{name}.html" for name, lang in zip(LESSONS, itertools.cycle(LANGUAGES))])
def test_every_state_shows_the_texts_of_the_lesson_letter_by_letter(site, pages, path):
    """Ticks at ±0.0005 were all 0, and 0.0909 became 0.09, since what was written was rounded like a coordinate."""
    language_in_use.use(path[:2])
    notebook = nbformat.read(ROOT / "notebooks" / path.replace("html", "ipynb"), as_version=4)
    count = 0
    for cell in notebook.cells:
        shown = explorer_states.shown_in(cell.source) if cell.cell_type == "code" else None
        if shown is None:
            continue
        (states,) = states_of(pages[path].find(id=f"{cell.id}-states"))
        for state, (picture, message) in zip(states, explorer_states.prepare(*shown).states, strict=True):
            file = site / posixpath.normpath(posixpath.join(path[:2], state[0]))
            assert written(file.read_bytes()) == written(picture.svg) != []
            assert state[1:] == [picture.alt, message]
            count += 1
    assert count > 20


def coordinates(svg):
    """Return the numbers of a picture (bytes) that say where something lies, in their order."""
    found = []
    for element in ElementTree.fromstring(svg).iter():
        for name in ("d", "x", "y", "points", "transform"):
            found += map(float, re.findall(r"-?\d+(?:\.\d+)?", element.get(name, "")))
    return found


def test_slim_moves_no_point_by_more_than_a_hundredth():
    svg = explorers.layer_norm_steps().picture.svg
    slim = build.slim(svg)
    assert len(slim) < 0.75 * len(svg)
    assert coordinates(slim) == pytest.approx(coordinates(svg), abs=0.0051)


def test_slim_leaves_words_ids_and_scales_alone():
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="100.12345">'
        '<g id="part-0.123456" transform="translate(1.23456 -2.34567) scale(0.00123 -0.00456)">'
        "<text>p = 0.0005 &lt; 0.12345  <tspan>1.2345</tspan> and 2.3456</text></g></svg>"
    )
    root = ElementTree.fromstring(build.slim(svg.encode()))
    group = root.find("{http://www.w3.org/2000/svg}g")
    assert root.get("width") == "100.12" and group.get("id") == "part-0.123456"
    assert group.get("transform") == "translate(1.23 -2.35) scale(0.00123 -0.00456)"
    assert written(build.slim(svg.encode())) == ["p = 0.0005 < 0.12345  1.2345 and 2.3456"]


def contrast(one, other):
    """Return the contrast of two colours as WCAG 2 defines it."""

    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_words_are_readable_on_a_light_and_on_a_dark_screen():
    text = Path(build.TEMPLATES / "style.css").read_text(encoding="utf8")
    light, dark = (dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", part)) for part in text.split("@media")[:2])
    assert set(light) == set(dark) and len(light) == 11
    for colours in (light, dark):
        for name in colours.keys() - {"back", "panel", "line"}:
            assert min(contrast(colours[name], colours[on]) for on in ("back", "panel")) >= 4.5, name
