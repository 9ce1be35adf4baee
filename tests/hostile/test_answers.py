"""A hostile worker: whatever it replies, its cell ends in an answer that is judged and kept."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.answers.answer import Answer
from conformance.answers.wire import MAX_DEPTH, answer_of_reply, json_of, line_of, parse_json
from conformance.asking.events import Answered, Cell, TargetReady
from conformance.asking.record import read_record
from conformance.asking.record_writer import RecordWriter
from conformance.corpus.language.case import Case
from conformance.corpus.language.lowering import lower
from conformance.targets.specification import Target
from conformance.verdicts.findings import Finding, Findings, Reviewer
from tests.answers.wire import answered

from .documents import UNHURRIED, answers, bounded, cases, changed, depth_of, spoiled

MODES = ("eager", "graph", "xla")


def replies() -> list[dict[str, Any]]:
    """What an honest worker replies for each case."""
    return [
        {
            "cell": 1,
            "observations": line_of(event.answer).get("observations", {}),
            "error": line_of(event.answer).get("error"),
            "warnings": ["careful"],
            "seconds": 0.25,
        }
        for event in answers()
    ]


def oracle_of(case: Case) -> Answered:
    return next(event for event in answers() if event.cell.case == case.id)


def judged(case: Case, mode: str, answer: Answer, word: Answer | None = None) -> Finding:
    """The one judgement of a target's answer, beside the oracle's."""
    oracle = oracle_of(case)
    word = oracle.answer if word is None else word
    reviewer = Reviewer(Findings({"tape": (mode,)}), [case], [])
    reviewer.add(TargetReady("tape", {"version": "1"}))
    reviewer.add(Answered(oracle.cell, oracle.program, word))
    cell = Cell(case.id, "tape", mode)
    (found,) = reviewer.add(Answered(cell, lower(case, mode).hash, answer))
    return found


@UNHURRIED
@given(number=st.integers(0, 3), mode=st.sampled_from(MODES), data=st.data())
def test_any_reply_is_an_answer_that_is_judged_and_kept(
    tmp_path: Path, number: int, mode: str, data: st.DataObject
) -> None:
    case, honest = cases()[number], replies()[number]
    line = json.dumps(data.draw(changed(honest))).encode()
    with bounded():
        check_reply(tmp_path / "run.jsonl", case, mode, line)


@UNHURRIED
@given(number=st.integers(0, 3), data=st.data())
def test_any_line_is_a_reply_or_none(tmp_path: Path, number: int, data: st.DataObject) -> None:
    line = data.draw(spoiled(json.dumps(replies()[number]).encode()))
    with bounded():
        check_reply(tmp_path / "run.jsonl", cases()[number], "eager", line)


def check_reply(path: Path, case: Case, mode: str, line: bytes) -> None:
    """No JSON within bounds; or judged, and kept, beside the oracle's answer and instead of it."""
    try:
        reply = parse_json(line)
    except ValueError:
        return
    answer = answer_of_reply(reply if isinstance(reply, dict) else {"": reply}, lower(case), mode)
    assert answer.outcome in ("answered", "adapter_error")
    if answer.outcome == "answered":
        assert set(answer.observations) == set(case.observed)
    found = judged(case, mode, answer)
    assert found.verdict in ("pass", "fail", "error", "not_applicable")
    if found.verdict == "fail":
        assert found.mismatches
    if answer.outcome == "adapter_error" and mode not in case.not_applicable:
        assert found.verdict == "error"
    by_oracle = judged(case, "eager", oracle_of(case).answer, answer)
    assert by_oracle.verdict in ("pass", "fail", "bad_case")
    writer = RecordWriter(path, [case], [Target("tape", "tape", (mode,))], [])
    writer.write(Answered(Cell(case.id, "tape", mode), "hash", answer))
    writer.finish(complete=True, reason="", seconds=1.0)
    (kept,) = read_record(path).answers
    assert kept.answer.observations == answer.observations


@pytest.mark.parametrize("levels", [MAX_DEPTH + 2, 100_000])
def test_a_reply_that_is_nested_too_deeply_is_none(levels: int) -> None:
    with pytest.raises(ValueError, match="nested deeper than 100 levels"):
        parse_json(b"[" * levels + b"]" * levels)
    assert depth_of(parse_json(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH)) == MAX_DEPTH


SHAPES = ([10**9, 10**9], [10**9], [2**62, 0], [0, 10**400], [2**26], [-1], [2.0], [True], [[]])


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("data", ["", "AAAA", None, [], 10**300])
def test_a_shape_that_is_a_lie_is_an_error_and_takes_no_memory(shape: object, data: object) -> None:
    (case,) = [case for case in cases() if case.id.endswith("/slices")]
    lie = {"kind": "tensor", "dtype": "float32", "shape": shape, "data": data}
    tracemalloc.start()
    try:
        verdicts = [
            judged(case, "eager", answered(g=observation)).verdict
            for observation in (
                lie,
                {**honest_slices(), "values": lie},
                {"kind": "list", "items": [lie]},
            )
        ]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert verdicts[1] == "error"
    assert "pass" not in verdicts
    assert peak < 5_000_000


def honest_slices() -> dict[str, Any]:
    return next(
        json_of(event.answer.observations["g"])
        for event in answers()
        if event.cell.case.endswith("/slices")
    )
