"""Where frameworks choose differently: points, versions, the odd one out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.answers.answer import Answer
from conformance.asking.record import Record
from conformance.report import render
from conformance.report.of_conventions import report_of_conventions
from conformance.verdicts.conventions import points
from tests.report.making import LACKS, LOST, RIGHT, WRONG, cases_named, deviation, events

VERSIONS = {"jax": "1", "torch": "2", "mygrad": "3"}


def record(target: str, version: str, answer: Answer) -> Record:
    cases = {case.id.rsplit("/", 1)[1]: case for case in cases_named("point", "other")}
    said = list(events({target: {"point": answer, "other": RIGHT}}, cases, RIGHT, ("eager",)))
    return Record(
        f"{target}.jsonl",
        {"asked": [{"target": target, "modes": ["eager"]}]},
        {target: {"version": version}},
        [event for event in said if hasattr(event, "cell")],
        {},
        complete=True,
        reason="",
    )


def told(*records: Record) -> str:
    """The page of these records, where torch departs by convention from the contract."""
    (one,) = deviation("math/sq/point", target="torch").entries
    entry = replace(one, kind="convention", since="", until="", reason="it rounds up")
    lists = [replace(deviation("math/sq/point", target="torch"), entries=(entry,))]
    found = list(points(records, cases_named("point", "other"), lists))
    versions: dict[str, list[str]] = {}
    for each in records:
        (name,) = each.asked
        versions.setdefault(name, []).append(each.version)
    return render(report_of_conventions(found, versions), "markdown")


def row(text: str) -> str:
    (line,) = (line for line in text.splitlines() if line.startswith("| [<code>point"))
    return line.replace("&#91;", "[").replace("&#93;", "]")


def test_a_row_has_the_contract_each_choice_and_the_link() -> None:
    text = told(
        record("jax", "1", RIGHT), record("mygrad", "3", RIGHT), record("torch", "2", WRONG)
    )
    assert "| [2.0, 6.0] (float32) | = | = |" in row(text)
    assert "**[<code>[2.0, 6.5] (float32)</code>](https://example.org/1)**" in row(text)
    assert row(text).endswith("| it rounds up |")
    assert "<code>other" not in text
    assert "| torch | 2 | 1 | 1 | 1 |" in text
    assert "| jax | 1 | 1 | 0 | 0 |" in text


def test_the_odd_one_out_may_be_who_keeps_the_contract() -> None:
    others = [record("torch", "2", WRONG), record("mygrad", "3", WRONG)]
    assert "| **=** |" in row(told(record("jax", "1", RIGHT), *others))
    assert "**=**" not in row(told(record("jax", "1", RIGHT), others[0]))


def test_versions_that_differ_say_from_which_on() -> None:
    text = told(record("torch", "2.0", RIGHT), record("torch", "2.1", WRONG))
    assert "= from 2.0; [2.0, 6.5] (float32) from 2.1" in row(text)


@pytest.mark.parametrize("answer", [LACKS, LOST])
def test_no_point_is_where_nobody_departs_by_convention(answer: Answer) -> None:
    assert "<code>point" not in told(record("torch", "2", answer))
    assert "<code>point" not in told(record("jax", "1", WRONG))
