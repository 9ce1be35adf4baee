"""The Report: everything that is said of a run, a difference or several releases, in no format.

Builders (`of_run`, `of_difference`, `of_releases`) make one, each format's file writes it. Texts
are as targets and records gave them: whoever writes them makes them harmless for its format.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from conformance import __version__
from conformance.answers.mismatch import Mismatch
from conformance.answers.mismatch import lines as mismatch_lines
from conformance.closing import Word
from conformance.corpus.cases import CORPUS_VERSION
from conformance.text import plural
from conformance.verdicts.changes import ChangeClass
from conformance.verdicts.judge import Standing, Verdict

Kind: TypeAlias = Literal["run", "difference", "releases"]
Role: TypeAlias = Literal["target", "oracle", "old", "new", "release"]
SectionKind: TypeAlias = Literal[
    "short", "new", "fault", "known", "better", "departs", "causes", "changes", "stale",
    "counts", "areas", "cases",
]  # fmt: skip
Tone: TypeAlias = "Verdict | ChangeClass | Literal['']"
"""What gives a thing its colour."""

LABELS: Mapping[Verdict, str] = {
    "pass": "pass",
    "fail": "fail",
    "crash": "crash",
    "timeout": "timeout",
    "unexpected_pass": "unexpected pass",
    "bad_case": "bad case",
    "error": "error",
    "known_deviation": "deviation",
    "unsupported": "unsupported",
    "not_applicable": "n.a.",
    "not_run": "not run",
}
"""What a person reads for a verdict, in the order of the columns."""
assert set(LABELS) == set(get_args(Verdict))
BESIDE: tuple[Verdict, ...] = (
    "bad_case", "error", "known_deviation", "not_run", "not_applicable",
)  # fmt: skip
"""What stands beside the cells that passed, those that fall short and the unsupported ones."""
TEMPLATES = Path(__file__).parent / "templates"
WEB = re.compile(r"https?://[\w./?=&%#~:+,;@!$*-]+")


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that was another one: where, both values, and what else is to be known."""

    where: str
    old: str
    new: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """What is said of one case: of `cells` that came to the same in several modes.

    `label` is what a person reads for the verdict, or the class of what changed. `findings` are
    lines, of which an indented one explains the one before; `note` is the judge's. `cause` says
    under what the block stands among its neighbours; `reason` and `link` are of the departure that
    explains it, and `since` is when that began, ended, or was first seen.
    """

    label: str
    tone: Tone
    case: str
    where: str
    cells: int
    title: str = ""
    file: str = ""
    line: int = 0
    sources: tuple[str, ...] = ()
    cause: str = ""
    findings: tuple[str, ...] = ()
    note: str = ""
    facts: tuple[Fact, ...] = ()
    reason: str = ""
    link: str = ""
    since: str = ""
    program: str = ""
    show: str = ""
    replay: str = ""

    @property
    def place(self) -> str:
        """`cases/area/topic.yaml:12; the sources`, as far as they are known."""
        place = (f"{self.file}:{self.line}",) if self.file else ()
        return "; ".join([*place, *self.sources])

    @property
    def explanation(self) -> str:
        """`since 2.22, a change: the reason (link)`."""
        link = f" ({self.link})" if self.link else ""
        return ": ".join(filter(None, (self.since, f"{self.reason}{link}".strip())))

    def shortened(self, limit: int | None = None) -> list[str]:
        """The findings, at most `limit` of them and how many more there are, and the note."""
        note = [self.note] if self.note else []
        starts = [i for i, line in enumerate(self.findings) if not line.startswith(" ")]
        if limit is None or len(starts) <= limit:
            return [*self.findings, *note]
        return [*self.findings[: starts[limit]], f"... and {len(starts) - limit} more", *note]


@dataclass(frozen=True, slots=True)
class Item:
    """A text in a table, with what gives it its colour, a hint, and where it leads."""

    text: str
    tone: str = ""
    hint: str = ""
    link: str = ""


TableCell: TypeAlias = "str | int | Item"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; numbers stand at its right."""

    head: str
    tone: Tone = ""
    number: bool = True


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of texts, numbers and items."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[TableCell, ...], ...]


@dataclass(frozen=True, slots=True)
class Section:
    """Lines, tables and blocks under a heading; `paste` is a line to be copied.

    One that is not `brief` stands only where a reader looks things up: on the page.
    """

    heading: str
    kind: SectionKind
    blocks: tuple[Block, ...] = ()
    tables: tuple[Table, ...] = ()
    lines: tuple[str, ...] = ()
    paste: str = ""
    brief: bool = True

    @property
    def cells(self) -> int:
        """How many cells its blocks speak of."""
        return sum(block.cells for block in self.blocks)

    @property
    def title(self) -> str:
        """`falls short (3 cells)`."""
        cells = f" ({plural(self.cells, 'cell')})" if self.blocks and self.cells else ""
        return f"{self.heading}{cells}"


@dataclass(frozen=True, slots=True)
class Score:
    """A target's conformance, with all that one number would hide.

    What the target is declared to lack, and what a case says is not applicable, is no part of the
    rate. `short` are the cells by which it falls short; of those that its baseline excuses `known`
    are the ones that it knows and `new` those in cases that it does not know.
    """

    counts: Mapping[Verdict, int]
    short: int
    known: int
    new: int
    compared: int
    seconded: int

    @property
    def passed(self) -> int:
        """Cells that passed."""
        return self.counts.get("pass", 0)

    @property
    def unsupported(self) -> int:
        """Cells that the target is declared not to support."""
        return self.counts.get("unsupported", 0)

    @property
    def supported(self) -> int:
        """Cells whose case applies in their mode and needs nothing that the target lacks."""
        return sum(self.counts.values()) - self.counts.get("not_applicable", 0) - self.unsupported

    @property
    def rate(self) -> float | None:
        """The share of the supported cells that passed."""
        return self.passed / self.supported if self.supported else None

    @property
    def share(self) -> str:
        """`98.3 %`, rounded down: 100.0 % means every cell."""
        if not self.supported:
            return "no cell"
        permille = 1000 * self.passed // self.supported
        return f"{permille // 10}.{permille % 10} %"

    @property
    def conformance(self) -> str:
        """`477 of 550 supported cells (86.7 %); 210 unsupported`."""
        kind = "supported" if self.unsupported else "applicable"
        cells = plural(self.supported, f"{kind} cell")
        beside = f"; {self.unsupported} unsupported" if self.unsupported else ""
        return f"{self.passed} of {cells} ({self.share}){beside}"

    @property
    def beside(self) -> list[str]:
        """`3 fall short`, `2 known failures`, `1 deviation`: what the rate does not say."""
        told = [f"{self.short} fall short"]
        told += [plural(self.known, "known failure")] if self.known else []
        told += [f"{self.new} short in new cases"] if self.new else []
        return told + [f"{self.counts[v]} {LABELS[v]}" for v in BESIDE if self.counts.get(v)]

    @property
    def evidence(self) -> str:
        """How much was compared, and where the oracle was a second witness."""
        facts, cells = plural(self.compared, "fact"), plural(self.seconded, "cell")
        return f"{facts} compared; {cells} judged by both witnesses"


@dataclass(frozen=True, slots=True)
class Subject:
    """What was asked: a target of a run or a release with its score, or a side of a difference.

    `label` is as it was asked for, `name` with its version; `about` is what its worker said of
    itself, `surroundings` the same for a person, or why it did not start.
    """

    role: Role
    label: str
    name: str
    surroundings: str = ""
    modes: tuple[str, ...] = ()
    about: Mapping[str, Any] | None = None
    failed: str = ""
    score: Score | None = None


@dataclass(frozen=True, slots=True)
class JudgedCell:
    """One cell of a run as it was judged; `detail` is what the run said of one without answer."""

    case: str
    target: str
    mode: str
    title: str
    file: str
    line: int
    verdict: Verdict
    falls_short: bool
    standing: Standing | None
    unstable: bool
    compared: int
    witnesses: tuple[str, ...]
    mismatches: tuple[Mismatch, ...]
    note: str
    detail: str
    reason: str
    link: str
    seconds: float
    program: str
    show: str
    replay: str

    @property
    def label(self) -> str:
        """`fail`, or `known, fail` beside a baseline."""
        return ", ".join(filter(None, (self.standing, LABELS[self.verdict])))

    @property
    def findings(self) -> tuple[str, ...]:
        """What differed and what the judge noted, line by line; an indented line explains."""
        return (*lines_of(self.mismatches), *([self.note] if self.note else []))


@dataclass(frozen=True, slots=True)
class CellSide:
    """What one side of a difference told of a cell."""

    target: str
    version: str
    outcome: str
    detail: str
    program: str
    expectation: str


@dataclass(frozen=True, slots=True)
class ChangedCell:
    """One cell that is not what it was; of `mismatches`, `expected` is old and `got` new.

    `mismatch` is the class of what differs, `outcome` or `malformed` where `why` says it.
    """

    kind: ChangeClass
    case: str
    mode: str
    title: str
    cause: str
    mismatch: str
    why: str
    mismatches: tuple[Mismatch, ...]
    since: str
    reason: str
    link: str
    old: CellSide | None
    new: CellSide | None
    show: str


@dataclass(frozen=True)
class Report:
    """What is said of a run, a difference or releases.

    `word` is the closing word, None where nothing was judged; `beside` is what must be known with
    it (`12 known failures`). `headline` are the sentences of most weight, `reservations` what a
    reader must know before the word. `facts` are what else is known: seconds, record, command.
    """

    kind: Kind
    title: str
    word: Word | None
    exit_code: int
    beside: str = ""
    subjects: tuple[Subject, ...] = ()
    headline: tuple[str, ...] = ()
    reservations: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    cells: tuple[JudgedCell, ...] = ()
    changes: tuple[ChangedCell, ...] = ()
    command: str = ""
    record: str = ""
    all_of_it: str = ""
    seconds: float = 0.0
    counts: Mapping[str, int] = field(default_factory=dict)
    compared: int = 0
    gated: tuple[str, ...] = ()
    gradconf: str = __version__
    corpus: str = CORPUS_VERSION

    @property
    def verdict_text(self) -> str:
        """`conforms (12 known failures)`."""
        return f"{self.word} ({self.beside})" if self.beside else str(self.word or "")

    def sections_of(self, *kinds: SectionKind) -> list[Section]:
        """The sections of these kinds, in order."""
        return [section for section in self.sections if section.kind in kinds]


def web(link: str) -> str:
    """A link that a reader may follow: to the web, with nothing else in it; or nothing."""
    return link if WEB.fullmatch(link) else ""


def lines_of(mismatches: Sequence[Mismatch]) -> tuple[str, ...]:
    """What differed, line by line; an indented line explains the one before."""
    return tuple(line for mismatch in mismatches for line in mismatch_lines(mismatch))


def sections(*found: Section | Iterable[Section]) -> Iterator[Section]:
    """The sections that say anything."""
    for one in found:
        for section in (one,) if isinstance(one, Section) else one:
            if section.blocks or section.tables or section.lines:
                yield section
