"""Arbitrary observations, well formed and not."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from conformance.answers.literals import WIRE

from .wire import NONE, NOT_OBSERVED, NOT_REACHED, encoded, error, scalar, tensor, variable

UNHURRIED = settings(deadline=None)
"""Several workers share a machine: a slow example is no fault."""

KINDS = (
    *(
        "none",
        "tensor",
        "array",
        "scalar",
        "list",
        "tuple",
        "dict",
        "indexed_slices",
        "ragged",
        "sparse",
    ),
    *("variable", "error", "not_reached", "not_observed", "other"),
)
SHAPES = st.lists(st.integers(0, 3), max_size=3).map(tuple)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@st.composite
def numeric_tensors(draw, dtypes=tuple(WIRE)):
    """Any bits of any numeric dtype: nan, inf, -0.0 and denormals come by themselves."""
    dtype, shape = draw(st.sampled_from(dtypes)), draw(SHAPES)
    size = int(np.prod(shape, dtype=int)) * np.dtype(WIRE[dtype]).itemsize
    raw = draw(st.binary(min_size=size, max_size=size))
    if dtype == "bool":
        raw = bytes(byte & 1 for byte in raw)
    return {"kind": "tensor", "dtype": dtype, "shape": list(shape), "data": encoded(raw)}


@st.composite
def edge_tensors(draw):
    dtype = draw(st.sampled_from(["float32", "float64"]))
    edges = [float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 1.0, -2.5]
    return tensor(draw(st.lists(st.sampled_from(edges), max_size=4)), dtype)


@st.composite
def string_tensors(draw):
    items = draw(st.lists(st.binary(max_size=4), max_size=3))
    data = [encoded(item) for item in items]
    return {"kind": "tensor", "dtype": "string", "shape": [len(items)], "data": data}


SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(),
    st.complex_numbers(),
    TEXTS,
).map(scalar)
TENSORS = numeric_tensors() | edge_tensors() | string_tensors()
ARRAYS = TENSORS.map(lambda tensor: {**tensor, "kind": "array"})
INDICES = numeric_tensors(("int32", "int64"))
SLICES = st.builds(
    lambda values, indices, dense_shape: {
        "kind": "indexed_slices",
        "values": values,
        "indices": indices,
        "dense_shape": NONE if dense_shape is None else tensor(dense_shape, "int64"),
    },
    TENSORS,
    INDICES,
    st.none() | st.lists(st.integers(0, 9), max_size=3),
)
RAGGED = st.builds(
    lambda values, splits: {"kind": "ragged", "values": values, "splits": splits},
    TENSORS,
    st.lists(INDICES, max_size=2),
)
SPARSE = st.builds(
    lambda indices, values, dense_shape: {
        "kind": "sparse",
        "indices": indices,
        "values": values,
        "dense_shape": dense_shape,
    },
    INDICES,
    TENSORS,
    INDICES,
)
ERRORS = st.builds(error, TEXTS, st.text(), st.none() | TEXTS)
WITHOUT_ERRORS = st.one_of(
    st.sampled_from([NONE, NOT_REACHED, NOT_OBSERVED]),
    TENSORS,
    ARRAYS,
    SCALARS,
    SLICES,
    RAGGED,
    SPARSE,
    TEXTS.map(variable),
    TEXTS.map(lambda name: {"kind": "other", "type": name}),
)


def _dict(items):
    return {"kind": "dict", "keys": list(items), "items": list(items.values())}


def nested(leaves):
    return st.recursive(
        leaves,
        lambda inner: (
            st.builds(
                lambda kind, items: {"kind": kind, "items": items},
                st.sampled_from(["list", "tuple"]),
                st.lists(inner, max_size=3),
            )
            | st.dictionaries(TEXTS, inner, max_size=3).map(_dict)
        ),
        max_leaves=6,
    )


OBSERVATIONS = nested(WITHOUT_ERRORS | ERRORS)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=6,
)
FIELDS = st.sampled_from(
    [
        *("kind", "dtype", "shape", "data", "type", "value", "items", "keys", "values", "indices"),
        *("splits", "dense_shape", "name", "calls", "message", "bases", "step"),
    ]
)


@st.composite
def damaged(draw, observations=OBSERVATIONS):
    """A well-formed observation with a few of its fields replaced or removed."""
    observation = dict(draw(observations))
    for field in draw(st.lists(FIELDS, min_size=1, max_size=3)):
        if draw(st.booleans()):
            observation.pop(field, None)
        else:
            observation[field] = draw(JSON | st.sampled_from(KINDS))
    return observation
