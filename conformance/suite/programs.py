"""Random tape programs in the case language, drawn with hypothesis.

A program has one to three inputs, a few operations on them, and a query. The texts below are the
operations that can be drawn; `tests/suite/test_sweep.py` holds them against the oracle's names.
Values and attributes are drawn from what fits and, now and then, from what does not: an error is an
answer too. All choices are hypothesis's own, so that a program that fails shrinks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import indent
from typing import TypeAlias

import numpy as np
from hypothesis import strategies as st

from conformance.corpus.language.case import Case
from conformance.corpus.language.loader import load_text

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


def _each(text: str, names: str) -> tuple[str, ...]:
    """The text with each of the names in the place of its star."""
    return tuple(text.replace("*", name) for name in names.split())


SAME_SHAPE = (
    *("-{x}", "{x} * 0.5", "2.0 - {x}", "{x} ** 2", "{x} ** 0.5", "1.0 / {x}", "{x} % 2.0"),
    *("tf.exp({x})", "tf.sin({x})", "tf.cos({x})", "tf.sqrt({x})", "tf.square({x})"),
    *("tf.tanh({x})", "tf.abs({x})", "tf.sign({x})", "tf.floor({x})", "tf.round({x})"),
    *_each("tf.math.*({x})", "acos acosh asin asinh atan atanh cosh sinh sin tan tanh log log1p"),
    *_each("tf.math.*({x})", "expm1 reciprocal rsqrt square erf erfc lgamma digamma ceil floor"),
    *_each("tf.math.*({x})", "rint round sign conj real imag angle special.spence"),
    *_each("tf.nn.*({x})", "elu leaky_relu relu relu6 selu sigmoid silu swish softplus softsign"),
    *("tf.nn.tanh({x})", "tf.math.polygamma(tf.ones_like({x}), {x})"),
    *("tf.identity({x})", "tf.stop_gradient({x})", "tf.zeros_like({x})", "tf.ones_like({x})"),
    *("tf.convert_to_tensor({x})", "tf.identity_n([{x}, {y}])[0]", "tf.add_n([{x}, {x}])"),
    *("tf.cast({x}, tf.float64)", "tf.cast({x}, tf.float32)", "tf.cast({x}, tf.int32)"),
    *("tf.cast({x}, tf.int64)", "tf.cast({x}, tf.complex128)", "tf.cast({x}, tf.complex64)"),
    *("tf.cast(tf.cast({x}, tf.float16), tf.float64)", "tf.cast({x} > 0.5, tf.float64)"),
    *("tf.clip_by_value({x}, -0.5, 1.0)", "tf.where({x} > 0.5, {x}, -{x})"),
    *("tf.raw_ops.IdentityN(input=[{x}])[0]", "tf.raw_ops.PreventGradient(input={x})"),
    *("tf.grad_pass_through(tf.exp)({x})", "tf.compat.v1.grad_pass_through(tf.round)({x})"),
    *("tf.recompute_grad(tf.sin)({x})", "tf.nest.map_structure(tf.sin, [{x}])[0]"),
    "tf.quantization.quantize_and_dequantize_v2({x}, -1.0, 1.0, range_given=True)",
    "tf.function(lambda u: u * u)({x})",
    "tf.py_function(tf.sin, [{x}], tf.float64)",
    "tf.numpy_function(np.sin, [{x}], tf.float64)",
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
    *("tf.multiply({x}, {y})", "tf.subtract({x}, {y})", "tf.pow({x}, {y})"),
    *("tf.maximum({x}, {y})", "tf.minimum({x}, {y})", "tf.where(tf.less({y}, {x}), {x}, {y})"),
    *("tf.experimental.numpy.multiply({x}, {y})", "tf.complex({x}, {y})"),
    *_each("tf.math.*({x}, {y})", "atan2 divide_no_nan multiply_no_nan squared_difference xdivy"),
    *_each("tf.math.*({x}, {y})", "xlog1py xlogy floormod nextafter zeta polygamma"),
    "tf.math.betainc({x}, {x}, {y})",
    "@tf.custom_gradient\ndef {f}(u, w):\n"
    "    return u * w, lambda ct: (tf.reduce_sum(ct) * tf.ones_like(u), None)\n"
    "{f}({x}, {y})",
)
"""Texts whose value has the shape to which `x` and `y` broadcast."""

REDUCING = _each(
    "tf.*({x}, axis={axes}, keepdims={keepdims})",
    "reduce_max reduce_min reduce_mean reduce_sum reduce_prod reduce_logsumexp norm "
    "math.reduce_variance math.reduce_std math.reduce_euclidean_norm experimental.numpy.sum",
)
"""Texts whose value has the shape of `x` without some of its axes."""

ALONG = (
    *("tf.cumsum({x}, axis={axis})", "tf.cumsum({x}, axis={axis}, exclusive=True, reverse=True)"),
    *("tf.nn.softmax({x}, axis={axis})", "tf.nn.log_softmax({x}, axis={axis})"),
    *("tf.reverse({x}, [{axis}])", "tf.roll({x}, 1, {axis})"),
    "tf.math.l2_normalize({x}, axis={axis})",
    *("tf.concat([{x}, {x} * 2.0], axis={axis})", "tf.stack([{x}, {x}], axis={axis})"),
    *("tf.repeat({x}, 2, axis={axis})", "tf.gather({x}, [0, 0], axis={axis})"),
    *("tf.unstack({x}, axis={axis})[0]", "tf.split({x}, 1, axis={axis})[0]"),
    *("tf.split({x}, [1, 2], axis={axis})[1]", "tf.unstack(tf.stack([{x}, {y}]), axis={axis})[0]"),
    "{x} * tf.cast(tf.argmax({x}, axis={axis}), tf.float64)",
)
"""Texts with an axis, which may be one that `x` has not."""

RESHAPING = (
    *("tf.reshape({x}, [-1])", "tf.reshape({x}, [3, 2])", "tf.transpose({x})"),
    *("tf.tile({x}, [2])", "tf.tile({x}, [1, 2])", "tf.pad({x}, [[1, 0]])"),
    *("tf.pad({x}, [[0, 1], [1, 0]], constant_values=2.0)", "tf.fill([2], {x})"),
    *("tf.linspace({x}, {y}, 3)", "tf.repeat({x}, [1, 2], axis=0)", "tf.repeat({x}, 2)"),
    *("{x} * tf.zeros([2], tf.float64)", "{x} * tf.ones([2, 1], tf.float64)"),
    *("{x} * tf.constant([0.5, 2.0], tf.float64)", "{x} * tf.range(2.0, dtype=tf.float64)"),
    *("tf.shape({x})", "tf.size({x})", "tf.cast(tf.size({x}), tf.float64) * {x}"),
    *("tf.bitcast(tf.bitcast({x}, tf.int64), tf.float64)", "tf.reduce_all({x} > 0.0)"),
    *("tf.histogram_fixed_width({x}, [0.0, 2.0], 2)", "tf.concat([{x}, {y}], axis=0)"),
)
"""Texts that give another shape, or refuse `x`."""

READING = (
    *("{x}[0]", "{x}[-1]", "{x}[..., 0]", "{x}[None]", "{x}[..., ::-1]", "{x}[1:]"),
    *("{x}[:, 1]", "{x}[::2, None]", "tf.gather({x}, [1, 0, 1])", "tf.gather({x}, 2)"),
    *("tf.nn.embedding_lookup({x}, [[0, 1]])", "tf.gather({x}, [[0], [1]], batch_dims=1)"),
    *("tf.math.segment_max({x}, [0, 0])", "tf.math.segment_min({x}, [0, 0, 1])"),
    *("tf.math.segment_prod({x}, [0, 2])", "tf.math.segment_max({x}, [1, 1, 0])"),
    "tf.sparse.segment_sum({x}, tf.constant([1, 0, 1]), tf.constant([0, 0, 2]))",
    "tf.scatter_nd([[2], [0]], {x}, [3, 3])",
    "tf.scatter_nd([[2], [0], [2]], {x}, [4])",
    "tf.tensor_scatter_nd_max({x}, [[1], [0], [1]], {y})",
    "tf.tensor_scatter_nd_min({x}, [[1], [0]], {y})",
    "tf.TensorArray(tf.float64, size=2).write(0, {x}).write(1, {y}).stack()",
    "tf.scan(lambda u, w: u * w, {x})",
    "tf.foldl(lambda u, w: u * w, {x})",
    "tf.nest.flatten({{'p': {x}, 'q': [{y}]}})[1]",
)
"""Texts that read or write parts of `x`."""

MULTIPLYING = (
    *("tf.matmul({x}, {y})", "tf.matmul({x}, {x}, transpose_b=True)", "{x} @ {y}"),
    *("tf.matmul({x}, {y}, adjoint_a=True)", "tf.linalg.matvec({x}, {y})"),
    *("tf.linalg.inv({x})", "tf.linalg.det({x})", "tf.linalg.solve({x}, {y})"),
    *(
        "tf.einsum('ij->ji', {x})",
        "tf.einsum('ij,jk->ik', {x}, {y})",
        "tf.einsum('i,i->', {x}, {y})",
    ),
    *(
        "tf.tensordot({x}, {y}, 1)",
        "tf.tensordot({x}, {y}, [[0], [0]])",
        "tf.tensordot({x}, {y}, 0)",
    ),
    *("tf.norm({x})", "tf.clip_by_norm({x}, 1.0)", "tf.clip_by_norm({x}, 1.0, axes=[0])"),
    "tf.nn.softmax_cross_entropy_with_logits(labels={x}, logits={y})",
    "tf.nn.conv2d(tf.reshape({x}, [1, 3, 2, 1]), tf.reshape({y}, [2, 1, 1, 1]), 1, 'SAME')",
    "tf.image.adjust_contrast(tf.reshape({x}, [2, 1, 3]), 2.0)",
    "tf.image.adjust_saturation(tf.reshape({x}, [2, 1, 3]), 0.5)",
    "tf.image.hsv_to_rgb(tf.reshape({x}, [2, 1, 3]))",
)
"""Texts of linear algebra, losses and images."""

OF_VARIABLES = (
    *("{v}.read_value()", "{v}.value()", "{v}.sparse_read([0, 0])", "{v}.gather_nd([[0]])"),
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
    x, y = shapes[holes["x"]], shapes[holes["y"]]
    return None if x is None or y is None else np.broadcast_shapes(x, y)


def _reduced(holes: Holes, shapes: Mapping[str, Shape]) -> Shape:
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
FAMILIES: tuple[tuple[int, Family], ...] = (
    (4, (SAME_SHAPE, _same)),
    (3, (BROADCASTING, _broadcast)),
    (2, (REDUCING, _reduced)),
    (2, (ALONG, _unknown)),
    (1, (RESHAPING, _unknown)),
    (2, (READING, _unknown)),
    (1, (MULTIPLYING, _unknown)),
    (1, (OF_VARIABLES, _unknown)),
)
"""How often each family is drawn."""
WEIGHTED = tuple(family for weight, family in FAMILIES for _ in range(weight))
TEXTS = tuple(text for _, (texts, _) in FAMILIES for text in texts)


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


@st.composite
def programs(draw: st.DrawFn, most: int = 4) -> str:
    """The YAML entry of a case: a program of at most `most` operations, and what is observed."""
    draft = _Draft()
    _draw_inputs(draw, draft)
    for _ in range(draw(st.integers(1, most))):
        _draw_statement(draw, draft)
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
    for name in ("a", "b", "c")[: draw(st.integers(1, 3))]:
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


def _draw_statement(draw: st.DrawFn, draft: _Draft) -> None:
    texts, shape_of = draw(st.sampled_from(WEIGHTED))
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
    read = sorted(set(re.findall(r"\b[abc]\b", program)))
    inputs = ", ".join(f"{name}: {draft.inputs[name]}" for name in read)
    expect = ", ".join(f"{name}: oracle" for name in query.observed)
    return (
        f"title: Drawn\nsource: contract/s1\ninputs: {{{inputs}}}\n"
        f"run: |\n{indent(program, ' ' * 2)}\nexpect: {{{expect}}}"
    )


def _block(header: str, lines: Sequence[str]) -> str:
    body = indent("\n".join(lines), " " * 4)
    return f"with {header}:\n{body}"
