"""Print what there is: cases, targets, and which claims of the contract are covered."""

from __future__ import annotations

import argparse
from importlib import metadata

from conformance.closing import EXIT_CODES, UsageError, Word
from conformance.commands.options import add_portable, add_selection, selection_of
from conformance.corpus.index import summaries
from conformance.corpus.selection import select
from conformance.text import printable

DISTRIBUTIONS = {"tensorflow": ("tensorflow", "tensorflow-cpu"), "reference": ("gradconf",)}


def list_options(parser: argparse.ArgumentParser) -> None:
    """The options of `gradconf list`."""
    parser.add_argument("words", nargs="*", metavar="CASE", help="ids, area/topic, files")
    add_selection(parser)
    add_portable(parser)
    parser.add_argument("--ids", action="store_true", help="ids alone")
    parser.add_argument("--operations", action="store_true", help="the catalogue, not the cases")


def run_list(arguments: argparse.Namespace) -> int:
    """List cases: id and title, or ids alone for other programs; or the operations."""
    if arguments.operations:
        from conformance.commands.operations import listed  # `list` starts without it

        print(*listed(arguments), sep="\n")
        return 0
    chosen = select(summaries(arguments.corpus), selection_of(arguments, arguments.words))
    for case in chosen:
        print(case.id if arguments.ids else f"{case.id}\n    {case.title}")
    if not arguments.ids:
        print(f"{len(chosen)} cases")
    return 0


def targets_options(parser: argparse.ArgumentParser) -> None:
    """The options of `gradconf targets`."""
    kept = "remove the environments of all but the newest release of each framework"
    parser.add_argument("--prune", action="store_true", help=kept)


def run_targets(arguments: argparse.Namespace) -> int:
    """List what can be asked, what of it is installed here, and the releases kept ready."""
    from conformance.targets.environments import cached, pruned  # `list` starts without them
    from conformance.targets.specification import DEFAULT_MODES, NAMED

    for old in pruned() if arguments.prune else ():
        print(f"removed {old.framework}=={old.version} {printable(old.interpreter)}")
    for name in NAMED:
        modes = ", ".join(DEFAULT_MODES.get(name, ("eager",)))
        print(f"{name:20} {_installed(name):16} modes {modes}")
    print("tensorflow==X.Y.Z    made when asked for, as for each of these; ready:")
    for environment in cached():
        held = f"{environment.framework}=={environment.version:8}"
        print(f"  {held} {printable(environment.interpreter)}")
    print("./tape.py            a file with TensorFlow's names, or package.module:attribute")
    print(f"confined here        {_confined()}")
    return 0


def _confined() -> str:
    """What holds a target's process here."""
    from conformance.asking.ask import ORACLE
    from conformance.asking.session import Session, WorkerError

    session = Session(ORACLE)
    try:
        return ", ".join(session.start()["confined"]) or "nothing: see docs/trust.md"
    except WorkerError as error:
        return str(error)
    finally:
        session.close()


def _installed(name: str) -> str:
    for distribution in DISTRIBUTIONS.get(name, (name,)):
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            continue
    return "not installed"


def coverage_options(parser: argparse.ArgumentParser) -> None:
    """The options of `gradconf coverage`."""
    parser.add_argument("--missing", action="store_true", help="print what is not covered, and why")
    parser.add_argument("--cases", action="store_true", help="print the cases of each claim")
    rules = "the registered gradients of TensorFlow that the cases call"
    parser.add_argument("--rules", action="store_true", help=rules)
    tables = "the tables that each operation of the catalogue is in, and why not in the others"
    parser.add_argument("--operations", action="store_true", help=tables)
    add_selection(parser)


def run_coverage(arguments: argparse.Namespace) -> int:
    """Show which claims of the contract are covered: a case cites each, and a mutant breaks it.

    What no case can state, or no mutant can break, is excused in docs/not_cases.yaml; anything
    else falls short. Whether the mutants fail the cases, `gradconf mutants` asks.
    With --rules it asks TensorFlow the cases, and shows which registered gradients they call; with
    --operations it shows which tables ask each operation, and falls short at a gap with no reason.
    """
    if arguments.rules:
        from conformance.commands.rules import run_called_rules

        return run_called_rules(arguments)
    if arguments.corpus or not selection_of(arguments, ()).everything:
        raise UsageError("coverage takes -k, --area, --tag and --corpus with --rules alone")
    if arguments.operations:
        from conformance.commands.operations import tables

        lines = [*tables()]
        print(*(line for line, _ in lines), sep="\n")
        word: Word = "falls_short" if any(short for _, short in lines) else "conforms"
        print(word)
        return EXIT_CODES[word]
    from conformance.corpus.cases import load_corpus
    from conformance.corpus.contract import PARTS, coverage
    from conformance.suite.mutation import breakers, load_mutants

    found = coverage(load_corpus(), breakers(load_mutants()))
    wrong = [
        *(f"{case.place}.source: the contract has no claim '{id}'" for case, id in found.unknown),
        *(f"docs/not_cases.yaml: {words}: leave it out" for words in found.needless),
    ]
    if wrong:
        raise UsageError("\n".join(wrong))
    lacking = [claim for claim in found.claims if found.lacks(claim)]
    for part in PARTS:
        claims = [claim for claim in found.claims if claim.part == part]
        excused = [claim for claim in claims if found.excuse(claim)]
        without = [claim for claim in claims if claim in lacking]
        covered = len(claims) - len(excused) - len(without)
        counts = f"{covered:4} of {len(claims):4} claims ({covered / len(claims):.0%})"
        print(
            f"{part:22}{counts}, {len(excused)} excused"
            + f", {len(without)} lacking" * bool(without)
        )
        for claim in claims if arguments.cases else ():
            print(f"    {claim.id}: {', '.join(found.cited.get(claim.id, ()))}")
        for claim in (*without, *excused) if arguments.missing else ():
            lack = found.lacks(claim)
            reason = f"lacks {lack}: {claim.text[:90]}" if lack else found.excuse(claim)
            print(f"    {claim.id}: {reason}")
    word = "falls_short" if lacking else "conforms"
    print(word)
    return EXIT_CODES[word]
