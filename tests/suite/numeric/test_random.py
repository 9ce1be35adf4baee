"""Random smooth programs: right gradients hold, and an error of one per cent is always seen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.suite.numeric.making import SQUARE_RULE, cases_of, checked, entry, wrong_oracle

UNARY = (
    *("tf.sin({0})", "tf.tanh({0})", "tf.exp(0.3 * tf.sin({0}))", "tf.nn.sigmoid({0})", "-{0}"),
    *("tf.math.log1p({0} * {0})", "tf.sqrt(1.0 + {0} * {0})", "tf.reverse({0}, [0])"),
    *("tf.cumsum({0}) * 0.4", "tf.nn.softmax({0})", "tf.roll({0}, 1, 0)", "tf.math.erf({0})"),
    *("{0} - tf.stop_gradient({0})", "tf.gather({0}, [2, 0, 0])", "{0} * 0.7"),
)
BINARY = (
    *("{0} + {1}", "{0} * {1}", "{0} - 2.0 * {1}", "{0} / (1.0 + {1} * {1})"),
    *("tf.where({0} > {1}, {0}, tf.sin({1}))", "{0} * tf.reduce_mean({1})"),
)
NUMBERS = st.integers(-1600, 1600).filter(lambda n: abs(n) > 20).map(lambda n: n / 1000)


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[str], list[float]]:
    """The statements of a smooth program of x, and a point."""
    names, lines = ["x"], []
    for number in range(draw(st.integers(2, 7))):
        known = st.sampled_from(names)
        if draw(st.booleans()):
            text = draw(st.sampled_from(UNARY)).format(draw(known))
        else:
            text = draw(st.sampled_from(BINARY)).format(draw(known), draw(known))
        lines.append(f"v{number} = {text}")
        names.append(f"v{number}")
    return lines, draw(st.lists(NUMBERS, min_size=3, max_size=3))


def batch_of(drawn: list[tuple[list[str], list[float]]], ending: str) -> dict[str, str]:
    """One entry for each program; `ending` makes the target of its last value."""
    entries = {}
    for number, (lines, point) in enumerate(drawn):
        body = "\n".join(f"    {line}" for line in [*lines, ending.format(f"v{len(lines) - 1}")])
        text = f"with tf.GradientTape() as t:\n    t.watch(x)\n{body}\ng = t.gradient(y, x)"
        entries[f"program_{number}"] = entry(text, inputs=f"{{x: {point}}}")
    return entries


@pytest.fixture(scope="module")
def slightly_wrong(tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    workshop = tmp_path_factory.mktemp("oracles")
    return wrong_oracle(Path(workshop), *SQUARE_RULE, "return (ct * (conj(x) * 2.02),)")


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(programs(), min_size=25, max_size=25))
def test_right_gradients_hold(drawn: list[tuple[list[str], list[float]]]) -> None:
    numeric = checked(cases_of(**batch_of(drawn, "y = {0} * x")))
    assert numeric.faults == []
    assert len(numeric.checked) >= 20, numeric.skipped


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(programs(), min_size=25, max_size=25))
def test_one_per_cent_is_seen(
    slightly_wrong: object, drawn: list[tuple[list[str], list[float]]]
) -> None:
    """Every gradient ends in the wrong rule, at a value and with a slope that are never zero."""
    ending = "y = tf.square(tf.exp(x + 0.1 * tf.sin({0})))"
    cases = cases_of(**batch_of(drawn, ending))
    numeric = checked(cases, slightly_wrong)  # type: ignore[arg-type]
    assert len(numeric.checked) >= 20, numeric.skipped
    refused = {fault.split(": mathematics")[0].rpartition(" ")[2] for fault in numeric.faults}
    assert refused == set(numeric.checked)
