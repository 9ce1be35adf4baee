"""A baseline: the shortfalls that a target is known to have, and what is worse than they are."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Literal, TypeAlias

from conformance.answers.text import uncounted
from conformance.asking.worker import lacking
from conformance.targets.specification import name_of
from conformance.text import clean
from conformance.verdicts.judge import Verdict
from conformance.verdicts.results import SHORTFALLS, Judged, Results

Standing: TypeAlias = Literal["worse", "new case", "known", "better"]
"""What a cell is beside a baseline; a cell that nothing is to be said of has no standing."""
STANDINGS: tuple[Standing, ...] = ("known", "worse", "better", "new case")
Key: TypeAlias = "tuple[str, str]"
"""A case's id and a mode."""

ANSWERS = 5
"""How many mismatches of a cell an entry keeps; the others are counted."""
ANSWER_LENGTH = 160
NEAR = 1e-3
"""How far apart two numbers of the same answer may be: machines round differently."""

NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?(?![\w.])")
FOLDERS = re.compile(r"(?<![\w./])/(?:[^\s/:'\"]+/)+")


@dataclass(frozen=True)
class Entry:
    """One known shortfall: verdict, class and answer, and when it was seen first and last.

    `first_seen` and `last_seen` are a date and the implementation's version; `reason` is the
    user's own, and kept.
    """

    verdict: Verdict
    kind: str
    answer: tuple[str, ...]
    first_seen: str
    last_seen: str
    reason: str = ""

    def same(self, other: Entry) -> bool:
        """Whether both are the same failure: the class, and the answer but for rounding."""
        alike = (self.verdict, self.kind) == (other.verdict, other.kind)
        pairs = zip_longest(self.answer, other.answer, fillvalue="")
        return alike and all(_same_text(one, two) for one, two in pairs)

    def __str__(self) -> str:
        """`fail none: g: None`."""
        return ": ".join([f"{self.verdict} {self.kind}".strip(), *self.answer[:1]])


@dataclass(frozen=True)
class Baseline:
    """What is known of one target: its shortfalls, what it said it lacks, which cases it was asked.

    `target` is its name without a version or a folder.
    """

    target: str
    entries: Mapping[Key, Entry] = field(default_factory=dict)
    cases: frozenset[str] = frozenset()
    lacks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Against:
    """A baseline that results are held against; `file` is where it stands.

    With `strict_new` a shortfall in a case that the baseline does not know fails the gate too.
    """

    baseline: Baseline
    file: str
    strict_new: bool = False

    def standing(self, judged: Judged) -> Standing | None:
        """What a cell is beside the baseline."""
        entry = self.entry(judged)
        if judged.verdict in SHORTFALLS:
            if entry and entry.same(entry_of(judged, "")):
                return "known"
            return "worse" if self._knows(judged) else "new case"
        if entry and judged.verdict in ("pass", "unsupported", "not_applicable", "known_deviation"):
            return "better"
        return "worse" if not entry and self._newly_lacking(judged) else None

    def entry(self, judged: Judged) -> Entry | None:
        """What the baseline says of a cell."""
        return self.baseline.entries.get((judged.cell.case, judged.cell.mode))

    def fails(self, judged: Judged) -> bool:
        """Whether the gate fails for a cell."""
        standing = self.standing(judged)
        return standing == "worse" or (standing == "new case" and self.strict_new)

    def _knows(self, judged: Judged) -> bool:
        return judged.cell.case in self.baseline.cases

    def _newly_lacking(self, judged: Judged) -> bool:
        """Whether a known case is unsupported only because more is declared as lacking."""
        return (
            judged.verdict == "unsupported"
            and self._knows(judged)
            and not lacking(judged.lowered, judged.cell.mode, self.baseline.lacks)
        )


def target_name(label: str) -> str:
    """What a baseline calls a target: `tensorflow`, `tape.py`, wherever it is and of any version.

    >>> target_name("./build/tape.py")
    'tape.py'
    """
    return name_of(label).rpartition("/")[2]


def updated(baseline: Baseline, results: Results, cases: Iterable[str], today: str) -> Baseline:
    """The baseline that says what these results say, for a whole run of one target.

    An entry that is still the same failure keeps when it was first seen, and its reason. Entries
    go only where their cell ran; `cases` are the ids of the corpus.
    """
    (target,) = results.asked
    about = results.targets.get(target, {})
    seen = ", version ".join(filter(None, (today, _steady(str(about.get("version") or "")))))
    ran = {(judged.cell.case, judged.cell.mode) for judged in results.cells}
    entries = {key: entry for key, entry in baseline.entries.items() if key not in ran}
    for judged in results.cells:
        if judged.verdict in SHORTFALLS:
            key = judged.cell.case, judged.cell.mode
            entries[key] = _continued(baseline.entries.get(key), entry_of(judged, seen))
    lacks: Sequence[object] = about.get("lacks") or ()
    names = tuple(sorted({str(name) for name in lacks}))
    return Baseline(target_name(target), entries, frozenset(cases), names)


def _continued(old: Entry | None, new: Entry) -> Entry:
    if old is None or not old.same(new):
        return new
    return replace(old, last_seen=new.last_seen)


# ----- what makes two failures the same -----


def entry_of(judged: Judged, seen: str) -> Entry:
    """The entry that a cell which falls short would have."""
    mismatches = judged.judgement.mismatches
    kind = mismatches[0].kind if mismatches else ""
    return Entry(judged.verdict, kind, _answer(judged), seen, seen)


def _answer(judged: Judged) -> tuple[str, ...]:
    """What the target answered, without what differs from run to run or machine to machine."""
    if judged.verdict in ("crash", "timeout"):
        how = judged.judgement.note.partition(";")[0]
        return (_steady("no answer in time" if judged.verdict == "timeout" else how),)
    mismatches = judged.judgement.mismatches if judged.verdict == "fail" else ()
    found = tuple(_steady(f"{m.where}: {m.got}") for m in mismatches[:ANSWERS])
    left = len(mismatches) - len(found)
    return (*found, f"and {left} more") if left else found


def _steady(text: str) -> str:
    text = FOLDERS.sub(".../", uncounted(" ".join(text.split())))
    return clean(text, ANSWER_LENGTH)


def _same_text(one: str, two: str) -> bool:
    """Whether two answers are the same but for how their numbers are rounded."""
    if one == two:
        return True
    numbers = [list(map(float, NUMBER.findall(text))) for text in (one, two)]
    return NUMBER.sub("#", one) == NUMBER.sub("#", two) and all(map(_close, *numbers))


def _close(one: float, two: float) -> bool:
    same_sign = math.copysign(1.0, one) == math.copysign(1.0, two)
    return same_sign and math.isclose(one, two, rel_tol=NEAR)
