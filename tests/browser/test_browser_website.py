"""The static site in a browser, from files: nothing is loaded from elsewhere, and the explorers work."""

import pytest

from helpers import explorers, language
from helpers.explorers import race
from tests.support.browser import page as open_page
from tests.website.test_website import PAGES

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def opened():
    with open_page() as (page, errors):
        page.requests = []
        page.on("request", lambda request: page.requests.append(request.url))
        yield page
        assert errors == []


def go(page, site, path):
    """Open a page of the site."""
    page.goto((site / path).as_uri())


def shown(page, cell):
    """Return (file of the picture, alternative text, message) of the explorer in a cell."""
    box = page.locator(f"#{cell}-states")
    image = box.locator("img")
    return image.get_attribute("src"), image.get_attribute("alt"), box.locator("[role=status]").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_fits_a_phone_and_loads_from_its_own_folder_only(opened, site, scheme):
    opened.set_viewport_size({"width": 390, "height": 844})
    opened.emulate_media(color_scheme=scheme)
    for path in (*PAGES, "index.html", "de/index.html", "sv/index.html", "en/models.html"):
        opened.requests.clear()
        go(opened, site, path)
        opened.evaluate("document.querySelectorAll('img').forEach((image) => { image.loading = 'eager' })")
        opened.wait_for_function("[...document.images].every((image) => image.complete && image.naturalWidth)")
        assert opened.evaluate("document.documentElement.scrollWidth") == 390, path
        outside = [url for url in opened.requests if not url.startswith((site.as_uri(), "data:"))]
        assert not outside, path
    opened.set_viewport_size({"width": 1280, "height": 900})


def test_on_a_phone_pictures_are_wide_enough_to_be_read_and_their_boxes_scroll(opened, site):
    opened.set_viewport_size({"width": 390, "height": 844})
    go(opened, site, "en/03_placement.html")
    code = """pictures => pictures.map(image => {
        const box = image.parentElement;
        box.scrollLeft = 1000;
        return [image.clientWidth, box.clientWidth, box.scrollLeft, box.scrollHeight - box.clientHeight];
    })"""
    found = opened.eval_on_selector_all(".explorer img, div.output > img", code)
    assert len(found) > 5 and all(row == [600, 390, 210, 0] for row in found), found
    opened.set_viewport_size({"width": 1280, "height": 900})


@pytest.mark.parametrize("lang", language.LANGUAGES)
def test_radio_list_and_box_change_picture_text_and_message_by_mouse(opened, site, lang):
    language.use(lang)
    go(opened, site, f"{lang}/04_residual_stream.html")
    before, box = shown(opened, "explorer"), opened.locator("#explorer-states")
    box.locator("select").select_option(index=1)
    box.locator("input[type=radio]").nth(1).click()
    box.locator("input[type=checkbox]").nth(0).click()
    live = explorers.residual_stream("bundled/ln-post", "pre")
    live.controls["writes"].value = True
    source, alt, message = shown(opened, "explorer")
    assert source != before[0] and alt == live.picture.alt and message in live.message.value.replace("&quot;", '"')


def test_radio_and_list_by_keyboard(opened, site):
    go(opened, site, "sv/03_placement.html")
    language.use("sv")
    opened.locator("#explorer-states input[type=radio]").first.focus()
    opened.keyboard.press("ArrowRight")
    assert shown(opened, "explorer")[1] == explorers.placement(norm="rmsnorm").picture.alt
    opened.locator("#race-states select").focus()
    opened.keyboard.press("Home")
    assert shown(opened, "race")[1] == race.WarmupRace("post", layers=6).picture.alt


def test_each_control_has_a_name_and_each_group_a_legend(opened, site):
    go(opened, site, "en/04_residual_stream.html")
    box = opened.locator("#explorer-states")
    assert box.get_by_role("combobox", name="Model").count() == 1
    assert box.get_by_role("group", name="Placement").get_by_role("radio").count() == 3
    assert box.get_by_role("checkbox", name="show what each sublayer writes").count() == 1
    go(opened, site, "en/02_rmsnorm.html")
    assert opened.locator("#explorer-states").get_by_role("combobox").count() == 2


def test_on_paper_the_pictures_stay_and_the_controls_go(opened, site):
    go(opened, site, "en/02_rmsnorm.html")
    opened.emulate_media(media="print")
    assert opened.locator("#explorer-states img").is_visible()
    assert not opened.locator("#explorer-states form").is_visible() and not opened.locator("header").is_visible()
    opened.emulate_media(media="screen")


def test_without_scripts_the_first_picture_is_there_and_no_control_that_does_nothing(opened, site):
    context = opened.context.browser.new_context(java_script_enabled=False)
    plain = context.new_page()
    plain.goto((site / "en/03_placement.html").as_uri())
    box = plain.locator("#explorer-states")
    assert not box.locator("form").is_visible() and box.locator("noscript p").is_visible()
    assert len(box.locator("img").get_attribute("alt")) > 40
    context.close()
