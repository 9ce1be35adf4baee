"""The grammar of targets: what each form means, and what is said of a word that has none."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.targets.specification import Target, TargetError, parse_target

TAPE = str(Path(__file__))
ALL = ("eager", "graph", "xla")


@pytest.mark.parametrize(
    ("text", "label", "modes"),
    [
        ("reference", "reference", ("eager",)),
        ("reference:eager", "reference", ("eager",)),
        ("tensorflow", "tensorflow", ALL),
        ("tensorflow:call", "tensorflow", ("call",)),
        ("tensorflow:xla,eager", "tensorflow", ("eager", "xla")),
        ("tensorflow==2.15.1", "tensorflow==2.15.1", ALL),
        ("tensorflow==2.15", "tensorflow==2.15.0", ALL),
        ("tensorflow==2.08.04:graph", "tensorflow==2.8.4", ("graph",)),
        ("tensorflow==2.22.0rc0", "tensorflow==2.22.0rc0", ALL),
        ("tensorflow==2.22rc1", "tensorflow==2.22.0rc1", ALL),
        ("my_tape", "my_tape", ("eager",)),
        ("package.tape:namespace", "package.tape:namespace", ("eager",)),
        ("package.tape:inner.tf:graph", "package.tape:inner.tf", ("graph",)),
        (TAPE, TAPE, ("eager",)),
        (f"{TAPE}:eager,call", TAPE, ("eager", "call")),
        (f"{TAPE}:namespace", f"{TAPE}:namespace", ("eager",)),
        (f"{TAPE}:namespace:xla", f"{TAPE}:namespace", ("xla",)),
    ],
)
def test_a_word_names_a_target(text: str, label: str, modes: tuple[str, ...]) -> None:
    target = parse_target(text)
    assert (target.label, target.modes) == (label, modes)


def test_the_parts_of_a_target() -> None:
    assert parse_target("reference", "python").python is None
    assert parse_target("reference").module == "reference_impl"
    assert parse_target("tensorflow==2.15.1").version == "2.15.1"
    assert parse_target("tensorflow==2.15.1").name == "tensorflow"
    assert parse_target("tensorflow", "python").python == "python"
    located = parse_target(f"{TAPE}:inner.tf")
    assert (located.module, located.attribute) == (TAPE, "inner.tf")


def test_a_file_may_have_a_version_sign_in_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a==1").mkdir()
    (tmp_path / "a==1" / "tape.py").touch()
    monkeypatch.chdir(tmp_path)
    assert parse_target("a==1/tape.py").module == str(tmp_path / "a==1" / "tape.py")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "'' names no target: write NAME[==VERSION][:MODE,MODE]"),
        ("==2.15.1", "'==2.15.1' names no target: write NAME[==VERSION][:MODE,MODE]"),
        ("tensorflow==", "'tensorflow==': '' is no version such as 2.15.1"),
        ("tensorflow==2", "'tensorflow==2': '2' is no version such as 2.15.1"),
        ("tensorflow==2.x", "'tensorflow==2.x': '2.x' is no version such as 2.15.1"),
        ("tensorflow==2.15.1.0", "'2.15.1.0' is no version such as 2.15.1"),
        ("tensorflow==2.15.1dev0", "'2.15.1dev0' is no version such as 2.15.1"),
        ("tensorflow==" + "9" * 5000 + ".1", "is no version such as 2.15.1"),
        ("tensorflow==2.15.1:grpah", "no mode named 'grpah' (did you mean graph?)"),
        ("tensorflow:egaer", "no mode named 'egaer' (did you mean eager?)"),
        ("tensorflow:", "no mode named '' (known: call, eager, graph, xla)"),
        ("tensorflow:zzz", "no mode named 'zzz' (known: call, eager, graph, xla)"),
        ("tensorflow:eager,graf", "no mode named 'graf' (did you mean graph?)"),
        ("tensorflow:eager,eager", "names a mode twice"),
        ("reference:graph", "the reference implementation has one mode: eager"),
        ("reference==1.0", "only frameworks are asked for by version (did you mean reference?)"),
        (
            "tensorlfow==2.15.1",
            "only frameworks are asked for by version (did you mean tensorflow?)",
        ),
        ("flax==0.4.1", "'flax==0.4.1': only frameworks are asked for by version"),
        ("tensorlfow", "no target named 'tensorlfow' (did you mean tensorflow?)"),
        ("refrence", "no target named 'refrence' (did you mean reference?)"),
        ("./none.py", "'./none.py': no file ./none.py"),
        ("none.py:tf", "'none.py:tf': no file none.py"),
        ("/", "'/': no file /"),
        ("x" * 5000 + ".py", "no file"),
        ("a\0b.py", "no file"),
        ("two words", "'two words' is neither a target's name, nor a module, nor a .py file"),
        ("a..b", "'a..b' is neither a target's name, nor a module, nor a .py file"),
        ("package:", "'package:': '' is no attribute such as package.tape"),
        ("package:a-b", "'package:a-b': 'a-b' is no attribute such as package.tape"),
        (f"{TAPE}:a:b", "'a:b' is no attribute such as package.tape"),
    ],
)
def test_a_word_that_is_no_target_is_explained(text: str, said: str) -> None:
    with pytest.raises(TargetError) as caught:
        parse_target(text)
    assert said in str(caught.value)


PARTS = (
    *("tensorflow", "reference", "package", "tape", TAPE, "a b", "./", ".py", "é"),
    *("==", ":", ",", ".", "rc", "2", "15", "0", "eager", "graph", "xla", "call", "\0", "\ud800"),
)
words = st.text() | st.lists(st.sampled_from(PARTS), max_size=8).map("".join)


@given(words)
def test_any_text_is_a_target_or_refused(text: str) -> None:
    try:
        target = parse_target(text)
    except TargetError:
        return
    assert isinstance(target, Target)
    assert target.modes


@given(words)
def test_what_was_understood_means_the_same_when_written_again(text: str) -> None:
    try:
        target = parse_target(text)
    except TargetError:
        return
    assert parse_target(f"{target.label}:{','.join(target.modes)}") == target
