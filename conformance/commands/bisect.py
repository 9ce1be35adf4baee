"""`gradconf bisect`: the version that changed an answer."""

from __future__ import annotations

import argparse
from functools import partial

from conformance.answers.compare import Difference, difference_of
from conformance.answers.mismatch import lines as mismatch_lines
from conformance.asking.ask import DEFAULT_TIMEOUT
from conformance.asking.record import Record
from conformance.closing import UsageError
from conformance.commands.options import add_corpus, add_limits, limits_of, positive, say
from conformance.commands.records import records_in
from conformance.commands.show import one_case
from conformance.corpus.language.case import Case
from conformance.files import data_folder
from conformance.report.text import WIDTH, cut
from conformance.targets.releases import releases_between, version_key
from conformance.targets.specification import Target, parse_target
from conformance.text import printable
from conformance.verdicts.bisection import Turn, Versions, bisect


def bisect_options(parser: argparse.ArgumentParser) -> None:
    """The options of `gradconf bisect`."""
    add, seconds = parser.add_argument, positive(float)
    add("case", metavar="CASE")
    add("target", metavar="TARGET", help="such as tensorflow or tensorflow:graph")
    add("--good", required=True, metavar="X.Y.Z", help="has the old answer")
    add("--bad", required=True, metavar="X.Y.Z", help="has the new answer")
    add("--timeout", type=seconds, default=DEFAULT_TIMEOUT, help="seconds for a cell")
    add("--records", metavar="FOLDER", help="of answers that need not be asked for (reports)")
    add_limits(parser)
    add_corpus(parser)


def run_bisect(arguments: argparse.Namespace) -> int:
    """Find the version since which a target gives another answer to a case, in each mode."""
    case = one_case(arguments)
    ends = [_version(arguments, version) for version in (arguments.good, arguments.bad)]
    good, bad = (str(end.version) for end in ends)
    if version_key(good) >= version_key(bad):
        raise UsageError(f"--good {good} must be older than --bad {bad}")
    versions = Versions(
        case, ends[0], arguments.timeout, _records(arguments, case), say, limits_of(arguments)
    )
    old, new = versions.answers(good), versions.answers(bad)
    for version in (good, bad):
        if versions.is_unstable(version):
            raise UsageError(f"{version} gives another answer each time: nothing can be found")
    changed = {mode: found for mode in old if (found := difference_of(old[mode], new[mode]))}
    print(case.id, f"  {case.title}", "", sep="\n")
    if not changed:
        same = ", ".join(old)
        raise UsageError(f"{good} and {bad} give the same answer ({same}): nothing turned")
    between = releases_between(good, bad)
    for mode, found in changed.items():
        turn = bisect(between, partial(versions.is_new, mode=mode, new=new))
        print(*_told(mode, turn, found, versions), sep="\n")
    return 0


def _records(arguments: argparse.Namespace, case: Case) -> list[Record]:
    """The records that may know answers; by default those that stand beside the corpus."""
    if arguments.records:
        return records_in(arguments.records, cases=[case])
    beside = (arguments.corpus or data_folder("cases")).parent / "reports"
    return records_in(beside, cases=[case]) if any(beside.glob("*.jsonl*")) else []


def _version(arguments: argparse.Namespace, version: str) -> Target:
    name, colon, modes = arguments.target.partition(":")
    return parse_target(f"{name}=={version}{colon}{modes}")


def _told(mode: str, turn: Turn, found: Difference, versions: Versions) -> list[str]:
    """Where a mode's answer turned, and what it was and is."""
    told = [f"{mode}: {versions.target.name} {turn.since} is the first with the new answer"]
    old, new = (versions.answers(version)[mode] for version in (turn.before, turn.since))
    there = difference_of(old, new) or found
    told += [f"  {there.why}"] if there.why else []
    for mismatch in there.mismatches:
        told += [f"  {cut(printable(line), WIDTH - 2)}" for line in mismatch_lines(mismatch)[:1]]
    told.append(f"  here `expected` is what {turn.before} answers, `got` what {turn.since} does")
    if turn.unknown:
        told.append(f"  or one of {', '.join(turn.unknown)}, which could not be asked")
    return told
