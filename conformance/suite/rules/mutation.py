"""Wrong rules, made by machine: each registered gradient with one mistake, asked the cases it has.

One worker answers for all mutants: each program ends with the line that says which rule is broken.
"""

from __future__ import annotations

import hashlib
import queue
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.asking.worker import Job, Worker
from conformance.corpus.catalogue import load_catalogue
from conformance.corpus.language.case import Case
from conformance.corpus.language.document import Node, read_document, shortened
from conformance.corpus.language.lowering import lower
from conformance.suite.mutation_run import Tally
from conformance.suite.rules.called import (
    TARGET,
    Call,
    Called,
    facts_of,
    without_facts,
)
from conformance.verdicts.judge import Evidence, judge

SURVIVORS = Path(__file__).with_name("survivors.yaml")
TIMEOUT = 30.0
"""Seconds for a cell: TensorFlow needs some milliseconds, and more where it compiles."""
MILLIONTH, PERCENT, CUT = "off_by_a_millionth", "off_by_a_percent", "second_cut"
UNREDUCED, UNCONJUGATED = "not_reduced", "not_conjugated"
MISTAKES = {
    MILLIONTH: "the gradient is too large by a millionth",
    PERCENT: "the gradient is too large by a hundredth",
    "doubled": "the gradient is twice what it is",
    "negated": "the gradient has the other sign",
    "none": "the gradient is None",
    "zeros": "the gradient is zeros",
    "upstream_ignored": "the upstream gradient counts as ones",
    "reversed": "the elements of the gradient stand in reverse",
    CUT: "the gradient has no derivative of its own",
    "rounded": "the gradient is rounded through the next smaller dtype",
    UNREDUCED: "the gradient of a broadcast input is not summed",
    UNCONJUGATED: "the gradient of a complex input is not conjugated",
}
"""Every mistake, and what it says of the rule's answer."""
WIDE = {"float64", "complex128"}
"""The dtypes that show a millionth."""
COMPLEX = {"complex64", "complex128"}


@dataclass(frozen=True)
class RuleMutant:
    """A registered gradient with a mistake."""

    rule: str
    mistake: str

    @property
    def name(self) -> str:
        """`Exp:negated`."""
        return f"{self.rule}:{self.mistake}"


@dataclass
class RuleTally(Tally):
    """What the cases that call a rule say of a mutant.

    `seen` says that an answer had values with the mistake and without, `differs` that they did.
    """

    seen: bool = False
    differs: bool = False

    @property
    def equivalent(self) -> bool:
        """Whether the mistake changes no bit of what the rule answers: then it is none."""
        return self.seen and not (self.kills or self.differs or self.fault)


@dataclass(frozen=True, slots=True)
class BrokenJob(Job):
    """A job whose program ends with the line that breaks a rule."""

    mutant: RuleMutant

    @property
    def source(self) -> str:
        """The case's own program, and that line behind it."""
        mutant = self.mutant
        return f"{self.lowered.source}\ntf.breaks_rule({mutant.rule!r}, {mutant.mistake!r})\n"


def rules_by_family() -> dict[str, set[str]]:
    """The registered gradients that each family of the catalogue uses."""
    found: dict[str, set[str]] = {}
    for operation in load_catalogue().values():
        found.setdefault(operation.family, set()).update(operation.types)
    return found


def mutants_of(called: Called) -> list[RuleMutant]:
    """Every mutant of every rule that is called, by the rule's name."""
    wide = {
        name
        for operation in load_catalogue().values()
        if WIDE.intersection(operation.dtypes)
        for name in operation.types
    }
    return [
        RuleMutant(rule, mistake)
        for rule in sorted(called.calls)
        for mistake in _mistakes_in(called.calls_of(rule), rule in wide)
    ]


def _mistakes_in(calls: Sequence[Call], is_wide: bool) -> Iterator[str]:
    """The mistakes that calls of a rule can show; the smallest where the dtypes can hold it."""
    dtypes = {dtype for call in calls for dtype in call.dtypes}
    left_out = PERCENT if is_wide or dtypes & WIDE else MILLIONTH
    for mistake in MISTAKES:
        if mistake != left_out and any(_can_show(mistake, call) for call in calls):
            yield mistake


def _can_show(mistake: str, call: Call) -> bool:
    """Whether a mistake can change the answer to a call: two need what they break."""
    if mistake == UNCONJUGATED:
        return not COMPLEX.isdisjoint(call.dtypes)
    return mistake != UNREDUCED or call.broadcasts


def sample(mutants: Sequence[RuleMutant], count: int) -> list[RuleMutant]:
    """So many mutants, the same on every machine, in the order in which they stand."""

    def place(mutant: RuleMutant) -> str:
        return hashlib.sha256(mutant.name.encode()).hexdigest()

    taken = set(sorted(mutants, key=place)[:count])
    return [mutant for mutant in mutants if mutant in taken]


def known_survivors(file: Path = SURVIVORS) -> dict[str, str]:
    """The mutants that no case can catch, and why; raises CaseFileError."""
    root = read_document(file, file.name)
    root.keys(("introduction", "survivors"), required=("introduction", "survivors"))
    reasons: dict[str, str] = {}
    for reason, names in (root.read("survivors", Node.mapping) or {}).items():
        for node in names.items():
            name = node.line()
            if name.partition(":")[2] not in MISTAKES:
                node.fault(f"'{shortened(name)}' is no mutant such as Exp:negated")
            reasons[name] = reason
    root.finish()
    return reasons


class RuleMutationRun:
    """Asks mutants the cases that call their rule, the most telling first, until one catches it."""

    def __init__(self, cases: Sequence[Case], called: Called) -> None:
        self._called = called
        self._cases = {case.id: case for case in cases}
        self._rules_of: dict[str, int] = {}
        for calls in called.calls.values():
            for case_id in calls:
                self._rules_of[case_id] = self._rules_of.get(case_id, 0) + 1
        self._passed = called.passed

    def tallies(self, mutants: Sequence[RuleMutant], jobs: int) -> Iterator[RuleTally]:
        """Ask mutants, with a worker in each of `jobs` threads; what is said of each."""
        waiting, said = deque(mutants), queue.SimpleQueue[RuleTally | Exception]()
        threads = [
            threading.Thread(target=self._drive, args=(waiting, said), daemon=True)
            for _ in range(min(jobs, len(mutants)))
        ]
        for thread in threads:
            thread.start()
        for _ in mutants:
            tally = said.get()
            if isinstance(tally, Exception):
                raise tally
            yield tally

    def _drive(
        self, waiting: deque[RuleMutant], said: queue.SimpleQueue[RuleTally | Exception]
    ) -> None:
        """Ask one worker for mutants until none waits; it ends with the thread."""
        worker = Worker(TARGET, TIMEOUT)
        try:
            while True:
                said.put(self._tally(worker, waiting.popleft()))
        except IndexError:
            pass
        except Exception as error:  # without it the command would wait for ever
            said.put(error)
        finally:
            worker.close()

    def _tally(self, worker: Worker, mutant: RuleMutant) -> RuleTally:
        tally = RuleTally(mutant.name)
        for case in self._calling(mutant):
            mode, oracle = case.simplest_mode, self._called.oracle.get(case.id)
            answer = worker.ask(BrokenJob(case, mode, mutant)).answer
            told = [facts["differs"] for facts in facts_of(answer) if "differs" in facts]
            tally.seen |= bool(told)
            tally.differs |= any(told)
            program, derived = lower(case, mode), self._called.derived.get(case.id)
            evidence = Evidence(case, mode, without_facts(answer), oracle, program, derived)
            tally.count(case.id, judge(evidence))
            if tally.kills or tally.fault:
                break
        return tally

    def _calling(self, mutant: RuleMutant) -> list[Case]:
        """The cases that call a mutant's rule so that it can show, and pass without its mistake."""
        calls = self._called.calls.get(mutant.rule, {})

        def place(case_id: str) -> tuple[bool, bool, bool, int]:
            """What needs no process of its own first; then a gradient of a gradient and a wide
            dtype, where they tell, and few rules."""
            alone = self._cases[case_id].isolated
            second = any(call.order > 1 for call in calls[case_id])
            wide = any(WIDE.intersection(call.dtypes) for call in calls[case_id])
            return alone, mutant.mistake == CUT and not second, not wide, self._rules_of[case_id]

        telling = (
            case_id
            for case_id, found in calls.items()
            if case_id in self._passed and any(_can_show(mutant.mistake, call) for call in found)
        )
        return [self._cases[case_id] for case_id in sorted(telling, key=place)]
