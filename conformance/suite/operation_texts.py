"""The texts of operations that programs are drawn of, and the shapes of their values.

Most operations are those of the catalogue; the texts below are what it does not list: Python's
operators and slices, control flow, gradients of one's own, variables, and what has no gradient.
`tests/suite/test_sweep.py` holds both against the oracle's names.

A text has holes: `x` and `y` are values that fit, `v` a variable, `f` a new name, and `axis`,
`axes` and `keepdims` are attributes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np

from conformance.corpus.catalogue import Operation, OperationInput, Variant, load_catalogue

Shape: TypeAlias = "tuple[int, ...] | None"
"""The sizes of a value's axes; None where the draft does not follow them."""
Holes: TypeAlias = Mapping[str, str]
"""What a text's holes were filled with, by their names."""

SAME_SHAPE = (
    *("-{x}", "{x} * 0.5", "2.0 - {x}", "{x} ** 2", "{x} ** 0.5", "1.0 / {x}", "{x} % 2.0"),
    *("tf.zeros_like({x})", "tf.ones_like({x})", "tf.convert_to_tensor({x})"),
    *("tf.identity_n([{x}, {y}])[0]", "tf.raw_ops.IdentityN(input=[{x}])[0]"),
    *("tf.cast({x}, tf.float64)", "tf.cast({x}, tf.float32)", "tf.cast({x}, tf.int32)"),
    *("tf.cast({x}, tf.int64)", "tf.cast({x}, tf.complex128)", "tf.cast({x}, tf.complex64)"),
    *("tf.cast(tf.cast({x}, tf.float16), tf.float64)", "tf.cast({x} > 0.5, tf.float64)"),
    *("tf.where({x} > 0.5, {x}, -{x})", "tf.raw_ops.PreventGradient(input={x})"),
    *("tf.grad_pass_through(tf.exp)({x})", "tf.compat.v1.grad_pass_through(tf.round)({x})"),
    *("tf.recompute_grad(tf.sin)({x})", "tf.nest.map_structure(tf.sin, [{x}])[0]"),
    *("tf.stop_gradient({x})", "tf.function(lambda u: u * u)({x})"),
    "tf.py_function(tf.sin, [{x}], tf.float64)",
    "tf.numpy_function(np.sin, [{x}], tf.float64)",
    "tf.quantization.quantize_and_dequantize_v2({x}, -1.0, 1.0, range_given=True)",
    "tf.cond(tf.reduce_sum({x}) > 0.5, lambda: {x} * {x}, lambda: tf.sin({x}))",
    "tf.switch_case(tf.constant(1), [lambda: {x}, lambda: {x} * {x}])",
    "tf.while_loop(lambda i, u: i < 2, lambda i, u: (i + 1, u * {x}), (0, {x}))[1]",
    "@tf.custom_gradient\ndef {f}(u):\n    return tf.sin(u), lambda ct: ct * 2.0\n{f}({x})",
    "@tf.custom_gradient\ndef {f}(u):\n    return u * u, lambda ct: None\n{f}({x})",
    "@tf.recompute_grad\ndef {f}(u):\n    return tf.sin(u) * u\n{f}({x})",
)
"""Texts whose value has the shape of `x`."""

BROADCASTING = (
    *("{x} + {y}", "{x} - {y}", "{x} * {y}", "{x} / {y}", "{x} ** {y}", "{x} // {y}", "{x} % {y}"),
    *("tf.where(tf.less({y}, {x}), {x}, {y})", "tf.experimental.numpy.multiply({x}, {y})"),
    "@tf.custom_gradient\ndef {f}(u, w):\n"
    "    return u * w, lambda ct: (tf.reduce_sum(ct) * tf.ones_like(u), None)\n"
    "{f}({x}, {y})",
)
"""Texts whose value has the shape to which `x` and `y` broadcast."""

COMPOSED = (
    *("tf.linalg.matvec({x}, {y})", "tf.linspace({x}, {y}, 3)", "tf.nn.swish({x})"),
    *("tf.tensordot({x}, {y}, 0)", "tf.tensordot({x}, {y}, [[0], [0]])", "tf.repeat({x}, 2)"),
    *("tf.norm({x}, axis={axes}, keepdims={keepdims})", "tf.clip_by_norm({x}, 1.0, axes=[0])"),
    "tf.experimental.numpy.sum({x}, axis={axes}, keepdims={keepdims})",
    "tf.image.adjust_contrast(tf.reshape({x}, [2, 1, 3]), 2.0)",
    "tf.image.adjust_saturation(tf.reshape({x}, [2, 1, 3]), 0.5)",
    "tf.image.hsv_to_rgb(tf.reshape({x}, [2, 1, 3]))",
    "tf.nn.conv2d(tf.reshape({x}, [1, 3, 2, 1]), tf.reshape({y}, [2, 1, 1, 1]), 1, 'SAME')",
)
"""Texts of functions without a rule of their own, and of ways to call others."""

RESHAPING = (
    *("{x} * tf.zeros([2], tf.float64)", "{x} * tf.ones([2, 1], tf.float64)", "{x} @ {y}"),
    *("{x} * tf.constant([0.5, 2.0], tf.float64)", "{x} * tf.range(2.0, dtype=tf.float64)"),
    *("tf.shape({x})", "tf.size({x})", "tf.cast(tf.size({x}), tf.float64) * {x}"),
    *("tf.bitcast(tf.bitcast({x}, tf.int64), tf.float64)", "tf.reduce_all({x} > 0.0)"),
    *("tf.histogram_fixed_width({x}, [0.0, 2.0], 2)", "tf.unstack({x}, axis={axis})[0]"),
    "{x} * tf.cast(tf.argmax({x}, axis={axis}), tf.float64)",
)
"""Texts that give another shape, or refuse `x`."""

READING = (
    *("{x}[0]", "{x}[-1]", "{x}[..., 0]", "{x}[None]", "{x}[..., ::-1]", "{x}[1:]"),
    *("{x}[:, 1]", "{x}[::2, None]"),
    "tf.TensorArray(tf.float64, size=2).write(0, {x}).write(1, {y}).stack()",
    "tf.scan(lambda u, w: u * w, {x})",
    "tf.foldl(lambda u, w: u * w, {x})",
    "tf.nest.flatten({{'p': {x}, 'q': [{y}]}})[1]",
)
"""Texts that read or write parts of `x`."""

OF_VARIABLES = (
    *("{v}.value()", "{v}.sparse_read([0, 0])", "{v}.gather_nd([[0]])"),
    *("{v}.assign({x})", "{v}.assign_add({v} * 0.5)", "{v}.assign_sub(tf.ones_like({v}))"),
    *("tf.Variable({x}) * 2.0", "tf.gather({v}, [0])"),
    "@tf.custom_gradient\ndef {f}(u):\n"
    "    return u * {v}, lambda ct, variables=None: (\n"
    "        tf.reduce_sum(ct) * tf.ones_like(u), [tf.reduce_sum(ct) * tf.ones_like({v})])\n"
    "{f}({x})",
    "@tf.recompute_grad\ndef {f}(u):\n    return tf.sin(u) * {v}\n{f}({x})",
)
"""Texts that need a variable `v`."""


def _same(holes: Holes, shapes: Mapping[str, Shape]) -> Shape:
    return shapes[holes["x"]]


def _unknown(holes: Holes, shapes: Mapping[str, Shape]) -> Shape:
    return None


def _broadcast(holes: Holes, shapes: Mapping[str, Shape]) -> Shape:
    if "y" not in holes:
        return None
    x, y = shapes[holes["x"]], shapes[holes["y"]]
    return None if x is None or y is None else np.broadcast_shapes(x, y)


def _reduced(holes: Holes, shapes: Mapping[str, Shape]) -> Shape:
    if "axes" not in holes:
        return None
    shape = shapes[holes["x"]]
    axes = [int(axis) for axis in re.findall(r"-?\d", holes["axes"])]
    if shape is None or any(not -len(shape) <= axis < len(shape) for axis in axes):
        return None
    if holes["axes"] == "None":
        axes = [*range(len(shape))]
    gone = {axis % len(shape) for axis in axes}
    if holes["keepdims"] == "True":
        return tuple(1 if axis in gone else size for axis, size in enumerate(shape))
    return tuple(size for axis, size in enumerate(shape) if axis not in gone)


Family: TypeAlias = "tuple[Sequence[str], Callable[[Holes, Mapping[str, Shape]], Shape]]"
"""Texts, and what shape their values have."""
OWN: tuple[tuple[int, Family], ...] = (
    (2, (SAME_SHAPE, _same)),
    (2, (BROADCASTING, _broadcast)),
    (1, (RESHAPING, _unknown)),
    (1, (COMPOSED, _unknown)),
    (1, (READING, _unknown)),
    (1, (OF_VARIABLES, _unknown)),
)
"""How often each family of the texts above is drawn."""
OWN_TEXTS = frozenset(text for _, (texts, _) in OWN for text in texts)
OF_CATALOGUE: Mapping[str, tuple[int, Callable[[Holes, Mapping[str, Shape]], Shape]]] = {
    "unary": (3, _same),
    "binary": (2, _broadcast),
    "reductions": (3, _reduced),
}
"""The same for families of the catalogue; of others one value is drawn in OTHERS, all together."""
OTHERS = 1


@dataclass(frozen=True)
class Call:
    """A call of the catalogue as it stands there, the dtypes it takes, and its text with holes."""

    call: str
    inputs: Sequence[OperationInput]
    dtypes: Sequence[str]
    text: str


@cache
def calls_of_catalogue() -> Sequence[Call]:
    """Every call of the catalogue that has inputs."""
    return [
        Call(variant.call, variant.inputs, _drawn_dtypes(operation), _text(variant))
        for operation in load_catalogue().values()
        for variant in operation.variants
        if variant.inputs
    ]


def _drawn_dtypes(operation: Operation) -> Sequence[str]:
    """What an operation takes of the dtypes that are drawn, float64 the most."""
    drawn = (*("float64",) * 4, "float32", "complex128")
    return [dtype for dtype in drawn if dtype in operation.dtypes] or operation.dtypes


@cache
def texts_of_catalogue() -> Mapping[str, tuple[str, ...]]:
    """The calls of the catalogue by family; those that differ by an axis alone are one text."""
    found: dict[str, dict[str, None]] = {}
    for operation in load_catalogue().values():
        texts = dict.fromkeys(map(_text, operation.variants))
        found.setdefault(operation.family, {}).update(texts)
    return {family: (*texts,) for family, texts in found.items()}


def _text(variant: Variant) -> str:
    """A call with holes for its inputs, the second and all others alike, and for its axes."""
    marks = {
        item.name: "__y__" if number else "__x__" for number, item in enumerate(variant.inputs)
    }
    marks |= {item.name: "__v__" for item in variant.inputs if item.variable}
    tree = _Marked(marks).visit(ast.parse(variant.call, mode="eval"))
    text = ast.unparse(tree).replace("{", "{{").replace("}", "}}")
    return re.sub(r"__([a-z]+)__", r"{\1}", text)


class _Marked(ast.NodeTransformer):
    """Marks the inputs of a call, and the axes that it names, as holes of a text."""

    def __init__(self, marks: Mapping[str, str]) -> None:
        self.marks = marks

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.marks.get(node.id, node.id))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        kept = any(word.arg == "keepdims" for word in node.keywords)
        marks = {"axis": "__axes__", "keepdims": "__keepdims__"} if kept else {"axis": "__axis__"}
        for word in node.keywords:
            if word.arg in marks:
                word.value = ast.Name(marks[word.arg])
        return self.generic_visit(node)


def families(admits: Callable[[str], bool]) -> Iterator[tuple[int, Family]]:
    """How often each family is drawn, and its admitted texts; there may be none."""
    others: list[str] = []
    for name, texts in texts_of_catalogue().items():
        admitted = [text for text in texts if admits(text)]
        if name in OF_CATALOGUE:
            weight, shape_of = OF_CATALOGUE[name]
            yield weight, (admitted, shape_of)
        else:
            others += admitted
    yield OTHERS, (others, _unknown)
    yield from ((weight, ([*filter(admits, texts)], of)) for weight, (texts, of) in OWN)
