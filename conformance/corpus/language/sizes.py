"""Bounds that can be read off a program: powers, repetitions, loops and sizes of arrays.

They keep a mistaken literal from costing a worker its memory; what only running shows is bounded
by the worker's time limit.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from typing import Any

from conformance.corpus.language.program import children, dotted_name
from conformance.corpus.language.vocabulary import LOOP_OPTIONS, ROOTS

MAX_POWER = 64
MAX_LOOP = 1_000
MAX_SIZE = 1_000_000
LARGEST = 2**63

SIZE_KEYWORDS = ("shape", "dims", "multiples", "size", "num", "depth", "repeats", "maxlen")
SIZE_POSITIONS: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("zeros", "ones", "empty", "full", "fill", "identity"), (0,)),
    **dict.fromkeys(("broadcast_to", "tile", "repeat", "one_hot", "sequence_mask"), (1,)),
    **dict.fromkeys(("eye", "random.rand", "random.randn"), (0, 1)),
    **dict.fromkeys(("random.uniform", "random.normal", "random.truncated_normal"), (0,)),
    **dict.fromkeys(("random.stateless_uniform", "random.stateless_normal"), (0,)),
    "linspace": (2,),
}
"""For functions of tf and np, the positional arguments whose numbers multiply to a size."""
RANGES = ("range", "arange")
SIZED = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.Call)
"""The parts of a tree that can be too large."""

_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
}


TOO_LARGE = "beyond 64 bits"
Literal = int | float | str | None
"""The value of a literal number or of arithmetic on them, TOO_LARGE, or None for anything else."""


def literal_number(part: ast.AST) -> int | float | None:
    """The number that a part was found to be; None for anything else."""
    found = _noted(part)
    return None if isinstance(found, str) else found


def _noted(part: ast.AST) -> Literal:
    found: Literal = getattr(part, "literal", None)
    return found


def size_faults(part: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """What is too large about this one part of a tree; its children were asked before it."""
    too_large_inside = any(_noted(child) == TOO_LARGE for child in children(part))
    if not isinstance(part, ast.Call):
        part.literal = TOO_LARGE if too_large_inside else _value(part)  # type: ignore[attr-defined]
    if too_large_inside:
        return
    if _noted(part) == TOO_LARGE:
        yield part, "a number beyond 64 bits"
    if isinstance(part, ast.BinOp):
        yield from _of_operator(part)
    elif isinstance(part, ast.Call):
        yield from _of_call(part)


def _value(part: ast.AST) -> Literal:
    if isinstance(part, ast.Constant):
        return _bounded(part.value) if type(part.value) in (int, float) else None  # type: ignore[arg-type]
    if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub | ast.UAdd):
        number = literal_number(part.operand)
        return number if number is None or isinstance(part.op, ast.UAdd) else -number
    if isinstance(part, ast.BinOp) and type(part.op) in _OPERATORS:
        left, right = literal_number(part.left), literal_number(part.right)
        return None if left is None or right is None else _combined(part.op, left, right)
    return None


def _combined(op: ast.operator, left: int | float, right: int | float) -> Literal:
    growing = isinstance(op, ast.Pow | ast.LShift)
    if growing and isinstance(left, int) and abs(left) > 1 and right > MAX_POWER:
        return TOO_LARGE  # told before it is computed
    try:
        result = _OPERATORS[type(op)](left, right)
    except OverflowError:
        return TOO_LARGE
    except (ArithmeticError, TypeError, ValueError):
        return None  # such as 1 / 0: the program's own affair
    return _bounded(result) if isinstance(result, int | float) else None


def _bounded(number: int | float) -> Literal:
    return TOO_LARGE if isinstance(number, int) and abs(number) >= LARGEST else number


def _of_operator(part: ast.BinOp) -> Iterator[tuple[ast.AST, str]]:
    if isinstance(part.op, ast.Pow | ast.LShift):
        power = literal_number(part.right)
        if power is not None and abs(power) > MAX_POWER:
            yield part, f"a power above {MAX_POWER}"
    if isinstance(part.op, ast.Mult):
        for side, other in ((part.left, part.right), (part.right, part.left)):
            text = isinstance(side, ast.Constant) and isinstance(side.value, str)
            listed = isinstance(side, ast.List | ast.Tuple)
            if text or (listed and isinstance(literal_number(other), int)):
                yield part, "repeating a literal: write it out, or use tf.fill"


def _of_call(part: ast.Call) -> Iterator[tuple[ast.AST, str]]:
    name = dotted_name(part.func) or ""
    root, _, function = name.partition(".")
    if name == "range":
        yield from _of_range(part)
    elif name == LOOP_OPTIONS:
        yield from _of_loop_options(part)
    elif root in ROOTS and _elements(part, function) > MAX_SIZE:
        yield part, f"an array of more than {MAX_SIZE:,} elements"


def _of_range(part: ast.Call) -> Iterator[tuple[ast.AST, str]]:
    for argument in part.args:
        number = literal_number(argument)
        if number is None and not isinstance(argument, ast.Name | ast.Call):
            yield argument, "range takes numbers or names here"
        elif number is not None and (not isinstance(number, int) or abs(number) > MAX_LOOP):
            yield argument, f"a loop of more than {MAX_LOOP:,} rounds"


def _of_loop_options(part: ast.Call) -> Iterator[tuple[ast.AST, str]]:
    rounds = [k.value for k in part.keywords if k.arg == "maximum_iterations"]
    if not rounds:
        yield part, f"a while begins with {LOOP_OPTIONS}(maximum_iterations=N)"
    for argument in rounds:
        number = literal_number(argument)
        if not isinstance(number, int) or not 1 <= number <= MAX_LOOP:
            yield argument, f"maximum_iterations is a number from 1 to {MAX_LOOP:,}"


def _elements(part: ast.Call, function: str) -> float:
    """How many elements the literal numbers of a call ask for."""
    if function in RANGES:
        return _of_arange([literal_number(argument) for argument in part.args])
    positions = SIZE_POSITIONS.get(function, ())
    sized = [part.args[position] for position in positions if position < len(part.args)]
    sized += [keyword.value for keyword in part.keywords if keyword.arg in SIZE_KEYWORDS]
    product = 1.0
    for size in (literal_number(leaf) for argument in sized for leaf in _leaves(argument)):
        product *= max(1.0, float(size or 0))
    return product


def _of_arange(numbers: list[int | float | None]) -> float:
    known = [0.0 if number is None else float(number) for number in numbers]
    if not known or None in numbers:
        return max(map(abs, known), default=0.0)
    start, limit = (0.0, known[0]) if len(known) == 1 else (known[0], known[1])
    return abs(limit - start) / (abs(known[2]) or 1.0 if len(known) > 2 else 1.0)


def _leaves(argument: ast.expr) -> Iterator[ast.expr]:
    if isinstance(argument, ast.List | ast.Tuple):
        for item in argument.elts:
            yield from _leaves(item)
    else:
        yield argument
