"""What can be known of a checked program without running it: steps, dependencies, counts."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from conformance.corpus.language.vocabulary import PLUMBING, RECORDED, ROOTS


@dataclass(frozen=True)
class Step:
    """One statement of a program that does something: its line, and the names it touches."""

    label: str
    binds: tuple[str, ...]
    reads: frozenset[str]
    line: int
    end_line: int


def dotted_name(part: ast.AST) -> str | None:
    """`tf.math.sin` for the tree of `tf.math.sin`; None for anything but names and attributes."""
    if isinstance(part, ast.Name):
        return part.id
    if isinstance(part, ast.Attribute):
        before = dotted_name(part.value)
        return f"{before}.{part.attr}" if before else None
    return None


def bound_by(statement: ast.AST) -> tuple[str, ...]:
    """The names that a statement binds in its own scope (not inside a def, class or lambda)."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return (statement.name,)
    return tuple(dict.fromkeys(_names_in(statement, ast.Store)))


def deleted_by(statement: ast.AST) -> tuple[str, ...]:
    """The names that a statement deletes in its own scope."""
    return tuple(dict.fromkeys(_names_in(statement, ast.Del)))


def names_of_scope(body: list[ast.stmt]) -> frozenset[str]:
    """Every name that belongs to the scope of a body: what it binds or deletes anywhere."""
    return frozenset(
        name for statement in body for name in (*bound_by(statement), *deleted_by(statement))
    )


def _names_in(part: ast.AST, context: type[ast.expr_context]) -> Iterator[str]:
    if isinstance(part, ast.FunctionDef | ast.ClassDef):
        if context is ast.Store:
            yield part.name
    elif isinstance(part, ast.Name):
        if isinstance(part.ctx, context):
            yield part.id
    elif not isinstance(part, ast.Lambda):
        for child in ast.iter_child_nodes(part):
            yield from _names_in(child, context)


def heads_of(statement: ast.stmt) -> list[ast.AST]:
    """What a compound statement evaluates itself, before its body."""
    if isinstance(statement, ast.With):
        return list(statement.items)
    if isinstance(statement, ast.For):
        return [statement.target, statement.iter]
    if isinstance(statement, ast.If | ast.While):
        return [statement.test]
    return [statement]


def names_read(part: ast.AST) -> frozenset[str]:
    """Every name that a tree reads, inside nested functions too."""
    return frozenset(
        child.id
        for child in ast.walk(part)
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load | ast.Del)
    ) | frozenset(
        part.target.id
        for part in ast.walk(part)
        if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name)
    )


def steps_of(body: list[ast.stmt]) -> list[Step]:
    """The steps of a program in order: simple statements, and the heads of compound ones."""
    steps: list[Step] = []
    for statement in body:
        if isinstance(statement, ast.Try) or _is_recorded(statement):
            steps += steps_of(statement.body)  # type: ignore[attr-defined]
            continue  # the lowering put it there: its body holds the steps
        heads = heads_of(statement)
        binds = (
            bound_by(statement)
            if heads == [statement]
            else tuple(name for head in heads for name in bound_by(head))
        )
        reads = frozenset[str]().union(*(names_read(head) for head in heads))
        compound = isinstance(statement, ast.With | ast.For | ast.While | ast.If)
        end = first_line(statement.body[0]) - 1 if compound else statement.end_lineno  # type: ignore
        first = first_line(statement)
        label = ", ".join(binds) or ast.unparse(heads[0]).split("\n")[0][:60]
        steps.append(Step(label, binds, reads, first, max(end or first, first)))
        if compound:
            steps += steps_of(statement.body)  # type: ignore[attr-defined]
            steps += steps_of(getattr(statement, "orelse", []))
    return steps


def _is_recorded(statement: ast.stmt) -> bool:
    """Whether this is a function of the mode `call`."""
    return isinstance(statement, ast.FunctionDef) and statement.name in RECORDED


def first_line(statement: ast.stmt) -> int:
    """The line on which a statement begins, its decorators included."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


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
        if isinstance(statement, ast.With):
            own = tuple(name for item in statement.items for name in bound_by(item))
            _add_dependencies(statement.body, labels, (*tapes, *own), found)
        elif isinstance(statement, ast.For | ast.While | ast.If):
            rounds = 1 if isinstance(statement, ast.If) else 2  # a round depends on the one before
            for _ in range(rounds):
                inside = [*statement.body, *statement.orelse]
                _add_dependencies(inside, labels, tapes, found)


def _receivers(statement: ast.stmt) -> set[str]:
    """The names whose methods a statement calls for their effect."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return set()
    dotted = dotted_name(statement.value.func)
    return {dotted.split(".")[0]} - set(ROOTS) if dotted and "." in dotted else set()


def count_operations(tree: ast.AST) -> int:
    """How many tensor operations the text writes: operators, and calls into `tf`."""
    operators = [part for part in ast.walk(tree) if isinstance(part, ast.BinOp | ast.UnaryOp)]
    called = [dotted_name(part.func) or "" for part in ast.walk(tree) if isinstance(part, ast.Call)]
    computing = [
        name for name in called if name.startswith("tf.") and not name.startswith(PLUMBING)
    ]
    return len(operators) + len(computing)


def has_control_flow(tree: ast.AST) -> bool:
    """Whether AutoGraph has anything to convert."""
    kinds = ast.If | ast.While | ast.For | ast.IfExp
    return any(isinstance(part, kinds) for part in ast.walk(tree))


def names_of_framework(tree: ast.AST) -> frozenset[str]:
    """The names that a program asks of its target: `nn.relu` for `tf.nn.relu`."""
    dotted = (dotted_name(part) for part in ast.walk(tree) if isinstance(part, ast.Attribute))
    return frozenset(name[3:] for name in dotted if name and name.startswith("tf."))
