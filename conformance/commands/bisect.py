"""`gradconf bisect`: the version that changed an answer."""

from __future__ import annotations

import argparse
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from conformance.answers.answer import Answer
from conformance.answers.compare import Difference, difference_of
from conformance.answers.mismatch import lines as mismatch_lines
from conformance.asking.ask import DEFAULT_TIMEOUT, ask
from conformance.asking.events import Answered
from conformance.asking.record import Record
from conformance.closing import UsageError
from conformance.commands.files import one_case, records_in
from conformance.commands.options import add_corpus, corpus_folder, ended, positive, say
from conformance.corpus.language.case import Case
from conformance.corpus.language.lowering import lower
from conformance.places import data_folder
from conformance.report.style import WIDTH, cut
from conformance.targets.environments import provisioned
from conformance.targets.releases import releases_between
from conformance.targets.specification import Target, TargetError, parse_target
from conformance.targets.versions import version_key
from conformance.text import printable
from conformance.verdicts.bisection import Turn, bisect


def bisect_options(parser: argparse.ArgumentParser) -> None:
    """The options of `gradconf bisect`."""
    parser.add_argument("case", metavar="CASE")
    parser.add_argument("target", metavar="TARGET", help="such as tensorflow or tensorflow:graph")
    parser.add_argument("--good", required=True, metavar="X.Y.Z", help="has the old answer")
    parser.add_argument("--bad", required=True, metavar="X.Y.Z", help="has the new answer")
    parser.add_argument(
        "--timeout", type=positive(float), default=DEFAULT_TIMEOUT, help="seconds for a cell"
    )
    parser.add_argument(
        "--records", metavar="FOLDER", help="of answers that need not be asked for (reports)"
    )
    add_corpus(parser)


def run_bisect(arguments: argparse.Namespace) -> int:
    """Find the version since which a target gives another answer to a case, in each mode."""
    case = one_case(arguments)
    ends = [_version(arguments, version) for version in (arguments.good, arguments.bad)]
    good, bad = (str(end.version) for end in ends)
    if version_key(good) >= version_key(bad):
        raise UsageError(f"--good {good} must be older than --bad {bad}")
    versions = Versions(case, ends[0], arguments.timeout, _records(arguments))
    try:
        old, new = versions.answers(good), versions.answers(bad)
    except TargetError as error:
        return ended("no_target", str(error))
    for version in (good, bad):
        if versions.is_unstable(version):
            raise UsageError(f"{version} gives another answer each time: nothing can be found")
    changed = {mode: found for mode in old if (found := difference_of(old[mode], new[mode], mode))}
    print(case.id, f"  {case.title}", "", sep="\n")
    if not changed:
        same = ", ".join(old)
        raise UsageError(f"{good} and {bad} give the same answer ({same}): nothing turned")
    between = releases_between(good, bad)
    for mode, found in changed.items():
        turn = bisect(between, partial(versions.is_new, mode=mode, new=new))
        print(*_told(mode, turn, found, versions), sep="\n")
    return 0


def _records(arguments: argparse.Namespace) -> list[Record]:
    """The records that may know answers; by default those that stand beside the corpus."""
    if arguments.records:
        return records_in(Path(arguments.records))
    beside = (corpus_folder(arguments) or data_folder("cases")).parent / "reports"
    return records_in(beside) if any(beside.glob("*.jsonl*")) else []


def _version(arguments: argparse.Namespace, version: str) -> Target:
    name, colon, modes = arguments.target.partition(":")
    return parse_target(f"{name}=={version}{colon}{modes}")


@dataclass
class Versions:
    """The answers of a target's versions to one case: from records, else asked for once."""

    case: Case
    target: Target
    timeout: float
    records: Sequence[Record]
    known: dict[str, Mapping[str, Answer]] = field(default_factory=dict)

    def answers(self, version: str) -> Mapping[str, Answer]:
        """The answer of a version in each mode. Errors: TargetError where it cannot be asked."""
        if version not in self.known:
            recorded = self._recorded(version)
            first = {mode: answers[0] for mode, answers in recorded.items()}
            found = {**first, **self._asked(version, without=first)}
            self.known[version] = {mode: found[mode] for mode in self.target.modes}
        return self.known[version]

    def is_unstable(self, version: str) -> bool:
        """Whether a version answers differently in another process."""
        recorded = self._recorded(version)
        again = {mode: answers[1:] for mode, answers in recorded.items()}
        asked = self._asked(version, without=recorded)
        again |= {mode: [answer] for mode, answer in asked.items()}
        return any(
            difference_of(answer, other, mode)
            for mode, answer in self.answers(version).items()
            for other in again[mode]
        )

    def is_new(self, version: str, mode: str, new: Mapping[str, Answer]) -> bool | None:
        """Whether a version's answer is the new one; None, which is said, where there is none."""
        try:
            answer = self.answers(version)[mode]
        except TargetError as error:
            say(f"  {version}: {str(error).splitlines()[0]}")
            return None
        return difference_of(new[mode], answer, mode) is None

    def _recorded(self, version: str) -> dict[str, list[Answer]]:
        """What records say of the case's programs of today, by mode; repetitions come last."""
        found: dict[str, list[Answer]] = {}
        for record in self.records:
            labels = [label for label in record.targets if self._is_of(version, label, record)]
            for answered in record.answers if labels else ():
                cell, mode = answered.cell, answered.cell.mode
                if (
                    cell.case == self.case.id
                    and cell.target in labels
                    and mode in self.target.modes
                    and answered.answer.outcome != "not_run"
                    and answered.program == lower(self.case, mode).hash
                ):
                    repeats = record.repeats.get(cell, ())
                    found[mode] = [answered.answer, *(again.answer for again in repeats)]
        return found

    def _is_of(self, version: str, label: str, record: Record) -> bool:
        name, _, asked = label.partition("==")
        try:
            told = version_key(asked or str(record.targets[label].get("version")))
        except ValueError:
            return False
        return name == self.target.name and told == version_key(version)

    def _asked(self, version: str, *, without: Container[str]) -> dict[str, Answer]:
        """The answers in the modes that are not known yet."""
        modes = tuple(mode for mode in self.target.modes if mode not in without)
        if not modes:
            return {}
        target = provisioned(parse_target(f"{self.target.name}=={version}:{','.join(modes)}"), say)
        events = ask([self.case], [target], timeout=self.timeout)
        found = {e.cell.mode: e.answer for e in events if isinstance(e, Answered)}
        lost = [answer.detail for answer in found.values() if answer.outcome == "not_run"]
        if lost:
            raise TargetError(lost[0])
        say(f"  asked {self.target.name} {version}")
        return found


def _told(mode: str, turn: Turn, found: Difference, versions: Versions) -> list[str]:
    """Where a mode's answer turned, and what it was and is."""
    told = [f"{mode}: {versions.target.name} {turn.since} is the first with the new answer"]
    old, new = (versions.answers(version)[mode] for version in (turn.before, turn.since))
    there = difference_of(old, new, mode) or found
    told += [f"  {there.why}"] if there.why else []
    for mismatch in there.mismatches:
        told += [f"  {cut(printable(line), WIDTH - 2)}" for line in mismatch_lines(mismatch)[:1]]
    told.append(f"  here `expected` is what {turn.before} answers, `got` what {turn.since} does")
    if turn.unknown:
        told.append(f"  or one of {', '.join(turn.unknown)}, which could not be asked")
    return told
