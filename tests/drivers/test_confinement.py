"""Confinement: what a target's process may not reach, whoever it is, with and without walls."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from tests.cases import make_corpus
from tests.faults.processes import MARK, left

MAPPED = ("unshare", "--user", "--map-user=1000", "--map-group=1000")
"""Another user by name alone, who may do what any user may."""
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
GIGABYTE = 2**30
ROOT = Path(__file__).parent.parent.parent


class User(NamedTuple):
    """Whose processes: the words that begin a command, an interpreter, and a home."""

    words: tuple[str, ...]
    python: str
    home: Path

    def runs(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """A command of this user, in this repository."""
        return subprocess.run(
            [*self.words, *words],
            capture_output=True,
            text=True,
            check=False,
            cwd=ROOT,
            env={**os.environ, "HOME": str(self.home), "PYTHONPATH": str(ROOT), **environment},
        )


@pytest.fixture(scope="module")
def shared() -> Iterator[Path]:
    """A folder where every user may write: else it is the file system that refuses."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        yield Path(folder)


@pytest.fixture(scope="module")
def nobody(shared: Path) -> User:
    """A user who is not root, with an environment and its packages in his home folder."""
    system = f"/usr/bin/python3.{sys.version_info.minor}"
    user = User(NOBODY, str(shared / "home" / "env" / "bin" / "python"), shared / "home")
    user.home.mkdir()
    os.chmod(user.home, 0o777)
    if not Path(system).exists() or user.runs(system, "-c", "import conformance").returncode:
        pytest.skip("there is no other user here, or none who may read this repository")
    done = user.runs(system, "-m", "venv", "--without-pip", str(user.home / "env"))
    assert done.returncode == 0, done.stderr
    (packages,) = user.home.glob("env/lib/python*/site-packages")
    (packages / "beside.pth").write_text(str(Path(np.__file__).parent.parent))
    return user


@pytest.fixture(params=["this user", "another user", "nobody"])
def user(request: pytest.FixtureRequest) -> User:
    if request.param == "nobody":
        return request.getfixturevalue("nobody")
    user = User(MAPPED if request.param == "another user" else (), sys.executable, Path.home())
    if user.words and (not shutil.which("unshare") or user.runs("true").returncode):
        pytest.skip("a user namespace is not permitted here")
    return user


@pytest.fixture
def target(shared: Path) -> Iterator[Path]:
    own = shared / "target" / "own"
    own.mkdir(parents=True)
    (own / "data.txt").write_text("its own")
    (own / "tape.py").write_text("from reference_impl import *\n")
    (own.parent / "secret.txt").write_text("not its own")
    for path in (own.parent, *own.parent.rglob("*")):
        path.chmod(0o777)
    yield own / "tape.py"
    shutil.rmtree(own.parent)


def tried(
    user: User, target: Path, *statements: str, lacking: str = "", **limits: object
) -> tuple[list[str], list[str]]:
    """What holds, and what came of each statement."""
    words = json.dumps({"target": str(target), "limits": limits, "statements": statements})
    python = user.python
    bare = [python, "-m", "tests.drivers.bare_kernel", lacking] if lacking else []
    done = user.runs(*bare, python, "-m", "tests.drivers.trying", words)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    return said["confined"], said["found"]


def test_files_outside_its_own_folder_are_not_written(user: User, target: Path) -> None:
    outside = [target, target.parent / "new.txt", target.parent.parent / "secret.txt", "/tmp/x"]
    statements = [f"found = open({str(path)!r}, 'a').close()" for path in outside]
    statements.append(f"found = os.mkdir({str(target.parent / 'folder')!r})")
    statements.append(f"found = os.unlink({str(target.parent / 'data.txt')!r})")
    statements.append(f"found = os.truncate({str(target.parent / 'data.txt')!r}, 0)")
    held, found = tried(user, target, *statements)
    assert "files" in held
    assert found == ["'PermissionError'"] * len(statements)
    assert (target.parent / "data.txt").read_text() == "its own"


def test_a_process_has_a_home_of_its_own(user: User, target: Path) -> None:
    statements = [
        f"p = os.path.expanduser('~/{name}'); open(p, 'w').write('a'); found = open(p).read()"
        for name in ("a", "b")
    ]
    statements.append("found = tempfile.mkdtemp()")
    statements += [f"found = os.environ[{name!r}]" for name in ("HOME", "TMPDIR", "KERAS_HOME")]
    _, found = tried(user, target, *statements)
    assert found[:2] == ["'a'", "'a'"]
    folder = Path(found[-1].strip("'"))
    assert {*found[3:]} == {f"'{folder}'"}
    assert found[2].startswith(f"'{folder}/")
    assert not folder.exists()


def test_files_of_others_are_not_read(user: User, target: Path) -> None:
    other = target.parent.parent / "secret.txt"
    paths = [other, user.home / ".profile", "/etc/shadow", Path(__file__).parent.parent.parent]
    statements = [f"found = open({str(path)!r}).read()" for path in paths[:3]]
    statements.append(f"found = str(os.listdir({str(target.parent.parent)!r}))")
    statements.append("found = open('/proc/1/environ').read()")
    own = f"found = open({str(target.parent / 'data.txt')!r}).read()"
    _, found = tried(user, target, *statements, own)
    assert {*found[:-1]} <= {"'PermissionError'", "'FileNotFoundError'"}
    assert found[0] == found[3] == "'PermissionError'"
    assert found[-1] == "'its own'"


@pytest.fixture
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_the_network_is_not_reached(user: User, target: Path, port: int) -> None:
    connect = f"socket.create_connection(('127.0.0.1', {port}), 1).close(); found = 'reached'"
    held, found = tried(user, target, connect)
    assert {"network", "TCP"} & {*held}
    assert found != ["'reached'"]
    assert tried(user, target, connect, confined=False) == ([], ["'reached'"])


def test_memory_files_and_sizes_are_bounded(user: User, target: Path) -> None:
    held, found = tried(
        user,
        target,
        "found = str(len(bytearray(3 * 2**30)))",
        "found = [open('/dev/null') for _ in range(5000)] and ''",
        "found = os.truncate(open(os.path.expanduser('~/a'), 'w').fileno(), 2**29)",
        "found = str(len(bytearray(2**20)))",
        memory=2 * GIGABYTE,
    )
    assert {"memory", "file size", "open files"} <= {*held}
    assert found == ["'MemoryError'", "'OSError'", "'OSError'", "'1048576'"]


CHILDREN = """
for _ in range(4):
    if os.fork() == 0:
        kept = b'-' * 400_000_000
        time.sleep(60)
time.sleep(60)
found = ''
"""


def test_the_memory_of_all_that_a_target_started_is_bounded(user: User, target: Path) -> None:
    _, (found,) = tried(user, target, CHILDREN, memory=GIGABYTE)
    assert "ended by signal SIGKILL" in found
    assert "it was killed: more than 1024 MB of memory" in found


GROUPS = "found = open('/proc/self/cgroup').read()"
THREADS = """
import threading
threading.stack_size(2**16)
for _ in range(5000):
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
found = 'started'
"""


@pytest.mark.parametrize("user", ["this user", "nobody"], indirect=True)
def test_the_number_of_processes_is_bounded(user: User, target: Path) -> None:
    held, found = tried(user, target, THREADS, memory=2 * GIGABYTE)
    if {"control group", "control group (processes)", "number of processes"}.isdisjoint(held):
        pytest.skip("of root no process is refused, and no control group can be made")
    assert found == ["'RuntimeError'"]


def test_a_control_group_ends_with_its_worker(target: Path) -> None:
    held, (found,) = tried(User((), sys.executable, Path.home()), target, GROUPS)
    if "control group" not in " ".join(held):
        pytest.skip("no control group can be made")
    paths = re.findall(r"/gradconf-\w+", found)
    assert paths
    assert not [path for path in paths if list(Path("/sys/fs/cgroup").rglob(path[1:]))]


def test_processes_of_others_are_not_seen(user: User, target: Path) -> None:
    other = subprocess.Popen(["sleep", "60"])
    kill = f"os.kill({other.pid}, 9); found = 'killed'"
    try:
        held, found = tried(user, target, kill)
        assert "processes" in held
        assert found in (["'ProcessLookupError'"], ["'PermissionError'"])
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_what_is_not_confined_reaches_what_its_user_does(user: User, target: Path) -> None:
    write = f"open({str(target.parent / 'new.txt')!r}, 'w').close(); found = 'written'"
    home = "found = os.environ['HOME']"
    held, found = tried(user, target, write, home, confined=False)
    assert held == []
    assert found == ["'written'", f"'{user.home}'"]


KILLS_ITS_KEEPER = """
if os.fork() == 0:
    os.setsid()
    time.sleep(3600)
time.sleep(0.1)
os.kill(os.getppid(), 9)
time.sleep(3600)
found = ''
"""
KERNELS = [
    *(("this user", lacking) for lacking in ("landlock", "namespaces", "landlock,namespaces")),
    *((user, "landlock,namespaces") for user in ("another user", "nobody")),
]
on_kernels = pytest.mark.parametrize(("user", "lacking"), KERNELS, indirect=True)


@pytest.fixture
def lacking(request: pytest.FixtureRequest) -> str:
    """What a kernel does not have."""
    words = [sys.executable, "-m", "tests.drivers.bare_kernel", request.param, "true"]
    if subprocess.run(words, check=False, cwd=ROOT, stderr=subprocess.DEVNULL).returncode:
        pytest.skip("no kernel without these can be had here")
    return request.param


@on_kernels
def test_what_a_kernel_has_holds_without_the_rest(
    user: User, target: Path, port: int, lacking: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = uuid.uuid4().hex
    monkeypatch.setenv(MARK, mark)
    statements = (
        f"open({str(target.parent / 'new.txt')!r}, 'w').close(); found = 'written'",
        f"socket.create_connection(('127.0.0.1', {port}), 1).close(); found = 'reached'",
        "found = str(len(bytearray(3 * 2**30)))",
        KILLS_ITS_KEEPER,
    )
    held, found = tried(user, target, *statements, lacking=lacking, memory=2 * GIGABYTE)
    usual, _ = tried(user, target)
    files = "files" in usual and "landlock" not in lacking
    apart = "processes" in usual and "namespaces" not in lacking
    assert {"memory", "file size", "open files"} <= {*held}
    assert ("files" in held, "TCP" in held) == (files, files)
    assert ("processes" in held, "network" in held) == (apart, apart)
    assert found[0] == ("'PermissionError'" if files else "'written'")
    assert (found[1] == "'reached'") == (not files and not apart)
    assert found[2] == "'MemoryError'"
    assert left(mark) == []


@on_kernels
def test_one_line_says_what_there_is_no_wall_for(user: User, shared: Path, lacking: str) -> None:
    folder = Path(tempfile.mkdtemp(dir=shared))
    folder.chmod(0o777)
    words = ["-m", "tests.drivers.bare_kernel", lacking, user.python, "-m", "conformance.cli"]
    words += ["run", "reference", "-q", "-j1", "--corpus", str(make_corpus(folder))]
    done = user.runs(user.python, *words, "--output", str(folder / "run.jsonl"))
    assert done.returncode == 0, done.stdout + done.stderr
    held = re.findall(r'"confined":(\[.*?\])', (folder / "run.jsonl").read_text())[0]
    walls = {"your files": '"files"' in held, "the network": '"network"' in held or '"TCP"' in held}
    reached = " and ".join(what for what, wall in walls.items() if not wall)
    told = f"this platform does not keep targets from {reached} (docs/trust.md)"
    said = [line for line in done.stderr.splitlines() if "platform" in line]
    assert said == ([told] if reached else [])
    assert bool(reached) == ("landlock" in lacking)
