"""What a mutation run found, kept in a file: a later run asks what has changed, and a sample."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from conformance.answers.wire import mapping, parse_json, text, texts
from conformance.corpus.cases import expectation_hash
from conformance.corpus.language.case import Case
from conformance.corpus.language.lowering import lower
from conformance.files import open_regular
from conformance.suite.mutation import Mutant
from conformance.suite.mutation_run import Tally

MAX_LENGTH = 16_000_000


@dataclass(frozen=True)
class Caught:
    """By name, what identifies each mutant and case, and the cases that catch each mutant."""

    mutants: Mapping[str, str] = field(default_factory=dict)
    cases: Mapping[str, str] = field(default_factory=dict)
    kills: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def due(
        self, mutants: Sequence[Mutant], cases: Sequence[Case], sample: int
    ) -> dict[str, list[Case]]:
        """The cases to ask each mutant: all, where it is new or has changed, else what has changed.

        `sample` of the unchanged mutants are asked the cases too that are known to catch them;
        which, depends on all that the file holds.
        """
        known = [mutant.name for mutant in mutants if self.knows(mutant)]
        drawn = Random(repr(self)).sample(known, min(sample, len(known)))
        changed = {case.id for case in cases if self.cases.get(case.id) != identity_of_case(case)}
        asked = {name: changed | self.kills[name] if name in drawn else changed for name in known}
        return {
            mutant.name: [c for c in cases if c.id in asked.get(mutant.name, (c.id,))]
            for mutant in mutants
        }

    def knows(self, mutant: Mutant) -> bool:
        """Whether a mutant is what it was."""
        return self.mutants.get(mutant.name) == identity_of(mutant)

    def lost(self, mutant: Mutant, found: Tally, asked: Sequence[Case]) -> list[str]:
        """The cases that were asked, are known to catch an unchanged mutant, and do not.

        Of a mutant that is caught by chance, any case counts.
        """
        by_chance = mutant.chance and found.kills
        if found.fault or found.stopped or by_chance or not self.knows(mutant):
            return []
        known = self.kills[mutant.name].difference(found.kills)
        return [case.id for case in asked if case.id in known]

    def completed(
        self, mutant: Mutant, found: Tally, asked: Sequence[Case], cases: Sequence[Case]
    ) -> Tally:
        """What was found of a mutant, and what is known of the cases that were not asked."""
        if not self.knows(mutant):
            return found
        silent = self.kills[mutant.name] - {case.id for case in asked}
        kills = [case.id for case in cases if case.id in silent or case.id in found.kills]
        return replace(found, kills=kills)


def read_caught(path: Path) -> Caught:
    """What `gradconf mutants --output` wrote. Errors: OSError, ValueError with the reason."""
    with open_regular(path) as file:
        reader = gzip.GzipFile(fileobj=file) if path.suffix == ".gz" else file
        try:
            written = reader.read(MAX_LENGTH + 1)
        except (EOFError, zlib.error) as error:
            raise ValueError(f"not compressed as it should be: {error}") from error
    if len(written) > MAX_LENGTH:
        raise ValueError(f"longer than {MAX_LENGTH:,} bytes")
    try:
        document = mapping(parse_json(written))
        mutants = {name: mapping(told) for name, told in mapping(document["mutants"]).items()}
        return Caught(
            {name: text(told["identity"]) for name, told in mutants.items()},
            {name: text(identity) for name, identity in mapping(document["identities"]).items()},
            {name: frozenset(texts(told["kills"])) for name, told in mutants.items()},
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"not what gradconf mutants --output writes: {error!r}") from error


def identity_of(mutant: Mutant) -> str:
    """What identifies a mistake: a hash of its edits."""
    return hashlib.sha256(repr((mutant.mode, mutant.edits)).encode()).hexdigest()[:16]


def identity_of_case(case: Case) -> str:
    """What identifies what a case asks and expects."""
    mode = case.simplest_mode
    return f"{lower(case, mode).hash} {expectation_hash(case, mode)}"
