"""The wire: JSON that a worker or a record wrote, distrusted here and nowhere else.

What a reply or a record's line holds becomes typed values, or the cell's `adapter_error`.
docs/schemas/reply.json says what a value looks like on the wire: the `data` of a tensor is raw
little-endian memory in C order, so that every dtype, -0.0, nan and inf survive.
"""

from __future__ import annotations

import ast
import base64
import binascii
import json
import math
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any, cast, get_args

import numpy as np

from conformance.answers.answer import (
    Answer,
    Composite,
    Derivative,
    Estimate,
    NoneValue,
    NotObserved,
    NotReached,
    Other,
    Outcome,
    Raised,
    Slices,
    Structure,
    Tensor,
    Value,
    VariableName,
)
from conformance.answers.literals import MAX_ELEMENTS, Array, bfloat16_bits, widened
from conformance.answers.text import array_text
from conformance.corpus.language.case import Scalar
from conformance.corpus.language.literals import DTYPES, WIRE
from conformance.corpus.language.lowering import Lowered
from conformance.text import clean

MAX_DEPTH = 100
"""Levels of JSON."""
MAX_ITEMS = 2_000_000
"""Values in a JSON text, counted by its commas before it is parsed."""
MAX_NESTING = 64
"""Levels of structures in a value."""
MAX_RANK = 32
MAX_TEXT = 2**20


class Malformed(ValueError):
    """JSON that is no value of the wire; the message is one line. Handled in this module."""


# ----- a cell's answer -----


def answer_of_reply(reply: Mapping[str, Any], lowered: Lowered, mode: str) -> Answer:
    """The answer that a worker's reply gives: every observed name, an error at its step.

    A name that the program did not bind is not reached, or not observed where the mode lost it.
    Edges: a malformed reply, or one without an observed name, is an `adapter_error`.
    """
    try:
        observations = {
            name: _at_binding(name, value_of(observation))
            for name, observation in mapping(reply["observations"]).items()
            if name in lowered.observed
        }
        error = None if reply["error"] is None else _raised(reply["error"])
        warnings, seconds = texts(reply["warnings"]), duration(reply["seconds"])
    except (KeyError, TypeError, ValueError) as problem:
        detail = f"the worker's reply is malformed: {clean(str(problem))}"
        return Answer("adapter_error", detail=detail)
    missing = [name for name in lowered.observed if name not in observations]
    if error is not None:
        error = replace(error, step=lowered.step_at(error.line), line=None)
        observations |= {name: _unobserved(name, error, lowered, mode) for name in missing}
    elif missing:
        return Answer("adapter_error", detail=f"no observation of {', '.join(missing)}")
    return Answer("answered", observations, error, warnings, "", seconds)


def answer_of_line(line: Mapping[str, Any]) -> Answer:
    """The answer that a record's line holds; an `adapter_error` where one of its values is none.

    Errors: KeyError, TypeError or ValueError for a line that holds no answer at all.
    """
    outcome = line["outcome"]
    if outcome not in get_args(Outcome):
        raise ValueError(f"no outcome named {outcome!r}")
    warnings, detail = texts(line.get("warnings", [])), text(line.get("detail", ""))
    seconds, error = duration(line.get("seconds", 0.0)), line.get("error")
    given = mapping(line.get("observations", {}))
    try:
        observations = {name: value_of(observation) for name, observation in given.items()}
        raised = None if error is None else _raised(error)
        derivatives = _derivatives(line.get("derivatives", {}))
    except Malformed as problem:
        why = f"the answer is malformed: {problem}"
        return Answer("adapter_error", warnings=warnings, detail=why, seconds=seconds)
    found = cast("Outcome", outcome), observations, raised, warnings, detail, seconds, derivatives
    return Answer(*found)


def line_of(answer: Answer) -> dict[str, Any]:
    """What a record's line holds of an answer; undone by answer_of_line."""
    line: dict[str, Any] = {"outcome": answer.outcome, "seconds": answer.seconds}
    optional = {
        "observations": {name: json_of(value) for name, value in answer.observations.items()},
        "error": None if answer.error is None else json_of(answer.error),
        "warnings": list(answer.warnings),
        "detail": answer.detail,
        "derivatives": {name: _derivative_json(it) for name, it in answer.derivatives.items()},
    }
    return line | {key: value for key, value in optional.items() if value}


def derivatives_of_reply(reply: Mapping[str, Any], names: Collection[str]) -> Answer:
    """The answer that a worker's reply to a question for derivatives gives.

    Edges: a malformed reply, or one without a name, is an `adapter_error`.
    """
    try:
        found = _derivatives(reply["derivatives"])
        seconds = duration(reply["seconds"])
    except (KeyError, TypeError, ValueError) as problem:
        detail = f"the worker's reply is malformed: {clean(str(problem))}"
        return Answer("adapter_error", detail=detail)
    if found.keys() != {*names}:
        return Answer("adapter_error", detail=f"derivatives of {', '.join(found) or 'nothing'}")
    return Answer("answered", seconds=seconds, derivatives=found)


def _derivatives(given: Any) -> dict[str, Derivative]:
    """Errors: KeyError, TypeError or ValueError for what holds no derivatives."""
    return {name: _derivative(found) for name, found in mapping(given).items()}


def _derivative(given: Any) -> Derivative:
    if "fault" in mapping(given):
        return Derivative(fault=_bounded(text(given["fault"])))
    if given["dtype"] not in ("float64", "float32"):
        raise Malformed(f"a derivative in {_short(given['dtype'])}")
    sources = {name: _estimate(found) for name, found in mapping(given["sources"]).items()}
    return Derivative(given["dtype"], duration(given["rounding"]), sources)


def _estimate(given: Any) -> Estimate:
    value = value_of(mapping(given)["estimate"])
    if not isinstance(value, Tensor) or value.dtype not in ("float64", "complex128"):
        raise Malformed("an estimate is no tensor of float64 or complex128")
    return Estimate(value, duration(given["error"]))


def _derivative_json(derivative: Derivative) -> dict[str, Any]:
    if derivative.fault:
        return {"fault": derivative.fault}
    sources = {
        name: {"estimate": json_of(found.value), "error": found.error}
        for name, found in derivative.sources.items()
    }
    return {"dtype": derivative.dtype, "rounding": derivative.rounding, "sources": sources}


def _at_binding(name: str, value: Value) -> Value:
    """A guarded error arose where its name is bound."""
    return replace(value, step=name, line=None) if isinstance(value, Raised) else value


def _unobserved(name: str, error: Raised, lowered: Lowered, mode: str) -> Value:
    """What to say of a name that the program did not bind, or that the mode lost."""
    last_first = lowered.steps[::-1]
    binding = next((step for step in last_first if name in step.binds), None)
    raising = next((step for step in last_first if step.label == error.step), None)
    if raising is not None and name in raising.binds:
        return error
    lost = mode in ("graph", "xla") and error.phase in ("trace", "run")
    bound = binding is not None and raising is not None and binding.line < raising.line
    return NotObserved() if lost and (error.phase == "run" or bound) else NotReached()


# ----- values -----


def value_of(observation: Any, depth: int = 0) -> Value:
    """The typed value of an observation. Errors: Malformed, and nothing else."""
    if not isinstance(observation, dict):
        raise Malformed(f"an observation is {type(observation).__name__}, not an object")
    if depth > MAX_NESTING:
        raise Malformed(f"a structure deeper than {MAX_NESTING}")
    match observation.get("kind"):
        case "none":
            return NoneValue()
        case "tensor" | "array" as kind:
            return _tensor(observation, numpy=kind == "array")
        case "scalar":
            return _scalar(observation)
        case "list" | "tuple" | "dict" as kind:
            return _structure(observation, kind, depth)
        case "indexed_slices":
            values, indices = _part(observation, "values"), _part(observation, "indices")
            return Slices(values, indices, _dense_shape(observation.get("dense_shape")))
        case "ragged" as kind:
            splits = _structure({"items": observation.get("splits")}, "list", MAX_NESTING - 1)
            parts = (_part(observation, "values"), splits)
            return Composite(kind, Structure("dict", parts, ("flat_values", "nested_row_splits")))
        case "sparse" as kind:
            keys = ("indices", "values", "dense_shape")
            tensors = tuple(_part(observation, key) for key in keys)
            return Composite(kind, Structure("dict", tensors, keys))
        case "variable":
            return VariableName(_field(observation, "name"))
        case "error":
            return _raised(observation)
        case "not_reached":
            return NotReached()
        case "not_observed":
            return NotObserved(_field(observation, "raised") if "raised" in observation else "")
        case "other":
            return Other(_field(observation, "type"))
        case kind:
            raise Malformed(f"unknown kind of observation {_short(kind)}")


def json_of(value: Value) -> dict[str, Any]:
    """A value as it crosses the wire; undone by value_of."""
    fields: dict[str, Any]
    match value:
        case Tensor():
            return _tensor_json(value)
        case Structure(kind, items, keys):
            fields = {"keys": list(keys)} if kind == "dict" else {}
            fields["items"] = [json_of(item) for item in items]
        case Composite("ragged", parts):
            values, splits = map(json_of, parts.items)
            fields = {"values": values, "splits": splits["items"]}
        case Composite("sparse", parts):
            fields = {str(key): json_of(part) for key, part in parts.named.items()}
        case Slices(rows, indices, shape):
            sizes = NoneValue() if shape is None else Tensor(np.array(shape, "<i8"), "int64")
            written = {"values": rows, "indices": indices, "dense_shape": sizes}
            fields = {key: json_of(part) for key, part in written.items()}
        case NotObserved(""):
            fields = {}
        case _:
            fields = {key: found for key, found in asdict(value).items() if found is not None}
            if isinstance(value, Raised):
                fields["bases"] = list(value.bases)
    return {"kind": value.kind, **fields}


def _tensor_json(tensor: Tensor) -> dict[str, Any]:
    array = tensor.array
    if tensor.kind == "scalar":
        kind = tensor.dtype.removeprefix("Python ")
        return {"kind": "scalar", "type": kind, "value": repr(array.item())}
    if tensor.dtype == "string":
        raw = [item.encode("utf-8", "surrogateescape") for item in array.reshape(-1)]
        data: Any = [base64.b64encode(item).decode("ascii") for item in raw]
    else:
        bits = bfloat16_bits(array) if tensor.dtype == "bfloat16" else array
        data = base64.b64encode(bits.astype(WIRE[tensor.dtype], copy=False).tobytes()).decode()
    head = {"kind": tensor.kind, "dtype": tensor.dtype, "shape": list(array.shape)}
    return {**head, "data": data, "text": array_text(array)}


def _structure(observation: Mapping[str, Any], kind: Any, depth: int) -> Structure:
    items = observation.get("items")
    if not isinstance(items, list):
        raise Malformed(f"a {kind} has no list of items")
    values = tuple(value_of(item, depth + 1) for item in items)
    return Structure(kind, values, _keys(observation, len(items)) if kind == "dict" else ())


def _keys(observation: Mapping[str, Any], due: int) -> tuple[str, ...]:
    keys = observation.get("keys")
    if not isinstance(keys, list) or not all(isinstance(key, str | int) for key in keys):
        raise Malformed("a dict has no list of keys that are text or integers")
    found = tuple(_bounded(key) if isinstance(key, str) else str(key) for key in keys)
    if len(set(found)) != len(found) or len(found) != due:
        raise Malformed("the keys of a dict are not one for each item")
    return found


def _part(observation: Mapping[str, Any], part: str) -> Tensor:
    found = value_of(observation.get(part), MAX_NESTING)
    if not isinstance(found, Tensor):
        raise Malformed(f"the {part} of {observation['kind']} are no tensor")
    return found


def _dense_shape(observation: Any) -> tuple[int, ...] | None:
    found = NoneValue() if observation is None else value_of(observation, MAX_NESTING - 1)
    if isinstance(found, NoneValue):
        return None
    parts = found.items if isinstance(found, Structure) else (found,)
    sizes = [part for part in parts if isinstance(part, Tensor) and part.family == "integer"]
    if len(sizes) < len(parts) or any(part.array.ndim > 1 for part in sizes):
        raise Malformed("a dense_shape is no list of integers")
    return tuple(int(size) for part in sizes for size in np.atleast_1d(part.array))


def _raised(observation: Any) -> Raised:
    given = observation if isinstance(observation, dict) else {}
    if given.get("kind") != "error":
        raise Malformed("the error is no error")
    bases = given.get("bases", [])
    if not isinstance(bases, list):
        raise Malformed("the bases of an error are no list")
    step, line, phase = given.get("step"), given.get("line"), given.get("phase")
    return Raised(
        _field(given, "type"),
        tuple(base for base in bases if isinstance(base, str)),
        _field(given, "message"),
        phase if isinstance(phase, str) else "",
        step if isinstance(step, str) else None,
        line if type(line) is int else None,
    )


def _field(observation: Mapping[str, Any], field: str) -> str:
    found = observation.get(field)
    if not isinstance(found, str):
        raise Malformed(f"kind {observation.get('kind')!r} has no text {field!r}")
    return found


def _tensor(observation: Mapping[str, Any], numpy: bool) -> Tensor:
    dtype, shape = observation.get("dtype"), _shape(observation.get("shape"))
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise Malformed(f"unknown dtype {_short(dtype)}")
    if dtype == "string":
        return Tensor(_strings(observation.get("data"), shape), dtype, numpy)
    return Tensor(_numbers(observation.get("data"), dtype, shape), dtype, numpy)


def _shape(shape: Any) -> tuple[int, ...]:
    is_list = isinstance(shape, list) and len(shape) <= MAX_RANK
    if not is_list or not all(type(size) is int and size >= 0 for size in shape):
        raise Malformed(f"the shape {_short(shape)} is no list of sizes")
    if math.prod(max(size, 1) for size in shape) > MAX_ELEMENTS:
        raise Malformed(f"the shape {_short(shape)} exceeds {MAX_ELEMENTS} elements")
    return tuple(shape)


def _numbers(data: object, dtype: str, shape: tuple[int, ...]) -> Array:
    wire = np.dtype(WIRE[dtype])
    due = math.prod(shape) * wire.itemsize
    if not isinstance(data, str) or len(data) != 4 * ((due + 2) // 3):
        raise Malformed(f"the data of {dtype} {list(shape)} is not base64 of {due} bytes")
    raw = _base64(data)
    if len(raw) != due:
        raise Malformed(f"{len(raw)} bytes of data, {dtype} {list(shape)} has {due}")
    if dtype == "bool" and raw.translate(None, b"\0\1"):
        raise Malformed("a bool is neither 0 nor 1")
    array: Array = np.frombuffer(raw, wire).reshape(shape)
    return widened(array) if dtype == "bfloat16" else array


def _strings(data: object, shape: tuple[int, ...]) -> Array:
    due = math.prod(shape)
    if not isinstance(data, list) or len(data) != due:
        raise Malformed(f"the data of string {list(shape)} is not {due} texts")
    array = np.empty(due, dtype=object)
    for position, item in enumerate(data):
        if not isinstance(item, str):
            raise Malformed(f"the data of a string is {type(item).__name__}, not base64")
        array[position] = _base64(item).decode("utf-8", "surrogateescape")
    return array.reshape(shape)


def _base64(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Malformed(f"the data is not base64: {error}") from error


def _scalar(observation: Mapping[str, Any]) -> Tensor:
    kind, written = _field(observation, "type"), _bounded(_field(observation, "value"))
    try:
        scalar = _parsed(kind, written)
    except (ValueError, SyntaxError, OverflowError, MemoryError) as error:
        raise Malformed(f"{_short(written)} is no Python {_short(kind)}") from error
    array = np.array(scalar, dtype=object if isinstance(scalar, str) else None)
    if array.dtype.kind not in "biufcO" or (array.dtype == object and type(scalar) is int):
        raise Malformed(f"the Python int {_short(written)} exceeds 64 bits")
    return Tensor(array, f"Python {kind}")


def _parsed(kind: str, written: str) -> Scalar:
    if kind == "bool" and written in ("True", "False"):
        return written == "True"
    if kind == "int" and re.fullmatch(r"-?[0-9]{1,20}", written):
        return int(written)
    if kind == "float":
        return float(written)
    if kind == "complex":
        return complex(written)
    if kind == "dtype":
        return re.sub(r"^tf\.|^<dtype: |>$|['\"]", "", written)
    if kind == "str" and written.startswith(("'", '"')):
        found = ast.literal_eval(written)
        if isinstance(found, str):
            return found
    raise ValueError(kind)


def _bounded(written: str) -> str:
    if len(written) > MAX_TEXT:
        raise Malformed(f"a text of {len(written)} characters")
    return written


def _short(thing: object) -> str:
    if isinstance(thing, int) and abs(thing) >= 2**64:
        return "a huge integer"
    if isinstance(thing, str | int | float | None):
        return clean(repr(thing[:80] if isinstance(thing, str) else thing), 60)
    if isinstance(thing, list) and len(thing) <= MAX_RANK:
        return "[" + ", ".join(_short(item) for item in thing if not isinstance(item, list)) + "]"
    return f"of type {type(thing).__name__}"


# ----- JSON -----


def parse_json(written: str | bytes) -> Any:
    """The value of a JSON text.

    Errors: ValueError for what is no JSON, has a number that is not finite, has more than MAX_ITEMS
    values, or is nested deeper than MAX_DEPTH levels.
    """
    marks = ",[{" if isinstance(written, str) else (b",", b"[", b"{")
    commas, *opened = (written.count(mark) for mark in marks)  # type: ignore[arg-type]
    if commas > MAX_ITEMS:
        raise ValueError(f"more than {MAX_ITEMS:,} values")
    try:
        value = json.loads(written, parse_float=_finite, parse_constant=_finite)
    except RecursionError as error:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels") from error
    level, depth = [value] if sum(opened) > MAX_DEPTH else [], 0
    while level := [inner for outer in level for inner in _inside(outer)]:
        depth += 1
        if depth > MAX_DEPTH:
            raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    return value


def _finite(written: str) -> float:
    number = float(written)
    if not math.isfinite(number):
        raise ValueError(f"{_short(written)} is no finite number")
    return number


def _inside(value: Any) -> Iterator[Any]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (item for item in inner if isinstance(item, dict | list))


def mapping(value: Any) -> dict[str, Any]:
    """An object. Errors: TypeError for anything else."""
    if not isinstance(value, dict):
        raise TypeError(f"expected an object, got {type(value).__name__}")
    return value


def text(value: Any) -> str:
    """A text. Errors: TypeError for anything else."""
    if not isinstance(value, str):
        raise TypeError(f"expected a text, got {type(value).__name__}")
    return value


def texts(value: Any) -> tuple[str, ...]:
    """A list of texts. Errors: TypeError for anything else."""
    if not isinstance(value, list):
        raise TypeError(f"expected a list, got {type(value).__name__}")
    return tuple(map(text, value))


def duration(value: Any) -> float:
    """A length of time. Errors: TypeError for no number, ValueError for nan, inf and -1."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError(f"expected seconds, got {type(value).__name__}")
    if not 0 <= value < sys.maxsize or math.isnan(value):
        raise ValueError("expected seconds, got a number that is no length of time")
    return float(value)
