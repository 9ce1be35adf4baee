"""`gradconf show`: one case, or its program as a script."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Mapping

from conformance.answers.answer import Answer
from conformance.answers.text import describe, text_of
from conformance.answers.tolerances import Bounds, bounds_for, detection_floor
from conformance.asking.ask import ORACLE, ask
from conformance.asking.events import Answered
from conformance.commands.files import one_case
from conformance.commands.options import add_corpus
from conformance.corpus.language.case import MODES, Case, Expectation
from conformance.corpus.language.features import tags_of
from conformance.corpus.language.lowering import Lowered, lower
from conformance.drivers.script import script_of
from conformance.text import printable


def show_options(parser: argparse.ArgumentParser) -> None:
    """The options of `gradconf show`."""
    parser.add_argument("case", metavar="CASE")
    add_corpus(parser)
    parser.add_argument(
        "--as-python", action="store_true", help="a script that needs only tensorflow"
    )
    parser.add_argument("--mode", choices=MODES, default="eager", help="of the program")


def run_show(arguments: argparse.Namespace) -> int:
    """Show a case: its source, its program, what is expected, and what the oracle answers."""
    case = one_case(arguments)
    lowered = lower(case, arguments.mode)
    if arguments.as_python:
        print(script_of(case, lowered, arguments.mode), end="")
        return 0
    print(_described(case, lowered))
    print(_answered(case))
    return 0


def _described(case: Case, lowered: Lowered) -> str:
    lines = [case.id, f"  {case.title}", "", f"source   {', '.join(case.sources)}"]
    lines += [
        f"file     {printable(case.place.file)}:{case.place.line}",
        f"program  {lowered.hash}",
    ]
    lines += [f"shows    {', '.join(tags_of(case))}", ""]
    lines += [textwrap.indent(lowered.source.rstrip(), "    "), "", "expected"]
    lines += _expected(case.expect, bounds_for("eager", lowered.operations))
    for mode, expectations in case.expect_in.items():
        lines += [
            f"expected in {mode}",
            *_expected(expectations, bounds_for(mode, lowered.operations)),
        ]
    lines += [f"not applicable in {mode}: {why}" for mode, why in case.not_applicable.items()]
    lines += [f"warns    {case.warns}"] if case.warns else []
    return "\n".join(lines)


def _expected(expectations: Mapping[str, Expectation], bounds: Bounds) -> list[str]:
    return [
        f"    {name} = {text_of(expected)}{_caught(expected, bounds)}"
        for name, expected in expectations.items()
    ]


def _caught(expected: Expectation, bounds: Bounds) -> str:
    """The detection floor: which relative errors a case catches."""
    floor = detection_floor(expected, bounds)
    if floor is None:
        return ""
    return f"   (catches relative errors from {floor:.1e})" if floor else "   (exact)"


def _answered(case: Case) -> str:
    for event in ask([case], [ORACLE]):
        if isinstance(event, Answered):
            return "\n".join(["the oracle answers", *_observed(event.answer)])
    return "the oracle does not answer"


def _observed(answer: Answer) -> list[str]:
    if answer.outcome != "answered":
        return [f"    {answer.outcome} {answer.detail}".rstrip()]
    lines = [
        f"    {name} = {describe(observation)}" for name, observation in answer.observations.items()
    ]
    if answer.error:
        lines.append(f"    ended by {describe(answer.error)}")
    return lines + [f"    warned: {message}" for message in answer.warnings]
