"""Axes that ask the catalogue: which rows come of a query, and that their points are regular."""

from __future__ import annotations

import itertools
import math
from math import erf
from typing import Any

import pytest

from conformance.corpus.catalogue import Operation
from conformance.corpus.language.case import (
    Case,
    ExpectedDerivative,
    ExpectedNone,
    ExpectedOracle,
)
from conformance.corpus.language.document import CaseFileError
from conformance.corpus.language.literals import COMPLEXES, leaves, shape_of
from conformance.corpus.language.loader import load_text
from conformance.corpus.rows import regular_point
from tests.cases import whole_catalogue

TABLE = """\
introduction: A table.
cases:
  ${op}:
    title: The gradient of ${op.call}
    source: api/GradientTape
    each: {op: {operations: QUERY}}
    inputs: ${op.inputs}
    run: |
      with tf.GradientTape() as tape:
          tape.watch([${op.sources}])
          y = ${op.call}
      g = tape.gradient(y, [${op.sources}])
    expect: {g: oracle}
"""
OPERATIONS = whole_catalogue()


def table(query: str) -> dict[str, Case]:
    """The cases of a table of one axis, by their names."""
    cases = load_text(TABLE.replace("QUERY", query))
    return {case.id.rpartition("/")[2]: case for case in cases}


def test_each_call_of_a_family_is_a_row() -> None:
    calls = [
        operation.name if len(operation.variants) == 1 else f"{operation.name}_{variant.name}"
        for operation in OPERATIONS.values()
        if operation.family == "reductions" and {"float64", "float32"} & {*operation.dtypes}
        for variant in operation.variants
    ]
    assert list(table("{family: reductions}")) == calls
    assert len(calls) > 40


def test_a_query_chooses() -> None:
    everything = table("{family: unary, dtype: float32}")
    complexes = table("{family: unary, dtype: complex64}")
    assert 20 < len(complexes) < len(everything)
    assert "relu" in {*everything} - {*complexes}
    assert {*table("{family: unary, without: [abs]}")} == {*table("{family: unary}")} - {"abs"}
    assert "floor" not in everything  # it has no input that a gradient reaches
    sums = "{family: reductions, named: [reduce_sum, cumsum]"
    assert [*table(sums + ", variants: first}")] == ["reduce_sum_all", "cumsum_default"]
    without_second = {*table("{family: unary, second: raises}")}
    assert without_second < {*everything}
    assert without_second.isdisjoint(table("{family: unary, second: exists}"))


def test_a_row_for_each_dtype() -> None:
    two = table("{family: unary, named: [erfinv], dtype: [float32, float64]}")
    assert {name: case.inputs[0].dtype for name, case in two.items()} == {
        "erfinv_float32": "float32",
        "erfinv_float64": "float64",
    }
    one = table(
        "{family: unary, named: [erfinv], dtype: [float32, float64], without: [erfinv_float32]}"
    )
    assert [*one] == ["erfinv_float64"]


def test_a_row_has_the_value_that_the_catalogue_says() -> None:
    valued = TABLE.replace("{g: oracle}", "{y: '${op.result}', g: '${op.gradient}'}")
    (case,) = load_text(valued.replace("QUERY", "{family: unary, named: [erfinv]}"))
    (given,) = case.inputs
    for x, y in zip(leaves(given.value), leaves(case.expect["y"].value), strict=True):
        assert erf(y) == pytest.approx(x, rel=1e-15)
    assert (case.expect["y"].dtype, case.expect["g"]) == ("float64", ExpectedDerivative())
    half = valued.replace("QUERY", "{family: unary, named: [erfinv], dtype: float32}")
    assert load_text(half)[0].expect["y"].within == "element"
    moved = valued.replace("QUERY", "{family: unary, named: [ensure_shape], dtype: float16}")
    assert load_text(moved)[0].expect["y"].within == "exact"
    once = valued.replace("QUERY", "{family: unary, named: [reciprocal_v1]}")
    assert load_text(once)[0].expect["y"].within == 2.0 * 2.0**-52
    (case,) = load_text(valued.replace("QUERY", "{family: unary, named: [sin]}"))
    assert {*case.expect.values()} == {ExpectedOracle()}


def test_a_row_has_the_jacobian_in_the_widest_dtype_that_has_one() -> None:
    said = TABLE.replace("{g: oracle}", "{y: '${op.tangent}', g: '${op.jacobian}'}")
    query = "{family: unary, jacobian: true, named: [reciprocal_v1, erfinv]}"
    inverse, reciprocal = sorted(load_text(said.replace("QUERY", query)), key=lambda one: one.id)
    x = leaves(reciprocal.inputs[0].value)
    ((tangent, jacobian),) = zip(
        leaves(reciprocal.expect["y"].value)[:1],
        leaves(reciprocal.expect["g"].items[0].value)[:1],
        strict=True,
    )
    assert jacobian == pytest.approx(-1 / x[0] ** 2)
    assert tangent == pytest.approx((0.5 * x[0] + 2.0) * jacobian)
    assert (reciprocal.inputs[0].dtype, inverse.inputs[0].dtype) == ("float64", "float32")


def test_what_moves_numbers_says_what_arrives_where() -> None:
    said = TABLE.replace("{g: oracle}", "{y: '${op.result}', g: '${op.upstream}'}")
    query = "{family: indexing, dtype: bfloat16, variants: first, moved: true}"
    found = {case.operation: case for case in load_text(said.replace("QUERY", query))}
    assert "gather_nd" in found
    assert "tensor_scatter_add" not in found  # it adds
    update = found["tensor_scatter_update"]  # of the rows 1 and 2 of x, by y
    (of_x, of_y), result = update.expect["g"].items, update.expect["y"]
    assert (of_x.value, of_x.dtype, of_x.within) == (((1, 2), (0, 0), (0, 0)), "bfloat16", "exact")
    assert of_y.value == ((3, 4), (5, 6))
    assert (result.dtype, result.within) == ("bfloat16", "exact")
    values = leaves(update.inputs[0].value)[:2]
    assert leaves(result.value)[:2] == pytest.approx(values, rel=2**-8)


def test_rows_of_several_families_are_of_their_topics() -> None:
    text = TABLE.replace("QUERY", "{family: [unary, binary], named: [tan, pow], variants: first}")
    found = [(case.id, case.operation) for case in load_text(text, "operations/tables")]
    assert found == [("operations/unary/tan", "tan"), ("operations/binary/pow_same", "pow")]


def test_the_same_value_squared() -> None:
    squared = TABLE.replace("{g: oracle}", "{y: '${op.squared}', g: oracle}")
    text = squared.replace("QUERY", "{family: reductions, named: [sort_ascending]}")
    (case,) = load_text(text)
    assert leaves(case.expect["y"].value)[0] == pytest.approx(
        min(leaves(case.inputs[0].value)[:4]) ** 2
    )


def test_a_row_for_each_set_of_edge_points() -> None:
    declared = table("{family: unary, points: declared}")
    surveyed = table("{family: unary, points: surveyed}")
    both = [
        f"{operation.name}_at_{points.variant.name}"
        for operation in OPERATIONS.values()
        if operation.family == "unary"
        for points in operation.points
    ]
    assert sorted([*declared, *surveyed]) == sorted(both)
    assert len(declared) > 50
    assert declared.keys().isdisjoint(surveyed)
    assert [*table("{family: unary, points: declared, named: [tanh]}")] == ["tanh_at_limits"]
    assert declared.keys() - table("{family: unary, points: declared, without: [abs]}").keys() == {
        "abs_at_limits"
    }


def test_a_row_of_edge_points_says_what_is_declared_there() -> None:
    said = TABLE.replace("{g: oracle}", "{y: '${op.result}', g: {list: '${op.gradient}'}}")
    said = said.replace("${op.call}\n    source", "${op.why}\n    source")
    (case,) = load_text(said.replace("QUERY", "{family: unary, points: declared, named: [relu]}"))
    assert case.title.endswith("by convention 0 at the kink, and at nan")
    (x,) = case.inputs
    y, g = case.expect["y"], case.expect["g"].items[0]
    assert (x.dtype, y.dtype, g.dtype, y.within) == (*["float64"] * 3, "element")
    for number, (at, value, slope) in enumerate(
        zip(leaves(x.value), leaves(y.value), leaves(g.value), strict=True), start=1
    ):
        assert value == max(at, 0.0) or math.isnan(at)
        assert slope == (number if at > 0 else 0)


def test_the_gradient_of_what_is_not_connected_is_none() -> None:
    said = TABLE.replace("{g: oracle}", "{g: {list: '${op.gradient}'}}")
    (case,) = load_text(said.replace("QUERY", "{family: unary, points: declared, named: [floor]}"))
    assert case.expect["g"].items == (ExpectedNone(),)


def test_a_row_fills_the_template() -> None:
    case = table("{family: binary, named: [atan2], variants: first}")["atan2_right"]
    assert case.title == "The gradient of tf.math.atan2(y, x)"
    assert {given.name: (given.dtype, shape_of(given.value)) for given in case.inputs} == {
        "y": ("float64", (2, 3)),
        "x": ("float64", (2, 3)),
    }
    assert "tape.watch([y, x])" in case.run


@pytest.mark.parametrize(
    ("query", "fault"),
    [
        ("{familiy: unary}", "unknown key 'familiy' (did you mean family?)"),
        ("{dtype: float32}", "missing family"),
        ("{family: unaries}", "'unaries' is not known here (did you mean unary or"),
        ("{family: unary, dtype: float33}", "no dtype named 'float33' (did you mean float32"),
        ("{family: unary, variants: last}", "'last' is not known here"),
        ("{family: [unary, binarie]}", "'binarie' is not known here (did you mean binary"),
        ("{family: unary, jacobian: yes please}", "expected true or false"),
        ("{family: unary, dtype: [float32, float]}", "no dtype named 'float'"),
        ("{family: unary, second: no}", "'no' is not known here (known: exists"),
        ("{family: unary, named: [reluu]}", "no operation named 'reluu' here (did you mean relu"),
        ("{family: unary, without: [reluu]}", "no operation named 'reluu' here"),
        ("{family: unary, named: [relu], dtype: complex64}", "no such operation in unary"),
        ("{family: unary, points: all}", "'all' is not known here (known: declared, surveyed)"),
        ("{family: unary, points: declared, dtype: float32}", "unknown key 'dtype'"),
        ("{family: unary, points: surveyed, named: [tanh]}", "no such operation in unary"),
        ("{family: unary}, others: {family: unary}", "unknown key 'others'"),
    ],
)
def test_a_wrong_query_is_refused(query: str, fault: str) -> None:
    with pytest.raises(CaseFileError) as refused:
        table(query)
    told = [found.place.line for found in refused.value.faults if fault in found.message]
    assert told == [6], refused.value.faults


def parts(value: Any, dtype: str) -> list[float]:
    """The real numbers of a value."""
    if dtype not in COMPLEXES:
        return [float(leaf) for leaf in leaves(value)]
    return [part for leaf in leaves(value) for part in (leaf.real, leaf.imag)]  # type: ignore[union-attr]


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=lambda given: given.name)
def test_points_are_regular(operation: Operation) -> None:
    """Inside the domains, as far apart as the entry says, and with three decimals."""
    for variant, dtype in itertools.product(operation.variants, ("float64", "complex128")):
        if dtype not in operation.dtypes:
            continue
        point = regular_point(variant, dtype)
        drawn: list[float] = []
        for item in variant.inputs:
            value, own = point[item.name], item.dtype or dtype
            assert shape_of(value) == item.shape
            numbers = parts(value, own)
            assert all(number == round(number, 3) for number in numbers)
            if item.plus == 0.0:
                domain = item.domain_of(own)
                assert all(any(low < n < high for low, high in domain) for n in numbers)
                drawn += numbers
        if operation.apart and dtype == "float64":
            pairs = itertools.pairwise(sorted(drawn))
            assert all(b - a >= operation.apart for a, b in pairs), (variant.name, sorted(drawn))
