"""How what a student handed in becomes a notebook that nbgrader can grade.

The released notebook is the start. The student's answers are taken over, by the grade_id that nbgrader writes into a
cell's metadata, or by the cell's id where the metadata are gone. What the student wrote elsewhere is taken along where
it belongs to an answer, and named in the note where it does not: nothing disappears.
"""

import copy
from dataclasses import dataclass, field, replace
from itertools import groupby

from nbgrader.utils import is_grade, is_solution

import nbgrader_hooks
from course import own_code, student_code
from course.handed_in_cells import Handed, comparable, first_words, grade_id, ids_of, named, placed, read
from notebook_files import cell_sources, layout, reading

__all__ = ["answers_in", "assignment_of", "grade_id", "read", "suspicious", "take_over"]
LANGUAGES = {"en": "English", "de": "German", "sv": "Swedish"}


def assignment_of(cells, released):
    """Return the assignment that cells belong to: the one with most of their grade_ids, then of their texts.

    released is a dictionary assignment → notebook. Raises ValueError if none has an answer cell of them."""
    sources = {comparable(cell["source"]) for cell in cells}
    best = (0, 0, "")
    for assignment, notebook in released.items():
        known = ids_of(notebook)
        found = {grade_id(cell, known) for cell in cells}
        shared = len(found & {grade_id(cell) for cell in notebook.cells if is_solution(cell)})
        equal = sum(comparable(cell.source) in sources for cell in notebook.cells)
        if (shared, equal) > best[:2] and shared:
            best = (shared, equal, assignment)
    shared, _, assignment = best
    answers = sum(is_solution(cell) for cell in released[assignment].cells) if shared else 0
    if 2 * shared < answers or not answers:
        refuse_lesson(cells)
        refuse_without_marks(sources, released)
    if not answers:
        raise ValueError("not one of the course's assignments: it has none of their answer cells")
    if 2 * shared < answers:
        raise ValueError(f"only {shared} of the {answers} answer cells of {assignment}; is it another notebook?")
    return assignment


def refuse_lesson(cells, root=layout.ROOT):
    """Raise ValueError if cells are most of a lesson."""
    found = {cell.get("id") for cell in cells}
    for path in sorted((root / "notebooks" / "en").glob("*.ipynb")):
        known = set(cell_sources.ids(reading.read(path)))
        if 2 * len(found & known) > len(known):
            raise ValueError(f"this is the lesson {path.stem}, not its assignment: ask the student for the assignment")


def refuse_without_marks(sources, released):
    """Raise ValueError if texts are those of an assignment's cells: its checks are there, and only their marks are not.

    Without the marks nothing tells for certain which answer a cell holds, so the notebook is not guessed at."""
    for assignment, notebook in released.items():
        checks = [cell for cell in notebook.cells if is_grade(cell) and not is_solution(cell)]
        found = sum(comparable(cell.source) in sources for cell in checks)
        if checks and 2 * found >= len(checks):
            raise ValueError(
                f"this is the assignment {assignment.rpartition('-')[0]}, but a program has removed the marks that say "
                "which cell is which answer: ask the student to open the assignment anew in JupyterLab, to copy the "
                "answers into it and to hand that in"
            )


def is_blank(source, cell):
    """Return whether a source is no answer to a released answer cell: empty, or its stub in whatever language."""
    text = comparable(source)
    if text in ("", comparable(cell.source)):
        return True
    if cell.cell_type == "markdown":
        return text in nbgrader_hooks.TEXT_STUBS.values()
    return student_code.is_same_code(source, cell.source)


def adopt_own_cells(handed, released):
    """Let cells of a student's own belong to the answer that they stand at.

    Text above or below a written answer belongs to it. Code belongs to a code answer if it stands at it, before the
    answer's check, and binds what the answer is to bind and does not: it is blank or missing, or holds only a part."""
    answers = [cell for cell in released.cells if is_solution(cell)]
    complete = {grade_id(cell) for cell in answers if cell.cell_type == "code" and is_complete(handed, cell)}
    for position, one in enumerate(handed):
        if not one.is_own:
            continue
        above = next((other.given for other in reversed(handed[:position]) if not other.is_own), None)
        below = next((other.given for other in handed[position + 1 :] if not other.is_own), None)
        for cell in answers:
            name = grade_id(cell)
            before = released.cells[max(released.cells.index(cell) - 1, 0)]
            at_answer = above is cell or above is before
            if cell.cell_type == "markdown":
                stands_above = above is before and (below is cell or not_there(handed, cell))
                belongs = not one.is_own_code and (above is cell or stands_above)
            else:
                binds = student_code.names_bound(cell.source) & student_code.names_bound(one.source)
                belongs = one.is_own_code and at_answer and name not in complete and bool(binds)
            if belongs:
                one.answer = name
                break


def is_complete(handed, cell):
    """Return whether what was handed in as a code answer needs no code of the student's own beside it.

    That is so if it binds one of the names that the answer is to bind, or cannot be joined with other code."""
    filled = [one for one in handed if one.answer == grade_id(cell) and not is_blank(one.source, one.given)]
    wanted = student_code.names_bound(cell.source)
    bound = {name for one in filled for name in student_code.names_bound(one.source)}
    cannot_be_joined = any(not student_code.can_be_joined(one.source) for one in filled)
    return cannot_be_joined or bool(filled) and bool(wanted & bound or not wanted)


def adopt_definitions(handed, released):
    """Let definitions in cells of a student's own belong to the answer that was to hold them, wherever they stand.

    A check calls a name that its answer is to bind. If the answer does not, the student's last definition before the
    check is what the check would meet in the student's notebook. Return phrases on those that stand too late."""
    code = [cell for cell in released.cells if cell.cell_type == "code"]
    given_names = {name for cell in code if not is_solution(cell) for name in student_code.names_bound(cell.source)}
    notes = []
    for cell in code:
        if not is_solution(cell):
            continue
        is_there = any(one.answer == grade_id(cell) and comparable(one.source) for one in handed)
        answer = answer_of(handed, grade_id(cell), cell).source if is_there else ""
        bound = student_code.names_bound(answer)
        can_be_joined = student_code.can_be_joined(answer)
        for name in sorted(student_code.names_bound(cell.source) - bound - given_names):
            checks = [other for other in code if is_check_of(other, name)]
            there = last_definition(handed, checks, name) if can_be_joined else None
            if there is not None:
                put_beside(handed, *there, cell)
            elif any(one.is_own_code and one.answer is None and binds_anew(one.source, name) for one in handed):
                points = sum(check.metadata.nbgrader.points for check in checks)
                notes.append(
                    f"answer {grade_id(cell)} does not define {name}, on which {points_of(points)} depend; "
                    "a cell of the student's own that does so was left out: look at it"
                )
    return notes


def points_of(points):
    return f"{points:g} point" + ("" if points == 1 else "s")


def is_check_of(cell, name):
    """Return whether a released cell is a check that uses a name."""
    return is_grade(cell) and not is_solution(cell) and name in student_code.names_needed(cell.source)


def binds_anew(source, name):
    """Return whether code binds a name otherwise than by an import; imports are taken along anyway."""
    return any(name in one.binds and not one.is_import for one in student_code.statements(source))


def last_definition(handed, checks, name):
    """Return the student's own cell and the Statement in it that defines a name last before its first check, or None.

    A check that was deleted sets no limit."""
    places = [position for position, one in enumerate(handed) if any(one.given is check for check in checks)]
    before = handed[: min(places)] if places else handed
    for one in reversed(before):
        if not one.is_own_code or one.answer is not None:
            continue
        for statement in reversed(student_code.statements(one.source)):
            if statement.is_definition and name in statement.binds:
                return one, statement
    return None


def put_beside(handed, own, statement, cell):
    """Move a definition out of a student's own cell to the cells of an answer: above them if it stands above them."""
    answer = grade_id(cell)
    places = [position for position, one in enumerate(handed) if one.answer == answer]
    position = position_of(own, handed)
    rest = [one.source for one in student_code.statements(own.source) if one.source != statement.source]
    part = Handed(own.cell | {"source": statement.source}, None, answer)
    if not places:
        target = position + 1
    elif position < places[0]:
        target = places[0]
    else:
        target = places[-1] + 1
    handed.insert(target, part)
    if rest:
        own.cell = own.cell | {"source": "\n".join(rest)}
    else:
        del handed[position_of(own, handed)]


def position_of(own, handed):
    """Return the position of a cell among those that were handed in; an equal one is another cell."""
    return next(position for position, one in enumerate(handed) if one is own)


def not_there(handed, cell):
    """Return whether a released cell is missing from what was handed in."""
    return not any(one.given is cell for one in handed)


# the answers


@dataclass
class Answer:
    """What a student wrote for an answer: source, the cell type it had, pictures, and what is told of it."""

    source: str
    cell_type: str
    attachments: dict = field(default_factory=dict)
    notes: list = field(default_factory=list)


def take_over(cells, released):
    """Return the released notebook with what a student wrote, and what is to be told of it, one phrase each."""
    notebook = copy.deepcopy(released)
    handed = placed(cells, released)
    adopt_own_cells(handed, released)
    late = adopt_definitions(handed, released)
    language = other_language(handed, released)
    notes = [language] if language else []
    written = False
    for cell, given in zip(notebook.cells, released.cells):
        name = grade_id(given)
        there = [one for one in handed if one.given is given]
        if is_solution(given):
            answer = answer_of(handed, name, given)
            notes += answer.notes
            written = written or not is_blank(answer.source, given)
            put_answer(cell, answer, name)
        elif name:
            notes += told_of_given(there, given, name, compare=not language)
    notes += moved(handed, released)
    notes += late
    code_notes = own_code.take_along(notebook, handed, released)
    notes += code_notes
    notes += left_out_text(handed, compare=not language)
    if not written and not code_notes:
        notes.append("no answer was written")
    return notebook, notes


def put_answer(cell, answer, name):
    """Write an answer into its cell."""
    cell.source = answer.source.encode("utf8", "replace").decode("utf8")
    if cell.cell_type == "markdown" and answer.attachments:
        cell.attachments = answer.attachments


def answer_of(handed, name, given):
    """Return what a student wrote for an answer.

    Cells of one answer that stand together are halves of it, as a split leaves them, and are joined; of several that
    stand apart, which are copies, the last one that is not blank counts."""
    theirs = [one for one in handed if one.answer == name]
    if not theirs:
        return Answer(given.source, given.cell_type, notes=[f"answer {name} was missing and counts as blank"])
    groups = runs(handed, name)
    candidates = [joined([one for one in group if not is_blank(one.source, given)], given, name) for group in groups]
    candidates = [answer for answer in candidates if answer is not None]
    if not candidates:
        return Answer(given.source, given.cell_type)
    *earlier, counted = candidates
    dropped = [answer for answer in earlier if comparable(answer.source) != comparable(counted.source)]
    notes = list(counted.notes)
    if dropped:
        words = ", ".join(first_words(answer.source) for answer in dropped)
        notes.append(f"answer {name} was there {len(candidates)} times, the last one counts; dropped: {words}")
    if counted.cell_type != given.cell_type:
        notes.append(f"answer {name} was a {counted.cell_type} cell")
    return replace(counted, notes=notes)


def runs(handed, name):
    """Return the cells of an answer in groups that stand together, with nothing given between them."""
    relevant = [one for one in handed if one.answer == name or not one.is_own]
    return [list(group) for belongs, group in groupby(relevant, lambda one: one.answer == name) if belongs]


def joined(group, given, name):
    """Return the Answer that a group of cells makes, or None if it is empty."""
    parts = []
    for one in group:
        if comparable(one.source) not in [comparable(other.source) for other in parts]:
            parts.append(one)
    if not parts:
        return None
    notes = []
    if given.cell_type == "code":
        parts, dropped = without_copies(parts, given)
        source = join_code([one.source for one in parts])
        if dropped:
            words = ", ".join(first_words(one.source) for one in dropped)
            notes.append(f"answer {name} was there {len(dropped) + 1} times, the last one counts; dropped: {words}")
    else:
        source = "\n\n".join(one.source.strip("\n") for one in parts) if len(parts) > 1 else parts[0].source
    halves = [one for one in parts if not one.is_own]
    if len(halves) > 1:
        notes.append(f"answer {name} was in {len(halves)} cells, joined")
    for one in parts:
        if one.is_own:
            notes.append(f"answer {name} has what stood in a cell of the student's own: {first_words(one.source)}")
    attachments = {}
    for one in parts:
        pictures = one.cell.get("attachments")
        attachments |= pictures if isinstance(pictures, dict) else {}
    types = [one.cell.get("cell_type") for one in halves] or [given.cell_type]
    different = [kind for kind in types if kind != given.cell_type]
    return Answer(source, (different or types)[-1], attachments, notes)


def without_copies(parts, given):
    """Return the parts of a code answer without earlier copies of it, and those copies.

    A cell that binds once more what the answer is to bind is not the other half of the cell before it."""
    wanted = student_code.names_bound(given.source)
    current, dropped, bound = [], [], set()
    for one in parts:
        binds = student_code.names_bound(one.source) & wanted
        if binds & bound:
            dropped += current
            current, bound = [], set()
        current.append(one)
        bound |= binds
    return current, dropped


def join_code(sources):
    """Return the parts of a split cell as one, with a blank line between, unless it was split within a line."""
    if len(sources) == 1:
        return sources[0]
    for between in ("\n\n", "\n", ""):
        text = between.join(sources)
        if student_code.python_of(text) is not None:
            return text
    return "\n\n".join(sources)


# what is told of the rest


def answers_in(notebook):
    """Return what a student wrote in a notebook as `take_over` returns it, to be compared."""
    theirs = [cell for cell in notebook.cells if is_solution(cell) or own_code.is_own(cell)]
    return [(grade_id(cell), comparable(cell.source), cell.get("attachments") or {}) for cell in theirs]


def told_of_given(there, given, name, compare):
    """Return phrases for what happened to a given cell. compare: whether its text is in the course's language."""
    if not there:
        return [f"cell {name} was missing and is back"]
    notes = []
    if len(there) > 1:
        notes.append(f"cell {name} was there {len(there)} times")
    if not compare:
        return notes
    changed = [one for one in there if not is_as_given(one.source, given)]
    if changed:
        words = ", ".join(filter(None, (first_words(added(one.source, given.source)) for one in changed)))
        notes.append(f"cell {name} was changed and is as it was" + (f"; it said {words}" if words else ""))
    return notes


def is_as_given(source, given):
    """Return whether a given cell is as it was, or has more imports, which are told of elsewhere."""
    lines = [line for line in comparable(source).split("\n") if line.strip()]
    known = [line for line in comparable(given.source).split("\n") if line.strip()]
    if given.cell_type == "code":
        lines = [line for line in lines if line in known or not is_import(line)]
    return lines == known


def added(source, given):
    """Return the lines of a source that are not in the given one; imports are told of elsewhere."""
    known = {line.strip() for line in comparable(given).split("\n")}
    lines = [line for line in comparable(source).split("\n") if line.strip() and line.strip() not in known]
    return "\n".join(line for line in lines if not is_import(line))


def is_import(line):
    found = student_code.statements(line.strip())
    return bool(found) and all(statement.is_import for statement in found)


def moved(handed, released):
    """Return a phrase if the cells with a grade_id are not in the released order."""
    order = [grade_id(cell) for cell in released.cells if grade_id(cell)]
    found = dict.fromkeys(grade_id(one.given) for one in handed if not one.is_own)
    positions = [order.index(name) for name in found if name]
    return [] if positions == sorted(positions) else ["cells were in another order"]


def left_out_text(handed, compare):
    """Return phrases for text that belongs to no answer: in cells of the student's own, and in given ones."""
    texts = [one.source for one in handed if one.is_own and one.answer is None and not one.is_own_code]
    for one in handed:
        is_plain = not one.is_own and grade_id(one.given) is None and one.given.get("id") not in layout.BARS
        if compare and is_plain and one.cell.get("cell_type") != "code":
            texts.append(added(one.source, one.given.source))
    return named("text of the student's own that belongs to no answer, left out", [text for text in texts if text])


def other_language(handed, released):
    """Return a phrase if the notebook was handed in in a language that the course does not have, else "".

    Then its tasks are not those of the released notebook, word by word, although nobody changed them."""
    texts = [one for one in handed if one.given is not None and one.answer is None]
    texts = [one for one in texts if one.given.cell_type == "markdown" and one.given.get("id") not in layout.BARS]
    as_given = sum(comparable(one.given.source) in comparable(one.source) for one in texts)  # more may stand there
    if not texts or 2 * as_given >= len(texts):
        return ""
    code = "\n".join(one.source for one in handed if not one.is_own)
    for language, word in LANGUAGES.items():
        setting = f'language.use("{language}")'
        if setting in code and not any(setting in cell.source for cell in released.cells):
            return f"handed in in {word}, in which this course has no assignment"
    return "handed in in another language or version of the assignment"


def suspicious(notebook):
    """Return a sentence for each cell of a student's code that names what no answer needs.

    These are the ways to the numbers that a check compares with: _TASKS, __code__, _getframe, sys.modules, mock, and
    the modules of the checks beyond the import that is given. The points stay the teacher's decision.
    notebook: as `take_over` returns it."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    theirs = [cell for cell in code if is_solution(cell) or own_code.is_own(cell)]
    given = [statement for cell in code if cell not in theirs for statement in student_code.statements(cell.source)]
    sentences = []
    for cell in theirs:
        names = student_code.suspicious_names(cell.source, given)
        if names:
            where = f"answer {grade_id(cell)}" if is_solution(cell) else "code of the student's own"
            sentences.append(f"{where} names {', '.join(names)}, which no answer needs: look at it")
    return sentences
