"""Cases and targets that the tests of asking share."""

from __future__ import annotations

from pathlib import Path

from conformance.targets.specification import Target, parse_target
from tests.cases import entry, file_of

BROKEN = Path(__file__).parent.parent / "broken"
FORWARD = "y = x * x"
TEXT = file_of(
    "For tests of running.",
    forward=entry("No gradient is asked for", run=FORWARD, expect="{y: 9.0}"),
    backward=entry("A gradient is asked for"),
    forward_again=entry(
        "No gradient is asked for, again",
        inputs="{x: 4.0}",
        not_applicable="{graph: this says so}",
        run=FORWARD,
        expect="{y: 16.0}",
    ),
)


def broken(name: str) -> Target:
    """One of the misbehaving targets."""
    return parse_target(str(BROKEN / f"{name}.py"))
