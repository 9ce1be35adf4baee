"""A session with a worker's process: start it, ask it, time it out, and say how it ended."""

from __future__ import annotations

import contextlib
import json
import os
import re
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import IO, Any

from conformance.answers.text import steady_line
from conformance.answers.wire import parse_json, texts
from conformance.asking.lacks import unknown
from conformance.corpus.catalogue import spellings_of
from conformance.drivers import INSIDE, LIMITS, Limits
from conformance.drivers.groups import groups
from conformance.targets.specification import Target

PROTOCOL = 1
"""The version of what crosses between host and worker; `drivers/inside/__main__.py` has it too."""
START_TIMEOUT = 180.0
"""Seconds for an import: a first TensorFlow import from a cold disk takes most of a minute."""
MAX_REPLY = 16 * 1024 * 1024
KEEPER_TIMEOUT = 5.0
"""Seconds for what is left of a worker to be ended by its keeper."""
POLL_EVERY = 1.0
"""Seconds between two polls of a worker."""
LOG_TAIL = 16 * 1024
MAX_SAID = 2_000
"""Characters of what a worker printed that are told when it crashes."""


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

    The worker dies with the thread that started it, so that nothing outlives the host. Where it
    `forks`, a request that is isolated leaves no trace in it.
    """

    def __init__(self, target: Target, limits: Limits = LIMITS) -> None:
        self.target = target
        self.limits = limits
        self.about: dict[str, Any] = {}
        self.forks = False
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket
        self._log: IO[bytes]
        self._held = contextlib.ExitStack()  # what is let go when the process has ended
        self._buffer = bytearray()
        self._seconds_left = 0.0
        self._mark = uuid.uuid4().hex

    def start(self) -> dict[str, Any]:
        """Start the worker and import its framework; what it says of itself.

        Raises WorkerError where the framework cannot be imported or the worker does not start.
        """
        self._spawn()
        module = self.target.module
        own = [os.path.dirname(module)] if module.endswith(".py") else []
        request = {
            "module": module,
            "attribute": self.target.attribute,
            "path": self.target.path,
            "readable": [*own, *self.target.path],
            "spellings": spellings_of(self.target.name) if self.target.is_adapted else {},
        }
        try:
            about = self.ask(request, START_TIMEOUT)
        except WorkerError as error:
            raise type(error)(f"{self.target.label} did not start: {error}") from error
        if fault := _fault_of(about):
            self.close()
            raise WorkerError(f"{self.target.label} {fault}")
        self.forks = about.pop("forks", False) is True
        self.about = about
        return about

    @property
    def is_idle(self) -> bool:
        """Whether the worker is alive and has nothing more to say: it can be asked."""
        quiet = self._process is not None and not self._buffer
        return quiet and not _ready(self._channel, selectors.EVENT_READ, 0.0)

    def ask(self, request: dict[str, Any], timeout: float) -> dict[str, Any]:
        """Send one request and wait for its reply.

        Raises WorkerCrashed, WorkerHung or (for a reply that is none) WorkerError; the worker is
        gone in each case.
        """
        self._seconds_left = timeout
        fault: WorkerError
        try:
            self._send(json.dumps(request).encode() + b"\n")
            reply = parse_json(self._read_line())
            if isinstance(reply, dict) and reply.get("cell") == request.get("cell"):
                return reply
            fault = WorkerError("the worker's reply is to another request")
        except (ConnectionError, EOFError):
            fault = WorkerCrashed(self._how_it_ended())
        except TimeoutError:
            fault = WorkerHung(f"no answer in {timeout:g} seconds: killed")
        except ValueError:
            fault = WorkerError("the worker's reply is not a line of JSON")
        except WorkerError as error:
            fault = error
        self.close()
        raise fault

    def kill(self) -> None:
        """End the worker from another thread; whoever waits for a reply is told that it crashed."""
        process = self._process
        if process is not None:
            _signal(process, signal.SIGTERM)
            _signal(process, signal.SIGCONT)  # one that is stopped would not hear the other

    def close(self) -> None:
        """End the worker and everything that it started."""
        self.kill()
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(KEEPER_TIMEOUT)
        _signal(process, signal.SIGKILL)
        process.wait()
        if process.returncode < 0 and process.returncode != -signal.SIGTERM:
            # The keeper may not have ended what its worker left.
            _end_marked(self._mark)
        self._held.close()

    def _spawn(self) -> None:
        python = self.target.python or sys.executable
        try:
            with contextlib.ExitStack() as held:
                self._log = held.enter_context(tempfile.TemporaryFile())
                self._channel, for_worker = map(held.enter_context, socket.socketpair())
                self._channel.setblocking(False)
                limits: dict[str, Any] = {}
                if self.limits.confined:
                    folder = tempfile.TemporaryDirectory(
                        prefix="gradconf-", ignore_cleanup_errors=True
                    )
                    limits = {"folder": held.enter_context(folder), "memory": self.limits.memory}
                    name = os.path.basename(limits["folder"])
                    limits["groups"] = held.enter_context(groups(name, self.limits.memory))
                self._process = subprocess.Popen(
                    [python, str(INSIDE), str(for_worker.fileno()), json.dumps(limits)],
                    pass_fds=[for_worker.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=self._log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    env=self._environment(),
                )
                for_worker.close()
                self._held = held.pop_all()
        except OSError as error:
            raise WorkerError(f"{python} cannot be started: {error.strerror}") from error
        self._buffer.clear()

    def _environment(self) -> dict[str, str]:
        """The user's environment; another interpreter must not meet this one's packages."""
        own = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONUNBUFFERED": "1"}
        own["GRADCONF_SESSION"] = self._mark
        if self.target.python:
            own.pop("PYTHONPATH", None)
        return own

    def _send(self, data: bytes) -> None:
        while data:
            self._wait_for(selectors.EVENT_WRITE)
            data = data[self._channel.send(data) :]

    def _read_line(self) -> bytes:
        chunk = b""
        while b"\n" not in chunk:
            if len(self._buffer) > MAX_REPLY:
                raise WorkerError(f"the worker's reply is longer than {MAX_REPLY:,} bytes")
            self._wait_for(selectors.EVENT_READ)
            chunk = self._channel.recv(1 << 20)
            if not chunk:
                raise EOFError
            self._buffer += chunk
        line, _, rest = self._buffer.partition(b"\n")
        self._buffer = rest
        return bytes(line)

    def _wait_for(self, event: int) -> None:
        """Wait until the channel is ready; poll once more when the time is over.

        Count elapsed time between polls, so a stopped host does not time out its worker.
        """
        while True:
            left = self._seconds_left
            poll = min(max(0.0, left), POLL_EVERY)
            started = time.monotonic()
            ready = _ready(self._channel, event, poll)
            self._seconds_left -= min(time.monotonic() - started, poll)
            if ready:
                return
            if left <= 0:
                raise TimeoutError
            if self._process is None or self._process.poll() is not None:
                raise EOFError  # what it started may still hold its end of the channel

    def _how_it_ended(self) -> str:
        assert self._process is not None
        try:
            code = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            code = None
        size = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, size - LOG_TAIL))
        printed = self._log.read().decode("utf-8", "replace").strip("\0 \n")
        if code is None:
            how = "closed its descriptor and did not end"
        elif code < 0:
            how = f"ended by signal {_name_of(-code)}"
        else:
            how = f"ended with exit code {code}"
        how += " in the middle of a reply" if self._buffer else ""
        return how + last_words(printed)


LISTS = {"lacks": "what it lacks", "confined": "what confines it", "notes": "what to tell of it"}


def _fault_of(about: dict[str, Any]) -> str:
    """Why a worker that says this of itself cannot be asked."""
    if not about.get("ready"):
        return f"cannot be imported: {about.get('error')}"
    if about.get("protocol") != PROTOCOL:
        return "has a worker that speaks another protocol"
    for key, what in LISTS.items():
        try:
            texts(about.get(key))
        except TypeError:
            return f"says {what} with no list of names"
    wrong = next(unknown(about["lacks"]), "")
    return f"cannot be asked: GRADCONF_LACKS: {wrong}" if wrong else ""


_FAULT = re.compile(
    r"^(?:[\w.]+\.)?\w*(?:Error|Exception|Interrupt|Exit|Warning)\b(?:: .*)?$"
    r"|^Fatal Python error: |\bCheck failed: |^terminate called "
)
"""A line that says what went wrong: an exception, or the word of a C++ library that aborts."""
LAST_LINES = 8


def last_words(log: str) -> str:
    """`: the exception; last output: the last lines`, without times, process ids and addresses.

    >>> last_words("2026-01-02 03:04:05.678901: F tensor.cc:12] Check failed: 1 == 2")
    ': F tensor.cc:12] Check failed: 1 == 2'
    """
    lines = [line for printed in log.splitlines() if (line := steady_line(printed))]
    faults = [line for line in lines if _FAULT.search(line)]
    fault = f": {faults[-1]}" if faults else ""
    last = "\n".join(line for line in lines[-LAST_LINES:] if line not in faults[-1:])[-MAX_SAID:]
    return f"{fault[:MAX_SAID]}; last output: {last}" if last else fault[:MAX_SAID]


def _ready(channel: socket.socket, event: int, seconds: float) -> bool:
    with selectors.DefaultSelector() as selector:
        selector.register(channel, event)
        return bool(selector.select(seconds))


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Send a signal to a worker and its keeper, where they still are."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _end_marked(mark: str) -> None:
    """Kill every process of a session, by the mark in its environment, until there is none."""
    found = True
    while found:
        found = False
        for environment in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):  # another user's, or it ended meanwhile
                if mark.encode() in environment.read_bytes():
                    os.kill(int(environment.parent.name), signal.SIGKILL)
                    found = True


def _name_of(number: int) -> str:
    if number == signal.SIGKILL:
        return "SIGKILL, as Linux does where memory runs out"
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return str(number)
