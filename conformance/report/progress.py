"""What is shown while a run goes: one line redrawn on a terminal, a few plain lines elsewhere."""

from __future__ import annotations

import os
import time
from collections import Counter
from typing import TextIO

from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from conformance.answers.mismatch import lines as mismatch_lines
from conformance.asking.events import Answered, Event, TargetFailed
from conformance.report.building import surroundings
from conformance.report.model import LABELS
from conformance.report.text import COLOURS, console_on, cut, encodable, no_command
from conformance.targets.specification import name_of
from conformance.text import printable
from conformance.verdicts.findings import Finding, Findings
from conformance.verdicts.judge import FAULTS

ANNOUNCED = 20
"""How many shortfalls are announced as they arrive; the others are counted."""
QUARTERS = 4
BAR = 16


class Progress:
    """Shows how far a run is; give it each event and each finding, and close it.

    `cells` is how many are asked for. On a terminal one status line is
    redrawn and shortfalls are printed above it; elsewhere, and in CI, a line for each target and
    one for each quarter. `quiet` shows nothing.
    """

    def __init__(self, run: Findings, cells: int, stream: TextIO, *, quiet: bool = False) -> None:
        self._run = run
        self._total = cells
        self._stream = stream
        self._quiet = quiet
        self._started = time.monotonic()
        self._done = self._round = 0
        self._announced: Counter[tuple[str, str]] = Counter()
        self._seen: set[str] = set()
        self._console, _ = console_on(stream)
        self._live: Live | None = None
        redrawn = stream.isatty() and not self._console.is_dumb_terminal
        if redrawn and not quiet and not os.environ.get("CI"):
            self._live = Live(
                console=self._console,
                get_renderable=self._drawn,
                transient=True,
                refresh_per_second=10,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()

    def event(self, event: Event) -> None:
        """Say that a target has started, or why it did not, or that cells are asked again."""
        if isinstance(event, Answered):
            if event.repeat > self._round:
                self._round = event.repeat
                self._say(f"asking what may be unstable in a fresh process, round {self._round}")
        elif event.target not in self._seen:
            self._seen.add(event.target)
            if isinstance(event, TargetFailed):
                self._say(f"{event.target} did not start: {event.reason}")
            else:
                title = f"{name_of(event.target)} {event.about.get('version') or ''}".strip()
                self._say(f"{title} started in {self._elapsed()} ({surroundings(event.about)})")

    def found(self, found: Finding) -> None:
        """Count a cell, and announce it where it falls short."""
        if found.cell.target not in self._run.asked:
            return
        self._done += 1
        if found.falls_short or found.verdict in FAULTS:
            kind = "fall short" if found.falls_short else "at fault"
            self._announced[found.cell.target, kind] += 1
            self._announce(found)
        if not self._live and self._reached_a_quarter():
            self._say(self._status())

    def close(self) -> None:
        """Take the status line away."""
        if self._live:
            self._live.stop()

    # ----- what is said -----

    def _announce(self, found: Finding) -> None:
        count = self._announced.total()
        if self._live and count <= ANNOUNCED:
            why = mismatch_lines(found.mismatches[0])[0] if found.mismatches else found.note
            self._say(f"{found.cell} {why}", LABELS[found.verdict], found.verdict)
        elif self._live and count == ANNOUNCED + 1:
            self._say("the next ones are counted here and told at the end")

    def _say(self, text: str, label: str = "", tone: str = "") -> None:
        """Print a line; above the status line, and no wider than the terminal, if there is one."""
        if self._quiet:
            return
        line = self._printable(text)
        if self._live is None:
            self._stream.write(f"{line}\n")
            self._stream.flush()
            return
        lead = f"{label}  " if label else ""
        shown = cut(line, self._console.width - len(lead))
        self._console.print(Text.assemble((lead, COLOURS.get(tone, "")), shown))

    def _printable(self, text: str) -> str:
        return encodable(no_command(printable(text)), self._stream)

    def _status(self) -> str:
        told = [f"{self._done}/{self._total} cells", self._elapsed()]
        for target in self._run.asked:
            counted = {kind: self._announced[target, kind] for kind in ("fall short", "at fault")}
            counts = ", ".join(f"{count} {kind}" for kind, count in counted.items() if count)
            told += [f"{self._run.title(target)}: {counts}"] if counts else []
        return ", ".join(told)

    def _elapsed(self) -> str:
        seconds = time.monotonic() - self._started
        return f"{seconds:.1f} s" if seconds < 60 else f"{seconds // 60:.0f}:{seconds % 60:02.0f}"

    def _reached_a_quarter(self) -> bool:
        quarter = max(self._total, 1) / QUARTERS
        return self._done // quarter > (self._done - 1) // quarter

    def _drawn(self) -> Table:
        """The status line: a bar, then how far the run is."""
        status = cut(self._printable(self._status()), self._console.width - BAR - 2)
        line = Table.grid(padding=(0, 1))
        line.add_row(ProgressBar(max(self._total, 1), self._done, width=BAR), status)
        return line
