"""What a case expects of a name: every form that YAML can write it in."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from conformance.corpus.language.case import (
    Cancellation,
    Expectation,
    ExpectedAnyOf,
    ExpectedCalls,
    ExpectedDerivative,
    ExpectedError,
    ExpectedNone,
    ExpectedOracle,
    ExpectedRaised,
    ExpectedSeen,
    ExpectedSlices,
    ExpectedStructure,
    ExpectedSurvey,
    ExpectedTensor,
    ExpectedWatched,
    Input,
    Nested,
)
from conformance.corpus.language.document import Node, shortened
from conformance.corpus.language.formula import evaluate_formula
from conformance.corpus.language.literals import (
    COMPLEXES,
    DTYPES,
    FLOATS,
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
Form: TypeAlias = "tuple[tuple[str, ...], Callable[[_Reader, Node, Node], Expectation]]"
WORDS: dict[str, Expectation] = {
    "oracle": ExpectedOracle(),
    "derivative": ExpectedDerivative(),
    "survey": ExpectedSurvey(),
}
"""The expectations that are a word; they say nothing of the value itself."""
WITHIN = ("exact", "element")
MAX_WITHIN = 1e-3
NO_VALUES: dict[type, str] = {
    ExpectedError: "error",
    ExpectedRaised: "raised",
    ExpectedCalls: "calls",
}
TENSOR_KEYS = ("dtype", "shape", "within", "cancels", "dense")
CANCELS_KEYS = ("terms", "reason")
SLICES_KEYS = ("indices", "values", "dense_shape")


def parse_expectation(node: Node, inputs: Inputs, *, departure: bool = False) -> Expectation:
    """One expectation; a fault (and a harmless expectation) for what is none.

    A `departure` records what a target really answers: it may also have the forms `raised` (class
    and whole message of an exception), `data` (a large tensor's raw elements) and `seen` (the text
    of what has no other form), and a value or data may be a NumPy array's (`numpy: true`).
    """
    return _Reader(inputs, EXPECTATION_FORMS | (DEPARTURE_FORMS if departure else {})).read(node)


@dataclass(frozen=True)
class _Reader:
    """Reads expectations over these inputs, in these forms."""

    inputs: Inputs
    forms: Mapping[str, Form]

    def read(self, node: Node) -> Expectation:
        if node.value is None:
            return ExpectedNone()
        if isinstance(node.value, str) and node.value in WORDS:
            if "seen" in self.forms:
                node.fault(f"{node.value} is no answer: write what the target gives")
            return WORDS[node.value]
        if not isinstance(node.value, dict):
            return ExpectedTensor(self.number(node, None))
        found = [form for form in self.forms if form in node.value]
        if len(found) != 1:
            got = shortened(", ".join(node.value)) or "nothing"
            rule = f"an expectation is a tensor, null, {', '.join(WORDS)}, or has exactly one of"
            node.fault(f"{rule}: {', '.join(self.forms)}; got {got}")
            return ExpectedNone()
        keys, parse = self.forms[found[0]]
        node.keys(keys)
        return parse(self, node, node.value[found[0]])

    def number(self, node: Node, dtype: str | None) -> Nested:
        if dtype is None and _has_complex(node):
            dtype = "complex128"
        value = parse_nested(node, dtype)
        if dtype is None and any(isinstance(leaf, str) for leaf in leaves(value)):
            shown = shortened(repr(node.value)) if isinstance(node.value, str) else "text"
            node.fault(f"{shown} is no number: text is {{value: ..., dtype: string}}")
        return value

    # A reader of each form: of the whole expectation, and of what stands under the form's key.

    def tensor(self, node: Node, given: Node) -> Expectation:
        dtype = node.read("dtype", parse_dtype)
        shape = node.read("shape", parse_shape)
        if "formula" in node.mapping():
            value = evaluate_formula(given, self.inputs)
        else:
            value = self.number(given, dtype)
        if shape is not None and not _has_shape(value, shape):
            had = list(shape_of(value) or ())
            message = f"shape {list(shape)} contradicts the value's, {had}"
            node.mapping()["shape"].fault(message)
        within, cancels = node.read("within", _within), node.read("cancels", _cancellation)
        dense, numpy = (bool(node.read(key, _true)) for key in ("dense", "numpy"))
        found = ExpectedTensor(value, dtype, shape, within, cancels, dense, numpy)
        if cancels:
            _check_cancellation(found, node.mapping()["cancels"])
        return found

    def data(self, node: Node, given: Node) -> Expectation:
        missing = [key for key in ("dtype", "shape") if key not in node.mapping()]
        if missing:
            given.fault(f"missing {' and '.join(missing)} beside data")
        dtype, shape = node.read("dtype", parse_dtype) or "", node.read("shape", parse_shape) or ()
        if missing or dtype not in DTYPES:
            return ExpectedTensor(0.0)
        numpy = bool(node.read("numpy", _true))
        return ExpectedTensor(parse_data(given, dtype, shape), dtype, shape, numpy=numpy)

    def structure(self, node: Node, given: Node) -> Expectation:
        if "dict" in node.mapping():
            named = given.mapping()
            return ExpectedStructure("dict", tuple(map(self.part, named.values())), tuple(named))
        kind: Literal["list", "tuple"] = "list" if "list" in node.mapping() else "tuple"
        return ExpectedStructure(kind, tuple(map(self.part, given.items())))

    def part(self, node: Node) -> Expectation:
        """An expectation inside a structure: a value, for an error or a count is a name's own."""
        found = self.read(node)
        if form := NO_VALUES.get(type(found)):
            node.fault(f"{form} has no place inside a structure: expect it of a name")
        return found

    def slices(self, node: Node, given: Node) -> Expectation:
        given.keys(SLICES_KEYS, required=SLICES_KEYS[:2])
        shape = given.read("dense_shape", parse_shape)
        values = given.read("values", self.tensor_part) or ExpectedTensor(0.0)
        indices = given.read("indices", self.tensor_part) or ExpectedTensor(0.0)
        return ExpectedSlices(values, indices, shape)

    def tensor_part(self, node: Node) -> ExpectedTensor:
        found = self.read(node)
        if isinstance(found, ExpectedTensor):
            return found
        node.fault("the parts of indexed_slices are tensors")
        return ExpectedTensor(0.0)

    def error(self, node: Node, given: Node) -> Expectation:
        message, at = node.read("message", Node.line) or "", node.read("at", Node.line)
        return ExpectedError(_class_name(given), message, at)

    def raised(self, node: Node, given: Node) -> Expectation:
        message = node.mapping().get("message", given)
        if message is given or not isinstance(message.value, str):
            message.fault("raised has a message: its whole text")
        return ExpectedRaised(_class_name(given), str(message.value))

    def python(self, node: Node, given: Node) -> Expectation:
        types = {name.removeprefix("Python "): name for name in PYTHON_TYPES}
        kind = node.read("type", Node.line) or type(given.value).__name__
        if kind not in types:
            message = f"no type '{shortened(kind)}' of a Python scalar{suggest(kind, types)}"
            node.mapping().get("type", given).fault(message)
            return ExpectedTensor(0.0)
        dtype = None if kind == "int" else PYTHON_TYPES[types[kind]]
        value = self.number(given, dtype)
        if isinstance(value, tuple):
            given.fault("a Python scalar is one value")
        return ExpectedTensor(value, types[kind], ())

    def seen(self, node: Node, given: Node) -> Expectation:
        return ExpectedSeen(given.line())

    def calls(self, node: Node, given: Node) -> Expectation:
        if type(given.value) is int and given.value >= 0:
            return ExpectedCalls(given.value)
        given.fault(f"calls is a count, got {given.kind}")
        return ExpectedCalls(0)

    def watched(self, node: Node, given: Node) -> Expectation:
        return ExpectedWatched(given.lines())

    def any_of(self, node: Node, given: Node) -> Expectation:
        options = tuple(map(self.read, given.items()))
        if len(options) < 2:
            given.fault("any_of needs two answers at least")
            return ExpectedNone()
        if any(isinstance(o, ExpectedAnyOf) or o in WORDS.values() for o in options):
            given.fault(f"any_of lists answers: {', '.join(WORDS)} and any_of have no place in it")
        if len({isinstance(option, ExpectedCalls) for option in options}) > 1:
            given.fault("any_of of calls and of values: a count is no value")
        return ExpectedAnyOf(options)


def _class_name(node: Node) -> str:
    name = node.line()
    if name and not name.isidentifier():
        node.fault(f"'{shortened(name)}' is no class name, such as ValueError")
    return name


def _has_complex(node: Node) -> bool:
    if isinstance(node.value, list):
        return any(_has_complex(item) for item in node.value)
    return is_complex_text(node.value)


def _has_shape(value: Nested, shape: tuple[int, ...]) -> bool:
    """Whether a literal can have the shape; one without elements can have any such shape."""
    return shape_of(value) in (shape, None) or (not leaves(value) and 0 in shape)


def _within(node: Node) -> str | float | None:
    if node.value in WITHIN:
        return str(node.value)
    if isinstance(node.value, float) and 0.0 < node.value < MAX_WITHIN:
        return node.value
    node.fault(f"within is exact, element, or a relative error below {MAX_WITHIN}")
    return None


def _cancellation(node: Node) -> Cancellation | None:
    node.keys(CANCELS_KEYS, required=CANCELS_KEYS)
    return Cancellation(node.read("terms", _size) or 0.0, node.read("reason", Node.line) or "")


def _size(node: Node) -> float:
    if isinstance(node.value, float) and 0.0 < node.value < math.inf:
        return node.value
    node.fault(f"the size of the largest term is a number above 0, such as 2.0, got {node.kind}")
    return 0.0


def _check_cancellation(expected: ExpectedTensor, node: Node) -> None:
    """What cancels is a zero, or a part of a complex number; `within` says another bound."""
    elements = leaves(expected.value)
    if expected.within is not None:
        node.fault_of_name("within and cancels are two bounds: write one")
    if not any(isinstance(leaf, complex) or leaf == 0 for leaf in elements):
        node.fault_of_name("no element is zero, or has parts: nothing cancels")
    if expected.dtype and expected.dtype not in FLOATS + COMPLEXES:
        node.fault_of_name(f"{expected.dtype} is exact: nothing is rounded")


def _true(node: Node) -> bool:
    if node.value is not True:
        node.fault("write true, or leave the key out")
    return True


def options_of(expectation: Expectation) -> tuple[Expectation, ...]:
    """The answers that an expectation allows: itself, or each of its `any_of`."""
    return expectation.options if isinstance(expectation, ExpectedAnyOf) else (expectation,)


def expects(expectation: Expectation | None, kind: type) -> bool:
    """Whether an expectation, or one of its options, is of a kind such as ExpectedError."""
    return expectation is not None and any(isinstance(o, kind) for o in options_of(expectation))


EXPECTATION_FORMS: dict[str, Form] = {
    "value": (("value", *TENSOR_KEYS), _Reader.tensor),
    "formula": (("formula", *TENSOR_KEYS), _Reader.tensor),
    "python": (("python", "type"), _Reader.python),
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
    "value": (("value", *TENSOR_KEYS, "numpy"), _Reader.tensor),
    "data": (("data", "dtype", "shape", "numpy"), _Reader.data),
    "seen": (("seen",), _Reader.seen),
}
"""The further forms in which a departure tells what a target answers."""
