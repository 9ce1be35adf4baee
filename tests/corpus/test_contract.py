"""Coverage counts claims, and one without a case or a mutant is lacking unless it is excused."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from conformance.corpus.contract import (
    PARTS,
    Claim,
    Coverage,
    Excuses,
    claims_of,
    contract_claims,
    coverage,
    is_unknown,
    read_excuses,
)
from conformance.corpus.language.case import Case
from conformance.corpus.language.document import CaseFileError
from conformance.suite.mutation import breakers, load_mutants
from tests.cases import entry, one_case, whole_corpus

TEXT = """
# Part 0. Documents
- s1. scalar: six.
- s2a. matrix: shapes,
- s2b. and dtypes.
1. no claim of this part
## 0b. Contradictions
1. A name that does not exist.
# Part 1. Behaviours
## 1 Sources
1a. one
1b. two, with s9 in it
# Part 3. Advanced
| cell | claim | expected |
| 9 | stop_recording | 4.0 |
| 35b | one target | .25 |
"""
NONE = Excuses({}, {})


def citing(source: str) -> Case:
    return one_case(entry(source=source))


def found(
    source: str, broken: dict[str, tuple[str, ...]] | None = None, excuses: Excuses = NONE
) -> Coverage:
    return coverage([citing(source)], broken or {}, claims_of(TEXT), excuses)


def claim(id: str) -> Claim:
    return next(c for c in claims_of(TEXT) if c.id == f"contract/{id}")


def test_the_claims_of_a_text_are_found_by_part() -> None:
    claims = claims_of(TEXT)
    assert [c.id.removeprefix("contract/") for c in claims] == [
        *("s1", "s2a", "s2b", "0b.1", "1a", "1b", "advanced/9", "advanced/35b"),
    ]
    assert [claims[0].text, claims[-1].text] == ["scalar: six.", "one target"]


def test_an_id_that_stands_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="'contract/1b' stands twice"):
        claims_of(TEXT.replace("1a. one", "1b. one"))


def test_every_claim_of_the_contract_is_numbered() -> None:
    counts = Counter(c.part for c in contract_claims())
    assert [counts[part] for part in PARTS] == [79, 74, 367, 27]


def test_a_claim_is_covered_by_a_case_that_cites_it_and_a_mutant_that_breaks_it() -> None:
    covered = found("[contract/s2a, issue/1]", {"contract/s2a": ("wrong",)})
    assert dict(covered.cited) == {"contract/s2a": ("local/text/example",)}
    assert covered.lacks(claim("s2a")) == ""
    assert covered.lacks(claim("s2b")) == "a case"


def test_a_claim_without_a_mutant_is_refused() -> None:
    assert found("contract/s2a").lacks(claim("s2a")) == "a mutant"


def test_an_excuse_stands_for_what_is_lacking_and_for_nothing_else() -> None:
    excuses = Excuses({"contract/s1": "internal"}, {"contract/s2a": "graphs alone"})
    excused = found("contract/s2a", excuses=excuses)
    assert [excused.lacks(claim(id)) for id in ("s1", "s2a", "s2b")] == ["", "", "a case"]
    assert excused.excuse(claim("s1")) == "internal"
    assert not excused.needless
    broken = found("contract/s1", {"contract/s2a": ("wrong",)}, excuses)
    assert broken.needless == [
        "contract/s1 has a case",
        "contract/s2a has a mutant",
        "contract/s2a has no case",
    ]


@pytest.mark.parametrize("source", ["contract/233", "contract/52", "contract/52d"])
def test_a_citation_of_no_claim_is_unknown(source: str) -> None:
    assert is_unknown(source)
    case = citing(source)
    assert coverage([case], {}).unknown == ((case, source),)


def test_a_source_outside_the_contract_is_never_unknown() -> None:
    assert not any(map(is_unknown, ("contract/52c", "issue/1", "METHODS 3.6")))


def test_what_is_excused_is_a_claim_and_has_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "not_cases.yaml"
    path.write_text("no_case: {contract/999: none}\nno_mutant: {contract/1: []}\n")
    with pytest.raises(CaseFileError) as refused:
        read_excuses(path)
    assert "no claim 'contract/999'" in str(refused.value)
    assert "expected text, got a list" in str(refused.value)


def test_every_claim_of_the_contract_is_covered_or_excused() -> None:
    shipped = coverage(whole_corpus(), breakers(load_mutants()))
    assert not shipped.unknown
    assert not shipped.needless
    assert not [c.id for c in shipped.claims if shipped.lacks(c)]
