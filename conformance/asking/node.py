"""What a node of a cluster runs: requests in, replies out, and nothing but lines of JSON between.

The first line of a batch says who is asked, each further one is a request; the first line of what
comes back says how that went, each further one is what came of a request.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from conformance import __version__
from conformance.asking.baggage import FOLDER, unpack
from conformance.asking.seat import Seat
from conformance.asking.session import WorkerError
from conformance.drivers import INSIDE, LIMITS, Limits
from conformance.files import beside, cache_folder
from conformance.targets.environments import provisioned
from conformance.targets.specification import Target, TargetError

KEPT = 3
"""Targets whose processes a thread keeps: a run asks the oracle and mostly one or two others."""


def answer(batch: bytes) -> bytes:
    """What a target replies to each request of a batch, in a process of the calling thread.

    Where its file is not kept here nothing is asked; where its process cannot be started any more
    the rest is not, and the first line says why.
    """
    first, *requests = batch.split(b"\n")
    asked = json.loads(first)
    told: dict[str, Any] = {"gradconf": __version__, "node": _address(), "about": {}, "failure": ""}
    name, digest = asked["file"] or ("", "")
    told["wants"] = bool(digest) and not _is_kept(name, digest)
    replies: list[bytes] = []
    if not told["wants"] and told["gradconf"] == asked["gradconf"]:
        try:
            seat = _SEATS.of(asked)
            with seat.lock:
                replies += _replies(seat, map(json.loads, requests), asked)
                told |= {"about": dict(seat.about), "failure": seat.failure}
        except TargetError as error:
            told["failure"] = str(error)
    return b"\n".join([json.dumps(told).encode(), *replies])


def keep(name: bytes, data: bytes) -> bytes:
    """Keep a target's file in a folder that is named by what it holds; say why it cannot be."""
    path = _path(name.decode(), hashlib.sha256(data).hexdigest())
    new = beside(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new.write_bytes(data)
        new.replace(path)
    except OSError as error:
        return str(error).encode()
    return b""


def release(run: bytes) -> None:
    """End what a run has started here; what still waits of it is not asked any more."""
    threading.Thread(target=_SEATS.close, args=[run.decode()], daemon=True).start()


def _replies(
    seat: _NodeSeat, requests: Iterable[dict[str, Any]], asked: Mapping[str, Any]
) -> Iterator[bytes]:
    seat.is_ready()  # a batch without a request asks what the target is
    for request in requests:
        if _SEATS.is_over(asked["run"]) or not seat.is_ready(isolated=request["isolated"]):
            return
        try:
            told: dict[str, Any] = {"reply": seat.ask(request, asked["timeout"])}
        except WorkerError as error:
            told = {"outcome": error.outcome, "detail": str(error)}
        yield json.dumps(told).encode()


class _NodeSeat(Seat):
    """A seat that is not ended from another thread while it is asked, and what it needs of files.

    A folder that travelled is unpacked into a place of its own.
    """

    def __init__(self, asked: Mapping[str, Any]) -> None:
        self.lock = threading.Lock()
        self._held = contextlib.ExitStack()
        with contextlib.ExitStack() as held:
            super().__init__(_target(asked, held), _limits(asked))
            self._held = held.pop_all()

    def close(self) -> None:
        super().close()
        self._held.close()


class _Seats:
    """The seats of this process: for each thread, run and target one."""

    def __init__(self) -> None:
        self._held: dict[tuple[int, str, str], _NodeSeat] = {}
        self._over: set[str] = set()
        self._lock = threading.Lock()

    def of(self, asked: Mapping[str, Any]) -> _NodeSeat:
        """The seat of the calling thread; its oldest ones end where it has too many."""
        thread = threading.get_ident()
        key = thread, str(asked["run"]), str(asked["target"]["label"])
        with self._lock:
            seat = self._held.pop(key, None)
            own = [one for one in self._held if one[0] == thread]
            old = [self._held.pop(one) for one in own[: len(own) - KEPT + 1]] if not seat else []
        for one in old:
            one.close()
        seat = seat or _NodeSeat(asked)
        with self._lock:
            self._held[key] = seat
        return seat

    def is_over(self, run: str) -> bool:
        """Whether nobody waits for what a run asks any more."""
        return run in self._over

    def close(self, run: str) -> None:
        """End the seats of a run."""
        with self._lock:
            self._over.add(run)
            seats = [self._held.pop(key) for key in list(self._held) if key[1] == run]
        for seat in seats:
            seat.stop()
            with seat.lock:
                seat.close()


_SEATS = _Seats()


def _target(asked: Mapping[str, Any], held: contextlib.ExitStack) -> Target:
    """The target of a batch, with the folders and the environment that it needs on this machine."""
    told, file = asked["target"], asked["file"] and _path(*asked["file"])
    module = str(file) if file and file.name != FOLDER else told["module"]
    target = Target(told["label"], module, tuple(told["modes"]), told["attribute"], told["version"])
    if target.is_adapted:
        target = replace(target, path=(str(INSIDE.parent),))
    if file and file.name == FOLDER:
        folder = held.enter_context(tempfile.TemporaryDirectory(prefix="gradconf-target-"))
        unpack(file.read_bytes(), Path(folder))
        target = replace(target, path=(folder,))
    return provisioned(target, lambda line: None)


def _limits(asked: Mapping[str, Any]) -> Limits:
    """The part of this node's memory that one process may have."""
    from distributed import get_worker

    told = asked["limits"]
    limits = Limits(told["confined"], told["memory"] or LIMITS.memory)
    return limits.shared(get_worker().state.nthreads * told["shares"])


def _path(name: str, digest: str) -> Path:
    if Path(name).name != name:
        raise TargetError(f"'{name}' is no file's name")
    return cache_folder().absolute() / "files" / digest / name


def _is_kept(name: str, digest: str) -> bool:
    path = _path(name, digest)
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest


def _address() -> str:
    from distributed import get_worker

    return str(get_worker().address)
