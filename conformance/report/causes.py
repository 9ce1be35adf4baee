"""The causes of shortfalls, ranked, and the line that declares the missing names as lacking."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from conformance.corpus.language.case import Case
from conformance.report.building import grouped
from conformance.report.model import LABELS, Section
from conformance.text import plural
from conformance.verdicts.findings import Finding, Findings

MOST = 15
"""How many causes are named; the others are counted."""
ABSENT = re.compile(r"AttributeError: .*?'(?!NoneType')([\w.]+)'.* has no attribute '(\w+)'")
KEYWORD = re.compile(r"TypeError: .*\bunexpected keyword argument '(\w+)'")
LACKS = re.compile(r".*\blacks (.+)")
RAISED = re.compile(r"([A-Za-z_][\w.]*): ")
NAME = re.compile(r"\btf\.([A-Za-z_][\w.]*)")
TAPE = "GradientTape"
METHODS = (
    "watch", "gradient", "jacobian", "batch_jacobian", "watched_variables", "stop_recording",
    "reset",
)  # fmt: skip
EVERYWHERE = {TAPE, "constant", "Variable"}
"""Names that nearly every program uses: no mismatch is put down to them."""
MISSING = "missing: "


def causes_of(cells: Sequence[Finding], run: Findings) -> Iterator[Section]:
    """For each target, what its cells among these fell short of, the most frequent first.

    A cause is a missing name, an unknown keyword, the class of an error, how the process ended, or
    the class of the mismatch and the operation whose cases mismatch most. What is declared as
    lacking comes last: it makes no cell fall short.
    """
    asked = _uses(run.cells)
    for target in run.asked:
        own = [found for found in cells if found.cell.target == target]
        causes = Counter(_causes([found for found in own if not _lacks(found)], asked))
        lacking = Counter(name for found in own for name in _lacks(found)).most_common(MOST)
        told = _counted(causes.most_common(MOST))
        if len(causes) > MOST:
            told.append(f"... and {plural(len(causes) - MOST, 'more cause')}")
        if lacking:
            told.append(f"declared as lacking: {', '.join(_counted(lacking))}")
        missing = {cause.removeprefix(MISSING) for cause in causes if cause.startswith(MISSING)}
        lacks = {str(name) for name in run.targets.get(target, {}).get("lacks") or ()}
        paste = f"GRADCONF_LACKS = {sorted(lacks | missing)}".replace("'", '"')
        heading = f"causes: {run.title(target)}" if len(run.asked) > 1 else "causes"
        yield Section(heading, "causes", lines=tuple(told), paste=paste if missing else "")


def _counted(names: Iterable[tuple[str, int]]) -> list[str]:
    return [f"{name} ({plural(count, 'cell')})" for name, count in names]


def _causes(cells: Sequence[Finding], asked: Mapping[str, int]) -> Iterator[str]:
    """The cause of each cell; values that mismatch are put down to an operation."""
    causes = [_own_cause(found) for found in cells]
    mismatching = [found for found, cause in zip(cells, causes, strict=True) if not cause]
    failing = {kind: _uses(own) for kind, own in grouped(mismatching, _kind).items()}
    for found, cause in zip(cells, causes, strict=True):
        yield cause or f"{_kind(found)}{_suspect(found.case, failing[_kind(found)], asked)}"


def _kind(found: Finding) -> str:
    return found.mismatches[0].kind


def _own_cause(found: Finding) -> str:
    """What a cell says of its cause by itself; nothing where values mismatch."""
    if found.verdict != "fail" or not found.mismatches:
        return LABELS[found.verdict]
    first = found.mismatches[0]
    if first.kind != "error":
        return ""
    raised = RAISED.match(first.got)
    if raised is None:
        return f"not raised: {first.expected.partition(' ')[0].rstrip(':')}"
    absent, keyword = ABSENT.match(first.got), KEYWORD.match(first.got)
    name = _name_used(absent[2], found.case) if absent else ""
    if absent:
        return f"{MISSING}{name}" if name else f"no attribute: {absent[1]}.{absent[2]}"
    return f"unknown keyword: {keyword[1]}" if keyword else f"error: {raised[1]}"


def _lacks(found: Finding) -> list[str]:
    """What an unsupported cell needs, as far as it says so; `nn`, and not `nn.relu` beside it."""
    told = LACKS.match(found.note) if found.verdict == "unsupported" else None
    names = told[1].split(", ") if told else []
    return [name for name in names if not any(name.startswith(f"{one}.") for one in names)]


def _name_used(attribute: str, case: Case) -> str:
    """The name by which a program asks for an attribute: `linalg.det` of `tf` or of the tape."""
    for name in sorted(_names(case)):
        parts = name.split(".")
        if attribute in parts:
            return ".".join(parts[: parts.index(attribute) + 1])
    return f"{TAPE}.{attribute}" if attribute in METHODS else ""


def _names(case: Case) -> set[str]:
    return set(NAME.findall(f"{case.setup}\n{case.run}"))


def _uses(cells: Iterable[Finding]) -> Counter[str]:
    """How many cases use each name."""
    cases = {found.case.id: found.case for found in cells}
    return Counter(name for case in cases.values() for name in _names(case) - EVERYWHERE)


def _suspect(case: Case, failing: Mapping[str, int], asked: Mapping[str, int]) -> str:
    """`: operation`, the most suspicious name that a failing case uses, if any.

    Many of the cases that fail use such a name, and few of those that pass (Ochiai's measure).
    """
    names = sorted(_names(case) - EVERYWHERE)
    suspicion = {name: failing[name] / math.sqrt(asked[name]) for name in names}
    return f": {max(names, key=suspicion.__getitem__)}" if names else ""
