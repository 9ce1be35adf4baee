"""What a case expects of a name: every form that YAML can write it in."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from conformance.corpus.language.case import (
    Expectation,
    ExpectedAnyOf,
    ExpectedCalls,
    ExpectedError,
    ExpectedNone,
    ExpectedOracle,
    ExpectedSlices,
    ExpectedStructure,
    ExpectedTensor,
    ExpectedWatched,
    Input,
    Nested,
)
from conformance.corpus.language.formula import evaluate_formula
from conformance.corpus.language.literals import (
    is_complex_text,
    leaves,
    parse_dtype,
    parse_nested,
    parse_shape,
    shape_of,
)
from conformance.corpus.language.nodes import Faults, Node, spoken

Inputs = Mapping[str, Input]
ORACLE = "oracle"
WITHIN = ("exact", "element")
MAX_WITHIN = 1e-3
SLICES_KEYS = ("indices", "values", "dense_shape")


def parse_expectation(node: Node, inputs: Inputs, faults: Faults) -> Expectation:
    """One expectation; a fault (and a harmless expectation) for what is none."""
    if node.value is None:
        return ExpectedNone()
    if node.value == ORACLE:
        return ExpectedOracle()
    if not isinstance(node.value, dict):
        return ExpectedTensor(_number(node, None, faults))
    forms = [form for form in FORMS if form in node.value]
    if len(forms) != 1:
        faults.add(
            node,
            "an expectation is a tensor, null, oracle, or has exactly one of: "
            f"{', '.join(FORMS)}; got {spoken(', '.join(node.value)) or 'nothing'}",
        )
        return ExpectedNone()
    keys, parse = FORMS[forms[0]]
    faults.keys(node, keys)
    return parse(node, inputs, faults)


def _number(node: Node, dtype: str | None, faults: Faults) -> Nested:
    if dtype is None and _has_complex(node):
        dtype = "complex128"
    value = parse_nested(node, dtype, faults)
    if dtype is None and any(isinstance(leaf, str) for leaf in leaves(value)):
        shown = spoken(repr(node.value)) if isinstance(node.value, str) else "text"
        faults.add(node, f"{shown} is no number: text is {{value: ..., dtype: string}}")
    return value


def _has_complex(node: Node) -> bool:
    if isinstance(node.value, list):
        return any(_has_complex(item) for item in node.value)
    return is_complex_text(node.value)


def _tensor(node: Node, inputs: Inputs, faults: Faults) -> Expectation:
    mapping = faults.mapping(node)
    dtype = parse_dtype(mapping["dtype"], faults) if "dtype" in mapping else None
    shape = parse_shape(mapping["shape"], faults) if "shape" in mapping else None
    if "formula" in mapping:
        value = evaluate_formula(mapping["formula"], inputs, faults)
    else:
        value = _number(mapping["value"], dtype, faults)
    if shape is not None and not _has_shape(value, shape):
        had = list(shape_of(value) or ())
        faults.add(mapping["shape"], f"shape {list(shape)} contradicts the value's, {had}")
    return ExpectedTensor(value, dtype, shape, _within(mapping.get("within"), faults))


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


def _structure(node: Node, inputs: Inputs, faults: Faults) -> Expectation:
    mapping = faults.mapping(node)
    if "dict" in mapping:
        named = faults.mapping(mapping["dict"])
        items = tuple(_part(item, inputs, faults) for item in named.values())
        return ExpectedStructure("dict", items, tuple(named))
    kind = "list" if "list" in mapping else "tuple"
    items = tuple(_part(child, inputs, faults) for child in faults.items(mapping[kind]))
    return ExpectedStructure("list" if kind == "list" else "tuple", items)


def _part(node: Node, inputs: Inputs, faults: Faults) -> Expectation:
    """An expectation inside a structure: a value, for an error or a count is a name's own."""
    found = parse_expectation(node, inputs, faults)
    if isinstance(found, ExpectedError | ExpectedCalls):
        form = "error" if isinstance(found, ExpectedError) else "calls"
        faults.add(node, f"{form} has no place inside a structure: expect it of a name")
    return found


def _slices(node: Node, inputs: Inputs, faults: Faults) -> Expectation:
    inner = faults.mapping(node)["indexed_slices"]
    faults.keys(inner, SLICES_KEYS, required=("indices", "values"))
    mapping = faults.mapping(inner)
    if "indices" not in mapping or "values" not in mapping:
        return ExpectedNone()
    values = _tensor_part(mapping["values"], inputs, faults)
    indices = _tensor_part(mapping["indices"], inputs, faults)
    shape = parse_shape(mapping["dense_shape"], faults) if "dense_shape" in mapping else None
    return ExpectedSlices(values, indices, shape)


def _tensor_part(node: Node, inputs: Inputs, faults: Faults) -> ExpectedTensor:
    found = parse_expectation(node, inputs, faults)
    if isinstance(found, ExpectedTensor):
        return found
    faults.add(node, "the parts of indexed_slices are tensors")
    return ExpectedTensor(0.0)


def _error(node: Node, inputs: Inputs, faults: Faults) -> Expectation:
    mapping = faults.mapping(node)
    texts = {key: faults.line(child) for key, child in mapping.items()}
    if texts["error"] and not texts["error"].isidentifier():
        faults.add(
            mapping["error"], f"'{spoken(texts['error'])}' is no class name, such as ValueError"
        )
    return ExpectedError(texts["error"], texts.get("message", ""), texts.get("at"))


def _calls(node: Node, inputs: Inputs, faults: Faults) -> Expectation:
    child = faults.mapping(node)["calls"]
    if isinstance(child.value, int) and not isinstance(child.value, bool) and child.value >= 0:
        return ExpectedCalls(child.value)
    faults.add(child, f"calls is a count, got {child.kind}")
    return ExpectedCalls(0)


def _watched(node: Node, inputs: Inputs, faults: Faults) -> Expectation:
    names = faults.items(faults.mapping(node)["watched"])
    return ExpectedWatched(tuple(faults.line(name) for name in names))


def _any_of(node: Node, inputs: Inputs, faults: Faults) -> Expectation:
    child = faults.mapping(node)["any_of"]
    options = tuple(parse_expectation(item, inputs, faults) for item in faults.items(child))
    if len(options) < 2:
        faults.add(child, "any_of needs two answers at least")
        return ExpectedNone()
    if any(isinstance(option, ExpectedAnyOf | ExpectedOracle) for option in options):
        faults.add(child, "any_of lists answers: oracle and any_of have no place in it")
    if len({isinstance(option, ExpectedCalls) for option in options}) > 1:
        faults.add(child, "any_of of calls and of values: a count is no value")
    return ExpectedAnyOf(options)


def options_of(expectation: Expectation) -> tuple[Expectation, ...]:
    """The answers that an expectation allows: itself, or each of its `any_of`."""
    return expectation.options if isinstance(expectation, ExpectedAnyOf) else (expectation,)


def expects(expectation: Expectation | None, kind: type) -> bool:
    """Whether an expectation, or one of its options, is of a kind such as ExpectedError."""
    return expectation is not None and any(isinstance(o, kind) for o in options_of(expectation))


Parser = Callable[[Node, Inputs, Faults], Expectation]
FORMS: dict[str, tuple[tuple[str, ...], Parser]] = {
    "value": (("value", "dtype", "shape", "within"), _tensor),
    "formula": (("formula", "dtype", "shape", "within"), _tensor),
    "list": (("list",), _structure),
    "tuple": (("tuple",), _structure),
    "dict": (("dict",), _structure),
    "indexed_slices": (("indexed_slices",), _slices),
    "error": (("error", "message", "at"), _error),
    "calls": (("calls",), _calls),
    "watched": (("watched",), _watched),
    "any_of": (("any_of",), _any_of),
}
"""Each form of an expectation by the key that marks it: the keys it may have, its reader."""
