"""`gradconf check`: whether case files and deviations are right."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from conformance.answers.answer import Answer
from conformance.answers.tolerances import bounds_for, coarse_tensors
from conformance.answers.values import Raised
from conformance.asking.ask import ORACLE, ask
from conformance.asking.events import Answered
from conformance.closing import UsageError
from conformance.commands.files import known_deviations
from conformance.corpus.cases import load_corpus, load_files
from conformance.corpus.language.case import MODES, Case
from conformance.corpus.language.lowering import lower
from conformance.places import data_folder
from conformance.suite.numeric.check import LEAST_SHARE, check_numerically
from conformance.text import did_you_mean
from conformance.verdicts.results import Judged, Results, Reviewer

NO_ATTRIBUTE = re.compile(r"has no attribute '(\w+)'")


def check_options(parser: argparse.ArgumentParser) -> None:
    """The options of `gradconf check`."""
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="case files, or folders of them; all by default"
    )
    parser.add_argument(
        "--numeric", action="store_true", help="hold every gradient against difference quotients"
    )
    parser.add_argument(
        "--schema", action="store_true", help="print a JSON Schema of case files, for editors"
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="name the cases that --numeric cannot check"
    )


def run_check(arguments: argparse.Namespace) -> int:
    """Check case files, deviations and bounds: oracle and mathematics must agree with each case."""
    if arguments.schema:
        print((data_folder("docs") / "schemas" / "case.json").read_text("utf-8"), end="")
        return 0
    if arguments.files:
        cases = load_files(case_files(arguments.files))
    else:
        cases = load_corpus()
        known_deviations(cases)
    answers: dict[str, Answer] = {}
    faults = list(_faults(cases, answers))
    if arguments.numeric:
        faults += _numeric_faults(cases, answers, arguments)
    if faults:
        raise UsageError("\n".join(faults))
    print(f"{len(cases)} cases", "conforms", sep="\n")
    return 0


def case_files(words: Sequence[str]) -> list[Path]:
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


def _faults(cases: Sequence[Case], answers: dict[str, Answer]) -> Iterator[str]:
    """What only running the oracle shows: contradictions, and bounds that are too coarse.

    What the oracle declares to lack has the declaration as its only witness.
    The oracle's answers are put into `answers`, by case.
    """
    by_id = {case.id: case for case in cases}
    reviewer = Reviewer(Results({"reference": ("eager",)}), cases, [])
    for event in ask(cases, [ORACLE]):
        if isinstance(event, Answered):
            answers[event.cell.case] = event.answer
            yield from _coarse(by_id[event.cell.case], event)
        for judged in reviewer.add(event):
            if judged.verdict not in ("pass", "not_applicable", "unsupported"):
                yield f"{judged.case.place}: {_unknown_name(judged) or _disagreement(judged)}"


def _disagreement(judged: Judged) -> str:
    found = [f"{m.where}: got {m.got}, expected {m.expected}" for m in judged.judgement.mismatches]
    why = judged.judgement.note or "; ".join(found)
    return f"the oracle does not agree: {judged.verdict}: {why}"


def _unknown_name(judged: Judged) -> str:
    """The name that a program uses and the oracle lacks, with the nearest one; else nothing."""
    for value in (judged.answer.error, *judged.answer.observations.values()):
        missing = NO_ATTRIBUTE.search(value.message) if isinstance(value, Raised) else None
        for name in sorted(judged.lowered.uses) if missing else ():
            if missing and missing[1] in name.split("."):
                known = {f"tf.{used}" for case in load_corpus() for used in lower(case).uses}
                return f"the oracle has no tf.{name}{did_you_mean(f'tf.{name}', known)}"
    return ""


def _coarse(case: Case, event: Answered) -> Iterator[str]:
    """Expectations of any mode that would let a large error pass, by that mode's bound."""
    operations = lower(case).operations
    for mode in MODES:
        own = case.overrides_in(mode) if mode != "eager" else {}
        for name, expected in (own or case.expect).items():
            word = None if own else event.answer.observations.get(name)
            for coarse in coarse_tensors(expected, bounds_for(mode, operations), oracle=word):
                yield f"{case.place}.expect.{name} in {mode}: {coarse}"
