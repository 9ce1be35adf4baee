"""What is worse than a baseline, what is not, and what an update keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.answers.answer import (
    Answer,
    NoneValue,
    NotReached,
    Raised,
    Slices,
    Structure,
    Tensor,
    Value,
)
from conformance.asking.events import Answered, Cell, TargetReady
from conformance.corpus.language.case import Case, ExpectedTensor
from conformance.corpus.language.loader import load_text
from conformance.corpus.language.lowering import lower
from conformance.verdicts.departure_file import read_departures, write_departures
from conformance.verdicts.departures import Departures, Gate
from conformance.verdicts.findings import Finding, Findings, Reviewer
from tests.report.making import (
    BROKEN,
    CRASH,
    LACKS,
    LOST,
    RIGHT,
    TIMEOUT,
    WRONG,
    answered,
    cases_named,
    raised,
    results_from,
    tensor,
)

ONE = "math/sq/one"
DAY = "2026-01-31"
LATER = "2026-02-28"
TAPE = "./tape.py"


def of(answer: object, baseline: Departures | None = None, **options: Any) -> Findings:
    """The findings of a cell, beside a baseline where one is given."""
    modes = options.pop("modes", ("eager",))
    gate = Gate(baseline, **options) if baseline else None
    return results_from({TAPE: {"one": answer}}, modes=modes, gate=gate)


def known(answer: object, before: Departures | None = None, day: str = DAY) -> Departures:
    """The baseline that --update-baseline writes of a cell that answered so."""
    findings = of(answer, before or Departures("tape.py"))
    return findings.as_baseline(cases_named("one"), day)


def standing(findings: Findings) -> str | None:
    (finding,) = findings.cells
    return finding.standing


@pytest.mark.parametrize("answer", [WRONG, LOST, CRASH, TIMEOUT, raised("no")])
def test_what_is_known_does_not_fall_short_and_is_no_pass(answer: Answer) -> None:
    findings = of(answer, known(answer))
    assert (standing(findings), findings.word) == ("known", "conforms")
    assert "pass" not in findings.counts()
    assert findings.standings() == {"known": 1}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (RIGHT, WRONG),
        (WRONG, LOST),
        (LOST, WRONG),
        (WRONG, answered(tensor([2.0, 7.5]))),
        (WRONG, answered(tensor([2.5, 6.5]))),
        (WRONG, answered(tensor([2.4, 6.5]))),
        (raised("no gradient"), raised("another message")),
        (raised("no", "ValueError"), raised("no", "TypeError")),
        (WRONG, CRASH),
        (CRASH, TIMEOUT),
        (CRASH, Answer("crash", detail="ended by signal SIGABRT")),
    ],
)
def test_another_failure_is_worse(before: Answer, after: Answer) -> None:
    findings = of(after, known(before))
    assert (standing(findings), findings.word) == ("worse", "falls_short")


def test_an_element_that_a_report_does_not_print_is_worse_too() -> None:
    """REVIEW A1: the second element was wrong by more, so the first one could change unseen."""
    baseline = known(answered(tensor([2.5, 6.6])))
    assert standing(of(answered(tensor([2.5, 6.6])), baseline)) == "known"
    assert standing(of(answered(tensor([2.4, 6.6])), baseline)) == "worse"


def test_a_failure_in_another_mode_is_worse() -> None:
    findings = of(WRONG, known(WRONG), modes=("eager", "graph"))
    assert [finding.standing for finding in findings.cells] == ["known", "worse"]


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
    assert standing(of(after, known(before))) == "known"


def test_what_passes_now_is_better() -> None:
    findings = of(RIGHT, known(WRONG))
    assert (standing(findings), findings.word) == ("better", "conforms")
    (finding,) = findings.cells
    assert finding.explained_by.was == "g: [2.0, 6.5] (float32)"


def test_a_case_that_the_baseline_does_not_know_fails_only_when_asked_to() -> None:
    stranger = Departures("tape.py", asked=frozenset({"math/sq/other"}))
    findings = of(WRONG, stranger)
    assert (standing(findings), findings.word) == ("new case", "conforms")
    assert of(WRONG, stranger, strict_new=True).word == "falls_short"


def test_declaring_more_as_lacking_does_not_hide_what_was_had() -> None:
    asked = replace(known(RIGHT), asked=frozenset({ONE, "math/sq/two"}))
    for lacks, word in (
        ((), "falls_short"),
        (("GradientTape",), "conforms"),
        (("eager",), "conforms"),
    ):
        gate = Gate(replace(asked, lacks=lacks))
        findings = results_from({TAPE: {"one": LACKS, "two": RIGHT}}, modes=("eager",), gate=gate)
        assert findings.word == word, lacks
    assert standing(of(LACKS, known(WRONG))) == "better"


def test_what_a_framework_is_said_to_lack_is_no_reason_to_fall_short_later() -> None:
    """Its adapter says so cell by cell, and declares nothing that a baseline could keep."""
    baseline = known(LACKS)
    assert baseline.asked == frozenset()
    assert standing(of(LACKS, baseline)) is None
    assert standing(of(WRONG, baseline)) == "new case"
    assert standing(of(LACKS, known(RIGHT))) == "worse"


def test_a_fault_of_ours_is_never_excused() -> None:
    assert of(BROKEN, known(WRONG)).word == "untrustworthy"


def test_a_documented_departure_in_a_baseline_is_strict() -> None:
    (entry,) = known(WRONG).entries
    entry = replace(entry, kind="limit", reason="squares are rounded up")
    baseline = replace(known(RIGHT), entries=(entry,))
    for answer, verdict, word in (
        (WRONG, "known_deviation", "conforms"),
        (RIGHT, "unexpected_pass", "falls_short"),
        (LOST, "fail", "falls_short"),
    ):
        findings = of(answer, baseline)
        assert (findings.cells[0].verdict, findings.word) == (verdict, word)
        assert findings.cells[0].explained_by == entry
    assert known(RIGHT, baseline).entries[0] == entry  # an update leaves it as it is


# ----- updates -----


def test_an_update_keeps_the_first_day_and_the_reason_of_the_same_failure() -> None:
    (entry,) = known(WRONG).entries
    before = replace(known(WRONG), entries=(replace(entry, reason="on purpose"),))
    (again,) = known(WRONG, before, LATER).entries
    assert (again.first_seen, again.last_seen, again.reason) == (DAY, LATER, "on purpose")
    (other,) = known(LOST, before, LATER).entries
    assert (other.was, other.first_seen, other.reason) == ("g: None", LATER, "")


def test_an_update_drops_only_what_ran() -> None:
    (entry,) = known(WRONG).entries
    before = replace(known(WRONG), entries=(replace(entry, modes=("eager", "graph")),))
    (left,) = known(RIGHT, before).entries
    assert (left.cases, left.modes) == ((ONE,), ("graph",))


def test_modes_that_know_the_same_failure_share_an_entry() -> None:
    answers = {"eager": WRONG, "graph": WRONG, "xla": LOST}
    findings = results_from({TAPE: {"one": answers}}, gate=Gate(Departures("tape.py")))
    baseline = findings.as_baseline(cases_named("one"), DAY)
    findings.hold_against(baseline)
    entries = baseline.entries
    assert [(entry.name, entry.modes) for entry in entries] == [
        (f"{ONE} in eager, graph", ("eager", "graph")),
        (f"{ONE} in xla", ("xla",)),
    ]
    assert findings.standings() == {"known": 3}


def test_no_two_entries_have_one_name() -> None:
    baseline = known(WRONG)
    (entry,) = baseline.entries
    for name in (ONE, f"{ONE} in eager"):
        documented = replace(entry, kind="limit", name=name, modes=("graph",))
        left = known(LOST, replace(baseline, entries=(documented,))).entries
        assert left[0] == documented
        assert len({found.name for found in left}) == 2


def test_an_entry_names_the_version_that_was_seen() -> None:
    gate = Gate(Departures("tensorflow"))
    findings = results_from({"tensorflow": {"one": WRONG}}, modes=("eager",), gate=gate)
    (entry,) = findings.as_baseline(cases_named("one"), DAY).entries
    assert entry.last_seen == f"{DAY}, version 2.21.0"


def test_an_entry_whose_answer_no_dtype_can_hold_is_worse() -> None:
    (entry,) = known(WRONG).entries
    entry = replace(entry, answer={"g": ExpectedTensor((1e39, 1.0), "float32")})
    assert standing(of(WRONG, replace(known(WRONG), entries=(entry,)))) == "worse"


# ----- any change of any known failure -----

CASES = load_text(
    """\
introduction: Answers of every kind.
cases:
  kinds:
    title: Every kind of answer
    source: guide/autodiff
    inputs: {x: [1.0, 3.0], n: 3.0}
    run: |
      with tf.GradientTape() as t:
          t.watch(x)
          y = x * x
          z = y + x
      g = t.gradient(y, x)
      h = n * 2
    expect: {g: [20.0, 60.0], z: [1.0, 2.0], h: {any_of: [null, 100]}}
    warns: slow
""",
    "gate/answers",
    "cases/gate/answers.yaml",
)
(CASE,) = CASES
ORACLE = Answer("unsupported", detail="lacks it")
CONFORMS: Mapping[str, Value] = {"z": Tensor(np.array([1.0, 2.0], np.float32), "float32")}
DTYPES = ("float32", "float64", "int32", "bool", "complex64", "string")
MESSAGE = "no gradient of {} at 0x7f12ab34 in __inference_graph_{} of /home/{}/b.py"
PARTS = {"float32": 2.0**-23, "float64": 2.0**-52, "complex64": 2.0**-23}


@st.composite
def tensors(draw: st.DrawFn) -> Tensor:
    """Elements near one another, so that each is seen beside the largest."""
    dtype = draw(st.sampled_from(DTYPES))
    shape = draw(st.lists(st.integers(1, 4), max_size=2).map(tuple) | st.just((7, 11)))
    size = int(np.prod(shape))
    numbers = draw(st.lists(st.integers(1, 9), min_size=size, max_size=size))
    array = np.array(numbers, dtype=np.float64)
    if dtype == "string":
        texts = np.empty(size, dtype=object)
        texts[:] = [f"text {number}" for number in numbers]
        return Tensor(texts.reshape(shape), dtype)
    array = array > 4 if dtype == "bool" else array.astype(dtype)
    return Tensor(np.asarray(array).reshape(shape), dtype)


scalars = st.integers(1, 9).map(lambda n: Tensor(np.asarray(n / 1.0), "Python float"))
slices = st.builds(
    lambda rows: Slices(rows, Tensor(np.arange(3, dtype=np.int64), "int64"), (9,)), tensors()
)
values = st.recursive(
    tensors() | scalars | slices | st.just(NoneValue()),
    lambda inner: st.builds(
        lambda items: Structure("tuple", tuple(items)), st.lists(inner, min_size=1, max_size=3)
    ),
    max_leaves=4,
)
errors = st.builds(
    lambda what, number: Raised(
        "LookupError", ("LookupError", "Exception"), MESSAGE.format(what, number, what), "run", "g"
    ),
    st.sampled_from(["Op", "Other"]),
    st.integers(0, 10**9),
)


def answer_of(g: Value, h: Value, warnings: tuple[str, ...] = ()) -> Answer:
    if isinstance(g, Raised):
        return Answer("answered", {**CONFORMS, "g": NotReached(), "h": NotReached()}, g, warnings)
    return Answer("answered", {**CONFORMS, "g": g, "h": h}, None, warnings)


answers = st.builds(answer_of, values | errors, values, st.sampled_from([(), ("slow",)]))


def found(answer: Answer, gate: Gate) -> tuple[Finding, Findings]:
    """The finding of the case's cell."""
    findings = Findings({TAPE: ("eager",)}, gate=gate, complete=True)
    reviewer = Reviewer(findings, CASES, [])
    reviewer.add(TargetReady(TAPE, {"version": ""}))
    program = lower(CASE).hash
    for target, given_answer in (("reference", ORACLE), (TAPE, answer)):
        list(reviewer.add(Answered(Cell(CASE.id, target, "eager"), program, given_answer)))
    (finding,) = findings.cells
    return finding, findings


def gate_of(answer: Answer, folder: Path) -> Gate:
    """A baseline of this answer that was written to a file and read again."""
    finding, findings = found(answer, Gate(Departures("tape.py")))
    assert finding.verdict == "fail"
    path = folder / "known.yaml"
    baseline = findings.as_baseline(CASES, DAY)
    findings.hold_against(baseline)
    write_departures(path, baseline)
    assert findings.cells[0].standing == "known"
    return Gate(read_departures(path, CASES))


@st.composite
def changed(draw: st.DrawFn, value: Value) -> Value:
    """Another value: one element, None, dtype, shape, kind, class or message is another one."""
    if isinstance(value, Structure):
        at = draw(st.integers(0, len(value.items) - 1))
        inner = draw(changed(value.items[at]))
        whole = (*value.items[:at], inner, *value.items[at + 1 :])
        return draw(
            st.sampled_from([replace(value, items=whole), replace(value, kind="list"), NoneValue()])
        )
    if isinstance(value, Slices):
        shapes = [replace(value, dense_shape=None), replace(value, dense_shape=(8,))]
        rows = replace(value, values=draw(changed_numbers(value.values)))
        return draw(st.sampled_from([*shapes, rows, NoneValue()]))
    if isinstance(value, Raised):
        other = [replace(value, type="KeyError"), replace(value, message=value.message + "!")]
        return draw(st.sampled_from([*other, replace(value, message="X" + value.message)]))
    if isinstance(value, NoneValue):
        return draw(tensors())
    assert isinstance(value, Tensor)
    return draw(changed_numbers(value) | st.just(NoneValue()))


@st.composite
def changed_numbers(draw: st.DrawFn, value: Tensor) -> Tensor:
    """Numbers of another dtype or shape, or with another element."""
    if value.dtype == "Python float":
        others = [
            Tensor(np.asarray(int(value.array)), "Python int"),
            Tensor(value.array, "float64"),
        ]
        return draw(st.sampled_from([*others, Tensor(value.array * 1.01, value.dtype)]))
    array = value.array.copy()
    at = np.unravel_index(draw(st.integers(0, array.size - 1)), array.shape)
    if value.dtype == "string":
        array[at] += "!"
    elif value.dtype == "bool":
        array[at] = not array[at]
    elif value.dtype in PARTS:
        factor = draw(st.sampled_from([1 + 4096 * PARTS[value.dtype], -1.0, 0.0, np.nan, np.inf]))
        with np.errstate(invalid="ignore"):
            array[at] = array[at] * factor
    else:
        array[at] += 1
    python = {"bool": "Python bool", "string": "Python str", "float32": "Python float"}
    others = [Tensor(array, value.dtype), Tensor(value.array[..., None], value.dtype)]
    if value.dtype in python and value.array.shape == ():
        others.append(Tensor(value.array, python[value.dtype]))
    if value.dtype in ("float32", "int32"):
        others.append(Tensor(value.array.astype(np.float64), "float64"))
    return draw(st.sampled_from(others))


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_change_of_a_known_failure_is_worse(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    before = data.draw(answers)
    gate = gate_of(before, tmp_path_factory.mktemp("worse"))
    assert found(before, gate)[0].standing == "known"
    after = data.draw(another(before))
    finding, findings = found(after, gate)
    assert (finding.standing, findings.word) == ("worse", "falls_short")


@st.composite
def another(draw: st.DrawFn, before: Answer) -> Answer:
    """An answer that differs in one thing; still a failure."""
    if before.error is not None:
        return replace(before, error=draw(changed(before.error)))
    name = draw(st.sampled_from(["g", "h"]))
    if name == "h" and isinstance(before.observations["h"], NoneValue):
        name = "g"
    value = draw(changed(before.observations[name]))
    if name == "h" and isinstance(value, NoneValue):  # h may be None
        value = Tensor(np.array([0.5]), "float64")
    return replace(before, observations={**before.observations, name: value})


@st.composite
def unsteady(draw: st.DrawFn, value: Value) -> Value:
    """The same value, as another process on another machine may give it."""
    if isinstance(value, Structure):
        return replace(value, items=tuple(draw(unsteady(item)) for item in value.items))
    if isinstance(value, Slices):
        rows = draw(unsteady(value.values))
        assert isinstance(rows, Tensor)
        return replace(value, values=rows)
    if isinstance(value, Raised):
        number = draw(st.integers(0, 10**9))
        what = value.message.split()[3]
        message = MESSAGE.format(what, number, f"ci/{number}").replace("7f12ab34", f"{number:x}")
        return replace(value, message=message)
    if isinstance(value, Tensor) and value.dtype in PARTS:
        factor = 1 + draw(st.sampled_from([-4, 1, 4])) * PARTS[value.dtype]
        return Tensor((value.array * factor).astype(value.array.dtype), value.dtype)
    return value


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_differs_by_less_than_its_bound_is_known(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    before = data.draw(answers)
    gate = gate_of(before, tmp_path_factory.mktemp("known"))
    same = {name: data.draw(unsteady(value)) for name, value in before.observations.items()}
    error = None if before.error is None else data.draw(unsteady(before.error))
    assert error is None or isinstance(error, Raised)
    after = replace(before, observations=same, error=error)
    finding, findings = found(after, gate)
    assert (finding.standing, findings.word) == ("known", "conforms")


@pytest.mark.parametrize("signs", [(0.0, -0.0), (-0.0, 0.0)])
def test_the_sign_of_a_zero_is_no_change(signs: tuple[float, float], tmp_path: Path) -> None:
    one, two = (Tensor(np.array([sign, 5.0]), "float64") for sign in signs)
    gate = gate_of(answer_of(one, NoneValue()), tmp_path)
    assert found(answer_of(two, NoneValue()), gate)[0].standing == "known"


def test_a_warning_that_is_given_again_is_another_answer(tmp_path: Path) -> None:
    wrong = Tensor(np.array([5.0, 5.0], np.float32), "float32")
    silent = answer_of(wrong, NoneValue())
    gate = gate_of(silent, tmp_path)
    assert found(silent, gate)[0].standing == "known"
    assert found(replace(silent, warnings=("slow",)), gate)[0].standing == "worse"


def test_an_error_that_ends_the_program_elsewhere_is_kept_whole(tmp_path: Path) -> None:
    wrong = Tensor(np.array([5.0, 5.0], np.float32), "float32")
    ending = Raised("TypeError", ("TypeError", "Exception"), "at the end", "run", "last")
    before = replace(answer_of(wrong, NoneValue()), error=ending)
    gate = gate_of(before, tmp_path)
    assert found(before, gate)[0].standing == "known"
    for error in (None, replace(ending, message="elsewhere"), replace(ending, type="KeyError")):
        assert found(replace(before, error=error), gate)[0].standing == "worse"


def test_the_case_of_these_tests_is_no_other() -> None:
    assert isinstance(CASE, Case)
    assert CASE.observed == ("g", "z", "h")
