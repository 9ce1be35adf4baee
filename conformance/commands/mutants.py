"""`gradconf mutants`: which wrong implementations the corpus catches."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from conformance.closing import EXIT_CODES, UsageError, Word
from conformance.commands.options import (
    add_selection,
    corpus_folder,
    output_path,
    positive,
    selection_of,
    write_output,
)
from conformance.corpus.cases import load_corpus
from conformance.corpus.language.case import Case
from conformance.corpus.selection import NothingSelected, select
from conformance.suite.mutation import Mutant, control, load_mutants, make
from conformance.suite.mutation_run import MutationRun, Tally, null_targets
from conformance.text import suggest


def mutants_options(parser: argparse.ArgumentParser) -> None:
    """The options of `gradconf mutants`."""
    parser.add_argument("mutants", nargs="*", metavar="MUTANT", help="names; all by default")
    add_selection(parser)
    parser.add_argument("-j", "--jobs", type=positive(int), default=2, help="mutants at a time")
    parser.add_argument("--output", metavar="FILE", help="what was found, as JSON")


def run_mutants(arguments: argparse.Namespace) -> int:
    """Prove that the corpus bites: run it on the oracle with one mistake each, and on null targets.

    The untouched control runs first and must conform; a mutant that no case catches falls short.
    """
    if arguments.output:
        output_path(arguments.output)  # refused before anything is asked
    try:
        found = _Found(_chosen(load_mutants(), arguments.mutants), not arguments.mutants)
        cases = select(load_corpus(corpus_folder(arguments)), selection_of(arguments, ()))
        with tempfile.TemporaryDirectory(prefix="gradconf-mutants-") as workshop:
            _find(found, cases, Path(workshop), arguments.jobs)
    except NothingSelected as nothing:
        print(nothing)
        found.mutants = ()
    if arguments.output:
        _write(arguments.output, found)
    print(found.word)
    return EXIT_CODES[found.word]


def _chosen(mutants: Sequence[Mutant], names: Sequence[str]) -> Sequence[Mutant]:
    known = [mutant.name for mutant in mutants]
    for name in names:
        if name not in known:
            raise UsageError(f"no mutant named '{name}'{suggest(name, known)}")
    return [mutant for mutant in mutants if not names or mutant.name in names]


@dataclass
class _Found:
    """What a run of this command finds out."""

    mutants: Sequence[Mutant]
    everything: bool
    """Whether all mutants were asked for: only then the null targets are."""
    control: Tally = field(default_factory=lambda: Tally("control"))
    tallies: list[Tally] = field(default_factory=list)
    nulls: list[Tally] = field(default_factory=list)

    @property
    def proved(self) -> bool:
        """Whether the untouched oracle passes, so that what catches a mutant is its mistake."""
        return bool(self.control.passed) and not self.control.kills and not self.control.fault

    @property
    def word(self) -> Word:
        """What the run comes to, in one word."""
        if not self.mutants:
            return "nothing_ran"
        if not self.proved or any(b.fault for b in [*self.tallies, *self.nulls]):
            return "untrustworthy"
        return "conforms" if all(b.caught for b in self.tallies) else "falls_short"


def _find(found: _Found, cases: Sequence[Case], workshop: Path, jobs: int) -> None:
    """Find it all out, and print it on the way."""
    if not found.mutants:
        print("there is no mutant")
        return
    untouched = control(workshop)
    targets = [make(mutant, workshop) for mutant in found.mutants]
    mutation = MutationRun(cases)
    found.control = mutation.ask_control(untouched)
    _print_control(found.control)
    if not found.proved:
        return
    for mutant, tally in zip(found.mutants, mutation.tallies(targets, jobs), strict=True):
        found.tallies.append(tally)
        _print_mutant(mutant, tally)
    _print_bite(found)
    if found.everything:
        nulls = mutation.tallies(null_targets(), jobs)
        found.nulls = sorted(nulls, key=lambda null: -null.share)
        _print_nulls(found.nulls)


def _print_control(tally: Tally) -> None:
    print(f"control: {tally.passed} of {tally.applicable} cells pass", flush=True)
    if tally.fault:
        print(f"  {tally.fault}")
    for case_id in tally.kills:
        print(f"  falls short: {case_id}")


def _print_mutant(mutant: Mutant, tally: Tally) -> None:
    if tally.fault:
        line = f"FAULT    {mutant.name}: {tally.fault}"
    elif tally.caught:
        line = f"caught   {mutant.name} by {len(tally.kills)}: {tally.kills[0]}"
    else:
        line = f"SURVIVED {mutant.name}: {mutant.mistake}"
    print(line, flush=True)


def _print_bite(found: _Found) -> None:
    """The families, and the mutants that only one case stands against."""
    families: dict[str, list[Tally]] = defaultdict(list)
    for mutant, tally in sorted(
        zip(found.mutants, found.tallies, strict=True), key=lambda pair: pair[0].catalogue
    ):
        families[mutant.family].append(tally)
    print()
    for family, members in families.items():
        print(f"{family:26} {sum(b.caught for b in members):3} of {len(members):3} caught")
    fragile = [tally for tally in found.tallies if len(tally.kills) == 1]
    if fragile:
        print("caught by one case alone:")
    for tally in fragile:
        print(f"  {tally.name}: {tally.kills[0]}")
    caught = sum(tally.caught for tally in found.tallies)
    print(f"bite: {caught} of {len(found.tallies)} mutants caught", flush=True)


def _print_nulls(nulls: Sequence[Tally]) -> None:
    for null in nulls:
        fault = f"  {null.fault}" if null.fault else ""
        print(f"null target {null.name:16} {_share(null)}{fault}")
    print(f"best null: {nulls[0].name}, {_share(nulls[0])}")


def _share(tally: Tally) -> str:
    return f"{tally.passed} of {tally.applicable} cells pass ({tally.share:.1%})"


def _write(path: str, found: _Found) -> None:
    """Write what was found: numbers that other reports show as bite and best null."""
    mutants = {
        mutant.name: {
            "mistake": mutant.mistake,
            "catalogue": mutant.catalogue,
            "family": mutant.family,
            "caught": tally.caught,
            "fault": tally.fault,
            "kills": tally.kills,
        }
        for mutant, tally in zip(found.mutants, found.tallies, strict=False)
    }
    document = {
        "word": found.word,
        "control": _counts(found.control),
        "caught": sum(tally.caught for tally in found.tallies),
        "mutants": mutants,
        "nulls": {null.name: _counts(null) for null in found.nulls},
    }
    write_output(json.dumps(document, indent=1) + "\n", path)


def _counts(tally: Tally) -> dict[str, int]:
    return {"passed": tally.passed, "applicable": tally.applicable}
