"""Whatever the text: cases or CaseFileError, in bounded time; what loads lowers and compiles."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from conformance.corpus.cases import data_folder
from conformance.corpus.language.case import Case
from conformance.corpus.language.document import CaseFileError, Fault, read_document
from conformance.corpus.language.features import features_of
from conformance.corpus.language.loader import load_text
from conformance.corpus.language.lowering import lower
from tests.cases import varied_corpus
from tests.hostile.documents import UNHURRIED, bounded

generous = settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])


def loaded(text: str) -> tuple[list[Case], list[Fault]]:
    """The cases of a text, or its faults; everything that loads is lowered and compiled too."""
    with bounded():
        try:
            cases, faults = load_text(text), []
        except CaseFileError as error:
            cases, faults = [], error.faults
    check_faults(faults, "text.yaml")
    for case in cases[:20]:
        check_lowered(case)
    return cases, faults


def check_faults(faults: list[Fault], file: str) -> None:
    """Every fault is one printable line that says where it stands."""
    for fault in faults:
        assert fault.place.file == file
        assert min(fault.place.line, fault.place.column) >= 1
        assert str(fault).isprintable()


def check_lowered(case: Case) -> None:
    lowered = lower(case)
    compile(lowered.source, "<case>", "exec")
    assert lowered.source == lower(case).source
    assert lowered.observed == case.observed
    last = lowered.source.count("\n")
    assert all(1 <= step.line <= step.end_line <= last for step in lowered.steps)
    features_of(case)


def corpus_texts() -> list[str]:
    return [path.read_text("utf-8") for path in sorted(data_folder("cases").rglob("*.yaml"))]


TEXTS = corpus_texts()
NASTY = [
    "\x00", "\ud800", "\ufeff", "\x85", "\u2028", "\t", "%YAML 9.9\n---\n", "!!python/object:a {}",
    "&a [*a]", "<<: {}", "? ", "- " * 50, "[" * 50, "{" * 50, "|9\n a", ">-\n", "'", '"\\', "\r",
    "${", "${a}", "0x", "1e999", "-.inf", "9" * 50, "=", "~", "..." , "# ", "@", "`", "*",
]  # fmt: skip


@generous
@given(st.text(max_size=300) | st.lists(st.sampled_from(NASTY), max_size=8).map("".join))
@example("\ud800")
@example("a: 'x\x00y'")
@example("introduction: a\ncases: {a: {run: \"g = '\\0'\"}}")
def test_any_text(text: str) -> None:
    cases, faults = loaded(text)
    assert bool(cases) != bool(faults)


@generous
@given(st.binary(max_size=200))
@example(b"\xff\xfe")
@example("a: ü".encode("latin-1"))
@example(b"\xef\xbb\xbfa: 1")
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "a.yaml"
    path.write_bytes(raw)
    try:
        root, faults = read_document(path, "a.yaml"), []
    except CaseFileError as error:
        root, faults = None, error.faults
    assert bool(root) != bool(faults)
    check_faults(faults, "a.yaml")


WORDS = """
introduction cases a title source inputs x setup run expect g expect_in graph each warns tags
isolated not_applicable value dtype shape within list tuple dict error message at calls
watched any_of oracle survey formula indexed_slices values indices constant variable draw range seed
trainable contract/1 float32 element ${v} v with_${v} 1+2j
"""
words = st.sampled_from(WORDS.split())
WITH_TAPE = "with tf.GradientTape() as t:\n    g = x"
programs = st.sampled_from(["g = x", "g = x * x", "def g():\n    return x", WITH_TAPE, "g ="])
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), words, programs, st.text(max_size=8)
)
nested = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(words | st.text(max_size=4), inner, max_size=5)
    ),
    max_leaves=25,
)
entries = st.fixed_dictionaries(
    {
        "title": st.just("a") | nested,
        "source": st.just("contract/1") | nested,
        "inputs": st.just({"x": 3.0}) | st.dictionaries(st.just("x"), nested) | nested,
        "run": programs | nested,
        "expect": st.dictionaries(st.just("g"), nested) | nested,
    },
    optional={
        key: nested
        for key in ("setup", "expect_in", "each", "warns", "isolated", "not_applicable", "tags")
    },
)


WITHOUT_A_MODE = {"title": "a", "source": "contract/1", "run": "g = x", "inputs": {"x": 3.0}}
WITHOUT_A_MODE |= {"expect": {"g": None}, "expect_in": {"": None}}


@UNHURRIED
@given(nested | entries.map(lambda entry: {"introduction": "a", "cases": {"a": entry}}))
@example({"introduction": "a", "cases": {"a": WITHOUT_A_MODE}})
def test_any_nested_data(data: object) -> None:
    cases, faults = loaded(yaml.safe_dump(data, allow_unicode=True))
    assert bool(cases) != bool(faults)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A file of the corpus with some lines, words or values deleted, doubled or replaced."""
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(1, 4))):
        separator = draw(st.sampled_from(["\n", " ", ", ", ": ", "(", "="]))
        parts = text.split(separator)
        at = draw(st.integers(0, len(parts) - 1))
        other = parts[draw(st.integers(0, len(parts) - 1))]
        new = draw(
            st.sampled_from([[], [parts[at]] * 2, [other]])
            | st.sampled_from(NASTY).map(lambda nasty: [nasty])
            | st.text(max_size=3).map(lambda text: [text])
        )
        text = separator.join([*parts[:at], *new, *parts[at + 1 :]])
    return text


@UNHURRIED
@given(mutated())
def test_any_change_to_a_file_of_the_corpus(text: str) -> None:
    cases, faults = loaded(text)
    assert bool(cases) != bool(faults)


TOKENS = """
g x t tf np ( ) [ ] { } , . : = + * ** @ -> ; == 1 2.0 'a' None True lambda def class with as
for in if else while return del not and or range len import is self gradient watch shape
tf.GradientTape() alive _ __init__ \\ # " ' ''\' 10**9 := async await
"""
tokens = st.sampled_from([*TOKENS.split(), "\n", "\n\n", "\n    "])


@generous
@given(st.lists(tokens, max_size=25).map(" ".join))
@example("g = " + "-" * 7000 + "x")
@example("g = " + "(" * 3000 + "x" + ")" * 3000)
@example("g = x" + ".shape" * 1300)
@example("g = x" + " + x" * 1900)
@example("g = " + "lambda: " * 900 + "x")
@example("g = 9 ** 9 ** 9 ** 9")
@example("g = " + "9" * 5000)
def test_any_program(program: str) -> None:
    indented = program.replace("\n", "\n      ")
    cases, faults = loaded(
        "introduction: a\ncases:\n  a:\n    title: a\n    source: contract/1\n"
        f"    inputs: {{x: 3.0}}\n    run: |\n      {indented}\n    expect: {{g: 9.0}}\n"
    )
    assert bool(cases) != bool(faults)


def entry(name: str, lines: str, expect: str = "1.0") -> str:
    return (
        f"introduction: a\ncases:\n  {name}:\n    title: a\n    source: contract/1\n"
        f"    run: |\n      g = x * 1.0\n    expect: {{g: {expect}}}\n{lines}"
    )


THOUSAND = ", ".join(map(str, range(1000)))
TEMPLATE = f"  b{{}}_${{{{v}}}}: {{{{each: {{{{v: [{THOUSAND}]}}}}, title: '${{{{v}}}}'}}}}\n"
POWERS = "{formula: 'x ** x ** x ** x'}"
EXPENSIVE = {
    "deep lists": ("[" * 400_000, "deeper than 40"),
    "deep mappings": ("{" * 400_000, "plain name"),
    "deep blocks": ("- " * 400_000, "deeper than 40"),
    "deep keys": ("? " * 400_000, "plain name"),
    "long key": ("k" * 900_000 + ": 1", "not YAML"),
    "long explicit key": ("? " + "k" * 900_000 + "\n: 1", "more than 200 characters"),
    "many keys": ("\n".join(f"k{n}: 1" for n in range(90_000)), "reading stops"),
    "many long keys": ("\n".join(f"{'k' * 190}{n}: 1" for n in range(4_000)), "reading stops"),
    "many values": ("a: [" + "1, " * 300_000 + "]", "more than 100,000 values"),
    "deep and wide": (
        "a: " + ("{" + "k" * 180 + ": ") * 37 + "[" + "1, " * 90_000 + "]" + "}" * 37,
        "unknown key 'a'",
    ),
    "long number": ("introduction: " + "9" * 900_000, "missing cases"),
    "long float": ("introduction: 1." + "9" * 900_000 + "e999999999", "missing cases"),
    "escapes": ('introduction: "' + "\\x41" * 200_000 + '"\ncases: {}', "no cases"),
    "axes": (entry("a_${v}", f"    each: {{v: [{THOUSAND}], w: [{THOUSAND}]}}\n"), "1000000 comb"),
    "draws": (
        entry(
            "a_${v}_${w}",
            f"    each: {{v: [{THOUSAND}], w: [1, 2]}}\n"
            "    inputs: {x: {draw: [100, 100], range: [0.0, 1.0]}}\n",
        ),
        "more than can be read",
    ),
    "templates": (
        "introduction: a\ncases:\n" + "".join(TEMPLATE.format(n) for n in range(90)),
        "missing source, run, expect",
    ),
    "a text that grows": (
        entry("a_${v}", f"    each: {{v: ['{'x' * 100_000}']}}\n    warns: '{'a${v}' * 5_000}'\n"),
        "longer than 20,000 characters when filled",
    ),
    "formulas": (
        entry(
            "a",
            "    inputs: {x: {draw: [10000], range: [1.0, 2.0]}}\n",
            "{any_of: [" + ("{formula: '" + "x*" * 150 + "x'}, ") * 40 + "]}",
        ),
        "more than can be read",
    ),
    "powers in a formula": (
        entry("a", f"    inputs: {{x: {{constant: {2**62}, dtype: int64}}}}\n", POWERS),
        "cannot be evaluated",
    ),
}


@pytest.mark.parametrize(("text", "message"), EXPENSIVE.values(), ids=EXPENSIVE.keys())
def test_a_small_text_cannot_cost_much(text: str, message: str) -> None:
    with bounded(), pytest.raises(CaseFileError, match=message):
        load_text(text)


def test_a_file_may_be_too_large(tmp_path: Path) -> None:
    path = tmp_path / "large.yaml"
    path.write_bytes(b"#" * 2_000_000)
    with pytest.raises(CaseFileError, match="longer than 1,000,000 bytes"):
        read_document(path)
    with pytest.raises(CaseFileError, match="longer than 1,000,000 bytes"):
        load_text("ü" * 600_000)


def test_the_corpus_lowers() -> None:
    for case in varied_corpus():
        check_lowered(case)
