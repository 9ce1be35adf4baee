"""Small corpora, wrong oracles, and what the numeric check says of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from conformance.answers.answer import Answer
from conformance.asking.ask import ORACLE, ask
from conformance.asking.events import Answered
from conformance.corpus.language.case import Case, Place
from conformance.corpus.language.document import Node
from conformance.corpus.language.loader import load_text
from conformance.suite.mutation import Edit, Mutant, control, make
from conformance.suite.numeric.check import Numeric, check_numerically
from conformance.targets.specification import Target
from tests import cases

SQUARE_RULE = ("ops/elementwise.py", "return (ct * (conj(x) * 2.0),)")


def entry(program: str, expect: str = "{g: oracle}", inputs: str = "{x: 3.0}") -> str:
    """The YAML of a case whose program is this text."""
    return cases.entry(run=program, expect=expect, inputs=inputs)


def cases_of(**entries: str) -> list[Case]:
    """The cases that these entries declare, by name."""
    return load_text(cases.file_of(**entries))


def wrong_oracle(workshop: Path, file: str, old: str, new: str) -> Target:
    """A copy of the oracle with one edit."""
    control(workshop)
    place = Place("a test", 1, 1, "$")
    edits = (Edit(file, old, new),)
    return make(Mutant("wrong", "a mistake", (), edits, Node({}, place)), workshop)


def checked(asked: Sequence[Case], target: Target = ORACLE) -> Numeric:
    """What the numeric check says, on the oracle or a copy of it."""
    usual: dict[str, Answer] = {
        event.cell.case: event.answer
        for event in ask(asked, [target])
        if isinstance(event, Answered)
    }
    return check_numerically(asked, usual, oracle=target.path)


def name_of(case_id: str) -> str:
    """The last part of a case's id."""
    return case_id.rpartition("/")[2]
