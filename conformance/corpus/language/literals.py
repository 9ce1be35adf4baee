"""Numbers in YAML: nested literals, dtypes, complex numbers and reproducible draws."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import itertools
import math
import random
import struct
from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

from conformance.corpus.language.case import Nested, Scalar
from conformance.corpus.language.document import Node, shortened
from conformance.text import suggest

Family: TypeAlias = Literal["bool", "integer", "float", "complex", "string"]
Kind: TypeAlias = Literal["tensor", "array", "scalar"]

WIRE = {
    "bool": "|b1",
    "int8": "|i1",
    "int16": "<i2",
    "int32": "<i4",
    "int64": "<i8",
    "uint8": "|u1",
    "uint16": "<u2",
    "uint32": "<u4",
    "uint64": "<u8",
    "float16": "<f2",
    "bfloat16": "<u2",
    "float32": "<f4",
    "float64": "<f8",
    "complex64": "<c8",
    "complex128": "<c16",
}
"""How the elements of each numeric dtype lie in `data`, as NumPy writes it; a bfloat16 crosses as
its 16 bits."""

DTYPES = (*WIRE, "string")
PYTHON_TYPES = {
    "Python bool": "bool",
    "Python int": "int64",
    "Python float": "float64",
    "Python complex": "complex128",
    "Python str": "string",
    "Python dtype": "string",
}
"""What the type of a Python scalar is called, and the dtype that holds it."""


def family(dtype: str) -> Family:
    """The family that a dtype belongs to."""
    if dtype == "bool":
        return "bool"
    if dtype == "string":
        return "string"
    return "integer" if "int" in dtype else "complex" if "complex" in dtype else "float"


def kind_of(dtype: str | None, numpy: bool) -> Kind:
    """What a value of a dtype is: a tensor, a NumPy array or a Python scalar."""
    return "scalar" if dtype in PYTHON_TYPES else "array" if numpy else "tensor"


FLOATS = tuple(dtype for dtype in DTYPES if family(dtype) == "float")
INTEGERS = tuple(dtype for dtype in DTYPES if family(dtype) == "integer")
NARROW = ("float16", "bfloat16")
EPS = {
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
    "float32": 2.0**-23,
    "float64": 2.0**-52,
    "complex64": 2.0**-23,
    "complex128": 2.0**-52,
}
COMPLEXES = tuple(dtype for dtype in DTYPES if family(dtype) == "complex")
LARGEST = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38}
LARGEST |= {"float64": math.inf, "complex64": LARGEST["float32"], "complex128": math.inf}
"""The largest finite number of a dtype; what is beyond it is written `.inf`."""

WRITTEN: Mapping[Family, str] = {
    "float": "write a number such as 3.0, within its range",
    "integer": "write an integer within the dtype's range",
    "complex": "write it like 1+2j",
    "bool": "write true or false",
    "string": "put it in quotes",
}
MAX_ELEMENTS = 10_000
MAX_RANK = 12


def parse_dtype(node: Node) -> str:
    """A dtype's name; a fault for anything else."""
    name = node.line()
    if name and name not in DTYPES:
        node.fault(f"no dtype named '{shortened(name)}'{suggest(name, DTYPES)}")
    return name


def parse_shape(node: Node) -> tuple[int, ...]:
    """A shape: a list of sizes, none negative."""
    sizes = []
    for item in node.items():
        if type(item.value) is int and item.value >= 0:
            sizes.append(item.value)
        else:
            item.fault(f"a size is an integer from 0 on, got {item.kind}")
    if len(sizes) > MAX_RANK:
        node.fault(f"a shape of more than {MAX_RANK} sizes")
        return ()
    return tuple(sizes)


def parse_nested(node: Node, dtype: str | None) -> Nested:
    """A scalar or a rectangular nested list of them, as nested tuples, fit for `dtype`."""
    value = _nested(node, dtype)
    if shape_of(value) is None:
        node.fault("the rows of a tensor must have one length: this list is ragged")
    elements = leaves(value)
    node.spend(len(elements))
    if len({isinstance(leaf, bool) for leaf in elements}) > 1:
        node.fault("booleans and numbers in one tensor")
    return value


def _nested(node: Node, dtype: str | None) -> Nested:
    if isinstance(node.value, list):
        if len(node.value) > MAX_ELEMENTS:
            node.fault(f"more than {MAX_ELEMENTS:,} elements: draw them instead")
            return ()
        return tuple(_nested(item, dtype) for item in node.value)
    return _scalar(node, dtype)


def _scalar(node: Node, dtype: str | None) -> Scalar:
    value = node.value
    if value is None:
        node.fault("null inside a tensor: a bare list is a TENSOR, write {list: [...]} for a list")
        return 0.0
    if isinstance(value, dict | list):
        node.fault(f"expected a number, got {node.kind}")
        return 0.0
    if dtype in DTYPES and not fits(value, dtype):
        node.fault(f"{shortened(repr(value))} is no {dtype}: {WRITTEN[family(dtype)]}")
        return 0.0
    if dtype in COMPLEXES and isinstance(value, str):
        return complex(value.replace(" ", ""))
    if dtype in (*FLOATS, *COMPLEXES) and isinstance(value, int):
        return float(value)
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        node.fault("an integer beyond 64 bits")
        return 0
    return value


def is_complex_text(value: object) -> bool:
    """Whether text is a complex number as `1+2j` writes it."""
    if not isinstance(value, str) or len(value) > 100 or not value.strip().endswith("j"):
        return False
    with contextlib.suppress(ValueError):
        complex(value.replace(" ", ""))
        return True
    return False


def fits(value: object, dtype: str) -> bool:
    """Whether a scalar of YAML is one of the dtype's: finite numbers are not beyond its largest."""
    kind = family(dtype)
    if kind == "string" or isinstance(value, str):
        return isinstance(value, str) and (
            kind == "string" or (kind == "complex" and is_complex_text(value))
        )
    if kind == "bool" or isinstance(value, bool):
        return isinstance(value, bool) and kind == "bool"
    if kind == "integer":
        bits = int(dtype.removeprefix("u").removeprefix("int"))
        low = 0 if dtype.startswith("u") else -(2 ** (bits - 1))
        return isinstance(value, int) and low <= value < low + 2**bits
    if not isinstance(value, int | float):
        return False
    return not math.isfinite(value) or abs(value) <= LARGEST[dtype]


def shape_of(value: Nested) -> tuple[int, ...] | None:
    """The shape of a nested literal; None where its rows differ."""
    if not isinstance(value, tuple):
        return ()
    if tuple not in map(type, value):
        return (len(value),)
    shapes = {shape_of(item) for item in value}
    inner = shapes.pop()
    return None if shapes or inner is None else (len(value), *inner)


def leaves(value: Nested) -> list[Scalar]:
    """Every scalar of a nested literal, in order."""
    if not isinstance(value, tuple):
        return [value]
    rows = (leaves(item) if isinstance(item, tuple) else (item,) for item in value)
    return [leaf for row in rows for leaf in row]


def drawn(name: str, shape: tuple[int, ...], low: float, high: float, seed: int) -> Nested:
    """A uniform draw from [low, high] with three decimals.

    It depends on the input's name, shape, range and seed only (never on the case or on NumPy),
    so a literal stays what it is when a case moves.
    """
    text = repr((name, shape, low, high, seed))
    generator = random.Random(hashlib.sha256(text.encode()).digest())
    return shaped((round(generator.uniform(low, high), 3) for _ in itertools.count()), shape)


# ----- raw data -----

_PACKED = {"b1": "?", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I"}
_PACKED |= {"u8": "Q", "f2": "e", "f4": "f", "f8": "d", "c8": "ff", "c16": "dd"}
"""How `struct` names an element that NumPy calls so."""


def parse_data(node: Node, dtype: str, shape: tuple[int, ...]) -> Nested:
    """Raw little-endian data in base64 (a list of texts for strings), as nested tuples."""
    count = math.prod(shape)
    node.spend(max(count, *shape, 1))
    try:
        found: list[Scalar]
        if dtype == "string":
            found = [_raw(item).decode("utf-8", "surrogateescape") for item in node.items()]
        else:
            found = _unpacked(_raw(node), dtype)
        if len(found) == count:
            return shaped(iter(found), shape)
        why = f"{len(found)} elements"
    except (ValueError, struct.error) as error:
        why = str(error)
    node.fault(f"no data of {dtype} {list(shape)}: {why}")
    return 0.0


def _raw(node: Node) -> bytes:
    if not isinstance(node.value, str):
        raise ValueError(f"expected text, got {node.kind}: put it in quotes")
    return base64.b64decode(node.value, validate=True)


def _unpacked(raw: bytes, dtype: str) -> list[Scalar]:
    code = _PACKED[WIRE[dtype][1:]]
    if dtype == "bool" and raw.translate(None, b"\0\1"):
        raise ValueError("a bool is neither 0 nor 1")
    rows: list[tuple[Scalar, ...]] = list(struct.iter_unpack(f"<{code}", raw))
    if dtype == "bfloat16":  # the upper half of a float32
        return [struct.unpack("<f", b"\0\0" + struct.pack("<H", *row))[0] for row in rows]
    return [complex(*row) if len(row) > 1 else row[0] for row in rows]


def shaped(elements: Iterator[Scalar], shape: tuple[int, ...]) -> Nested:
    """Elements in order, as nested tuples of a shape."""
    if not shape:
        return next(elements)
    return tuple(shaped(elements, shape[1:]) for _ in range(shape[0]))
