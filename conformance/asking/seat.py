"""The seat of a target's process: one is started where it is due, and replaced where it must be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from conformance.asking.session import Session, WorkerCrashed, WorkerError
from conformance.drivers import LIMITS, Limits
from conformance.targets.specification import Target

RECYCLE_AFTER = 2_000
"""Cells after which a process is replaced: XLA keeps a quarter of a megabyte for each one."""


class Seat:
    """Asks one target in the thread of its caller, in a process that ends with that thread.

    The process is started with the first request, and replaced when it is lost, old, or not fresh
    enough for a request that is isolated.
    """

    def __init__(
        self,
        target: Target,
        limits: Limits = LIMITS,
        on_start: Callable[[Mapping[str, Any]], None] = lambda about: None,
    ) -> None:
        """`on_start` is told what each process says of itself."""
        self.target = target
        self.failure = ""
        """Why no process can be started any more."""
        self._on_start = on_start
        self._session = Session(target, limits)
        self._asked = 0
        self._used = False

    @property
    def about(self) -> Mapping[str, Any]:
        """What the process says of itself; empty before the first has started."""
        return self._session.about

    def is_ready(self, *, isolated: bool = False) -> bool:
        """Whether there is a process that can be asked; one is started where there is none."""
        if self._asked >= RECYCLE_AFTER or (isolated and self._used):
            self._session.close()
        if self._session.is_idle:
            return True
        if self.failure:
            return False
        self._session.close()
        try:
            try:
                about = self._session.start()
            except WorkerCrashed:  # try once more: the machine may have ended it
                about = self._session.start()
        except WorkerError as error:
            self.failure = str(error)
            return False
        self._asked, self._used = 0, False
        self._on_start(about)
        return True

    def ask(self, request: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        """The reply to a request, by a process that is ready. Errors: WorkerError."""
        self._asked += 1
        isolated = bool(request["isolated"])
        out_of_memory = False
        try:
            reply = self._session.ask({"cell": self._asked, **request}, timeout)
            out_of_memory = _tells_of(reply, "MemoryError")
            return reply
        finally:
            if not (isolated and self._session.forks):
                self._used = True
                if isolated or out_of_memory:  # what else such a process would say is doubtful
                    self._session.close()

    def stop(self) -> None:
        """End the process from another thread; the request in flight is a crash."""
        self._session.kill()

    def close(self) -> None:
        """End the process and everything that it started."""
        self._session.close()


def _tells_of(reply: Mapping[str, Any], error: str) -> bool:
    """Whether a reply tells of an error of this type, of the program or of what it observed."""
    observed = reply.get("observations")
    told = [reply.get("error"), *(observed.values() if isinstance(observed, dict) else ())]
    return any(isinstance(one, dict) and one.get("type") == error for one in told)
