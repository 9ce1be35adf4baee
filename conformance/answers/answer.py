"""An answer: everything that a target gave for one cell, before anyone judges it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from conformance.answers.values import NoneValue, NotObserved, Raised, Value

ENDING = "(the case's end)"
"""The name under which the error that ended a case stands beside the observed ones."""

ENDED = re.compile(r"ended (?:by signal (?P<signal>\w+)|with exit code (?P<code>\d+))")

Outcome: TypeAlias = Literal[
    "answered", "crash", "timeout", "adapter_error", "unsupported", "not_applicable", "not_run"
]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back from one cell: a value for each observed name, or why there is none.

    `error` is the exception that ended the program before its end. `detail` says why there is no
    answer. `warnings` are what the framework's loggers said.
    """

    outcome: Outcome
    observations: Mapping[str, Value] = field(default_factory=dict)
    error: Raised | None = None
    warnings: tuple[str, ...] = ()
    detail: str = ""
    seconds: float = 0.0

    @property
    def end(self) -> str:
        """How the process ended that should have answered: `crash SIGSEGV`, `exit 3`, `timeout`.

        What it last said does not count: it depends on what it did before.
        """
        if self.outcome != "crash":
            return "timeout" if self.outcome == "timeout" else ""
        how = ENDED.match(self.detail)
        if how and how["code"]:
            return f"exit {how['code']}"
        return f"crash {how['signal']}" if how else "crash"

    def observed(self, name: str) -> Value:
        """What it says under a name, or at the case's end."""
        if name == ENDING:
            return self.error or NoneValue()
        return self.observations.get(name, NotObserved())
