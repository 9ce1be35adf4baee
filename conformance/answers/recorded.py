"""Recorded answers as expectations: so that witnesses and records meet the one comparer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np

from conformance.answers.answer import Observation
from conformance.answers.messages import steady_start
from conformance.answers.values import (
    STRUCTURES,
    MalformedObservation,
    decode,
    describe,
    field_of,
    items_of,
    keys_of,
    kind_of,
    literal_of,
)
from conformance.corpus.language.case import (
    Expectation,
    ExpectedError,
    ExpectedNone,
    ExpectedSlices,
    ExpectedStructure,
    ExpectedTensor,
)

VALUES = ("tensor", "scalar")
MAX_DEPTH = 64


@dataclass(frozen=True)
class RecordedError(ExpectedError):
    """An error of a record: the class itself, where an ExpectedError is met by a base too."""


@dataclass(frozen=True)
class RecordedMark:
    """A recorded observation that the case language has no word for, such as `not reached`."""

    kind: str
    text: str


def expectation_of(observation: Observation, *, witness: bool = False) -> Expectation:
    """A raw observation as the expectation to answer the same: `diff` and the oracle's word.

    Dtypes and shapes are given; the sign of a zero is dropped, because no witness binds it. An
    error binds its very class and the start of its message's first line. As a `witness` (the
    oracle's word) it binds no message, an error is met by its bases, and a dtype is left to
    compare's `oracle`. Ragged and sparse tensors are dicts under TensorFlow's names for their
    parts. Errors: MalformedObservation.
    """
    return _expectation(observation, witness, 0)


def view_of(observation: Observation) -> Observation:
    """A ragged or sparse tensor as the dict of its parts; any other observation as it is."""
    kind = kind_of(observation)
    if kind == "ragged":
        splits = {"kind": "list", "items": observation.get("splits")}
        items = [part_of(observation, "values"), splits]
        return {"kind": "dict", "keys": ["flat_values", "nested_row_splits"], "items": items}
    if kind == "sparse":
        parts = ["indices", "values", "dense_shape"]
        return {"kind": "dict", "keys": parts, "items": [part_of(observation, p) for p in parts]}
    return observation


def _expectation(observation: Observation, witness: bool, depth: int) -> Expectation:
    if depth > MAX_DEPTH:
        raise MalformedObservation(f"a structure deeper than {MAX_DEPTH}")
    seen = view_of(observation)
    kind = kind_of(seen)
    if kind in VALUES:
        return _expected_tensor(seen, witness)
    if kind in STRUCTURES:
        items = tuple(_expectation(item, witness, depth + 1) for item in items_of(seen))
        keys = keys_of(seen) if kind == "dict" else ()
        return ExpectedStructure(cast(Literal["list", "tuple", "dict"], kind), items, keys)
    if kind == "none":
        return ExpectedNone()
    if kind == "indexed_slices":
        values, indices = (part_of(seen, part) for part in ("values", "indices"))
        dense_shape = dense_shape_of(seen)
        return ExpectedSlices(
            _expected_tensor(values, witness), _expected_tensor(indices, witness), dense_shape
        )
    if kind == "error":
        return _recorded_error(seen, witness)
    return cast(Expectation, RecordedMark(kind, describe(seen)))


def _expected_tensor(observation: Observation, witness: bool) -> ExpectedTensor:
    value = decode(observation)
    array = value.array
    if array.dtype.kind in "fc":
        with np.errstate(invalid="ignore"):  # a signalling nan
            array = array + array.dtype.type(0)  # -0.0 + 0.0 is 0.0
    dtype = None if witness else value.dtype
    return ExpectedTensor(literal_of(array), dtype, array.shape)


def _recorded_error(observation: Observation, witness: bool) -> ExpectedError:
    kind = field_of(observation, "type")
    if witness:
        return ExpectedError(kind)
    message = field_of(observation, "message")
    return RecordedError(kind, steady_start(message)[:80])


def part_of(observation: Observation, part: str) -> Observation:
    """A tensor inside an observation. Errors: MalformedObservation where it is missing."""
    tensor = observation.get(part)
    if not isinstance(tensor, Mapping):
        raise MalformedObservation(f"{observation['kind']} without {part}")
    return tensor


def dense_shape_of(observation: Observation) -> tuple[int, ...] | None:
    """The dense shape of slices, None if they have none. Errors: MalformedObservation."""
    dense_shape = observation.get("dense_shape")
    if dense_shape is None or kind_of(dense_shape) == "none":
        return None
    if kind_of(dense_shape) in ("list", "tuple"):
        sizes = [decode(item).array for item in items_of(dense_shape)]
    else:
        sizes = list(np.atleast_1d(decode(dense_shape).array))
    if not all(size.dtype.kind in "iu" and size.ndim == 0 for size in sizes):
        raise MalformedObservation("a dense_shape is no list of integers")
    return tuple(int(size) for size in sizes)


def calls_of(observation: Observation) -> int | None:
    """How often a function was called: the lowering counts it; None for what is no count.

    Errors: MalformedObservation.
    """
    array = decode(observation).array
    return int(array) if array.dtype.kind in "iu" else None
