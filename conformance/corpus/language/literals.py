"""Numbers in YAML: nested literals, dtypes, complex numbers and reproducible draws."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Callable

from conformance.corpus.language.case import Nested, Scalar
from conformance.corpus.language.nodes import Faults, Node, spoken
from conformance.text import suggest

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
COMPLEXES = ("complex64", "complex128")
DTYPES = (*FLOATS, *INTEGERS, *COMPLEXES, "bool", "string")
LARGEST = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38}
LARGEST |= {"float64": math.inf, "complex64": LARGEST["float32"], "complex128": math.inf}
"""The largest finite number of a dtype; what is beyond it is written `.inf`."""

MAX_ELEMENTS = 10_000
MAX_RANK = 12


def parse_dtype(node: Node, faults: Faults) -> str:
    """A dtype's name; a fault for anything else."""
    name = faults.line(node)
    if name and name not in DTYPES:
        faults.add(node, f"no dtype named '{spoken(name)}'{suggest(name, DTYPES)}")
    return name


def parse_shape(node: Node, faults: Faults) -> tuple[int, ...]:
    """A shape: a list of sizes, none negative."""
    sizes = []
    for item in faults.items(node):
        if isinstance(item.value, int) and not isinstance(item.value, bool) and item.value >= 0:
            sizes.append(item.value)
        else:
            faults.add(item, f"a size is an integer from 0 on, got {item.kind}")
    if len(sizes) > MAX_RANK:
        faults.add(node, f"a shape of more than {MAX_RANK} sizes")
        return ()
    return tuple(sizes)


def parse_nested(node: Node, dtype: str | None, faults: Faults) -> Nested:
    """A scalar or a rectangular nested list of them, as nested tuples, fit for `dtype`."""
    value = _nested(node, dtype, faults)
    if shape_of(value) is None:
        faults.add(node, "the rows of a tensor must have one length: this list is ragged")
    elements = leaves(value)
    faults.spend(node, len(elements))
    if len({isinstance(leaf, bool) for leaf in elements}) > 1:
        faults.add(node, "booleans and numbers in one tensor")
    return value


def _nested(node: Node, dtype: str | None, faults: Faults) -> Nested:
    if isinstance(node.value, list):
        if len(node.value) > MAX_ELEMENTS:
            faults.add(node, f"more than {MAX_ELEMENTS:,} elements: draw them instead")
            return ()
        return tuple(_nested(item, dtype, faults) for item in node.value)
    return _scalar(node, dtype, faults)


def _scalar(node: Node, dtype: str | None, faults: Faults) -> Scalar:
    value = node.value
    if value is None:
        faults.add(
            node, "null inside a tensor: a bare list is a TENSOR, write {list: [...]} for a list"
        )
        return 0.0
    if isinstance(value, dict | list):
        faults.add(node, f"expected a number, got {node.kind}")
        return 0.0
    wanted = _kind_of_dtype(dtype)
    if wanted and not wanted[0](value):
        faults.add(node, f"{spoken(repr(value))} is no {dtype}: {wanted[1]}")
        return 0.0
    if dtype in COMPLEXES and isinstance(value, str):
        return complex(value.replace(" ", ""))
    if dtype in (*FLOATS, *COMPLEXES) and isinstance(value, int):
        return float(value)
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        faults.add(node, "an integer beyond 64 bits")
        return 0
    return value


def is_complex_text(value: object) -> bool:
    """Whether text is a complex number as `1+2j` writes it."""
    if not isinstance(value, str) or len(value) > 100 or not value.strip().endswith("j"):
        return False
    try:
        complex(value.replace(" ", ""))
    except ValueError:
        return False
    return True


def fits(value: object, dtype: str) -> bool:
    """Whether a real number is one of the dtype's: finite ones are not beyond its largest."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return not math.isfinite(value) or abs(value) <= LARGEST[dtype]


def _kind_of_dtype(dtype: str | None) -> tuple[Callable[[object], bool], str] | None:
    if dtype in FLOATS:
        return (lambda value: fits(value, dtype)), "write a number such as 3.0, within its range"
    if dtype in INTEGERS:
        return _whole_of_range(dtype), "write an integer within the dtype's range"
    if dtype in COMPLEXES:
        return (lambda value: fits(value, dtype) or is_complex_text(value)), "write it like 1+2j"
    if dtype == "bool":
        return (lambda value: isinstance(value, bool)), "write true or false"
    if dtype == "string":
        return (lambda value: isinstance(value, str)), "put it in quotes"
    return None


def _whole_of_range(dtype: str) -> Callable[[object], bool]:
    bits = int(dtype.removeprefix("u").removeprefix("int"))
    low, high = (0, 2**bits) if dtype.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1))
    return lambda value: (
        isinstance(value, int) and not isinstance(value, bool) and low <= value < high
    )


def shape_of(value: Nested) -> tuple[int, ...] | None:
    """The shape of a nested literal; None where its rows differ."""
    if not isinstance(value, tuple):
        return ()
    shapes = {shape_of(item) for item in value}
    if not shapes:
        return (0,)
    if len(shapes) > 1 or None in shapes:
        return None
    inner = shapes.pop()
    return (len(value), *inner) if inner is not None else None


def leaves(value: Nested) -> list[Scalar]:
    """Every scalar of a nested literal, in order."""
    if isinstance(value, tuple):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def drawn(name: str, shape: tuple[int, ...], low: float, high: float, seed: int) -> Nested:
    """A uniform draw from [low, high] with three decimals.

    It depends on the input's name, shape, range and seed only (never on the case or on NumPy),
    so a literal stays what it is when a case moves.
    """
    text = repr((name, shape, low, high, seed))
    generator = random.Random(hashlib.sha256(text.encode()).digest())

    def fill(sizes: tuple[int, ...]) -> Nested:
        if not sizes:
            return round(generator.uniform(low, high), 3)
        return tuple(fill(sizes[1:]) for _ in range(sizes[0]))

    return fill(shape)
