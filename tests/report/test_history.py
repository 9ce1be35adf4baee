"""`gradconf report --format history`: releases side by side, from their records alone."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from conformance.asking.record import read_record
from conformance.corpus.language.case import Case, ExpectedNone, Place
from conformance.corpus.language.loader import load_text
from conformance.report.history import Release, history
from conformance.verdicts.departures import Departure, Departures
from conformance.verdicts.results import results_of
from tests.cases import SQUARE, make_corpus
from tests.commands.versions import RIGHT, keep_ready
from tests.conftest import Program

VERSIONS = {"2.8.4": "None", "2.9.3": RIGHT, "2.10.1": RIGHT}


@pytest.fixture
def records(gradconf: Program, tmp_path: Path) -> Path:
    """Records of three releases, the first of which has no gradients."""
    make_corpus(tmp_path)
    keep_ready(tmp_path, VERSIONS)
    for version in VERSIONS:
        gradconf(
            *("run", f"tensorflow=={version}:eager", "--corpus", "cases", "--repeat", "1"),
            *("--output", f"{version}.jsonl.gz"),
            GRADCONF_CACHE=str(tmp_path),
        )
    (tmp_path / "reports").mkdir()
    for record in tmp_path.glob("*.jsonl.gz"):
        shutil.move(record, tmp_path / "reports" / record.name)
    return tmp_path / "reports"


def shown(gradconf: Program, *words: str) -> str:
    done = gradconf("report", *words, "--format", "history", "--corpus", "cases")
    assert done.returncode == 0, done.stderr
    return done.stdout


def row(text: str, start: str) -> list[str]:
    (line,) = (line for line in text.splitlines() if line.startswith(start))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_releases_stand_in_their_order_with_what_they_keep(
    gradconf: Program, records: Path
) -> None:
    text = shown(gradconf, "reports")
    assert re.findall(r"^\| (2\.\d+\.\d) ", text, re.MULTILINE) == ["2.10.1", "2.9.3", "2.8.4"]
    assert row(text, "| 2.9.3 |")[:6] == ["2.9.3", "3", "", "", "", "0"]
    assert row(text, "| 2.8.4 |")[1:9] == ["1 of 3", "", "", "", "0", "2", "0", "0"]
    assert row(text, "| area |")[1:] == list(VERSIONS)
    assert row(text, "| [`basics`]")[1:] == ["0 of 2", "2", "2"]
    assert row(text, "| [`unconnected`]")[1:] == ["1", "1", "1"]


def test_the_changelog_says_what_changed_with_both_values(gradconf: Program, records: Path) -> None:
    text = shown(gradconf, "reports")
    newest, older = text.split("### 2.9.3 to 2.10.1")[1].split("### 2.8.4 to 2.9.3")
    assert "No change in 3 cells that both answered." in newest
    assert "2 changes in 3 cells that both answered." in older
    assert "**Falls short, and no deviation is documented:**" in older
    assert "- [`basics/squares/square`](../cases/basics/squares.yaml#L5) in eager: The" in older
    assert "<code>g</code> was <code>None</code>, is <code>6.0 (float32)</code>" in older


def test_the_same_records_give_the_same_page(gradconf: Program, records: Path) -> None:
    paths = [str(path) for path in sorted(records.iterdir())]
    assert shown(gradconf, "reports") == shown(gradconf, *paths[::-1])


def test_a_page_is_written_where_it_is_asked_for(
    gradconf: Program, records: Path, tmp_path: Path
) -> None:
    assert shown(gradconf, "reports", "--output", "page.md") == ""
    assert (tmp_path / "page.md").read_text() == shown(gradconf, "reports")
    words = ("report", "reports", "--format", "history", "--corpus", "cases")
    refused = gradconf(*words, "--output", "/dev/null/page.md")
    assert (refused.returncode, "no folder /dev/null" in refused.stderr) == (2, True)


def test_stale_cells_are_counted_and_a_cut_record_is_not_trusted(
    gradconf: Program, records: Path, tmp_path: Path
) -> None:
    make_corpus(tmp_path, basics__squares=SQUARE.replace("y = x * x", "y = x ** 2", 1))
    text = shown(gradconf, "reports")
    assert row(text, "| 2.9.3 |")[1:9] == ["2", "", "", "", "0", "0", "0", "1"]
    whole = (records / "2.9.3.jsonl.gz").read_bytes()
    (records / "2.9.3.jsonl.gz").write_bytes(whole[:-40])
    cut = gradconf("report", "reports", "--format", "history", "--corpus", "cases")
    assert cut.returncode == 4


def test_records_without_a_version_are_refused(gradconf: Program, records: Path) -> None:
    gradconf("run", "reference", "basics", "--corpus", "cases", "--output", "r.jsonl")
    folder = gradconf("report", "cases", "--format", "history", "--corpus", "cases")
    assert (folder.returncode, "cases is a folder without a record" in folder.stderr) == (2, True)


def test_a_change_stands_under_the_deviation_that_explains_it(records: Path) -> None:
    cases = cases_of(SQUARE)
    entry = Departure(
        name="squares",
        cases=("basics/squares/square",),
        modes=("eager",),
        since="2.5",
        until="2.8",
        answer={"g": ExpectedNone()},
        kind="bug",
        right="the guide",
        reason="squares had *no* gradient",
        link="https://example.org/1",
        place=Place("deviations/tensorflow.yaml", 3, 1, "$.departures.squares"),
    )
    deviation = Departures("tensorflow", (entry,))
    releases = []
    for version in VERSIONS:
        record = read_record(records / f"{version}.jsonl.gz")
        releases.append(Release(record, results_of(record, cases, [deviation])))
    text = history(releases, {case.id: case for case in cases}, [deviation])
    explained = text.split("**until 2.8, a bug:** squares had &#42;no&#42; gradient")[1]
    assert explained.startswith(" ([source](https://example.org/1))\n\n- [`basics/squares/square`]")
    assert row(text, "| 2.8.4 |")[5:7] == ["1", "1"], "one deviation, one that falls short"


def cases_of(text: str) -> list[Case]:
    cases = load_text(text, "basics/squares", "cases/basics/squares.yaml")
    assert cases[0].id == "basics/squares/square"
    return cases
