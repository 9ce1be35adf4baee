"""Shards: which part of a run a machine takes, and the parts' records as one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TypeVar

from conformance.asking.events import Cell
from conformance.asking.record import Record, RecordError
from conformance.corpus.language.case import Case

Key = TypeVar("Key")
Value = TypeVar("Value")

SHARD = re.compile(r"([0-9]{1,4})/([0-9]{1,4})")


@dataclass(frozen=True, order=True)
class Shard:
    """The part `index` (from 1) of `of` parts."""

    index: int
    of: int

    def __str__(self) -> str:
        return f"{self.index}/{self.of}"


def parse_shard(text: str) -> Shard:
    """`2/5`; raises ValueError for what is none.

    >>> parse_shard("2/5")
    Shard(index=2, of=5)
    """
    match = SHARD.fullmatch(text)
    shard = Shard(int(match[1]), int(match[2])) if match else Shard(0, 0)
    if not 1 <= shard.index <= shard.of:
        raise ValueError(f"'{text}' is no shard such as 2/5, the second of five")
    return shard


def part_of(cases: Sequence[Case], shard: Shard, seconds: Mapping[str, float]) -> list[Case]:
    """The cases of a shard, in the order of `cases`; every case is in exactly one shard.

    `seconds` is how long cases took; the longest is dealt out first, each to the shard that has
    least to do. A case that nothing is known of counts as the mean of the others. The same cases
    and seconds give the same shards, in any order and on any machine.
    """
    usual = fmean(seconds.values()) if seconds else 1.0
    loads = [0.0] * shard.of
    taken: set[str] = set()
    for case in sorted(cases, key=lambda case: (-seconds.get(case.id, usual), case.id)):
        lightest = loads.index(min(loads))
        loads[lightest] += seconds.get(case.id, usual)
        if lightest == shard.index - 1:
            taken.add(case.id)
    return [case for case in cases if case.id in taken]


def durations(record: Record) -> dict[str, float]:
    """How many seconds each case of a record took, in all its cells."""
    seconds: dict[str, float] = {}
    for answered in record.answers:
        case = answered.cell.case
        seconds[case] = seconds.get(case, 0.0) + answered.answer.seconds
    return seconds


def merged(records: Sequence[Record]) -> Record:
    """The records of a run's shards as one record; incomplete where a shard is missing or is cut.

    Raises RecordError where the records are not shards of one run.
    """
    shards: dict[Shard, Record] = {}
    cells: dict[Cell, str] = {}
    for record in records:
        shard = _shard_of(record)
        if shard in shards:
            raise RecordError(f"{record.path} is shard {shard}, as {shards[shard].path} is")
        _check_together(records[0], record)
        shards[shard] = record
        for answered in record.answers:
            other = cells.setdefault(answered.cell, record.path)
            if other != record.path:
                raise RecordError(f"{record.path} answers {answered.cell}, as {other} does")
    parts = [shards[shard] for shard in sorted(shards)]
    reason = "; ".join(_gaps(shards)) or _unasked(parts)
    return replace(
        parts[0],
        path=", ".join(record.path for record in parts),
        targets=joined(record.targets for record in parts),
        answers=[answered for record in parts for answered in record.answers],
        repeats=joined(record.repeats for record in parts),
        complete=not reason,
        reason=reason,
        seconds=sum(record.seconds for record in parts),
        failed=joined(record.failed for record in parts),
    )


def _shard_of(record: Record) -> Shard:
    try:
        return parse_shard(str(record.header["shard"]))
    except (KeyError, ValueError):
        raise RecordError(
            f"{record.path} is no shard of a run: report it alone, or compare it with gradconf diff"
        ) from None


def _check_together(one: Record, other: Record) -> None:
    """Raise RecordError where two shards are not of the same run."""
    different = [key for key in ("corpus", "asked") if one.header.get(key) != other.header.get(key)]
    if _shard_of(one).of != _shard_of(other).of:
        different.append("number of shards")
    for label in [label for label in one.targets if label in other.targets]:
        versions = [record.targets[label].get("version") for record in (one, other)]
        if versions[0] != versions[1]:
            different.append(f"{label} ({versions[0]} and {versions[1]})")
    if different:
        raise RecordError(
            f"{other.path} is no shard of the run of {one.path}: another {', '.join(different)}"
        )


def _gaps(shards: Mapping[Shard, Record]) -> Iterator[str]:
    """The shards that are missing, and those that were cut short."""
    of = next(iter(shards)).of
    for shard in sorted({Shard(index, of) for index in range(1, of + 1)} - shards.keys()):
        yield f"shard {shard} is missing"
    for shard, record in sorted(shards.items()):
        if not record.complete:
            yield f"shard {shard} ({record.path}): {record.reason}"


def _unasked(records: Sequence[Record]) -> str:
    """Cases that no shard has, because the shards were dealt out by different durations."""
    corpus = records[0].header.get("corpus")
    cases = corpus.get("cases") if isinstance(corpus, Mapping) else None
    asked = len({answered.cell.case for record in records for answered in record.answers})
    if asked == cases:
        return ""
    return f"{asked} of {cases} cases: give every shard the same --durations"


def joined(parts: Iterable[Mapping[Key, Value]]) -> dict[Key, Value]:
    """The mappings as one; of two values of a key the later one."""
    return {key: value for part in parts for key, value in part.items()}
