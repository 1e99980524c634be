"""The ledger of claims, helpers/claims.toml: whether its entries are whole, and whether the cards shown are theirs."""

import html
import math
import re

from lint import catalogue
from notebook_files.directions import run_again, where
from notebook_files.layout import LANGUAGES, authored
from texts import wording

FILE = "helpers/claims.toml"
VERDICTS = ("true", "depends", "false", "open")
FIELDS = ("lesson", "said_by", "verdict", "source", "bounds", *catalogue.PARTS)
CHECKED = re.compile(r'claims\.check\(\s*"([\w-]+)"(?:.*\bon="(\w+)")?')
CARD = re.compile(
    r'<div class="claim" data-claim="([\w-]+)" data-within="(\w+)" data-on="(\w+)" data-value="([^"]+)"'
    r"[^>]*>(.*?)</div>",
    re.S,
)


def load(root):
    """Return claim → entry."""
    return catalogue.toml(root / FILE)


# the entries


def check(root, books):
    """Find what is wrong with the entries, and claims that no lesson shows, or another one than they say."""
    ledger, shown = load(root), set()
    lessons = sorted(int(name[:2]) for name in authored(books["en"]) if re.match(r"\d\d_", name))
    for claim, entry in ledger.items():
        yield from (f"{FILE}#{claim}{problem}" for problem in form(entry, lessons))
    for name, notebook in authored(books["en"]).items():
        for cell in (cell for cell in notebook.cells if cell.cell_type == "code"):
            for claim, on in CHECKED.findall(cell.source):
                shown.add(claim)
                at, entry = where("en", name, cell), ledger.get(claim)
                if entry is None:
                    yield f"{at}: the ledger, {FILE}, has no claim {claim}; correct the name"
                    continue
                lesson = entry.get("lesson")
                if lesson in lessons and f"{lesson:0>2}_" not in name:
                    yield f"{at}: shows {claim}, which belongs to lesson {lesson}; move it, or correct {FILE}"
                if isinstance(entry.get("bounds"), dict) and on and on not in entry["bounds"]:
                    yield f"{at}: {FILE}#{claim}.bounds has none for {on!r}; add them"
    for claim in ledger.keys() - shown:
        yield f"{FILE}#{claim}: no lesson shows it; add claims.check({claim!r}, …) to a cell, or delete the entry"


def form(entry, lessons):
    """Yield what is wrong with an entry; each begins with the field."""
    yield from (f": lacks {field}; add it" for field in FIELDS if field not in entry)
    yield from (f".{field}: no field of a claim; they are {', '.join(FIELDS)}" for field in entry.keys() - set(FIELDS))
    verdict, said_by, lesson = entry.get("verdict", "true"), entry.get("said_by", []), entry.get("lesson")
    if verdict not in VERDICTS:
        yield f'.verdict: "{verdict}"; write {", ".join(VERDICTS[:-1])} or {VERDICTS[-1]}'
    if "lesson" in entry and lesson not in lessons:
        yield f".lesson: {lesson!r} is no lesson; write one of {', '.join(map(str, lessons))}"
    if not isinstance(said_by, list) or not set(said_by) <= set(LANGUAGES):
        yield f".said_by: {said_by!r}; write a list of {', '.join(LANGUAGES)}, or []"
    bounds = entry.get("bounds", {})
    for pair in bounds.values() if isinstance(bounds, dict) else [bounds]:
        if not is_pair(pair):
            yield f".bounds: {pair}; write [lowest, highest], or such a pair for each place: {{ gpt2 = [1, 2] }}"
    for part in (part for part in catalogue.PARTS if part in entry):
        if len({entry[part].get(language) for language in LANGUAGES}) == 1:
            yield f".{part}: the same in all languages; translate it"


def bounds_of(entry, on):
    """Return the bounds of a claim for a place of measurement, None without any that are right."""
    bounds = entry.get("bounds")
    pair = bounds.get(on) if isinstance(bounds, dict) else bounds
    return pair if is_pair(pair) else None


def is_pair(bounds):
    """Tell whether something is a list of two finite numbers, the lower one first."""
    numbers = isinstance(bounds, list) and [type(n) in (int, float) and math.isfinite(n) for n in bounds]
    return numbers == [True, True] and bounds[0] <= bounds[1]


# the cards that the notebooks show


def changed(source, ledger, catalogued, language, at):
    """Find cards in the HTML `source` whose texts are no longer those of the ledger, or whose bounds have changed.

    catalogued: the catalogue of the language, which names the verdicts."""
    for claim, within, on, value, card in CARD.findall(source):
        if claim not in ledger:
            yield f"{at}: the ledger, {FILE}, has no claim {claim}; correct the name"
            continue
        entry, text = ledger[claim], plain(card)
        verdict = catalogued.get(f"claim.{entry.get('verdict')}", "")
        parts = [verdict, *(entry.get(part, {}).get(language, "") for part in catalogue.PARTS), entry.get("source", "")]
        if lacks := [part for part in parts if " ".join(part.split()) not in text]:
            yield f"{at}: {claim} has changed in {FILE} ({wording.short(lacks[0])}); {run_again(at)}"
        bounds = bounds_of(entry, on)
        if bounds and (bounds[0] <= float(value) <= bounds[1]) != (within == "true"):
            yield (
                f"{at}: {claim} = {float(value):.4g} is {'outside' if within == 'true' else 'within'} the present bounds "
                f"in {FILE}, {bounds[0]} to {bounds[1]}, unlike on its card; correct the bounds, or {run_again(at)}"
            )


def out_of_bounds(source, at):
    """Find cards in the HTML `source` whose measured value lies outside its bounds."""
    for claim, within, *_, card in CARD.findall(source):
        if within == "false":
            yield (
                f"{at}: {claim}: {' '.join(map(plain, card.split('<br>')[1:3]))} If the measurement is wrong, correct "
                f"the cell; if the ledger is, the bounds, verdict and texts in {FILE}"
            )


def plain(card):
    """Return the text of HTML that a card holds."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", card)).split())
