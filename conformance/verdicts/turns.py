"""Turns: what began, ended or changed its answer from one release to the next, cause by cause."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from conformance.answers.answer import ENDING, NotObserved, NotReached, Raised
from conformance.asking.events import Answered
from conformance.corpus.language.case import MODES
from conformance.verdicts.causes import Cause, Causes
from conformance.verdicts.changes import REWORDED, Change, Changes

Effect: TypeAlias = Literal[
    "silent value", "crash", "None for a value", "raises", "no longer raises", "compiles", "message"
]
"""What a user notices of a change, the gravest first; `message` is nothing but an error's words."""
EFFECTS: tuple[Effect, ...] = get_args(Effect)
UNANSWERED = (Raised, NotReached, NotObserved)


@dataclass(frozen=True)
class Turn:
    """The changes of one cause, or without one; those of the gravest effect come first.

    `word` says whether the cause `begins` or `ends`, or only `changes` because other departures of
    it hold before and after; it is empty where no departure explains the changes.
    """

    cause: Cause | None
    changes: tuple[Change, ...]
    word: str = ""

    @property
    def effect(self) -> Effect:
        """The gravest effect of its changes."""
        return effect_of(self.changes[0])


def turns_of(found: Changes, causes: Causes) -> list[Turn]:
    """What turned from one side to the other, the gravest first; each change is in one turn.

    A departure without a cause is its own. What no departure explains comes last, and what differs
    in words alone is one turn.
    """
    groups: dict[object, list[Change]] = {}
    for change in found.changes:
        cause, by = causes.of(change.explained_by), change.explained_by
        key = cause or (by and by.reason)
        groups.setdefault(REWORDED if effect_of(change) == REWORDED else key, []).append(change)
    turns = [_turn(found, causes, changes) for changes in groups.values()]
    return sorted(turns, key=lambda turn: (not turn.word, EFFECTS.index(turn.effect)))


def _turn(found: Changes, causes: Causes, changes: Iterable[Change]) -> Turn:
    ordered = sorted(changes, key=lambda change: EFFECTS.index(effect_of(change)))
    first = ordered[0]
    cause = causes.of(first.explained_by)
    if effect_of(first) == REWORDED:
        return Turn(None, tuple(ordered))
    if cause is None or first.old is None or first.new is None:
        words = {"until": "ends", "since": "begins", "": ""}
        return Turn(None, tuple(ordered), words[first.turn.partition(" ")[0]])
    before = cause.holds(found.old.version(first.old.cell), MODES)
    after = cause.holds(found.new.version(first.new.cell), MODES)
    word = "changes" if before and after else "ends" if before else "begins"
    return Turn(cause, tuple(ordered), word)


def effect_of(change: Change) -> Effect:
    """What a user notices of a cell that answers otherwise."""
    assert change.old is not None
    assert change.new is not None
    if change.mismatch == REWORDED:
        return "message"
    if {"crash", "timeout"} & {change.old.answer.outcome, change.new.answer.outcome}:
        return "crash"
    if _fails(change.new, change):
        return "raises"
    if _fails(change.old, change):
        return "compiles" if change.cell.mode == "xla" else "no longer raises"
    gone = any(mismatch.got == "None" != mismatch.expected for mismatch in change.mismatches)
    return "None for a value" if gone else "silent value"


def _fails(told: Answered, change: Change) -> bool:
    """Whether a side has an error, or nothing, in the place of what differs."""
    answer = told.answer
    names = {mismatch.name for mismatch in change.mismatches} - {ENDING}
    values = [answer.observed(name) for name in names]
    if answer.outcome != "answered" or (answer.error is not None and not values):
        return True
    return any(isinstance(value, UNANSWERED) for value in values)
