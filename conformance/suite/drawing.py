"""Programs from hypothesis: a batch of them by its seed, and the smallest that fails like another.

Each batch has a seed of its own, so that hypothesis can draw the batch of a finding again, and
shrink it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings

from conformance.suite.programs import programs

BATCH = 100
"""Programs of one seed: as many are drawn again before one of them is shrunk."""
QUIET = settings(
    max_examples=BATCH,
    database=None,
    deadline=None,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
    verbosity=Verbosity.quiet,
    print_blob=False,
    report_multiple_bugs=False,
)


def _seed_of(number: int, batch: int) -> int:
    """The seed of a batch of the campaign with this number."""
    return number * 1_000_003 + batch


def drawn(number: int, batch: int, admits: Callable[[str], bool]) -> list[str]:
    """The entries of a batch, each once: the same ones wherever hypothesis is of one release."""
    entries: dict[str, None] = {}

    @seed(_seed_of(number, batch))
    @settings(QUIET, phases=[Phase.generate])
    @given(entry=programs(admits=admits))
    def draw(entry: str) -> None:
        entries.setdefault(entry)

    draw()
    return list(entries)


class _Fails(Exception):
    """What tells hypothesis that a program fails."""


def shrunk(
    found: str, number: int, batch: int, admits: Callable[[str], bool], fails: Callable[[str], bool]
) -> str:
    """The smallest entry that hypothesis finds below the one that was found, and that fails as it.

    The batch is drawn again; entries before the one found are known not to be meant. Where `fails`
    gives up, what was found so far stands.
    """
    failing = {found}
    told: dict[str, bool] = {}

    @seed(_seed_of(number, batch))
    @settings(QUIET)
    @given(entry=programs(admits=admits))
    def shrink(entry: str) -> None:
        if entry not in told:
            told[entry] = entry in failing or (found in told and fails(entry))
        if told[entry]:
            failing.add(entry)
            raise _Fails

    with contextlib.suppress(_Fails):
        shrink()
    return min(failing, key=lambda entry: (entry.count("\n"), len(entry), entry))
