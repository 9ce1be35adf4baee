"""Makes the Report of several releases of one target: who keeps the contract, and what changed."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from conformance.corpus.language.case import MODES, Case
from conformance.report import building
from conformance.report.building import grouped, table_of
from conformance.report.model import (
    Column,
    Fact,
    Item,
    Report,
    Row,
    Rows,
    Section,
    Subject,
    Table,
)
from conformance.report.of_difference import LONGEST, Known, changed_cells, facts_of
from conformance.text import clean, plural
from conformance.verdicts.causes import Causes
from conformance.verdicts.changes import REWORDED, Changes
from conformance.verdicts.findings import ORACLE_LABEL, Finding, Findings
from conformance.verdicts.judge import RAN
from conformance.verdicts.turns import Turn, turns_of

HEAD = (
    "Made from the records in this folder by gradconf report reports --format history; do not"
    " edit. A record holds the raw answers of one release; they are judged anew, by the cases and"
    " the documented deviations of today, without TensorFlow. tox run -e reports records what is"
    " missing or stale. FINDINGS.md has the faults, each with a script."
)
RELEASES = (
    "Cells that passed, of those that apply; the others are documented deviations, unless the"
    " columns behind these say more."
)
AREAS = "Cells that passed in all modes together: a plain number is all that apply."
CHANGELOG = (
    "What a release answers differently from the one before it in this table, the newest first: a"
    " row for each cause that begins, ends or changes its answer, the gravest kind first, with"
    " both values of one case. The cells are those in which a record shows it."
)
UNEXPLAINED = "Falls short, and no deviation is documented"
WORDS_ONLY = "in the words of an error alone"
ALLOWED = "allowed"
WITHIN = "Within the contract, or a deviation on both sides"
COLUMNS = ("kind", "cause", "turn", "case", "was", "is", "why", "source")


def report_of_releases(
    releases: Sequence[Findings],
    changes: Iterable[Changes],
    cases: Mapping[str, Case],
    causes: Causes,
) -> Report:
    """The Report of runs of one target each, in the order in which its releases were published.

    `changes` are those from each to the next; `cases` are those of the corpus by id.
    """
    incomplete = [run for run in releases if not run.complete]
    known = Known({case.id: case.title for case in cases.values()})
    kept = [_of_the_target(found, cases) for found in changes]
    turns = reversed(list(zip(pairwise(releases), kept, strict=True)))
    return Report(
        "releases",
        "Who keeps the gradient contract, release by release",
        "untrustworthy" if incomplete else "conforms",
        subjects=tuple(map(_subject, releases)),
        headline=(HEAD,),
        reservations=tuple(f"{run.record}: {run.reason or 'it did not end'}" for run in incomplete),
        sections=(
            Section("Releases", "counts", tables=(_releases(releases),), lines=(RELEASES,)),
            Section("Areas", "areas", tables=(_areas(releases),), lines=(AREAS,)),
            Section("Gradient behaviour changelog", "changes", lines=(CHANGELOG,)),
            *(_section(old, new, found, cases, causes) for (old, new), found in turns),
        ),
        changes=tuple(block for found in kept for block in changed_cells(found, known)),
        compared=sum(found.compared for found in kept),
    )


def _subject(run: Findings) -> Subject:
    ((label, modes),) = run.asked.items()
    about = run.targets.get(label, {})
    told = building.surroundings(about)
    return Subject("release", label, run.title(label), told, modes, about)


def version_of(run: Findings) -> str:
    """The version that the worker of a run's only target told."""
    (label,) = run.asked
    return run.version(label)


# ----- the tables -----


def _releases(releases: Sequence[Findings]) -> Table:
    rows: Rows = []
    for run in reversed(releases):
        (label,), by_mode = run.asked, grouped(run.cells, lambda found: found.cell.mode)
        numbers = (
            sum(found.verdict == "known_deviation" for found in run.cells),
            sum(found.falls_short for found in run.cells),
            sum(found.unstable for found in run.cells),
            sum(cell.target == label for cell in run.stale),
            sum(found.verdict == "surveyed" for found in run.cells),
            len({found.other.case for found in run.disagreements}),
        )
        modes = [_passed(by_mode.get(mode, ())) for mode in MODES]
        rows.append((version_of(run), *modes, *numbers, _with(run.targets.get(label, {}))))
    counted = (*MODES, "deviations", "fall short", "unstable", "stale", "surveyed", "modes differ")
    return table_of(("release",), (*counted, Column("with", number=False)), rows)


def _passed(cells: Collection[Finding]) -> str:
    """`41 of 43`, `43` where all of them did, nothing where none applies."""
    applicable = sum(found.verdict in RAN for found in cells)
    passed = sum(found.verdict == "pass" for found in cells)
    if not applicable:
        return ""
    return f"{passed}" if passed == applicable else f"{passed} of {applicable}"


def _with(about: Mapping[str, Any]) -> str:
    """`Python 3.11.7, numpy 2.4.6, Keras 3.12.0`."""
    packages = about.get("packages")
    known = packages if isinstance(packages, Mapping) else {}
    keras = known.get("keras") or known.get("keras-nightly")
    parts = {"Python": about.get("python"), "numpy": about.get("numpy"), "Keras": keras}
    return ", ".join(f"{name} {version}" for name, version in parts.items() if version)


def _areas(releases: Sequence[Findings]) -> Table:
    by_release = [grouped(run.cells, lambda found: found.case.area) for run in releases]
    rows: Rows = []
    for area in sorted(set().union(*by_release)):
        passed = (_passed(found.get(area, ())) for found in by_release)
        rows.append((Item(area, link=f"../cases/{area}"), *passed))
    return table_of(("area",), map(version_of, releases), rows)


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
    old: Findings, new: Findings, found: Changes, cases: Mapping[str, Case], causes: Causes
) -> Section:
    """What turned from one release to the next, cause by cause, and what that comes to."""
    short = {(f.cell.case, f.cell.mode) for run in (old, new) for f in run.cells if f.falls_short}
    turns = turns_of(found, causes)
    rows = [_row(turn, cases, short) for turn in turns if turn.effect != REWORDED]
    changed = plural(len(found.changes), "change") if turns else "No change"
    told = [f"{changed} in {plural(found.compared, 'cell')} that both answered"]
    if count := sum(bool(turn.word) for turn in turns):
        told.append(f"{plural(count, 'cause')}")
    for turn in turns:
        if not turn.word:
            where = WORDS_ONLY if turn.effect == REWORDED else WITHIN.lower()
            told.append(f"{plural(len(turn.changes), 'cell')} {where}")
    heading = f"{version_of(old)} to {version_of(new)}"
    tables = (table_of(COLUMNS[:4], ["cells", *map(_text, COLUMNS[4:])], rows),) if rows else ()
    return Section(heading, "changes", tables=tables, lines=(f"{'; '.join(told)}.",))


def _text(head: str) -> Column:
    return Column(head, number=False)


def _row(turn: Turn, cases: Mapping[str, Case], short: Container[tuple[str, str]]) -> Row:
    """A turn with both values of its first change, and where they are explained."""
    first, by = turn.changes[0], turn.changes[0].explained_by
    case, modes = cases[first.cell.case], {change.cell.mode for change in turn.changes}
    falls_short = any((change.cell.case, change.cell.mode) in short for change in turn.changes)
    title = turn.cause.title if turn.cause else by.reason if by else ""
    link = (turn.cause and turn.cause.issue) or (by.link if by else "")
    fact = next(filter(_is_told, facts_of(first)), facts_of(first)[0])
    return (
        turn.effect if turn.word or falls_short else ALLOWED,
        title or (UNEXPLAINED if falls_short else WITHIN),
        turn.word,
        Item(case.id, link=f"../{case.place.file}#L{case.place.line}"),
        f"{len(turn.changes)} in {', '.join(mode for mode in MODES if mode in modes)}",
        *(clean(value, LONGEST) for value in (fact.old, fact.new)),
        by.reason if by else "",
        Item("source", link=link) if by else "",
    )


def _is_told(fact: Fact) -> bool:
    """Whether something stands on both sides."""
    return not {fact.old, fact.new} & {"not observed", "not reached"}
