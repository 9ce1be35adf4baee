"""Environments for releases of frameworks: made once, kept in the user's cache, and found again.

An environment cannot be moved, so it is made in the folder where it stays. Its marker, which says
what is inside, is written last: a folder without one was left by an interrupted run, and is made
anew. uv and the network are needed only where no environment is found.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from conformance.files import cache_folder, is_mine, read_bounded, write_whole
from conformance.targets.interpreters import (
    InstallerError,
    Interpreter,
    call_uv,
    interpreter_for,
    packages_of,
)
from conformance.targets.releases import Release, release, version_key
from conformance.targets.specification import Target, TargetError

MARKER = "gradconf.json"
MAX_MARKER = 64 * 1024
FORMAT = 1

Say = Callable[[str], None]


@dataclass(frozen=True)
class Environment:
    """An environment that can be used: its folder, and what it was made of."""

    folder: Path
    version: str
    interpreter: Interpreter
    requirements: tuple[str, ...]
    framework: str = "tensorflow"

    @property
    def python(self) -> str:
        """The interpreter to start a worker with."""
        return str(self.folder / "bin" / "python")


def provisioned(target: Target, say: Say) -> Target:
    """The target with the interpreter of an environment that holds the version it asks for.

    An interpreter that the target names is checked and kept; a target with neither an interpreter
    nor a version is returned as it is. `say` gets one line before whatever takes long.

    Raises TargetError where the named interpreter is none or holds another version, or where the
    release is too old, fits no interpreter, cannot be installed, or cannot be kept in the cache.
    """
    if target.python is not None:
        return replace(target, python=_named(target))
    if target.version is None:
        return target
    wanted = release(target.version, target.name)
    found = _found(wanted) or _made(wanted, interpreter_for(wanted), say)
    return replace(target, python=found.python)


def cached() -> list[Environment]:
    """The environments that are ready, the oldest release first."""
    try:
        folders = list(_root().iterdir())
    except OSError:
        return []
    ready = [found for folder in folders if (found := _read(folder))]
    return sorted(
        ready, key=lambda one: (one.framework, version_key(one.version), one.interpreter.version)
    )


def pruned() -> list[Environment]:
    """Remove every environment but those of the newest kept release of each framework."""
    newest = {one.framework: version_key(one.version) for one in cached()}  # the last one counts
    old = [one for one in cached() if version_key(one.version) < newest[one.framework]]
    for one in old:
        with _locked(one.folder.name, lambda: None):
            _clear(one.folder)
    return old


def _named(target: Target) -> str:
    """The interpreter that `--python` names, by its path or by a name on PATH."""
    python, version, name = target.python or "", target.version, target.name
    if os.path.isdir(python):
        inside = os.path.join(python, "bin", "python")
        raise TargetError(f"--python {python} is a folder: write its interpreter, as {inside}")
    found = shutil.which(python)
    if found is None:
        wrong = "cannot be executed" if os.path.exists(python) else "does not exist"
        raise TargetError(f"--python {python} {wrong}: write the path of an interpreter")
    if version is None:
        return found
    packages = packages_of(found)
    held = packages.get(name) or packages.get(f"{name}-cpu") or ""
    if held.partition("+")[0] != version:
        holds = f"{name} {held}" if held else f"no {name}"
        raise TargetError(
            f"{name}=={version}: {found} holds {holds}: leave out --python to have an "
            "environment made, or leave out the version to ask what is there"
        )
    return found


def _found(wanted: Release) -> Environment | None:
    """The cached environment of a release; of several, the one with the newest Python."""
    fitting = [
        one
        for one in cached()
        if one.requirements == wanted.requirements and one.interpreter.minor in wanted.pythons
    ]
    return fitting[-1] if fitting else None


def _made(wanted: Release, interpreter: Interpreter, say: Say) -> Environment:
    """The environment of a release, which another process may be making right now."""
    folder = _root() / _name(wanted, interpreter)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _locked(folder.name, lambda: say(f"{wanted}: waiting for a run that installs it")):
            found = _read(folder)
            if found is None:
                say(f"{wanted}: installing it for {interpreter}, once: {wanted.size}")
                found = _built(folder, wanted, interpreter, say)
            return found
    except OSError as error:
        raise TargetError(
            f"{wanted} cannot be kept in {folder.parent}: {error.strerror}: "
            "set GRADCONF_CACHE to a folder that can be written"
        ) from error


def _built(folder: Path, wanted: Release, interpreter: Interpreter, say: Say) -> Environment:
    """Make an environment in a folder; where that fails, nothing of it is left."""
    _clear(folder)
    made = Environment(folder, wanted.version, interpreter, wanted.requirements, wanted.framework)
    try:
        call_uv(["venv", "--python", interpreter.path, str(folder)], folder.parent)
        install = ["pip", "install", "--compile-bytecode", "--python", made.python]
        # Compiled at once: no worker could write there later.
        call_uv([*install, *wanted.requirements], folder.parent, lambda it: say(f"{wanted}: {it}"))
        marker = {
            "format": FORMAT,
            "framework": made.framework,
            "version": made.version,
            "interpreter": [interpreter.path, interpreter.version],
            "requirements": made.requirements,
        }
        write_whole(folder / MARKER, json.dumps(marker, indent=2) + "\n")
    except BaseException as error:
        _clear(folder)
        if not isinstance(error, InstallerError):
            raise
        asked = " ".join(wanted.requirements)
        raise TargetError(
            f"{wanted} cannot be installed for {interpreter} (uv pip install {asked}):\n{error}"
        ) from error
    return made


@contextlib.contextmanager
def _locked(name: str, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold a lock of this name, which ends with the process; `waiting` is called if it is held."""
    path = _root().with_name("locks") / name
    path.parent.mkdir(exist_ok=True)
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _read(folder: Path) -> Environment | None:
    """The environment in a folder, or None where it has no good marker or lost its interpreter."""
    try:
        if not is_mine(folder):
            return None  # somebody else's
        marker = json.loads(read_bounded(folder / MARKER, MAX_MARKER))
        if marker["format"] != FORMAT:
            return None
        path, (major, minor, micro) = marker["interpreter"]
        interpreter = Interpreter(str(path), (int(major), int(minor), int(micro)))
        version = str(version_key(marker["version"]))
        requirements = tuple(map(str, marker["requirements"]))
        framework = str(marker.get("framework", Environment.framework))
        found = Environment(folder, version, interpreter, requirements, framework)
        return found if os.access(found.python, os.X_OK) else None
    except (OSError, ValueError, TypeError, KeyError, RecursionError, OverflowError):
        return None


def _clear(folder: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(folder)


def _root() -> Path:
    return cache_folder().absolute() / "environments"


def _name(wanted: Release, interpreter: Interpreter) -> str:
    """The name of a release's folder, with a digest of everything that it is made of."""
    python = ".".join(map(str, interpreter.version))
    key = "\n".join([interpreter.path, python, *wanted.requirements])
    digest = hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"{wanted.framework}-{wanted.version}-python-{python}-{digest}"
