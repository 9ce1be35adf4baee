"""What is known of targets: documented deviations, and the baseline that a run is held against."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

from conformance.closing import UsageError
from conformance.corpus.language.case import Case
from conformance.corpus.language.document import CaseFileError, read_all
from conformance.files import data_folder
from conformance.verdicts.causes import Causes, read_causes
from conformance.verdicts.departure_file import (
    CAUSES,
    lent,
    read_departures,
    read_folder,
    write_departures,
)
from conformance.verdicts.departures import Departures, Gate, target_name
from conformance.verdicts.findings import ORACLE_LABEL, Findings


def add_known(parser: argparse.ArgumentParser) -> None:
    """The options that say what is known of a target."""
    add, lists = parser.add_argument, "tensorflow, or a file of your own"
    add("--baseline", metavar="FILE", help="fail only on what is worse than this")
    add("--strict-new", action="store_true", help="fail on cases that the baseline does not know")
    add("--deviations", metavar="LIST", help=f"hold the targets against this list: {lists}")


def documented(
    arguments: argparse.Namespace, cases: Sequence[Case] | None, labels: Sequence[str]
) -> list[Departures]:
    """The documented deviations: a list that is lent to every target, or else our own.

    They are held against these `cases`, where they are the whole corpus.
    """
    if arguments.deviations:
        names = sorted({target_name(label) for label in labels} - {ORACLE_LABEL})
        return [lent(arguments.deviations, name, cases) for name in names]
    return our_deviations(arguments, cases)


def our_deviations(
    arguments: argparse.Namespace, cases: Sequence[Case] | None = None
) -> list[Departures]:
    """Our own lists; there is none for the cases of somebody else."""
    return [] if arguments.corpus else read_folder(data_folder("deviations"), cases)


def our_causes(lists: Sequence[Departures]) -> dict[str, Causes]:
    """The causes of what our own lists say, by their targets.

    Raises CaseFileError with every fault; a list without causes is one.
    """
    by_file = {f"{CAUSES}/{found.target}.yaml": found for found in lists}
    folder = data_folder("deviations")
    causes = read_all(
        map(Path, by_file),
        lambda file: read_causes(folder / file, by_file[file.as_posix()], f"deviations/{file}"),
    )
    return dict(zip((found.target for found in lists), causes, strict=True))


def gate_of(
    arguments: argparse.Namespace,
    cases: Sequence[Case] | None,
    labels: Sequence[str],
    *,
    updates: bool = False,
) -> Gate | None:
    """The baseline that the options name, for the targets of these labels.

    Where a run `updates` it there may be none yet.
    """
    if arguments.baseline is None:
        if updates or arguments.strict_new:
            raise UsageError("--update-baseline and --strict-new need --baseline FILE")
        return None
    if len(labels) > 1:
        raise UsageError("--baseline speaks of one target: run the others by themselves")
    target, path = target_name("".join(labels)), Path(arguments.baseline)
    if updates and not path.exists():
        return Gate(Departures(target, file=str(path)), arguments.strict_new)
    if not path.exists():
        raise UsageError(f"{path}: no such file; to write it: --update-baseline")
    baseline = read_departures(path, cases)
    if baseline.target != target:
        raise UsageError(f"{path} is the baseline of {baseline.target}, not of {target}")
    return Gate(baseline, arguments.strict_new)


def update(findings: Findings, cases: Sequence[Case]) -> Iterator[str]:
    """Write the baseline of a whole run, and hold the run against it; what to tell the user.

    Nothing is written where the run is not complete or cannot be trusted.
    """
    assert findings.gate is not None
    before = findings.gate.baseline
    if not findings.complete or findings.word not in ("conforms", "falls_short"):
        why = findings.reason or findings.word
        yield f"{before.file} is left as it is: the run is no whole picture ({why})"
        return
    after = findings.as_baseline(cases, date.today().isoformat())
    try:
        write_departures(Path(before.file), after)
    except OSError as error:
        raise UsageError(f"--baseline {before.file}: {error.strerror}") from error
    except CaseFileError as error:
        raise UsageError(f"{before.file} is not written: {error}") from error
    findings.hold_against(after)
    yield f"{before.file} written: {_changes(before, after)}"


def _changes(before: Departures, after: Departures) -> str:
    old, new = _known(before), _known(after)
    counts = {
        "known": len(new),
        "new": len(new.keys() - old.keys()),
        "changed": sum(new[cell] != old[cell] for cell in new.keys() & old.keys()),
        "gone": len(old.keys() - new.keys()),
    }
    return ", ".join(f"{count} {word}" for word, count in counts.items())


def _known(departures: Departures) -> dict[tuple[str, str], object]:
    """What the known failures answer, by case and mode."""
    return {
        (case, mode): (entry.answer, entry.ends)
        for entry in departures.entries
        if entry.kind == "known"
        for case in entry.cases
        for mode in entry.modes
    }
