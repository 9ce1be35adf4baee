"""What must be true of a run after a fault; each check returns its findings, none if it holds."""

from __future__ import annotations

import contextlib
import io
import json
import signal
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from conformance.asking.record import RecordError, read_record
from conformance.cli import main
from conformance.closing import EXIT_CODES

Cells = frozenset[tuple[str, str, str]]
WORDS = {code: word for word, code in EXIT_CODES.items()}
KEPT = ("answered", "crash", "timeout")
LOST_ANSWERS = ("crash", "timeout", "adapter_error", "not_run")


@dataclass
class Ended:
    """A run that met a fault, and what is left of it."""

    fault: str
    code: int
    record: Path
    corpus: Path
    stdout: str | None
    """None where nobody read it."""
    stderr: str
    codes: frozenset[int]
    """The exit codes that this fault may lead to."""
    asked: Cells
    finished_before: Cells
    """The cells whose lines stood in the record when the fault came."""
    left: list[int] = field(default_factory=list)
    """The processes that outlived the run."""
    resumed: Path | None = None
    """The record after the run was resumed."""
    resumed_code: int = 0


def cells_in(path: Path) -> list[tuple[str, str, str]]:
    """The cells that have a whole line in a record, in order: read without the code under test."""
    return [(line["case"], line["target"], line["mode"]) for line in _cell_lines(path)]


def lines_in(path: Path) -> list[bytes]:
    """The whole lines of a record that may still be growing, or be cut short."""
    data = path.read_bytes() if path.exists() else b""
    if path.suffix == ".gz":
        data = zlib.decompressobj(wbits=31).decompress(data)
    return data.split(b"\n")[:-1]


def _cell_lines(path: Path) -> Iterator[dict[str, str]]:
    for line in lines_in(path):
        content = json.loads(line)
        if "case" in content:
            yield content


def lost(run: Ended) -> list[str]:
    """Cells that were finished and are not in the record, or that a run to its end never had."""
    if not run.record.exists():
        return []
    recorded = frozenset(cells_in(run.record))
    due = run.asked if run.code in (0, 1) else run.finished_before
    found = [f"no line of {' '.join(cell)}" for cell in sorted(due - recorded)]
    announced = _announced(run.stderr)
    if announced > len(recorded):
        found.append(f"{announced} cells announced, {len(recorded)} recorded")
    return found


def _announced(stderr: str) -> int:
    """How many cells of the target the last progress line counts."""
    counts = [line.split("/")[0] for line in stderr.splitlines() if " cells  " in line]
    return int(counts[-1]) if counts else 0


def double(run: Ended) -> list[str]:
    """Cells with more than one line, or of which nobody asked."""
    counts = Counter(cells_in(run.record))
    twice = [f"{count} lines of {' '.join(cell)}" for cell, count in counts.items() if count > 1]
    return twice + [f"a line of {' '.join(cell)}" for cell in sorted(set(counts) - run.asked)]


def costly(run: Ended) -> list[str]:
    """More than the one cell that a lost worker may cost."""
    return [f"{line['outcome']} of {line['case']}" for line in _missed(run)[1:]]


def _missed(run: Ended) -> list[dict[str, str]]:
    return [line for line in _cell_lines(run.record) if line["outcome"] in LOST_ANSWERS]


def unreadable(run: Ended) -> list[str]:
    """A record that is neither whole nor named as truncated."""
    if not run.record.exists():
        return []
    try:
        complete = read_record(run.record).complete
    except RecordError as error:
        return [str(error)]
    code, word, text = _reported(run.record, run.corpus)
    if WORDS.get(code) != word:
        return [f"the report ends in {word!r} with code {code}"]
    if complete and run.code in (0, 1, 4) and code != run.code:
        return [f"the run ended with code {run.code}, its report with {code}"]
    if not complete and (code not in (4, 130) or "not complete: " not in text):
        return [f"an incomplete record is reported with code {code}"]
    return []


def _reported(record: Path, corpus: Path) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(["report", str(record), "--corpus", str(corpus)])
    text = out.getvalue() + err.getvalue()
    return code, text.splitlines()[-1], text


def unclear(run: Ended) -> list[str]:
    """An ending with another code than the fault allows, without its word, or with a traceback."""
    found = []
    if run.code not in run.codes and not _was_over(run):
        missed = [f"{line['outcome']} of {line['case']}" for line in _missed(run)]
        found.append(f"exit code {run.code}, expected one of {sorted(run.codes)}; {missed}")
    texts = [text for text in (run.stdout, run.stderr) if text]
    found += [text for text in texts if "Traceback" in text or "Exception ignored" in text]
    last = {text.splitlines()[-1] for text in texts}
    if run.code >= 0 and run.stdout is not None and WORDS.get(run.code) not in last:
        found.append(f"the word for code {run.code} is not the last line: {sorted(last)}")
    return found


def _was_over(run: Ended) -> bool:
    """Whether a signal ended a host that had said its last word: it hears none at its very end."""
    said = (run.stdout or "").splitlines()
    asked_to_end = run.code in (-signal.SIGTERM, -signal.SIGINT)
    return asked_to_end and bool(said) and said[-1] in WORDS.values()


def lost_by_resuming(run: Ended) -> list[str]:
    """Answers that resuming changed, cells that are missing afterwards, and how it ended."""
    if run.resumed is None:
        return []
    before, after = (_answers(path) for path in (run.record, run.resumed))
    kept = {
        cell
        for cell, line in before.items()
        if line["outcome"] == "answered" or (line["outcome"] in KEPT and cell[1] != "reference")
    }
    found = [f"{' '.join(cell)} is another one" for cell in kept if before[cell] != after.get(cell)]
    found += [f"no line of {' '.join(cell)}" for cell in run.asked - after.keys()]
    due = {1} if any(before[cell]["outcome"] != "answered" for cell in kept) else {0}
    if run.resumed_code not in due:
        found.append(f"the resumed run ends with code {run.resumed_code}")
    return found + double(replace(run, record=run.resumed))


def _answers(path: Path) -> dict[tuple[str, str, str], dict[str, str]]:
    return {(line["case"], line["target"], line["mode"]): line for line in _cell_lines(path)}


def left_over(run: Ended) -> list[str]:
    """Processes that outlived the run."""
    return [f"process {process}" for process in run.left]


CHECKS = {
    "cells lost": lost,
    "cells double": double,
    "cells lost besides the one that a worker may cost": costly,
    "records unreadable": unreadable,
    "endings unclear": unclear,
    "cells lost by resuming": lost_by_resuming,
    "processes left": left_over,
}
