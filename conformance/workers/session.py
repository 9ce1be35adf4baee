"""A session with a worker: start it, ask it, time it out, and say how it ended."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, Any

from conformance.language.lowering import PROTOCOL
from conformance.targets.specification import Target

INSIDE = Path(__file__).parent / "inside"
START_TIMEOUT = 180.0
"""Seconds for an import: a first TensorFlow import from a cold disk takes most of a minute."""
MAX_REPLY = 64 * 1024 * 1024
LOG_TAIL = 2_000


class WorkerError(Exception):
    """The worker gave no usable reply; `outcome` is how that counts for the cell."""

    outcome = "adapter_error"


class WorkerCrashed(WorkerError):
    """The worker's process ended while a cell was running."""

    outcome = "crash"


class WorkerHung(WorkerError):
    """The worker did not reply in time and was killed."""

    outcome = "timeout"


class Session:
    """One worker process for one target. Start and close it in the same thread.

    The worker dies with the thread that started it, so that nothing outlives the host.
    """

    def __init__(self, target: Target) -> None:
        self.target = target
        self.about: dict[str, Any] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._requests: int = -1
        self._replies: int = -1
        self._buffer = b""
        self._log: IO[bytes] | None = None

    def start(self) -> dict[str, Any]:
        """Start the worker and import its framework; what it says of itself.

        Raises WorkerError where the framework cannot be imported or the worker does not start.
        """
        self._spawn()
        request = {
            "command": "start",
            "protocol": PROTOCOL,
            "module": self.target.module,
            "attribute": self.target.attribute,
            "path": self.target.path,
        }
        try:
            reply = self.ask(request, START_TIMEOUT)
        except WorkerError as error:
            self.close()
            raise WorkerError(f"{self.target.label} did not start: {error}") from error
        if not reply.get("ready"):
            self.close()
            raise WorkerError(f"{self.target.label} cannot be imported: {reply.get('error')}")
        if reply.get("protocol") != PROTOCOL:
            self.close()
            raise WorkerError(f"{self.target.label}: the worker speaks another protocol")
        self.about = reply
        return reply

    @property
    def running(self) -> bool:
        """Whether there is a process to ask."""
        return self._process is not None

    def ask(self, request: dict[str, Any], timeout: float) -> dict[str, Any]:
        """Send one request and wait for its reply.

        Raises WorkerCrashed, WorkerHung or (for a reply that is none) WorkerError; the worker is
        gone in each case.
        """
        try:
            self._send(json.dumps(request).encode() + b"\n")
            reply = json.loads(self._read_line(time.monotonic() + timeout))
        except (ValueError, RecursionError) as error:
            self.close()
            raise WorkerError("the worker's reply is not a line of JSON") from error
        except (BrokenPipeError, EOFError):
            raise WorkerCrashed(self._how_it_ended()) from None
        except TimeoutError:
            self.close()
            raise WorkerHung(f"no answer in {timeout:g} seconds: killed") from None
        if not isinstance(reply, dict) or reply.get("cell") != request.get("cell"):
            self.close()
            raise WorkerError("the worker's reply is to another request")
        return reply

    def kill(self) -> None:
        """End the worker from another thread; whoever waits for a reply is told that it crashed."""
        process = self._process
        if process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)

    def close(self) -> None:
        """End the worker and everything that it started."""
        self.kill()
        process, self._process = self._process, None
        if process is None:
            return
        process.wait()
        self._let_go()

    def _let_go(self) -> None:
        os.close(self._requests)
        os.close(self._replies)
        if self._log:
            self._log.close()

    def _spawn(self) -> None:
        for_worker, self._requests = os.pipe()
        self._replies, from_worker = os.pipe()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the session
        python = self.target.python or sys.executable
        try:
            self._process = subprocess.Popen(
                [python, str(INSIDE), str(for_worker), str(from_worker)],
                pass_fds=(for_worker, from_worker),
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env=self._environment(),
            )
        except OSError as error:
            self._let_go()
            raise WorkerError(f"{python} cannot be started: {error.strerror}") from error
        finally:
            os.close(for_worker)
            os.close(from_worker)
        self._buffer = b""

    def _environment(self) -> dict[str, str]:
        """The user's environment; another interpreter must not meet this one's packages."""
        own = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONUNBUFFERED": "1"}
        if self.target.python:
            own.pop("PYTHONPATH", None)
        return own

    def _send(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._requests, data) :]

    def _read_line(self, deadline: float) -> bytes:
        with selectors.DefaultSelector() as selector:
            selector.register(self._replies, selectors.EVENT_READ)
            while b"\n" not in self._buffer:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise TimeoutError
                chunk = os.read(self._replies, 1 << 20)
                if not chunk:
                    raise EOFError
                self._buffer += chunk
                if len(self._buffer) > MAX_REPLY:
                    raise ValueError("reply too long")
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _how_it_ended(self) -> str:
        assert self._process is not None
        assert self._log is not None
        try:
            code = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            code = None
        tail = self._log_tail()
        self.close()
        if code is None:
            how = "the worker closed its descriptor"
        elif code < 0:
            how = f"ended by signal {signal.Signals(-code).name}"
        else:
            how = f"ended with exit code {code}"
        return f"{how}; last output: {tail}" if tail else how

    def _log_tail(self) -> str:
        assert self._log is not None
        size = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, size - LOG_TAIL))
        return self._log.read().decode("utf-8", "replace").strip()
