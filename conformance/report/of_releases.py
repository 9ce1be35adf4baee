"""Makes the Report of several releases of one target: who keeps the contract, and what changed."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

from conformance.closing import EXIT_CODES, Word
from conformance.corpus.language.case import MODES, Case
from conformance.report.model import (
    Block,
    Column,
    Item,
    Report,
    Section,
    Subject,
    Table,
    TableCell,
)
from conformance.report.of_difference import Known, change_blocks, changed_cells
from conformance.report.wording import surroundings
from conformance.text import plural
from conformance.verdicts.changes import REWORDED, Changes
from conformance.verdicts.findings import ORACLE_LABEL, Finding, Findings
from conformance.verdicts.judge import RAN

TITLE = "Who keeps the gradient contract, release by release"
HEAD = (
    "Made from the records in this folder by gradconf report reports --format history; do not"
    " edit. A record holds the raw answers of one release; they are judged anew, by the cases and"
    " the documented deviations of today, without TensorFlow. tox run -e reports records what is"
    " missing or stale.",
)
RELEASES = (
    "Cells that passed, of those that apply; the others are documented deviations, unless the"
    " columns behind these say more.",
)
AREAS = ("Cells that passed in all modes together: a plain number is all that apply.",)
CHANGELOG = (
    "What a release answers differently from the one before it in this table, the newest first. A"
    " change that a documented deviation explains stands under its reason.",
)
WORDS_ONLY = "Only the words of an error"
UNEXPLAINED = "Falls short, and no deviation is documented"
WITHIN = "Within the contract, or a deviation on both sides"


@dataclass(frozen=True)
class Release:
    """One version of a target: what the corpus of today finds in its record."""

    findings: Findings

    @property
    def label(self) -> str:
        """The target, as it was asked for."""
        (label,) = self.findings.asked
        return label

    @property
    def about(self) -> Mapping[str, Any]:
        """What its worker said of itself."""
        return self.findings.targets.get(self.label, {})

    @property
    def version(self) -> str:
        """The version that the worker told."""
        return str(self.about.get("version") or "")

    @cached_property
    def short(self) -> frozenset[tuple[str, str]]:
        """The cases and modes in which the target falls short."""
        cells = (found.cell for found in self.findings.cells if found.falls_short)
        return frozenset((cell.case, cell.mode) for cell in cells)


def report_of_releases(
    releases: Sequence[Release], changes: Iterable[Changes], cases: Mapping[str, Case]
) -> Report:
    """The Report of releases of one target, in the order in which they were published.

    `changes` are those from each to the next; `cases` are those of the corpus by id.
    """
    complete = all(release.findings.complete for release in releases)
    word: Word = "conforms" if complete else "untrustworthy"
    known = Known({case.id: case.title for case in cases.values()})
    turns = [
        (old, new, _of_the_target(found, cases))
        for (old, new), found in zip(pairwise(releases), changes, strict=True)
    ]
    return Report(
        "releases",
        TITLE,
        word,
        EXIT_CODES[word],
        subjects=tuple(map(_subject, releases)),
        headline=HEAD,
        reservations=tuple(
            f"{release.findings.record}: {release.findings.reason or 'the run did not end'}"
            for release in releases
            if not release.findings.complete
        ),
        sections=(
            Section("Releases", "counts", tables=(_releases(releases),), lines=RELEASES),
            Section("Areas", "areas", tables=(_areas(releases),), lines=AREAS),
            Section("Gradient behaviour changelog", "changes", lines=CHANGELOG),
            *(_section(old, new, found, cases, known) for old, new, found in reversed(turns)),
        ),
        changes=tuple(c for _, _, found in turns for c in changed_cells(found, known)),
        compared=sum(found.compared for _, _, found in turns),
    )


def _subject(release: Release) -> Subject:
    told = surroundings(release.about)
    modes = release.findings.asked[release.label]
    name = release.findings.title(release.label)
    return Subject("release", release.label, name, told, modes, release.about)


# ----- the tables -----


def _releases(releases: Sequence[Release]) -> Table:
    counted = (*MODES, "deviations", "fall short", "unstable", "stale")
    heads = [Column("release", number=False), *map(Column, counted), Column("with", number=False)]
    rows: list[tuple[TableCell, ...]] = []
    for release in reversed(releases):
        cells = release.findings.cells
        modes = [_passed([one for one in cells if one.cell.mode == mode]) for mode in MODES]
        numbers = (
            sum(found.verdict == "known_deviation" for found in cells),
            sum(found.falls_short for found in cells),
            sum(found.unstable for found in cells),
            sum(cell.target == release.label for cell in release.findings.stale),
        )
        rows.append((release.version, *modes, *numbers, _surroundings(release.about)))
    return Table(tuple(heads), tuple(rows))


def _passed(cells: Sequence[Finding]) -> str:
    """`41 of 43`, `43` where all of them did, nothing where none applies."""
    applicable = sum(found.verdict in RAN for found in cells)
    passed = sum(found.verdict == "pass" for found in cells)
    if not applicable:
        return ""
    return f"{passed}" if passed == applicable else f"{passed} of {applicable}"


def _surroundings(about: Mapping[str, Any]) -> str:
    packages = about.get("packages")
    known = packages if isinstance(packages, Mapping) else {}
    keras = known.get("keras") or known.get("keras-nightly")
    parts = {"Python": about.get("python"), "numpy": about.get("numpy"), "Keras": keras}
    return ", ".join(f"{name} {version}" for name, version in parts.items() if version)


def _areas(releases: Sequence[Release]) -> Table:
    by_area: list[dict[str, list[Finding]]] = []
    for release in releases:
        found: dict[str, list[Finding]] = {}
        for one in release.findings.cells:
            found.setdefault(one.case.area, []).append(one)
        by_area.append(found)
    heads = (Column(release.version) for release in releases)
    rows: list[tuple[TableCell, ...]] = []
    for area in sorted({area for found in by_area for area in found}):
        passed = (_passed(found.get(area, [])) for found in by_area)
        rows.append((Item(area, link=f"../cases/{area}"), *passed))
    return Table((Column("area", number=False), *heads), tuple(rows))


# ----- the changelog -----


def _of_the_target(found: Changes, cases: Container[str]) -> Changes:
    """What the target answers differently, in the cases of the corpus."""
    kept = (
        change
        for change in found.of("implementation changed")
        if change.cell.target != ORACLE_LABEL and change.cell.case in cases
    )
    return replace(found, changes=tuple(kept))


def _section(
    old: Release, new: Release, found: Changes, cases: Mapping[str, Case], known: Known
) -> Section:
    """What changed from one release to the next, by reason."""
    short = old.short | new.short
    blocks = [_placed(block, cases[block.case], short) for block in change_blocks(found, known)]
    changed = plural(len(found.changes), "change") if blocks else "No change"
    line = f"{changed} in {plural(found.compared, 'cell')} that both answered."
    ordered = tuple(sorted(blocks, key=_order))
    return Section(f"{old.version} to {new.version}", "changes", ordered, lines=(line,))


def _placed(block: Block, case: Case, short: Container[tuple[str, str]]) -> Block:
    """A block with where its case is written, and what it is if no departure explains it."""
    placed = replace(block, file=case.place.file, line=case.place.line, cause="")
    if block.since:
        return placed
    if block.label == REWORDED:  # the values would fill half the page: `gradconf diff` has them
        return replace(placed, cause=WORDS_ONLY, title="", facts=())
    falls_short = any((block.case, mode) in short for mode in block.where.split(", "))
    return replace(placed, cause=UNEXPLAINED if falls_short else WITHIN)


def _order(block: Block) -> tuple[object, ...]:
    """The explained changes first, then by what they are; mere words come last."""
    return block.cause == WORDS_ONLY, bool(block.cause), block.cause, block.since, block.reason
