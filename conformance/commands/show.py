"""`gradconf show`: one case, or its program as a script."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator, Mapping

from conformance.answers.text import describe, text_of
from conformance.answers.tolerances import Bounds, bounds_for, floors_of
from conformance.asking.ask import ORACLE, ask
from conformance.asking.events import Answered
from conformance.closing import UsageError
from conformance.commands import operations
from conformance.commands.options import add_corpus
from conformance.corpus.cases import load_corpus
from conformance.corpus.language.case import MODES, Case, Expectation
from conformance.corpus.language.features import tags_of
from conformance.corpus.language.lowering import lower
from conformance.corpus.language.vocabulary import NOT_PORTABLE
from conformance.corpus.selection import NothingSelected, Selection, select
from conformance.drivers.script import script_of
from conformance.text import printable


def show_options(parser: argparse.ArgumentParser) -> None:
    """The options of `gradconf show`."""
    parser.add_argument("case", nargs="?", metavar="CASE")
    about = "an operation of the catalogue, not a case"
    parser.add_argument("--operation", metavar="NAME", help=about)
    add_corpus(parser)
    about = "a script that needs only tensorflow"
    parser.add_argument("--as-python", action="store_true", help=about)
    parser.add_argument("--mode", choices=MODES, default="eager", help="of the program")


def run_show(arguments: argparse.Namespace) -> int:
    """Show a case: its source, its program, what is expected, and what the oracle answers."""
    if (arguments.case is None) == (arguments.operation is None):
        raise UsageError("show takes a case, or --operation and a name")
    if arguments.operation is not None:
        print(*operations.shown(arguments.operation), sep="\n")
        return 0
    case = one_case(arguments)
    if arguments.as_python:
        print(script_of(case, lower(case, arguments.mode), arguments.mode), end="")
    else:
        print(*_described(case, arguments.mode), *_answered(case), sep="\n")
    return 0


def one_case(arguments: argparse.Namespace) -> Case:
    """The one case that a command's word names."""
    try:
        chosen = select(load_corpus(arguments.corpus), Selection((arguments.case,)))
    except NothingSelected as nothing:
        raise UsageError(str(nothing)) from nothing
    if len(chosen) > 1:
        ids = ", ".join(case.id for case in chosen[:3])
        raise UsageError(f"'{arguments.case}' is {len(chosen)} cases: name one, such as {ids}")
    return chosen[0]


def _described(case: Case, mode: str) -> Iterator[str]:
    lowered = lower(case, mode)
    yield from (case.id, f"  {case.title}", "", f"source   {', '.join(case.sources)}")
    yield f"file     {printable(case.place.file)}:{case.place.line}"
    yield f"program  {lowered.hash}"
    yield f"shows    {', '.join(tags_of(case))}"
    yield from (f"portable {_portable(case)}", "")
    yield from (textwrap.indent(lowered.source.rstrip(), "    "), "", "expected")
    yield from _expected(case.expect, bounds_for("eager", lowered.operations))
    for other, expectations in case.expect_in.items():
        yield f"expected in {other}"
        yield from _expected(expectations, bounds_for(other, lowered.operations))
    for other, why in case.not_applicable.items():
        yield f"not applicable in {other}: {why}"
    if case.warns:
        yield f"warns    {case.warns}"


def _portable(case: Case) -> str:
    """Whether other frameworks are asked the case by default, and if not, why."""
    own = [f"{why} ({name})" for name, why in NOT_PORTABLE.items() if name in tags_of(case)]
    return f"no: {'; '.join(own)}" if own else "yes"


def _expected(expectations: Mapping[str, Expectation], bounds: Bounds) -> Iterator[str]:
    """What is due, and the detection floor: which relative errors a case catches."""
    for name, expected in expectations.items():
        floor = max((found.largest for found in floors_of(expected, bounds)), default=None)
        caught = f"   (catches relative errors from {floor:.1e})" if floor else "   (exact)"
        yield f"    {name} = {text_of(expected)}{'' if floor is None else caught}"


def _answered(case: Case) -> Iterator[str]:
    events = ask([case], [ORACLE], wanted=lambda cell: cell.runs)
    answer = next((event.answer for event in events if isinstance(event, Answered)), None)
    if answer is None:
        yield "the oracle does not answer"
        return
    yield "the oracle answers"
    if answer.outcome != "answered":
        yield f"    {answer.outcome} {answer.detail}".rstrip()
        return
    for name, observation in answer.observations.items():
        yield f"    {name} = {describe(observation)}"
    if answer.error:
        yield f"    ended by {describe(answer.error)}"
    for message in answer.warnings:
        yield f"    warned: {message}"
