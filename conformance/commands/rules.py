"""`coverage --rules` and `mutants tensorflow`: the registered gradients of TensorFlow."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from conformance.closing import EXIT_CODES, UsageError, Word
from conformance.commands import options
from conformance.commands.gating import our_deviations
from conformance.corpus.cases import load_corpus
from conformance.corpus.language.case import Case
from conformance.corpus.selection import select
from conformance.suite.rules.called import Call, Called, call_rules, unreachable
from conformance.suite.rules.mutation import (
    MISTAKES,
    RuleMutant,
    RuleMutationRun,
    RuleTally,
    known_survivors,
    mutants_of,
    rules_by_family,
    sample,
)
from conformance.text import clean, plural, suggest

LEAST_SHARE = 0.98
"""The share of the mutants that must be caught; the others need a reason."""


def run_called_rules(arguments: argparse.Namespace) -> int:
    """Print each registered gradient: how many cases call it, and in which ways."""
    _, called = _called(arguments)
    word = _trust(called)
    reasons = unreachable()
    for line in chain(
        called.findings.failed.values(),
        *(_told(rule, called, reasons.get(rule, "")) for rule in sorted(called.registered)),
    ):
        print(line)
    many = sum(_is_many_sided(called.calls_of(rule)) for rule in called.calls)
    counts = f"{len(called.calls)} of {len(called.registered)} registered gradients are called"
    print(f"{counts}, {many} of them in two dtypes and in a gradient of a gradient", word, sep="\n")
    return EXIT_CODES[word]


def _called(arguments: argparse.Namespace, workers: int = 2) -> tuple[list[Case], Called]:
    """The chosen cases, and which rules they call."""
    whole = load_corpus(arguments.corpus)
    cases = select(whole, options.selection_of(arguments, ()))
    return cases, call_rules(cases, our_deviations(arguments, whole), workers)


def _trust(called: Called) -> Word:
    """What the unbroken registry comes to: where it does not conform, nothing more is known."""
    word = called.findings.word
    return "untrustworthy" if word == "falls_short" else word


def _told(rule: str, called: Called, reason: str) -> Iterator[str]:
    calls = called.calls_of(rule)
    if not calls:
        yield f"{rule:36} not called{f': {reason}' if reason else ''}"
        return
    dtypes = sorted(set(chain.from_iterable(call.dtypes for call in calls)))
    ranks = sorted(set(chain.from_iterable(call.ranks for call in calls)))
    orders = sorted({call.order for call in calls})
    yield (
        f"{rule:36} {plural(len(called.calls[rule]), 'case')}; {' '.join(dtypes)};"
        f" ranks {' '.join(map(str, ranks))}; orders {' '.join(map(str, orders))}"
    )
    for attribute in sorted(set(chain.from_iterable(call.attributes for call in calls))):
        yield f"    {attribute}"


def _is_many_sided(calls: Sequence[Call]) -> bool:
    dtypes = set(chain.from_iterable(call.dtypes for call in calls))
    return len(dtypes) > 1 and any(call.order > 1 for call in calls)


# ----- mutants -----


def run_rule_mutants(arguments: argparse.Namespace) -> int:
    """Break each rule that is called, in each way, and ask the cases that call it."""
    if arguments.output:
        options.output_path(arguments.output)  # refused before anything is asked
    _check_names(arguments)
    known = known_survivors()
    cases, called = _called(arguments, arguments.jobs)
    found = _Found(called, known, _chosen(called, arguments), bool(arguments.sample))
    for line in _lines(found, cases, arguments):
        print(line, flush=True)
    if arguments.output:
        options.write_output(json.dumps(_document(found), indent=1) + "\n", arguments.output)
    print(found.word)
    return EXIT_CODES[found.word]


def _check_names(arguments: argparse.Namespace) -> None:
    """Refuse names of families, rules and mistakes that do not exist, before anything is asked."""
    known = rules_by_family()
    rules = {*chain.from_iterable(known.values()), *unreachable()}
    named = [name.partition(":") for name in arguments.mutants[1:]]
    for what, names, all_names in (
        ("family in the catalogue", arguments.family, known),
        ("registered gradient", [rule for rule, _, _ in named], rules),
        ("mistake of a rule", [mistake for _, colon, mistake in named if colon], MISTAKES),
    ):
        for name in names:
            if name not in all_names:
                raise UsageError(f"no {what} '{clean(name)}'{suggest(name, all_names)}")


def _chosen(called: Called, arguments: argparse.Namespace) -> list[RuleMutant]:
    """The mutants of the rules, mistakes and families that the words name, or a sample of them."""
    known, names = rules_by_family(), arguments.mutants[1:]
    wanted = set(chain.from_iterable(known[name] for name in arguments.family))
    found = [
        mutant
        for mutant in mutants_of(called)
        if (not wanted or mutant.rule in wanted)
        and (not names or {mutant.name, mutant.rule} & {*names})
    ]
    return sample(found, arguments.sample) if arguments.sample else found


@dataclass
class _Found:
    """What a run of this command finds out; `known` are survivors with their reasons.

    Of a sample the share says little: each of its survivors must have a reason.
    """

    called: Called
    known: Mapping[str, str]
    mutants: list[RuleMutant]
    sampled: bool = False
    tallies: list[RuleTally] = field(default_factory=list)

    @property
    def counted(self) -> list[RuleTally]:
        """The mutants that are mistakes: those whose answer is never another one are not."""
        return [tally for tally in self.tallies if not tally.equivalent]

    @property
    def caught(self) -> list[RuleTally]:
        """The mutants that a case catches."""
        return [tally for tally in self.counted if tally.caught]

    @property
    def unexplained(self) -> list[str]:
        """The survivors without a reason."""
        return [t.name for t in self.counted if not t.caught and t.name not in self.known]

    @property
    def stale(self) -> list[str]:
        """The mutants that are said to survive, and are caught."""
        return [tally.name for tally in self.caught if tally.name in self.known]

    @property
    def share(self) -> float:
        """The share of the counted mutants that are caught."""
        return len(self.caught) / len(self.counted) if self.counted else 0.0

    @property
    def word(self) -> Word:
        """What the run comes to, in one word."""
        if _trust(self.called) != "conforms":
            return _trust(self.called)
        if not self.counted:
            return "nothing_ran"
        if any(tally.fault for tally in self.tallies):
            return "untrustworthy"
        enough = self.sampled or self.share >= LEAST_SHARE
        bites = enough and not self.unexplained and not self.stale
        return "conforms" if bites else "falls_short"


def _lines(found: _Found, cases: Sequence[Case], arguments: argparse.Namespace) -> Iterator[str]:
    """Ask the mutants, and say on the way what catches each."""
    findings = found.called.findings
    yield from findings.failed.values()
    counts = ", ".join(f"{count} {verdict}" for verdict, count in findings.counts().items())
    yield f"the unbroken registry: {counts}"
    yield from (f"  {one.verdict}: {one.cell}" for one in findings.cells if one.falls_short)
    if _trust(found.called) != "conforms":
        return
    said = {mutant.name: MISTAKES[mutant.mistake] for mutant in found.mutants}
    for tally in RuleMutationRun(cases, found.called).tallies(found.mutants, arguments.jobs):
        found.tallies.append(tally)
        if tally.fault:
            yield f"FAULT      {tally.name}: {tally.fault}"
        elif tally.caught:
            yield f"caught     {tally.name}: {tally.kills[0]}"
        elif tally.equivalent:
            yield f"equivalent {tally.name}: no case's answer has another bit"
        else:
            reason = found.known.get(tally.name)
            why = f"known: {reason}" if reason else said[tally.name]
            yield f"SURVIVED   {tally.name}: {why} ({plural(tally.passed, 'case')})"
    yield from (f"caught, though said to survive: {name}" for name in found.stale)
    yield from _by_family(found)


def _by_family(found: _Found) -> Iterator[str]:
    """How many mutants of each family are caught; a rule of two families counts in both."""
    yield ""
    for family, rules in rules_by_family().items():
        tallies = [tally for tally in found.counted if tally.name.partition(":")[0] in rules]
        if tallies:
            caught = sum(tally.caught for tally in tallies)
            yield f"{family:26} {caught:4} of {len(tallies):4} caught ({caught / len(tallies):.1%})"
    equivalent = len(found.tallies) - len(found.counted)
    yield (
        f"bite: {len(found.caught)} of {len(found.counted)} wrong rules caught ({found.share:.1%}),"
        f" {equivalent} equivalent, {len(found.unexplained)} survive without a reason"
    )


def _document(found: _Found) -> dict[str, object]:
    """What was found, mutant by mutant."""
    return {
        "word": found.word,
        "control": found.called.findings.counts(),
        "caught": len(found.caught),
        "counted": len(found.counted),
        "mutants": {
            tally.name: {
                "caught": tally.caught,
                "equivalent": tally.equivalent,
                "fault": tally.fault,
                "kills": tally.kills,
                "reason": found.known.get(tally.name, ""),
            }
            for tally in sorted(found.tallies, key=lambda tally: tally.name)
        },
    }
