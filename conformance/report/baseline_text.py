"""What a run is beside its baseline: counts, and a line for each cell that a reader must know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from conformance.text import printable
from conformance.verdicts.baseline import STANDINGS, Against, Standing
from conformance.verdicts.results import Judged, Results

NOW = {
    "pass": "now passes",
    "unsupported": "now unsupported",
    "not_applicable": "no longer applicable",
    "known_deviation": "now a documented deviation",
}


def standing_of(results: Results, judged: Judged) -> Standing | None:
    """What a cell is beside the run's baseline; None where there is none."""
    return results.baseline.standing(judged) if results.baseline else None


def baseline_counts(results: Results) -> dict[Standing, int]:
    """How many cells have each standing."""
    counted = Counter(standing_of(results, judged) for judged in results.cells)
    return {standing: counted[standing] for standing in STANDINGS if counted[standing]}


def baseline_lines(results: Results, *, known: bool = False) -> Iterator[str]:
    """The counts, then what is better, what is worse than an entry says, and perhaps the known."""
    against = results.baseline
    if against is None:
        return
    counts = baseline_counts(results)
    known_ones = f"{counts.pop('known', 0)} known by the baseline {printable(against.file)}"
    yield ", ".join([known_ones, *(f"{count} {word}" for word, count in counts.items())])
    for judged in results.cells:
        standing = against.standing(judged)
        if standing == "better":
            now = NOW.get(judged.verdict, printable(judged.verdict))
            yield f"better: {now}: {printable(judged.cell)} ({_was(against, judged)})"
        elif standing == "worse" and (against.entry(judged) or judged.verdict == "unsupported"):
            yield f"worse: {printable(judged.cell)} ({_was(against, judged)})"
        elif standing == "known" and known:
            yield f"known: {printable(judged.cell)} ({_was(against, judged)})"
        elif standing == "new case":
            yield f"new case: {printable(judged.cell)} (not asked when the baseline was written)"


def _was(against: Against, judged: Judged) -> str:
    entry = against.entry(judged)
    if entry is None:
        return "the baseline does not say that the target lacks this"
    reason = f"; {entry.reason}" if entry.reason else ""
    return printable(f"was {entry}; since {entry.first_seen}{reason}")
