"""Records of several targets, read as that of one run which asked them all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from conformance.asking.ask import ORACLE
from conformance.asking.events import Answered, Cell
from conformance.asking.record import Record, RecordError
from conformance.asking.sharding import joined


def together(records: Sequence[Record]) -> Record:
    """The records of targets, each as whole as it is, as one; a single one is returned as it is.

    Raises RecordError where two have a target in common, or were made with other oracles.
    """
    if len(records) == 1:
        return records[0]
    asked: dict[str, str] = {}
    oracle: dict[Cell, Answered] = {}
    for record in records:
        for label in record.asked:
            if label in asked:
                told = f"{record.path} has {label}, as {asked[label]} does: compare them with"
                raise RecordError(f"{told} gradconf diff, or leave one out")
            asked[label] = record.path
        if _digest(record) != _digest(records[0]):
            raise RecordError(
                f"{record.path} was made with another oracle than {records[0].path}: make the older"
                " one again with gradconf run --resume"
            )
        for answered in record.answers:
            if answered.cell.target == ORACLE.label:
                oracle.setdefault(answered.cell, answered)
    header = {
        **records[0].header,
        "command": ["report", *(one.path for one in records)],
        "asked": _asked(records),
    }
    answers = (a for record in records for a in record.answers if a.cell.target != ORACLE.label)
    return replace(
        records[0],
        path=", ".join(record.path for record in records),
        header=header,
        targets=joined(record.targets for record in records),
        answers=[*oracle.values(), *answers],
        repeats=joined(record.repeats for record in records),
        complete=all(record.complete for record in records),
        reason="; ".join(f"{one.path}: {one.reason}" for one in records if one.reason),
        seconds=sum(record.seconds for record in records),
        failed=joined(record.failed for record in records),
    )


def _asked(records: Sequence[Record]) -> list[dict[str, object]]:
    every = ((label, modes) for record in records for label, modes in record.asked.items())
    return [{"target": label, "modes": list(modes)} for label, modes in every]


def _digest(record: Record) -> object:
    """What identifies the oracle that a record was made with."""
    return record.targets.get(ORACLE.label, {}).get("digest")
