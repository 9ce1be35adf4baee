"""Writing records: one run at a time, whole or as it was, and nothing is replaced by nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.answers.answer import Answer
from conformance.asking.ask import ORACLE
from conformance.asking.events import Answered, Cell
from conformance.asking.record import RecordError, read_record
from conformance.asking.record_writer import Kept, RecordLock, RecordWriter

CELL = Cell("a/b/c", "reference", "eager")
CRASHED = Answered(CELL, "old program", Answer("crash", detail="SIGABRT"))
HOLDER = """
import sys
from pathlib import Path
from conformance.asking.record_writer import RecordLock
RecordLock(Path(sys.argv[1]))
print("locked", flush=True)
sys.stdin.read()
"""


def opened(path: Path, kept: Kept | None = None) -> RecordWriter:
    return RecordWriter(path, [], [ORACLE], ["run"], kept=kept)


def finished(writer: RecordWriter) -> None:
    writer.finish(complete=True, reason="", seconds=1.0)


def test_a_second_run_is_refused_with_the_first_ones_process(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    assert holder.stdin is not None
    assert holder.stdout.readline() == b"locked\n"
    try:
        with pytest.raises(RecordError, match=f"process {holder.pid} is writing it"):
            opened(path)
        (tmp_path / "link.jsonl").symlink_to(path)
        with pytest.raises(RecordError, match=f"process {holder.pid} is writing it"):
            opened(tmp_path / "link.jsonl")
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.communicate()
    finished(opened(path))
    assert [file.name for file in tmp_path.iterdir() if not file.is_symlink()] == ["r.jsonl"]


def test_a_record_that_was_written_can_be_written_again(tmp_path: Path) -> None:
    for _ in range(2):
        writer = opened(tmp_path / "r.jsonl")
        with pytest.raises(RecordError, match=f"process {os.getpid()} is writing it"):
            RecordLock(tmp_path / "r.jsonl")
        finished(writer)
    assert read_record(tmp_path / "r.jsonl").complete


@pytest.mark.parametrize("name", ["folder", "pipe"])
def test_what_is_no_file_is_not_written(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(RecordError, match="not a regular file"):
        opened(tmp_path / name)


def test_a_record_keeps_its_permissions_and_its_link(tmp_path: Path) -> None:
    path, link = tmp_path / "r.jsonl", tmp_path / "link.jsonl"
    path.touch(0o600)
    link.symlink_to(path)
    finished(opened(link))
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_record(path).complete


FULL_DISK = """
import resource, sys
from pathlib import Path
from conformance.asking.ask import ORACLE
from conformance.asking.record_writer import RecordWriter
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
RecordWriter(Path(sys.argv[1]), [], [ORACLE], ["run"])
"""


def test_a_failed_write_leaves_what_was_there_and_no_litter(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text("precious\n")
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, check=False
    )
    assert "r.jsonl: cannot be written: File too large" in done.stderr
    assert path.read_text() == "precious\n"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("outcome", "due"),
    [("not_run", "old program"), ("answered", "new program"), (None, "old program")],
)
def test_an_answer_is_not_replaced_by_none(tmp_path: Path, outcome: str | None, due: str) -> None:
    writer = opened(tmp_path / "r.jsonl", Kept(replaced={CELL: CRASHED}))
    if outcome:
        writer.write(Answered(CELL, "new program", Answer(outcome)))
    finished(writer)
    (answered,) = read_record(tmp_path / "r.jsonl").answers
    assert answered.program == due


def test_the_targets_of_a_kept_record_are_asked_in_the_new_one(tmp_path: Path) -> None:
    kept = Kept(asked={"reference": ["graph"], "./tape.py": ["eager"]}, beside=[CRASHED])
    finished(opened(tmp_path / "r.jsonl", kept))
    record = read_record(tmp_path / "r.jsonl")
    assert record.asked == {"reference": ("eager", "graph"), "./tape.py": ("eager",)}
    assert list(record.answers) == [CRASHED]
