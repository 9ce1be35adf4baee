"""Values: an observation's bytes, or a literal of a case, as a numpy array with a dtype's name."""

from __future__ import annotations

import ast
import base64
import binascii
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.answers.answer import Observation
from conformance.corpus.language.case import Nested, Scalar
from conformance.text import clean

Array = npt.NDArray[Any]

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
"""How each numeric dtype lies in `data`; a bfloat16 crosses as its 16 bits."""

DTYPES = (*WIRE, "string")
STRUCTURES = ("list", "tuple", "dict")
MARKS = ("variable", "error", "not_reached", "not_observed", "other")
KINDS = ("none", "tensor", "scalar", "indexed_slices", "ragged", "sparse", *STRUCTURES, *MARKS)
MAX_ELEMENTS = 2**26
MAX_RANK = 32
MAX_TEXT = 2**20
SHOWN = 12
"""The largest tensor that is shown with every element."""

STRING_REPR = re.compile(
    r"""(?s)(?P<quote>['"])"""
    r"""(?:[^\\\x00-\x1f\ud800-\udfff]|\\(?:[\\'"nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U000[0-9a-f]{5}"""
    r"""|U0010[0-9a-f]{4}))*(?P=quote)"""
)


class MalformedObservation(ValueError):
    """An observation that is not in wire form; the message is one line. The adapter's fault."""


class LiteralError(ValueError):
    """A literal that its dtype or shape cannot hold; the message is one line. The case's fault."""


@dataclass(frozen=True, eq=False)
class Value:
    """An array and its dtype's name: `bfloat16` is held as float32, `string` as Python str.

    `dtype` is None for a Python scalar, which has none.
    """

    array: Array
    dtype: str | None

    @property
    def type_text(self) -> str:
        """What a person calls the type: `float32`, or `Python float`."""
        if self.dtype is not None:
            return self.dtype
        names = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}
        return f"Python {names.get(self.array.dtype.kind, 'str')}"


def kind_of(observation: Observation) -> str:
    """The kind of an observation, from the closed list. Errors: MalformedObservation."""
    if not isinstance(observation, Mapping):
        raise MalformedObservation(f"an observation is {type(observation).__name__}, not a mapping")
    kind = observation.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise MalformedObservation(f"unknown kind of observation {_short(kind)}")
    return kind


def family(dtype: str) -> str:
    """The family of a dtype: bool, integer, float, complex or string."""
    if dtype in ("bool", "string"):
        return dtype
    return "integer" if "int" in dtype else "complex" if dtype.startswith("complex") else "float"


# ----- observations -----


def decode(observation: Observation) -> Value:
    """The value of a tensor or a Python scalar.

    Edges: -0.0, nan and inf survive; bfloat16 becomes float32 without loss; the bytes of a string
    that is no UTF-8 survive as surrogates. Errors: MalformedObservation, and nothing else.
    """
    kind = kind_of(observation)
    if kind == "scalar":
        return _decode_scalar(observation)
    if kind != "tensor":
        raise MalformedObservation(f"a tensor was due, not kind {kind!r}")
    dtype, shape = dtype_of(observation), _shape(observation.get("shape"))
    if dtype == "string":
        return Value(_strings(observation.get("data"), shape), dtype)
    return Value(_numbers(observation.get("data"), dtype, shape), dtype)


def dtype_of(observation: Observation) -> str:
    """The dtype's name of a tensor. Errors: MalformedObservation where it is unknown."""
    dtype = observation.get("dtype")
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise MalformedObservation(f"unknown dtype {_short(dtype)}")
    return dtype


def items_of(observation: Observation) -> Sequence[Observation]:
    """The items of a list, tuple or dict. Errors: MalformedObservation."""
    items = observation.get("items")
    if not isinstance(items, (list, tuple)):
        raise MalformedObservation(f"a {observation['kind']} has no list of items")
    return items


def keys_of(observation: Observation) -> tuple[str, ...]:
    """The keys of a dict, as text. Errors: MalformedObservation where they do not fit the items."""
    keys = observation.get("keys")
    if not isinstance(keys, (list, tuple)) or not all(isinstance(key, (str, int)) for key in keys):
        raise MalformedObservation("a dict has no list of keys that are text or integers")
    texts = tuple(_bounded(key) if isinstance(key, str) else str(key) for key in keys)
    if len(set(texts)) != len(texts) or len(texts) != len(items_of(observation)):
        raise MalformedObservation("the keys of a dict are not one for each item")
    return texts


def field_of(observation: Observation, field: str) -> str:
    """A text field of an observation. Errors: MalformedObservation where it is no text."""
    text = observation.get(field)
    if not isinstance(text, str):
        raise MalformedObservation(f"kind {observation.get('kind')!r} has no text {field!r}")
    return text


def _shape(shape: object) -> tuple[int, ...]:
    if not isinstance(shape, (list, tuple)) or len(shape) > MAX_RANK:
        raise MalformedObservation(f"the shape {_short(shape)} is no list of sizes")
    if not all(type(size) is int and size >= 0 for size in shape):
        raise MalformedObservation(f"the shape {_short(shape)} is no list of sizes")
    if math.prod(max(size, 1) for size in shape) > MAX_ELEMENTS:
        raise MalformedObservation(f"the shape {_short(shape)} exceeds {MAX_ELEMENTS} elements")
    return tuple(shape)


def _numbers(data: object, dtype: str, shape: tuple[int, ...]) -> Array:
    wire = np.dtype(WIRE[dtype])
    due = math.prod(shape) * wire.itemsize
    if not isinstance(data, str) or len(data) != 4 * ((due + 2) // 3):
        raise MalformedObservation(
            f"the data of {dtype} {list(shape)} is not base64 of {due} bytes"
        )
    raw = _base64(data)
    if len(raw) != due:
        raise MalformedObservation(f"{len(raw)} bytes of data, {dtype} {list(shape)} has {due}")
    if dtype == "bool" and raw.translate(None, b"\0\1"):
        raise MalformedObservation("a bool is neither 0 nor 1")
    array: Array = np.frombuffer(raw, wire).reshape(shape)
    if dtype == "bfloat16":
        array = np.left_shift(array.astype(np.uint32), np.uint32(16)).view(np.float32)
    return np.asarray(array)


def _strings(data: object, shape: tuple[int, ...]) -> Array:
    due = math.prod(shape)
    if not isinstance(data, (list, tuple)) or len(data) != due:
        raise MalformedObservation(f"the data of string {list(shape)} is not {due} texts")
    array = np.empty(due, dtype=object)
    for position, item in enumerate(data):
        if not isinstance(item, str):
            raise MalformedObservation(f"the data of a string is {type(item).__name__}, not base64")
        array[position] = _base64(item).decode("utf-8", "surrogateescape")
    return array.reshape(shape)


def _base64(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise MalformedObservation(f"the data is not base64: {error}") from error


def _decode_scalar(observation: Observation) -> Value:
    kind, text = field_of(observation, "type"), _bounded(field_of(observation, "value"))
    try:
        scalar = _parse_scalar(kind, text)
    except (ValueError, OverflowError) as error:
        raise MalformedObservation(f"{_short(text)} is no Python {_short(kind)}") from error
    array = np.empty((), dtype=object) if isinstance(scalar, str) else np.asarray(scalar)
    if isinstance(scalar, str):
        array[()] = scalar
    if array.dtype.kind not in "biufcO" or (array.dtype == object and not isinstance(scalar, str)):
        raise MalformedObservation(f"the Python int {_short(text)} exceeds 64 bits")
    return Value(array, None)


def _parse_scalar(kind: str, text: str) -> Scalar:
    if kind == "bool" and text in ("True", "False"):
        return text == "True"
    if kind == "int" and re.fullmatch(r"-?[0-9]{1,20}", text):
        return int(text)
    if kind == "float":
        return float(text)
    if kind == "complex":
        return complex(text)
    if kind == "str" and STRING_REPR.fullmatch(text):
        return _string(text)
    if kind == "dtype":
        return re.sub(r"^tf\.|^<dtype: |>$|['\"]", "", text)
    raise ValueError(kind)


def _string(text: str) -> str:
    try:
        return str(ast.literal_eval(text))
    except SyntaxError as error:  # a bare quote inside, or an escape beyond Unicode
        raise ValueError("no string") from error


def _bounded(text: str) -> str:
    if len(text) > MAX_TEXT:
        raise MalformedObservation(f"a text of {len(text)} characters")
    return text


# ----- literals -----


def array_of(value: Nested, dtype: str, shape: tuple[int, ...] | None = None) -> Array:
    """A literal as an array of `dtype`, rounded to it (bfloat16 held as float32).

    Edges: a single number with a shape fills it; `()` with a shape of no elements is that shape;
    an integral float is an integer. Errors: LiteralError for a ragged literal, a finite number
    that the dtype cannot hold, a fraction in an integer dtype, a bool among numbers.
    """
    leaves, own_shape = flatten(value)
    _check_leaves(leaves, dtype)
    if shape is not None and own_shape != shape:
        leaves = _refit(leaves, own_shape, shape)
    array: Array
    if dtype == "string":
        array = np.empty(len(leaves), dtype=object)
        array[:] = leaves
    elif family(dtype) == "integer":
        array = _integers(leaves, dtype)
    elif dtype == "bool":
        array = np.array(leaves, dtype=np.bool_)
    else:
        array = _rounded(leaves, dtype)
    return array.reshape(own_shape if shape is None else shape)


def literal_of(array: Array) -> Nested:
    """An array as nested tuples of Python numbers, `()` if it is empty; undone by array_of."""
    return _tuples(array.tolist()) if array.size else ()


def flatten(value: Nested) -> tuple[list[Scalar], tuple[int, ...]]:
    """The leaves of a literal in C order, and its shape. Errors: LiteralError if it is ragged."""
    if not isinstance(value, tuple):
        return [value], ()
    parts = [flatten(item) for item in value]
    shapes = {shape for _, shape in parts}
    if len(shapes) > 1:
        raise LiteralError("the rows of the literal differ in length")
    leaves = [leaf for part, _ in parts for leaf in part]
    return leaves, (len(value), *(shapes.pop() if shapes else ()))


def leaf_family(leaves: Sequence[Scalar]) -> str:
    """The widest family among the leaves of a literal: bool, integer, float, complex or string.

    Errors: LiteralError where bools, strings and numbers are mixed. No leaves: float.
    """
    types = {type(leaf) for leaf in leaves}
    for single, name in ((bool, "bool"), (str, "string")):
        if single in types:
            if len(types) > 1:
                raise LiteralError(f"a {name} among other values")
            return name
    return "complex" if complex in types else "integer" if types == {int} else "float"


def _check_leaves(leaves: Sequence[Scalar], dtype: str) -> None:
    if dtype not in DTYPES:
        raise LiteralError(f"unknown dtype {_short(dtype)}")
    have, due = leaf_family(leaves), family(dtype)
    ladder = ("integer", "float", "complex")
    fits = have == due or (have in ladder and due in ladder and (have, due) != ("complex", "float"))
    if leaves and (not fits or (have == "complex" and due == "integer")):
        raise LiteralError(f"a {have} literal cannot be {dtype}")


def _refit(
    leaves: list[Scalar], own_shape: tuple[int, ...], shape: tuple[int, ...]
) -> list[Scalar]:
    size = math.prod(shape)
    if own_shape == () and size <= MAX_ELEMENTS:
        return leaves * size
    if not leaves and not size:
        return leaves
    raise LiteralError(f"the literal has shape {own_shape}, declared is {shape}")


def _integers(leaves: Sequence[Scalar], dtype: str) -> Array:
    bounds = np.iinfo(np.dtype(WIRE[dtype]))
    integers = []
    for leaf in leaves:
        if isinstance(leaf, float) and not leaf.is_integer():
            raise LiteralError(f"{leaf} is no {dtype}")
        integer = int(leaf)  # type: ignore[arg-type]  # no complex, no str: _check_leaves
        if not bounds.min <= integer <= bounds.max:
            raise LiteralError(f"{integer} is beyond {dtype}")
        integers.append(integer)
    return np.array(integers, dtype=WIRE[dtype])


def _rounded(leaves: Sequence[Scalar], dtype: str) -> Array:
    try:
        exact = np.array(leaves, dtype="<c16" if family(dtype) == "complex" else "<f8")
    except OverflowError as error:
        raise LiteralError(f"a number of the literal is beyond {dtype}") from error
    with np.errstate(all="ignore"):
        if dtype == "bfloat16":
            rounded = _bfloat16(exact.astype(np.float32))
        else:
            rounded = exact.astype(WIRE[dtype])
    if np.any(np.isfinite(exact) & ~np.isfinite(rounded)):
        raise LiteralError(f"a number of the literal is beyond {dtype}")
    return rounded


def _bfloat16(array: Array) -> Array:
    """Round to the nearest of 8 significant bits, ties to even; nan stays nan."""
    bits = array.view(np.uint32)
    half = np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    with np.errstate(over="ignore"):  # a nan whose bits are all ones
        rounded = (bits + half) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(array), array, rounded.view(np.float32))


def _tuples(value: Any) -> Nested:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


# ----- text for people -----


def array_text(array: Array) -> str:
    """`[4.0, 108.0]`: nested and short, the shortest digits that give the element again."""
    if array.size == 0 and array.ndim > 1:
        return f"[] of shape {array.shape}"
    if array.size > SHOWN:
        head = ", ".join(element_text(element) for element in array.reshape(-1)[:4])
        return f"[{head}, ...] of shape {array.shape}"
    if array.ndim == 0:
        return element_text(array[()])
    text = element_text if array.ndim == 1 else array_text
    return f"[{', '.join(text(row) for row in array)}]"


def element_text(element: Any) -> str:
    """One element: `0.1`, `(1+2j)`, `'a'`, `True`."""
    return clean(repr(element), 80) if isinstance(element, str) else str(element)


def describe(observation: Observation) -> str:
    """An observation in one line, safe to print. Errors: MalformedObservation."""
    kind = kind_of(observation)
    if kind in ("tensor", "scalar"):
        value = decode(observation)
        return f"{array_text(value.array)} ({value.type_text})"
    if kind in ("list", "tuple", "dict"):
        return f"a {kind} of {len(items_of(observation))}"
    if kind == "error":
        return clean(f"{field_of(observation, 'type')}: {field_of(observation, 'message')}")
    details = {"variable": "name", "other": "type"}
    if kind in details:
        return clean(f"{kind} {field_of(observation, details[kind])}")
    if kind == "not_observed" and "raised" in observation:
        return clean(f"not observed: reading it raised {field_of(observation, 'raised')}")
    texts = {"none": "None", "indexed_slices": "IndexedSlices", "not_reached": "not reached"}
    return texts.get(kind, kind.replace("_", " "))


def _short(thing: object) -> str:
    if isinstance(thing, int) and abs(thing) >= 2**64:
        return "a huge integer"
    if isinstance(thing, (str, int, float, type(None))):
        return clean(repr(thing[:80] if isinstance(thing, str) else thing), 60)
    if isinstance(thing, (list, tuple)) and len(thing) <= MAX_RANK:
        return "[" + ", ".join(_short(item) for item in thing if not isinstance(item, list)) + "]"
    return f"of type {type(thing).__name__}"
