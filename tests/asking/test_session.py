"""A worker that dies, hangs, talks nonsense or cannot start: each is told apart, and none stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.asking.session import (
    Session,
    WorkerCrashed,
    WorkerError,
    WorkerHung,
    last_words,
)
from conformance.drivers import Limits
from conformance.targets.specification import parse_target
from tests.asking.making import broken
from tests.faults.processes import MARK, keepers_of, left, workers_of

SOURCE = """x = tf.constant(3.0)


def case(x):
    with tf.GradientTape() as t:
        t.watch(x)
        y = x * x
    g = t.gradient(y, x)
    return {'g': g}
"""


def request(source: str = SOURCE, mode: str = "eager") -> dict[str, object]:
    return {
        "cell": 1,
        "name": "area/topic/name",
        "source": source,
        "parameters": ["x"],
        "convert": False,
        "mode": mode,
        "observe": ["g"],
        "isolated": False,
    }


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    opened = Session(parse_target("reference"))
    yield opened
    opened.close()


def processes_named(words: str) -> list[str]:
    listed = subprocess.run(
        ["ps", "-ww", "-eo", "pid,args"], capture_output=True, text=True, check=True
    )
    return [line for line in listed.stdout.splitlines() if words in line]


def test_a_worker_says_what_it_is_and_answers(session: Session) -> None:
    about = session.start()
    assert about["ready"] is True
    reply = session.ask(request(), 20)
    assert reply["observations"]["g"]["text"] == "6.0"
    assert reply["error"] is None


def test_an_error_of_the_program_is_an_observation(session: Session) -> None:
    session.start()
    reply = session.ask(request(SOURCE.replace("x * x", "x * missing")), 20)
    assert reply["error"]["type"] == "NameError"
    assert reply["error"]["line"] == 7
    assert reply["error"]["phase"] == "run"
    assert reply["observations"] == {}


def test_a_broken_text_is_an_error_of_its_definition(session: Session) -> None:
    session.start()
    reply = session.ask(request("def case(:"), 20)
    assert (reply["error"]["type"], reply["error"]["phase"]) == ("SyntaxError", "define")


def test_inputs_are_made_anew_for_each_cell(session: Session) -> None:
    session.start()
    source = SOURCE.replace("x = tf.constant(3.0)", "x = tf.Variable(3.0)")
    source = source.replace("    g = ", "    x.assign_add(1.0)\n    g = ")
    for _ in range(2):
        assert session.ask(request(source), 20)["observations"]["g"]["text"] == "6.0"


def test_a_worker_that_aborts_is_a_crash_with_its_signal() -> None:
    session = Session(broken("dies"))
    session.start()
    with pytest.raises(WorkerCrashed, match="SIGABRT"):
        session.ask(request(), 20)
    assert not session.is_idle


def test_a_worker_that_hangs_is_killed() -> None:
    session = Session(broken("hangs"))
    session.start()
    started = time.monotonic()
    with pytest.raises(WorkerHung, match=r"0\.5 seconds"):
        session.ask(request(), 0.5)
    assert time.monotonic() - started < 10
    assert not session.is_idle


def test_a_worker_can_be_started_again_after_it_died() -> None:
    session = Session(broken("dies"))
    for _ in range(2):
        session.start()
        with pytest.raises(WorkerCrashed):
            session.ask(request(), 20)


def test_what_a_worker_started_ends_with_it() -> None:
    session = Session(broken("leaves_children"))
    session.start()
    with pytest.raises(WorkerHung):
        session.ask(request(), 2.0)
    deadline = time.monotonic() + 10
    while processes_named("gradconf-test-child") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert processes_named("gradconf-test-child") == []


def test_noise_on_stdout_does_not_reach_the_conversation() -> None:
    session = Session(broken("prints_noise"))
    session.start()
    assert session.ask(request(), 20)["observations"]["g"]["text"] == "6.0"
    session.close()


def test_a_target_that_cannot_be_imported_says_why() -> None:
    with pytest.raises(WorkerError, match=r"cannot be imported.*libmissing\.so"):
        Session(broken("cannot_be_imported")).start()


def test_an_interpreter_that_does_not_exist_is_named() -> None:
    target = parse_target("tensorflow", python="/no/such/python")
    with pytest.raises(WorkerError, match="/no/such/python cannot be started"):
        Session(target).start()


def test_an_interpreter_that_is_none_did_not_start(tmp_path: Path) -> None:
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\necho not a worker\nexit 3\n")
    fake.chmod(0o755)
    with pytest.raises(WorkerError, match="exit code 3; last output: not a worker"):
        Session(parse_target("tensorflow", python=str(fake))).start()


@pytest.mark.parametrize("words", ["hello", "[1, 2]", '{"cell": 99}', "null", "[" * 100_000])
def test_a_reply_that_is_none_is_refused(tmp_path: Path, words: str) -> None:
    fake = tmp_path / "python"
    reply = tmp_path / "reply"
    reply.write_text(words + "\n")
    fake.write_text(f'#!/bin/bash\ncat {reply} >&"$2"\nsleep 60\n')
    fake.chmod(0o755)
    with pytest.raises(WorkerError, match="reply"):
        Session(parse_target("tensorflow", python=str(fake))).start()


def test_descriptors_are_not_leaked() -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        session = Session(parse_target("reference"))
        session.start()
        session.close()
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_value_that_cannot_be_looked_at_is_no_crash(session: Session) -> None:
    session.start()
    source = SOURCE.replace("    return", "    g = np.array([g, None], dtype=object)\n    return")
    reply = session.ask(request(source), 20)
    assert reply["observations"]["g"] == {"kind": "other", "type": "ndarray of objects"}


def worker_of(mark: str) -> int:
    (worker,) = workers_of(mark, os.getpid())
    return worker


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(MARK, mark := uuid.uuid4().hex)
    return mark


def test_a_worker_that_ended_between_two_cells_is_not_asked(mark: str, session: Session) -> None:
    session.start()
    assert session.is_idle
    os.kill(worker_of(mark), signal.SIGKILL)
    assert left(mark) == []
    assert not session.is_idle


def test_a_worker_that_does_not_read_is_killed(mark: str, session: Session) -> None:
    session.start()
    os.kill(worker_of(mark), signal.SIGSTOP)
    with pytest.raises(WorkerHung):
        session.ask(request(SOURCE + "#" * 1_000_000), 0.5)
    assert left(mark) == []


def test_where_memory_runs_out_a_worker_goes_before_its_host(session: Session) -> None:
    session.start()
    source = SOURCE.replace(
        "    return", "    g = open('/proc/self/oom_score_adj').read()\n    return"
    )
    reply = session.ask(request(source), 20)
    assert int(reply["observations"]["g"]["value"].strip("'\\n")) >= 500


def log_of(mark: str) -> Path:
    """The file that a worker's keeper logs to."""
    (keeper,) = keepers_of(mark, os.getpid())
    return Path(f"/proc/{keeper}/fd/1")


PRINTS = """
    def prints():
        import os
        while True:
            os.write(1, b'-' * 1_000_000)

    import threading
    threading.Thread(target=prints, daemon=True).start()
    return"""


def test_a_worker_that_prints_without_end_does_not_fill_the_disk(
    mark: str, session: Session
) -> None:
    session.start()
    assert session.ask(request(SOURCE.replace("    return", PRINTS)), 20)["error"] is None
    for _ in range(20):  # nobody waits for the worker meanwhile
        time.sleep(0.05)
        assert log_of(mark).stat().st_blocks * 512 < 18_000_000
    assert session.ask(request(), 20)["error"] is None


SLOW_TO_SEE = """
import os, time
see = os.getppid

def getppid():
    seen = see()
    time.sleep(1.0)
    return seen

os.getppid = getppid
"""
STARTS = """
from conformance.asking.session import Session
from conformance.targets.specification import parse_target
Session(parse_target("reference")).start()
"""


def test_a_host_that_is_killed_while_a_worker_starts_leaves_no_folder(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(SLOW_TO_SEE)
    (tmp_path / "folders").mkdir()
    path = os.pathsep.join([str(tmp_path), *sys.path])
    places = {"PYTHONPATH": path, "TMPDIR": str(tmp_path / "folders"), MARK: uuid.uuid4().hex}
    host = subprocess.Popen([sys.executable, "-c", STARTS], env={**os.environ, **places})
    while not list((tmp_path / "folders").iterdir()):
        assert host.poll() is None, "it ended before it started a worker"
        time.sleep(0.01)
    time.sleep(0.5)
    host.kill()
    host.wait()
    assert left(places[MARK]) == []
    assert list((tmp_path / "folders").iterdir()) == []


LEAVES = """
    import os, time
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(3600)
        os._exit(0)
    return"""


@pytest.mark.parametrize("confined", [True, False])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_where_a_keeper_is_killed_nothing_of_its_target_is_left(
    mark: str, confined: bool, number: int
) -> None:
    session = Session(parse_target("reference"), Limits(confined))
    session.start()
    assert session.ask(request(SOURCE.replace("    return", LEAVES)), 20)["error"] is None
    os.kill(*keepers_of(mark, os.getpid()), number)
    with pytest.raises(WorkerCrashed):
        session.ask(
            request(SOURCE.replace("    return", "    import time; time.sleep(20)\n    return")), 30
        )
    assert left(mark, 5.0) == []


LOGS = {
    "nothing": ("", ""),
    "a line": ("not a worker\n", "; last output: not a worker"),
    "tensorflow's log": (
        "2026-11-22 02:29:01.123456: F tensorflow/core/tensor.cc:733] Check failed: 1 == 2\n",
        ": F tensorflow/core/tensor.cc:733] Check failed: 1 == 2",
    ),
    "absl's log": (
        "F0000 00:00:1763778541.123456   12345 tensor.cc:12] Check failed: dims (0 vs. 1)\n",
        ": tensor.cc:12] Check failed: dims (0 vs. 1)",
    ),
    "absl's other log": (
        "F1122 02:29:01.123456 12345 tensor.cc:12] Check failed: true\n",
        ": tensor.cc:12] Check failed: true",
    ),
    "a signal": (
        "*** SIGABRT received by PID 9 (TID 11) on cpu 1 ***\n    @ 0x7f12  abort\n",
        "; last output: *** SIGABRT received by PID  (TID ) on cpu 1 ***\n@ # abort",
    ),
    "a traceback": (
        "noise\nTraceback (most recent call last):\n"
        + "".join(f'  File "a.py", line {n}, in f\n' for n in range(20))
        + "pkg.errors.OpError: no kernel\nwhile it ended\n",
        ": pkg.errors.OpError: no kernel; last output: "
        + "\n".join(f'File "a.py", line {n}, in f' for n in range(14, 20))
        + "\nwhile it ended",
    ),
}


@pytest.mark.parametrize("name", LOGS)
def test_a_crash_tells_the_exception_and_the_last_lines(name: str) -> None:
    log, said = LOGS[name]
    assert last_words(log) == said


def test_a_crash_tells_little_of_a_long_log() -> None:
    assert len(last_words("x" * 100_000 + "\nValueError: " + "y" * 100_000)) < 5_000
