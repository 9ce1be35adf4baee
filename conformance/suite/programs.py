"""Random tape programs in the case language, drawn with hypothesis.

A program has one to three inputs, a few operations on them, and a query. The operations are those
of the catalogue; the texts below are what it does not list: Python's operators and slices, control
flow, gradients of one's own, variables, and what has no gradient. `tests/suite/test_sweep.py` holds
both against the oracle's names. Values and attributes are drawn from what fits and, now and then,
from what does not: an error is an answer too. All choices are hypothesis's own, so that a program
that fails shrinks.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from textwrap import indent
from typing import TypeAlias

import numpy as np
from hypothesis import strategies as st

from conformance.corpus.catalogue import Variant, load_catalogue
from conformance.corpus.language.case import Case
from conformance.corpus.language.loader import load_text
from conformance.corpus.language.program import names_read, tree_of

Shape: TypeAlias = "tuple[int, ...] | None"
"""The sizes of a value's axes; None where the draft does not follow them."""
Holes: TypeAlias = Mapping[str, str]
"""What a text's holes were filled with, by their names."""

NUMBERS = (-2.0, -1.5, -1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 2.0, 3.0)
"""Few, and exact in every float, so that ties, zeros, ones and bounds come often."""
DTYPES = ("float32", "float64", "float64", "float64", "int32", "complex128")
SHAPES = ((), (1,), (3,), (2, 3), (2, 1), (2, 2), (3, 2), (2, 0))
ATTRIBUTES = {
    "axis": ("0", "-1", "1", "2"),
    "axes": ("None", "0", "-1", "1", "[0, 1]", "[]", "[-1, 0]", "2", "[0, 0]"),
    "keepdims": ("False", "True"),
}


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
    "        tf.reduce_sum(ct) * tf.ones_like(u), [2.0 * tf.ones_like({v})])\n"
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
OTHERS = 4


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


@cache
def _weighted(admits: Callable[[str], bool]) -> Sequence[Family]:
    """The families of admitted texts, each as often as it is drawn."""
    return [family for weight, family in _families(admits) if family[0] for _ in range(weight)]


def _families(admits: Callable[[str], bool]) -> Iterator[tuple[int, Family]]:
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


@dataclass
class _Draft:
    """The statements of a program so far, and the shapes of its values."""

    inputs: dict[str, str] = field(default_factory=dict)
    variables: list[str] = field(default_factory=list)
    shapes: dict[str, Shape] = field(default_factory=dict)
    statements: list[str] = field(default_factory=list)

    @property
    def last(self) -> str:
        return f"v{len(self.statements) - 1}"

    def add(self, text: str, shape: Shape) -> None:
        *before, value = text.split("\n")
        name = f"v{len(self.statements)}"
        self.statements.append("\n".join([*before, f"{name} = {value}"]))
        self.shapes[name] = shape


@dataclass(frozen=True)
class _Query:
    """The statements that ask, and the names that they bind."""

    run: Sequence[str]
    observed: Sequence[str]


def any_text(text: str) -> bool:
    """Admits every operation."""
    return True


@st.composite
def programs(draw: st.DrawFn, most: int = 4, admits: Callable[[str], bool] = any_text) -> str:
    """The YAML entry of a case: a program of at most `most` operations, and what is observed.

    `admits` says of the text of an operation whether it may be drawn.
    """
    families = _weighted(admits)
    draft = _Draft()
    _draw_inputs(draw, draft)
    for _ in range(draw(st.integers(1, most))):
        _draw_statement(draw, draft, families)
    query = draw(st.sampled_from(QUERIES))(draw, draft)
    return _entry(draft, query)


def case_of(entries: Sequence[str]) -> list[Case]:
    """The cases that these entries declare. Errors: CaseFileError where the language has none."""
    listed = "".join(
        f"  program_{number}:\n{indent(entry, ' ' * 4)}\n" for number, entry in enumerate(entries)
    )
    return load_text(f"introduction: Drawn programs.\ncases:\n{listed}")


def _draw_inputs(draw: st.DrawFn, draft: _Draft) -> None:
    dtype = draw(st.sampled_from(DTYPES))
    for name in ("x", "y", "z")[: draw(st.integers(1, 3))]:
        shape = draw(st.sampled_from(SHAPES))
        kind = draw(st.sampled_from(("constant", "constant", "constant", "variable")))
        if kind == "variable":
            draft.variables.append(name)
        draft.inputs[name] = f"{{{kind}: {_literal(draw, shape, dtype)}, dtype: {dtype}}}"
        draft.shapes[name] = shape


def _literal(draw: st.DrawFn, shape: tuple[int, ...], dtype: str) -> str:
    count = int(np.prod(shape, dtype=int))
    values = draw(st.lists(st.sampled_from(NUMBERS), min_size=count, max_size=count))
    array = np.array(values, "float64").astype("int64" if dtype == "int32" else "float64")
    return str(array.reshape(shape).tolist())


def _draw_statement(draw: st.DrawFn, draft: _Draft, families: Sequence[Family]) -> None:
    texts, shape_of = draw(st.sampled_from(families))
    text = draw(st.sampled_from(texts).filter(lambda text: draft.variables or "{v}" not in text))
    holes = {"x": _value(draw, draft), "f": f"f{len(draft.statements)}"}
    for name, choices in ATTRIBUTES.items():
        if f"{{{name}}}" in text:
            holes[name] = draw(st.sampled_from(choices))
    if "{y}" in text:
        holes["y"] = _second(draw, draft, holes["x"])
    if "{v}" in text:
        holes["v"] = draw(st.sampled_from(draft.variables))
    draft.add(text.format(**holes), shape_of(holes, draft.shapes))


def _value(draw: st.DrawFn, draft: _Draft) -> str:
    """A value made so far; the last one as often as all others, so that programs are deep."""
    names = list(draft.shapes)
    return draw(st.just(names[-1]) | st.sampled_from(names))


def _second(draw: st.DrawFn, draft: _Draft, x: str) -> str:
    """A value that broadcasts with `x`."""
    return draw(st.sampled_from([name for name in draft.shapes if _fits(draft, x, name)]))


def _fits(draft: _Draft, x: str, y: str) -> bool:
    if x == y:
        return True
    first, second = draft.shapes[x], draft.shapes[y]
    pairs = zip(reversed(first or ()), reversed(second or ()), strict=False)
    return None not in (first, second) and all(m == n or 1 in (m, n) for m, n in pairs)


# ----- Queries -----


def _sources(draw: st.DrawFn, draft: _Draft) -> str:
    names = st.sampled_from(list(draft.shapes))
    chosen = draw(st.lists(names, min_size=1, max_size=3))
    form = draw(st.sampled_from(("list", "list", "one", "dict")))
    if form == "one":
        return chosen[0]
    if form == "dict":
        return "{" + ", ".join(f"'k{i}': {name}" for i, name in enumerate(chosen)) + "}"
    return f"[{', '.join(chosen)}]"


def _target(draw: st.DrawFn, draft: _Draft) -> str:
    return draw(st.sampled_from((draft.last, draft.last, draft.last, f"[v0, {draft.last}]")))


def _gradient(draw: st.DrawFn, draft: _Draft, tape: str = "tape", name: str = "g") -> str:
    """A statement that asks a tape."""
    target, sources = _target(draw, draft), _sources(draw, draft)
    options = draw(st.sampled_from(("", "", "", ", unconnected_gradients='zero'", "given")))
    if options == "given":
        names = target.strip("[]").split(", ")
        given = ", ".join(f"2.0 * tf.ones_like({part})" for part in names)
        options = f", output_gradients={f'[{given}]' if len(names) > 1 else given}"
    return f"{name} = {tape}.gradient({target}, {sources}{options})"


def _watched(draw: st.DrawFn, draft: _Draft) -> list[str]:
    return draw(st.lists(st.sampled_from(list(draft.inputs)), min_size=1, unique=True))


def _watching(tape: str, names: Sequence[str]) -> list[str]:
    return [f"{tape}.watch({name})" for name in names]


def _recorded(
    draw: st.DrawFn, draft: _Draft, *, after: Sequence[str] = (), options: str = ""
) -> list[str]:
    """The block of a tape that records the draft; now and then one statement is not recorded."""
    body = [*draft.statements]
    if draw(st.integers(0, 7)) == 7:
        paused = draw(st.integers(0, len(body) - 1))
        body[paused] = _block("tape.stop_recording()", [body[paused]])
    lines = [*_watching("tape", _watched(draw, draft)), *body, *after]
    return [_block(f"tf.GradientTape({options}) as tape", lines)]


def _asked_once(draw: st.DrawFn, draft: _Draft) -> _Query:
    options = draw(st.sampled_from(("", "", "watch_accessed_variables=False")))
    run = _recorded(draw, draft, options=options)
    return _Query([*run, _gradient(draw, draft)], [draft.last, "g"])


def _asked_twice(draw: st.DrawFn, draft: _Draft) -> _Query:
    run = _recorded(draw, draft, options="persistent=True")
    queries = [_gradient(draw, draft), _gradient(draw, draft, name="h")]
    return _Query([*run, *queries], [draft.last, "g", "h"])


def _asked_inside(draw: st.DrawFn, draft: _Draft) -> _Query:
    """A persistent tape that records its own gradient."""
    query = _gradient(draw, draft)
    run = _recorded(draw, draft, after=[query], options="persistent=True")
    return _Query([*run, f"h = tape.gradient(g, {_sources(draw, draft)})"], ["g", "h"])


def _nested(draw: st.DrawFn, draft: _Draft) -> _Query:
    outer = _watching("outer", _watched(draw, draft))
    inner = _recorded(draw, draft)
    run = _block("tf.GradientTape() as outer", [*outer, *inner, _gradient(draw, draft)])
    wanted = f"h = outer.gradient(g, {_sources(draw, draft)})"
    return _Query([run, wanted], [draft.last, "g", "h"])


def _jacobian(draw: st.DrawFn, draft: _Draft) -> _Query:
    run = _recorded(draw, draft)
    query = f"g = tape.jacobian({draft.last}, {_sources(draw, draft)})"
    return _Query([*run, query], [draft.last, "g"])


def _batch_jacobian(draw: st.DrawFn, draft: _Draft) -> _Query:
    source = draw(st.sampled_from(list(draft.shapes)))
    run = _recorded(draw, draft)
    query = f"g = tape.batch_jacobian({draft.last}, {source})"
    return _Query([*run, query], [draft.last, "g"])


def _forward(draw: st.DrawFn, draft: _Draft) -> _Query:
    name = draw(st.sampled_from(list(draft.inputs)))
    header = f"tf.autodiff.ForwardAccumulator({name}, 2.0 * tf.ones_like({name})) as acc"
    run = [_block(header, draft.statements), f"g = acc.jvp({draft.last})"]
    return _Query(run, [draft.last, "g"])


def _forward_over_reverse(draw: st.DrawFn, draft: _Draft) -> _Query:
    name = draw(st.sampled_from(list(draft.inputs)))
    header = f"tf.autodiff.ForwardAccumulator({name}, 2.0 * tf.ones_like({name})) as acc"
    query = f"g = tape.gradient({draft.last}, {name})"
    run = [_block(header, [*_recorded(draw, draft), query]), "h = acc.jvp(g)"]
    return _Query(run, ["g", "h"])


QUERIES: tuple[Callable[[st.DrawFn, _Draft], _Query], ...] = (
    *(_asked_once,) * 8,
    *(_asked_twice,) * 3,
    *(_nested,) * 4,
    *(_asked_inside, _jacobian, _batch_jacobian, _forward, _forward_over_reverse),
)


# ----- Texts -----


def _entry(draft: _Draft, query: _Query) -> str:
    program = "\n".join(query.run)
    read = names_read(tree_of(program))
    inputs = ", ".join(f"{name}: {given}" for name, given in draft.inputs.items() if name in read)
    expect = ", ".join(f"{name}: oracle" for name in query.observed)
    return (
        f"title: Drawn\nsource: contract/s1\ninputs: {{{inputs}}}\n"
        f"run: |\n{indent(program, ' ' * 2)}\nexpect: {{{expect}}}"
    )


def _block(header: str, lines: Sequence[str]) -> str:
    body = indent("\n".join(lines), " " * 4)
    return f"with {header}:\n{body}"
