"""What is shown while a run goes: one line redrawn on a terminal, a few plain lines elsewhere."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Mapping
from types import TracebackType
from typing import TextIO

from conformance.answers.mismatch import lines as mismatch_lines
from conformance.asking.events import Answered, Event, TargetFailed
from conformance.report.style import (
    OF_VERDICT,
    WIDTH,
    ColorChoice,
    columns,
    cut,
    is_terminal,
    style_of,
)
from conformance.report.summary import LABELS, surroundings
from conformance.targets.specification import name_of
from conformance.text import printable
from conformance.verdicts.results import FAULTS, SHORTFALLS, Judged, Results

EVERY = 0.1
"""Seconds between two drawings of the status line."""
ANNOUNCED = 20
"""How many shortfalls are announced as they arrive; the others are counted."""
QUARTERS = 4


class Progress:
    """Shows how far a run is; give it each event and each judged cell, and close it.

    `cases` is how many cases each mode of each target runs. On a terminal one status line is
    redrawn and shortfalls are printed above it; elsewhere, and in CI, a line for each target and
    one for each quarter. `quiet` shows nothing.
    """

    def __init__(
        self,
        results: Results,
        cases: int,
        stream: TextIO,
        *,
        color: ColorChoice = "auto",
        quiet: bool = False,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        environ = os.environ if environ is None else environ
        self._results = results
        self._total = cases * sum(map(len, results.asked.values()))
        self._stream = stream
        self._quiet = quiet
        self._style = style_of(stream, color, environ)
        self._live = not quiet and is_terminal(stream, environ) and not environ.get("CI")
        self._started = time.monotonic()
        self._drawn_at = 0.0
        self._drawn = 0
        self._done = 0
        self._round = 0
        self._short: Counter[str] = Counter()
        self._at_fault: Counter[str] = Counter()
        self._seen: set[str] = set()
        self._lock = threading.RLock()
        self._closed = threading.Event()
        if self._live:
            threading.Thread(target=self._tick, daemon=True).start()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self.close()

    def event(self, event: Event) -> None:
        """Say that a target has started, or why it did not, or that cells are asked again."""
        if isinstance(event, Answered):
            if event.repeat > self._round:
                self._round = event.repeat
                self._say(f"asking what may be unstable in a fresh process, round {self._round}")
            return
        if event.target in self._seen:
            return
        self._seen.add(event.target)
        target = printable(event.target)
        if isinstance(event, TargetFailed):
            self._say(f"{target} did not start: {printable(event.reason)}")
            return
        version = event.about.get("version") or ""
        title = f"{name_of(target)} {printable(version)}".strip()
        self._say(f"{title} started in {self._elapsed()} ({surroundings(event.about)})")

    def judged(self, judged: Judged) -> None:
        """Count a cell, and announce it where it falls short."""
        if judged.cell.target not in self._results.asked:
            return
        self._done += 1
        if judged.verdict in (*SHORTFALLS, *FAULTS):
            counter = self._short if judged.verdict in SHORTFALLS else self._at_fault
            counter[judged.cell.target] += 1
            self._announce(judged)
        if self._live:
            self._draw()
        elif self._reached_a_quarter():
            self._say(self._status())

    def close(self) -> None:
        """Take the status line away."""
        with self._lock:
            self._closed.set()
            self._erase()

    # ----- what is said -----

    def _announce(self, judged: Judged) -> None:
        count = self._short.total() + self._at_fault.total()
        if not self._live or count > ANNOUNCED + 1:
            return
        if count > ANNOUNCED:
            self._say("the next ones are counted here and told at the end")
            return
        mismatches, note = judged.mismatches, judged.note
        why = mismatch_lines(mismatches[0])[0] if mismatches else note
        label = self._style.paint(LABELS[judged.verdict], OF_VERDICT[judged.verdict])
        room = self._width() - columns(LABELS[judged.verdict]) - 2
        self._say(f"{label}  {cut(f'{printable(judged.cell)} {printable(why)}', room)}")

    def _status(self) -> str:
        told = [f"{self._done}/{self._total} cells", self._elapsed()]
        for target in self._results.asked:
            short, at_fault = self._short[target], self._at_fault[target]
            counts = [f"{short} fall short"] if short else []
            counts += [f"{at_fault} at fault"] if at_fault else []
            if counts:
                told.append(f"{printable(self._results.title(target))}: {', '.join(counts)}")
        return "  ".join(told)

    def _elapsed(self) -> str:
        seconds = time.monotonic() - self._started
        return f"{seconds:.1f} s" if seconds < 60 else f"{seconds // 60:.0f}:{seconds % 60:02.0f}"

    def _reached_a_quarter(self) -> bool:
        before = (self._done - 1) * QUARTERS // max(self._total, 1)
        return self._done * QUARTERS // max(self._total, 1) > before

    # ----- how it is drawn -----

    def _say(self, line: str) -> None:
        if self._quiet:
            return
        with self._lock:
            self._erase()
            self._stream.write(self._style.encodable(line) + "\n")
            self._stream.flush()
            self._drawn_at = 0.0

    def _draw(self) -> None:
        with self._lock:
            now = time.monotonic()
            if self._closed.is_set() or now - self._drawn_at < EVERY:
                return
            self._drawn_at = now
            bar = self._style.bar(self._done, self._total)
            line = self._style.encodable(cut(f"{bar} {self._status()}", self._width() - 1))
            rest = " " * (self._drawn - columns(line))
            self._drawn = columns(line)
            self._stream.write(f"\r{line}{rest}")
            self._stream.flush()

    def _erase(self) -> None:
        if self._drawn:
            self._stream.write(f"\r{' ' * self._drawn}\r")
            self._stream.flush()
            self._drawn = 0

    def _tick(self) -> None:
        """Keep the clock going while a cell takes long."""
        while not self._closed.wait(1.0):
            self._draw()

    def _width(self) -> int:
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or WIDTH
        except (OSError, ValueError):
            return WIDTH
