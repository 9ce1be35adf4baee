"""`gradconf check`: whether case files and deviations are right."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from conformance.answers.answer import Answer
from conformance.closing import UsageError
from conformance.commands.gating import our_causes
from conformance.commands.options import say
from conformance.corpus.cases import load_corpus, load_files
from conformance.corpus.language.case import Case
from conformance.files import data_folder
from conformance.suite.derivative_check import check_derivatives
from conformance.suite.numeric.check import LEAST_SHARE, check_numerically
from conformance.suite.oracle_check import faults_against_oracle
from conformance.targets.environments import provisioned
from conformance.targets.specification import Target, parse_targets
from conformance.verdicts.departure_file import read_folder


def check_options(parser: argparse.ArgumentParser) -> None:
    """The options of `gradconf check`."""
    add, unchecked = parser.add_argument, "name the cases that --numeric cannot check"
    add("files", nargs="*", metavar="FILE", help="case files, or folders of them; all by default")
    add("--numeric", action="store_true", help="hold every gradient against difference quotients")
    regular = "hold every expected derivative against a target's forward, the oracle's by default"
    add("--derivative", nargs="?", const="reference", metavar="TARGET", help=regular)
    add("--schema", action="store_true", help="print a JSON Schema of case files, for editors")
    add("-v", "--verbose", action="store_true", help=unchecked)


def run_check(arguments: argparse.Namespace) -> int:
    """Check case files, deviations and bounds: oracle and mathematics must agree with each case."""
    if arguments.schema:
        print((data_folder("docs") / "schemas" / "case.json").read_text("utf-8"), end="")
        return 0
    if arguments.files:
        cases = load_files(_case_files(arguments.files))
    else:
        cases = load_corpus()
        our_causes(read_folder(data_folder("deviations"), cases))
    answers: dict[str, Answer] = {}
    faults = list(faults_against_oracle(cases, answers))
    if arguments.numeric:
        faults += _numeric_faults(cases, answers, arguments)
    if arguments.derivative:
        found = check_derivatives(cases, provisioned(_target(arguments.derivative), say))
        print(found)
        faults += found.faults
    if faults:
        raise UsageError("\n".join(faults))
    print(f"{len(cases)} cases", "conforms", sep="\n")
    return 0


def _target(word: str) -> Target:
    (target,) = parse_targets([word])
    return target


def _case_files(words: Sequence[str]) -> list[Path]:
    """The files that words name, themselves or by a folder that they are in."""
    found: list[Path] = []
    for path in map(Path, words):
        inside = sorted(path.rglob("*.yaml")) if path.is_dir() else [path]
        if not inside:
            raise UsageError(f"{path}: a folder without case files (*.yaml)")
        found += inside
    return found


def _numeric_faults(
    cases: Sequence[Case], answers: Mapping[str, Answer], arguments: argparse.Namespace
) -> list[str]:
    """What mathematics contradicts; and that too little was checked, where the corpus is whole."""
    numeric = check_numerically(cases, answers)
    print(*numeric.lines(arguments.verbose), sep="\n")
    faults = list(numeric.faults)
    if not numeric.checked:
        faults.append("--numeric checked nothing: no case has a smooth gradient")
    elif not arguments.files and numeric.share < LEAST_SHARE:
        faults.append(
            f"--numeric checked {numeric.share:.1%} of the smooth cases, at least {LEAST_SHARE:.0%}"
            " are due: see --verbose for those that were left out"
        )
    return faults
