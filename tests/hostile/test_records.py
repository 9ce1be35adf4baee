"""A hostile record: one line of refusal, or results in which every cell is accounted for."""

from __future__ import annotations

import gzip
import json
import re
import tempfile
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from conformance.asking.events import Answered, Cell, TargetReady
from conformance.asking.record import Record, RecordError, read_record
from conformance.asking.record_writer import RecordWriter
from conformance.report import FORMATS, render
from conformance.report.of_difference import Known, report_of_difference
from conformance.report.of_run import report_of_run
from conformance.targets.specification import Target
from conformance.verdicts.changes import changes_between, side_of
from conformance.verdicts.findings import findings_of

from .documents import UNHURRIED, answers, bounded, cases, changed, oracle_events, spoiled

FORBIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\ud800-\udfff\ufffe\uffff]")
MODES = ("eager", "graph", "xla")


@cache
def lines() -> str:
    """A sound record of one target, beside the oracle."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.jsonl"
        asked = [Target("tensorflow", "tensorflow", MODES)]
        writer = RecordWriter(path, cases(), asked, ["run", "tensorflow"])
        writer.write(TargetReady("tensorflow", {"version": "2.21.0", "lacks": [], "numpy": "2.1"}))
        for event in oracle_events():
            writer.write(event)
        for event in answers():
            for mode in MODES:
                cell = Cell(event.cell.case, "tensorflow", mode)
                writer.write(Answered(cell, event.program, event.answer))
        writer.finish(complete=True, reason="", seconds=1.0)
        writer.close()
        return path.read_text()


def read(path: Path) -> Record | str:
    """The record of a file, or the one line that refuses it."""
    try:
        return read_record(path)
    except RecordError as error:
        return str(error)


@UNHURRIED
@given(st.deferred(lambda: changed([json.loads(line) for line in lines().splitlines()])))
def test_a_changed_record_is_refused_or_accounted_for(tmp_path: Path, document: Any) -> None:
    document = document if isinstance(document, list) else [document]
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in document))
    with bounded():
        check_record(path)


@UNHURRIED
@given(compressed=st.booleans(), data=st.data())
def test_a_spoiled_record_is_refused_or_accounted_for(
    tmp_path: Path, compressed: bool, data: st.DataObject
) -> None:
    written = lines().encode()
    path = tmp_path / ("run.jsonl.gz" if compressed else "run.jsonl")
    path.write_bytes(data.draw(spoiled(gzip.compress(written, mtime=0) if compressed else written)))
    with bounded():
        check_record(path)


def check_record(path: Path) -> None:
    """One line of refusal, or a report in every format, and what differs from a sound record."""
    record = read(path)
    if isinstance(record, str):
        assert record.startswith(str(path))
        assert record.isprintable()
        assert len(record) < 1_000
        return
    results = findings_of(record, cases(), [])
    assert len(results.everything) + len(results.stale) == len(record.answers)
    report = report_of_run(results)
    for format in FORMATS["run"]:
        assert not FORBIDDEN.search(render(report, format))
    root = ElementTree.fromstring(render(report, "junit"))
    assert len(list(root.iter("testcase"))) == len(results.cells)
    assert len(json.loads(render(report, "json"))["cells"]) == len(results.cells)
    assert render(report, "text").endswith(f"\n{results.word}\n")
    beside = path.with_name("sound.jsonl")
    beside.write_text(lines())
    sound = read_record(beside)
    for old, new in ((sound, record), (record, sound)):
        found = report_of_difference(changes_between(side_of(old), side_of(new)), (), Known({}))
        for format in FORMATS["difference"]:
            assert not FORBIDDEN.search(render(found, format))
