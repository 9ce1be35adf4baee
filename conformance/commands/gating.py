"""The options of a baseline, for the commands that hold results against one."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from conformance.closing import UsageError
from conformance.corpus.language.case import Case
from conformance.corpus.language.document import CaseFileError
from conformance.verdicts.baseline import Against, Baseline, target_name, updated
from conformance.verdicts.baseline_file import read_baseline, write_baseline
from conformance.verdicts.results import Results


def add_baseline(parser: argparse.ArgumentParser) -> None:
    """The options that say what is known of a target."""
    parser.add_argument("--baseline", metavar="FILE", help="fail only on what is worse than this")
    parser.add_argument(
        "--strict-new", action="store_true", help="fail on cases that the baseline does not know"
    )


def add_update(parser: argparse.ArgumentParser) -> None:
    """The option that writes a baseline."""
    parser.add_argument(
        "--update-baseline", action="store_true", help="write the baseline of this run"
    )


def baseline_of(
    arguments: argparse.Namespace,
    cases: Sequence[Case],
    labels: Sequence[str],
    *,
    narrowed: bool = False,
) -> Against | None:
    """The baseline that the options name, for the targets of these labels.

    `narrowed` says that not every case of the corpus is run. Errors: UsageError.
    """
    updates = getattr(arguments, "update_baseline", False)
    if arguments.baseline is None:
        if updates or arguments.strict_new:
            raise UsageError("--update-baseline and --strict-new need --baseline FILE")
        return None
    if updates and narrowed:
        raise UsageError("--update-baseline writes what the whole corpus shows: select no cases")
    if len(labels) > 1:
        raise UsageError("--baseline speaks of one target: run the others by themselves")
    target = target_name("".join(labels))
    path = Path(arguments.baseline)
    missing = updates and not path.exists()
    baseline = Baseline(target) if missing else _read(path, cases)
    if baseline.target != target:
        raise UsageError(f"{path} is the baseline of {baseline.target}, not of {target}")
    return Against(baseline, str(path), arguments.strict_new)


def _read(path: Path, cases: Sequence[Case]) -> Baseline:
    if not path.exists():
        raise UsageError(f"{path}: no such file; to write it: --update-baseline")
    return read_baseline(path, [case.id for case in cases])


def update(results: Results, cases: Sequence[Case]) -> Iterator[str]:
    """Write the baseline of a whole run, and hold the run against it; what to tell the user.

    Nothing is written where the run is not complete or cannot be trusted.
    """
    against = results.baseline
    assert against is not None
    if not results.complete or results.word not in ("conforms", "falls_short"):
        why = results.reason or results.word
        yield f"{against.file} is left as it is: the run is no whole picture ({why})"
        return
    before = against.baseline
    after = updated(before, results, [case.id for case in cases], date.today().isoformat())
    try:
        write_baseline(Path(against.file), after)
    except OSError as error:
        raise UsageError(f"--baseline {against.file}: {error.strerror}") from error
    except CaseFileError as error:
        raise UsageError(f"{against.file} is not written: {error}") from error
    results.baseline = replace(against, baseline=after)
    yield f"{against.file} written: {_changes(before, after)}"


def _changes(before: Baseline, after: Baseline) -> str:
    old, new = before.entries, after.entries
    counts = {
        "known": len(new),
        "new": len(new.keys() - old.keys()),
        "changed": sum(not new[key].same(old[key]) for key in new.keys() & old.keys()),
        "gone": len(old.keys() - new.keys()),
    }
    return ", ".join(f"{count} {word}" for word, count in counts.items())
