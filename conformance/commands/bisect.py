"""`gradconf bisect`: the version that changed an answer."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from conformance.answers.answer import Answer
from conformance.answers.compare import Difference, difference_of
from conformance.answers.mismatch import lines as mismatch_lines
from conformance.asking.ask import DEFAULT_TIMEOUT, ask
from conformance.asking.events import Answered
from conformance.closing import UsageError
from conformance.commands.files import one_case
from conformance.commands.options import add_corpus, ended, positive, say
from conformance.corpus.language.case import Case
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
    add_corpus(parser)


def run_bisect(arguments: argparse.Namespace) -> int:
    """Find the version since which a target gives another answer to a case, in each mode."""
    case = one_case(arguments)
    ends = [_version(arguments, version) for version in (arguments.good, arguments.bad)]
    good, bad = (str(end.version) for end in ends)
    if version_key(good) >= version_key(bad):
        raise UsageError(f"--good {good} must be older than --bad {bad}")
    asking = Asking(case, ends[0].name, ends[0].modes, arguments.timeout)
    try:
        old, new = asking.answers(good), asking.answers(bad)
    except TargetError as error:
        return ended(str(error), "no_target")
    for version in (good, bad):
        if asking.is_unstable(version):
            raise UsageError(f"{version} gives another answer each time: nothing can be found")
    changed = {mode: found for mode in old if (found := difference_of(old[mode], new[mode], mode))}
    print(case.id, f"  {case.title}", "", sep="\n")
    if not changed:
        same = ", ".join(old)
        raise UsageError(f"{good} and {bad} give the same answer ({same}): nothing turned")
    versions = releases_between(good, bad)
    for mode, found in changed.items():
        turn = bisect(versions, partial(asking.is_new, mode=mode, new=new))
        print(*_told(mode, turn, found, asking), sep="\n")
    return 0


def _version(arguments: argparse.Namespace, version: str) -> Target:
    name, colon, modes = arguments.target.partition(":")
    return parse_target(f"{name}=={version}{colon}{modes}")


@dataclass
class Asking:
    """Asks versions of a target for one case, each version once and in all modes."""

    case: Case
    name: str
    modes: Sequence[str]
    timeout: float
    known: dict[str, Mapping[str, Answer]] = field(default_factory=dict)

    def answers(self, version: str) -> Mapping[str, Answer]:
        """The answer of a version in each mode. Errors: TargetError where it cannot be asked."""
        if version not in self.known:
            self.known[version] = self._asked(version)
        return self.known[version]

    def is_unstable(self, version: str) -> bool:
        """Whether a version answers differently in another process."""
        first, again = self.answers(version), self._asked(version)
        return any(difference_of(first[mode], again[mode], mode) for mode in first)

    def is_new(self, version: str, mode: str, new: Mapping[str, Answer]) -> bool | None:
        """Whether a version's answer is the new one; None, which is said, where there is none."""
        try:
            answer = self.answers(version)[mode]
        except TargetError as error:
            say(f"  {version}: {str(error).splitlines()[0]}")
            return None
        return difference_of(new[mode], answer, mode) is None

    def _asked(self, version: str) -> Mapping[str, Answer]:
        target = parse_target(f"{self.name}=={version}:{','.join(self.modes)}")
        events = ask([self.case], [provisioned(target, say)], timeout=self.timeout)
        found = {e.cell.mode: e.answer for e in events if isinstance(e, Answered)}
        lost = [answer.detail for answer in found.values() if answer.outcome == "not_run"]
        if lost:
            raise TargetError(lost[0])
        say(f"  asked {self.name} {version}")
        return found


def _told(mode: str, turn: Turn, found: Difference, asking: Asking) -> list[str]:
    """Where a mode's answer turned, and what it was and is."""
    told = [f"{mode}: {asking.name} {turn.since} is the first with the new answer"]
    old, new = (asking.answers(version)[mode] for version in (turn.before, turn.since))
    there = difference_of(old, new, mode) or found
    told += [f"  {there.why}"] if there.why else []
    for mismatch in there.mismatches:
        told += [f"  {cut(printable(line), WIDTH - 2)}" for line in mismatch_lines(mismatch)[:1]]
    told.append(f"  here `expected` is what {turn.before} answers, `got` what {turn.since} does")
    if turn.unknown:
        told.append(f"  or one of {', '.join(turn.unknown)}, which could not be asked")
    return told
