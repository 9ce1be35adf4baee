"""What a case expects of a name: every form that YAML can write it in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from conformance.corpus.language.case import (
    Expectation,
    ExpectedAnyOf,
    ExpectedCalls,
    ExpectedError,
    ExpectedNone,
    ExpectedOracle,
    ExpectedRaised,
    ExpectedSeen,
    ExpectedSlices,
    ExpectedStructure,
    ExpectedTensor,
    ExpectedWatched,
    Input,
    Nested,
)
from conformance.corpus.language.document import Faults, Node, shortened
from conformance.corpus.language.formula import evaluate_formula
from conformance.corpus.language.literals import (
    DTYPES,
    PYTHON_TYPES,
    is_complex_text,
    leaves,
    parse_data,
    parse_dtype,
    parse_nested,
    parse_shape,
    shape_of,
)
from conformance.text import suggest

Inputs: TypeAlias = Mapping[str, Input]
Given: TypeAlias = Mapping[str, Node]
Form: TypeAlias = "tuple[tuple[str, ...], Callable[[_Reader, Given], Expectation]]"
AS_THE_ORACLE = "oracle"
WITHIN = ("exact", "element")
MAX_WITHIN = 1e-3
NO_VALUES = {ExpectedError: "error", ExpectedRaised: "raised", ExpectedCalls: "calls"}
SLICES_KEYS = ("indices", "values", "dense_shape")


def parse_expectation(
    node: Node, inputs: Inputs, faults: Faults, *, departure: bool = False
) -> Expectation:
    """One expectation; a fault (and a harmless expectation) for what is none.

    A `departure` records what a target really answers: it may also have the forms `raised` (class
    and whole message of an exception), `data` (a large tensor's raw elements), `python` (a Python
    scalar of a type) and `seen` (the text of what has no other form).
    """
    return _Reader(inputs, faults, EXPECTATION_FORMS | (DEPARTURE_FORMS if departure else {})).read(
        node
    )


@dataclass(frozen=True)
class _Reader:
    """Reads expectations over these inputs, in these forms."""

    inputs: Inputs
    faults: Faults
    forms: Mapping[str, Form]

    def read(self, node: Node) -> Expectation:
        if node.value is None:
            return ExpectedNone()
        if node.value == AS_THE_ORACLE:
            if "seen" in self.forms:
                self.faults.add(node, "oracle is no answer: write what the target gives")
            return ExpectedOracle()
        if not isinstance(node.value, dict):
            return ExpectedTensor(self.number(node, None))
        found = [form for form in self.forms if form in node.value]
        if len(found) != 1:
            self.faults.add(
                node,
                "an expectation is a tensor, null, oracle, or has exactly one of: "
                f"{', '.join(self.forms)}; got {shortened(', '.join(node.value)) or 'nothing'}",
            )
            return ExpectedNone()
        keys, parse = self.forms[found[0]]
        self.faults.keys(node, keys)
        return parse(self, node.value)

    def number(self, node: Node, dtype: str | None) -> Nested:
        if dtype is None and _has_complex(node):
            dtype = "complex128"
        value = parse_nested(node, dtype, self.faults)
        if dtype is None and any(isinstance(leaf, str) for leaf in leaves(value)):
            shown = shortened(repr(node.value)) if isinstance(node.value, str) else "text"
            self.faults.add(node, f"{shown} is no number: text is {{value: ..., dtype: string}}")
        return value

    def tensor(self, given: Given) -> Expectation:
        dtype = parse_dtype(given["dtype"], self.faults) if "dtype" in given else None
        shape = parse_shape(given["shape"], self.faults) if "shape" in given else None
        if "formula" in given:
            value = evaluate_formula(given["formula"], self.inputs, self.faults)
        else:
            value = self.number(given["value"], dtype)
        if shape is not None and not _has_shape(value, shape):
            had = list(shape_of(value) or ())
            message = f"shape {list(shape)} contradicts the value's, {had}"
            self.faults.add(given["shape"], message)
        return ExpectedTensor(value, dtype, shape, _within(given.get("within"), self.faults))

    def data(self, given: Given) -> Expectation:
        missing = [key for key in ("dtype", "shape") if key not in given]
        if missing:
            self.faults.add(given["data"], f"missing {' and '.join(missing)} beside data")
            return ExpectedTensor(0.0)
        dtype = parse_dtype(given["dtype"], self.faults)
        shape = parse_shape(given["shape"], self.faults)
        known = dtype in DTYPES
        value = parse_data(given["data"], dtype, shape, self.faults) if known else 0.0
        return ExpectedTensor(value, dtype, shape)

    def structure(self, given: Given) -> Expectation:
        if "dict" in given:
            named = self.faults.mapping(given["dict"])
            return ExpectedStructure("dict", tuple(map(self.part, named.values())), tuple(named))
        kind: Literal["list", "tuple"] = "list" if "list" in given else "tuple"
        return ExpectedStructure(kind, tuple(map(self.part, self.faults.items(given[kind]))))

    def part(self, node: Node) -> Expectation:
        """An expectation inside a structure: a value, for an error or a count is a name's own."""
        found = self.read(node)
        for kind, form in NO_VALUES.items():
            if isinstance(found, kind):
                self.faults.add(
                    node, f"{form} has no place inside a structure: expect it of a name"
                )
        return found

    def slices(self, given: Given) -> Expectation:
        inner = given["indexed_slices"]
        self.faults.keys(inner, SLICES_KEYS, required=("indices", "values"))
        parts = self.faults.mapping(inner)
        if "indices" not in parts or "values" not in parts:
            return ExpectedNone()
        shape = parse_shape(parts["dense_shape"], self.faults) if "dense_shape" in parts else None
        values, indices = self.tensor_part(parts["values"]), self.tensor_part(parts["indices"])
        return ExpectedSlices(values, indices, shape)

    def tensor_part(self, node: Node) -> ExpectedTensor:
        found = self.read(node)
        if isinstance(found, ExpectedTensor):
            return found
        self.faults.add(node, "the parts of indexed_slices are tensors")
        return ExpectedTensor(0.0)

    def class_name(self, node: Node) -> str:
        name = self.faults.line(node)
        if name and not name.isidentifier():
            self.faults.add(node, f"'{shortened(name)}' is no class name, such as ValueError")
        return name

    def error(self, given: Given) -> Expectation:
        texts = {key: self.faults.line(node) for key, node in given.items() if key != "error"}
        name = self.class_name(given["error"])
        return ExpectedError(name, texts.get("message", ""), texts.get("at"))

    def raised(self, given: Given) -> Expectation:
        message = given.get("message")
        if message is None or not isinstance(message.value, str):
            self.faults.add(message or given["raised"], "raised has a message: its whole text")
        return ExpectedRaised(self.class_name(given["raised"]), str(message and message.value))

    def python(self, given: Given) -> Expectation:
        types = {name.removeprefix("Python "): name for name in PYTHON_TYPES}
        kind = self.faults.line(given["type"]) if "type" in given else "float"
        if kind not in types:
            self.faults.add(given["type"], f"no type '{shortened(kind)}'{suggest(kind, types)}")
            return ExpectedTensor(0.0)
        dtype = None if kind == "int" else PYTHON_TYPES[types[kind]]
        return ExpectedTensor(self.number(given["python"], dtype), types[kind], ())

    def seen(self, given: Given) -> Expectation:
        return ExpectedSeen(self.faults.line(given["seen"]))

    def calls(self, given: Given) -> Expectation:
        count = given["calls"].value
        if isinstance(count, int) and not isinstance(count, bool) and count >= 0:
            return ExpectedCalls(count)
        self.faults.add(given["calls"], f"calls is a count, got {given['calls'].kind}")
        return ExpectedCalls(0)

    def watched(self, given: Given) -> Expectation:
        names = self.faults.items(given["watched"])
        return ExpectedWatched(tuple(self.faults.line(name) for name in names))

    def any_of(self, given: Given) -> Expectation:
        options = tuple(map(self.read, self.faults.items(given["any_of"])))
        if len(options) < 2:
            self.faults.add(given["any_of"], "any_of needs two answers at least")
            return ExpectedNone()
        if any(isinstance(option, ExpectedAnyOf | ExpectedOracle) for option in options):
            message = "any_of lists answers: oracle and any_of have no place in it"
            self.faults.add(given["any_of"], message)
        if len({isinstance(option, ExpectedCalls) for option in options}) > 1:
            message = "any_of of calls and of values: a count is no value"
            self.faults.add(given["any_of"], message)
        return ExpectedAnyOf(options)


def _has_complex(node: Node) -> bool:
    if isinstance(node.value, list):
        return any(_has_complex(item) for item in node.value)
    return is_complex_text(node.value)


def _has_shape(value: Nested, shape: tuple[int, ...]) -> bool:
    """Whether a literal can have the shape; one without elements can have any such shape."""
    return shape_of(value) in (shape, None) or (not leaves(value) and 0 in shape)


def _within(node: Node | None, faults: Faults) -> str | float | None:
    if node is None or node.value in WITHIN:
        return None if node is None else str(node.value)
    if isinstance(node.value, float) and 0.0 < node.value < MAX_WITHIN:
        return node.value
    faults.add(node, f"within is exact, element, or a relative error below {MAX_WITHIN}")
    return None


def options_of(expectation: Expectation) -> tuple[Expectation, ...]:
    """The answers that an expectation allows: itself, or each of its `any_of`."""
    return expectation.options if isinstance(expectation, ExpectedAnyOf) else (expectation,)


def expects(expectation: Expectation | None, kind: type) -> bool:
    """Whether an expectation, or one of its options, is of a kind such as ExpectedError."""
    return expectation is not None and any(isinstance(o, kind) for o in options_of(expectation))


EXPECTATION_FORMS: dict[str, Form] = {
    "value": (("value", "dtype", "shape", "within"), _Reader.tensor),
    "formula": (("formula", "dtype", "shape", "within"), _Reader.tensor),
    "list": (("list",), _Reader.structure),
    "tuple": (("tuple",), _Reader.structure),
    "dict": (("dict",), _Reader.structure),
    "indexed_slices": (("indexed_slices",), _Reader.slices),
    "error": (("error", "message", "at"), _Reader.error),
    "calls": (("calls",), _Reader.calls),
    "watched": (("watched",), _Reader.watched),
    "any_of": (("any_of",), _Reader.any_of),
}
"""Each form of an expectation by the key that marks it: the keys it may have, its reader."""

DEPARTURE_FORMS: dict[str, Form] = {
    "raised": (("raised", "message"), _Reader.raised),
    "data": (("data", "dtype", "shape"), _Reader.data),
    "python": (("python", "type"), _Reader.python),
    "seen": (("seen",), _Reader.seen),
}
"""The further forms in which a departure tells what a target answers."""
