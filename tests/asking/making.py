"""Cases and targets that the tests of asking share."""

from __future__ import annotations

from pathlib import Path

from conformance.targets.specification import Target, parse_target

BROKEN = Path(__file__).parent.parent / "broken"
TEXT = """
introduction: For tests of running.
cases:
  forward:
    title: No gradient is asked for
    source: contract/s1
    inputs: {x: 3.0}
    run: |
      y = x * x
    expect: {y: 9.0}
  backward:
    title: A gradient is asked for
    source: contract/s1
    inputs: {x: 3.0}
    run: |
      with tf.GradientTape() as t:
          t.watch(x)
          y = x * x
      g = t.gradient(y, x)
    expect: {g: 6.0}
  forward_again:
    title: No gradient is asked for, again
    source: contract/s1
    inputs: {x: 4.0}
    not_applicable: {graph: this says so}
    run: |
      y = x * x
    expect: {y: 16.0}
"""


def broken(name: str) -> Target:
    """One of the misbehaving targets."""
    return parse_target(str(BROKEN / f"{name}.py"))
