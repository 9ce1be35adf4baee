"""The mode `call`: the tape stays eager, and what it records runs in functions called under it.

Maximal runs of plain statements inside an outermost tape's block become the body of a tf.function
that returns exactly the names that are read later or observed: one more output would change
answers, because a function with several outputs gives zeros where one with one output gives None.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from conformance.corpus.language.program import (
    blocks_of,
    bound_by,
    children,
    dotted_name,
    first_line,
    has_control_flow,
    names_of_scope,
    names_read,
    statements_of,
    tree_of,
    walk,
)
from conformance.corpus.language.vocabulary import RECORDED, TAPE

WRAPPERS = ("tf.function", "tf.custom_gradient", "tf.recompute_grad", "tf.grad_pass_through")
EAGER_NAMES = frozenset({"np", "alive"})
"""What is read of these happens outside any function."""


@dataclass(frozen=True)
class CallProgram:
    """A program rewritten for the mode `call`; `obstacle` says why its answers are not eager's.

    A program with an obstacle is judged in this mode only where it declares what it expects there.
    """

    text: str
    obstacle: str = ""


@dataclass(frozen=True)
class Function:
    """Statements that become one function: what it takes, and what it returns."""

    statements: list[ast.stmt]
    takes: list[str]
    returns: list[str]

    @property
    def binds(self) -> frozenset[str]:
        """Every name that the statements bind."""
        return names_of_scope(*self.statements)


def call_program(
    text: str, tensors: Sequence[str], observed: Sequence[str], guarded: Sequence[str]
) -> CallProgram:
    """The program of `text` for the mode `call`.

    `tensors` are the inputs that are passed to functions (variables are closed over), `guarded`
    the names whose binding may fail: those statements stay outside, each in its own guard.
    """
    tree = tree_of(text)
    blocks = list(_outermost_tapes(tree.body))
    if not blocks:
        return CallProgram(text, "the program records nothing on a tape")
    groups = [group for block in blocks for group in _groups(block, frozenset(guarded))]
    if not groups:
        return CallProgram(text, "nothing that a tape records can stand in a function")
    if len(groups) > len(RECORDED):
        return CallProgram(text, f"more than {len(RECORDED)} functions")
    reads = list(_own_reads(tree, frozenset()))
    functions = []
    for group in groups:
        inside = {id(part) for part in walk(*group)}
        needed = {part.id for part in reads if id(part) not in inside} | {*observed}
        values = {*tensors} | _values_bound_before(tree, group[0])
        bound = dict.fromkeys(name for statement in group for name in bound_by(statement))
        returns = [name for name in bound if name in needed]
        functions.append(Function(group, sorted(names_read(*group) & values), returns))
    obstacle = _inner_tape(functions) or _source_inside(functions, blocks, tree)
    autograph = "" if has_control_flow(tree) else "(autograph=False)"
    return CallProgram(_rewritten(text, functions, autograph), obstacle)


def _outermost_tapes(body: Sequence[ast.stmt]) -> Iterator[ast.With]:
    for statement in body:
        if isinstance(statement, ast.With) and _tapes_of(statement):
            yield statement
        else:
            yield from _outermost_tapes(blocks_of(statement))


def _tapes_of(block: ast.With) -> frozenset[str]:
    """The names of the tapes that a `with` opens."""
    return frozenset(
        name
        for item in block.items
        if isinstance(item.context_expr, ast.Call)
        and dotted_name(item.context_expr.func) == TAPE
        and item.optional_vars
        for name in bound_by(item.optional_vars)
    )


def _groups(block: ast.With, guarded: frozenset[str]) -> list[list[ast.stmt]]:
    """The maximal runs of a block's statements that can stand in a function."""
    tapes = _tapes_of(block)
    groups: list[list[ast.stmt]] = [[]]
    for statement in block.body:
        if _stays_eager(statement, tapes, guarded):
            groups.append([])
            opened = (part for part in walk(statement) if isinstance(part, ast.With))
            tapes = tapes.union(*map(_tapes_of, opened))
        else:
            groups[-1].append(statement)
    return [group for group in groups if group]


def _stays_eager(statement: ast.stmt, tapes: frozenset[str], guarded: frozenset[str]) -> bool:
    """Whether a statement cannot stand in a function, or must be seen by the tape itself."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.Delete | ast.Return | ast.Pass):
        return True
    if names_read(statement) & (tapes | EAGER_NAMES) or set(bound_by(statement)) & guarded:
        return True
    return any(_is_eager_value(part) for part in walk(statement))


def _is_eager_value(part: ast.AST) -> bool:
    """A value that no function can return, or an attribute that only an eager tensor has."""
    if isinstance(part, ast.Attribute):
        return part.attr == "numpy" and dotted_name(part) != "tf.experimental.numpy"
    if isinstance(part, ast.Assign):
        value = part.value
        wraps = isinstance(value, ast.Call) and dotted_name(value.func) in WRAPPERS
        return wraps or isinstance(value, ast.Lambda)
    return False


def _values_bound_before(tree: ast.Module, until: ast.stmt) -> frozenset[str]:
    """The names that a statement of the case's own scope before `until` binds to a value."""
    found: set[str] = set()
    for part in statements_of(tree.body):
        if part.lineno < until.lineno and not _is_eager_value(part):
            if isinstance(part, ast.Assign | ast.AugAssign):
                found |= set(bound_by(part))
            elif isinstance(part, ast.For):
                found |= set(bound_by(part.target))
    return frozenset(found)


def _own_reads(part: ast.AST, hidden: frozenset[str]) -> Iterator[ast.Name]:
    """Where names of the case's own scope are read, nested definitions included.

    `hidden` are the names that an enclosing definition binds for itself.
    """
    if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load | ast.Del):
        if part.id not in hidden:
            yield part
    elif isinstance(part, ast.FunctionDef | ast.Lambda):
        body: list[ast.stmt] = part.body if isinstance(part.body, list) else [ast.Expr(part.body)]
        parameters = {a.arg for a in walk(part.args) if isinstance(a, ast.arg)}
        for child in children(part):
            within = child in body or isinstance(part, ast.Lambda)
            own = parameters | names_of_scope(*body) if within else frozenset()
            yield from _own_reads(child, hidden | own)
    else:
        for child in children(part):
            yield from _own_reads(child, hidden)


def _inner_tape(functions: Sequence[Function]) -> str:
    for function in functions:
        for part in walk(*function.statements):
            opened = _tapes_of(part) if isinstance(part, ast.With) else frozenset()
            if kept := sorted(opened & {*function.returns}):
                return f"the tape {kept[0]} is used after the function that opens it"
    return ""


def _source_inside(
    functions: Sequence[Function], blocks: Sequence[ast.With], tree: ast.Module
) -> str:
    """A source that is computed in the function that computes its target is no source outside."""
    tapes = frozenset[str]().union(*(_tapes_of(block) for block in blocks))
    for part in walk(tree):
        if not isinstance(part, ast.Call) or not isinstance(part.func, ast.Attribute):
            continue
        if dotted_name(part.func.value) not in tapes or "watch" in part.func.attr:
            continue
        target, sources = (_argument(part, *place) for place in ((0, "target"), (1, "sources")))
        for function in functions:
            inside = sorted(sources & function.binds)
            is_itself = len(target) == 1 and sources == target
            if inside and target & function.binds and not is_itself:
                return f"the source {inside[0]} is computed inside the function that is recorded"
    return ""


def _argument(call: ast.Call, position: int, keyword: str) -> frozenset[str]:
    named = [word.value for word in call.keywords if word.arg in (keyword, keyword[:-1])]
    given = named or call.args[position : position + 1]
    return names_read(given[0]) if given else frozenset()


def _rewritten(text: str, functions: Sequence[Function], autograph: str) -> str:
    lines = text.rstrip().split("\n")
    for number, function in reversed(list(enumerate(functions, 1))):
        first = first_line(function.statements[0]) - 1
        last = function.statements[-1].end_lineno or len(lines)
        margin = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
        returned = ", ".join(function.returns)
        call = f"{RECORDED[number - 1]}({', '.join(function.takes)})"
        block = [f"{margin}@tf.function{autograph}", f"{margin}def {call}:"]
        block += [f"    {line}" for line in lines[first:last]]
        block += [f"{margin}    return {returned}"] if returned else []
        block += [f"{margin}{returned} = {call}" if returned else f"{margin}{call}"]
        lines[first:last] = block
    return "\n".join(lines) + "\n"
