"""The contract's claims, as docs/contract.md numbers them: which cases and mutants name each.

A claim is covered when a case cites it and a mutant breaks it; `gradconf mutants` asks whether the
mutant fails the case. What cannot be covered stands in docs/not_cases.yaml, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from conformance.corpus.language.case import Case
from conformance.corpus.language.document import Node, read_document
from conformance.files import data_folder

PREFIX = "contract/"
FORMS = {
    "# Part 0": ("source documents", "", re.compile(r"- (s\d+[a-z]?)\. (.*)")),
    "## 0b": ("contradicted claims", "0b.", re.compile(r"(\d+[a-z]?)\. (.*)")),
    "# Part 1": ("asserted behaviours", "", re.compile(r"(\d+[a-z]?)\. (.*)")),
    "# Part 3": ("advanced guide", "advanced/", re.compile(r"\| (\d+[a-z]?) \| ([^|]*) \|")),
}
"""By the heading of a part: its name, what its ids begin with, and how its claims are written."""
PARTS = tuple(name for name, _, _ in FORMS.values())
NO_CASE, NO_MUTANT = "no_case", "no_mutant"


@dataclass(frozen=True)
class Claim:
    """One claim of the contract: its id (`contract/52b`), its part, and its text."""

    id: str
    part: str
    text: str


@dataclass(frozen=True)
class Excuses:
    """Why claims cannot be covered, by id: no case can state them, or no mutant can break them."""

    no_case: Mapping[str, str]
    no_mutant: Mapping[str, str]


@dataclass(frozen=True)
class Coverage:
    """Which cases cite each claim, which mutants break it, and what is excused."""

    claims: tuple[Claim, ...]
    cited: Mapping[str, tuple[str, ...]]
    """The ids of the cases that cite each claim."""
    broken: Mapping[str, tuple[str, ...]]
    """The names of the mutants that break each claim."""
    unknown: tuple[tuple[Case, str], ...]
    """Cases that cite what is no claim."""
    excuses: Excuses

    def lacks(self, claim: Claim) -> str:
        """What a claim lacks to be covered or excused: `a case`, `a mutant` or nothing."""
        if claim.id not in self.cited:
            return "" if claim.id in self.excuses.no_case else "a case"
        covered = claim.id in self.broken or claim.id in self.excuses.no_mutant
        return "" if covered else "a mutant"

    def excuse(self, claim: Claim) -> str:
        """Why a claim need not be covered, or nothing."""
        return self.excuses.no_case.get(claim.id) or self.excuses.no_mutant.get(claim.id, "")

    @property
    def needless(self) -> list[str]:
        """The excuses of claims that have what they are excused from."""
        return [
            *(f"{id} has a case" for id in self.excuses.no_case if id in self.cited),
            *(f"{id} has a mutant" for id in self.excuses.no_mutant if id in self.broken),
            *(f"{id} has no case" for id in self.excuses.no_mutant if id not in self.cited),
        ]


def claims_of(text: str) -> tuple[Claim, ...]:
    """Every claim of a text of the contract, in order. Errors: ValueError for an id given twice."""
    found: dict[str, Claim] = {}
    form = None
    for row in text.splitlines():
        if row.startswith("#"):
            form = next((f for mark, f in FORMS.items() if row.startswith(mark)), form)
        elif form and (match := form[2].match(row)):
            claim = Claim(f"{PREFIX}{form[1]}{match[1]}", form[0], match[2].strip())
            if claim.id in found:
                raise ValueError(f"'{claim.id}' stands twice in the contract")
            found[claim.id] = claim
    return tuple(found.values())


@cache
def contract_claims() -> tuple[Claim, ...]:
    """Every claim of docs/contract.md."""
    return claims_of((data_folder("docs") / "contract.md").read_text(encoding="utf-8"))


def is_unknown(source: str) -> bool:
    """Whether a source points to the contract, and to no claim of it."""
    known = (claim.id for claim in contract_claims())
    return source.startswith(PREFIX) and source not in known


def read_excuses(path: Path | None = None) -> Excuses:
    """Why claims cannot be covered; raises CaseFileError for what cannot be read."""
    root = read_document(path or data_folder("docs") / "not_cases.yaml", "docs/not_cases.yaml")
    root.keys((NO_CASE, NO_MUTANT))
    found = Excuses(root.read(NO_CASE, _reasons) or {}, root.read(NO_MUTANT, _reasons) or {})
    root.finish()
    return found


def _reasons(node: Node) -> dict[str, str]:
    for id, reason in node.mapping().items():
        if not id.startswith(PREFIX) or is_unknown(id):
            reason.fault_of_name(f"the contract has no claim '{id}'")
    return {id: reason.line() for id, reason in node.mapping().items()}


def coverage(
    cases: Iterable[Case],
    broken: Mapping[str, tuple[str, ...]],
    claims: tuple[Claim, ...] | None = None,
    excuses: Excuses | None = None,
) -> Coverage:
    """What the sources that cases cite, and the claims that mutants break, cover."""
    claims = contract_claims() if claims is None else claims
    known = {claim.id for claim in claims}
    cited: dict[str, tuple[str, ...]] = {}
    unknown: list[tuple[Case, str]] = []
    for case in cases:
        for source in case.sources:
            if source in known:
                cited[source] = (*cited.get(source, ()), case.id)
            elif source.startswith(PREFIX):
                unknown.append((case, source))
    return Coverage(claims, cited, broken, tuple(unknown), excuses or read_excuses())
