"""The tables of the catalogue: every gap has a reason, and no reason is of what is no gap."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.corpus.language.document import CaseFileError
from conformance.corpus.tables import KINDS, gaps_of, needless, read_gaps, tables_of
from tests.cases import whole_catalogue, whole_corpus
from tests.conftest import Program

OPERATIONS = whole_catalogue()
TABLES = tables_of(whole_corpus(), OPERATIONS)


def test_every_gap_has_a_reason_and_every_reason_a_gap() -> None:
    gaps = read_gaps(OPERATIONS)
    unexplained = {
        (name, kind)
        for name, one in OPERATIONS.items()
        for kind, reason in gaps_of(one, TABLES[name], gaps)
        if not reason
    }
    assert unexplained == set()
    assert list(needless(OPERATIONS, TABLES, gaps)) == []


def test_without_reasons_what_the_catalogue_does_not_say_is_a_gap() -> None:
    kinds = dict(gaps_of(OPERATIONS["eigh"], TABLES["eigh"], {}))
    assert kinds["tangent"] == ""
    assert kinds["float16"] == "it does not take the dtype"
    assert "gradient" not in kinds


def test_a_reason_for_what_is_asked_is_needless() -> None:
    gaps = {"gradient": {"sin": "too hard"}, "tangent": {"eigh": "not yet"}}
    assert list(needless(OPERATIONS, TABLES, gaps)) == ["gradient: sin"]


def test_rows_and_cases_by_hand_are_counted() -> None:
    assert TABLES["sin"]["third"] == 1
    assert TABLES["log1p"]["third"] == 1
    assert TABLES["add"]["bfloat16"] == 1
    assert TABLES["add"]["broadcasting"] > 1
    assert set().union(*TABLES.values()) <= {*KINDS}


@pytest.mark.parametrize(
    ("gaps", "fault"),
    [
        ("{fourth: {why: [sin]}}", "no kind of table 'fourth'"),
        ("{third: {why: [sine]}}", "'sine' is not known here (did you mean sin"),
    ],
)
def test_a_fault_of_the_file_is_told(tmp_path: Path, gaps: str, fault: str) -> None:
    file = tmp_path / "gaps.yaml"
    file.write_text(f"introduction: reasons\ngaps: {gaps}\n", encoding="utf-8")
    with pytest.raises(CaseFileError, match=r"gaps\.yaml") as raised:
        read_gaps(OPERATIONS, file)
    assert fault in str(raised.value)


def test_the_command_prints_each_operation_with_its_cases_and_reasons(gradconf: Program) -> None:
    done = gradconf("coverage", "--operations")
    lines = done.stdout.splitlines()
    assert (done.returncode, lines[-1]) == (0, "conforms")
    assert {f"  {name}" for name in OPERATIONS} <= {line.partition(":")[0] for line in lines}
    assert "    float16, bfloat16: it does not take the dtype" in lines
