"""An axis that asks the catalogue: a value for each call of a family, with a regular point."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

from conformance.corpus import catalogue
from conformance.corpus.catalogue import Intervals, Operation, Variant
from conformance.corpus.language.case import Nested, Scalar
from conformance.corpus.language.document import Node, shortened
from conformance.corpus.language.literals import COMPLEXES, parse_dtype, shape_of, shaped
from conformance.text import suggest

KEYS = ("family", "dtype", "variants", "second", "named", "without")
VARIANTS = ("all", "first")
GOLDEN = (5**0.5 - 1) / 2
"""Its multiples, modulo 1, are spread evenly, and in no order."""
OFF_CENTRE = 0.4
"""The place of a point in its part of the domain: in the middle, sums of points would be zero."""


def rows(query: Node) -> list[Node]:
    """The calls that a query names, each a mapping for the holes of a template.

    `name` is the operation's, with the variant's where there are several; `call` is the call;
    `inputs` are its inputs at a regular point of their domains, in the query's dtype, float64 if it
    names none; `sources` are the names of those that the gradient reaches. `variants: first` takes
    one call of each operation, `second: exists` those with that second derivative; `named` takes
    only what it names, operations or rows, and `without` leaves that out. Calls whose gradient
    reaches no input are none of the rows.
    """
    query.keys(KEYS, required=("family",))
    families = catalogue.families()
    family = query.read("family", lambda node: catalogue.one_of(families, node)) or ""
    dtype = query.read("dtype", parse_dtype) or "float64"
    first = query.read("variants", lambda node: catalogue.one_of(VARIANTS, node)) == "first"
    second = query.read("second", lambda node: catalogue.one_of(catalogue.SECOND, node))
    operations = catalogue.load_family(family) if family in families else {}
    every = {
        _name(operation, variant): (operation, variant)
        for operation in operations.values()
        for variant in operation.variants
    }
    known = {*operations, *every}
    named = query.read("named", lambda node: _named(known, node)) or known
    left_out = query.read("without", lambda node: _named(known, node)) or frozenset()
    found = [
        _row(name, operation, variant, dtype, query)
        for name, (operation, variant) in every.items()
        if named & {name, operation.name} and not left_out & {name, operation.name}
        if dtype in operation.dtypes and second in (None, operation.second)
        if not first or variant is operation.variants[0]
        if any(item.connected for item in variant.inputs)
    ]
    if family in families and not found:
        query.fault(f"the family '{family}' has no such operation")
    return found


def _name(operation: Operation, variant: Variant) -> str:
    alone = len(operation.variants) == 1
    return operation.name if alone else f"{operation.name}_{variant.name}"


def _named(known: Collection[str], node: Node) -> frozenset[str]:
    items = {item.line(): item for item in node.items()}
    for name, item in items.items():
        if name and name not in known:
            item.fault(f"no operation named '{shortened(name)}' here{suggest(name, known)}")
    return frozenset(items)


def _row(name: str, operation: Operation, variant: Variant, dtype: str, query: Node) -> Node:
    point = regular_point(variant, dtype)
    given = {
        "name": name,
        "operation": operation.name,
        "call": variant.call,
        "sources": ", ".join(item.name for item in variant.inputs if item.connected),
        "inputs": {
            item.name: {
                "variable" if item.variable else "constant": point[item.name],
                "dtype": item.dtype or dtype,
            }
            for item in variant.inputs
        },
    }
    return _node(given, query)


def _node(value: Any, query: Node) -> Node:
    """A value as if it stood where the query stands."""
    if isinstance(value, dict):
        value = {key: _node(child, query) for key, child in value.items()}
    elif isinstance(value, tuple):
        value = [_node(child, query) for child in value]
    elif isinstance(value, complex):
        value = f"{value:.3f}"
    return replace(query, value=value)


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
        values: list[complex] = list(_spread(domain, size, number, count, next(turns)))
        if (item.dtype or dtype) in COMPLEXES:
            imaginary = _spread(domain, size, number, count, next(turns))
            values = [complex(*parts) for parts in zip(values, imaginary, strict=True)]
        added = _broadcast(item.plus, item.shape)
        sums = (value + more for value, more in zip(values, added, strict=True))
        point[item.name] = shaped((_rounded(value) for value in sums), item.shape)
    return point


def _spread(domain: Intervals, size: int, number: int, inputs: int, turn: float) -> Iterator[float]:
    """Points all over a domain, of which each of the inputs has its own, in an order by turns."""
    total = sum(high - low for low, high in domain)
    order = sorted(range(size), key=lambda index: index * turn % 1.0)
    for rank in order:
        rest = (rank * inputs + number + OFF_CENTRE) / (size * inputs) * total
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
