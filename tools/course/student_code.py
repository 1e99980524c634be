"""What a student's Python says: the names that it binds and needs, its imports, and what in it looks like a trick.

The code is read, never run. Lines of IPython's own, such as %timeit or !pip, are turned into Python first."""

import ast
import re
import symtable
from dataclasses import dataclass

from IPython.core.inputtransformer2 import TransformerManager

CHECKING = "helpers.activities"  # the package that holds the checks and what they compare with
SUSPICIOUS = (  # names by which code can reach what it is compared with
    "_TASKS", "__code__", "__closure__", "__globals__", "f_globals", "f_locals", "_getframe", "currentframe",
)  # fmt: skip
IN_STRINGS = re.compile(
    r"_TASKS|__code__|__closure__|__globals__|_getframe|currentframe|sys\.modules|unittest\.mock|"
    r"^mock$|^modules$|helpers\.activities"
)
IN_BROKEN_CODE = re.compile(
    r"_TASKS|__code__|__closure__|__globals__|_getframe|currentframe|sys\.modules|\bmock\b|helpers\.activities"
)


def python_of(source):
    """Return a cell's source as plain Python, or None if it is none."""
    try:
        text = TransformerManager().transform_cell(source)
        ast.parse(text)
        symtable.symtable(text, "cell", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return text


@dataclass(frozen=True)
class Statement:
    """A statement at the top of a cell: its source, and the names that it binds."""

    node: ast.stmt
    source: str
    binds: frozenset

    @property
    def is_import(self):
        return isinstance(self.node, ast.Import | ast.ImportFrom)

    @property
    def is_definition(self):
        return isinstance(self.node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign)


def statements(source):
    """Return the Statements of a cell; none for what is no Python."""
    text = python_of(source)
    if text is None:
        return []
    return [Statement(node, segment(text, node), frozenset(bound_by(node))) for node in ast.parse(text).body]


def segment(text, node):
    """Return the source of a statement, with its decorators."""
    source = ast.get_source_segment(text, node)
    decorators = getattr(node, "decorator_list", [])
    above = [f"@{ast.get_source_segment(text, decorator)}" for decorator in decorators]
    return "\n".join([*above, source])


def bound_by(node):
    """Return the names that a statement binds where it stands."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}


def names_bound(source):
    """Return the names that a cell binds for the cells after it."""
    return {name for statement in statements(source) for name in statement.binds}


def names_needed(source):
    """Return the names that a cell uses and does not bind itself; none for what is no Python."""
    text = python_of(source)
    if text is None:
        return set()
    top = symtable.symtable(text, "cell", "exec")
    needed = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_referenced()}
    waiting = list(top.get_children())
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        needed |= {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global() and symbol.is_referenced()}
    return needed - names_bound(source)


def is_same_code(first, second):
    """Return whether two cells hold the same code, comments and spaces aside."""
    texts = [python_of(source) for source in (first, second)]
    if None in texts:
        return False
    return ast.dump(ast.parse(texts[0])) == ast.dump(ast.parse(texts[1]))


def can_be_joined(source):
    """Return whether other code can stand in one cell with this: it is Python, and no %%magic has the whole cell."""
    return python_of(source) is not None and not source.lstrip().startswith("%%")


def modules_of(statement):
    """Return the modules that an import names: "helpers.norms" for `from helpers import norms` as well."""
    node = statement.node
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    module = node.module or ""
    return [module, *(f"{module}.{alias.name}" for alias in node.names)]


def single_imports(statement):
    """Return an import as one Statement for each name that it imports."""
    found = []
    for alias in statement.node.names:
        node = ast.Import([alias])
        if isinstance(statement.node, ast.ImportFrom):
            node = ast.ImportFrom(statement.node.module, [alias], statement.node.level)
        found.append(Statement(node, ast.unparse(node), frozenset(bound_by(node))))
    return found


def loads_a_part(statement):
    """Return whether an import loads a part of a package under the package's own name, as `import torch.nn` does."""
    return isinstance(statement.node, ast.Import) and all(alias.asname is None for alias in statement.node.names)


def is_of_the_checks(module):
    """Return whether a module holds the checks, or is below one that does."""
    return module == CHECKING or module.startswith(f"{CHECKING}.")


def imported_beyond(given):
    """Return a function that tells whether an import reaches for the checks in a way that no given one does.

    given: the given imports, as `single_imports` returns them."""
    allowed = {statement.source for statement in given}

    def reaches(statement):
        return statement.source not in allowed and any(map(is_of_the_checks, modules_of(statement)))

    return reaches


def suspicious_names(source, given):
    """Return what a cell names that an answer has no need of, sorted: _TASKS, __code__, sys.modules, mock …

    given: the Statements of the cells that students are given; their imports are not suspicious."""
    text = python_of(source)
    if text is not None:
        try:
            return suspicious_in(ast.parse(text), {ast.dump(one.node) for one in given if one.is_import})
        except RecursionError:  # nested deeper than Python follows
            pass
    return sorted(set(IN_BROKEN_CODE.findall(source)))


def suspicious_in(tree, allowed):
    """Return what is suspicious in a parsed cell. allowed: imports that are not, as ast.dump writes them."""
    of_sys = {"sys"}  # the names that mean the module sys
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            of_sys |= {alias.asname for alias in node.names if alias.name == "sys" and alias.asname}
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom) and ast.dump(node) not in allowed:
            found |= suspicious_imports(node)
        elif isinstance(node, ast.Name) and node.id in (*SUSPICIOUS, "mock"):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found |= suspicious_attribute(node, of_sys)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= set(IN_STRINGS.findall(node.value))
    return sorted(found)


def suspicious_imports(node):
    """Return what in an import is suspicious."""
    found = set()
    for module in modules_of(Statement(node, "", frozenset())):
        if is_of_the_checks(module):
            found.add(CHECKING)
        if module == "mock" or module.startswith(("unittest.mock", "mock.")):
            found.add("mock")
        if module == "sys.modules":
            found.add(module)
    names = {alias.name for alias in node.names}
    return found | names & set(SUSPICIOUS)


def suspicious_attribute(node, of_sys):
    """Return what in an attribute is suspicious. of_sys: the names that mean the module sys."""
    if node.attr in (*SUSPICIOUS, "mock"):
        return {node.attr}
    if node.attr == "modules" and isinstance(node.value, ast.Name) and node.value.id in of_sys:
        return {"sys.modules"}
    module = node.value.id if isinstance(node.value, ast.Name) else ""
    dotted = f"{module}.{node.attr}"
    return {dotted} if dotted in CHECKING else set()
