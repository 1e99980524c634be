"""`tools/notebooks.py check` finds each kind of fault where it was planted, and nothing in a clean project."""

import tomllib

import pytest

import notebooks
from lint import all_findings, catalogue
from notebook_files import cell_sources, layout, reading
from tests.support.faults import FIRST, SECOND, assert_found, drop, file, on_cell, on_notebook, source, swap, whole
from texts import languages, markdown_parts, wording
from translation import differences, sync


def test_a_clean_project_has_no_findings(tree):
    assert all_findings.check(tree.root) == []


@pytest.mark.slow
def test_the_project_has_no_findings():
    findings = all_findings.check(layout.ROOT)
    assert not findings, "\n".join(findings)


# one planted fault of each kind: what is done, where the finding must point, what it must say


def retype(notebook):
    place = cell_sources.ids(notebook).index("count")
    source = notebook.cells[place].source
    notebook.cells[place] = reading.nbformat.v4.new_markdown_cell(source, id="count")


def same_id(notebook):
    notebook.cells[3].id = notebook.cells[1].id


DE, SV, EN = (f"notebooks/{language}/{FIRST}" for language in ("de", "sv", "en"))
ENGLISH_LINE = "Look at the line. It is the residual stream, and it is what the sublayers write to."
FAULTS = {
    "missing notebook": (
        lambda t: t.path("de", SECOND).unlink(),
        f"notebooks/de/{SECOND} {DE}#idea",  # which links to it
        "missing; run python tools/notebooks.py sync",
    ),
    "extra notebook": (
        lambda t: t.path("sv", "00_more.ipynb").write_bytes(t.path("sv", SECOND).read_bytes()),
        "notebooks/sv/00_more.ipynb",
        "has no English original",
    ),
    "bad catalogue": (
        file("helpers/language/text/sv.toml", "[axis]", "[axis"),
        "helpers/language/text/sv.toml",
        "Expected",
    ),
    "no notebook": (lambda t: t.path("sv", SECOND).write_text("{"), f"notebooks/sv/{SECOND}", "is not a notebook"),
    "missing cell": (
        on_notebook("de", drop("idea")),
        DE,
        "lacks idea; run python tools/notebooks.py sync, which adds the English one",
    ),
    "extra cell": (
        on_notebook("en", drop("read")),
        f"{DE} {SV} {EN}",
        "has read, which English has not; delete it here",
    ),
    "order": (
        on_notebook("sv", swap),
        SV,
        "in another order; run python tools/notebooks.py sync, which takes the English order",
    ),
    "cell type": (
        on_notebook("de", retype, SECOND),
        f"notebooks/de/{SECOND}",
        "is a markdown cell, the original a code",
    ),
    "repeated id": (on_notebook("sv", same_id), SV, "two cells have this id"),
    "id of JupyterLab": (
        on_cell("en", "read", lambda c: c.update(id="11c0da0d")),
        f"{EN} {DE} {SV}",
        "JupyterLab made this id; give the cell one of words, such as rms-of-a-token",
    ),
    "renamed cell": (
        on_cell("sv", "read", lambda c: c.update(id="look")),
        SV,
        "has look where English has read; give each cell the id of its original",
    ),
    "code": (
        source("de", FIRST, "picture", "draw", "plot"),
        f"{DE}#picture",
        "the code differs from the original; write what is right into the English cell, then run python tools",
    ),
    "setup": (source("sv", FIRST, "setup", "helpers", "helper"), f"{SV}#setup", "the code differs from the original"),
    "setup in English": (source("sv", FIRST, "setup", '"sv"', '"en"'), f"{SV}#setup", "the code differs"),
    "no mark": (on_cell("de", "read", lambda c: c.metadata.pop("translation")), f"{DE}#read", "no mark"),
    "behind": (source("en", FIRST, "read", "Look at", "See"), f"{DE}#read {SV}#read", "behind, the English text"),
    "formula": (source("de", FIRST, "idea", "g = 1", "g < 1"), f"{DE}#idea", "formulas differ from the original"),
    "no formula": (source("sv", SECOND, "formula", "$$", ""), f"notebooks/sv/{SECOND}#formula", "formulas differ"),
    "code span": (source("sv", FIRST, "idea", "`mean(x)`", "`medel(x)`"), f"{SV}#idea", "code spans differ"),
    "link": (source("de", FIRST, "idea", "1502.03167", "1805.11604"), f"{DE}#idea", "links differ"),
    "HTML": (source("sv", FIRST, "idea", "</details>", ""), f"{SV}#idea", "HTML tags differ"),
    "heading": (source("sv", FIRST, "idea", "## Vad", "Vad"), f"{SV}#idea", "headings differ"),
    "table": (source("de", FIRST, "idea", "| vorher | 0,5 |\n", ""), f"{DE}#idea", "table rows differ"),
    "cell left in English": (whole("de", FIRST, "read", ENGLISH_LINE), f"{DE}#read", "still the English text"),
    "cell in English": (whole("sv", FIRST, "read", ENGLISH_LINE + " That is all."), f"{SV}#read", "reads as English"),
    "cell in German": (
        whole("sv", FIRST, "read", "Sieh dir die Linie an, die der Residualstrom ist."),
        f"{SV}#read",
        "reads as German; it should be Swedish",
    ),
    "original in Swedish": (
        whole("en", FIRST, "read", "Titta på linjen, det är den som visar vad som händer."),
        f"{EN}#read {DE}#read {SV}#read",
        "reads as Swedish; it should be English",
    ),
    "sentence in English": (
        source("de", FIRST, "title", "Zahlen.", "Zahlen. What does that tell you about the other ones?"),
        f"{DE}#title",
        "a sentence reads as English, not German: What does that",
    ),
    "bold sentence in English": (
        source("sv", FIRST, "title", "tal.", "tal. **What does that tell you about the other ones?**"),
        f"{SV}#title",
        "a sentence reads as English, not Swedish",
    ),
    "same sentence": (
        source("sv", FIRST, "read", "Titta på linjen.", "Look at the line."),
        f"{SV}#read",
        "still English",
    ),
    "decimal point": (source("de", FIRST, "idea", "0,5", "0.5"), f"{DE}#idea", "decimal point: 0.5; write 0,5"),
    "point before a hyphen": (source("de", FIRST, "read", "an.", "an, 1.5-mal."), f"{DE}#read", "write 1,5"),
    "point in a formula": (source("sv", FIRST, "idea", "1{,}5", "1.5"), f"{SV}#idea", "write 1{,}5"),
    "per cent": (source("sv", FIRST, "idea", "10\u202f%", "10%"), f"{SV}#idea", "10%; write 10\u202f%, with a narrow"),
    "English per cent": (
        source("en", FIRST, "idea", "10%", "10 %"),
        f"{EN}#idea {DE}#idea {SV}#idea",
        "10 %; write 10%, with no space before %",
    ),
    "quotation marks": (
        source("sv", FIRST, "read", "linjen.", "linjen, ”så” och „så“."),
        f"{SV}#read",
        "not the quotation marks of the language: „så“. Den är residualströmmen,; write ”svenska”",
    ),
    "term": (
        source("de", FIRST, "read", "der Residualstrom", "der Reststrom"),
        f"{DE}#read",
        "“Reststrom” is not in the",
    ),
    "straight quotation marks": (source("sv", FIRST, "read", "linjen.", 'linjen, "så".'), f"{SV}#read", "write ”sv"),
    "straight marks in English": (
        source("en", FIRST, "read", "line.", 'line, "so".'),
        f"{EN}#read {DE}#read {SV}#read",
        'not the quotation marks of the language: "so". It is the; write “English”',
    ),
    "opening mark in English": (
        source("en", FIRST, "read", "line.", "line, ”so”."),
        f"{EN}#read {DE}#read {SV}#read",
        "write “English”",
    ),
    "opening mark in German": (source("de", FIRST, "read", "an.", "an, “so“."), f"{DE}#read", "write „Deutsch“"),
    "bold": (
        source("de", FIRST, "read", "Linie", "**Linie"),
        f"{DE}#read",
        "bold marks ** differ from the original: 1",
    ),
    "numbers": (
        source("de", FIRST, "idea", "10\u202f%", "12\u202f%"),
        f"{DE}#idea",
        "numbers differ, 10 only in English, 12 only here; correct them; if they are meant, python tools/notebooks.py",
    ),
    "inflected term": (
        source("sv", FIRST, "read", "delblocken", "sublagren"),
        f"{SV}#read",
        "“sublagren” is not in the",
    ),
    "unlisted spelling": (
        source("de", FIRST, "read", "schreiben", "schreiben: Prenorm"),
        f"{DE}#read",
        "write Pre-Norm",
    ),
    "transformator": (
        source("sv", FIRST, "title", "några tal", "en transformators tal"),
        f"{SV}#title",
        "transformator",
    ),
    "Sie": (source("de", FIRST, "read", "Sieh dir", "Sehen Sie sich"), f"{DE}#read", "readers are addressed as du"),
    "term in the catalogue": (
        file("helpers/language/text/de.toml", "Länge des Stroms", "Länge des Residual-Streams"),
        "helpers/language/text/de.toml#axis.length",
        "write Residualstrom",
    ),
    "term in the ledger": (
        file("helpers/activities/claims.toml", "strömmens längd", "residualflödets längd"),
        f"helpers/activities/claims.toml#grows.measures.sv {SV}#picture",  # whose card is no longer the ledger's
        "write residualström",
    ),
    "key missing": (
        file("helpers/language/text/sv.toml", 'length = "strömmens längd"\n', ""),
        "helpers/language/text/sv.toml#axis.length",
        "missing; add it",
    ),
    "key too many": (
        file("helpers/language/text/de.toml", "[axis]", '[axis]\nmore = "mehr"'),
        "helpers/language/text/de.toml#axis.more",
        "not in the English catalogue",
    ),
    "placeholder": (
        file("helpers/language/text/de.toml", "{value}", "{wert}"),
        "helpers/language/text/de.toml#axis.found",
        "the placeholders differ",
    ),
    "ledger lacks a language": (
        file("helpers/activities/claims.toml", 'found.sv = "Det stämmer."\n', ""),
        "helpers/activities/claims.toml#grows.found.sv",
        "missing; write it",
    ),
    "bar": (
        source("de", FIRST, "nav-bottom", "Inhalt (englisch)", "Contents"),
        DE,
        "the bars in its first and last cell are not right; run python tools/notebooks.py nav",
    ),
    "mark of a bar": (on_cell("sv", "nav-top", lambda c: c.metadata.clear()), SV, "notebooks.py nav"),
    "no bar": (on_notebook("sv", drop("nav-top")), SV, "notebooks.py nav"),
    "dead link": (
        source("en", FIRST, "idea", "02_second", "02_other"),
        f"{EN}#idea {DE}#idea {SV}#idea",
        "the link 02_other.ipynb leads to no file",
    ),
    "dead anchor": (
        file("README.md", "#the-end", "#an-end"),
        "README.md",
        "leads to no heading of README.md; the nearest is #the-end",
    ),
    "link out of the project": (file("README.md", "notebooks/en/01_first.ipynb", "../x"), "README.md", "to no file"),
    "path of a machine": (
        source("en", FIRST, "read", "Look at the line.", "Look at the line in /ho" + "me/someone."),
        f"{EN}#read {DE}#read {SV}#read",
        "is a path of one machine",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_in_its_file_and_cell(tree, fault):
    plant, places, says = FAULTS[fault]
    assert_found(tree, plant, places, says)


def test_a_cell_that_was_synced_and_not_translated_is_one_finding(tree):
    with tree.edit("en", SECOND) as notebook:
        notebook.cells.insert(2, reading.nbformat.v4.new_markdown_cell("What comes after the first?", id="new"))
    assert notebooks.perform(notebooks.arguments().parse_args(["sync"]), tree.root)[1]
    findings = all_findings.check(tree.root)
    assert [finding.split(" (")[0] for finding in findings] == [f"notebooks/{x}/{SECOND}#new" for x in ("de", "sv")]
    assert "translated 02_second new --lang de" in findings[0]


def test_versions_papers_and_quoted_titles_are_no_faults(tree):
    more = " In Version 2.13 und bei Llama 3.3 (arXiv 1502.03167) steht „How to train the one that is best“."
    with tree.edit("de", FIRST) as notebook:
        cell_sources.by_id(notebook)["read"].source += more
    sync.translated(tree.root, tree.books(), "01", ["read"], ["de"])
    assert all_findings.check(tree.root) == []


def test_quotation_marks_in_code_formulas_and_attributes_are_no_faults(tree):
    for language, quoted in (("en", "“so”"), ("de", "„so“"), ("sv", "”så”")):
        more = f' {quoted}, (`f("x")`, `"y"`) $\\text{{"}}$ <span title="z">{quoted}</span> [a](https://m.org "b").\n'
        source(language, FIRST, "read", ".", more)(tree)
    assert not [f for f in all_findings.check(tree.root) if "quotation marks" in f]


def test_code_changed_in_english_is_one_finding_that_says_what_to_do_in_which_order(tree):
    source("en", FIRST, "picture", "draw", "plot")(tree)
    [found] = all_findings.check(tree.root)
    assert found.startswith(f"{EN}#picture (plot(mean(x))): ")
    assert "python tools/notebooks.py sync, then python tools/notebooks.py run 01_first" in found


def test_code_changed_in_one_translation_is_one_finding(tree):
    source("de", FIRST, "picture", "draw", "plot")(tree)
    [found] = all_findings.check(tree.root)
    assert found.startswith(f"{DE}#picture (plot(mean(x))): the code differs from the original")


def test_wikipedia_and_the_folder_of_a_language_may_differ_in_links():
    english = "[a](https://en.wikipedia.org/wiki/Mean) [b](../../en/x.md) [c](x.ipynb#What-is-it?)"
    german = "[a](https://de.wikipedia.org/wiki/Mittelwert) [b](../../de/x.md) [c](x.ipynb#Was-ist-das?)"
    assert differences.differences(english, german) == []
    assert differences.differences(english, german.replace("x.md", "y.md")) != []


def test_the_first_difference_of_a_long_formula_is_shown():
    long = "$x_{l+1} = " + "x_l + " * 20 + r"\mathrm{LN}(f(x_l)) + b" + " + c" * 20 + "$"
    [line] = differences.differences(long, long.replace("LN", "RMS"))
    assert line == (
        r"formulas differ from the original: …x_l+x_l+x_l+\mathrm{RMS}(f(x_l))+b+c+c+… here, "
        r"…x_l+x_l+x_l+\mathrm{LN}(f(x_l))+b+c+c+c… there"
    )
    assert differences.differences("$a$ $b$", "$a$") == ["formulas differ from the original: lacks b"]
    assert differences.differences("$a$", "$a$ $b$") == ["formulas differ from the original: b only here"]


def test_words_in_a_formula_may_differ_and_its_symbols_not():
    assert differences.differences(r"$x_\text{mean} = 1.5$", r"$x_\text{Mittel} = 1{,}5$") == []
    assert differences.differences("$a$ and $b$", "$b$ und $a$") == []
    assert differences.differences("$x$ and $x$", "$x$") != []


@pytest.mark.parametrize("good", (True, False))
def test_the_command_prints_the_findings_and_tells_by_its_exit_code(tree, good, capsys):
    if not good:
        tree.path("de", SECOND).unlink()
    with pytest.raises(SystemExit) as stopped:
        notebooks.main(["check"], tree.root)
    assert stopped.value.code == (0 if good else 1)
    assert capsys.readouterr().out.count("\n") >= 1


# the glossary and what the prose is taken apart into


def test_the_glossary_has_every_language_and_does_not_forbid_its_own_terms():
    table = tomllib.loads(wording.GLOSSARY.read_text(encoding="utf8"))
    for concept, entry in table.items():
        assert set(entry) <= {"en", "de", "sv", "not", "why"} and {"en", "de", "sv"} <= set(entry), concept
        for language in layout.LANGUAGES:
            assert list(wording.terms(entry[language], language, concept)) == [], concept
    assert "residual-stream" in table


def test_forbidden_words_are_found_and_their_likes_are_not():
    forbidden = {
        "en": "The Euclidean norm. A skip connection. We normalize it. Warm-up steps.",
        "de": "Restverbindung. Normierung. Die Aufmerksamkeit. Der Loss. Die Token-Einbettung. Selbstaufmerksamkeit. "
        "Wie Sie sehen. Alle Tokens.",
        "sv": "En transformator. Normering. Inlärningshastigheten. Alla tokens. Om ni vill.",
    }
    allowed = {
        "en": "The size of the prize. A residual connection. Sandwich norm.",
        "de": "Ein Skalierungsfaktor. Ungesehener Text. Output-Norm. Die Features des Tokens. "
        "Zwei Bilder: Sie zeigen es. Ihre Länge bleibt. Die Länge der Token ist 3. "
        "Im Durchschnitt. Die Streuung der Seeds.",
        "sv": "Normerna. I medeltal. En tokens egna features. Norm på utdata. Osedd text.",
    }
    for language in layout.LANGUAGES:
        sentences = forbidden[language].rstrip(".").split(". ")
        assert [s for s in sentences if not list(wording.terms(s, language, ""))] == []
        assert list(wording.terms(allowed[language], language, "")) == []


def test_markdown_is_taken_apart():
    text = "A `b $c$` and $d$ \\$5 [e *f*](g_(h)) ![i](j.png) <img alt='k' src='l.svg'> https://m.org.\n```\n$n$\n```\n"
    found = markdown_parts.parts(text)
    assert found.formulas == ["d"] and found.spans == ["b $c$", "$n$\n"]
    assert found.links == ["g_(h)", "j.png", "l.svg", "https://m.org"]
    assert found.images == [("j.png", "i"), ("l.svg", "k")] and found.tags == ["img"]
    assert languages.words(found.prose) == ["A", "and", "e", "f", "i"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("What the picture shows is the length of it.", "en"),
        ("Was das Bild zeigt, ist die Länge.", "de"),
        ("Det som bilden visar är längden.", "sv"),
        ("GPT-2 small, LayerNorm", None),
    ],
)
def test_the_language_of_a_text_is_recognised(text, language):
    assert languages.language_of(text) == language


def test_a_mistake_that_lacks_a_language_is_found(tmp_path):
    folder = tmp_path / "helpers" / "activities" / "tasks"
    folder.mkdir(parents=True)
    file = folder / "assignment_1.toml"
    sentences = '[by-hand.squared]\nen = "No."\nde = "Nein."\nsv = "Nej."\n'
    file.write_text(sentences)
    assert list(catalogue.sentences(tmp_path)) == []
    for damaged in (sentences.replace('sv = "Nej."', ""), sentences.replace('"Nej."', "3")):
        file.write_text(damaged)
        [found] = catalogue.sentences(tmp_path)
        assert found.startswith("helpers/activities/tasks/assignment_1.toml#by-hand.squared.sv: missing")
    for damaged in ("by-hand = 3", '[by-hand]\nsquared = "No."'):
        file.write_text(damaged)
        assert len(list(catalogue.sentences(tmp_path))) == 3, "one for each language"
