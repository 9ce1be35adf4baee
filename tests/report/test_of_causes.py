"""The report of findings: each fault with what shows it, the most severe first; and our page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.report import FORMATS, render
from conformance.report.model import Report
from conformance.report.of_causes import Faults, report_of_causes
from conformance.verdicts.causes import Cause, Causes
from conformance.verdicts.departures import Departures
from conformance.verdicts.shown import shown
from tests.report.making import LOST, RIGHT
from tests.report.test_json import documented
from tests.report.test_of_releases import CASES, ENTRY, ONE, record

ROOT = Path(__file__).parent.parent.parent
SCRIPT = "import tensorflow as tf\nprint('departs')\n"
ISSUE = "https://example.org/issues/2"
DRAWN = "gradconf fuzz tensorflow --seed 7"
OTHER = replace(ENTRY, name="cubes", cases=("math/sq/cube",), since="2.9", until="2.9")
CAUSES = Causes(
    (
        Cause("squares", "Squares have none.", (ENTRY,), ENTRY.place, "None for a value", SCRIPT),
        Cause("cubes", "Cubes have none.", (OTHER,), ENTRY.place, "raises", SCRIPT, ISSUE, DRAWN),
        Cause("old", "An old release lacks it.", (replace(ENTRY, name="old"),), ENTRY.place),
    )
)
DEVIATIONS = Departures("tensorflow", (ENTRY, OTHER))


@pytest.fixture(scope="module")
def report() -> Report:
    answers = {"2.5.3": (LOST, RIGHT), "2.8.4": (LOST, RIGHT), "2.10.1": (RIGHT, RIGHT)}
    records = [record(version, given, complete=True) for version, given in answers.items()]
    found = list(shown(CAUSES, records, CASES, [DEVIATIONS]))
    return report_of_causes([Faults("tensorflow", "2.10.1", found)])


def test_a_fault_has_its_releases_its_case_both_values_and_its_script(report: Report) -> None:
    counts, none, _ = report.sections
    assert none.title == "tensorflow, None for a value: None where a gradient is due (1 cause)"
    (block,) = none.blocks
    assert (block.label, block.title) == ("None for a value", "Squares have none.")
    assert (block.cause, block.modes) == ("2.5 to 2.8 (recorded: 2.5.3, 2.8.4)", ("eager",))
    assert (block.case, block.file, block.line) == (ONE.id, ONE.place.file, ONE.place.line)
    assert block.findings[0].startswith("none: g: got None, expected")
    assert (block.program, block.link) == (SCRIPT, ENTRY.link)
    assert block.reason == "squares had *no* gradient; right is the guide"
    (table,) = counts.tables
    assert [row[2:] for row in table.rows if row[0] == "None for a value"] == [(1, 0)]
    assert sum(row[2] for row in table.rows) == 2, "what is no fault is no finding"


def test_a_fault_of_releases_without_a_record_says_what_they_answer(report: Report) -> None:
    (block,) = report.sections[-1].blocks
    assert block.cause == "2.9 to 2.9 (recorded: none)"
    assert (block.case, block.findings) == ("math/sq/cube", ("tensorflow answers g: None",))
    assert block.link == ISSUE, "rather than what its departures link to"
    assert block.reason.endswith(f"; found by {DRAWN}")


@pytest.mark.parametrize(
    ("until", "mode", "said"),
    [
        ("", "eager", "2.10.1"),
        ("", "xla", "2.10.1 (recorded: none)"),
        ("2.99", "eager", "the first release to 2.99 (recorded: 2.10.1)"),
    ],
)
def test_a_departure_without_bounds_is_of_the_recorded_releases(
    until: str, mode: str, said: str
) -> None:
    always = replace(ENTRY, since="", until=until, modes=(mode,))
    causes = Causes(
        (Cause("squares", "Squares have none.", (always,), ENTRY.place, "raises", SCRIPT),)
    )
    records = [record("2.10.1", (LOST, RIGHT), complete=True)]
    found = list(shown(causes, records, CASES, [Departures("tensorflow", (always,))]))
    (counts, section) = report_of_causes([Faults("jax", "2.10.1", found)]).sections
    assert [block.cause for block in section.blocks] == [said]
    (table,) = counts.tables
    assert [column.head for column in table.columns][2:] == ["jax 2.10.1"]
    assert sum(row[2] for row in table.rows) == 1


def test_the_formats_have_the_script_as_it_stands(report: Report) -> None:
    text = render(report, "markdown")
    assert "\n\n### Squares have none.\n\n**None for a value** in 2.5 to 2.8" in text
    assert f"```python\n{SCRIPT}```\n" in text
    assert f"[<code>{ONE.id}</code>](../cases/math/sq.yaml#L4):" in text
    assert documented(report)["kind"] == "causes"
    assert "print(&#39;departs&#39;)" in render(report, "html")
    assert "text" not in FORMATS["causes"]


@pytest.mark.slow
def test_the_page_of_findings_is_what_the_records_say(tmp_path: Path) -> None:
    made, page = tmp_path / "FINDINGS.md", ROOT / "reports" / "FINDINGS.md"
    records = str(ROOT / "reports"), str(ROOT / "reports" / "frameworks")
    words = "report", *records, "--format", "findings", "--output", str(made)
    assert main(words) == 0
    assert made.read_text() == page.read_text(), "gradconf " + " ".join(words)
