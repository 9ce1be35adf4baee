"""The Report of releases: side by side from their records alone, and what changed in each."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from conformance.asking.record import Record
from conformance.corpus.language.case import ExpectedNone, Place
from conformance.corpus.language.lowering import lower
from conformance.report import render
from conformance.report.model import Report
from conformance.report.of_releases import report_of_releases
from conformance.verdicts.causes import Cause, Causes
from conformance.verdicts.changes import changes_between, side_of
from conformance.verdicts.departures import Departure, Departures
from conformance.verdicts.findings import findings_of
from tests.report.making import LOST, RIGHT, cases_named, raised, sections_of
from tests.report.test_json import documented
from tests.verdicts.making_sides import ABOUT, cell

ONE, TWO = CASES = cases_named("one", "two")
ANSWERS = {"2.8.4": (LOST, RIGHT), "2.9.3": (RIGHT, RIGHT), "2.10.1": (RIGHT, RIGHT)}
DEVIATION = Departures(
    "tensorflow",
    (
        Departure(
            name="squares",
            cases=(ONE.id,),
            modes=("eager",),
            since="2.5",
            until="2.8",
            answer={"g": ExpectedNone()},
            kind="bug",
            right="the guide",
            reason="squares had *no* gradient",
            link="https://example.org/1",
            place=Place("deviations/tensorflow.yaml", 3, 1, "$.departures.squares"),
        ),
    ),
)
(ENTRY,) = DEVIATION.entries
CAUSE = Cause("squares", "Squares have no gradient.", (ENTRY,), ENTRY.place, "None for a value", "")


def record(version: str, given: tuple, *, complete: bool) -> Record:
    """The record of a release that gave these answers to both cases."""
    label = f"tensorflow=={version}"
    answers = [
        cell(answer, case.id, target, program=lower(case).hash)
        for target, told in (("reference", (RIGHT, RIGHT)), (label, given))
        for case, answer in zip(CASES, told, strict=True)
    ]
    header = {"asked": [{"target": label, "modes": ["eager"]}], "command": ["run"]}
    targets = {"reference": ABOUT, label: {**ABOUT, "version": version}}
    return Record(f"{version}.jsonl", header, targets, answers, {}, complete, "")


def report(answers=ANSWERS, *departures: Departures, complete: bool = True) -> Report:
    records = [record(version, given, complete=complete) for version, given in answers.items()]
    releases = [findings_of(one, CASES, departures) for one in records]
    changes = (changes_between(*map(side_of, pair), departures) for pair in pairwise(records))
    causes = Causes((CAUSE,)) if DEVIATION in departures else Causes()
    return report_of_releases(releases, changes, {case.id: case for case in CASES}, causes)


def rows(report: Report, kind: str) -> list[list[str]]:
    (section,) = sections_of(report, kind)
    (table,) = section.tables
    return [[str(getattr(item, "text", item)) for item in row] for row in table.rows]


def test_the_newest_release_stands_first_with_what_it_keeps() -> None:
    found = report()
    told = rows(found, "counts")
    assert [row[0] for row in told] == ["2.10.1", "2.9.3", "2.8.4"]
    assert told[1][:9] == ["2.9.3", "2", "", "", "", "0", "0", "0", "0"]
    assert told[2][1:9] == ["1 of 2", "", "", "", "0", "1", "0", "0"]
    assert told[0][-1] == "Python 3.11.7, numpy 2.4.6, Keras 3.12.0"
    assert rows(found, "areas") == [["math", "1 of 2", "2", "2"]]


def turns(report: Report, number: int = -1) -> list[dict[str, str]]:
    """The rows of a release, by their columns."""
    (table,) = sections_of(report, "changes")[number].tables
    heads = [column.head for column in table.columns]
    return [
        dict(zip(heads, (str(getattr(item, "text", item)) for item in row), strict=True))
        for row in table.rows
    ]


def test_the_changelog_says_what_changed_with_both_values() -> None:
    _, newest, older = sections_of(report(), "changes")
    assert newest.heading == "2.9.3 to 2.10.1"
    assert newest.lines == ("No change in 2 cells that both answered.",)
    assert newest.tables == ()
    assert older.lines[0].startswith("1 change in 2 cells that both answered; 1 cell ")
    (row,) = turns(report())
    assert (row["kind"], row["turn"]) == ("silent value", "")
    assert row["cause"] == "Falls short, and no deviation is documented"
    assert (row["was"], row["is"]) == ("None", "[2.0, 6.0] (float32)")
    assert (row["case"], row["cells"]) == (ONE.id, "1 in eager")


def test_a_change_stands_in_the_row_of_its_cause() -> None:
    found = report(ANSWERS, DEVIATION)
    (row,) = turns(found)
    assert (row["cause"], row["turn"]) == ("Squares have no gradient.", "ends")
    assert (row["why"], row["source"]) == (ENTRY.reason, "source")
    assert sections_of(found, "changes")[-1].lines[0].endswith("answered; 1 cause.")
    assert rows(found, "counts")[2][5:7] == ["1", "0"], "one deviation, none that falls short"
    assert [changed.reason for changed in found.changes] == [ENTRY.reason]


def test_a_cause_that_begins_says_so_with_what_it_takes() -> None:
    answers = {"2.7.4": (RIGHT, RIGHT), "2.8.4": (LOST, RIGHT)}
    entry = replace(ENTRY, since="2.8")
    found = report(answers, replace(DEVIATION, entries=(entry,)))
    (row,) = turns(found)
    assert (row["kind"], row["cause"]) == ("None for a value", ENTRY.reason)
    assert row["turn"] == "begins"


def test_changes_of_words_alone_are_counted_and_not_told() -> None:
    answers = {"2.8.4": (raised("no"), RIGHT), "2.9.3": (raised("never"), RIGHT)}
    section = sections_of(report(answers), "changes")[-1]
    assert section.lines[0].endswith("; 1 cell in the words of an error alone.")
    assert section.tables == ()


def test_a_record_that_was_cut_is_not_trusted() -> None:
    assert (report().word, report().exit_code) == ("conforms", 0)
    cut = report(complete=False)
    assert (cut.word, cut.exit_code) == ("untrustworthy", 4)
    assert len(cut.reservations) == 3


def test_the_page_is_markdown_with_links_into_the_repository() -> None:
    text = render(report(ANSWERS, DEVIATION), "markdown")
    assert text.startswith("# Who keeps the gradient contract, release by release\n\nMade from")
    assert "| [<code>math</code>](../cases/math) | 1 of 2 | 2 | 2 |\n" in text
    assert (
        "| silent value | Squares have no gradient. | ends | [<code>math/sq/one</code>]"
        "(../cases/math/sq.yaml#L4) | 1 in eager | None | &#91;2.0, 6.0&#93; (float32) | squares"
        " had &#42;no&#42; gradient | [<code>source</code>](https://example.org/1) |\n"
    ) in text
    assert not text.endswith("**\n"), "a page of a repository closes with no word"
    for format in ("html", "text"):
        assert "2.10.1" in render(report(), format)
    assert documented(report(ANSWERS, DEVIATION))["kind"] == "releases"
    link = '<a href="https://example.org/1" rel="noreferrer">source</a>'
    assert link in render(report(ANSWERS, DEVIATION), "html")
