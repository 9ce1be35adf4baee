"""Departures: what is known to differ, each with the answer that is given instead.

TensorFlow's documented deviations and the baseline of a user's own target are the same thing: lists
of departures. A documented one is strict: where it no longer holds, the target falls short. A
`known` one is what --update-baseline found; nobody has judged it, and what is better is welcome.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Literal, TypeAlias

from conformance.answers.answer import ENDING, Answer, NotObserved, NotReached, Raised
from conformance.answers.compare import compare, expectation_of, told_by
from conformance.answers.literals import LiteralError
from conformance.answers.mismatch import Mismatch
from conformance.answers.text import text_of
from conformance.asking.lacks import lacking
from conformance.corpus.language.case import MODES, Case, Expectation, ExpectedNone, Place
from conformance.targets.releases import is_between
from conformance.targets.specification import name_of
from conformance.verdicts.judge import SHORTFALLS, Evidence, Judgement, Standing

Kind: TypeAlias = Literal["bug", "change", "limit", "unsupported", "convention", "known"]

WARNING = "(the warning)"
"""The name under which a departure says, by None, that a declared warning is not given."""
PATTERNS = "*"
"""Under this stand the entries that name cases by patterns."""
DIFFERENTLY = "departs differently from what is documented"


@dataclass(frozen=True)
class Departure:
    """What a target answers instead in some cases and modes, from version `since` to `until`.

    Both versions are included; an empty one is no bound. `answer` is what the target gives for the
    names that depart; the other names conform. `ends` is how the process ended instead: `timeout`,
    `crash`, `crash SIGSEGV` or `exit 3`. `undefined` says that the target reads memory that is not
    its own: any answer, a crash included, and even a right one, is covered. The error that ended
    the program, under `ENDING`, also speaks for the names that it left without an answer.

    `right` says who is right, `reason` why, `link` leads to the issue; `first_seen` and
    `last_seen` are a date and the version of the target.
    """

    name: str
    cases: tuple[str, ...]
    modes: tuple[str, ...]
    kind: Kind
    place: Place
    answer: Mapping[str, Expectation] = field(default_factory=dict)
    ends: str = ""
    undefined: bool = False
    since: str = ""
    until: str = ""
    right: str = ""
    reason: str = ""
    link: str = ""
    first_seen: str = ""
    last_seen: str = ""

    def names(self, case_id: str) -> bool:
        """Whether one of its patterns is that of a case."""
        return case_id in self.cases or any(fnmatchcase(case_id, one) for one in self._patterns)

    @cached_property
    def places(self) -> list[str]:
        """The ids that it lists, and `PATTERNS` where it has any: where it is looked for."""
        return [*self.cases, *([PATTERNS] if self._patterns else [])]

    @cached_property
    def _patterns(self) -> list[str]:
        return [one for one in self.cases if not set("*?[").isdisjoint(one)]

    def covers(self, version: str, mode: str) -> bool:
        """Whether it speaks of a mode and version; a bound, never of a version without order."""
        bounded = self.since or self.until
        is_of = not bounded or is_between(self.since or "0", version, self.until or "999999")
        return mode in self.modes and is_of

    def holds(self, judgement: Judgement, evidence: Evidence) -> bool:
        """Whether the cell answers exactly what this says, and conforms everywhere else.

        Errors: LiteralError where what this says cannot be an answer.
        """
        if self.ends or judgement.verdict in ("crash", "timeout"):
            return self.ends == evidence.answer.end
        if judgement.verdict == "unsupported":
            return self.kind == "unsupported"
        departing = {_departing(mismatch, evidence.case) for mismatch in judgement.mismatches}
        if ENDING in self.answer and self.kind != "known":
            departing = {name for name in departing if not _is_left(evidence.answer, name)}
        if departing - self.answer.keys() or (WARNING in departing) != (WARNING in self.answer):
            return False
        names = self.answer.keys() & {*evidence.program.observed, ENDING}
        said = {name: self.answer[name] for name in names}
        due = replace(evidence.declared, expectations=said, seconded=(), warns=None)
        facts = compare(evidence.answer, due, evidence.bounds)
        return not (facts.mismatches or facts.unspoken)

    @property
    def was(self) -> str:
        """What it says of the answer, in one line: `g: [2.5, 6.5] (float32)`."""
        if self.undefined or self.ends:
            return self.ends or "undefined"
        told = (f"{name}: {text_of(expected)}" for name, expected in self.answer.items())
        return "; ".join(told) or "conforms"


def _is_left(answer: Answer, name: str) -> bool:
    """Whether a name has no answer, or the same error, because the program ended with an error."""
    value = answer.observed(name)
    if isinstance(value, Raised) and answer.error:
        return value.type == answer.error.type
    return answer.error is not None and isinstance(value, NotReached | NotObserved)


@dataclass(frozen=True)
class Departures:
    """The departures of one target that a file lists; `target` is named as target_name does.

    A baseline also says what the target declared as lacking, and which cases it was asked. A
    version beyond `newest`, the last one that the list knows, inherits what holds for that one.
    """

    target: str
    entries: tuple[Departure, ...] = ()
    introduction: str = ""
    lacks: tuple[str, ...] = ()
    asked: frozenset[str] = frozenset()
    file: str = ""
    newest: str = ""

    def inherits(self, version: str) -> bool:
        """Whether a version is newer than the list; one that cannot be ordered is not."""
        return (
            bool(self.newest)
            and is_between(self.newest, version, "999999")
            and (not is_between("0", version, self.newest))
        )

    def covering(self, version: str, case_id: str, mode: str) -> list[Departure]:
        """The entries that speak of a cell."""
        version = self.newest if self.inherits(version) else version
        if case_id not in self._naming:
            near = {*self._listed.get(case_id, ()), *self._listed.get(PATTERNS, ())}
            entries = (self.entries[position] for position in sorted(near))
            self._naming[case_id] = [entry for entry in entries if entry.names(case_id)]
        return [entry for entry in self._naming[case_id] if entry.covers(version, mode)]

    @cached_property
    def _naming(self) -> dict[str, list[Departure]]:
        """The entries that name a case, found when they are looked for first."""
        return {}

    @cached_property
    def _listed(self) -> dict[str, list[int]]:
        """The positions of the entries that are looked for under an id, in their order."""
        found: dict[str, list[int]] = {}
        for position, entry in enumerate(self.entries):
            for name in entry.places:
                found.setdefault(name, []).append(position)
        return found

    def lent_to(self, label: str) -> Departures:
        """The same list for another target, whose own version says which entries hold."""
        return replace(self, target=target_name(label))


def target_name(label: str) -> str:
    """What a list of departures calls a target, wherever it is and of any version.

    >>> target_name("./build/tape.py")
    'tape.py'
    """
    return name_of(label).rpartition("/")[2]


def _departing(mismatch: Mismatch, case: Case) -> str:
    """The name under which a departure speaks of what a mismatch is about."""
    if mismatch.kind == "warning":
        return WARNING
    return mismatch.name if mismatch.name in case.observed else ENDING


# ----- documented departures: strict -----


def apply(
    judgement: Judgement, covering: Iterable[Departure], evidence: Evidence
) -> tuple[Judgement, Departure | None]:
    """A judgement in the light of the documented departures that cover the cell, and of which one.

    fail (or unsupported, for that kind), crash or timeout with exactly the documented answer:
    `known_deviation`. pass: `unexpected_pass`, because the target conforms after all. Another
    departure keeps its verdict, and the note says so. Any other verdict stays as it is.
    """
    strict = [departure for departure in covering if departure.kind != "known"]
    if not strict:
        return judgement, None
    undefined = [departure for departure in strict if departure.undefined]
    if undefined and judgement.verdict in ("pass", "fail", "crash", "timeout"):
        return replace(judgement, verdict="known_deviation"), undefined[0]
    if judgement.verdict == "pass":
        return replace(judgement, verdict="unexpected_pass"), strict[0]
    if judgement.verdict not in ("fail", "unsupported", "crash", "timeout"):
        return judgement, None
    faults = []
    for departure in strict:
        try:
            if departure.holds(judgement, evidence):
                return replace(judgement, verdict="known_deviation"), departure
        except LiteralError as fault:
            faults.append(f"{departure.place}: {fault}")
    if judgement.verdict != "fail":
        return judgement, None
    note = "; ".join(filter(None, (*faults, judgement.note, DIFFERENTLY)))
    return replace(judgement, note=note), strict[0]


# ----- the baseline: what is worse fails -----


@dataclass(frozen=True)
class Gate:
    """The baseline that a run is held against.

    With `strict_new` a shortfall in a case that the baseline does not know fails the gate too.
    """

    baseline: Departures
    strict_new: bool = False

    def standing(
        self, judgement: Judgement, evidence: Evidence, version: str
    ) -> tuple[Standing | None, Departure | None]:
        """What a cell is beside the baseline, and the entry that speaks of it."""
        case, mode = evidence.case, evidence.mode
        covering = self.baseline.covering(version, case.id, mode)
        entry = next((entry for entry in covering if entry.kind == "known"), None)
        asked = case.id in self.baseline.asked
        if judgement.verdict in SHORTFALLS:
            if entry and _same(entry, judgement, evidence):
                return "known", entry
            return ("worse" if asked else "new case"), entry
        if entry:
            conforms = ("pass", "unsupported", "not_applicable", "known_deviation", "surveyed")
            return ("better" if judgement.verdict in conforms else None), entry
        lost = judgement.verdict == "unsupported" and asked
        lost = lost and not lacking(evidence.case, evidence.program, mode, self.baseline.lacks)
        return ("worse" if lost else None), None

    def fails(self, standing: Standing | None) -> bool:
        """Whether the gate fails for a cell of this standing."""
        return standing == "worse" or (standing == "new case" and self.strict_new)


def _same(entry: Departure, judgement: Judgement, evidence: Evidence) -> bool:
    try:
        return entry.holds(judgement, evidence)
    except LiteralError:  # an entry that was edited by hand
        return False


def updated(
    baseline: Departures,
    found: Iterable[tuple[Judgement, Evidence]],
    cases: Sequence[str],
    lacks: Iterable[str],
    seen: str,
) -> Departures:
    """The baseline that says what these cells say, of a corpus of these `cases`.

    An entry that is still the same failure keeps when it was `first_seen`, and what the user wrote
    into it. A known failure goes only where its cell ran; documented departures stay. What an
    adapter says that its framework lacks was not asked.
    """
    documented = tuple(entry for entry in baseline.entries if entry.kind != "known")
    known = {
        (case, mode): entry
        for entry in baseline.entries
        if entry.kind == "known"
        for case in cases
        if entry.names(case)
        for mode in entry.modes
    }
    names, unanswered = tuple(sorted(set(lacks))), set[str]()
    for judgement, evidence in found:
        cell = evidence.case.id, evidence.mode
        old = known.pop(cell, None)
        if judgement.verdict == "unsupported" and not lacking(
            evidence.case, evidence.program, evidence.mode, names
        ):
            unanswered.add(evidence.case.id)
        if judgement.verdict in SHORTFALLS:
            is_old = old is not None and _same(old, judgement, evidence)
            entry = old if old and is_old else _entry(judgement, evidence, seen)
            known[cell] = replace(entry, last_seen=seen)
    merged = _merged(known, {entry.name for entry in documented})
    asked = frozenset(cases) - unanswered
    return replace(baseline, entries=(*documented, *merged), lacks=names, asked=asked)


def _entry(judgement: Judgement, evidence: Evidence, seen: str) -> Departure:
    """The known departure of a cell that falls short: the whole answer of what departs."""
    told = told_by(evidence.answer, evidence.program)
    names = {_departing(mismatch, evidence.case) for mismatch in judgement.mismatches}
    answer = {name: expectation_of(value) for name, value in told.items() if name in names}
    if WARNING in names:
        answer[WARNING] = ExpectedNone()
    error = evidence.answer.error
    if error is not None and error not in told.values():
        answer[ENDING] = expectation_of(error)
    ends, place = evidence.answer.end, evidence.case.place
    return Departure("", (), (), "known", place, answer, ends, first_seen=seen)


def _merged(
    known: Mapping[tuple[str, str], Departure], taken: Collection[str]
) -> Iterator[Departure]:
    """One entry for the modes of a case that know the same failure, named after the case."""
    by_case: dict[str, list[Departure]] = {}
    for case, mode in sorted(known, key=lambda cell: (cell[0], MODES.index(cell[1]))):
        alike = by_case.setdefault(case, [])
        alone = replace(known[case, mode], name=case, cases=(case,), modes=(mode,))
        for position, other in enumerate(alike):
            if replace(alone, modes=other.modes, place=other.place) == other:
                alike[position] = replace(other, modes=(*other.modes, mode))
                break
        else:
            alike.append(alone)
    for alike in by_case.values():
        for entry in alike:
            is_alone = len(alike) == 1 and entry.name not in taken
            name = entry.name if is_alone else f"{entry.name} in {', '.join(entry.modes)}"
            yield replace(entry, name=f"{name}, known" if name in taken else name)
