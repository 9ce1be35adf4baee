"""An axis that asks the catalogue: a value for each call of a family, with a regular point."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from conformance.corpus import catalogue
from conformance.corpus.catalogue import Intervals, Operation, Points, Variant
from conformance.corpus.language.case import Nested, Scalar
from conformance.corpus.language.document import Node, shortened
from conformance.corpus.language.literals import (
    COMPLEXES,
    EPS,
    parse_dtype,
    shape_of,
    shaped,
)
from conformance.text import suggest

KEYS = ("family", "dtype", "variants", "second", "jacobian", "moved", "named", "without")
VARIANTS = ("all", "first")
POINTS = ("declared", "surveyed")
OF_POINTS = ("family", "points", "named", "without")
"""The keys of a query that asks for edge points."""
WIDTHS = ("bfloat16", "float16", "float32", "float64", "complex64", "complex128")
"""The dtypes, from the narrowest to the widest."""
REAL_OF = {dtype: dtype for dtype in WIDTHS} | {"complex64": "float32", "complex128": "float64"}
COMPLEX_OF = {dtype: dtype for dtype in WIDTHS} | {"float32": "complex64", "float64": "complex128"}
ORACLE, DERIVATIVE = "oracle", "derivative"
ELEMENT_BY_ELEMENT = ("bfloat16", "float16", "float32")
"""Where the bound of the largest element would let a small one be off by too much."""
OF_SQUARES = 4096
"""The eps of float32 by which a square may be off: where terms cancel, it doubles what is lost."""
PLACES = 9
"""The decimals of the slope of what moves numbers: quotients in float32 are off by 1e-12."""
EXPECTED = ("result", "squared", "gradient", "tangent", "jacobian")
"""What a row says of the expectations of a case."""
GOLDEN = (5**0.5 - 1) / 2
"""Its multiples, modulo 1, are spread evenly, and in no order."""
OFF_CENTRE, IMAGINARY = 0.4, 0.06
"""The place of a point in its part of the domain, and that of its imaginary part.

In the middle sums of points would be zero, and at the same place parts of their products.
"""


def rows(query: Node) -> list[Node]:
    """The calls that a query names, each a mapping for the holes of a template.

    `name` is the operation's, with the variant's where there are several; `call` is the call;
    `inputs` are its inputs at a regular point of their domains, in the query's dtype, the widest
    real one if it names none; `sources` are the names of those that the gradient reaches. The
    others are what is expected: `result` is what the call answers, `squared` the square of that,
    and `gradient` what stands for the gradient of the square; with `jacobian: true` also the
    `jacobian`, and the `tangent` of half of the sources and two. `moved: true` takes those that
    move numbers and compute none, and says as `upstream` what is exactly the gradient when 1, 2,
    3, ... arrive.

    A list of dtypes makes a row of each, whose name ends with the dtype. `variants: first` takes
    one call of each operation, `second: exists` those with that second derivative; `named` takes
    only what it names, operations or rows, and `without` leaves that out. No row is of a call whose
    gradient reaches no input, or is by design not the derivative. `points` asks for edge points
    instead: see `_at_points`.
    """
    at_points = isinstance(query.value, dict) and "points" in query.value
    query.keys(OF_POINTS if at_points else KEYS, required=("family",))
    known = catalogue.families()
    asked = query.read("family", lambda node: _families(known, node)) or []
    families = [family for family in asked if family in known]
    found = _at_points(families, query) if at_points else _at_regular_points(families, query)
    if families and not found:
        query.fault(f"no such operation in {', '.join(families)}")
    return found


def _families(known: Sequence[str], node: Node) -> list[str]:
    items = node.items() if isinstance(node.value, list) else [node]
    return [catalogue.one_of(known, item) for item in items]


def _at_regular_points(families: Sequence[str], query: Node) -> list[Node]:
    dtypes = query.read("dtype", _dtypes) or {"": ""}
    first = query.read("variants", lambda node: catalogue.one_of(VARIANTS, node)) == "first"
    second = query.read("second", lambda node: catalogue.one_of(catalogue.SECOND, node))
    jacobian, moved = (bool(query.read(key, Node.flag)) for key in ("jacobian", "moved"))
    calls = {name: call for family in families for name, call in _calls(family).items()}
    every = {
        f"{name}{ending}": (name, operation, variant, dtype)
        for name, (operation, variant) in calls.items()
        for ending, asked in dtypes.items()
        if (dtype := _dtype(asked, name, operation, variant, jacobian=jacobian))
    }
    known = {*every, *calls, *(operation.name for operation, _ in calls.values())}
    chosen = _chooser(known, query)
    return [
        _row(row, name, operation, variant, dtype, query, jacobian=jacobian)
        for row, (name, operation, variant, dtype) in every.items()
        if second in (None, operation.second)
        if not first or variant is operation.variants[0]
        if not moved or (operation.k == 0 and "jacobian" in _known(operation, name))
        if not operation.surrogate and any(item.connected for item in variant.inputs)
        if chosen({row, name, operation.name})
    ]


def _dtype(asked: str, name: str, operation: Operation, variant: Variant, *, jacobian: bool) -> str:
    """The dtype of a row: as asked for, or the widest real one; nothing where it has none.

    Of some values the derivatives are known in a narrower dtype alone.
    """
    dtypes = [dtype for dtype in operation.dtypes if dtype not in COMPLEXES]
    if asked:
        dtypes = [asked] if asked in operation.dtypes else []
    if jacobian and variant.value:
        known = _values(operation.family).get(name, {}).get("jacobian", {})
        dtypes = [dtype for dtype in dtypes if dtype in known]
    return max(dtypes, key=WIDTHS.index, default="")


def _chooser(known: Collection[str], query: Node) -> Callable[[Collection[str]], bool]:
    """Whether a row of one of these names is among those that a query names."""
    named = query.read("named", lambda node: _named(known, node)) or frozenset(known)
    left_out = query.read("without", lambda node: _named(known, node)) or frozenset()
    return lambda names: not named.isdisjoint(names) and left_out.isdisjoint(names)


def _at_points(families: Sequence[str], query: Node) -> list[Node]:
    """The edge points of families' operations, each a mapping for the holes of a template.

    `name` is `OPERATION_at_POINTS`, `result` what is declared of the value and `gradient` a list of
    what is of the gradients, None where an input is not connected, and `why` says why. `sources`
    are all inputs.
    """
    kind = query.read("points", lambda node: catalogue.one_of(POINTS, node))
    every = {name: found for family in families for name, found in points_of(family).items()}
    chosen = _chooser({*every, *(operation.name for operation, _ in every.values())}, query)
    return [
        _points_row(name, operation, points, query)
        for name, (operation, points) in every.items()
        if kind == POINTS[points.gradient is None] and chosen({name, operation.name})
    ]


@cache
def points_of(family: str) -> dict[str, tuple[Operation, Points]]:
    """The edge points of a family's operations, by the names of their rows."""
    return {
        f"{operation.name}_at_{points.variant.name}": (operation, points)
        for operation in catalogue.load_family(family).values()
        for points in operation.points
    }


def _points_row(name: str, operation: Operation, points: Points, query: Node) -> Node:
    given = _given(name, operation, points.variant, points.dtype, points.at)
    given |= {"sources": ", ".join(points.at), "why": points.why}
    if points.gradient is not None:
        known = _values(operation.family)[name]
        declared = {key: {**value, "within": "element"} for key, value in known.items()}
        gradient = [declared.get(key) for key in points.at]
        given |= {"result": declared["value"], "gradient": gradient}
    return _node(given, query)


def _dtypes(node: Node) -> dict[str, str]:
    """The dtypes, each by what the names of its rows end with."""
    if isinstance(node.value, list):
        return {f"_{(dtype := parse_dtype(item))}": dtype for item in node.value}
    return {"": parse_dtype(node)}


@cache
def _calls(family: str) -> dict[str, tuple[Operation, Variant]]:
    """The calls of a family, by the names of their rows."""
    return {
        row_name(operation, variant): (operation, variant)
        for operation in catalogue.load_family(family).values()
        for variant in operation.variants
    }


def row_name(operation: Operation, variant: Variant) -> str:
    """What a row is named: as its operation, with the variant's name where there are several."""
    alone = len(operation.variants) == 1
    return operation.name if alone else f"{operation.name}_{variant.name}"


def _named(known: Collection[str], node: Node) -> frozenset[str]:
    items = {item.line(): item for item in node.items()}
    for name, item in items.items():
        if name and name not in known:
            item.fault(f"no operation named '{shortened(name)}' here{suggest(name, known)}")
    return frozenset(items)


def _row(
    row: str,
    name: str,
    operation: Operation,
    variant: Variant,
    dtype: str,
    query: Node,
    *,
    jacobian: bool,
) -> Node:
    given = _given(row, operation, variant, dtype, regular_point(variant, dtype))
    given["sources"] = ", ".join(item.name for item in variant.inputs if item.connected)
    given |= dict.fromkeys(EXPECTED, ORACLE)
    if variant.value:
        known = _known(operation, name)
        given |= _expected(known[dtype], dtype, operation.k)
        if operation.k == 0 and "jacobian" in known:
            given["upstream"] = {"list": _upstream(variant, known, dtype)}
        if jacobian:
            by_source = [_tensor(part, dtype) for part in known["jacobian"][dtype]]
            tangent = {**_tensor(known["tangent"][dtype], dtype), "dense": True}
            given |= {"jacobian": {"list": by_source}, "tangent": tangent}
    return _node(given, query)


def _upstream(variant: Variant, known: Mapping[str, Any], dtype: str) -> list[dict[str, Any]]:
    """The gradient by each input that is connected, when 1, 2, 3, ... arrive and are moved."""
    (jacobians,) = known["jacobian"].values()
    connected = [item for item in variant.inputs if item.connected]
    found = []
    for item, jacobian in zip(connected, jacobians, strict=True):
        size, slopes = math.prod(item.shape), [round(slope, PLACES) for slope in _flat(jacobian)]
        sums = [
            sum(weight * slope for weight, slope in enumerate(slopes[place::size], start=1))
            for place in range(size)
        ]
        moved = _tensor(shaped(iter(sums), item.shape), item.dtype or dtype)
        found.append({**moved, "within": "exact", "dense": True})
    return found


def _flat(value: Any) -> list[float]:
    """The numbers of nested lists, in order."""
    return [one for part in value for one in _flat(part)] if isinstance(value, list) else [value]


def _given(
    name: str, operation: Operation, variant: Variant, dtype: str, point: Mapping[str, Nested]
) -> dict[str, Any]:
    """What every row has."""
    return {
        "name": name,
        "operation": operation.name,
        "family": operation.family,
        "call": variant.call,
        "dtype": dtype,
        "inputs": {
            item.name: {
                "variable" if item.variable else "constant": point[item.name],
                "dtype": item.dtype or dtype,
            }
            for item in variant.inputs
        },
    }


def _expected(value: Any, dtype: str, k: float | None) -> dict[str, Any]:
    """What is expected of a call that answers this value, each element within `k` eps of it.

    That is for reals: the parts of complex numbers cancel, and a few eps of 16 bits are per cents.
    """
    result, squared = _tensor(value, dtype), _tensor(_squared(value), dtype)
    if dtype in ELEMENT_BY_ELEMENT:
        result["within"] = "element"
    if dtype == "float32" and squared["dtype"] == dtype:
        squared["within"] = OF_SQUARES * EPS[dtype]
    if k == 0:
        result["within"] = "exact"
    elif k and dtype in ("float32", "float64"):
        result["within"] = k * EPS[dtype]
    return {"result": result, "squared": squared, "gradient": DERIVATIVE}


def _tensor(value: Any, dtype: str) -> dict[str, Any]:
    """A tensor of these numbers, complex or real as they are, as precise as the dtype."""
    leaf = value
    while isinstance(leaf, list):
        leaf = leaf[0] if leaf else 0.0
    return {"value": value, "dtype": (COMPLEX_OF if isinstance(leaf, str) else REAL_OF)[dtype]}


def _squared(value: Any) -> Any:
    """The square of each element."""
    if isinstance(value, list):
        return [_squared(item) for item in value]
    if isinstance(value, str):
        square = complex(value) ** 2 + 0.0  # whose zeros have no sign
        return f"{square.real!r}{square.imag:+}j"
    return value * value


def _known(operation: Operation, row: str) -> dict[str, Any]:
    """What a call of this row answers, where the catalogue's values say it."""
    return _values(operation.family).get(row, {})


@cache
def _values(family: str) -> dict[str, dict[str, Any]]:
    """What calls of a family answer at their regular points, by row and dtype or derivative."""
    path = catalogue.FOLDER / "values" / f"{family}.json"
    return dict(json.loads(path.read_text("utf-8"))) if path.exists() else {}


def _node(value: Any, query: Node) -> Node:
    """A value as if it stood where the query stands."""
    if isinstance(value, dict):
        value = {key: _node(child, query) for key, child in value.items()}
    elif isinstance(value, tuple | list):
        value = [_node(child, query) for child in value]
    elif isinstance(value, complex):
        value = f"{value:.3f}"
    return query.holding(value)


# ----- regular points -----


def regular_point(variant: Variant, dtype: str) -> dict[str, Nested]:
    """Values of the inputs inside their domains, with three decimals and in no order.

    No two elements are equal, within an input and between inputs of one domain. The same call has
    the same values for ever. Few float64 values of three decimals fit into a narrower dtype.
    """
    turns = (GOLDEN * number % 1.0 for number in itertools.count(1))
    count = len(variant.inputs)
    point = {}
    for number, item in enumerate(variant.inputs):
        domain, size = item.domain_of(item.dtype or dtype), math.prod(item.shape)
        values: list[complex] = list(_spread(domain, size, number + OFF_CENTRE, count, next(turns)))
        if (item.dtype or dtype) in COMPLEXES:
            imaginary = _spread(domain, size, number + IMAGINARY, count, next(turns))
            values = [complex(*parts) for parts in zip(values, imaginary, strict=True)]
        added = _broadcast(item.plus, item.shape)
        sums = (value + more for value, more in zip(values, added, strict=True))
        point[item.name] = shaped((_rounded(value) for value in sums), item.shape)
    return point


def _spread(domain: Intervals, size: int, own: float, inputs: int, turn: float) -> Iterator[float]:
    """Points all over a domain, of which each of the inputs has its own, in an order by turns."""
    total = sum(high - low for low, high in domain)
    order = sorted(range(size), key=lambda index: index * turn % 1.0)
    for rank in order:
        rest = (rank * inputs + own) / (size * inputs) * total
        for low, high in domain:
            if rest <= high - low:
                yield round(low + rest, 3)
                break
            rest -= high - low


def _rounded(value: complex) -> Scalar:
    """A number with the three decimals that it has but for the error of a sum."""
    if isinstance(value, complex):
        return complex(round(value.real, 3), round(value.imag, 3))
    return round(value, 3)


def _broadcast(value: Nested, shape: Sequence[int]) -> Iterator[Any]:
    """The elements of a value that is repeated to a shape, as NumPy broadcasts it."""
    own = shape_of(value) or ()
    for index in itertools.product(*map(range, shape)):
        found: Any = value
        for place, size in zip(index[len(shape) - len(own) :], own, strict=True):
            found = found[place if size > 1 else 0]
        yield found
