"""Closed forms: `cos(x)` evaluated on a case's inputs, element by element, in float64."""

from __future__ import annotations

import ast
import math
import operator
import struct
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from conformance.corpus.language.case import Input, Nested
from conformance.corpus.language.document import Node, shortened
from conformance.corpus.language.literals import FLOATS, INTEGERS, leaves, shape_of
from conformance.text import suggest

MAX_TEXT = 400


def _sigmoid(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x)) if x >= 0 else math.exp(x) / (1.0 + math.exp(x))


FUNCTIONS: dict[str, Callable[..., float]] = {
    name: getattr(math, name)
    for name in (
        *("exp", "expm1", "log", "log1p", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh"),
        *("asin", "acos", "atan", "atan2", "asinh", "acosh", "atanh", "erf", "erfc", "gamma"),
        *("floor", "ceil", "hypot"),
    )
} | {"sigmoid": _sigmoid, "abs": abs, "max": max, "min": min}
FUNCTIONS["sign"] = lambda x: float((x > 0) - (x < 0))
CONSTANTS = {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan}
OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}


class FormulaError(Exception):
    """A formula that cannot be evaluated, and why."""


def evaluate_formula(node: Node, inputs: Mapping[str, Input]) -> Nested:
    """The value of a formula over the inputs' values (each rounded to its dtype first).

    Inputs of one shape are combined element by element; scalars are repeated.
    """
    number = isinstance(node.value, int | float) and not isinstance(node.value, bool)
    text = (repr(node.value) if number else node.text()).strip()
    if not text:
        return 0.0
    try:
        tree = _parsed(text)
        used = {part.id for part in ast.walk(tree) if isinstance(part, ast.Name)}
        values = {name: rounded(i.value, i.dtype) for name, i in inputs.items() if name in used}
        if len({shape_of(value) for value in values.values()} - {()}) > 1:
            raise FormulaError("inputs of different shapes")
        node.spend(_cost(tree, values))
        return _evaluate(tree.body, values, [*inputs])
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        why = getattr(error, "msg", None) or error
    except (FormulaError, ZeroDivisionError, OverflowError) as error:
        why = error
    node.fault(f"the formula '{shortened(text)}' cannot be evaluated: {why}")
    return 0.0


def _parsed(text: str) -> ast.Expression:
    if len(text) > MAX_TEXT:
        raise FormulaError(f"longer than {MAX_TEXT} characters")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a doubtful spelling is refused by _evaluate
        return ast.parse(text, mode="eval")


def _cost(tree: ast.Expression, values: Mapping[str, Nested]) -> int:
    elements = max((len(leaves(value)) for value in values.values()), default=1)
    return elements * sum(1 for _ in ast.walk(tree))


def rounded(value: Nested, dtype: str) -> Nested:
    """The value as float64, after rounding to its own dtype."""
    if isinstance(value, tuple):
        return tuple(rounded(item, dtype) for item in value)
    if dtype not in (*FLOATS, *INTEGERS) or not isinstance(value, int | float):
        raise FormulaError(f"an input of dtype {dtype} is no real number")
    code = {"float32": "<f", "float16": "<e"}.get(dtype)
    if code:
        return float(struct.unpack(code, struct.pack(code, value))[0])
    return _bfloat16(float(value)) if dtype == "bfloat16" else float(value)


def _bfloat16(value: float) -> float:
    """Round to the nearest bfloat16, ties to even: the upper half of a float32."""
    if not math.isfinite(value):
        return value
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    bits += 0x7FFF + ((bits >> 16) & 1)
    return float(struct.unpack("<f", struct.pack("<I", bits & 0xFFFF0000))[0])


def _evaluate(tree: ast.expr, values: Mapping[str, Nested], known: list[str]) -> Nested:
    if isinstance(tree, ast.Constant) and type(tree.value) in (int, float):
        return float(tree.value)  # type: ignore[arg-type]  # as the line above says
    if isinstance(tree, ast.Name):
        if tree.id not in values and tree.id not in CONSTANTS:
            near = suggest(tree.id, [*known, *CONSTANTS])
            raise FormulaError(f"no input named '{shortened(tree.id)}'{near}")
        return values[tree.id] if tree.id in values else CONSTANTS[tree.id]
    if isinstance(tree, ast.BinOp) and type(tree.op) in OPERATORS:
        sides = [_evaluate(side, values, known) for side in (tree.left, tree.right)]
        return _elementwise(OPERATORS[type(tree.op)], sides)
    if isinstance(tree, ast.UnaryOp) and type(tree.op) in OPERATORS:
        return _elementwise(OPERATORS[type(tree.op)], [_evaluate(tree.operand, values, known)])
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and not tree.keywords:
        if tree.func.id not in FUNCTIONS:
            near = suggest(tree.func.id, [*FUNCTIONS])
            raise FormulaError(f"no function named '{shortened(tree.func.id)}'{near}")
        arguments = [_evaluate(argument, values, known) for argument in tree.args]
        return _elementwise(FUNCTIONS[tree.func.id], arguments)
    raise FormulaError(f"'{ast.unparse(tree)[:40]}' is not part of a formula")


def _elementwise(function: Callable[..., Any], arguments: list[Nested]) -> Nested:
    lengths = {len(argument) for argument in arguments if isinstance(argument, tuple)}
    if lengths:
        return tuple(
            _elementwise(function, [a[i] if isinstance(a, tuple) else a for a in arguments])
            for i in range(lengths.pop())
        )
    try:
        result = function(*arguments)
    except TypeError as error:
        raise FormulaError(str(error)) from error
    if not isinstance(result, int | float):
        raise FormulaError(f"{result!r} is not a real number")
    return float(result)
