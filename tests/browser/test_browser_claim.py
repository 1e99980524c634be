"""A card in JupyterLab: what a reader sees is the HTML, not the data that programs read."""

import nbformat

from tests.support import browser


def test_a_reader_sees_the_card_and_not_its_data(tmp_path):
    imports = "from helpers import language\nfrom helpers.activities import claims\n"
    code = imports + "language.use('sv')\nclaims.check('off-by-one', 12)"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    root = tmp_path / "root"
    config = tmp_path / "config"
    root.mkdir()
    config.mkdir()
    nbformat.write(notebook, root / "card.ipynb")
    with browser.lab(root, config) as address, browser.page() as (page, errors):
        opened = browser.Notebook(page, address, "card.ipynb")
        opened.run_all()
        card = page.locator(".jp-OutputArea-output .claim")
        card.wait_for()
        assert card.get_attribute("lang") == "sv" and "Stämmer" in card.inner_text()
        assert '"within"' not in page.locator(".jp-OutputArea").inner_text() and not errors
