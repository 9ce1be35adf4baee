"""The CPython interpreters of this machine, each asked what it is, and uv, which installs."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from conformance.targets.releases import Release
from conformance.targets.specification import ADAPTED, TargetError

IGNORED = (
    *("VIRTUAL_ENV", "UV_PYTHON", "UV_PYTHON_PREFERENCE", "UV_SYSTEM_PYTHON"),
    *("UV_MANAGED_PYTHON", "UV_NO_MANAGED_PYTHON", "UV_PROJECT", "UV_TARGET", "UV_PREFIX"),
)
"""Settings of uv that would make it use another interpreter than the one it is given.

Where packages come from (index, proxy, certificates, offline) stays the user's choice.
"""
LAST_LINES = 8
FETCHING = ("Downloading ", "Downloaded ", "Building ", "Built ")
"""How the lines begin that uv prints of what it fetches, with its size."""
TIMEOUT = 5.0
"""Seconds for an interpreter to print its version; one that takes longer is passed over."""
NAMES = re.compile(r"python3(\.[0-9]+)?")
WHO = (
    "import json, sys; "
    "print(json.dumps([sys.implementation.name + getattr(sys, 'abiflags', ''), "
    "sys.version_info[:3], sys.executable]))"
)
"""The flags mark free-threaded and debug builds, which no wheel fits."""
PACKAGES = ("tensorflow", "tensorflow-cpu", "numpy", *ADAPTED)
WHAT = f"""
import json
from importlib import metadata
found = {{}}
for name in {PACKAGES}:
    try:
        found[name] = metadata.version(name)
    except metadata.PackageNotFoundError:
        pass
print(json.dumps(found))
"""


@dataclass(frozen=True)
class Interpreter:
    """A CPython interpreter: its path with links resolved, and its version."""

    path: str
    version: tuple[int, int, int]

    @property
    def minor(self) -> str:
        """The version that wheels are made for, such as 3.10."""
        return f"{self.version[0]}.{self.version[1]}"

    def __str__(self) -> str:
        return "CPython " + ".".join(map(str, self.version))


def interpreter_for(release: Release) -> Interpreter:
    """The newest interpreter that a release has a wheel for; raises TargetError for none."""
    found = installed()
    fitting = [one for one in found if one.minor in release.pythons]
    if not fitting:
        raise TargetError(_nothing_fits(release, found))
    return max(fitting, key=lambda one: one.version)


def installed() -> list[Interpreter]:
    """The CPythons on PATH, of pyenv and of uv, each once."""
    candidates = list(dict.fromkeys(_candidates()))
    with ThreadPoolExecutor(4) as asking:
        answers = [one for one in asking.map(ask, candidates) if one]
    return list({one.path: one for one in answers}.values())


def ask(path: str) -> Interpreter | None:
    """The interpreter at a path, or None where no CPython that takes wheels answers in time."""
    try:
        kind, (major, minor, micro), executable = json.loads(printed([path, "-ISc", WHO], TIMEOUT))
        version = int(major), int(minor), int(micro)
        return Interpreter(os.path.realpath(executable), version) if kind == "cpython" else None
    except (TypeError, ValueError):
        return None


def packages_of(python: str) -> dict[str, str]:
    """The versions of PACKAGES that an interpreter has; raises TargetError if it is none."""
    try:
        found: dict[str, str] = json.loads(printed([python, "-Ic", WHAT], 60.0))
    except ValueError:
        raise TargetError(f"{python} does not answer as a Python interpreter does") from None
    return found


def printed(words: Sequence[str], timeout: float, **variables: str) -> str:
    """What a program prints; nothing where it fails, or does not end in time."""
    try:
        process = subprocess.Popen(
            words,
            env={**neutral_environment(), **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError:
        return ""
    with process:
        try:
            text, _ = process.communicate(timeout=timeout)
        except BaseException as error:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                return ""
            raise
    return "" if process.returncode else text


def _candidates() -> Iterator[str]:
    yield sys.executable
    for folder in os.get_exec_path():
        yield from (str(path) for path in _listed(folder) if NAMES.fullmatch(path.name))
    pyenv = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    for folder in map(str, _listed(os.path.join(pyenv, "versions"))):
        yield os.path.join(folder, "bin", "python3")
    yield from _kept_by_uv()


def _listed(folder: str) -> list[Path]:
    try:
        return sorted(Path(folder or ".").absolute().iterdir())
    except OSError:
        return []


def _kept_by_uv() -> list[str]:
    """The interpreters that uv installed; an empty PATH keeps it from searching there again."""
    words = ["python", "list", "--only-installed", "--managed-python", "--output-format", "json"]
    try:
        listed = json.loads(printed([uv_program(), *words], 20.0, PATH=""))
        return [str(one["path"]) for one in listed if one["path"]]
    except (TargetError, ValueError, TypeError, KeyError):
        return []


def _nothing_fits(release: Release, found: Sequence[Interpreter]) -> str:
    *others, last = release.pythons
    needed = f"{', '.join(others)} or {last}" if others else last
    versions = [".".join(map(str, version)) for version in sorted({one.version for one in found})]
    return (
        f"{release} needs CPython {needed}; found {', '.join(versions) or 'none'}: install one "
        f"(uv python install {last}), or name an environment that holds it with --python PATH"
    )


# ----- uv, the program that makes environments -----


class InstallerError(Exception):
    """uv ran and refused; the message is the end of what it said."""


def uv_program() -> str:
    """The path of uv; raises TargetError where it is not installed."""
    try:
        from uv import find_uv_bin

        return find_uv_bin()
    except (ImportError, FileNotFoundError):
        found = shutil.which("uv")
    if found is None:
        raise TargetError("uv, which makes environments, is not installed: pip install uv")
    return found


def neutral_environment() -> dict[str, str]:
    """The environment variables for uv and interpreters: none of IGNORED, and no downloads."""
    kept = {name: value for name, value in os.environ.items() if name not in IGNORED}
    return {**kept, "UV_PYTHON_DOWNLOADS": "never", "UV_NO_PROGRESS": "1", "NO_COLOR": "1"}


def call_uv(words: Sequence[str], folder: Path, say: Callable[[str], None] | None = None) -> None:
    """Run uv in a folder that is not the user's project; raises InstallerError where it fails.

    With `say` it tells what it fetches: on a terminal uv itself draws how far it is.
    """
    command, variables = [uv_program(), *words], neutral_environment()
    drawn = say is not None and sys.stderr.isatty()
    if drawn:
        del variables["UV_NO_PROGRESS"]
    try:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=None if drawn else subprocess.STDOUT,
            text=True,
            errors="replace",
        )
    except OSError as error:
        raise InstallerError(f"{command[0]} cannot be started: {error.strerror}") from error
    last: deque[str] = deque(maxlen=LAST_LINES)
    with process:
        try:
            for line in filter(None, map(str.strip, process.stdout or ())):
                last.append(line)
                if say and line.startswith(FETCHING):
                    say(line)
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        raise InstallerError("\n".join(last) or f"exit code {process.returncode}")
