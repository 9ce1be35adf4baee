"""Confinement: what a target's process may not reach, as root and not as root."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

OTHER = ("unshare", "--user", "--map-user=1000", "--map-group=1000")
"""Another user, who may do what any user may, and whose interpreter is in somebody's home."""
GIGABYTE = 2**30
USERS = {"this user": (), "another user": OTHER}


def is_permitted(words: tuple[str, ...]) -> bool:
    if not words:
        return True
    if shutil.which(words[0]) is None:
        return False
    return subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0


@pytest.fixture(params=USERS)
def user(request: pytest.FixtureRequest) -> tuple[str, ...]:
    if not is_permitted(USERS[request.param]):
        pytest.skip("a user namespace is not permitted here")
    return USERS[request.param]


@pytest.fixture
def target(tmp_path: Path) -> Path:
    own = tmp_path / "own"
    own.mkdir()
    (own / "data.txt").write_text("its own")
    (own / "tape.py").write_text("from reference_impl import *\n")
    (tmp_path / "secret.txt").write_text("not its own")
    return own / "tape.py"


def tried(
    user: tuple[str, ...], target: Path, *statements: str, **limits: object
) -> tuple[list[str], list[str]]:
    """What holds, and what came of each statement."""
    words = json.dumps({"target": str(target), "limits": limits, "statements": statements})
    done = subprocess.run(
        [*user, sys.executable, "-m", "tests.drivers.trying", words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    return said["confined"], said["found"]


def test_files_outside_its_own_folder_are_not_written(user: tuple[str, ...], target: Path) -> None:
    outside = [target, target.parent / "new.txt", target.parent.parent / "secret.txt", "/tmp/x"]
    statements = [f"found = open({str(path)!r}, 'a').close()" for path in outside]
    statements.append(f"found = os.mkdir({str(target.parent / 'folder')!r})")
    statements.append(f"found = os.unlink({str(target.parent / 'data.txt')!r})")
    statements.append(f"found = os.truncate({str(target.parent / 'data.txt')!r}, 0)")
    held, found = tried(user, target, *statements)
    assert "files" in held
    assert found == ["'PermissionError'"] * len(statements)
    assert (target.parent / "data.txt").read_text() == "its own"


def test_a_process_has_a_home_of_its_own(user: tuple[str, ...], target: Path) -> None:
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


def test_files_of_others_are_not_read(user: tuple[str, ...], target: Path) -> None:
    other = target.parent.parent / "secret.txt"
    paths = [other, Path.home() / ".profile", "/etc/shadow", Path(__file__).parent.parent.parent]
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


def test_the_network_is_not_reached(user: tuple[str, ...], target: Path, port: int) -> None:
    connect = f"socket.create_connection(('127.0.0.1', {port}), 1).close(); found = 'reached'"
    held, found = tried(user, target, connect)
    assert {"network", "TCP"} & {*held}
    assert found != ["'reached'"]
    assert tried(user, target, connect, confined=False) == ([], ["'reached'"])


def test_memory_files_and_sizes_are_bounded(user: tuple[str, ...], target: Path) -> None:
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


def test_the_memory_of_all_that_a_target_started_is_bounded(
    user: tuple[str, ...], target: Path
) -> None:
    _, (found,) = tried(user, target, CHILDREN, memory=GIGABYTE)
    assert "ended by signal SIGKILL" in found
    assert "it was killed: more than 1024 MB of memory" in found


def test_processes_of_others_are_not_seen(user: tuple[str, ...], target: Path) -> None:
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


def test_what_is_not_confined_reaches_what_its_user_does(
    user: tuple[str, ...], target: Path
) -> None:
    write = f"open({str(target.parent / 'new.txt')!r}, 'w').close(); found = 'written'"
    home = "found = os.environ['HOME']"
    held, found = tried(user, target, write, home, confined=False)
    assert held == []
    assert found == ["'written'", f"'{Path.home()}'"]
