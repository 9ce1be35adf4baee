"""What every report says, counted once: blocks, rows, standings, commands; no layout."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from conformance.answers.mismatch import Mismatch
from conformance.answers.mismatch import lines as mismatch_lines
from conformance.asking.events import Cell
from conformance.text import plural, printable
from conformance.verdicts.judge import Verdict
from conformance.verdicts.results import FAULTS, ORACLE_LABEL, SHORTFALLS, Judged, Results

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
    *FAULTS,
    "known_deviation",
    "unsupported",
    "not_run",
    "not_applicable",
)
"""What stands beside the cells that passed and those that fall short."""

"""The modes that a script has beside its own, which is eager."""


def replay_command(cell: Cell, modes: Iterable[str] = (), command: Sequence[str] = ()) -> str:
    """The command that runs a cell again; several modes of one case and target in one.

    `command` is that of the run: where it named a corpus or an interpreter, so does the replay.
    """
    target = f"{cell.target}:{','.join(modes or (cell.mode,))}"
    return _quoted("gradconf", "run", target, cell.case, *_same(command, "--corpus", "--python"))


def show_command(cell: Cell, command: Sequence[str] = ()) -> str:
    """The command that prints a cell's case, in its mode, as a script that runs by itself."""
    mode = ("--mode", cell.mode) if cell.mode != "eager" else ()
    words = ("gradconf", "show", cell.case, "--as-python", *mode)
    return _quoted(*words, *_same(command, "--corpus"))


def report_command(results: Results) -> str:
    """The command that shows everything that a run recorded."""
    record = results.record or "RECORD"
    return _quoted("gradconf", "report", record, *_same(results.command, "--corpus"))


def command_line(results: Results) -> str:
    """The command that made the run."""
    return _quoted("gradconf", *map(str, results.command)) if results.command else ""


def _quoted(*words: str) -> str:
    return " ".join(shlex.quote(printable(word)) for word in words)


def _same(command: Sequence[str], *options: str) -> Iterator[str]:
    """The options of a command, among these, with their values."""
    words = [str(word) for word in command]
    for word, value in zip(words, [*words[1:], ""], strict=False):
        name, equals, joined = word.partition("=")
        if name in options and (joined or value):
            yield from (name, joined if equals else value)


# ----- blocks -----


@dataclass(frozen=True)
class Block:
    """Cells of one case and target that came to the same, in several modes.

    `command` is that of the run.
    """

    cells: tuple[Judged, ...]
    command: Sequence[str] = ()

    @property
    def first(self) -> Judged:
        """The cell that speaks for all of them."""
        return self.cells[0]

    @property
    def verdict(self) -> Verdict:
        """The verdict that the cells share."""
        return self.first.verdict

    @property
    def case_id(self) -> str:
        """The id of the case."""
        return printable(self.first.cell.case)

    @property
    def where(self) -> str:
        """`[tensorflow:eager,graph]`."""
        modes = ",".join(printable(judged.cell.mode) for judged in self.cells)
        return f"[{printable(self.first.cell.target)}:{modes}]"

    @property
    def title(self) -> str:
        """What the case says."""
        return printable(self.first.case.title)

    @property
    def place(self) -> str:
        """Where the case was written: `cases/area/topic.yaml:12`."""
        place = self.first.case.place
        return printable(f"{place.file}:{place.line}")

    @property
    def sources(self) -> str:
        """Where the case's fact comes from."""
        return printable("; ".join(self.first.case.sources))

    @property
    def show(self) -> str:
        """The command that shows the case."""
        return show_command(self.first.cell, self.command)

    @property
    def replay(self) -> str:
        """The command that runs the cells again."""
        modes = [judged.cell.mode for judged in self.cells]
        return replay_command(self.first.cell, modes, self.command)

    def findings(self, limit: int | None = None) -> list[str]:
        """What differed and what the judge noted, line by line; an indented line explains."""
        judgement = self.first
        found: list[str] = []
        for position, mismatch in enumerate(judgement.mismatches[:limit]):
            found += _lines(mismatch)
            found += self._other_bounds(position)
        left = len(judgement.mismatches[limit:]) if limit is not None else 0
        found += [f"... and {left} more"] if left else []
        return [*found, *([printable(judgement.note)] if judgement.note else [])]

    def _other_bounds(self, position: int) -> list[str]:
        """The bounds of the modes that have another than the one shown."""
        shown = self.first.mismatches[position].bound
        others = []
        for judged in self.cells[1:]:
            mismatch = judged.mismatches[position]
            if mismatch.bound is not None and mismatch.bound != shown:
                floor = "" if mismatch.floor is None else f", detection floor {mismatch.floor:.1e}"
                others.append(f"  in {judged.cell.mode}: bound {mismatch.bound:.3g}{floor}")
        return others


def cell_findings(judged: Judged) -> list[str]:
    """What differed in one cell and what the judge noted, line by line."""
    return Block((judged,)).findings()


def _lines(mismatch: Mismatch) -> list[str]:
    first, *rest = mismatch_lines(mismatch)
    return [printable(first), *(f"  {printable(line)}" for line in rest)]


def blocks_of(results: Results, cells: Iterable[Judged]) -> list[Block]:
    """These cells, fails first, the same finding in several modes as one block."""
    groups: dict[object, list[Judged]] = {}
    for judged in cells:
        groups.setdefault(_identity(judged), []).append(judged)
    blocks = [Block(tuple(group), results.command) for group in groups.values()]
    order = list(LABELS)
    return sorted(blocks, key=lambda block: order.index(block.verdict))


def shortfalls(results: Results) -> list[Block]:
    """How targets fall short, beyond what their baseline says."""
    return blocks_of(results, (judged for judged in results.cells if judged.falls_short))


def new_cases(results: Results) -> list[Block]:
    """The shortfalls in cases that the baseline does not know, where they do not count."""
    new = (judged for judged in results.cells if judged.standing == "new case")
    return blocks_of(results, (judged for judged in new if not judged.falls_short))


def faults(results: Results) -> list[Block]:
    """What is the fault of the suite, the oracle or an adapter."""
    return blocks_of(results, (judged for judged in results.cells if judged.verdict in FAULTS))


def _identity(judged: Judged) -> object:
    """What two cells of a block share: everything but the mode and its bounds."""
    facts = tuple((m.kind, m.name, m.path, m.expected, m.got, m.index) for m in judged.mismatches)
    cell = judged.cell
    return cell.case, cell.target, judged.verdict, judged.note, facts


# ----- counts -----


class Counted:
    """Some cells, counted by their verdict.

    A cell is applicable unless its case says that it is not, so nothing raises a share by being
    declared unsupported, documented as a deviation or left out.
    """

    counts: Mapping[Verdict, int]

    @property
    def cells(self) -> int:
        """All of them."""
        return sum(self.counts.values())

    @property
    def passed(self) -> int:
        """Cells that passed."""
        return self.counts.get("pass", 0)

    @property
    def applicable(self) -> int:
        """Cells whose case applies in their mode."""
        return self.cells - self.counts.get("not_applicable", 0)


@dataclass(frozen=True)
class Row(Counted):
    """The cells of a target's mode."""

    target: str
    mode: str
    counts: Mapping[Verdict, int]


def rows_of(results: Results) -> list[Row]:
    """One row for each target and mode that was asked for or answered."""
    counted: dict[tuple[str, str], Counter[Verdict]] = {
        (target, mode): Counter() for target, modes in results.asked.items() for mode in modes
    }
    for judged in results.cells:
        key = judged.cell.target, judged.cell.mode
        counted.setdefault(key, Counter())[judged.verdict] += 1
    order = list(results.asked)
    keys = sorted(counted, key=lambda key: order.index(key[0]))
    return [Row(target, mode, counted[target, mode]) for target, mode in keys]


def occurring(rows: Iterable[Row]) -> list[Verdict]:
    """The verdicts that some row has, in the order of the columns; `pass` always."""
    seen = {verdict for row in rows for verdict, count in row.counts.items() if count}
    return [verdict for verdict in LABELS if verdict in seen or verdict == "pass"]


@dataclass(frozen=True)
class Standing(Counted):
    """A target's conformance, with all that one number would hide."""

    target: str
    counts: Mapping[Verdict, int]
    compared: int
    seconded: int

    @property
    def share(self) -> str:
        """`98.3 %`, rounded down: 100.0 % means every cell."""
        if not self.applicable:
            return "no cell"
        permille = 1000 * self.passed // self.applicable
        return f"{permille // 10}.{permille % 10} %"

    @property
    def conformance(self) -> str:
        """`301 of 306 applicable cells passed (98.3 %)`."""
        cells = plural(self.applicable, "applicable cell")
        return f"{self.passed} of {cells} passed ({self.share})"

    @property
    def short(self) -> int:
        """Cells by which the target falls short."""
        return sum(self.counts.get(verdict, 0) for verdict in SHORTFALLS)

    @property
    def evidence(self) -> str:
        """How much was compared, and where the oracle was a second witness."""
        facts, cells = plural(self.compared, "fact"), plural(self.seconded, "cell")
        return f"{facts} compared; {cells} judged by both witnesses"


def standings(results: Results) -> list[Standing]:
    """The standing of each target that was asked for."""
    compared: Counter[str] = Counter()
    seconded: Counter[str] = Counter()
    for judged in results.cells:
        compared[judged.cell.target] += judged.compared
        seconded[judged.cell.target] += "oracle" in judged.witnesses
    return [
        Standing(target, results.counts(target), compared[target], seconded[target])
        for target in results.asked
    ]


# ----- targets, and why the word is what it is -----


def names_of(results: Results) -> dict[str, str]:
    """What each target is called in a report: name and version, or its label to tell it apart."""
    titles = {target: printable(results.title(target)) for target in results.asked}
    taken = Counter(titles.values())
    return {
        target: title if taken[title] == 1 else printable(target)
        for target, title in titles.items()
    }


def about_target(results: Results, target: str) -> str:
    """`Python 3.11.7, numpy 2.4.6, Linux x86_64`, or why the target did not start."""
    if target in results.failed:
        return f"did not start: {printable(results.failed[target])}"
    about = results.targets.get(target)
    return "was not started" if about is None else surroundings(about)


def surroundings(about: Mapping[str, Any]) -> str:
    """`Python 3.11.7, numpy 2.4.6, Linux x86_64`, from what a worker says of itself."""
    named = {"Python": "python", "numpy": "numpy", "": "platform"}
    parts = [f"{name} {about[key]}".strip() for name, key in named.items() if about.get(key)]
    return printable(", ".join(parts))


def oracle_line(results: Results) -> str:
    """What the oracle was, where it was not a target itself."""
    if ORACLE_LABEL in results.asked:
        return ""
    if ORACLE_LABEL in results.failed:
        return f"did not start: {printable(results.failed[ORACLE_LABEL])}"
    return printable(results.title(ORACLE_LABEL)) if ORACLE_LABEL in results.targets else ""


def reservations(results: Results) -> list[str]:
    """What else a reader must know before the word: what is missing, and what did not start."""
    found = []
    if not results.complete:
        found.append(f"not complete: {printable(results.reason) or 'the run did not end'}")
    elif results.reason:
        found.append(f"ended early: {printable(results.reason)}")
    for target, reason in results.failed.items():
        found.append(f"{printable(target)} did not start: {printable(reason)}")
    if results.stale:
        count = plural(len(results.stale), "stale cell")
        found.append(f"{count} not judged: the program has changed since the record")
    for judged in results.cells:
        if judged.unstable:
            found.append(f"unstable, another answer when asked again: {printable(judged.cell)}")
    return found
