"""A mutation run: which mutants the corpus catches, and what the null targets pass."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import repeat
from pathlib import Path

from conformance.answers.answer import Answer
from conformance.asking.ask import ask
from conformance.asking.cluster import Cluster
from conformance.asking.events import Answered, Event
from conformance.corpus.language.case import Case
from conformance.corpus.language.lowering import lower
from conformance.targets.specification import Target
from conformance.verdicts.judge import SHORTFALLS, Evidence, Judgement, judge

NULL_TARGETS = Path(__file__).parent / "null_targets.py"
NULLS = (
    *("none", "zeros", "ones", "nan", "raises"),
    *("zero_operations", "returns_target", "returns_upstream"),
)
TIMEOUT = 5.0
"""Seconds for a cell of a mutant: the oracle needs a few milliseconds."""
WIDE = 0.2
"""A mutant that fails more of the entries of case files says nothing of a single case."""
ON_NODES = 2
"""Mutants that nodes are asked at a time: they keep processes of few targets."""
MAX_LOST = 3
"""Crashes and timeouts after which a mutant is not asked any more: it is caught."""


@dataclass
class Tally:
    """What the corpus says of one wrong implementation."""

    name: str
    kills: list[str] = field(default_factory=list)
    """The cases that catch it, in the corpus's order."""
    passed: int = 0
    stopped: bool = False
    """Whether it was lost again and again, so that not all cases were asked."""
    fault: str = ""
    """Why nothing can be said of it: it did not start, or the suite is at fault."""

    @property
    def caught(self) -> bool:
        """Whether at least one case catches it, and for no other reason than its mistake."""
        return bool(self.kills) and not self.fault

    @property
    def applicable(self) -> int:
        """The cells that passed or fell short."""
        return self.passed + len(self.kills)

    @property
    def share(self) -> float:
        """The cells that passed, of those applicable."""
        return self.passed / self.applicable if self.applicable else 0.0

    def count(self, case_id: str, judgement: Judgement) -> None:
        """Take one cell in."""
        if judgement.verdict in SHORTFALLS:
            self.kills.append(case_id)
        elif judgement.verdict == "pass":
            self.passed += 1
        elif judgement.verdict in ("bad_case", "error", "not_run") and not self.fault:
            self.fault = f"{case_id}: {judgement.verdict}: {judgement.note}"


class MutationRun:
    """Asks wrong implementations the corpus, with the control's answers as second witness."""

    def __init__(self, cases: Sequence[Case], cluster: Cluster | None = None) -> None:
        """The nodes of a `cluster` are asked instead of this machine; the tallies are the same."""
        self._cluster = cluster
        self._cases = {case.id: case for case in cases}
        self._oracle: dict[str, Answer] = {}
        self.lacking: set[str] = set()
        """The cases that the control does not support: no mutant of it can show anything there."""
        self._derived: dict[str, Answer] = {}
        self._judgements: dict[tuple[str, str], Judgement] = {}

    def ask_control(self, control: Target) -> Tally:
        """Ask the control, an untouched oracle; it must pass before any mutant counts.

        The derivatives of its forwards are due of all mutants: these are asked for none.
        """
        tally = Tally(control.label)
        answers = [*self._answers(control, self._cases.values(), derivatives=True)]
        for answered in answers:  # the derivatives are all known by now
            judgement = self._judged(answered)
            tally.count(answered.cell.case, judgement)
            self._oracle[answered.cell.case] = answered.answer
            self._judgements[answered.cell.case, answered.cell.mode] = judgement
            if answered.answer.outcome == "unsupported":
                self.lacking.add(answered.cell.case)
        return tally

    def tallies(
        self, targets: Sequence[Target], jobs: int, due: Iterable[Collection[Case]] = ()
    ) -> Iterator[Tally]:
        """Ask targets what is due of each, or all; say what catches each.

        Here `jobs` are asked at a time; on nodes two, each of them by all nodes.
        """
        with ThreadPoolExecutor(ON_NODES if self._cluster else jobs) as pool:
            yield from pool.map(self._tally, targets, due or repeat(self._cases.values()))

    def _tally(self, target: Target, cases: Collection[Case]) -> Tally:
        """What catches a target; one that is lost again and again is not asked any more."""
        tally, lost = Tally(target.label), 0
        with closing(self._answers(target, cases)) as answers:
            for answered in answers:
                tally.count(answered.cell.case, self._judged(answered))
                lost += answered.answer.outcome in ("crash", "timeout")
                if lost >= MAX_LOST:
                    tally.stopped = True
                    break
        return tally

    def _answers(
        self, target: Target, cases: Collection[Case], derivatives: bool = False
    ) -> Generator[Answered]:
        """What a target answers, in a graph where eager execution refuses a case."""
        for mode, modes in (("eager", target.modes), ("graph", ("graph",))):
            own = [case for case in cases if case.simplest_mode == mode]
            if own:
                in_mode = replace(target, modes=modes)
                events = ask(
                    own,
                    [in_mode],
                    timeout=TIMEOUT,
                    wanted=lambda cell: derivatives or cell.runs,
                    cluster=self._cluster,
                )
                with closing(events):
                    yield from self._in_order(own, events)

    def _in_order(self, cases: Iterable[Case], events: Iterable[Event]) -> Iterator[Answered]:
        """The answers as one process gives them, whichever node was faster."""
        due = deque(case.id for case in sorted(cases, key=lambda case: not case.isolated))
        came: dict[str, Answered] = {}
        for event in events:
            if isinstance(event, Answered) and not event.cell.runs:
                self._derived[event.cell.case] = event.answer
            elif isinstance(event, Answered):
                came[event.cell.case] = event
            while due and due[0] in came:
                yield came.pop(due.popleft())

    def _judged(self, answered: Answered) -> Judgement:
        case, mode = self._cases[answered.cell.case], answered.cell.mode
        oracle, derived = self._oracle.get(case.id), self._derived.get(case.id)
        if oracle and oracle.outcome == "answered" and answered.answer.outcome == "unsupported":
            return Judgement("fail", note=answered.answer.detail)  # its mistake took the name away
        known = self._judgements.get((case.id, mode))
        if known and answered.answer == oracle:  # bit for bit: most mistakes show in few cases
            return known
        return judge(Evidence(case, mode, answered.answer, oracle, lower(case, mode), derived))


def narrow(cases: Sequence[Case], tallies: Sequence[Tally]) -> list[Tally]:
    """The tallies that say something of single cases: caught, and not WIDE.

    The rows of a table count as one, so that a long table makes no mutant of its rows wide.
    """
    entry_of = {case.id: case.place for case in cases}
    widest = WIDE * len({*entry_of.values()})

    def width(tally: Tally) -> int:
        return len({entry_of[case_id] for case_id in tally.kills})

    return [tally for tally in tallies if tally.caught and width(tally) <= widest]


def failed_by(cases: Sequence[Case], tallies: Sequence[Tally]) -> dict[str, list[str]]:
    """For each case the mutants that fail it; those that are WIDE do not count."""
    kills = {tally.name: frozenset(tally.kills) for tally in narrow(cases, tallies)}
    return {case.id: [name for name in kills if case.id in kills[name]] for case in cases}


def shown(
    cases: Sequence[Case], breaks: Mapping[str, Sequence[str]], tallies: Sequence[Tally]
) -> dict[str, dict[str, str]]:
    """For each mutant what it breaks by its own word, and a case that cites that and fails.

    The case is "" where no case shows that the mutant breaks what it says.
    """
    return {
        tally.name: {
            source: next((c.id for c in cases if source in c.sources and c.id in kills), "")
            for source in breaks[tally.name]
        }
        for tally in tallies
        for kills in [frozenset(tally.kills)]
    }


def null_targets() -> list[Target]:
    """The degenerate targets: TensorFlow's names, and gradients that know nothing."""
    return [Target(name, str(NULL_TARGETS), ("eager",), attribute=name) for name in NULLS]
