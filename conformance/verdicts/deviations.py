"""Deviations: documented departures of a named implementation, each held to its exact answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Literal, TypeAlias

from conformance.answers.compare import compare
from conformance.answers.literals import LiteralError
from conformance.corpus.language.case import MODES, Case, Expectation, Place
from conformance.targets.versions import is_between
from conformance.verdicts.judge import Evidence, Judgement

Kind: TypeAlias = Literal["bug", "change", "limit", "unsupported"]


@dataclass(frozen=True)
class Deviation:
    """A departure of `target` in some cases and modes, from version `since` to `until`.

    Both versions are included and both are needed: "2.21" as `until` covers 2.21.1, and as `since`
    it does not cover 2.21.0rc0. `answer` is what the target gives instead, for the names that
    depart; the other names conform. `who` is right, `reason` says why, `link` leads to the issue.
    An `unsupported` one may leave `answer` empty: then any error of the departing names is covered.
    `undefined` says that the target reads memory that is not its own: any answer, a crash included,
    and even a right one, is covered.
    """

    target: str
    cases: tuple[str, ...]
    modes: tuple[str, ...]
    since: str
    until: str
    answer: Mapping[str, Expectation]
    kind: Kind
    who: str
    reason: str
    link: str
    place: Place
    undefined: bool = False

    def covers(self, target: str, version: str, case_id: str, mode: str) -> bool:
        """Whether it speaks of this cell; never of a version that cannot be ordered."""
        return (
            target == self.target
            and mode in self.modes
            and any(fnmatchcase(case_id, pattern) for pattern in self.cases)
            and is_between(self.since, version, self.until)
        )


def apply(
    judgement: Judgement,
    deviations: Iterable[Deviation],
    evidence: Evidence,
) -> Judgement:
    """A judgement in the light of the deviations that cover the cell.

    fail (or unsupported, for that kind) with exactly the documented answer: `known_deviation`.
    pass: `unexpected_pass`, because the target conforms after all. Another departure stays `fail`,
    and the note says so. Any other verdict stays as it is.
    """
    covering = list(deviations)
    if not covering:
        return judgement
    undefined = [deviation for deviation in covering if deviation.undefined]
    if undefined and judgement.verdict in ("pass", "fail", "crash", "timeout"):
        return replace(judgement, verdict="known_deviation", note=_note("undefined:", undefined))
    if judgement.verdict == "pass":
        return replace(judgement, verdict="unexpected_pass", note=_note("conforms, but", covering))
    if judgement.verdict not in ("fail", "unsupported"):
        return judgement
    faults = []
    for deviation in covering:
        try:
            if _is_documented(judgement, deviation, evidence):
                note = _note("documented:", [deviation])
                return replace(judgement, verdict="known_deviation", note=note)
        except LiteralError as fault:
            faults.append(f"{deviation.place}: {fault}")
    if judgement.verdict == "unsupported":
        return judgement
    note = "; ".join([*faults, judgement.note, _note("departs differently from", covering)])
    return replace(judgement, note=note.strip("; "))


def faults_of(deviations: Sequence[Deviation], cases: Sequence[Case]) -> list[str]:
    """What is wrong with entries, held against the whole corpus: one line each, with its place.

    A pattern that matches no case, an answer for a name that a matched case does not observe, an
    unknown mode, a version range that is no range, an answer that is missing.
    """
    found = []
    for deviation in deviations:
        found += [f"{deviation.place}: {fault}" for fault in _faults(deviation, cases)]
    return found


def _is_documented(judgement: Judgement, deviation: Deviation, evidence: Evidence) -> bool:
    """Whether the answer is exactly what the deviation says, and conforms everywhere else."""
    if judgement.verdict == "unsupported":
        return deviation.kind == "unsupported"
    if deviation.kind == "unsupported" and not deviation.answer:
        return all(mismatch.kind == "error" for mismatch in judgement.mismatches)
    facts = compare(evidence.answer, evidence.declared(deviation.answer), evidence.bounds)
    return not facts.mismatches and facts.compared > 0


def _note(lead: str, covering: Sequence[Deviation]) -> str:
    entries = [f"{entry.kind}, {entry.reason} ({entry.link}; {entry.place})" for entry in covering]
    return f"{lead} {' | '.join(entries)}"


def _faults(deviation: Deviation, cases: Sequence[Case]) -> list[str]:
    found = [f"unknown mode {mode!r}" for mode in deviation.modes if mode not in MODES]
    if not deviation.modes or not deviation.cases:
        found.append("names no mode or no case")
    if deviation.undefined and (deviation.answer or deviation.kind != "bug"):
        found.append("an undefined answer is a bug without an answer of its own")
    elif not deviation.answer and not deviation.undefined and deviation.kind != "unsupported":
        found.append("does not say what the target answers")
    try:
        if not is_between(deviation.since, deviation.since, deviation.until):
            found.append(f"since {deviation.since} is after until {deviation.until}")
    except ValueError as error:
        found.append(str(error))
    for pattern in deviation.cases:
        matched = [case for case in cases if fnmatchcase(case.id, pattern)]
        if not matched:
            found.append(f"{pattern!r} matches no case")
        for case in matched:
            strange = [name for name in deviation.answer if name not in case.observed]
            found += [f"{case.id} does not observe {name!r}" for name in strange]
    return found
