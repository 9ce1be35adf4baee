"""The catalogue of differentiable operations, read from `catalogue/*.yaml`, one file a family."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from conformance.corpus.language import literals
from conformance.corpus.language.case import Nested, Place
from conformance.corpus.language.document import (
    CaseFileError,
    Fault,
    Node,
    read_all,
    read_document,
    shortened,
)
from conformance.corpus.language.features import FEATURES
from conformance.corpus.language.program import names_read, walk
from conformance.corpus.language.vocabulary import BUILTINS, ROOTS, TAGS
from conformance.text import suggest

FOLDER = Path(__file__).with_name("catalogue")
EDGES = ("kinks", "ties", "poles", "bounds")
"""Where a gradient is a convention or does not exist, and is declared by hand."""
REQUIRED_KEYS = ("call", "types", "inputs", "dtypes")
POINT_KEYS = ("at", "call", "value", "gradient", "why")
ARRIVES = "w"
"""What the expression of a gradient calls what arrives at the call: 1, 2, 3, ... in its shape."""
SECOND = ("exists", "zero", "raises")
"""What the second derivative does; `zero`: it is cut, to None or zeros, without an error."""
VALUE_ROOTS = ("np", "scipy")
"""What the expression of a value may name beside its inputs: NumPy and SciPy."""
FRAMEWORKS = ("numpy", "autograd", "mygrad", "jax", "torch", "mlx")
"""Whose spellings an entry may have; `numpy` is that of all who have NumPy's names as `np`."""
WITH_NUMPYS_NAMES = ("autograd", "mygrad", "jax", "mlx")
SHOWN = tuple(dict.fromkeys((*FEATURES, *TAGS, "random")))
"""The features that an entry may name."""
DTYPE_GROUPS = {"floats": literals.FLOATS, "complexes": literals.COMPLEXES}
NAME = re.compile(r"[a-z][a-z0-9_]{0,99}")
HOLE = re.compile(r"\{([a-z][a-z0-9_]*)\}")

Intervals: TypeAlias = "tuple[tuple[float, float], ...]"


@dataclass(frozen=True)
class OperationInput:
    """A differentiable input: regular where each element lies in one interval of its domain.

    `plus` is added to what is drawn, such as a diagonal that keeps a matrix regular. `dtype` is
    that of every call, where it is not the operation's. The gradient with respect to an input that
    is not `connected` is None.
    """

    name: str
    domain: Intervals = ()
    shape: tuple[int, ...] = ()
    complex: Intervals = ()
    plus: Nested = 0.0
    dtype: str | None = None
    connected: bool = True
    variable: bool = False

    def domain_of(self, dtype: str) -> Intervals:
        """Where real elements lie, or the parts of complex ones."""
        return self.complex or self.domain if dtype in literals.COMPLEXES else self.domain


@dataclass(frozen=True)
class Variant:
    """A call with its attributes filled in, and the inputs that it reads.

    `value` is an expression in NumPy and SciPy (`np`, `scipy`) of what the call answers, where
    the oracle cannot say it. `catalogue/values` holds what it is at the regular points.
    """

    name: str
    call: str
    inputs: tuple[OperationInput, ...]
    value: str = ""


@dataclass(frozen=True)
class Points:
    """Edge points of a call, and what its gradients are there; surveyed, where nothing says it.

    `gradient` is an expression in NumPy and SciPy for each connected input, of the inputs and of
    what arrives, `w`; None, where it is surveyed. `why` is the limit, convention or definition
    that says so, or why none does.
    """

    variant: Variant
    dtype: str
    at: Mapping[str, Nested]
    gradient: Mapping[str, str] | None
    why: str


@dataclass(frozen=True)
class Operation:
    """A differentiable operation, as a program calls it.

    `types` are TensorFlow's types of operations whose registered gradients its calls use. An edge
    is a point, as values of inputs, or a condition in words. `surrogate` says why the gradient is,
    by design, not the derivative. Elements that are drawn are at least `apart`. Each element of a
    value may be `k` eps off, and none where it is moved, not computed (0); without `k`, the bounds
    of programs hold.
    """

    name: str
    family: str
    place: Place
    variants: tuple[Variant, ...]
    edges: Mapping[str, tuple[Mapping[str, float] | str, ...]]
    call: str = ""
    types: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    second: str = "exists"
    surrogate: str = ""
    apart: float = 0.0
    since: str = ""
    until: str = ""
    k: float | None = None
    features: tuple[str, ...] = ()
    spellings: Mapping[str, str] = field(default_factory=dict)
    points: tuple[Points, ...] = ()


def load_catalogue(folder: Path = FOLDER) -> dict[str, Operation]:
    """Every operation by its name; raises CaseFileError with the faults of all files."""
    found = read_all([folder / f"{name}.yaml" for name in families(folder)], _family)
    operations: dict[str, Operation] = {}
    for operation in itertools.chain(*found):
        if operation.name in operations:
            message = f"a second operation named '{operation.name}'"
            raise CaseFileError([Fault(operation.place, message)])
        operations[operation.name] = operation
    return operations


@cache
def spellings_of(framework: str) -> dict[str, str]:
    """How a framework spells the operations that it has, by TensorFlow's names without `tf.`."""
    found = {}
    for operation in load_catalogue().values():
        called = ast.parse(operation.variants[0].call, mode="eval").body
        spelling = operation.spellings.get(framework) or (
            operation.spellings.get("numpy", "") if framework in WITH_NUMPYS_NAMES else ""
        )
        if spelling and isinstance(called, ast.Call):
            found[ast.unparse(called.func).removeprefix("tf.")] = spelling
    return found


def families(folder: Path = FOLDER) -> list[str]:
    """The families' names: those of the catalogue's files."""
    return sorted(path.stem for path in folder.glob("*.yaml"))


def load_family(name: str, folder: Path = FOLDER) -> dict[str, Operation]:
    """The operations of one family; raises CaseFileError with the faults of its file."""
    return {operation.name: operation for operation in _family(folder / f"{name}.yaml")}


def _family(file: Path) -> list[Operation]:
    document = read_document(file, f"{file.parent.name}/{file.name}")
    document.keys(("introduction", "operations"), required=("introduction", "operations"))
    document.read("introduction", Node.text)
    entries = document.read("operations", Node.mapping) or {}
    operations = [_operation(name, file.stem, node) for name, node in entries.items()]
    document.finish()
    return operations


def _operation(name: str, family: str, node: Node) -> Operation:
    _check_name(name, node)
    keys = (*FACTS, "inputs", "value", "attributes", "variants", "points", *EDGES)
    node.keys(keys, required=REQUIRED_KEYS)
    given = node.read("inputs", Node.mapping) or {}
    inputs = {key: _input(OperationInput(key), child) for key, child in given.items()}
    variants, facts = _variants(node, inputs), _said(node, FACTS)
    dtypes = facts.get("dtypes") or ("float64",)
    dtype = "float64" if "float64" in dtypes else dtypes[-1]
    points = (node.read("points", Node.mapping) or {}).items() if variants else ()
    return Operation(
        name=name,
        family=family,
        place=node.name_place,
        variants=variants,
        points=tuple(_points(key, child, variants[0], inputs, dtype) for key, child in points),
        edges={
            kind: tuple(_edge(item, inputs) for item in items)
            for kind in EDGES
            if (items := node.read(kind, Node.items))
        },
        **facts,
    )


def _points(
    name: str, node: Node, first: Variant, inputs: Mapping[str, OperationInput], dtype: str
) -> Points:
    """Edge points, of a call of their own or of the first of the operation."""
    _check_name(name, node)
    node.keys(POINT_KEYS, required=("at", "why"))
    call = node.read("call", Node.line) or first.call
    said_by = node.mapping().get("call", node)
    read = _names_in(call, said_by, {*ROOTS, *BUILTINS}, inputs)
    given = {key: item for key, item in inputs.items() if key in read}
    connected = [key for key, item in given.items() if item.connected]

    def expression(child: Node) -> str:
        _names_in(child.line(), child, {*VALUE_ROOTS, *BUILTINS, ARRIVES}, given)
        return child.line()

    at = node.read("at", _of_each(given, lambda child: literals.parse_nested(child, dtype)))
    gradient = node.read("gradient", _of_each(connected, expression))
    value = node.read("value", expression) or first.value
    if gradient is not None and not value:
        node.fault_of_name("missing value: a gradient is declared beside what the call answers")
    variant = Variant(name, call, tuple(given.values()), value)
    return Points(variant, dtype, at or {}, gradient, node.read("why", Node.line) or "")


def _of_each(
    names: Collection[str], reader: Callable[[Node], Any]
) -> Callable[[Node], dict[str, Any]]:
    """A reader of what a mapping says of each of these inputs, and of no other."""

    def read(node: Node) -> dict[str, Any]:
        node.keys((*names,), required=(*names,))
        return {name: node.read(name, reader) for name in names}

    return read


def _said(node: Node, readers: Mapping[str, Callable[[Node], Any]]) -> dict[str, Any]:
    """What a mapping says, each key read by its reader."""
    return {key: node.read(key, read) for key, read in readers.items() if key in node.mapping()}


def _check_name(name: str, node: Node) -> None:
    if not NAME.fullmatch(name):
        rule = "a name here is lower-case letters, digits and _"
        node.fault_of_name(f"'{shortened(name)}': {rule}")


def one_of(known: Sequence[str], node: Node) -> str:
    """The word that a node holds; a fault where it is none of those known."""
    word = node.line()
    if word and word not in known:
        node.fault(f"'{shortened(word)}' is not known here{suggest(word, known)}")
    return word


def _number(node: Node) -> float:
    if isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return float(node.value)
    node.fault(f"expected a number, got {node.kind}")
    return 0.0


def _spellings(node: Node) -> dict[str, str]:
    node.keys(FRAMEWORKS)
    return {framework: child.line() for framework, child in node.mapping().items()}


def _dtypes(node: Node) -> tuple[str, ...]:
    """Dtypes, where `floats` and `complexes` stand for all of a kind."""
    named = [
        DTYPE_GROUPS.get(str(item.value)) or (literals.parse_dtype(item),) for item in node.items()
    ]
    return tuple(itertools.chain(*named))


def _edge(node: Node, inputs: Mapping[str, OperationInput]) -> Mapping[str, float] | str:
    if not isinstance(node.value, dict):
        return node.line()
    node.keys(tuple(inputs))
    return {name: _number(child) for name, child in node.value.items()}


def _input(known: OperationInput, node: Node) -> OperationInput:
    """An input; or a `known` one, where a variant says something else of it."""
    node.keys((*INPUT_FACTS,), required=() if known.domain else ("domain", "shape"))
    return replace(known, **_said(node, INPUT_FACTS))


def _intervals(node: Node) -> Intervals:
    """One interval [low, high], or a list of them from the lowest to the highest."""
    items = node.items()
    parts = items if any(isinstance(item.value, list) for item in items) else [node]
    pairs = [[_number(end) for end in part.items()] for part in parts]
    ends = list(itertools.chain(*pairs))
    rising = all(low < high for low, high in itertools.pairwise(ends))
    if not rising or any(len(pair) != 2 for pair in pairs):
        node.fault(f"expected intervals [low, high] that rise, got {shortened(str(ends))}")
    return tuple(zip(ends[::2], ends[1::2], strict=False))


def _variants(node: Node, inputs: Mapping[str, OperationInput]) -> tuple[Variant, ...]:
    """The calls of an entry; one, named `default`, where it has no variants."""
    call = node.read("call", lambda given: given)
    if call is None:
        return ()
    value = node.read("value", lambda given: given)
    defaults = node.read("attributes", Node.mapping) or {}
    entries = node.read("variants", Node.mapping) or {"default": replace(call, value={})}
    variants = []
    for name, entry in entries.items():
        _check_name(name, entry)
        entry.keys((*defaults, "inputs", "value"))
        given = {**defaults, **entry.mapping()}
        others = given.pop("inputs", replace(entry, value={}))
        others.keys(tuple(inputs))
        changed = others.mapping()
        own = [_input(i, changed[i.name]) if i.name in changed else i for i in inputs.values()]
        valued = given.pop("value", value)
        text = _filled(call, given)
        read = _names_in(text, call, {*ROOTS, *BUILTINS}, inputs)
        known_value = _value(valued, given, inputs) if valued else ""
        found = tuple(item for item in own if item.name in read)
        variants.append(Variant(name, text, found, known_value))
    used = {item.name for variant in variants for item in variant.inputs}
    for key in sorted({*inputs} - used):
        node.fault(f"no call reads the input '{shortened(key)}'")
    return tuple(variants)


def _filled(call: Node, attributes: Mapping[str, Node]) -> str:
    """The call with its holes filled: by texts as they stand, else as Python writes the value."""
    for name in sorted({*attributes} - {*HOLE.findall(call.line())}):
        attributes[name].fault(f"the call has no {{{name}}}")
    return _with_attributes(call, attributes)


def _with_attributes(node: Node, attributes: Mapping[str, Node]) -> str:
    text = node.line()
    for name in sorted({*HOLE.findall(text)} - {*attributes}):
        node.fault(f"no attribute fills {{{name}}}")
    return HOLE.sub(lambda hole: _written(attributes.get(hole[1], node)), text)


def _value(node: Node, attributes: Mapping[str, Node], inputs: Mapping[str, Any]) -> str:
    """What the call answers, in NumPy and SciPy; a fault where it reads anything else."""
    text = _with_attributes(node, attributes)
    _names_in(text, node, {*VALUE_ROOTS, *BUILTINS}, inputs)
    return text


def _written(node: Node) -> str:
    if isinstance(node.value, list):
        return f"[{', '.join(map(_written, node.value))}]"
    return node.value if isinstance(node.value, str) else repr(node.value)


def _names_in(
    text: str, node: Node, known: Collection[str], inputs: Mapping[str, Any]
) -> frozenset[str]:
    """What an expression reads; a fault where it is none, or reads what is not known."""
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError as error:
        node.fault(f"not an expression: {error.msg}: {shortened(text)}")
        return frozenset(inputs)
    parameters = {part.arg for part in walk(tree) if isinstance(part, ast.arg)}
    read = names_read(tree) - parameters
    for name in sorted(read - {*known, *inputs}):
        node.fault(f"'{shortened(name)}' is no input{suggest(name, inputs)}")
    return read


FACTS: Mapping[str, Callable[[Node], Any]] = {
    **dict.fromkeys(("call", "surrogate", "since", "until"), Node.line),
    **dict.fromkeys(("apart", "k"), _number),
    "types": Node.lines,
    "dtypes": _dtypes,
    "second": lambda node: one_of(SECOND, node),
    "features": lambda node: tuple(one_of(SHOWN, item) for item in node.items()),
    "spellings": _spellings,
}
"""How each fact of an operation is read."""
INPUT_FACTS: Mapping[str, Callable[[Node], Any]] = {
    **dict.fromkeys(("domain", "complex"), _intervals),
    **dict.fromkeys(("connected", "variable"), Node.flag),
    "shape": literals.parse_shape,
    "plus": lambda node: literals.parse_nested(node, "float64"),
    "dtype": literals.parse_dtype,
}
