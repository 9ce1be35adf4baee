"""Two raw answers of one cell, held against each other: which facts differ, whoever is right."""

from __future__ import annotations

from dataclasses import dataclass, replace

from conformance.answers.answer import Answer, Observation
from conformance.answers.compare import compare, expectation_of
from conformance.answers.mismatch import Mismatch
from conformance.answers.tolerances import bounds_for
from conformance.answers.values import MalformedObservation

MANY_OPERATIONS = 6
"""A record does not say how many operations a program has: the wider bound is taken."""
ENDING = "(the case's end)"
"""The name under which the error that ended a case is compared."""
LOST: Observation = {"kind": "not_observed"}


@dataclass(frozen=True)
class Differing:
    """What differs between two answers: the facts, or `why` where no comparison can say it."""

    mismatches: tuple[Mismatch, ...] = ()
    why: str = ""


def differences(old: Answer, new: Answer, mode: str) -> Differing | None:
    """What differs between two answers that one program gave in `mode`; None where they agree.

    Outcomes, observed names and the error that ended the case are compared, floats within the
    judge's bounds. Of an error its class and the start of its message count. Warnings do not, nor
    the words for a crash: both depend on what the process did before. Whether two answers agree
    does not depend on which of them is the old one.
    """
    if old.outcome != new.outcome:
        return Differing(why=f"{old.outcome} became {new.outcome}")
    before, after = _all_of(old), _all_of(new)
    if before == after:
        return None
    try:
        found = _mismatches(before, after, mode) or [
            replace(back, expected=back.got, got=back.expected, note="")
            for back in _mismatches(after, before, mode)
        ]
    except MalformedObservation as fault:
        return Differing(why=f"malformed: {fault}")
    return Differing(tuple(found)) if found else None


def observed(answer: Answer, name: str) -> Observation:
    """What an answer says under a name, or at the case's end; a name that it lacks is lost."""
    return _all_of(answer).get(name, LOST)


def _all_of(answer: Answer) -> dict[str, Observation]:
    return {**answer.observations, ENDING: answer.error or {"kind": "none"}}


def _mismatches(
    old: dict[str, Observation], new: dict[str, Observation], mode: str
) -> list[Mismatch]:
    """A bound is relative to the old value, a message to its start: so this has a direction."""
    bounds = bounds_for(mode, MANY_OPERATIONS)
    found: list[Mismatch] = []
    for name in old | new:
        expected = expectation_of(old.get(name, LOST))
        found += compare(expected, new.get(name, LOST), bounds, name=name).mismatches
    return found
