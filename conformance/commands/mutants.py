"""`gradconf mutants`: which wrong implementations the corpus catches."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from conformance.asking.cluster import ClusterLost
from conformance.closing import EXIT_CODES, UsageError, Word
from conformance.commands import options
from conformance.commands.rules import run_rule_mutants
from conformance.corpus.cases import load_corpus
from conformance.corpus.contract import contract_claims, read_excuses
from conformance.corpus.language.case import MODES, Case
from conformance.corpus.selection import select
from conformance.suite.caught import Caught, identity_of, identity_of_case, read_caught
from conformance.suite.mutation import Mutant, control, load_mutants, make
from conformance.suite.mutation_run import (
    MutationRun,
    Tally,
    failed_by,
    narrow,
    null_targets,
    shown,
)
from conformance.text import suggest


def mutants_options(parser: argparse.ArgumentParser) -> None:
    """The options of `gradconf mutants`."""
    add, count = parser.add_argument, options.positive(int)
    add("mutants", nargs="*", metavar="MUTANT", help="names; all by default")
    options.add_selection(parser)
    add("--family", action="append", default=[], help="with tensorflow: of these operations")
    add("--sample", type=count, metavar="N", help="N of them; with --known, of the unchanged")
    add("-j", "--jobs", type=count, default=2, help="mutants at a time, or local nodes")
    options.add_cluster(parser)
    add("--known", metavar="FILE", help="what an earlier run wrote: ask what has changed")
    add("--output", metavar="FILE", help="what was found, as JSON (.gz: compressed)")


def run_mutants(arguments: argparse.Namespace) -> int:
    """Prove that the corpus bites: run it on the oracle with one mistake each, and on null targets.

    The untouched control runs first and must conform. A mutant that no case catches falls short,
    and in the whole corpus a case that no mutant fails, a claim of the contract that no mutant
    shows, and a mutant that fails no case which cites what it breaks; null targets and mutants
    that fail a fifth of all entries show nothing.
    --known FILE asks new and changed mutants all cases, and all mutants new and changed cases;
    --sample N asks N of the others, too, whether what the file says still holds.
    `gradconf mutants tensorflow [RULE[:MISTAKE]]` breaks TensorFlow's registered gradients instead.
    """
    if arguments.mutants[:1] == ["tensorflow"]:
        if arguments.cluster:
            raise UsageError("gradconf mutants tensorflow asks this machine: leave out --cluster")
        return run_rule_mutants(arguments)
    if arguments.family or (arguments.sample and not arguments.known):
        raise UsageError("--family is for gradconf mutants tensorflow, --sample N for --known, too")
    if arguments.output:
        options.output_path(arguments.output)  # refused before anything is asked
    found = _Found(_chosen(load_mutants(), arguments.mutants), _known(arguments.known))
    cases = select(load_corpus(arguments.corpus), options.selection_of(arguments, ()))
    found.identities = {case.id: identity_of_case(case) for case in cases}
    if found.mutants:
        with (
            options.cluster_of(arguments) as cluster,
            tempfile.TemporaryDirectory(prefix="gradconf-mutants-") as workshop,
        ):
            run = MutationRun(cases, cluster)
            try:
                for line in _lines(found, cases, Path(workshop), run, arguments):
                    print(line, flush=True)
            except ClusterLost as error:
                found.stopped = str(error)
                print(found.stopped, flush=True)
    if arguments.output:
        options.write_output(json.dumps(_document(found), indent=1) + "\n", arguments.output)
    print(found.word)
    return EXIT_CODES[found.word]


def _chosen(mutants: Sequence[Mutant], names: Sequence[str]) -> Sequence[Mutant]:
    known = [mutant.name for mutant in mutants]
    for name in names:
        if name not in known:
            raise UsageError(f"no mutant named '{name}'{suggest(name, known)}")
    return [mutant for mutant in mutants if not names or mutant.name in names]


def _known(file: str | None) -> Caught:
    try:
        return read_caught(Path(file)) if file else Caught()
    except OSError as error:
        raise UsageError(f"--known {file}: {error.strerror or error}") from error
    except ValueError as error:
        raise UsageError(f"--known {file}: {error}: write it anew with --output {file}") from error


@dataclass
class _Found:
    """What a run of this command finds out."""

    mutants: Sequence[Mutant]
    known: Caught = field(default_factory=Caught)
    identities: dict[str, str] = field(default_factory=dict)
    stopped: str = ""
    """Why not everything was asked: its cluster was lost."""
    lost: list[str] = field(default_factory=list)
    """What is known and does not hold: the mutants that a case does not catch any more."""
    control: Tally = field(default_factory=lambda: Tally("control"))
    tallies: list[Tally] = field(default_factory=list)
    nulls: list[Tally] = field(default_factory=list)
    failed_by: dict[str, list[str]] = field(default_factory=dict)
    """The mutants that fail each case, where all of the corpus was asked of all of them."""
    shown: dict[str, dict[str, str]] = field(default_factory=dict)
    """For each mutant what it breaks, and a case that shows it."""
    claims: dict[str, list[str]] = field(default_factory=dict)
    """The mutants that show each claim, those excused from it left out."""

    @property
    def unshown(self) -> list[str]:
        """What is broken by a mutant's own word, and no case shows it; and claims without any."""
        words = [(name, source) for name, of in self.shown.items() for source in of]
        return [
            *(f"{name} breaks {source}" for name, source in words if not self.shown[name][source]),
            *(claim for claim, mutants in self.claims.items() if not mutants),
        ]

    @property
    def unfailed(self) -> list[str]:
        """The cases that no mutant fails: nobody has shown that they show anything."""
        return [case_id for case_id, mutants in self.failed_by.items() if not mutants]

    @property
    def proved(self) -> bool:
        """Whether the untouched oracle passes, so that what catches a mutant is its mistake."""
        return bool(self.control.passed) and not self.control.kills and not self.control.fault

    @property
    def caught(self) -> int:
        """How many mutants are caught."""
        return sum(tally.caught for tally in self.tallies)

    @property
    def word(self) -> Word:
        """What the run comes to, in one word."""
        if not self.mutants:
            return "nothing_ran"
        if (
            self.stopped
            or not self.proved
            or any(tally.fault for tally in [*self.tallies, *self.nulls])
        ):
            return "untrustworthy"
        gaps = self.lost or self.unfailed or self.unshown
        return "conforms" if self.caught == len(self.tallies) and not gaps else "falls_short"


def _lines(
    found: _Found,
    cases: Sequence[Case],
    workshop: Path,
    run: MutationRun,
    arguments: argparse.Namespace,
) -> Iterator[str]:
    """Find it all out, and say it on the way; null targets are asked beside all mutants only."""
    untouched = control(workshop)
    due = found.known.due(found.mutants, cases, arguments.sample or 0)
    asked = [mutant for mutant in found.mutants if due[mutant.name]]
    targets = [make(mutant, workshop) for mutant in asked]
    found.control = run.ask_control(untouched)
    yield f"control: {found.control.passed} of {found.control.applicable} cells pass"
    yield from [f"  {found.control.fault}"] if found.control.fault else []
    yield from (f"  falls short: {case_id}" for case_id in found.control.kills)
    if not found.proved:
        return
    if len(asked) < len(found.mutants):
        yield f"known: {len(found.mutants) - len(asked)} mutants, as {arguments.known} says"
    told = run.tallies(targets, arguments.jobs, [due[mutant.name] for mutant in asked])
    for mutant in found.mutants:
        tally = next(told) if due[mutant.name] else Tally(mutant.name)
        yield from _lost(found, mutant, tally, due[mutant.name])
        tally = found.known.completed(mutant, tally, due[mutant.name], cases)
        found.tallies.append(tally)
        if not due[mutant.name]:
            continue
        if tally.fault:
            yield f"FAULT    {mutant.name}: {tally.fault}"
        elif tally.caught:
            yield f"caught   {mutant.name} by {len(tally.kills)}: {tally.kills[0]}"
        else:
            yield f"SURVIVED {mutant.name}: {mutant.mistake}"
    yield from _bite(found)
    if arguments.mutants:
        return
    found.nulls = sorted(run.tallies(null_targets(), arguments.jobs), key=lambda n: -n.share)
    for null in found.nulls:
        yield f"null target {null.name:16} {_share(null)}  {null.fault}".rstrip()
    yield f"best null: {found.nulls[0].name}, {_share(found.nulls[0])}"
    if options.selection_of(arguments, ()).everything:
        surveyed = {case.id for case in cases if all(map(case.is_survey_in, MODES))}
        by_case = failed_by(cases, found.tallies)
        found.failed_by = {
            id: names for id, names in by_case.items() if id not in run.lacking | surveyed
        }
        yield from _failed(found)
        breaks = {mutant.name: mutant.breaks for mutant in found.mutants}
        found.shown = shown(cases, breaks, found.tallies)
        found.claims = _claims(found, cases)
        yield from _shown(found)


def _lost(found: _Found, mutant: Mutant, tally: Tally, asked: Sequence[Case]) -> Iterator[str]:
    for case_id in found.known.lost(mutant, tally, asked):
        found.lost.append(f"{mutant.name} by {case_id}")
        yield f"LOST     {mutant.name} is no longer caught by {case_id}"


def _claims(found: _Found, cases: Sequence[Case]) -> dict[str, list[str]]:
    """The mutants that show each claim that is not excused."""
    excuses = read_excuses()
    counting = [tally.name for tally in narrow(cases, found.tallies)]
    return {
        claim.id: [name for name in counting if found.shown[name].get(claim.id)]
        for claim in contract_claims()
        if claim.id not in (*excuses.no_case, *excuses.no_mutant)
    }


def _shown(found: _Found) -> Iterator[str]:
    """Each claim with what shows it, what nothing shows last."""
    yield "\nwhat shows each claim:"
    for claim, mutants in found.claims.items():
        if mutants:
            yield f"  {claim}: {mutants[0]} fails {found.shown[mutants[0]][claim]}"
    yield from (f"NOTHING SHOWS {what}" for what in found.unshown)
    count = sum(map(bool, found.claims.values()))
    yield f"shown by a mutant: {count} of {len(found.claims)} claims"


def _failed(found: _Found) -> Iterator[str]:
    """Each case with the mutants that fail it, those that none fails last."""
    yield "\nwhat fails each case:"
    for case_id, mutants in found.failed_by.items():
        if mutants:
            yield f"  {case_id}: {', '.join(mutants[:3])}{', ...' if len(mutants) > 3 else ''}"
    yield from (f"NOTHING FAILS {case_id}" for case_id in found.unfailed)
    count = len(found.failed_by)
    yield f"failed by a mutant: {count - len(found.unfailed)} of {count} cases"


def _bite(found: _Found) -> Iterator[str]:
    """The families, and the mutants that only one case stands against."""
    pairs = sorted(zip(found.mutants, found.tallies, strict=True), key=lambda p: p[0].catalogue)
    yield ""
    for family, members in groupby(pairs, key=lambda pair: pair[0].family):
        caught = [tally.caught for _, tally in members]
        yield f"{family:26} {sum(caught):3} of {len(caught):3} caught"
    fragile = [tally for tally in found.tallies if len(tally.kills) == 1]
    yield from ["caught by one case alone:"] if fragile else []
    yield from (f"  {tally.name}: {tally.kills[0]}" for tally in fragile)
    yield f"bite: {found.caught} of {len(found.tallies)} mutants caught"


def _share(tally: Tally) -> str:
    return f"{tally.passed} of {tally.applicable} cells pass ({tally.share:.1%})"


def _document(found: _Found) -> dict[str, object]:
    """What was found: numbers that other reports show as bite and best null."""
    mutants = {
        mutant.name: {
            "mistake": mutant.mistake,
            "breaks": found.shown.get(mutant.name, {}),
            "catalogue": mutant.catalogue,
            "family": mutant.family,
            "caught": tally.caught,
            "fault": tally.fault,
            "kills": tally.kills,
            "identity": identity_of(mutant),
        }
        for mutant, tally in zip(found.mutants, found.tallies, strict=False)
    }
    return {
        "word": found.word,
        "control": _counts(found.control),
        "caught": found.caught,
        "mutants": mutants,
        "cases": found.failed_by,
        "identities": found.identities,
        "claims": found.claims,
        "nulls": {null.name: _counts(null) for null in found.nulls},
    }


def _counts(tally: Tally) -> dict[str, int]:
    return {"passed": tally.passed, "applicable": tally.applicable}
