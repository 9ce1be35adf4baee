"""The Report: everything that is said of a run, a difference, releases or faults, in no format.

Builders (`of_run`, `of_difference`, `of_releases`, `of_causes`, `of_conventions`) make one, each
format's file writes it. Texts are as targets and records gave them: who writes them makes them
harmless for its format.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar, get_args

from conformance import __version__
from conformance.answers.mismatch import Mismatch
from conformance.closing import EXIT_CODES, Word
from conformance.corpus.cases import CORPUS_VERSION
from conformance.text import plural
from conformance.verdicts.changes import ChangeClass
from conformance.verdicts.judge import Standing, Verdict

T = TypeVar("T")
Kind: TypeAlias = Literal["run", "difference", "releases", "causes", "conventions"]
Role: TypeAlias = Literal["target", "oracle", "old", "new", "release"]
SectionKind: TypeAlias = Literal[
    "short", "new", "fault", "known", "better", "departs", "causes", "changes", "stale",
    "counts", "areas", "cases", "surveyed", "findings",
]  # fmt: skip
Tone: TypeAlias = "Verdict | ChangeClass | Literal['']"
"""The verdict or the class of a change, which gives a thing its colour."""
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
    "surveyed": "surveyed",
    "not_applicable": "n.a.",
    "not_run": "not run",
}
"""What a person reads for a verdict, in the order of the columns."""
assert set(LABELS) == set(get_args(Verdict))
BESIDE: tuple[Verdict, ...] = (
    "bad_case", "error", "known_deviation", "not_run", "surveyed", "not_applicable",
)  # fmt: skip
"""What stands beside the cells that passed, those that fall short and the unsupported ones."""
NOT_SUPPORTED: tuple[Verdict, ...] = ("unsupported", "surveyed", "not_applicable")
"""The verdicts of the cells that are no part of a rate: nothing was to be judged."""
ODD = "odd"
"""The tone of the odd one out, beside those of shares and verdicts."""
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
    """What is said of one case on one target, in the modes in which it came to the same.

    `kind` is the verdict or the class of the change, `label` what a person reads for it, or for
    what changed. `findings` are lines that tell the `mismatches`, an indented one explains the one
    before; `note` is the judge's, `detail` what the run said of a cell without an answer. `facts`
    changed, and `cause` says between which versions; `since`, `reason` and `link` are of the
    departure that explains it.
    """

    label: str
    kind: Tone
    case: str
    target: str
    modes: tuple[str, ...]
    title: str = ""
    file: str = ""
    line: int = 0
    sources: tuple[str, ...] = ()
    cause: str = ""
    mismatches: tuple[Mismatch, ...] = ()
    findings: tuple[str, ...] = ()
    note: str = ""
    detail: str = ""
    facts: tuple[Fact, ...] = ()
    since: str = ""
    reason: str = ""
    link: str = ""
    program: str = ""
    show: str = ""
    replay: str = ""
    standing: Standing | None = None
    falls_short: bool = False
    unstable: bool = False
    compared: int = 0
    witnesses: tuple[str, ...] = ()
    seconds: float = 0.0
    hash: str = ""

    @property
    def where(self) -> str:
        """`[tensorflow:eager,graph]`."""
        return f"[{self.target}:{','.join(self.modes)}]"

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

    def told(self, limit: int | None = None) -> list[str]:
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


class Later(Sequence[T]):
    """Items that are made when they are read first: few formats show every cell of a run."""

    def __init__(self, make: Callable[[], Iterable[T]]) -> None:
        self._make = make

    @cached_property
    def _items(self) -> Sequence[T]:
        return tuple(self._make())

    def __getitem__(self, position: Any) -> Any:
        return self._items[position]

    def __len__(self) -> int:
        return len(self._items)


TableCell: TypeAlias = "str | int | Item"
Row: TypeAlias = tuple[TableCell, ...]
Rows: TypeAlias = list[Row]


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
    rows: Sequence[Row]


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

    def says_something(self) -> bool:
        """Whether anything stands under the heading."""
        return bool(self.blocks or self.tables or self.lines)

    @property
    def title(self) -> str:
        """`falls short (3 cells)`, `raises (2 causes)`."""
        if self.kind == "findings":
            return f"{self.heading} ({plural(len(self.blocks), 'cause')})"
        cells = f" ({plural(cells_in(self.blocks), 'cell')})" if self.blocks else ""
        return f"{self.heading}{cells}"


@dataclass(frozen=True, slots=True)
class Score:
    """A target's conformance, with all that one number would hide.

    What the target is declared to lack, what a case says is not applicable, and what is only
    surveyed is no part of the rate. `short` are the cells by which it falls short; of those that
    its baseline excuses `known` are the ones that it knows and `new` those in cases that it does
    not know.
    """

    counts: Mapping[Verdict, int]
    short: int = 0
    known: int = 0
    new: int = 0
    compared: int = 0
    witnesses: Mapping[str, int] = field(default_factory=dict)

    @property
    def passed(self) -> int:
        """Cells that passed."""
        return self.counts.get("pass", 0)

    @property
    def supported(self) -> int:
        """Cells to be judged: the case applies and needs nothing that the target lacks."""
        beside = sum(self.counts.get(verdict, 0) for verdict in NOT_SUPPORTED)
        return sum(self.counts.values()) - beside

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
        lacking = self.counts.get("unsupported", 0)
        cells = plural(self.supported, f"{'supported' if lacking else 'applicable'} cell")
        beside = f"; {lacking} unsupported" if lacking else ""
        return f"{self.passed} of {cells} ({self.share}){beside}"

    @property
    def beside(self) -> list[str]:
        """`3 fall short`, `2 known failures`, `1 deviation`: what the rate does not say."""
        told = [f"{self.short} fall short", *excused(self.known, self.new)]
        return told + [f"{self.counts[v]} {LABELS[v]}" for v in BESIDE if self.counts.get(v)]

    @property
    def evidence(self) -> str:
        """How much was compared, and how many cells were held against which witnesses."""
        told = ", ".join(f"{count} {kind}" for kind, count in self.witnesses.items())
        return f"{plural(self.compared, 'fact')} compared; cells by witnesses: {told or 'none'}"


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


@dataclass(frozen=True)
class Report:
    """What is said of a run, a difference, releases or the causes of faults.

    `word` is the closing word, None where nothing was judged; `beside` is what must be known with
    it (`12 known failures`). `headline` are the sentences of most weight, `reservations` what a
    reader must know before the word. `cells` are all of a run, each by itself, and `changes` all
    from one version to the next. `all_of_it` is the command that shows everything.
    """

    kind: Kind
    title: str
    word: Word | None
    beside: str = ""
    subjects: tuple[Subject, ...] = ()
    headline: tuple[str, ...] = ()
    reservations: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    cells: Sequence[Block] = ()
    changes: tuple[Block, ...] = ()
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
    def exit_code(self) -> int:
        """What the process exits with."""
        return EXIT_CODES[self.word] if self.word else 0

    @property
    def verdict_text(self) -> str:
        """`conforms (12 known failures)`."""
        return f"{self.word} ({self.beside})" if self.beside else str(self.word or "")


def excused(known: int, new: int) -> list[str]:
    """`12 known failures`, `1 short in new cases`: what a baseline excuses."""
    told = [plural(known, "known failure")] if known else []
    return [*told, f"{new} short in new cases"] if new else told


def cells_in(blocks: Iterable[Block]) -> int:
    """How many cells these blocks speak of."""
    return sum(len(block.modes) for block in blocks)


def web(link: str) -> str:
    """A link that a reader may follow: to the web, with nothing else in it; or nothing."""
    return link if WEB.fullmatch(link) else ""
