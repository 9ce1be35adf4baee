"""The inputs of a case: bare literals, constants, variables and draws."""

from __future__ import annotations

import math

from conformance.corpus.language.case import Input, Nested
from conformance.corpus.language.document import Faults, Node
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


def parse_input(name: str, node: Node, faults: Faults) -> Input:
    """One input: a literal (a float32 constant), {constant}, {variable} or {draw}."""
    given = node.value
    if not isinstance(given, dict):
        return Input(name, "constant", _bare(node, faults), "float32")
    form = next((form for form in ("draw", "constant", "variable") if form in given), None)
    if form is None:
        faults.add(node, f"an input is a number, a list, or has one of: {', '.join(INPUT_FORMS)}")
        return Input(name, "constant", 0.0, "float32")
    faults.keys(node, INPUT_FORMS[form])
    dtype = parse_dtype(given["dtype"], faults) if "dtype" in given else "float32"
    variable = form == "variable"
    trainable = "trainable" not in given or faults.flag(given["trainable"])
    if form == "draw":
        value = _draw(name, node, dtype, faults)
        variable = "variable" in given and faults.flag(given["variable"])
        if not variable and not trainable:
            message = "only a variable is trainable or not: add variable: true"
            faults.add(given["trainable"], message)
    elif "dtype" in given:
        value = parse_nested(given[form], dtype, faults)
    else:
        value = _bare(given[form], faults)
    return Input(name, "variable" if variable else "constant", value, dtype, trainable)


def _bare(node: Node, faults: Faults) -> Nested:
    value = parse_nested(node, None, faults)
    kinds = {type(leaf) for leaf in leaves(value)}
    if kinds - {float}:
        found = "a bare integer" if int in kinds else "neither a float nor a list of floats"
        faults.add(
            node,
            f"{found}: write 3.0 for a float32, or name the dtype ({{constant: 3, dtype: int32}})",
        )
        return 0.0
    if not all(fits(leaf, "float32") for leaf in leaves(value)):
        faults.add(node, "beyond the range of float32: name another dtype, or write .inf")
        return 0.0
    return value


def _draw(name: str, node: Node, dtype: str, faults: Faults) -> Nested:
    given = faults.mapping(node)
    if dtype and dtype not in FLOATS:
        faults.add(given["dtype"], f"a draw is of floats, not of {dtype}")
    shape = parse_shape(given["draw"], faults)
    elements = math.prod(max(size, 1) for size in shape)
    if elements > MAX_ELEMENTS:
        faults.add(given["draw"], f"more than {MAX_ELEMENTS:,} elements")
        return 0.0
    faults.spend(given["draw"], elements)
    seed = given["seed"].value if "seed" in given else 0
    if type(seed) is not int:
        faults.add(given["seed"], "a seed is an integer")
        seed = 0
    return drawn(name, shape, *_range(node, dtype, faults), seed)


def _range(node: Node, dtype: str, faults: Faults) -> tuple[float, float]:
    mapping = faults.mapping(node)
    if "range" not in mapping:
        faults.add(node, "missing range: a draw is uniform between [low, high]")
        return 0.0, 1.0
    bounds = [item.value for item in faults.items(mapping["range"])]
    known = dtype if dtype in FLOATS else "float32"
    numbers = [
        float(bound)
        for bound in bounds
        if isinstance(bound, int | float) and fits(bound, known) and math.isfinite(bound)
    ]
    if len(numbers) == len(bounds) == 2 and math.isfinite(numbers[1] - numbers[0]):
        low, high = numbers
        if (high - low) * DECIMALS >= 10.0:
            return low, high
    faults.add(
        mapping["range"], "a range is [low, high], at least 0.01 wide: a draw has three decimals"
    )
    return 0.0, 1.0
