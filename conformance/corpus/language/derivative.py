"""Forward programs: what a target is asked for so that a gradient is held against its derivative.

The program of `g = tape.gradient(y, x)` is the case's own up to that statement. It returns y and
what makes the upstream gradient, from inputs that the worker can displace. Floats in it are
float64, or float32 where a target has nothing wider.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from conformance.corpus.language.case import (
    Case,
    Expectation,
    ExpectedDerivative,
    ExpectedOracle,
    ExpectedStructure,
    Input,
    Nested,
)
from conformance.corpus.language.formula import rounded
from conformance.corpus.language.literals import NARROW, family, leaves
from conformance.corpus.language.lowering import construction, indented, parameters_of
from conformance.corpus.language.program import (
    RECENT,
    bound_by,
    dependencies,
    names_of_scope,
    names_read,
    statements_of,
    tree_of,
    walk,
)

ATTEMPTS = {
    "float64": {
        **dict.fromkeys(("float16", "half", "bfloat16", "float32"), "float64"),
        "complex64": "complex128",
    },
    "float32": {
        **dict.fromkeys(("float16", "half", "bfloat16", "float64"), "float32"),
        "complex128": "complex64",
    },
}
"""What floats are computed in, in the order in which it is tried, and what each dtype becomes."""
STEPS = {("float64", 1): 2e-3, ("float64", 2): 1e-2, ("float32", 1): 6e-2, ("float32", 2): 6e-2}
"""How far inputs are displaced first, by dtype and order; then by a half and a quarter of it."""
QUERIES = ("gradient", "jacobian", "batch_jacobian", "gradients", "hessians")
MAX_ELEMENTS = 200
"""Elements of all sources of a gradient: each is displaced six times."""
NAMED = re.compile(r"(?P<before>\b(?:tf|np)\.|['\"])(?P<dtype>[a-z]+\d*)(?=['\"]|\b)")


class NoDerivative(ValueError):
    """A name that no derivative can be asked for; the message says why."""


@dataclass(frozen=True)
class Forward:
    """The forward of a gradient: `attempts` are its texts and first steps, by dtype.

    `sources` is the answer that is due, with a derivative at each source; `targets` are the names
    that are differentiated, to the first or second `order`.
    """

    sources: Expectation
    targets: frozenset[str]
    attempts: Mapping[str, tuple[str, float]]
    parameters: tuple[str, ...]
    order: int

    @property
    def asked(self) -> dict[str, object]:
        """What a worker is asked."""
        attempts = [
            {"dtype": dtype, "source": text, "step": step}
            for dtype, (text, step) in self.attempts.items()
        ]
        return {"parameters": self.parameters, "attempts": attempts}


@lru_cache(RECENT)
def forwards_of(case: Case) -> Mapping[str, Forward]:
    """The forward of each name that a derivative is expected of in some mode."""
    declared = (case.expect, *case.expect_in.values())
    names = [name for given in declared for name, due in given.items() if has_derivative(due)]
    return {name: forward_of(case, name) for name in dict.fromkeys(names)}


@lru_cache(RECENT)
def hash_of(case: Case) -> str:
    """What identifies the forwards of a case: cases of one hash share their derivatives."""
    asked = {name: forward.asked for name, forward in forwards_of(case).items()}
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:16]


def oracle_differentiates(case: Case) -> bool:
    """Whether the derivatives of the oracle's forward are due.

    They are where a target's value is held against the oracle's: then both forwards are the same.
    """
    return any(isinstance(due, ExpectedOracle) for due in case.expect.values())


def has_derivative(expected: Expectation) -> bool:
    """Whether a derivative is expected, of the whole or of a part."""
    if isinstance(expected, ExpectedStructure):
        return any(map(has_derivative, expected.items))
    return isinstance(expected, ExpectedDerivative)


def resolved(expected: Expectation, sources: Expectation) -> Expectation:
    """An expectation with the derivative by each source in its place. Errors: NoDerivative."""
    if isinstance(expected, ExpectedDerivative):
        return sources
    if not isinstance(expected, ExpectedStructure) or not has_derivative(expected):
        return expected
    same = isinstance(sources, ExpectedStructure) and sources.kind == expected.kind
    if not (isinstance(sources, ExpectedStructure) and same) or (
        sorted(sources.keys) != sorted(expected.keys) or len(sources.items) != len(expected.items)
    ):
        raise NoDerivative("the sources of the gradient have another structure")
    own = dict(zip(sources.keys or range(len(sources.items)), sources.items, strict=True))
    parts = zip(expected.keys or own, expected.items, strict=True)
    return replace(expected, items=tuple(resolved(part, own[key]) for key, part in parts))


@lru_cache(RECENT)
def forward_of(case: Case, name: str) -> Forward:
    """The forward of the gradient that a program binds to a name. Errors: NoDerivative."""
    tree = tree_of(case.run)
    statement, query = _query(tree, name)
    target, sources, weights = (_argument(query, *place) for place in PLACES)
    if target is None or sources is None:
        raise NoDerivative("the query has no target or no sources")
    needed = dependencies(tree.body)
    used = names_read(target, *([weights] if weights else []))
    steps = frozenset[str]().union(*(needed.get(one, frozenset()) for one in used))
    earlier = [one for one in statements_of(tree.body) if one.lineno < statement.lineno]
    asking = [one for one in earlier if isinstance(one, ast.Assign) and _asks(one.value)]
    order = 2 if any(", ".join(bound_by(one)) in steps for one in asking) else 1
    rebound = names_of_scope(tree, tree_of(case.setup))
    inputs = {item.name: item for item in case.inputs if item.name not in rebound}
    due = _due(sources, inputs, order)
    moved = frozenset(part.id for part in walk(sources) if isinstance(part, ast.Name))
    if sum(len(leaves(inputs[one].value)) for one in moved) > MAX_ELEMENTS:
        raise NoDerivative(f"the sources have more than {MAX_ELEMENTS} elements")
    others = names_read(*(one for one in earlier if one not in asking))
    unused = [
        one
        for one in asking
        if ", ".join(bound_by(one)) not in steps and not others & {*bound_by(one)}
    ]
    body = _until(case.run, statement, unused)
    margin = body[-1][: len(body[-1]) - len(body[-1].lstrip())]
    body[-1] = f"{margin}return {ast.unparse(target)}, {'upstream' if weights else None}"
    if weights:
        bound_before = names_of_scope(tree_of(case.setup)) | {item.name for item in case.inputs}
        first = _first_of_weights(tree.body, statement, bound_before | names_read(target))
        made = [*body[first:-1], f"{margin}return {ast.unparse(weights)}"]
        body[first:-1] = [f"{margin}def upstream():", *indented(made)]
    parameters = parameters_of(case)
    attempts = {
        dtype: (_text(case, body, parameters, moved, dtype), STEPS[dtype, order])
        for dtype in ATTEMPTS
    }
    return Forward(due, names_read(target), attempts, parameters, order)


PLACES = ((0, "target"), (1, "sources"), (2, "output_gradients"))
"""The arguments of a query that a forward is made from."""


def _query(tree: ast.Module, name: str) -> tuple[ast.Assign, ast.Call]:
    """The only statement that binds the name: a query of a tape, under no condition."""
    binding = [one for one in statements_of(tree.body) if name in bound_by(one)]
    plain = [one for one in _unconditional(tree.body) if bound_by(one) == (name,)]
    for one in plain if len([b for b in binding if not isinstance(b, ast.With)]) == 1 else ():
        match one:
            case ast.Assign([ast.Name()], ast.Call(ast.Attribute(_, "gradient")) as query):
                return one, query
    raise NoDerivative(
        f"a derivative is expected of what one statement binds: {name} = tape.gradient(...)"
    )


def _unconditional(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        if isinstance(statement, ast.With):
            yield from _unconditional(statement.body)


def _asks(value: ast.expr) -> bool:
    called = (part.func for part in walk(value) if isinstance(part, ast.Call))
    return any(isinstance(one, ast.Attribute) and one.attr in QUERIES for one in called)


def _argument(call: ast.Call, position: int, keyword: str) -> ast.expr | None:
    named = [word.value for word in call.keywords if word.arg == keyword]
    given = named or call.args[position : position + 1]
    return given[0] if given else None


def _due(part: ast.expr, inputs: Mapping[str, Input], order: int) -> Expectation:
    """The structure of the answer: a derivative for each source, which is a float input."""
    if isinstance(part, ast.Name) and part.id in inputs:
        dtype = inputs[part.id].dtype
        if family(dtype) in ("float", "complex"):
            return ExpectedDerivative(part.id, dtype, order)
    if isinstance(part, ast.List | ast.Tuple):
        items = tuple(_due(one, inputs, order) for one in part.elts)
        return ExpectedStructure("list" if isinstance(part, ast.List) else "tuple", items)
    if isinstance(part, ast.Dict) and all(isinstance(key, ast.Constant) for key in part.keys):
        keys = tuple(str(ast.literal_eval(key)) for key in part.keys if key)
        return ExpectedStructure("dict", tuple(_due(p, inputs, order) for p in part.values), keys)
    source = ast.unparse(part)[:40]
    raise NoDerivative(f"the source {source} is no float input that the program leaves as it is")


def _until(run: str, statement: ast.stmt, unused: Collection[ast.stmt]) -> list[str]:
    """The lines of a program up to a statement, whose own margin is the last one."""
    lines = run.split("\n")[: statement.lineno]
    for one in unused:
        first, last = one.lineno - 1, one.end_lineno or one.lineno
        lines[first:last] = [f"{lines[first][: one.col_offset]}pass", *[""] * (last - first - 1)]
    return lines


def _first_of_weights(body: Sequence[ast.stmt], query: ast.stmt, taken: Collection[str]) -> int:
    """The place of the first of the lines before a query that make the upstream gradient alone.

    Such lines bind no name that is `taken`, or that other lines bind.
    """
    before = [*body[: body.index(query)]] if query in body else []
    moved: list[ast.stmt] = []
    while before and isinstance(before[-1], ast.Assign | ast.AugAssign):
        moved.insert(0, before.pop())
    while moved and names_of_scope(*moved) & {*taken, *names_of_scope(*before)}:
        before.append(moved.pop(0))
    return (moved or [query])[0].lineno - 1


def _complex(value: Nested) -> Nested:
    """The same numbers with imaginary parts, which the worker displaces too."""
    if isinstance(value, tuple):
        return tuple(map(_complex, value))
    return complex(value)


def _text(
    case: Case, body: list[str], parameters: tuple[str, ...], moved: Collection[str], dtype: str
) -> str:
    """The text of a forward in which floats are of a dtype."""
    wider = ATTEMPTS[dtype]

    def named(found: re.Match[str]) -> str:
        return found["before"] + wider.get(found["dtype"], found["dtype"])

    head = []
    for item in case.inputs:
        # so coarse a dtype that an input is the number that it is rounded to
        value = rounded(item.value, item.dtype) if item.dtype in NARROW else item.value
        value = _complex(value) if family(item.dtype) == "complex" else value
        given = replace(item, value=value, dtype=wider.get(item.dtype, item.dtype))
        written = f'displaced("{item.name}", {{}})' if item.name in moved else "{}"
        head.append(construction(given, written))
    setup = case.setup.rstrip().split("\n") if case.setup.strip() else []
    program = [f"def case({', '.join(parameters)}):", *indented(body)]
    return "\n".join([*head, *(NAMED.sub(named, line) for line in (*setup, *program))]) + "\n"
