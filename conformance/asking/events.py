"""What a run says while it runs: the stream that records and reports are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from conformance.answers.answer import Answer
from conformance.corpus.language.case import DERIVATIVE


@dataclass(frozen=True, slots=True)
class Cell:
    """Case x target x mode: the one thing that is counted."""

    case: str
    target: str
    mode: str

    def __str__(self) -> str:
        return f"{self.case} [{self.target}:{self.mode}]"

    @property
    def runs(self) -> bool:
        """Whether the case is run, in a mode; else its derivatives are asked for."""
        return self.mode != DERIVATIVE


@dataclass(frozen=True, slots=True)
class TargetReady:
    """A target's worker has started; `about` is what it says of itself (version, python, ...)."""

    target: str
    about: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TargetFailed:
    """A target's worker cannot be started."""

    target: str
    reason: str


@dataclass(frozen=True, slots=True)
class Answered:
    """One cell has its answer, or a case the derivatives of a target.

    `program` is the hash of what ran, `expectation` that of what was then declared; `repeat` is
    0, or which of the repetitions in a fresh process this answer is.
    """

    cell: Cell
    program: str
    answer: Answer
    expectation: str = ""
    repeat: int = 0


Event: TypeAlias = "TargetReady | TargetFailed | Answered"
