"""What is worse than a baseline, what is not, and what an update keeps."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from conformance.answers.answer import Answer
from conformance.report.formats import render
from conformance.verdicts.baseline import Against, Baseline, Entry, entry_of, target_name, updated
from conformance.verdicts.results import Results
from tests.report.making import (
    BROKEN,
    CRASH,
    LACKS,
    LOST,
    RIGHT,
    TIMEOUT,
    WRONG,
    answered,
    raised,
    results_from,
    tensor,
)

ONE = "math/sq/one"
DAY = "2026-01-31"


def of(answer: object, *, modes: tuple[str, ...] = ("eager",)) -> Results:
    return results_from({"./tape.py": {"one": answer}}, modes=modes)


def known(answer: object, **changes: object) -> Baseline:
    return replace(updated(Baseline("tape.py"), of(answer), [ONE], DAY), **changes)


def held(answer: object, baseline: Baseline, *, strict_new: bool = False) -> Results:
    results = of(answer)
    results.baseline = Against(baseline, "known.yaml", strict_new)
    return results


def standing(results: Results) -> str | None:
    assert results.baseline is not None
    (cell,) = results.cells
    return results.baseline.standing(cell)


@pytest.mark.parametrize("answer", [WRONG, LOST, CRASH, TIMEOUT, raised("no")])
def test_what_is_known_does_not_fall_short_and_is_no_pass(answer: Answer) -> None:
    results = held(answer, known(answer))
    assert (standing(results), results.word) == ("known", "conforms")
    assert "pass" not in results.counts()
    text = render(results, "text")
    assert "0 of 1 applicable cell passed" in text
    assert "1 known by the baseline known.yaml" in text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (RIGHT, WRONG),
        (WRONG, LOST),
        (LOST, WRONG),
        (WRONG, answered(tensor([2.0, 7.5]))),
        (WRONG, answered(tensor([2.5, 6.5]))),
        (raised("no gradient"), raised("another message")),
        (raised("no", "ValueError"), raised("no", "TypeError")),
        (WRONG, CRASH),
        (CRASH, TIMEOUT),
        (CRASH, Answer("crash", detail="the worker died of SIGABRT")),
    ],
)
def test_another_failure_is_worse(before: Answer, after: Answer) -> None:
    results = held(after, known(before))
    assert (standing(results), results.word) == ("worse", "falls_short")


def test_a_failure_in_another_mode_is_worse() -> None:
    results = of(WRONG, modes=("eager", "graph"))
    results.baseline = Against(known(WRONG), "known.yaml")
    standings = [results.baseline.standing(cell) for cell in results.cells]
    assert standings == ["known", "worse"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (WRONG, answered(tensor([2.0, 6.5000010]))),
        (raised("in __inference_graph_2046[a]"), raised("in __inference_graph_4141[a]")),
        (raised("at 0x7f12ab34 of /home/a/b.py"), raised("at 0x7fffab99 of /ci/work/b.py")),
        (
            Answer("crash", detail="ended by signal SIGSEGV; last output: one"),
            Answer("crash", detail="ended by signal SIGSEGV; last output: two"),
        ),
    ],
)
def test_rounding_addresses_folders_and_output_make_no_other_failure(
    before: Answer, after: Answer
) -> None:
    assert standing(held(after, known(before))) == "known"


def test_what_passes_now_is_better_and_printed() -> None:
    results = held(RIGHT, known(WRONG))
    assert (standing(results), results.word) == ("better", "conforms")
    assert f"better: now passes: {ONE} [./tape.py:eager]" in render(results, "text")


def test_a_case_that_the_baseline_does_not_know_fails_only_when_asked_to() -> None:
    stranger = Baseline("tape.py", cases=frozenset({"math/sq/other"}))
    results = held(WRONG, stranger)
    assert (standing(results), results.word) == ("new case", "conforms")
    assert "falls short in new cases" in render(results, "text")
    assert held(WRONG, stranger, strict_new=True).word == "falls_short"


def test_declaring_more_as_lacking_does_not_hide_what_was_had() -> None:
    baseline = known(RIGHT, cases=frozenset({ONE, "math/sq/two"}))
    results = results_from({"./tape.py": {"one": LACKS, "two": RIGHT}}, modes=("eager",))
    for lacks, word in (
        ((), "falls_short"),
        (("GradientTape",), "conforms"),
        (("eager",), "conforms"),
    ):
        results.baseline = Against(replace(baseline, lacks=lacks), "known.yaml")
        assert results.word == word, lacks
    assert standing(held(LACKS, known(WRONG))) == "better"


def test_a_fault_of_ours_is_never_excused() -> None:
    assert held(BROKEN, known(WRONG)).word == "untrustworthy"


def test_an_update_keeps_the_first_day_and_the_reason_of_the_same_failure() -> None:
    entry = replace(known(WRONG).entries[ONE, "eager"], reason="on purpose")
    before = known(WRONG, entries={(ONE, "eager"): entry})
    again = updated(before, of(WRONG), [ONE], "2026-02-28").entries[ONE, "eager"]
    assert (again.first_seen, again.last_seen, again.reason) == (DAY, "2026-02-28", "on purpose")
    other = updated(before, of(LOST), [ONE], "2026-02-28").entries[ONE, "eager"]
    assert (other.kind, other.first_seen, other.reason) == ("none", "2026-02-28", "")


def test_an_update_drops_only_what_ran() -> None:
    entry = known(WRONG).entries[ONE, "eager"]
    before = Baseline("tape.py", {(ONE, "eager"): entry, (ONE, "graph"): entry})
    assert set(updated(before, of(RIGHT), [ONE], DAY).entries) == {(ONE, "graph")}


def test_an_entry_names_the_version_that_was_seen() -> None:
    results = results_from({"tensorflow": {"one": WRONG}}, modes=("eager",))
    entry = updated(Baseline("tensorflow"), results, [ONE], DAY).entries[ONE, "eager"]
    assert entry.last_seen == f"{DAY}, version 2.21.0"


def test_an_entry_of_many_mismatches_counts_what_it_leaves_out() -> None:
    (cell,) = of(WRONG).cells
    mismatches = cell.judgement.mismatches * 8
    many = replace(cell, judgement=replace(cell.judgement, mismatches=mismatches))
    entry = entry_of(many, DAY)
    assert (len(entry.answer), entry.answer[-1]) == (6, "and 3 more")


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("g: 1.0", "g: 1.0004", True),
        ("g: 1.0", "g: 1.01", False),
        ("g: 0.0", "g: -0.0", False),
        ("g: 0.0", "g: 1e-30", False),
        ("g: [2, 3]", "g: [2, 4]", False),
        ("g of shape (2,)", "g of shape (3,)", False),
        ("g: nan", "g: inf", False),
        ("g: 1.0", "h: 1.0", False),
        ("g: [1.0, 2.0]", "g: [1.0]", False),
        ("x1.5 ", "x1.5004 ", False),
    ],
)
def test_numbers_are_near_and_everything_else_is_exact(one: str, two: str, same: bool) -> None:
    entries = [Entry("fail", "value", (text,), DAY, DAY) for text in (one, two)]
    assert entries[0].same(entries[1]) is same


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("tensorflow==2.15.1", "tensorflow"),
        ("./build/tape.py", "tape.py"),
        ("package.tape:attribute", "package.tape:attribute"),
    ],
)
def test_a_target_has_one_name_wherever_it_is(label: str, name: str) -> None:
    assert target_name(label) == name


@pytest.mark.parametrize("format", ["text", "markdown", "junit", "json", "github"])
def test_every_format_tells_known_from_worse(format: str) -> None:
    answers = {"one": WRONG, "two": WRONG, "three": RIGHT}
    before = updated(Baseline("tape.py"), of(WRONG), ["math/sq/two", ONE], DAY)
    results = results_from({"./tape.py": answers}, modes=("eager",))
    results.baseline = Against(before, "known.yaml")
    text = render(results, format)  # type: ignore[arg-type]
    if format == "json":
        document = json.loads(text)
        assert [cell["baseline"] for cell in document["cells"]] == ["known", "worse", None]
        assert document["baseline"]["counts"] == {"known": 1, "worse": 1}
        assert document["word"] == "falls_short"
    elif format == "junit":
        assert 'failures="1" errors="0" skipped="1"' in text
        assert 'message="known, fail: value' in text
    elif format == "github":
        (error, _) = [line for line in text.splitlines() if line.startswith("::error")]
        assert error.startswith("::error file=cases/math/sq.yaml,line=")
        assert "math/sq/two" in error
    else:
        assert "1 worse" in text
        assert "math/sq/two" in text
