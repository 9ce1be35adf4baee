"""A campaign: programs are drawn, targets are asked, what differs is grouped and made small.

Nothing that is found ends the drawing.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, count, islice
from typing import Any, TypeAlias

import numpy as np

from conformance.answers.answer import Answer, Slices, Structure, Tensor, Value
from conformance.answers.mismatch import Mismatch
from conformance.asking.ask import ORACLE
from conformance.asking.asker import Asker, Here, OnNodes, Promised
from conformance.asking.cluster import Cluster
from conformance.asking.worker import Job
from conformance.corpus.language.case import DERIVATIVE, Case
from conformance.corpus.language.document import CaseFileError
from conformance.corpus.language.lowering import lower
from conformance.suite.agreement import CALLED, differences, explanation_of, is_of_oracle
from conformance.suite.causes import Cause, Check, Finding, operations_of
from conformance.suite.drawing import drawn, shrunk
from conformance.suite.operation_texts import OWN_TEXTS, texts_of_catalogue
from conformance.suite.programs import case_of
from conformance.suite.rewriting import Program, Relation
from conformance.targets.specification import Target, TargetError, name_of
from conformance.verdicts.judge import Evidence, judge

AHEAD = 60
"""Programs, for each process of a target, that it is asked while 100 are drawn or one examined."""
RELATIONS_EACH = 3
"""Relations that a program is held against; the next program is held against the next ones."""
SECONDS = 60.0
MOVED = 450
"""Eps by which inputs are moved: 1e-13 in float64. What moves by more than WIDE is not compared."""
MOST_SET_ASIDE = 0.2


Checked: TypeAlias = "tuple[Check, Answer, Sequence[Mismatch], str]"
"""A check, what was due, what differs from it, and what a relation asked instead."""


@dataclass
class Tally:
    """What a campaign counts."""

    programs: int = 0
    set_aside: Counter[str] = field(default_factory=Counter)
    explained: Counter[str] = field(default_factory=Counter)
    operations: Counter[str] = field(default_factory=Counter)
    inside: float = 0.0
    seconds: float = 0.0

    @property
    def share_set_aside(self) -> float:
        """Of the programs, those of which nothing can be said."""
        return sum(self.set_aside.values()) / max(self.programs, 1)


class Campaign:
    """Targets that are asked programs, on the nodes of a cluster or here, and the oracle here."""

    def __init__(
        self,
        targets: Sequence[Target],
        relations: Sequence[Relation],
        seed: int,
        cluster: Cluster | None = None,
    ) -> None:
        """Programs and findings are those of the seed, wherever the targets are asked."""
        self.targets, self.relations, self.seed = targets, relations, seed
        self.tally = Tally()
        self._oracle = Here([ORACLE], SECONDS)
        self._asker: Asker = Here(targets, SECONDS)
        if cluster:
            self._asker = OnNodes(cluster, len(targets), SECONDS)

    def close(self) -> None:
        """End all processes."""
        self._oracle.close()
        self._asker.close()

    @property
    def versions(self) -> str:
        """The targets, with the versions that they told."""
        abouts = {target.label: self._asker.about(target) for target in self.targets}
        told = {ORACLE.label: self._oracle.about(ORACLE)} | abouts
        return ", ".join(f"{of} {about.get('version') or ''}".strip() for of, about in told.items())

    def admits(self, text: str) -> bool:
        """Whether the oracle has what the text of an operation calls."""
        return text in OWN_TEXTS or is_of_oracle(text, self._known)

    @cached_property
    def _known(self) -> frozenset[str]:
        """The names of the catalogue that the oracle has; it is asked for each."""
        texts = " ".join(chain.from_iterable(texts_of_catalogue().values()))
        names = sorted({*CALLED.findall(texts)})
        entries = [Program({}, f"g = [tf.{name}]", {"g": "oracle"}).entry() for name in names]
        asked = [*map(self.ask_oracle, case_of(entries))]
        told = zip(names, asked, strict=True)
        return frozenset(name for name, answer in told if answer.result().outcome == "answered")

    def start(self) -> None:
        """Start every target. Errors: TargetError where one does not start."""
        trivial = Program({}, "g = 1.0", {"g": "oracle"}).entry()
        (case,) = case_of([trivial])
        asked = [self.ask(target, case, target.modes[0]) for target in self.targets]
        self.admits("")  # the oracle is asked meanwhile
        for answer in asked:
            if answer.result().outcome == "not_run":
                raise TargetError(answer.result().detail)

    def ask(self, target: Target, case: Case, mode: str) -> Promised:
        """The answer of a target, when it has one."""
        return self._asker.ask(target, Job(case, mode))

    def ask_oracle(self, case: Case) -> Promised:
        """The answer of the oracle, when it has one."""
        return self._oracle.ask(ORACLE, Job(case, "eager"))

    # ----- the campaign -----

    def run(self, examples: int | None, seconds: float | None) -> Iterator[list[Finding]]:
        """Draw programs until there are enough, or the time is over; what each of them shows."""
        began = time.monotonic()
        waiting: deque[_Asked] = deque()
        for asked in islice(self._stream(), examples):
            waiting.append(asked)
            if len(waiting) > AHEAD * self._asker.width:
                yield self._examined(waiting.popleft())
            self.tally.seconds = time.monotonic() - began
            if seconds is not None and self.tally.seconds > seconds:
                break
        for asked in waiting:
            yield self._examined(asked)
        self.tally.seconds = time.monotonic() - began

    def _stream(self) -> Iterator[_Asked]:
        seen: set[str] = set()
        number = 0
        for batch in count():
            for entry in drawn(self.seed, batch, self.admits):
                if entry not in seen:
                    seen.add(entry)
                    yield _Asked(self, entry, batch, number)
                    number += 1

    def _examined(self, asked: _Asked) -> list[Finding]:
        self.tally.programs += 1
        self.tally.operations.update(operations_of(asked.entry))
        found = list(asked.findings(self.tally))
        self.tally.inside += asked.inside / len(self.targets) / self._asker.width
        if asked.set_aside and not found:
            self.tally.set_aside[asked.set_aside[0]] += 1
        return found

    def examine(self, entry: str, batch: int = 0, only: Check | None = None) -> list[Finding]:
        """What one program shows, of all checks or of one."""
        return list(_Asked(self, entry, batch, 0, only).findings(Tally()))

    def restart(self) -> None:
        """End all processes: the next question starts others."""
        self._oracle.restart()
        self._asker.restart()

    def shows(self, cause: Cause) -> bool:
        """Whether the smallest program of a cause still fails as it did."""
        one = cause.smallest
        return one.kind in [again.kind for again in self.examine(one.entry, one.batch, one.check)]

    def shrink(self, cause: Cause, seconds: float) -> Cause:
        """The cause with a program made small, within about so many seconds."""
        finding, until = cause.smallest, time.monotonic() + seconds
        smallest = {finding.entry: finding}

        def fails(entry: str) -> bool:
            if time.monotonic() > until:
                return False
            examined = self.examine(entry, finding.batch, only=finding.check)
            same = [one for one in examined if one.kind == finding.kind]
            if same:
                smallest[entry] = same[0]
            return bool(same)

        entry = shrunk(finding.entry, self.seed, finding.batch, self.admits, fails)
        return replace(cause, smallest=smallest[entry])


class _Asked:
    """One program that is being asked, of all targets in all modes, and as relations rewrite it."""

    def __init__(
        self, of: Campaign, entry: str, batch: int, number: int, only: Check | None = None
    ) -> None:
        self.of, self.entry, self.batch, self.only = of, entry, batch, only
        self.set_aside: list[str] = []
        self.inside = 0.0
        (case,) = case_of([entry])
        self._oracle = of.ask_oracle(case)
        self._answers = {
            (target.label, mode): of.ask(target, case, mode)
            for target in of.targets
            for mode in self._modes(target)
        }
        self._rewritten = list(self._related(number))

    def _modes(self, target: Target) -> list[str]:
        """The modes that are asked: where one check is wanted, its own and the first."""
        return [m for m in target.modes if not self.only or m in (target.modes[0], self.only.mode)]

    def _related(self, number: int) -> Iterator[tuple[Relation, Target, Case, str, Promised]]:
        """The program as relations rewrite it, asked of each target in its first mode."""
        program = Program.of(self.entry)
        relations = list(self.of.relations)
        if self.only is None and relations:
            turn = number * RELATIONS_EACH % len(relations)
            relations = relations[turn:] + relations[:turn]
        meant = [one for one in relations if self.only is None or one.name == self.only.name]
        rewritten = ((relation, relation.rewrite(program)) for relation in meant)
        applicable = ((relation, new) for relation, new in rewritten if new is not None)
        for relation, new in islice(applicable, RELATIONS_EACH):
            with contextlib.suppress(CaseFileError):  # the language has no such program
                (case,) = case_of([new.entry()])
                for target in self.of.targets:
                    mode = DERIVATIVE if relation.name == DERIVATIVE else target.modes[0]
                    asked = self.of.ask(target, case, mode)
                    yield relation, target, case, new.entry(), asked

    def _answer(self, target: Target, mode: str) -> Answer:
        return self._answers[target.label, mode].result()

    def findings(self, tally: Tally) -> Iterator[Finding]:
        """Every check that the program fails, each once."""
        for check, due, mismatches, rewritten in chain(self._compared(), self._held()):
            if self.only is None or check == self.only:
                left = [m for m in mismatches if self._stands(check, m, due)]
                text = rewritten or self.entry
                kept = [m for m in left if not _explained(text, m, check, tally)]
                if kept:
                    yield Finding(check, self.entry, self.batch, tuple(kept), rewritten)

    def _compared(self) -> Iterator[Checked]:
        """The program's own answers: of the oracle, of the first mode, and of the first target."""
        first = self.of.targets[0]
        for target in self.of.targets:
            usual, *modes = self._modes(target)
            own, oracle = self._answer(target, usual), self._oracle.result()
            self.inside += sum(self._answer(target, mode).seconds for mode in (usual, *modes))
            if not target.is_reference:
                yield from _differing(Check("oracle", target, usual, ORACLE.label), oracle, own)
            if target is not first:
                theirs = self._answer(first, first.modes[0])
                yield from _differing(Check("target", target, usual, first.label), theirs, own)
            for mode in modes:
                told = self._answer(target, mode)
                if differences(oracle, told):  # else only the first mode may be wrong
                    yield from _differing(Check(mode, target, mode, usual), own, told)

    def _held(self) -> Iterator[Checked]:
        """What relations say of each target's answers, where it answered without an error."""
        for relation, target, case, rewritten, asked in self._rewritten:
            own, told = self._answer(target, target.modes[0]), asked.result()
            self.inside += told.seconds
            check = Check(relation.name, target, target.modes[0], relation.name)
            if own.outcome != "answered" or own.error:
                continue
            if relation.name == DERIVATIVE:
                if not all(map(_is_finite, own.observations.values())):
                    continue  # it has no derivative where it has no value
                program = lower(case, check.mode)
                evidence = Evidence(case, check.mode, own, None, program, told)
                wrong = [m for m in judge(evidence).mismatches if m.kind != "none"]
                yield check, own, wrong, rewritten
            elif told.error:
                yield from _differing(check, own, told, rewritten)
            else:
                yield from _differing(check, *relation.both(own, told), rewritten)

    def _stands(self, check: Check, mismatch: Mismatch, due: Answer) -> bool:
        """Whether a difference says something: what is due is finite, and well conditioned."""
        if mismatch.note.startswith("it has none"):
            self.set_aside.append("without a derivative there")
        elif not _is_finite(due.observed(mismatch.name)):
            self.set_aside.append("not finite")
        elif mismatch.name in (self._leaving_zero if check.name == DERIVATIVE else self._moving):
            self.set_aside.append("ill conditioned, or beside a kink")
        else:
            return True
        return False

    @cached_property
    def _moving(self) -> set[str]:
        """The names whose values move, in the oracle, when the inputs are moved a little."""
        return self._moved(from_zero=False)

    @cached_property
    def _leaving_zero(self) -> set[str]:
        """The same where zeros are moved, too: at a kink a gradient is not the derivative."""
        return self._moved(from_zero=True)

    def _moved(self, *, from_zero: bool) -> set[str]:
        cases = case_of([moved(self.entry, steps, from_zero) for steps in (MOVED, -MOVED)])
        told = [*map(self.of.ask_oracle, cases)]
        apart = (differences(self._oracle.result(), answer.result()) for answer in told)
        return {mismatch.name for mismatch in chain.from_iterable(apart)}


def _explained(text: str, mismatch: Mismatch, check: Check, tally: Tally) -> bool:
    """Whether a known difference of the target, or of TensorFlow beside it, explains this one."""
    swapped = replace(mismatch, expected=mismatch.got, got=mismatch.expected)
    known = explanation_of(text, swapped, check.name, check.target.label)
    if known is None and name_of(check.beside) == "tensorflow":
        known = explanation_of(text, mismatch, target=check.beside)  # it stands for the oracle
    if known:
        tally.explained[known.reason] += 1
    return known is not None


def _differing(check: Check, due: Answer, told: Answer, rewritten: str = "") -> Iterator[Checked]:
    """What differs, if both could be asked; errors are alike but beside the oracle."""
    outcomes = {due.outcome, told.outcome}
    alike = check.name != "oracle" and due.error and told.error
    if check.name != "oracle" and (due.error or told.error):  # what else differs follows from it
        due, told = (replace(answer, observations={}) for answer in (due, told))
    if not outcomes & {"unsupported", "not_applicable"} and not alike:
        yield check, due, differences(due, told), rewritten


def moved(entry: str, steps: float, from_zero: bool = False) -> str:
    """The program with its inputs moved by up to so many eps, each element by another part of it.

    The other way round all of them move the other way: what was a tie is decided both ways. Zeros
    stay what they are, or are moved as ones would be.
    """
    program, random = Program.of(entry), np.random.default_rng(1)

    def shifted(value: Any, eps: float) -> Any:
        if isinstance(value, list):
            return [shifted(item, eps) for item in value]
        if isinstance(value, str):
            number = complex(value)
            return str(complex(shifted(number.real, eps), shifted(number.imag, eps))).strip("()")
        assert isinstance(value, float)
        step = steps * eps * random.uniform(-1, 1)
        return value + (value or float(from_zero)) * step

    inputs = {}
    for name, item in program.inputs.items():
        kind = next(iter(item))
        single = item["dtype"] in ("float32", "complex64")
        eps = float(np.finfo(np.float32 if single else np.float64).eps)
        is_exact = item["dtype"].startswith("int")
        inputs[name] = {**item, kind: item[kind] if is_exact else shifted(item[kind], eps)}
    return replace(program, inputs=inputs).entry()


def _is_finite(value: Value) -> bool:
    """Whether all numbers of a value are finite."""
    return all(np.isfinite(array).all() for array in _arrays(value))


def _arrays(value: Value) -> Iterator[np.ndarray[tuple[int, ...], np.dtype[np.generic]]]:
    """The numbers of a value."""
    match value:
        case Tensor(array) if array.dtype.kind in "fc":
            yield array
        case Slices(rows):
            yield from _arrays(rows)
        case Structure():
            for item in value.items:
                yield from _arrays(item)
        case _:
            return
