"""The inputs of a case: bare literals, constants, variables and draws."""

from __future__ import annotations

import math

from conformance.corpus.language.case import Input, Nested
from conformance.corpus.language.document import Node
from conformance.corpus.language.literals import (
    FLOATS,
    MAX_ELEMENTS,
    drawn,
    fits,
    leaves,
    parse_dtype,
    parse_nested,
    parse_shape,
)

INPUT_FORMS = {
    "constant": ("constant", "dtype"),
    "variable": ("variable", "dtype", "trainable"),
    "draw": ("draw", "range", "seed", "dtype", "variable", "trainable"),
}
"""Each form of an input by the key that marks it: the keys it may have."""

DECIMALS = 1000
"""A draw has three decimals: ranges that are narrower than ten of them hold nothing."""


def parse_input(name: str, node: Node) -> Input:
    """One input: a literal (a float32 constant), {constant}, {variable} or {draw}."""
    given = node.value
    if not isinstance(given, dict):
        return Input(name, "constant", _bare(node), "float32")
    form = next((form for form in ("draw", "constant", "variable") if form in given), None)
    if form is None:
        node.fault(f"an input is a number, a list, or has one of: {', '.join(INPUT_FORMS)}")
        return Input(name, "constant", 0.0, "float32")
    node.keys(INPUT_FORMS[form])
    dtype = node.read("dtype", parse_dtype)
    dtype = "float32" if dtype is None else dtype
    trainable = node.read("trainable", Node.flag) is not False
    variable = form == "variable"
    if form == "draw":
        value = _draw(name, node, dtype)
        variable = bool(node.read("variable", Node.flag))
        if not variable and not trainable:
            message = "only a variable is trainable or not: add variable: true"
            given["trainable"].fault(message)
    elif "dtype" in given:
        value = parse_nested(given[form], dtype)
    else:
        value = _bare(given[form])
    return Input(name, "variable" if variable else "constant", value, dtype, trainable)


def _bare(node: Node) -> Nested:
    value = parse_nested(node, None)
    kinds = {type(leaf) for leaf in leaves(value)}
    if kinds - {float}:
        found = "a bare integer" if int in kinds else "neither a float nor a list of floats"
        remedy = "write 3.0 for a float32, or name the dtype ({constant: 3, dtype: int32})"
        node.fault(f"{found}: {remedy}")
        return 0.0
    if not all(fits(leaf, "float32") for leaf in leaves(value)):
        node.fault("beyond the range of float32: name another dtype, or write .inf")
        return 0.0
    return value


def _draw(name: str, node: Node, dtype: str) -> Nested:
    given = node.mapping()
    if dtype and dtype not in FLOATS:
        given["dtype"].fault(f"a draw is of floats, not of {dtype}")
    shape = parse_shape(given["draw"])
    elements = math.prod(max(size, 1) for size in shape)
    if elements > MAX_ELEMENTS:
        given["draw"].fault(f"more than {MAX_ELEMENTS:,} elements")
        return 0.0
    given["draw"].spend(elements)
    seed = node.read("seed", _seed) or 0
    if "range" not in given:
        node.fault("missing range: a draw is uniform between [low, high]")
        return 0.0
    return drawn(
        name, shape, *_range(given["range"], dtype if dtype in FLOATS else "float32"), seed
    )


def _seed(node: Node) -> int:
    if type(node.value) is int:
        return node.value
    node.fault("a seed is an integer")
    return 0


def _range(node: Node, dtype: str) -> tuple[float, float]:
    bounds = [item.value for item in node.items()]
    numbers = [
        float(bound)
        for bound in bounds
        if isinstance(bound, int | float) and fits(bound, dtype) and math.isfinite(bound)
    ]
    if len(numbers) == len(bounds) == 2 and math.isfinite(numbers[1] - numbers[0]):
        low, high = numbers
        if (high - low) * DECIMALS >= 10.0:
            return low, high
    node.fault("a range is [low, high], at least 0.01 wide: a draw has three decimals")
    return 0.0, 1.0
