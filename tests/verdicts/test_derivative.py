"""A gradient held against the derivative of the target's own forward."""

from dataclasses import replace

import numpy as np
import pytest

from conformance.answers.answer import Answer, Derivative, Estimate, Tensor
from conformance.answers.mismatch import lines
from conformance.corpus.language.lowering import lower
from conformance.verdicts.judge import Evidence, judge
from tests.answers.wire import NONE, answered, error, slices, tensor
from tests.cases import RUN, entry, one_case

SLOPES = np.array([6.0, 0.5, 0.0])
ORACLE = answered(g=tensor([6.0, 0.5, 0.0]), y=tensor([9.0, 1.0, 2.0]))
LACKS = Answer("unsupported", detail="the oracle has no tf.square")


def case(dtype="float32", expect="{g: derivative, y: {formula: x * x}}", run=RUN):
    inputs = f"{{x: {{constant: [3.0, 1.0, 2.0], dtype: {dtype}}}}}"
    return one_case(entry(run=run, inputs=inputs, expect=expect))


def derived(slopes=SLOPES, spread=1e-12, dtype="float64", rounding=1e-12):
    sources = {"x": Estimate(Tensor(np.asarray(slopes), "float64"), spread)}
    return Answer("answered", derivatives={"g": Derivative(dtype, rounding, sources)})


def judged(gradient, estimate=None, dtype="float32", oracle=LACKS, mode="eager", **more):
    the_case = case(dtype, **more)
    answer = answered(g=gradient, y=tensor([9.0, 1.0, 4.0], dtype))
    estimate = derived() if estimate is None else estimate
    return judge(Evidence(the_case, mode, answer, oracle, lower(the_case), estimate))


def gradient(factor=1.0, dtype="float32", add=0.0):
    return tensor((SLOPES * factor + add).tolist(), dtype)


@pytest.mark.parametrize("mode", ["eager", "graph", "xla", "call"])
@pytest.mark.parametrize(
    ("dtype", "off"), [("float64", 1e-8), ("float32", 1e-5), ("float16", 4e-3), ("bfloat16", 3e-2)]
)
def test_a_gradient_of_each_dtype_is_held_to_its_own_bound(mode, dtype, off):
    for factor, verdict in ((1.0, "pass"), (1 + 0.4 * off, "pass"), (1 + 4 * off, "fail")):
        found = judged(gradient(factor, dtype), dtype=dtype, mode=mode)
        assert found.verdict == verdict, (factor, found.mismatches)
        assert found.witnesses == ("declared", "derivative")


def test_a_mismatch_tells_the_estimate_its_error_and_the_ratio():
    found = judged(gradient(1.01))
    (mismatch,) = found.mismatches
    assert (mismatch.kind, mismatch.expected, mismatch.index) == ("value", "6.0", (0,))
    told = "\n".join(lines(mismatch))
    assert "is estimated with an error of 2.0e-12; got / estimate = 1.00999999" in told
    assert "got is 1.01 x expected throughout" in told


def test_the_oracles_gradient_is_compared_as_well():
    right = answered(g=gradient(), y=tensor([9.0, 1.0, 4.0]))
    assert judged(gradient(), oracle=right).witnesses == ("declared", "derivative", "oracle")
    off = judged(gradient(1 + 5e-6), oracle=right)
    assert (off.verdict, off.mismatches[0].note.endswith("expected by the oracle")) == (
        "fail",
        True,
    )
    wrong = answered(g=gradient(2.0), y=tensor([9.0, 1.0, 4.0]))
    assert judged(gradient(), oracle=wrong).verdict == "fail", "the oracle's own cell says more"


def test_a_zero_is_as_near_as_the_estimate_can_tell():
    nothing = derived(np.full(3, 1e-12))
    assert judged(tensor([0.0, 0.0, 0.0]), nothing).verdict == "pass"
    assert judged(tensor([0.0, 1e-11, 0.0]), nothing).verdict == "fail"


@pytest.mark.parametrize(
    ("got", "kind"),
    [
        (NONE, "none"),
        (error("LookupError", "no gradient"), "error"),
        (gradient(dtype="float64"), "dtype"),
        (tensor(6.0), "shape"),
        (tensor([6.0, 0.5, float("nan")]), "non-finite"),
        (tensor([0.0, 0.0, 0.0]), "zero"),
    ],
)
def test_what_is_no_such_gradient_has_its_class(got, kind):
    found = judged(got)
    assert (found.verdict, found.mismatches[0].kind) == ("fail", kind)


def test_slices_are_added_up():
    assert judged(slices([2.0, 0.5, 4.0], [0, 1, 0])).verdict == "pass"
    for at in ([0, 1, 3], [-1, 1, 0]):
        found = judged(slices([2.0, 0.5, 4.0], at))
        assert found.mismatches[0].got == "slices that do not fit"


@pytest.mark.parametrize(
    ("estimate", "words"),
    [
        (derived(spread=0.5), "differ by 5.0e-01"),
        (derived(spread=1e-6), "differ by 1.0e-06"),
        (
            Answer("answered", derivatives={"g": Derivative(fault="OSError: no")}),
            "OSError: no",
        ),
        (Answer("crash", detail="ended by signal SIGSEGV"), "SIGSEGV"),
        (Answer("timeout"), "timeout"),
    ],
)
def test_a_forward_without_a_derivative_is_the_targets_failure(estimate, words):
    found = judged(gradient(), estimate)
    assert (found.verdict, words in found.mismatches[0].note) == ("fail", True)


def test_float32_alone_is_held_to_what_float32_can_tell():
    coarse = derived(spread=1e-4, dtype="float32", rounding=1e-4)
    assert judged(gradient(1 + 1e-4), coarse).verdict == "pass"
    assert judged(gradient(1 + 1e-3), coarse).verdict == "fail"
    assert judged(gradient(dtype="float64"), coarse, "float64").verdict == "pass"


def test_a_derivative_that_nobody_asked_for_leaves_no_verdict():
    the_case = case()
    answer = answered(g=gradient(), y=tensor([9.0, 1.0, 4.0]))
    for estimate, verdict in ((None, "not_run"), (Answer("adapter_error"), "error")):
        evidence = Evidence(the_case, "eager", answer, LACKS, lower(the_case), estimate)
        assert judge(evidence).verdict == verdict
        assert judge(replace(evidence, answer=Answer("crash"))).verdict == "crash"


def test_what_is_declared_beside_it_binds_too():
    expect = "{g: derivative, y: [9.0, 1.0, 5.0]}"
    assert judged(gradient(), expect=expect).verdict == "fail"


def test_a_value_of_which_the_oracle_is_silent_leaves_the_derivative():
    found = judged(gradient(), expect="{g: derivative, y: oracle}")
    assert (found.verdict, found.witnesses) == ("pass", ("derivative",))
