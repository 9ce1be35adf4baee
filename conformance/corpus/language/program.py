"""What can be known of a program's text without running it: names, steps, dependencies, counts."""

from __future__ import annotations

import ast
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from conformance.corpus.language.vocabulary import PLUMBING, RECORDED, ROOTS

Compound: TypeAlias = ast.With | ast.If | ast.For | ast.While

RECENT = 6_000
"""Cases of which what is derived is kept: the whole corpus, not all those of a run that is longer.

One that is smaller than the corpus keeps nothing for who goes through it twice.
"""
TREES = 2_000
"""Trees that are kept: a tree takes ten times the memory of its text."""

# ----- trees -----

_NO_CHILDREN = {"ctx", "op", "ops", "id", "attr", "name", "kind", "type_comment", "type_ignores"}
"""Fields that hold no part that a reader asks about: names, operators, contexts."""

_FIELDS: dict[type, tuple[str, ...]] = {ast.Constant: ()}
"""For each kind of part that was met, the fields that can hold parts."""


_PARSING = threading.Lock()
"""CPython counts the depth of all trees in the making in one place: two threads confuse it."""


@lru_cache(TREES)
def tree_of(text: str) -> ast.Module:
    """The tree of a program's text; kept for a while, since many ask, and changed by nobody.

    Errors: what `compile` raises.
    """
    return parsed(text)


def parsed(text: str) -> ast.Module:
    """The tree of a program's text, made anew: who asks may change it.

    Errors: what `compile` raises.
    """
    with _PARSING:
        tree = compile(text, "<case>", "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
    assert isinstance(tree, ast.Module)
    return tree


def children(part: ast.AST) -> list[ast.AST]:
    """The parts directly inside a part, in the order of the text; faster than `ast` finds them."""
    kind = type(part)
    if kind not in _FIELDS:
        _FIELDS[kind] = tuple(name for name in kind._fields if name not in _NO_CHILDREN)
    found: list[ast.AST] = []
    for name in _FIELDS[kind]:
        value = getattr(part, name, None)
        if isinstance(value, ast.AST):
            found.append(value)
        elif isinstance(value, list):
            found += [item for item in value if isinstance(item, ast.AST)]
    return found


def walk(*parts: ast.AST) -> list[ast.AST]:
    """These parts and every part inside them."""
    found = [*parts]
    for part in found:  # grows while it is walked
        found += children(part)
    return found


class Visitor:
    """Visits each part with the method `visit_Kind`, or what is inside it: `ast`'s, but faster."""

    def visit(self, part: ast.AST) -> None:
        """Visit a part with the method of its kind."""
        getattr(self, f"visit_{type(part).__name__}", self.generic_visit)(part)

    def generic_visit(self, node: ast.AST) -> None:
        """Visit the parts inside a part."""
        for child in children(node):
            self.visit(child)


def dotted_name(part: ast.AST) -> str | None:
    """`tf.math.sin` for the tree of `tf.math.sin`; None for anything but names and attributes."""
    if isinstance(part, ast.Name):
        return part.id
    if isinstance(part, ast.Attribute):
        before = dotted_name(part.value)
        return f"{before}.{part.attr}" if before else None
    return None


def blocks_of(statement: ast.stmt) -> list[ast.stmt]:
    """The statements inside a compound statement; none for a definition, a scope of its own."""
    if not isinstance(statement, Compound):
        return []
    return [*statement.body, *getattr(statement, "orelse", [])]


def statements_of(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Every statement of a scope: those of compound statements too, but of no definition."""
    for statement in body:
        yield statement
        yield from statements_of(blocks_of(statement))


def heads_of(statement: ast.stmt) -> list[ast.AST]:
    """What a compound statement evaluates itself, before its body; else the statement."""
    if isinstance(statement, ast.With):
        return list(statement.items)
    if isinstance(statement, ast.For):
        return [statement.target, statement.iter]
    if isinstance(statement, ast.If | ast.While):
        return [statement.test]
    return [statement]


def first_line(statement: ast.stmt) -> int:
    """The line on which a statement begins, its decorators included."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


# ----- names -----

NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Names:
    """The names that a part of a program reads, and those it binds and deletes in its scope.

    Reads inside nested functions count; what these bind is their own.
    """

    reads: frozenset[str]
    binds: tuple[str, ...]
    deletes: tuple[str, ...]


def names_of(part: ast.AST) -> Names:
    """The names of a part; kept with it, since many ask."""
    found: Names | None = getattr(part, "names_found", None)
    if found is None:
        found = _names_of(part)
        part.names_found = found  # type: ignore[attr-defined]
    return found


def _names_of(part: ast.AST) -> Names:
    if isinstance(part, Compound):
        return _joined([names_of(inside) for inside in (*heads_of(part), *blocks_of(part))])
    if isinstance(part, ast.Module):
        return _joined([names_of(statement) for statement in part.body])
    if isinstance(part, ast.FunctionDef | ast.ClassDef):
        inside = _joined([names_of(child) for child in children(part)])
        return Names(inside.reads, (part.name,), ())
    by_context: dict[type, dict[str, None]] = {ast.Load: {}, ast.Store: {}, ast.Del: {}}
    for child in walk(part):
        if isinstance(child, ast.Name):
            by_context[type(child.ctx)][child.id] = None
        elif isinstance(child, ast.AugAssign) and isinstance(child.target, ast.Name):
            by_context[ast.Load][child.target.id] = None
    reads, binds, deletes = by_context.values()
    return Names(frozenset((*reads, *deletes)), tuple(binds), tuple(deletes))


def _joined(parts: list[Names]) -> Names:
    return Names(
        NOTHING.union(*(names.reads for names in parts)),
        tuple(dict.fromkeys(name for names in parts for name in names.binds)),
        tuple(dict.fromkeys(name for names in parts for name in names.deletes)),
    )


def bound_by(part: ast.AST) -> tuple[str, ...]:
    """The names that a part binds in its own scope, in the order of the text."""
    return names_of(part).binds


def names_read(*parts: ast.AST) -> frozenset[str]:
    """Every name that these parts read, inside nested functions too."""
    return NOTHING.union(*(names_of(part).reads for part in parts))


def names_of_scope(*parts: ast.AST) -> frozenset[str]:
    """Every name that belongs to the scope of these parts: what they bind or delete anywhere."""
    found = map(names_of, parts)
    return NOTHING.union(*((*names.binds, *names.deletes) for names in found))


# ----- steps -----


@dataclass(frozen=True)
class Step:
    """One statement of a program that does something: its lines, and the names it touches."""

    label: str
    binds: tuple[str, ...]
    reads: frozenset[str]
    line: int
    end_line: int


def steps_of(body: list[ast.stmt]) -> list[Step]:
    """The steps of a program in order: simple statements, and the heads of compound ones."""
    steps: list[Step] = []
    for statement in body:
        if isinstance(statement, ast.Try) or _is_recorded(statement):
            steps += steps_of(statement.body)  # type: ignore[attr-defined]
            continue  # the lowering put it there: its body holds the steps
        heads = heads_of(statement)
        binds = _joined([names_of(head) for head in heads]).binds
        first, end = first_line(statement), statement.end_lineno or 1
        if isinstance(statement, Compound):
            end = first_line(statement.body[0]) - 1
        label = ", ".join(binds) or ast.unparse(heads[0]).split("\n")[0][:60]
        steps.append(Step(label, binds, names_read(*heads), first, max(end, first)))
        steps += steps_of(blocks_of(statement))
    return steps


def _is_recorded(statement: ast.stmt) -> bool:
    """Whether this is a function of the mode `call`."""
    return isinstance(statement, ast.FunctionDef) and statement.name in RECORDED


def dependencies(body: list[ast.stmt]) -> dict[str, frozenset[str]]:
    """For each name, the labels of the steps that its value can depend on.

    A step that calls a method of a name (`t.watch(x)`) changes it; everything inside
    `with ... as t` can change t; what a branch or a loop binds depends on its condition.
    """
    found: dict[str, frozenset[str]] = {}
    _add_dependencies(body, frozenset(), (), found)
    return found


def _add_dependencies(
    body: list[ast.stmt],
    heads: frozenset[str],
    tapes: tuple[str, ...],
    found: dict[str, frozenset[str]],
) -> None:
    for statement in body:
        step = steps_of([statement])[0]
        labels = frozenset({step.label}).union(
            heads, *(found.get(name, frozenset()) for name in step.reads)
        )
        for name in {*step.binds, *tapes, *_receivers(statement)}:
            found[name] = found.get(name, frozenset()) | labels
        own = step.binds if isinstance(statement, ast.With) else ()
        # A round of a loop depends on the one before.
        for _ in range(2 if isinstance(statement, ast.For | ast.While) else 1):
            _add_dependencies(blocks_of(statement), labels, (*tapes, *own), found)


def _receivers(statement: ast.stmt) -> set[str]:
    """The names whose methods a statement calls for their effect."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return set()
    dotted = dotted_name(statement.value.func)
    return {dotted.split(".")[0]} - set(ROOTS) if dotted and "." in dotted else set()


# ----- counts -----


@lru_cache(RECENT)
def count_operations(text: str) -> int:
    """How many tensor operations a program writes: operators, and calls into `tf`."""
    parts = walk(tree_of(text))
    operators = [part for part in parts if isinstance(part, ast.BinOp | ast.UnaryOp)]
    called = [dotted_name(part.func) or "" for part in parts if isinstance(part, ast.Call)]
    computing = [
        name for name in called if name.startswith("tf.") and not name.startswith(PLUMBING)
    ]
    return len(operators) + len(computing)


def has_control_flow(*trees: ast.AST) -> bool:
    """Whether AutoGraph has anything to convert."""
    kinds = (ast.If, ast.While, ast.For, ast.IfExp)
    return any(isinstance(part, kinds) for part in walk(*trees))


def names_of_framework(tree: ast.AST) -> frozenset[str]:
    """The names that a program asks of its target: `nn.relu` for `tf.nn.relu`."""
    dotted = (dotted_name(part) for part in walk(tree) if isinstance(part, ast.Attribute))
    return frozenset(name[3:] for name in dotted if name and name.startswith("tf."))
