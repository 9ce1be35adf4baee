"""Hostile deviations and baselines: read, or refused with a place for every fault."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from conformance.corpus.language.document import CaseFileError
from conformance.verdicts.baseline import Baseline
from conformance.verdicts.baseline_file import read_baseline, text_of, write_baseline
from conformance.verdicts.deviation_file import load_deviations
from conformance.verdicts.deviations import Deviation

from .documents import UNHURRIED, cases, changed

DEVIATIONS: dict[str, Any] = {
    "introduction": "What tape gets wrong.",
    "deviations": {
        "slices_are_dense": {
            "cases": ["hostile/answers/slices", "hostile/*/scalars"],
            "modes": ["eager", "graph"],
            "since": "2.5",
            "until": "2.21",
            "answer": "undefined",
            "kind": "bug",
            "right": "gradconf",
            "reason": "it reads what is not there",
            "link": "https://example.org/1",
        },
        "errors_of_another_class": {
            "cases": ["hostile/answers/errors"],
            "modes": ["eager"],
            "since": "2.5",
            "until": "2.21.0rc1",
            "answer": {"second": {"error": "ValueError", "message": "twice"}, "first": [1.0]},
            "kind": "change",
            "right": "tape",
            "reason": "the class has changed",
            "link": "https://example.org/2",
        },
    },
}
BASELINE: dict[str, Any] = {
    "baseline": 1,
    "target": "tape.py",
    "lacks": ["nn"],
    "known": {
        "hostile/answers/slices": {
            "eager": {
                "verdict": "fail",
                "class": "none",
                "answer": ["g: None", "and 3 more"],
                "first_seen": "2026-01-31, version 0.3",
                "last_seen": "2026-02-28",
                "reason": "not done yet",
            }
        }
    },
    "asked": {"hostile/answers": ["slices", "errors"]},
}
HOSTILE_TEXT = (
    "!!python/object/apply:os.system [exit]",
    "&a [*a, *a]",
    "<<: {}",
    "- " * 60,
    "\x00",
)


def written(document: object, path: Path, ending: str) -> Path:
    """The document as a file (JSON is YAML), with some text at its end."""
    path.write_bytes(f"{json.dumps(document)}\n{ending}".encode("utf-8", "surrogatepass"))
    return path


def check_faults(error: CaseFileError, name: str) -> None:
    assert error.faults
    for fault in error.faults:
        assert fault.place.file.endswith(name)
        assert fault.place.line >= 1
        assert str(fault).isprintable()


endings = st.just("") | st.sampled_from(HOSTILE_TEXT)


@UNHURRIED
@given(document=changed(DEVIATIONS), ending=endings)
def test_changed_deviations_are_read_or_refused(tmp_path: Path, document: Any, ending: str) -> None:
    written(document, tmp_path / "tape.yaml", ending)
    try:
        found = load_deviations(tmp_path, cases())
    except CaseFileError as error:
        check_faults(error, "tape.yaml")
        return
    for deviation in found:
        assert isinstance(deviation, Deviation)
        assert deviation.target == "tape"
        assert deviation.modes
        assert any(
            deviation.covers("tape", deviation.since, case.id, deviation.modes[0])
            for case in cases()
        )


@UNHURRIED
@given(document=changed(BASELINE), ending=endings)
def test_a_changed_baseline_is_read_or_refused(tmp_path: Path, document: Any, ending: str) -> None:
    path = written(document, tmp_path / "known.yaml", ending)
    corpus = [case.id for case in cases()]
    try:
        baseline = read_baseline(path, corpus)
    except CaseFileError as error:
        check_faults(error, "known.yaml")
        return
    assert isinstance(baseline, Baseline)
    assert {case for case, _ in baseline.entries} <= set(corpus)
    write_baseline(path, baseline)
    assert text_of(read_baseline(path, corpus)) == text_of(baseline)
