"""A small project in a temporary folder: two lessons in three languages, a catalogue, a ledger, a README."""

import base64
import re
import tomllib

import nbformat

from lint import claims_ledger
from notebook_files import cell_sources, layout, navigation, reading
from translation import sync

ENGLISH = {
    "01_first.ipynb": [
        ("title", "# 1 · First\n\nThis lesson is about the mean of a few numbers."),
        ("setup", 'from helpers import language\n\nlanguage.use("en")'),
        (
            "idea",
            "## What is the mean?\n\nWith $g = 1.5$ the call `mean(x)` prints 10% more, as "
            "[Ioffe and Szegedy 2015](https://arxiv.org/abs/1502.03167) say. Then read [lesson 2](02_second.ipynb).\n\n"
            "| when | value |\n|---|---|\n| before | 0.5 |\n\n"
            "<details><summary>Answer</summary>\n\nIt grows.\n</details>",
        ),
        ("picture", 'draw(mean(x))\nclaims.check("grows", 7)'),
        ("read", "Look at the line. It is the residual stream, and it is what the sublayers write to."),
    ],
    "02_second.ipynb": [
        ("title", "# 2 · Second\n\nThis is the lesson that comes after the first one."),
        ("setup", 'from helpers import language\n\nlanguage.use("en")'),
        ("formula", "$$y = x + f(x)$$"),
        ("count", "print(1 + 1)"),
    ],
}
TRANSLATED = {
    "de": {
        "01_first.ipynb": {
            "title": "# 1 · Das Erste\n\nIn dieser Lektion geht es um den Mittelwert von ein paar Zahlen.",
            "idea": "## Was ist der Mittelwert?\n\nMit $g = 1{,}5$ zeigt der Aufruf `mean(x)` 10\u202f% mehr, wie "
            "[Ioffe und Szegedy 2015](https://arxiv.org/abs/1502.03167) schreiben. "
            "Lies dann [Lektion 2](02_second.ipynb).\n\n"
            "| wann | Wert |\n|---|---|\n| vorher | 0,5 |\n\n"
            "<details><summary>Antwort</summary>\n\nEr wächst.\n</details>",
            "read": "Sieh dir die Linie an. Sie ist der Residualstrom, in den die Teilschichten schreiben.",
        },
        "02_second.ipynb": {
            "title": "# 2 · Das Zweite\n\nDas ist die Lektion, die nach der ersten kommt.",
            "formula": "$$y = x + f(x)$$",
        },
    },
    "sv": {
        "01_first.ipynb": {
            "title": "# 1 · Det första\n\nDen här lektionen handlar om medelvärdet av några tal.",
            "idea": "## Vad är medelvärdet?\n\nMed $g = 1{,}5$ skriver anropet `mean(x)` ut 10\u202f% mer, som "
            "[Ioffe och Szegedy 2015](https://arxiv.org/abs/1502.03167) säger. "
            "Läs sedan [lektion 2](02_second.ipynb).\n\n"
            "| när | värde |\n|---|---|\n| före | 0,5 |\n\n"
            "<details><summary>Svar</summary>\n\nDet växer.\n</details>",
            "read": "Titta på linjen. Den är residualströmmen, och det är i den som delblocken skriver.",
        },
        "02_second.ipynb": {
            "title": "# 2 · Det andra\n\nDet här är lektionen som kommer efter den första.",
            "formula": "$$y = x + f(x)$$",
        },
    },
}
EMPTY_SVG = base64.b64encode(b'<svg xmlns="http://www.w3.org/2000/svg"/>').decode()
ALT = {
    "en": "A line that starts at 0.5 and ends at 2, the largest of the values.",
    "de": "Eine Linie, die bei 0,5 beginnt und bei 2 endet, dem größten der Werte.",
    "sv": "En linje som börjar vid 0,5 och slutar vid 2, det största av värdena.",
}
CATALOGUE = {
    "en": '[claim]\ntrue = "True"\n[axis]\nlength = "length of the stream"\nfound = "It is {value} at {where}."\n',
    "de": '[claim]\ntrue = "Stimmt"\n[axis]\nlength = "Länge des Stroms"\nfound = "Bei {where} sind es {value}."\n',
    "sv": '[claim]\ntrue = "Stämmer"\n[axis]\nlength = "strömmens längd"\nfound = "Det är {value} vid {where}."\n',
}
LEDGER = """[grows]
lesson = 1
said_by = ["en"]
verdict = "true"
bounds = [5, 8]
source = "Ioffe & Szegedy 2015"
claim.en = "It grows."
claim.de = "Er wächst."
claim.sv = "Den växer."
measures.en = "length of the stream"
measures.de = "Länge des Stroms"
measures.sv = "strömmens längd"
found.en = "That is true."
found.de = "Das stimmt."
found.sv = "Det stämmer."
"""
README = "# A project\n\nStart with [lesson 1](notebooks/en/01_first.ipynb). See [below](#the-end).\n\n## The end\n"


def cell(id_, source):
    """Return a cell; what begins like prose is Markdown."""
    if re.match(r"[#A-Z$]", source):
        return nbformat.v4.new_markdown_cell(source, id=id_)
    return nbformat.v4.new_code_cell(source, id=id_)


def execute(notebook, language):
    """Give a notebook the outputs and the marks that a run would, without a kernel."""
    code = [c for c in notebook.cells if c.cell_type == "code"]
    for count, c in enumerate(code, 1):
        c.execution_count, c.metadata["executed"], c.outputs = count, cell_sources.digest(c.source), []
        if c.id == "picture":
            html = f'<img alt="{ALT[language]}" src="data:image/svg+xml;base64,{EMPTY_SVG}">'
            picture = {"text/html": html, "text/plain": ALT[language]}
            c.outputs = [
                nbformat.v4.new_output("display_data", picture),
                nbformat.v4.new_output("display_data", {claims_ledger.CARD: card(language)}),
            ]


def card(language):
    """Return the data of the card that the small ledger's claim gets, measured in a cell."""
    entry = tomllib.loads(LEDGER)["grows"]
    texts = {part: entry[part][language] for part in ("claim", "measures", "found")}
    texts["source"] = entry["source"]
    place = {"value": 7.0, "on": "here", "within": True}
    return {"id": "grows", "verdict": "true", "language": language, "texts": texts, **place}


class Tree:
    """The project below `root`, clean as it is made."""

    def __init__(self, root):
        self.root = root
        for language, text in CATALOGUE.items():
            self.put(f"helpers/language/text/{language}.toml", text)
        self.put("helpers/activities/claims.toml", LEDGER)
        self.put("README.md", README)
        for name, cells in ENGLISH.items():
            notebook = nbformat.v4.new_notebook(cells=[cell(*each) for each in cells])
            execute(notebook, "en")
            reading.write(self.path("en", name), notebook)
        sync.sync(root, self.books())
        for language, books in TRANSLATED.items():
            for name, texts in books.items():
                with self.edit(language, name) as notebook:
                    for id_, text in texts.items():
                        cell_sources.by_id(notebook)[id_].source = text
                    execute(notebook, language)
                sync.translated(root, self.books(), name, list(texts), [language])
        navigation.nav(root, self.books())

    def put(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf8", newline="\n")

    def path(self, language, name):
        return layout.path_of(self.root, language, name)

    def books(self):
        return reading.load(self.root)

    def cell(self, language, name, id_):
        return cell_sources.by_id(reading.read(self.path(language, name)))[id_]

    def bytes(self):
        """Return the content of every notebook."""
        return {path: path.read_bytes() for path in layout.all_notebooks(self.root)}

    def edit(self, language, name):
        """Return a context in which a notebook may be changed; it is written at the end."""
        return Editing(self.path(language, name))

    def replace(self, name, old, new):
        """Replace a text in any file; it must be there."""
        text = (self.root / name).read_text(encoding="utf8")
        assert old in text
        self.put(name, text.replace(old, new))


class Editing:
    def __init__(self, path):
        self.path = path

    def __enter__(self):
        self.notebook = reading.read(self.path)
        return self.notebook

    def __exit__(self, *_):
        reading.write(self.path, self.notebook)
