"""Random tape programs in the case language, drawn with hypothesis.

A program has one to three inputs, a few operations of the oracle on them, and a query: its tape may
be persistent, nested, watch only some inputs, or be asked for a jacobian; sources may be inputs or
values made on the way. Attributes are drawn from what fits and, now and then, from what does not:
an error is an answer too. Structure is drawn by hypothesis, so that what differs shrinks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from hypothesis import strategies as st

from conformance.corpus.language.case import Case
from conformance.corpus.language.loader import load_text

Shape: TypeAlias = "tuple[int, ...]"

NUMBERS = (-2.0, -1.5, -1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 2.0, 3.0)
"""Few and exact in every float: ties, zeros, ones and bounds come often."""
DTYPES = ("float32", "float64", "float64", "float64", "int32", "complex128")
SHAPES: tuple[Shape, ...] = ((), (1,), (3,), (2, 3), (2, 1), (2, 2), (3, 2), (2, 0))

UNARY = (
    *("-{x}", "tf.exp({x})", "tf.sin({x})", "tf.cos({x})", "tf.sqrt({x})", "tf.square({x})"),
    *("tf.tanh({x})", "tf.abs({x})", "tf.sign({x})", "tf.floor({x})", "tf.round({x})"),
    *(
        f"tf.math.{name}({{x}})"
        for name in [
            "acos",
            "acosh",
            "asin",
            "asinh",
            "atan",
            "atanh",
            "cosh",
            "sinh",
            "tan",
            "log",
            "log1p",
            "expm1",
            "reciprocal",
            "rsqrt",
            "erf",
            "erfc",
            "lgamma",
            "digamma",
            "ceil",
            "rint",
            "conj",
            "real",
            "imag",
            "angle",
        ]
    ),
    *(
        f"tf.nn.{name}({{x}})"
        for name in [
            "elu",
            "leaky_relu",
            "relu",
            "relu6",
            "selu",
            "sigmoid",
            "silu",
            "softplus",
            "softsign",
            "tanh",
        ]
    ),
    *("{x} * 0.5", "2.0 - {x}", "{x} ** 2", "{x} ** 0.5", "1.0 / {x}", "{x} * {x}", "{x} % 2.0"),
    *("tf.identity({x})", "tf.stop_gradient({x})", "tf.zeros_like({x})", "tf.ones_like({x})"),
    *("tf.cast({x}, tf.float64)", "tf.cast({x}, tf.float32)", "tf.cast({x}, tf.int32)"),
    *("tf.clip_by_value({x}, -0.5, 1.0)", "tf.where({x} > 0.5, {x}, -{x})", "tf.add_n([{x}, {x}])"),
    *("tf.grad_pass_through(tf.exp)({x})", "tf.recompute_grad(tf.sin)({x})"),
)
"""Texts whose value has the shape of `x`."""

BINARY = (
    *("{x} + {y}", "{x} - {y}", "{x} * {y}", "{x} / {y}", "{x} ** {y}", "{x} // {y}", "{x} % {y}"),
    *("tf.maximum({x}, {y})", "tf.minimum({x}, {y})", "tf.where({x} > {y}, {x}, {y})"),
    *(
        f"tf.math.{name}({{x}}, {{y}})"
        for name in [
            "atan2",
            "divide_no_nan",
            "multiply_no_nan",
            "squared_difference",
            "xdivy",
            "xlog1py",
            "xlogy",
            "floormod",
        ]
    ),
)
"""Texts whose value has the shape to which `x` and `y` broadcast."""

REDUCTIONS = (
    *("max", "min", "mean", "sum", "prod", "logsumexp", "variance", "std", "euclidean_norm"),
)
AXES = ("None", "0", "-1", "1", "[0, 1]", "[]", "[-1, 0]", "2", "[0, 0]")
ALONG = (
    *("tf.cumsum({x}, axis={a})", "tf.cumsum({x}, axis={a}, exclusive=True, reverse=True)"),
    *("tf.nn.softmax({x}, axis={a})", "tf.nn.log_softmax({x}, axis={a})"),
    *("tf.reverse({x}, [{a}])", "tf.roll({x}, 1, {a})", "tf.math.l2_normalize({x}, axis={a})"),
    *("tf.concat([{x}, {x} * 2.0], axis={a})", "tf.stack([{x}, {x}], axis={a})"),
    *("tf.repeat({x}, 2, axis={a})", "tf.gather({x}, [0, 0], axis={a})"),
    *("tf.unstack({x}, axis={a})[0]", "tf.split({x}, 1, axis={a})[0]"),
)
"""Texts with an axis, which may be one that `x` has not."""
SHAPING = (
    *("tf.reshape({x}, [-1])", "tf.transpose({x})", "{x}[..., 0]", "{x}[tf.newaxis]", "{x}[0]"),
    *("{x}[..., ::-1]", "{x}[1:]", "tf.tile({x}, [2])", "tf.tile({x}, [1, 2])"),
    *("tf.pad({x}, [[1, 0]])", "tf.pad({x}, [[0, 1], [1, 0]])", "tf.linalg.inv({x})"),
    *("tf.matmul({x}, {x}, transpose_b=True)", "tf.matmul({x}, {x})", "tf.linalg.det({x})"),
    *("tf.einsum('ij->ji', {x})", "tf.tensordot({x}, {x}, 1)", "tf.norm({x})"),
    *("tf.clip_by_norm({x}, 1.0)", "tf.math.segment_max({x}, [0, 0])", "tf.shape({x})"),
)
"""Texts that give another shape, or refuse `x`."""


@dataclass
class _Draft:
    """The statements of a program so far, and the shapes of its values where they are known."""

    inputs: dict[str, str] = field(default_factory=dict)
    shapes: dict[str, Shape | None] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    def add(self, text: str, shape: Shape | None) -> None:
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.shapes[name] = shape


@st.composite
def programs(draw: st.DrawFn, most: int = 4) -> str:
    """The YAML entry of a case: a program of at most `most` operations, and what is observed."""
    draft = _Draft()
    dtype = draw(st.sampled_from(DTYPES))
    for name in ("a", "b", "c")[: draw(st.integers(1, 3))]:
        shape = draw(st.sampled_from(SHAPES))
        draft.inputs[name] = _literal(draw, shape, dtype)
        draft.shapes[name] = shape
    for _ in range(draw(st.integers(1, most))):
        draw(st.sampled_from(STEPS))(draw, draft)
    return _entry(draw, draft)


def case_of(entries: Sequence[str]) -> list[Case]:
    """The cases that these entries declare."""
    listed = "".join(
        f"  program_{number}:\n{_indented(entry, 4)}\n" for number, entry in enumerate(entries)
    )
    return load_text(f"introduction: Drawn programs.\ncases:\n{listed}")


def _literal(draw: st.DrawFn, shape: Shape, dtype: str) -> str:
    count = int(np.prod(shape, dtype=int))
    numbers = st.sampled_from(NUMBERS)
    values = draw(st.lists(numbers, min_size=count, max_size=count))
    array = np.reshape(np.array(values).astype("int64" if dtype == "int32" else "float64"), shape)
    return f"{{constant: {array.tolist()}, dtype: {dtype}}}"


def _unary(draw: st.DrawFn, draft: _Draft) -> None:
    x = draw(_known(draft))
    draft.add(draw(st.sampled_from(UNARY)).format(x=x), draft.shapes[x])


def _binary(draw: st.DrawFn, draft: _Draft) -> None:
    x = draw(_known(draft))
    fitting = [name for name in draft.shapes if _broadcast(draft.shapes[x], draft.shapes[name])]
    y = draw(st.sampled_from(fitting or [x]))
    shape = _broadcast(draft.shapes[x], draft.shapes[y])
    draft.add(draw(st.sampled_from(BINARY)).format(x=x, y=y), shape)


def _reduction(draw: st.DrawFn, draft: _Draft) -> None:
    x, axis, keepdims = draw(_known(draft)), draw(st.sampled_from(AXES)), draw(st.booleans())
    kind = draw(st.sampled_from(REDUCTIONS))
    owner = "math." if kind in ("variance", "std", "euclidean_norm") else ""
    options = f"axis={axis}, keepdims={keepdims}"
    draft.add(f"tf.{owner}reduce_{kind}({x}, {options})", None)


def _along(draw: st.DrawFn, draft: _Draft) -> None:
    x, axis = draw(_known(draft)), draw(st.sampled_from((0, -1, 1, 2)))
    draft.add(draw(st.sampled_from(ALONG)).format(x=x, a=axis), None)


def _shaping(draw: st.DrawFn, draft: _Draft) -> None:
    draft.add(draw(st.sampled_from(SHAPING)).format(x=draw(_known(draft))), None)


STEPS: tuple[Callable[[st.DrawFn, _Draft], None], ...] = (
    *(_unary, _unary, _binary, _binary, _reduction, _along, _shaping),
)


def _known(draft: _Draft) -> st.SearchStrategy[str]:
    """A value made so far; the last one as often as all others, so that programs are deep."""
    names = list(draft.shapes)
    return st.just(names[-1]) | st.sampled_from(names)


def _broadcast(first: Shape | None, second: Shape | None) -> Shape | None:
    if first is None or second is None:
        return None
    try:
        return np.broadcast_shapes(first, second)
    except ValueError:
        return None


def _entry(draw: st.DrawFn, draft: _Draft) -> str:
    names = list(draft.inputs)
    watched = draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    target = f"v{len(draft.lines) - 1}"
    sources = draw(st.lists(st.sampled_from(list(draft.shapes)), min_size=1, max_size=3))
    options = draw(st.sampled_from(("", "", ", unconnected_gradients='zero'")))
    query = f"g = tape.gradient({target}, [{', '.join(sources)}]{options})"
    body = [*(f"tape.watch({name})" for name in watched), *draft.lines]
    observed = [target, "g"]
    kind = draw(st.sampled_from(("first", "first", "twice", "second", "jacobian")))
    if kind == "twice":
        run = [*_tape("tape", body, "persistent=True"), query, query.replace("g =", "h =", 1)]
        observed.append("h")
    elif kind == "second":
        wanted = f"h = outer.gradient(g, [{', '.join(watched)}])"
        inner = [*(f"outer.watch({name})" for name in watched), *_tape("tape", body), query]
        run = [*_tape("outer", inner), wanted]
        observed.append("h")
    elif kind == "jacobian":
        run = [*_tape("tape", body), f"g = tape.jacobian({target}, [{', '.join(sources)}])"]
    else:
        run = [*_tape("tape", body), query]
    read = {name for line in run for name in re.findall(r"\b[abc]\b", line)}
    inputs = ", ".join(f"{name}: {draft.inputs[name]}" for name in sorted(read))
    expect = ", ".join(f"{name}: oracle" for name in observed)
    program = _indented("\n".join(run), 2)
    return (
        f"title: Drawn\nsource: contract/s1\ninputs: {{{inputs}}}\nrun: |\n{program}\n"
        f"expect: {{{expect}}}"
    )


def _tape(name: str, body: Sequence[str], options: str = "") -> list[str]:
    return [f"with tf.GradientTape({options}) as {name}:", *(f"    {line}" for line in body)]


def _indented(text: str, by: int) -> str:
    return "\n".join(" " * by + line for line in text.splitlines())
