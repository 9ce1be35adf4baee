"""Coverage is counted from what cases cite, and a line that does not exist is an error."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from conformance.corpus.contract import PARTS, contract_lines, coverage, excuses
from conformance.corpus.language.case import Case
from conformance.corpus.language.document import CaseFileError
from tests.cases import entry, one_case

TEXT = """
# Part 0. Documents
- s1 scalar: six. s2 matrix: shapes.
  s3 model: one.
## 0b. Contradictions
1. A name that does not exist.
# Part 1. Behaviours
## 1 Sources
1. one
2. two, with s9 in it
# Part 3. Advanced
| 9 | stop_recording | 4.0 |
| 23–25 | two tapes | .25 |
"""  # noqa: RUF001  # the document's own dash


def citing(source: str) -> Case:
    return one_case(entry(source=source))


def test_the_lines_of_a_text_are_found_by_part() -> None:
    lines = contract_lines(TEXT)
    assert [line.id.removeprefix("contract/") for line in lines] == [
        *("s1", "s2", "s3", "0b.1", "1", "2"),
        *("advanced/9", "advanced/23", "advanced/24", "advanced/25"),
    ]
    assert lines[0].text == "scalar: six"


def test_every_line_of_the_contract_is_numbered() -> None:
    counts = Counter(line.part for line in contract_lines())
    assert [counts[part] for part in PARTS.values()] == [28, 26, 232, 34]


def test_a_line_is_covered_by_the_cases_that_cite_it() -> None:
    case = citing("[contract/s2, contract/2, issue/1]")
    found = coverage([case], contract_lines(TEXT))
    assert set(found.cited) == {"contract/s2", "contract/2"}
    covered, excused, missing = found.of_part("source documents")
    assert excused == []
    assert [line.id for line in covered] == ["contract/s2"]
    assert [line.id for line in missing] == ["contract/s1", "contract/s3"]


def test_a_citation_of_no_line_is_unknown() -> None:
    case = citing("contract/233")
    assert coverage([case]).unknown == ((case, "contract/233"),)


def test_what_cannot_be_a_case_has_a_reason_and_is_a_line(tmp_path: Path) -> None:
    assert set(excuses()) <= {line.id for line in contract_lines()}
    path = tmp_path / "not_cases.yaml"
    path.write_text("contract/999: no such line\n")
    with pytest.raises(CaseFileError, match="no line 'contract/999'"):
        excuses(path)
