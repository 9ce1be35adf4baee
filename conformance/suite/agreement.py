"""Where two answers to a drawn program differ, and which differences explained.yaml explains."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from pathlib import Path

import yaml

from conformance.answers.answer import ENDING, Answer, Raised, Value
from conformance.answers.compare import compare_value, expectation_of
from conformance.answers.mismatch import Mismatch
from conformance.answers.tolerances import Bounds
from conformance.targets.specification import name_of

WIDE = Bounds(2.0**18)
"""6e-11 of the largest element in float64, 3 % in float32: a wrong rule is wrong by per cents."""
CALLED = re.compile(r"\btf\.([\w.]+)")
IN_PART = re.compile(
    r"RaggedTensor|einsum\('(\.\.\.|aa)|tf\.norm\(.*ord=|num_segments|tf\.newaxis"
    r"|adjoint=|element_shape="
)
"""What of an operation the oracle has not: labels twice, orders of norms, keywords, classes."""
ROUNDING = 0.03
"""Of two numbers of float32 that are the same to people; of wrong rules few are as near."""
NOT_REACHED = "not reached"
SEVERAL = re.compile(r"tf\.(identity_n|nn\.moments)\([^[]*\[[^]]*\]\)$")
"""What answers several tensors, which are targets and sources in ways of their own."""


def is_of_oracle(text: str, known: Set[str]) -> bool:
    """Whether the oracle, which has the `known` names, has what the text of an operation calls."""
    names = {*CALLED.findall(text)}
    return names <= known and not IN_PART.search(text) and not SEVERAL.search(text)


def differences(expected: Answer, got: Answer) -> tuple[Mismatch, ...]:
    """What differs between two answers: None, structures, dtypes, shapes and error classes exactly.

    Numbers are compared with WIDE bounds. What is not reached follows from the error before it, and
    is told only where nothing else differs.
    """
    if expected.outcome != got.outcome:
        was, now = (f"{answer.outcome} {answer.detail}" for answer in (expected, got))
        return (Mismatch("error", "", "", was, now),)
    found: list[Mismatch] = []
    for name in dict.fromkeys([*expected.observations, *got.observations, ENDING]):
        due, told = (_silent(answer.observed(name)) for answer in (expected, got))
        if due != told:
            found += compare_value(expectation_of(due), told, WIDE, name=name).mismatches
    first = [one for one in found if NOT_REACHED not in (one.expected, one.got)]
    return tuple(first or found)


def _silent(value: Value) -> Value:
    """The same value; an error has its class alone."""
    return Raised(value.type, (), "") if isinstance(value, Raised) else value


@dataclass(frozen=True)
class Explanation:
    """One entry of explained.yaml: what the `targets` do, or what may differ `everywhere`.

    Of other targets than TensorFlow it names the `departure` of a case, which it makes general.
    `releases` are a part of the label, where a release of its own is asked.
    """

    reason: str
    everywhere: bool = False
    targets: Sequence[str] = ("tensorflow",)
    releases: str = ""
    departure: str = ""
    check: str = "oracle"
    program: str = ""
    expected: str = ""
    got: str = ""
    difference: float | None = None
    conjugate: bool = False
    inputs: str = ""
    run: str = ""

    def explains(self, entry: str, mismatch: Mismatch) -> bool:
        """Whether everything that it says is found."""
        return bool(
            re.search(self.program, entry)
            and re.search(self.expected, str(mismatch.expected))
            and re.search(self.got, str(mismatch.got))
            and (self.difference is None or self._is_within(mismatch))
            and (not self.conjugate or _are_conjugate(mismatch))
        )

    def _is_within(self, mismatch: Mismatch) -> bool:
        """Whether two numbers differ, by no more than it explains."""
        assert self.difference is not None
        return mismatch.difference is not None and mismatch.difference <= self.difference


def _are_conjugate(mismatch: Mismatch) -> bool:
    """Whether one number is the conjugate of the other, but for rounding."""
    try:
        one, other = complex(str(mismatch.expected)), complex(str(mismatch.got))
    except ValueError:  # they are no numbers
        return False
    return abs(one - other.conjugate()) <= ROUNDING * max(abs(one), abs(other))


EXPLANATIONS = [
    Explanation(**entry)
    for entry in yaml.safe_load(Path(__file__).with_name("explained.yaml").read_text("utf-8"))
]


def explanation_of(
    entry: str, mismatch: Mismatch, check: str = "oracle", target: str = "tensorflow"
) -> Explanation | None:
    """What explains that a target answered what was `expected`, and the oracle what it `got`.

    In a check of another name the oracle is what the target answers elsewhere; rounding explains
    there, too. What one target, a label, does explains nothing of another one.
    """
    return next(
        (
            known
            for known in EXPLANATIONS
            if (known.everywhere or name_of(target) in known.targets)
            and re.search(known.releases, target)
            and (re.fullmatch(known.check, check) or known.difference is not None)
            and known.explains(entry, mismatch)
        ),
        None,
    )
