"""Sides of a difference made by hand: one cell or many, with all that is known beside them."""

from __future__ import annotations

from dataclasses import replace

from conformance.answers.answer import Answer
from conformance.asking.events import Answered, Cell, TargetReady
from conformance.asking.record_writer import RecordWriter
from conformance.corpus.language.case import MODES
from conformance.targets.specification import Target
from conformance.verdicts.changes import Side, changes_between
from tests.answers.wire import answered, tensor

ABOUT = {
    "version": "2.21.0",
    "python": "3.11.7",
    "numpy": "2.4.6",
    "distribution": "tensorflow-cpu",
    "packages": {"keras": "3.12.0"},
    "platform": "Linux x86_64",
}
CASE = "area/topic/case"


def answer(value):
    return value if isinstance(value, Answer) else answered(g=tensor([value]))


def cell(value, case=CASE, target="tensorflow", mode="eager", program="p", expectation="e"):
    """A cell that answered a number, or as it is said."""
    return Answered(Cell(case, target, mode), program, answer(value), expectation)


def side(*cells, repeats=(), about=ABOUT, title="a.jsonl", **changes):
    """A side of these cells; `repeats` are those of the first."""
    targets = {answered.cell.target: about for answered in cells}
    again = [
        replace(cells[0], answer=answer(value), repeat=number)
        for number, value in enumerate(repeats, 1)
    ]
    repeated = {cells[0].cell: again} if again else {}
    return Side(title, targets, cells, repeated, **changes)


def changes(old, new):
    """The changes as (class, case, mode)."""
    found = changes_between(old, new).changes
    return [(change.kind, change.cell.case, change.cell.mode) for change in found]


def kind(old, new):
    """The class of the only change; None if there is none."""
    found = changes_between(old, new).changes
    assert len(found) < 2
    return found[0].kind if found else None


def written(path, of, *, finish=True):
    """The record of a side, as a run writes it."""
    asked = [Target(label, label, MODES) for label in of.targets]
    writer = RecordWriter(path, [], asked, ["run"])
    for label, about in of.targets.items():
        writer.write(TargetReady(label, about))
    for event in (*of.answers, *(again for found in of.repeats.values() for again in found)):
        writer.write(event)
    if finish:
        writer.finish(complete=of.complete, reason=of.reason, seconds=1.0)
    writer.close()
    return str(path)
