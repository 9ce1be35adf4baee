"""Many versions of a target side by side, as Markdown: who keeps the contract, and what changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from conformance.asking.events import Cell
from conformance.asking.record import Record
from conformance.corpus.language.case import MODES, Case
from conformance.report.difference_blocks import Block, Known, blocks_of
from conformance.report.markup import code, escaped
from conformance.report.style import cut
from conformance.text import plural
from conformance.verdicts.changes import REWORDED, changes_between, side_of
from conformance.verdicts.departures import Departures
from conformance.verdicts.results import ORACLE_LABEL, RAN, Judged, Results

HEAD = """\
# Who keeps the gradient contract, release by release

Made from the records in this folder by `gradconf report reports --format history`; do not edit.
A record holds the raw answers of one release; they are judged anew, by the cases and the documented
deviations of today, without TensorFlow. `tox run -e reports` records what is missing or stale.
"""
LONGEST = 100
"""Characters of a value that stand in the changelog."""


@dataclass(frozen=True)
class Release:
    """One version of a target: its record, and the record judged by the corpus of today."""

    record: Record
    results: Results

    @property
    def label(self) -> str:
        """The target, as it was asked for."""
        (label,) = self.results.asked
        return label

    @property
    def about(self) -> Mapping[str, Any]:
        """What its worker said of itself."""
        return self.results.targets.get(self.label, {})

    @property
    def version(self) -> str:
        """The version that the worker told."""
        return str(self.about.get("version") or "")

    def falls_short(self, cell: Cell) -> bool:
        """Whether the target falls short in the case and mode of a cell."""
        return (cell.case, cell.mode) in self._short

    @cached_property
    def _short(self) -> frozenset[tuple[str, str]]:
        short = (judged for judged in self.results.cells if judged.falls_short)
        return frozenset((judged.cell.case, judged.cell.mode) for judged in short)


def history(
    releases: Sequence[Release], cases: Mapping[str, Case], deviations: Sequence[Departures]
) -> str:
    """The document: the releases, then version x area, then the changes from each to the next.

    `releases` are of one target and in the order in which they were published; `cases` are those
    of the corpus by id.
    """
    parts = [HEAD, *_releases(releases), "", *_areas(releases), "", *_changelog_head()]
    for old, new in reversed(list(pairwise(releases))):
        parts += _changes(old, new, cases, deviations)
    return "\n".join(parts) + "\n"


# ----- the releases -----


def _releases(releases: Sequence[Release]) -> Iterator[str]:
    yield "## Releases"
    yield ""
    yield "Cells that passed, of those that apply; the others are documented deviations, unless the"
    yield "columns behind these say more."
    yield ""
    yield f"| release | {' | '.join(MODES)} | deviations | fall short | unstable | stale | with |"
    yield "| :-- |" + " --: |" * (len(MODES) + 4) + " :-- |"
    for release in reversed(releases):
        counts = release.results.counts()
        numbers = [
            *(_passed(_of_mode(release, mode)) for mode in MODES),
            counts.get("known_deviation", 0),
            sum(judged.falls_short for judged in release.results.cells),
            sum(judged.unstable for judged in release.results.cells),
            sum(cell.target == release.label for cell in release.results.stale),
        ]
        cells = " | ".join(map(str, numbers))
        yield f"| {escaped(release.version)} | {cells} | {escaped(_surroundings(release.about))} |"


def _of_mode(release: Release, mode: str) -> list[Judged]:
    return [judged for judged in release.results.cells if judged.cell.mode == mode]


def _passed(cells: Sequence[Judged]) -> str:
    """`41 of 43`, `43` where all of them did, nothing where none applies."""
    applicable = [judged for judged in cells if judged.verdict in RAN]
    passed = sum(judged.verdict == "pass" for judged in applicable)
    if not applicable:
        return ""
    return f"{passed}" if passed == len(applicable) else f"{passed} of {len(applicable)}"


def _surroundings(about: Mapping[str, Any]) -> str:
    packages = about.get("packages")
    known = packages if isinstance(packages, Mapping) else {}
    keras = known.get("keras") or known.get("keras-nightly")
    parts = {"Python": about.get("python"), "numpy": about.get("numpy"), "Keras": keras}
    return ", ".join(f"{name} {version}" for name, version in parts.items() if version)


def _areas(releases: Sequence[Release]) -> Iterator[str]:
    yield "## Areas"
    yield ""
    yield "Cells that passed in all modes together: a plain number is all that apply."
    yield ""
    yield f"| area | {' | '.join(escaped(release.version) for release in releases)} |"
    yield "| :-- |" + " --: |" * len(releases)
    areas = {judged.case.area for release in releases for judged in release.results.cells}
    for area in sorted(areas):
        passed = (
            _passed([judged for judged in release.results.cells if judged.case.area == area])
            for release in releases
        )
        yield f"| [`{area}`](../cases/{area}) | {' | '.join(passed)} |"


# ----- the changelog -----


def _changelog_head() -> Iterator[str]:
    yield "## Gradient behaviour changelog"
    yield ""
    yield "What a release answers differently from the one before it in this table, the newest"
    yield "first. A change that a documented deviation explains stands under its reason."


def _changes(
    old: Release, new: Release, cases: Mapping[str, Case], deviations: Sequence[Departures]
) -> Iterator[str]:
    found = changes_between(side_of(old.record), side_of(new.record), deviations)
    known = Known({case.id: case.title for case in cases.values()})
    blocks = [
        block
        for block in blocks_of(found, "implementation changed", known)
        if block.first.cell.target != ORACLE_LABEL and block.first.cell.case in cases
    ]
    yield f"\n### {escaped(old.version)} to {escaped(new.version)}\n"
    if not blocks:
        yield f"No change in {plural(found.compared, 'cell')} that both answered."
        return
    changed = sum(len(block.changes) for block in blocks)
    yield f"{plural(changed, 'change')} in {plural(found.compared, 'cell')} that both answered."
    by_reason: dict[str, list[Block]] = {}
    for block in blocks:
        by_reason.setdefault(_reason(block, old, new), []).append(block)
    for reason, explained in sorted(by_reason.items(), key=lambda item: _order(item[0])):
        yield f"\n{reason}\n"
        for block in explained:
            yield from _block(block, cases[block.first.cell.case])


def _reason(block: Block, old: Release, new: Release) -> str:
    """The departure that ended or began between the two, or what else the change is."""
    entry = block.first.explained_by
    if entry:
        return (
            f"**{block.first.turn}, a {entry.kind}:** {escaped(entry.reason)} "
            f"([source]({entry.link}))"
        )
    if block.mismatch == REWORDED:
        return "**Only the words of an error:**"
    if any(release.falls_short(change.cell) for release in (old, new) for change in block.changes):
        return "**Falls short, and no deviation is documented:**"
    return "**Within the contract, or a deviation on both sides:**"


def _order(reason: str) -> tuple[bool, bool, str]:
    """The explained changes first, then by what stands in bold; mere words come last."""
    explained = reason.startswith(("**until", "**since"))
    return not explained, reason.startswith("**Only"), reason


def _block(block: Block, case: Case) -> Iterator[str]:
    link = f"[`{case.id}`](../{case.place.file}#L{case.place.line})"
    yield f"- {link} in {block.modes}: {escaped(case.title)}"
    for fact in block.facts:
        was, now = (code(cut(value, LONGEST)) for value in (fact.old, fact.new))
        yield f"  - {code(fact.where)} was {was}, is {now}"
