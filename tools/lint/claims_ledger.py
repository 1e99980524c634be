"""The ledger of claims: whether its entries are whole, and whether the cards shown are theirs."""

import ast
import math
import re

from IPython.core.inputtransformer2 import TransformerManager

from lint import catalogue
from notebook_files.cell_sources import is_stale
from notebook_files.directions import points_to, run_again, where
from notebook_files.layout import LANGUAGES, authored
from texts import wording

FILE = "helpers/activities/claims.toml"
# the part of an output that holds a card's data; helpers/activities/claims.py writes it
CARD = "application/vnd.norm-lessons.claim+json"
VERDICTS = ("true", "depends", "false", "open")
FIELDS = ("lesson", "said_by", "verdict", "source", "bounds", *catalogue.PARTS)


def load(root):
    """Return claim → entry; what is no table is left out."""
    entries = catalogue.toml(root / FILE)
    return {claim: entry for claim, entry in entries.items() if isinstance(entry, dict)}


# the entries


def check(root, books):
    """Find what is wrong with the entries, and claims that no lesson shows, or another one than they say."""
    ledger = load(root)
    names = authored(books["en"])
    lessons = sorted(int(name[:2]) for name in names if re.match(r"\d\d_", name))
    for claim in catalogue.toml(root / FILE).keys() - ledger.keys():
        yield f"{FILE}#{claim}: is no entry; write [{claim}] and below it {', '.join(FIELDS)}"
    for claim, entry in ledger.items():
        yield from (f"{FILE}#{claim}{problem}" for problem in form(entry, lessons))
    shown = set()
    for name, notebook in names.items():
        for cell in notebook.cells:
            if cell.cell_type != "code":
                continue
            at = where("en", name, cell)
            try:
                calls = calls_in(cell.source)
            except SyntaxError as error:
                yield f"{at}: is no Python ({error.msg}); correct it"
                continue
            for claim, places in calls:
                shown.add(claim)
                yield from wrong_call(claim, places, ledger, lessons, name, at)
    for claim in ledger.keys() - shown:
        yield f"{FILE}#{claim}: no lesson shows it; add claims.check({claim!r}, …) to a cell, or delete the entry"


def calls_in(source):
    """Return (claim, places of measurement) for each call of claims.check in the code of a cell.

    The claim is None where it is not written out. The places are those that are, [] if they are computed. Raises
    SyntaxError if the code is no Python."""
    if "claims" not in source:
        return []
    found = []
    for node in ast.walk(ast.parse(TransformerManager().transform_cell(source))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "claims.check":
            claim = argument(node, 0, "claim")
            on = argument(node, 2, "on")
            found.append((next(iter(texts_in(claim)), None), ["here"] if on is None else texts_in(on)))
    return found


def argument(call, position, name):
    """Return the node of an argument of a call, None if the call has none."""
    if position < len(call.args):
        return call.args[position]
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    return None


def texts_in(node):
    """Return the texts that an expression may have as its value, as far as they are written out in it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.IfExp):
        return texts_in(node.body) + texts_in(node.orelse)
    return []


def wrong_call(claim, places, ledger, lessons, name, at):
    """Find what is wrong with a call of claims.check in a notebook."""
    if claim is None:
        yield f"{at}: claims.check gets an id that is computed; write it out, so that the ledger can be compared"
        return
    entry = ledger.get(claim)
    if entry is None:
        yield f"{at}: the ledger, {FILE}, has no claim {claim}; correct the name"
        return
    lesson = entry.get("lesson")
    if lesson in lessons and f"{lesson:0>2}_" not in name:
        yield f"{at}: shows {claim}, which belongs to lesson {lesson}; move it, or correct {FILE}"
    bounds = entry.get("bounds")
    if isinstance(bounds, dict):
        for place in places:
            if place not in bounds:
                yield f"{at}: {FILE}#{claim}.bounds has none for {place!r}; add them"


def form(entry, lessons):
    """Yield what is wrong with an entry; each begins with the field."""
    for field in FIELDS:
        if field not in entry:
            yield f": lacks {field}; add it"
    for field in entry:
        if field not in FIELDS:
            yield f".{field}: no field of a claim; they are {', '.join(FIELDS)}"
    verdict = entry.get("verdict", "true")
    if verdict not in VERDICTS:
        yield f'.verdict: "{verdict}"; write {", ".join(VERDICTS[:-1])} or {VERDICTS[-1]}'
    lesson = entry.get("lesson", lessons[0] if lessons else None)
    if lesson not in lessons or isinstance(lesson, bool):
        yield f".lesson: {lesson!r} is no lesson; write one of {', '.join(map(str, lessons))}"
    if not isinstance(entry.get("source", ""), str):
        yield f".source: {entry['source']!r} is no text; write it in quotation marks"
    said_by = entry.get("said_by", [])
    if not isinstance(said_by, list) or not all(language in LANGUAGES for language in said_by):
        yield f".said_by: {said_by!r}; write a list of {', '.join(LANGUAGES)}, or []"
    yield from form_of_bounds(entry.get("bounds", {}))
    yield from form_of_texts(entry)


def form_of_bounds(bounds):
    """Yield what is wrong with the bounds of an entry, one pair or one for each place."""
    pairs = bounds.values() if isinstance(bounds, dict) else [bounds]
    for pair in pairs:
        if not is_pair(pair):
            yield f".bounds: {pair}; write [lowest, highest], or such a pair for each place: {{ gpt2 = [1, 2] }}"


def form_of_texts(entry):
    """Yield what is wrong with the texts of an entry in three languages."""
    for part in catalogue.PARTS:
        if part not in entry:
            continue
        if not isinstance(entry[part], dict):
            fields = ", ".join(f"{part}.{language}" for language in LANGUAGES)
            yield f".{part}: {wording.short(entry[part])} is not in three languages; write {fields}"
            continue
        texts = [catalogue.text_of(entry, part, language) for language in LANGUAGES]
        if len(set(texts)) == 1 and texts[0] is not None:
            yield f".{part}: the same in all languages; translate it"


def bounds_of(entry, on):
    """Return the bounds of a claim for a place of measurement, None without any that are right."""
    bounds = entry.get("bounds")
    pair = bounds.get(on) if isinstance(bounds, dict) else bounds
    return pair if is_pair(pair) else None


def is_pair(bounds):
    """Tell whether something is a list of two finite numbers, the lower one first."""
    if not isinstance(bounds, list) or len(bounds) != 2:
        return False
    for number in bounds:
        if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
            return False
    return bounds[0] <= bounds[1]


# the cards that the notebooks show


def cards(cell):
    """Return the data of the cards that a cell shows; see `data` in helpers/activities/claims.py for their fields.

    Raises ValueError for data without these fields."""
    found = []
    for output in cell.get("outputs", []):
        card = output.get("data", {}).get(CARD)
        if card is None:
            continue
        if not is_card(card):
            raise ValueError("shows a card without the data of one")
        found.append(card | {"value": float(card["value"])})
    return found


def is_card(data):
    """Tell whether something has the fields of a card's data."""
    if not isinstance(data, dict) or not isinstance(data.get("texts"), dict):
        return False
    if not all(isinstance(data.get(field), str) for field in ("id", "on", "verdict", "language")):
        return False
    try:
        float(data.get("value"))
    except (TypeError, ValueError):
        return False
    return isinstance(data.get("within"), bool)


def check_cards(notebook, ledger, language, name):
    """Find cards that are no longer those of the ledger, whose value is out of bounds, or that are missing."""
    for cell in notebook.cells:
        at = where(language, name, cell)
        try:
            shown = cards(cell)
        except ValueError as error:
            yield f"{at}: {error}; {run_again(at)}"
            continue
        for card in shown:
            yield from changed(card, ledger, language, at)
            yield from out_of_bounds(card, at)
        if cell.cell_type == "code" and not is_stale(cell):
            lacks = called(cell) - {card["id"] for card in shown}
            if lacks:
                yield f"{at}: shows no card of {', '.join(sorted(lacks))}; {run_again(at)}"


def called(cell):
    """Return the claims that a cell checks by an id that is written out, none if its code is no Python."""
    try:
        return {claim for claim, _ in calls_in(cell.source) if claim is not None}
    except SyntaxError:  # a finding of its own
        return set()


def changed(card, ledger, language, at):
    """Find whether a card's texts are no longer those of the ledger, or its bounds have changed."""
    claim = card["id"]
    if claim not in ledger:
        yield f"{at}: the ledger, {FILE}, has no claim {claim}; correct the name"
        return
    entry = ledger[claim]
    present = {part: catalogue.text_of(entry, part, language) for part in catalogue.PARTS}
    present |= {"verdict": entry.get("verdict"), "source": entry.get("source")}
    stored = card["texts"] | {"verdict": card["verdict"]}
    for part, text in present.items():
        if text is not None and stored.get(part) != text:
            yield f"{at}: {claim} has changed in {FILE} ({part}: {wording.short(text)}); {run_again(at)}"
            break
    if card["language"] != language:
        yield f"{at}: the card of {claim} is in another language; {run_again(at)}"
    bounds = bounds_of(entry, card["on"])
    if bounds is None:
        return
    low, high = bounds
    is_within = low <= card["value"] <= high
    if is_within != card["within"]:
        side = "within" if is_within else "outside"
        yield (
            f"{at}: {claim} = {card['value']:.4g} is {side} the present bounds in {FILE}, {low} to {high}, "
            f"unlike on its card; correct the bounds, or {run_again(at)}"
        )


def out_of_bounds(card, at):
    """Find whether a card's measured value lies outside its bounds."""
    if not card["within"]:
        yield (
            f"{at}: {card['id']}: measured on {card['on']}, {card['texts'].get('measures')} = {card['value']:.4g}, "
            f"outside its bounds. If the measurement is wrong, correct the cell; if the ledger is, the bounds, "
            f"verdict and texts in {FILE}"
        )


def all_out_of_bounds(notebook, at):
    """Return a line for each card of a notebook, whose place is `at`, with a value outside its bounds."""
    lines = []
    for cell in notebook.cells:
        place = f"{at}{points_to(cell)}"
        try:
            for card in cards(cell):
                lines += out_of_bounds(card, place)
        except ValueError as error:
            lines.append(f"{place}: {error}; repair the cell")
    return lines
