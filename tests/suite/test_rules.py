"""`coverage --rules` and `mutants tensorflow`: what is called, what is caught, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.corpus.language.document import CaseFileError
from conformance.suite.rules.mutation import MISTAKES, RuleMutant, known_survivors, sample
from tests.cases import entry, file_of, make_corpus
from tests.conftest import Program

EXP = """
with tf.GradientTape() as t:
    t.watch(x)
    y = tf.exp(x)
g = t.gradient(y, x, output_gradients=w)
"""
WEAK = entry(
    "The gradient of exp at two equal points, weighed by ones",
    inputs="{x: {constant: [0.0, 0.0], dtype: float32}, w: {constant: [1.0, 1.0], dtype: float32}}",
    run=EXP,
    expect="{g: [1.0, 1.0]}",
)
STRONG = entry(
    "The second derivative of the squares of exp, weighed",
    inputs="{x: {constant: [0.0, 0.5], dtype: float64}, w: {constant: [1.0, 3.0], dtype: float64}}",
    run="""
with tf.GradientTape() as outer:
    outer.watch(x)
    with tf.GradientTape() as t:
        t.watch(x)
        y = tf.exp(x)
    g = t.gradient(y, x, output_gradients=w)
    z = g * g
h = outer.gradient(z, x)
""",
    expect=(
        "{g: {formula: w * exp(x), dtype: float64},"
        " h: {formula: 2 * (w * exp(x))**2, dtype: float64}}"
    ),
)
PRODUCT = entry(
    "The gradient of a product of complex numbers, one of them for a whole row",
    inputs=(
        "{x: {constant: ['1+2j', '3-1j'], dtype: complex128},"
        " y: {constant: '2+1j', dtype: complex128},"
        " w: {constant: ['1+0j', '0+2j'], dtype: complex128}}"
    ),
    run="""
with tf.GradientTape() as t:
    t.watch([x, y])
    z = x * y
gx, gy = t.gradient(z, [x, y], output_gradients=w)
""",
    expect=(
        "{gx: {value: ['2-1j', '2+4j'], dtype: complex128},"
        " gy: {value: '-1+4j', dtype: complex128}}"
    ),
)

DISTINCT = entry(
    "The gradient of the square of exp at two points",
    inputs="{x: {constant: [0.0, 0.5], dtype: float32}, w: {constant: [1.0, 3.0], dtype: float32}}",
    run=EXP.replace("tf.exp(x)", "tf.exp(x) * tf.exp(x)"),
    expect="{g: {formula: 2 * w * exp(2 * x), dtype: float32}}",
)
LISTED = entry(
    "The gradient of a list that is made and stacked again",
    inputs="{x: [[2.0], [3.0]], w: [[1.0], [5.0]]}",
    run="""
with tf.GradientTape() as t:
    t.watch(x)
    handle = tf.raw_ops.TensorListFromTensor(tensor=x, element_shape=[1])
    y = tf.raw_ops.TensorListStack(input_handle=handle, element_shape=[1], element_dtype=tf.float32)
g = t.gradient(y, x, output_gradients=w)
""",
    expect="{g: [[1.0], [5.0]]}",
)
PREVENTED = entry(
    "A gradient that is prevented raises",
    inputs="{x: 2.0}",
    run="""
with tf.GradientTape() as t:
    t.watch(x)
    y = tf.raw_ops.PreventGradient(input=x, message='not this one')
g = t.gradient(y, x)
""",
    expect="{g: {error: LookupError, message: explicitly disabled}}",
)

REFUSED = entry(
    "The second derivative of a sum of segments is refused",
    inputs="{x: [2.0, 3.0, 5.0]}",
    run="""
with tf.GradientTape() as outer:
    outer.watch(x)
    with tf.GradientTape() as t:
        t.watch(x)
        y = tf.raw_ops.SparseSegmentSum(data=x, indices=[2, 0], segment_ids=[0, 0])
        z = y * y
    g = t.gradient(z, x)
h = outer.gradient(g, x)
""",
    expect="{h: {error: LookupError, at: h}}",
)


def asked(gradconf: Program, tmp_path: Path, *words: str, **cases: str) -> tuple[int, list[str]]:
    """The exit code of a command on these cases, and the lines that it printed."""
    corpus = make_corpus(tmp_path, rules__few=file_of(**cases))
    done = gradconf(*words, "--corpus", str(corpus), "--area", "rules")
    assert not done.stderr
    return done.returncode, done.stdout.splitlines()


@pytest.mark.tensorflow
def test_each_rule_is_told_with_its_cases_dtypes_ranks_and_orders(
    gradconf: Program, tmp_path: Path
) -> None:
    code, lines = asked(gradconf, tmp_path, "coverage", "--rules", weak=WEAK, strong=STRONG)
    told = {line.split()[0]: " ".join(line.split()[1:]) for line in lines if line[0].isalpha()}
    assert code == 0
    assert told["Exp"] == "2 cases; float32 float64; ranks 1; orders 1 2"
    assert told["Mul"] == "1 case; float64; ranks 1; orders 2"
    assert told["Log"] == "not called"
    assert told["TopK"] == "not called: current graphs refuse the operation, or it has no kernel"
    assert lines[-2].endswith("1 of them in two dtypes and in a gradient of a gradient")
    assert lines[-1] == "conforms"


@pytest.mark.tensorflow
def test_a_weak_case_lets_mutants_survive(gradconf: Program, tmp_path: Path) -> None:
    code, lines = asked(gradconf, tmp_path, "mutants", "-j1", "tensorflow", "Exp", weak=WEAK)
    ends = {line.split(":")[1]: line.split()[0] for line in lines if " Exp:" in line}
    assert code == 1
    assert lines[0] == "the unbroken registry: 1 pass"
    assert ends == {
        "off_by_a_millionth": "SURVIVED",  # float32 cannot hold it to the bound
        "doubled": "caught",
        "negated": "caught",
        "none": "caught",
        "zeros": "caught",
        "upstream_ignored": "equivalent",  # it is ones
        "reversed": "equivalent",  # its elements are equal
        "second_cut": "SURVIVED",  # no second derivative is asked for
        "rounded": "equivalent",
    }
    assert lines[-2:] == [
        "bite: 4 of 6 wrong rules caught (66.7%), 3 equivalent, 2 survive without a reason",
        "falls_short",
    ]


@pytest.mark.tensorflow
def test_a_sample_conforms_where_each_survivor_has_a_reason(
    gradconf: Program, tmp_path: Path
) -> None:
    words = ("mutants", "-j1", "tensorflow", "Sign:second_cut")
    sign = WEAK.replace("tf.exp", "tf.sign").replace("g: [1.0, 1.0]", "g: [0.0, 0.0]")
    assert [
        (code, lines[-1])
        for sampled in ((), ("--sample", "1"))
        for code, lines in [asked(gradconf, tmp_path, *words, *sampled, sign=sign)]
    ] == [(1, "falls_short"), (0, "conforms")]
    assert (
        asked(
            gradconf,
            tmp_path,
            *words[:3],
            "Exp:rounded",
            "Exp:second_cut",
            "--sample",
            "2",
            weak=WEAK,
        )[0]
        == 1
    )


@pytest.mark.tensorflow
def test_strong_cases_catch_each_mistake(gradconf: Program, tmp_path: Path) -> None:
    words = ("mutants", "-j1", "tensorflow", "Exp", "Mul:not_reduced", "Mul:not_conjugated")
    code, lines = asked(gradconf, tmp_path, *words, strong=STRONG, product=PRODUCT)
    assert code == 0, lines
    assert {line.split()[0] for line in lines if "Exp:" in line or "Mul:" in line} == {"caught"}
    caught = {line.split(":")[1] for line in lines if line.startswith("caught")}
    assert caught == {*MISTAKES} - {"off_by_a_percent"}


@pytest.mark.tensorflow
def test_a_mutant_that_only_the_last_case_catches_is_caught(
    gradconf: Program, tmp_path: Path
) -> None:
    words = ("mutants", "-j1", "tensorflow", "Exp:reversed")
    weak = {f"weak_{number}": WEAK for number in range(4)}
    code, lines = asked(gradconf, tmp_path, *words, **weak)
    assert (code, lines[-1]) == (3, "nothing_ran")  # equivalent in all four
    code, lines = asked(gradconf, tmp_path, *words, distinct=DISTINCT, **weak)
    assert (code, lines[1]) == (0, "caught     Exp:reversed: rules/few/distinct")


@pytest.mark.tensorflow
def test_a_mutant_that_is_said_to_survive_and_is_caught_falls_short(
    gradconf: Program, tmp_path: Path
) -> None:
    name = "SparseSegmentSum:second_cut"
    assert name in known_survivors()
    code, lines = asked(gradconf, tmp_path, "mutants", "-j1", "tensorflow", name, refused=REFUSED)
    assert f"caught     {name}: rules/few/refused" in lines
    assert f"caught, though said to survive: {name}" in lines
    assert (code, lines[-1]) == (1, "falls_short")


@pytest.mark.tensorflow
def test_a_mistake_that_leaves_the_answer_alone_is_none(gradconf: Program, tmp_path: Path) -> None:
    words = ("mutants", "-j1", "tensorflow", "TensorListStack", "PreventGradient:doubled")
    _, lines = asked(gradconf, tmp_path, *words, listed=LISTED, prevented=PREVENTED)
    ends = {line.split()[1].strip(":"): line.split()[0] for line in lines[1:] if ":" in line}
    assert ends["TensorListStack:doubled"] == "equivalent"  # it answers a list, and no tensor
    assert ends["TensorListStack:none"] == "caught"
    assert ends["TensorListStack:upstream_ignored"] == "caught"
    assert ends["PreventGradient:doubled"] == "equivalent"  # it answers nothing


@pytest.mark.tensorflow
def test_what_falls_short_unbroken_proves_nothing(gradconf: Program, tmp_path: Path) -> None:
    wrong = STRONG.replace("2 * (w", "3 * (w")
    code, lines = asked(gradconf, tmp_path, "mutants", "-j1", "tensorflow", wrong=wrong)
    assert code == 4
    assert lines[-1] == "untrustworthy"
    assert not any(line.startswith("caught") for line in lines)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("mutants", "tensorflow", "Expp"), "no registered gradient 'Expp' (did you mean Exp"),
        (("mutants", "tensorflow", "Exp:negate"), "no mistake of a rule 'negate' (did you mean"),
        (("mutants", "tensorflow", "--family", "unari"), "no family in the catalogue 'unari'"),
        (("mutants", "--sample", "3"), "--family is for gradconf mutants tensorflow"),
        (("coverage", "--area", "ties"), "coverage takes -k, --area, --tag and --corpus with"),
    ],
)
def test_2_usage(gradconf: Program, words: tuple[str, ...], message: str) -> None:
    done = gradconf(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_a_sample_is_the_same_everywhere_and_grows() -> None:
    mutants = [RuleMutant("Exp", mistake) for mistake in MISTAKES]
    few, more = sample(mutants, 3), sample(mutants, 5)
    assert (len(few), len(more)) == (3, 5)
    assert {*few} < {*more}
    assert few == [mutant for mutant in mutants if mutant in few]


def test_survivors_are_mutants(tmp_path: Path) -> None:
    assert all(known_survivors().values())
    file = tmp_path / "survivors.yaml"
    file.write_text("introduction: Two.\nsurvivors:\n  no program can: [Exp:negated, Exp:eaten]\n")
    with pytest.raises(CaseFileError, match=r"3:33 .*'Exp:eaten' is no mutant such as"):
        known_survivors(file)
