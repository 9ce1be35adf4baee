"""Records: what is written is read back exactly; what is damaged is named, never a traceback."""

from __future__ import annotations

import gzip
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.answers.answer import Answer, NotReached, Raised, Tensor
from conformance.asking import record as reading
from conformance.asking.ask import ORACLE
from conformance.asking.events import Answered, Cell, TargetFailed, TargetReady
from conformance.asking.record import RecordError, read_record
from conformance.asking.record_writer import RecordWriter
from conformance.corpus.language.loader import load_text
from tests.asking.making import TEXT

TENSOR = Tensor(np.float32(6.0) * np.ones((), np.float32), "float32")
ERROR = Raised("ValueError", ("ValueError",), "no")
EVENTS = [
    TargetReady("reference", {"version": "0.1.0"}),
    TargetFailed("tensorflow", "no module"),
    Answered(Cell("a/b/c", "reference", "eager"), "hash", Answer("answered", {"g": TENSOR})),
    Answered(
        Cell("a/b/d", "reference", "eager"),
        "hash",
        Answer("answered", {"g": NotReached()}, ERROR, ("careful",), "", 0.5),
    ),
    Answered(
        Cell("a/b/e", "reference", "eager"), "hash", Answer("crash", detail="SIGABRT"), "declared"
    ),
]


def write(path: Path, *, finish: bool = True) -> Path:
    writer = RecordWriter(path, load_text(TEXT), [ORACLE], ["run", "reference"])
    for event in EVENTS:
        writer.write(event)
    if finish:
        writer.finish(complete=True, reason="", seconds=1.0)
    writer.close()
    return path


@pytest.mark.parametrize("name", ["run.jsonl", "run.jsonl.gz"])
def test_a_record_is_read_back_as_it_was_written(tmp_path: Path, name: str) -> None:
    record = read_record(write(tmp_path / name))
    assert list(record.answers) == EVENTS[2:]
    assert record.targets == {"reference": {"version": "0.1.0"}}
    assert record.failed == {"tensorflow": "no module"}
    assert record.complete
    assert record.header["corpus"]["cases"] == 3


def test_a_finished_record_is_compressed_as_one(tmp_path: Path) -> None:
    path = write(tmp_path / "run.jsonl.gz")
    assert path.stat().st_size <= len(gzip.compress(gzip.decompress(path.read_bytes()))) + 40
    assert write(tmp_path / "cut.jsonl.gz", finish=False).stat().st_size > path.stat().st_size


def test_repetitions_stand_beside_the_answer_that_they_repeat(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    writer = RecordWriter(path, load_text(TEXT), [ORACLE], [])
    first = Answered(Cell("a/b/c", "reference", "eager"), "hash", Answer("crash", detail="SIGSEGV"))
    again = [replace(first, repeat=1), replace(first, repeat=2, answer=Answer("answered"))]
    for event in (first, *again):
        writer.write(event)
    writer.finish(complete=True, reason="", seconds=1.0)
    writer.close()
    record = read_record(path)
    assert (record.answers, record.repeats) == ((first,), {first.cell: again})
    assert record.complete


def test_a_changed_byte_is_named_with_its_line(tmp_path: Path) -> None:
    path = write(tmp_path / "run.jsonl")
    whole = path.read_bytes()
    for position in range(0, len(whole), 7):
        changed = bytearray(whole)
        changed[position] ^= 1
        path.write_bytes(changed)
        line = whole[:position].count(b"\n") + 1
        try:
            record = read_record(path)
            assert not record.complete
            said = record.reason
        except RecordError as error:
            said = str(error)
        assert f":{line}: " in said or f"in line {line}" in said, (position, said)


def test_what_a_damaged_line_held_is_left_out(tmp_path: Path) -> None:
    path = write(tmp_path / "run.jsonl")
    path.write_text(path.read_text().replace("SIGABRT", "SIGSEGV"))
    record = read_record(path)
    assert [answered.cell.case for answered in record.answers] == ["a/b/c", "a/b/d"]
    assert record.reason == "damaged: not what was written in line 6"


def swapped(lines: list[bytes]) -> list[bytes]:
    return [*lines[:3], lines[4], lines[3], *lines[5:]]


@pytest.mark.parametrize(
    "change",
    [
        swapped,
        lambda lines: [*lines[:2], *lines[3:]],
        lambda lines: [*lines, lines[1]],
        lambda lines: [*lines[:2], lines[1], *lines[2:]],
    ],
    ids=["swapped", "removed", "behind the footer", "twice"],
)
def test_lines_that_were_moved_make_a_record_damaged(tmp_path: Path, change) -> None:
    path = write(tmp_path / "run.jsonl")
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))
    record = read_record(path)
    assert not record.complete
    assert "damaged: lines are missing, added or in another order" in record.reason


def without_checksums(path: Path) -> Path:
    """The record as it was written before there were checksums."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        del line["sum"]
    del lines[-1]["footer"]["all"]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_a_record_of_before_checksums_is_read_without(tmp_path: Path) -> None:
    record = read_record(without_checksums(write(tmp_path / "run.jsonl")))
    assert list(record.answers) == EVENTS[2:]
    assert record.complete


def test_a_record_that_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    for path, words in ((tmp_path / "pipe.jsonl", "not a regular file"), (tmp_path, "directory")):
        with pytest.raises(RecordError, match=words):
            read_record(path)


def test_a_record_that_is_small_only_while_compressed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl.gz"
    with gzip.open(path, "wb") as file:
        for _ in range(reading.MAX_LINE // 1_000_000 + 1):
            file.write(b" " * 1_000_000)
    with pytest.raises(RecordError, match="a line of more than"):
        read_record(path)


def test_a_record_that_is_too_long_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MAX_LENGTH", 500)
    with pytest.raises(RecordError, match=r"run\.jsonl:\d: longer than 500 bytes"):
        read_record(write(tmp_path / "run.jsonl"))


@pytest.mark.parametrize("name", ["run.jsonl", "run.jsonl.gz"])
def test_a_record_without_footer_is_truncated_and_says_so(tmp_path: Path, name: str) -> None:
    record = read_record(write(tmp_path / name, finish=False))
    assert not record.complete
    assert "truncated" in record.reason
    assert len(record.answers) == 3


def test_a_half_written_line_is_not_an_answer(tmp_path: Path) -> None:
    path = write(tmp_path / "run.jsonl")
    text = path.read_text()
    path.write_text(text[: text.index('"a/b/e"') + 9])
    record = read_record(path)
    assert len(record.answers) == 2
    assert not record.complete


def test_a_cut_compressed_record_is_truncated(tmp_path: Path) -> None:
    path = write(tmp_path / "run.jsonl.gz")
    path.write_bytes(path.read_bytes()[:-12])
    assert not read_record(path).complete


def test_a_missing_cell_makes_a_record_damaged(tmp_path: Path) -> None:
    path = without_checksums(write(tmp_path / "run.jsonl"))
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line for line in lines if '"a/b/d"' not in line))
    record = read_record(path)
    assert not record.complete
    assert "damaged: 2 cells of 3" in record.reason


@pytest.mark.parametrize(
    "text",
    ["", "{}\n", "[]\n", "hello\n", '{"record": 99}\n', '{"record": 1}\n{"case": 1}\n'],
)
def test_what_is_no_record_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(text)
    with pytest.raises(RecordError, match=r"run\.jsonl"):
        read_record(path)


def test_a_cell_that_stands_twice_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "run.jsonl")
    lines = without_checksums(path).read_text().splitlines(keepends=True)
    path.write_text("".join([*lines, *(line for line in lines if '"a/b/d"' in line)]))
    with pytest.raises(RecordError, match=r"run\.jsonl:8: .*a second answer of a/b/d"):
        read_record(path)


@pytest.mark.parametrize("listed", ["lacks", "confined"])
def test_what_a_target_says_of_itself_in_no_list_is_refused(tmp_path: Path, listed: str) -> None:
    path = without_checksums(write(tmp_path / "run.jsonl"))
    path.write_text(path.read_text().replace('{"version"', f'{{"{listed}": true, "version"'))
    with pytest.raises(RecordError, match=r"run\.jsonl:2: .*expected a list, got bool"):
        read_record(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="No such file"):
        read_record(tmp_path / "none.jsonl")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_record_is_read_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    path = without_checksums(write(tmp_path / "run.jsonl"))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    line = data.draw(st.sampled_from(range(len(lines))))
    key = data.draw(st.sampled_from(sorted(lines[line])))
    lines[line][key] = data.draw(values)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    try:
        record, refusal = read_record(path), ""
    except RecordError as error:
        record, refusal = None, str(error)
    assert refusal.isprintable()
    if record is None:
        assert refusal.startswith(f"{path}:")
    else:
        assert record.complete or record.reason
        assert len(record.answers) + sum(map(len, record.repeats.values())) <= len(EVENTS)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=200))
def test_arbitrary_bytes_are_refused(tmp_path: Path, content: bytes) -> None:
    for name, data in (("r.jsonl", content), ("r.jsonl.gz", gzip.compress(content))):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(RecordError):
            read_record(tmp_path / name)
