"""Random tape programs in the case language, drawn with hypothesis.

A program has one to three inputs, a few operations on them, and a query. Half of the programs are
about one operation of the catalogue: their inputs have the shapes that it wants. Values and
attributes are drawn from what fits and, now and then, from what does not: an error is an answer
too. The structure is hypothesis's own choice, so that a program that fails shrinks; the elements of
its inputs come of one integer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from random import Random
from textwrap import indent
from typing import TypeAlias

import numpy as np
from hypothesis import strategies as st

from conformance.corpus.catalogue import OperationInput
from conformance.corpus.language.case import Case
from conformance.corpus.language.loader import load_text
from conformance.corpus.language.program import names_read, tree_of
from conformance.suite.operation_texts import (
    Call,
    Family,
    Shape,
    calls_of_catalogue,
    families,
)
from conformance.suite.query_texts import QUERIES

NUMBERS = (-2.0, -1.5, -1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 2.0, 3.0)
"""Few, and exact in every float, so that ties, zeros, ones and bounds come often."""
STEPS = 16
"""In so many steps an interval of a domain is divided: values are few there, too."""
DTYPES = (*("float64",) * 5, *("float32",) * 2, "complex128", "int32")
SHAPES = ((), (1,), (3,), (2, 3), (2, 1), (2, 2), (3, 2), (2, 0))
KINDS = ("constant", "constant", "constant", "variable", "variable", "untrained")
ATTRIBUTES = {
    "axis": ("0", "-1", "1", "2"),
    "axes": ("None", "0", "-1", "1", "[0, 1]", "[]", "[-1, 0]", "2", "[0, 0]"),
    "keepdims": ("False", "True"),
}


def any_text(text: str) -> bool:
    """Admits every operation."""
    return True


@st.composite
def programs(draw: st.DrawFn, most: int = 4, admits: Callable[[str], bool] = any_text) -> str:
    """The YAML entry of a case: a program of at most `most` operations, and what is observed.

    `admits` says of the text of an operation whether it may be drawn.
    """
    draft = _Draft(Random(draw(st.integers(0, 2**16))))
    calls = _calls(admits)
    call = draw(st.none() | st.sampled_from(calls)) if calls else None
    if call is None:
        _draw_inputs(draw, draft)
    else:
        _draw_inputs_of(draw, draft, call)
    drawn = _weighted(admits)
    for _ in range(draw(st.integers(0, most // 2) if call else st.integers(1, most))):
        _draw_statement(draw, draft, drawn)
    query = draw(st.sampled_from(QUERIES))
    return _entry(draft, query, _Filled(draw, draft).text(query))


def case_of(entries: Sequence[str]) -> list[Case]:
    """The cases that these entries declare. Errors: CaseFileError where the language has none."""
    listed = "".join(
        f"  program_{number}:\n{indent(entry, ' ' * 4)}\n" for number, entry in enumerate(entries)
    )
    return load_text(f"introduction: Drawn programs.\ncases:\n{listed}")


@cache
def _weighted(admits: Callable[[str], bool]) -> Sequence[Family]:
    """The families of admitted texts, each as often as it is drawn."""
    return [family for weight, family in families(admits) if family[0] for _ in range(weight)]


@cache
def _calls(admits: Callable[[str], bool]) -> Sequence[Call]:
    """The admitted calls of the catalogue."""
    return [call for call in calls_of_catalogue() if admits(call.text)]


@dataclass
class _Draft:
    """The statements of a program so far, and the shapes of its values."""

    elements: Random
    inputs: dict[str, str] = field(default_factory=dict)
    variables: list[str] = field(default_factory=list)
    shapes: dict[str, Shape] = field(default_factory=dict)
    statements: list[str] = field(default_factory=list)

    @property
    def last(self) -> str:
        return f"v{len(self.statements) - 1}"

    def declare(self, name: str, kind: str, values: object, dtype: str) -> None:
        """One more input."""
        trained = ", trainable: false" if kind == "untrained" else ""
        if kind != "constant":
            self.variables.append(name)
        form = "constant" if kind == "constant" else "variable"
        self.inputs[name] = f"{{{form}: {values}, dtype: {dtype}{trained}}}"

    def add(self, text: str, shape: Shape) -> None:
        """One more statement: the last line of a text is bound to a name."""
        *before, value = text.split("\n")
        name = f"v{len(self.statements)}"
        self.statements.append("\n".join([*before, f"{name} = {value}"]))
        self.shapes[name] = shape

    def pick(self, choices: Sequence[float]) -> float:
        """One of the numbers, by the integer of the program."""
        return choices[int(self.elements.random() * len(choices))]


# ----- inputs -----


def _draw_inputs(draw: st.DrawFn, draft: _Draft) -> None:
    dtype = draw(st.sampled_from(DTYPES))
    for name in ("x", "y", "z")[: draw(st.integers(1, 3))]:
        shape = draw(st.sampled_from(SHAPES))
        values = _values(draft, shape, dtype, NUMBERS)
        draft.declare(name, draw(st.sampled_from(KINDS)), values, dtype)
        draft.shapes[name] = shape


def _draw_inputs_of(draw: st.DrawFn, draft: _Draft, call: Call) -> None:
    """The inputs that a call of the catalogue wants, and its statement."""
    dtype = draw(st.sampled_from(call.dtypes))
    for item in call.inputs:
        own = item.dtype or dtype
        values = _values(draft, item.shape, own, _points(item, own), item.plus)
        kind = "variable" if item.variable else draw(st.sampled_from(KINDS[:4]))
        draft.declare(item.name, kind, values, own)
        draft.shapes[item.name] = item.shape
    draft.add(call.call, None)


def _points(item: OperationInput, dtype: str) -> Sequence[float]:
    """Points in the domain of an input, and of NUMBERS what is there: edges come often."""
    ends = item.domain_of(dtype) or ((-2.0, 2.0),)
    inner = [low + (high - low) * k / STEPS for low, high in ends for k in range(STEPS + 1)]
    known = [number for number in NUMBERS if any(low <= number <= high for low, high in ends)]
    return [*inner, *known]


def _values(
    draft: _Draft, shape: tuple[int, ...], dtype: str, points: Sequence[float], plus: object = 0.0
) -> object:
    """Elements of this shape as a literal of the language."""
    size = int(np.prod(shape, dtype=int))
    real = np.array([draft.pick(points) for _ in range(size)]).reshape(shape) + np.array(plus)
    if dtype.startswith("int"):
        return real.astype(int).tolist()
    if not dtype.startswith("complex"):
        return real.tolist()
    imaginary = np.array([draft.pick(points) for _ in range(size)]).reshape(shape)
    return _written(real + 1j * imaginary)


def _written(values: np.ndarray[tuple[int, ...], np.dtype[np.complex128]]) -> object:
    """Complex numbers as the language writes them."""
    texts = [f"{value.real}{value.imag:+}j" for value in values.ravel()]
    return np.array(texts, dtype=object).reshape(values.shape).tolist()


# ----- statements -----


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


# ----- queries -----

HOLE = re.compile(r"\{([a-z_]+\d?)\}")
"""A hole of a query's text: what it is called, and a digit where there are several."""


class _Filled:
    """Fills the holes of a query's text, each name once."""

    def __init__(self, draw: st.DrawFn, draft: _Draft) -> None:
        self.draw, self.draft = draw, draft
        self.holes: dict[str, str] = {}

    def text(self, query: str) -> str:
        """The query, around the drawn statements."""
        return "\n".join(map(self._line, query.strip().split("\n")))

    def hole(self, name: str) -> str:
        """What stands in a hole."""
        if name not in self.holes:
            kind = name.rstrip("0123456789")
            choices = CHOICES.get(kind)
            self.holes[name] = self.pick(*choices) if choices else FILLERS[kind](self, name)
        return self.holes[name]

    def pick(self, *choices: str) -> str:
        """One of these texts."""
        return self.draw(st.sampled_from(choices))

    def _line(self, line: str) -> str:
        margin = line[: len(line) - len(line.lstrip())]
        filled = HOLE.sub(lambda found: self.hole(found[1]), line.lstrip())
        return indent(filled, margin)


Filler: TypeAlias = "Callable[[_Filled, str], str]"
"""What writes the text of a hole, by its name."""


def _body(filled: _Filled, name: str) -> str:
    return "\n".join(filled.draft.statements)


def _recorded(filled: _Filled, name: str) -> str:
    """The statements; now and then `tape` does not record one of them."""
    body = [*filled.draft.statements]
    if filled.draw(st.integers(0, 7)) == 7:
        paused = filled.draw(st.integers(0, len(body) - 1))
        body[paused] = f"with tape.stop_recording():\n{indent(body[paused], '    ')}"
    return "\n".join(body)


def _input(filled: _Filled, name: str) -> str:
    return filled.pick(*filled.draft.inputs)


def _any_value(filled: _Filled, name: str) -> str:
    return _value(filled.draw, filled.draft)


def _watched(filled: _Filled, name: str) -> str:
    names = st.sampled_from([*filled.draft.inputs])
    return _structure(filled, filled.draw(st.lists(names, min_size=1, unique=True)))


def _sources(filled: _Filled, name: str) -> str:
    names = st.sampled_from([*filled.draft.shapes])
    if filled.draw(st.integers(0, 31)) == 31:
        first = next(iter(filled.draft.inputs))
        return filled.pick("2.0", "None", "[]", f"[None, {first}]", "tf.constant('text')", "tf.sin")
    return _structure(filled, filled.draw(st.lists(names, min_size=1, max_size=3)))


def _structure(filled: _Filled, names: Sequence[str]) -> str:
    """Names by themselves, or in a structure."""
    listed = ", ".join(names)
    first, *others = names
    return filled.pick(
        *(f"[{listed}]", f"[{listed}]", f"[{listed}]", first, first),
        *(f"({listed},)", f"[[{first}], ({', '.join(['', *others]).lstrip(', ')})]"),
        "{" + ", ".join(f"'k{9 - i}': {one}" for i, one in enumerate(names)) + "}",
    )


def _target(filled: _Filled, name: str) -> str:
    last = filled.draft.last
    wrong = ("None", "[]", "tf.sin", "3.0") if filled.draw(st.integers(0, 31)) == 31 else ()
    listed = (f"[v0, {last}]", f"{{'b': {last}, 'a': v0}}", f"[{last}, {last}]")
    return filled.pick(*wrong, *(last,) * 8, *listed)


def _twos_like(target: str) -> str:
    """An output gradient of the structure of a target."""
    return re.sub(r"\bv\d+\b", r"2.0 * tf.ones_like(\g<0>)", target)


def _given(filled: _Filled, name: str) -> str:
    """Options of a query; what arrives has the structure of the target with the same digit."""
    target = filled.holes.get(name.replace("given", "target"), filled.draft.last)
    upstream = _twos_like(target)
    if filled.draw(st.integers(0, 31)) == 31:
        wrong = "tf.constant([1.0, 2.0])"
        return filled.pick(", unconnected_gradients='nothing'", f", output_gradients={wrong}")
    in_part = re.sub(r"^\[.*, ", "[None, ", upstream)
    zeros = ("'zero'", "tf.UnconnectedGradients.ZERO")
    return filled.pick(
        *("", "", "", *(f", unconnected_gradients={zero}" for zero in zeros)),
        *(f", output_gradients={upstream}", f", output_gradients={in_part}"),
    )


def _symbolic(filled: _Filled, name: str) -> str:
    """Options of tf.gradients."""
    target = filled.holes.get("target", filled.draft.last)
    upstream = _twos_like(target)
    return filled.pick(
        *("", "", f", grad_ys={upstream}", f", grad_ys=[{filled.draft.last}]"),
        *(", unconnected_gradients='zero'", f", stop_gradients=[{filled.hole('value')}]"),
        f", stop_gradients={filled.hole('sources')}",
    )


def _tangent(filled: _Filled, name: str) -> str:
    primal = filled.hole("input")
    even = f"2.0 * tf.ones_like({primal})"
    return filled.pick(*(even,) * 6, f"{primal} + 0.5", f"tf.reshape({even}, [-1])")


def _step(filled: _Filled, name: str) -> str:
    """One more operation."""
    x = _value(filled.draw, filled.draft)
    y = _second(filled.draw, filled.draft, x)
    return filled.pick(f"{x} * {y}", f"{x} + {y}", f"tf.sin({x})", f"tf.gather({x}, [0, 0])")


def _watch_again(filled: _Filled, name: str) -> str:
    return filled.pick("pass", f"tape.watch({filled.hole('watched')})")


def _constants(draft: _Draft) -> list[str]:
    return [name for name in draft.inputs if name not in draft.variables]


def _arguments(filled: _Filled, name: str) -> str:
    """The inputs that are no variables: a function finds those around it."""
    return ", ".join(_constants(filled.draft))


def _declared(filled: _Filled, name: str) -> str:
    """What a declared gradient returns for its arguments, and for the variables where asked to."""
    gradients = [_of_argument(filled, one) for one in _constants(filled.draft)]
    if filled.draw(st.integers(0, 15)) == 15:
        gradients.append("upstream")
    returned = f"({''.join(f'{one}, ' for one in gradients)})"
    if not filled.hole("keyword"):
        return returned
    listed = ", ".join(f"3.0 * tf.ones_like({one})" for one in filled.draft.variables)
    counted = "[float(len(variables))]" if "variables" in filled.hole("keyword") else "[4.0]"
    return f"{returned}, {filled.pick(f'[{listed}]', f'[{listed}]', counted, '[None]', 'None')}"


def _of_argument(filled: _Filled, argument: str) -> str:
    even = f"tf.reduce_sum(upstream) * tf.ones_like({argument})"
    return filled.pick(even, even, "None", "upstream", f"{argument} * {argument}", "2.0")


CHOICES: Mapping[str, Sequence[str]] = {
    "options": ("", "", "", "persistent=True", "watch_accessed_variables=False"),
    "zeros": ("", "", ", unconnected_gradients='zero'"),
    "parallel": (
        *("", "", "", ", experimental_use_pfor=False", ", parallel_iterations=1"),
        ", unconnected_gradients='zero'",
    ),
    "query": ("gradient", "jacobian", "batch_jacobian"),
    "decorator": ("tf.function", "tf.recompute_grad", "tf.grad_pass_through"),
    "keyword": ("", "", "", ", variables=None", ", *, variables", ", **keywords", ", *others"),
    "upstream_k": ("", ", output_gradients=2.0 * tf.ones_like(k)"),
}
"""Holes that are filled with one of these texts."""
FILLERS: Mapping[str, Filler] = {
    "body": _body,
    "recorded": _recorded,
    "input": _input,
    "inputs": lambda filled, name: f"[{', '.join(filled.draft.inputs)}]",
    "value": _any_value,
    "last": lambda filled, name: filled.draft.last,
    "watched": _watched,
    "sources": _sources,
    "target": _target,
    "given": _given,
    "symbolic": _symbolic,
    "tangent": _tangent,
    "step": _step,
    "watch_again": _watch_again,
    "arguments": _arguments,
    "declared": _declared,
}
"""What fills all others."""


# ----- texts -----


def _entry(draft: _Draft, query: str, program: str) -> str:
    read = names_read(tree_of(program))
    inputs = ", ".join(f"{name}: {given}" for name, given in draft.inputs.items() if name in read)
    observed = [name for name in "ghk" if re.search(rf"^\s*{name} = ", query, re.MULTILINE)]
    if "def function" not in query:
        observed.append(draft.last)
    expect = ", ".join(f"{name}: oracle" for name in observed)
    return (
        f"title: Drawn\nsource: contract/s1\ninputs: {{{inputs}}}\n"
        f"run: |\n{indent(program, ' ' * 2)}\nexpect: {{{expect}}}"
    )
