"""Code in cells of a student's own: what the answers need of it is taken along, the rest is named in the note."""

import builtins

from nbformat.v4 import new_code_cell
from nbgrader.utils import is_grade, is_solution

from course import student_code
from course.handed_in_cells import grade_id, named

ID = "own-"  # how the ids of the cells begin that hold a student's own code


def is_own(cell):
    """Return whether a cell of a submitted notebook holds code of a student's own."""
    return str(cell.get("id")).startswith(ID)


def take_along(notebook, handed, released):
    """Put imports and definitions from a student's own cells into a notebook that has the answers; return phrases.

    Imports come behind the given ones, each in a cell of its own, so that one that fails keeps none of the others back.
    A definition comes before the first answer that needs it and would have no such name otherwise."""
    cells = [one for one in handed if one.is_own_code and one.answer is None]
    given = [cell for cell in released.cells if cell.cell_type == "code" and not is_solution(cell)]
    given_names = {name for cell in given for name in student_code.names_bound(cell.source)}
    imports, refused = imports_of(handed, given, given_names)
    definitions = [
        statement
        for one in cells
        for statement in student_code.statements(one.source)
        if statement.is_definition and not statement.binds & given_names
    ]
    known = set(dir(builtins)) | given_names | {name for statement in imports for name in statement.binds}
    taken = definitions_needed(notebook, definitions, known)
    put_definitions(notebook, taken)
    put_imports(notebook, imports)
    notes = []
    if imports:
        notes.append("imports of the student's own, taken along: " + "; ".join(one.source for one in imports))
    if refused:
        notes.append("imports of the student's own, left out: " + "; ".join(one.source for one in refused))
    for name, statements in taken.items():
        texts = [statement.source for statement in statements]
        notes += named(f"code of the student's own that answer {name} needs, taken along", texts)
    used = {id(statement) for statements in taken.values() for statement in statements}
    return notes + told_of_the_rest(cells, definitions, used)


def imports_of(handed, given, given_names):
    """Return the imports that a student added, anywhere but in an answer, and those that are not taken along.

    Left out is what gives another meaning to a name that the assignment gives, and what reaches for the checks."""
    given_imports = imports_in(given)
    known = {one.source for one in given_imports}
    reaches_for_checks = student_code.imported_beyond(given_imports)
    imports, refused = [], []
    for statement in imports_in([one for one in handed if one.answer is None and one.cell.get("cell_type") == "code"]):
        if statement.source in known:
            continue
        known.add(statement.source)
        replaces_given = bool(statement.binds & given_names) and not student_code.loads_a_part(statement)
        if replaces_given or reaches_for_checks(statement) or takes_all_of_helpers(statement):
            refused.append(statement)
        else:
            imports.append(statement)
    return imports, refused


def imports_in(cells):
    """Return the imports at the top of cells, one for each name."""
    statements = [statement for cell in cells for statement in student_code.statements(cell.source)]
    return [one for statement in statements if statement.is_import for one in student_code.single_imports(statement)]


def takes_all_of_helpers(statement):
    """Return whether an import takes everything out of a module of the course, also under given names."""
    modules = student_code.modules_of(statement)
    return any(module.startswith("helpers") and module.endswith(".*") for module in modules)


def definitions_needed(notebook, definitions, known):
    """Return answer's grade_id → the definitions that it and its definitions need, in the student's order."""
    answers = [cell for cell in notebook.cells if is_solution(cell) and cell.cell_type == "code"]
    known = known | {name for cell in answers for name in student_code.names_bound(cell.source)}
    last = {name: statement for statement in definitions for name in statement.binds}
    taken, used = {}, set()
    for cell in answers:
        waiting = sorted(student_code.names_needed(cell.source) - known)
        chosen = []
        while waiting:
            name = waiting.pop()
            statement = last.get(name)
            if statement is None or id(statement) in used:
                continue
            used.add(id(statement))
            chosen.append(statement)
            waiting += sorted(student_code.names_needed(statement.source) - known)
        if chosen:
            taken[grade_id(cell)] = [one for one in definitions if one in chosen]
    return taken


def put_definitions(notebook, taken):
    """Put definitions into cells before the answers that need them."""
    for name, statements in taken.items():
        position = next(n for n, cell in enumerate(notebook.cells) if grade_id(cell) == name)
        source = "\n\n".join(statement.source for statement in statements)
        notebook.cells.insert(position, new_code_cell(source, id=f"{ID}{name}"[:64]))


def put_imports(notebook, imports):
    """Put imports behind the last given code before the first answer."""
    position = 0
    for number, cell in enumerate(notebook.cells):
        if is_solution(cell) or is_own(cell):
            break
        if cell.cell_type == "code" and not is_grade(cell):
            position = number + 1
    cells = [new_code_cell(one.source, id=f"{ID}import-{number}") for number, one in enumerate(imports, start=1)]
    notebook.cells[position:position] = cells


def told_of_the_rest(cells, definitions, used):
    """Return phrases for code of a student's own that is not taken along."""
    wanted = {statement.source for statement in definitions if id(statement) in used}
    left = []
    for one in cells:
        statements = student_code.statements(one.source)
        rest = [statement for statement in statements if not statement.is_import and statement.source not in wanted]
        if len(rest) == len(statements):
            left.append(one.source)
        elif rest:
            left.append("\n".join(statement.source for statement in rest))
    return named("code of the student's own, left out", left)
