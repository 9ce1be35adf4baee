"""The ten committed records, judged anew: every verdict is the one that is written down.

`releases.txt` is the text of all verdicts; where a change of the cases or deviations is meant to
change some, `python -m tests.verdicts.test_records` writes it anew, and the diff is reviewed.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from packaging.version import Version

from conformance.asking.record import read_record
from conformance.corpus.moves import ids_of_today
from conformance.files import data_folder
from conformance.verdicts.departure_file import read_folder
from conformance.verdicts.findings import Findings, findings_of
from conformance.verdicts.judge import WITNESSES, witnessed
from tests.cases import whole_corpus

ROOT = Path(__file__).parent.parent.parent
WRITTEN = Path(__file__).with_name("releases.txt")


def releases(*only: str) -> Iterator[tuple[str, Findings]]:
    """The version and the findings of each record, or of some, the oldest version first."""
    cases = whole_corpus()
    moved = ids_of_today(cases)
    deviations = read_folder(data_folder("deviations"), cases)
    paths = {re.sub(r"tensorflow-|\.jsonl\.gz", "", path.name): path for path in records()}
    for version in sorted(only or paths, key=Version):
        yield version, findings_of(read_record(paths[version], moved), cases, deviations)


def records() -> list[Path]:
    return list((ROOT / "reports").glob("*.jsonl.gz"))


def text_of(results: Iterable[tuple[str, Findings]]) -> str:
    """A line of counts for each record, then a line for each cell that does not plainly pass."""
    lines = []
    versions: dict[str, list[str]] = defaultdict(list)
    for version, found in results:
        verdicts = Counter((cell.cell.target, cell.verdict) for cell in found.everything)
        counts = (f"{count} {' '.join(key)}" for key, count in sorted(verdicts.items()))
        facts = sum(cell.compared for cell in found.everything)
        held = Counter(map(witnessed, found.everything))
        by = ", ".join(f"{held[kind]} {kind}" for kind in WITNESSES if held[kind])
        lines.append(
            f"{version}: {found.word}; {', '.join(counts)}; {facts} facts compared, "
            f"cells by witnesses: {by}; {len(found.stale)} stale"
        )
        for cell in found.everything:
            if cell.verdict != "pass":
                label = cell.cell.target.partition("==")[0]
                where = f"{cell.cell.case} [{label}:{cell.cell.mode}] {cell.verdict}"
                versions[where].append(version)
    lines += [f"{where}: {' '.join(of)}" for where, of in sorted(versions.items())]
    return "\n".join(lines) + "\n"


def told_of(text: str, versions: set[str]) -> set[str]:
    """What a text says of some versions alone."""
    told = set()
    for line in text.splitlines():
        head, _, tail = line.rpartition(": ")
        of = " ".join(version for version in tail.split() if version in versions)
        if line.partition(": ")[0] in versions:
            told.add(line)
        elif of:
            told.add(f"{head}: {of}")
    return told


def test_every_verdict_of_the_oldest_and_the_newest_record_is_what_it_was() -> None:
    both = {"2.5.3", "2.22.0rc0"}
    written = told_of(WRITTEN.read_text(encoding="utf-8"), both)
    assert len(written) > 1000
    assert told_of(text_of(releases(*both)), both) == written


@pytest.mark.slow
def test_every_verdict_of_the_ten_records_is_what_it_was() -> None:
    assert len(records()) == 10
    assert text_of(releases()).splitlines() == WRITTEN.read_text(encoding="utf-8").splitlines()


def test_no_fewer_cells_are_held_against_two_witnesses() -> None:
    """The counts are those of the test above: what the oracle has is always compared."""
    newest = next(
        line for line in WRITTEN.read_text(encoding="utf-8").splitlines() if "2.21.0: " in line
    )
    counts = {kind: re.search(rf"(\d+) {kind}", newest) for kind in WITNESSES}
    held = {kind: int(found[1]) if found else 0 for kind, found in counts.items()}
    assert held["declared and oracle"] + held["derivative and oracle"] >= 3001
    alone = held["one only"] / sum(held.values())
    assert alone < 0.4, "the reference's own cells, which have no other witness, among them"


if __name__ == "__main__":
    WRITTEN.write_text(text_of(releases()), encoding="utf-8")
