"""diff: what it prints, what it gates, and what it refuses."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.answers.answer import Answer, Raised
from conformance.cli import main
from tests.cases import make_corpus, read_shipped_files_once
from tests.conftest import Program
from tests.verdicts.making_sides import ABOUT, cell, side, written

BROKEN = Path(__file__).parent.parent / "broken"
CASE = "basics/squares/square"
OLDER = {**ABOUT, "version": "2.8.4"}
PLAIN = [cell(1.0, CASE), cell(1.0, "basics/squares/persistent_square")]
CHANGED = {
    "implementation": side(cell(2.0, CASE), PLAIN[1], about=OLDER),
    "environment": side(cell(2.0, CASE), PLAIN[1], about={**ABOUT, "numpy": "1.26.4"}),
    "oracle": side(*PLAIN, cell(2.0, CASE, "reference")),
    "expectation": side(cell(1.0, CASE, expectation="f"), PLAIN[1]),
    "program": side(cell(1.0, CASE, program="q"), PLAIN[1]),
    "removed": side(PLAIN[1]),
    "added": side(*PLAIN, cell(1.0, "basics/squares/new")),
    "unstable": side(cell(2.0, CASE), PLAIN[1], repeats=(3.0,), about=OLDER),
}
OLD = side(*PLAIN, cell(1.0, CASE, "reference"))


@pytest.fixture
def diff(tmp_path, monkeypatch, capsys):
    """Compares two sides that are written to files; the exit code and what was printed."""
    monkeypatch.chdir(tmp_path)
    read_shipped_files_once(monkeypatch)

    def compare(old, new, *options):
        words = ["diff", written(Path("old.jsonl"), old), written(Path("new.jsonl.gz"), new)]
        monkeypatch.setattr("sys.argv", ["gradconf", *words, *options])
        return main([*words, *options]), capsys.readouterr().out.splitlines()

    return compare


def test_records_that_agree_have_no_change_and_no_word(diff):
    code, lines = diff(OLD, OLD)
    assert (code, lines[-1]) == (0, "2 cells compared: no change")


def test_a_change_has_both_versions_both_values_its_mode_and_its_title(diff, tmp_path):
    graph = [replace(one, cell=replace(one.cell, mode="graph")) for one in PLAIN]
    new = side(cell(2.0, CASE), cell(2.0, CASE, mode="graph"), PLAIN[1], graph[1], about=OLDER)
    old = side(*PLAIN, *graph)
    code, lines = diff(old, new, "--corpus", str(make_corpus(tmp_path)))
    assert code == 0
    text = "\n".join(lines)
    assert "tensorflow 2.21.0 (Python 3.11.7, numpy 2.4.6, Linux x86_64)" in text
    start = lines.index("tensorflow 2.21.0 -> 2.8.4")
    assert lines[start - 1].startswith(("── implementation changed (2 cells) ──", "-- impl"))
    assert lines[start + 1 : start + 5] == [
        "value  basics/squares/square",
        "  [tensorflow:eager,graph]",
        "  The square has slope two x",
        "    g: [1.0] (float32) -> [2.0] (float32)",
    ]
    assert "class                   area    eager  graph  cells" in lines
    assert "implementation changed  basics      1      1      2" in lines
    assert lines[-1] == "4 cells compared: 2 implementation changed"


def test_what_is_unstable_is_told_apart_from_changes(diff):
    _, lines = diff(OLD, CHANGED["unstable"])
    assert "tensorflow 2.21.0 -> 2.8.4; another answer in a fresh process" in lines
    assert lines[-1] == "2 cells compared: no change; 1 unstable"


@pytest.mark.parametrize("name", CHANGED)
@pytest.mark.parametrize("gated", [*CHANGED, "any"])
def test_a_class_is_gated_where_it_is_named(diff, name, gated):
    code, lines = diff(OLD, CHANGED[name], "--fail-on", gated)
    caught = gated == name or (gated == "any" and name != "unstable")
    assert (code, lines[-1]) == ((1, "falls_short") if caught else (0, "conforms"))


def test_several_classes_are_gated_at_once(diff):
    for name, code in (("program", 1), ("removed", 1), ("added", 0)):
        assert diff(OLD, CHANGED[name], "--fail-on", "removed, program")[0] == code


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("implementaton", "did you mean implementation?"),
        ("removed,anny", "did you mean any?"),
        ("", "known: added, any, environment,"),
        ("removed,,added", "no class ''"),
    ],
)
def test_a_misspelt_class_is_refused(words, hint, capsys):
    assert main(["diff", "a", "b", "--fail-on", words]) == 2
    assert hint in capsys.readouterr().err


@pytest.mark.parametrize("gated", [(), ("--fail-on", "any")])
def test_a_cut_record_is_untrustworthy_and_says_why(diff, gated):
    for old, new, name in ((OLD, "cut", "NEW"), ("cut", OLD, "OLD")):
        cut = side(*PLAIN, complete=False, reason="interrupted")
        sides = [cut if one == "cut" else one for one in (old, new)]
        code, lines = diff(*sides, *gated)
        assert (code, lines[-1]) == (4, "untrustworthy")
        assert f"{name} is not complete: interrupted" in lines


def test_a_record_without_footer_is_untrustworthy(tmp_path, capsys):
    whole, cut = (
        written(tmp_path / f"{finish}.jsonl", OLD, finish=finish) for finish in (True, False)
    )
    assert main(["diff", whole, cut]) == 4
    assert "truncated: the record has no footer" in capsys.readouterr().out


@pytest.mark.parametrize(
    "new",
    [
        side(*(replace(one, cell=replace(one.cell, target="./tape.py")) for one in PLAIN)),
        side(*(replace(one, cell=replace(one.cell, mode="graph")) for one in PLAIN)),
        side(cell(1.0, "elsewhere/squares/square")),
        side(cell(1.0, CASE, "reference")),
    ],
)
@pytest.mark.parametrize("gated", [(), ("--fail-on", "any")])
def test_what_has_nothing_in_common_is_never_green(diff, new, gated):
    code, lines = diff(OLD, new, *gated)
    assert (code, lines[-1]) == (3, "nothing_ran")
    assert "OLD and NEW have no cell of a target in common" in lines


def test_records_without_cells_are_refused(diff, capsys):
    assert diff(side(), side())[0] == 2


def test_a_mode_an_area_and_a_target_of_one_side_are_one_line_each(diff):
    cases = [f"basics/squares/{number}" for number in range(9)]
    old = side(*(cell(1.0, case) for case in cases))
    new = side(
        *(cell(1.0, case, mode=mode) for case in cases[:8] for mode in ("eager", "xla")),
        *(cell(1.0, f"watching/variables/{number}") for number in range(7)),
        *(cell(1.0, case, "./tape.py") for case in cases),
        cell(1.0, "basics/squares/new"),
    )
    _, lines = diff(old, new)
    start = next(index for index, line in enumerate(lines) if " added (25 cells) " in line)
    assert lines[start + 1 : start + 5] == [
        "target ./tape.py: 9 cells only in NEW",
        "mode xla of tensorflow: 8 cells only in NEW",
        "area watching of tensorflow: 7 cells only in NEW",
        "basics/squares/new [tensorflow:eager]",
    ]
    assert "basics/squares/8 [tensorflow:eager]" in lines
    assert [line.split() for line in lines if line.startswith("added  ")] == [
        ["added", "17", "8", "25"]
    ]


def test_a_stream_that_cannot_show_a_mark_gets_an_escape(gradconf: Program, tmp_path: Path) -> None:
    written(tmp_path / "r.jsonl", OLD)
    words = ("diff", "r.jsonl", "r.jsonl", "--format", "markdown", "--fail-on", "any")
    done = gradconf(*words, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("## \\u2705 gradconf diff: conforms")


def test_a_mode_that_only_one_of_two_versions_has_is_no_other_target(diff):
    old, new = (
        side(*(cell(1.0, CASE, f"tensorflow=={version}", mode) for mode in modes))
        for version, modes in (("2.8.4", ["eager", "xla"]), ("2.21.0", ["eager", "call"]))
    )
    _, lines = diff(old, new)
    assert "mode xla of tensorflow==2.8.4: 1 cell only in OLD" in lines
    assert "mode call of tensorflow==2.21.0: 1 cell only in NEW" in lines


def test_the_json_document_says_it_all(diff):
    dead = cell(Answer("crash", detail="SIGSEGV"), "basics/squares/persistent_square")
    code, lines = diff(
        OLD,
        side(cell(2.0, CASE), dead, about=OLDER),
        *("--format", "json", "--fail-on", "implementation"),
    )
    document = json.loads("\n".join(lines))
    assert (code, document["word"], document["exit_code"]) == (1, "falls_short", 1)
    assert document["gated"] == ["implementation changed"]
    assert document["counts"] == {"implementation changed": 2}
    old = next(subject for subject in document["subjects"] if subject["about"])
    assert (old["role"], old["about"]["version"]) == ("old", "2.21.0")
    crashed, changed = document["changes"]
    assert crashed["label"] == "outcome"
    assert crashed["facts"][0]["new"] == "crash: SIGSEGV"
    assert (changed["kind"], changed["case"]) == ("implementation changed", CASE)
    assert (changed["modes"], changed["cause"]) == (["eager"], "tensorflow 2.21.0 -> 2.8.4")
    (mismatch,) = changed["mismatches"]
    assert (mismatch["kind"], mismatch["expected"], mismatch["got"]) == ("value", "1.0", "2.0")
    assert changed["show"] == f"gradconf show {CASE} --as-python"


def test_a_document_without_a_gate_has_no_word(diff):
    for format in ("json", "markdown"):
        code, lines = diff(OLD, CHANGED["implementation"], "--format", format)
        assert code == 0
        text = "\n".join(lines)
        assert "conforms" not in text
        assert format == "markdown" or json.loads(text)["word"] is None


def test_markdown_has_the_table_the_details_and_the_word(diff):
    new = CHANGED["implementation"]
    code, lines = diff(OLD, new, "--format", "markdown", "--fail-on", "any")
    assert code == 1
    text = "\n".join(lines)
    assert "| implementation changed | basics | 1 | 1 |" in lines
    assert f"gradconf show {CASE} --as-python" in text
    values = [f"<code>&#91;{value}&#93; (float32)</code>" for value in ("1.0", "2.0")]
    assert f"  - <code>g</code> was {values[0]}, is {values[1]}" in lines
    assert lines[-1] == "**falls_short**"


def test_an_error_in_other_words_is_told_apart_from_an_error(diff):
    def raised(kind, message):
        error = Raised(kind, (), message)
        return Answer("answered", {"g": error}, error)

    for error, mismatch in (
        (raised("TypeError", "no"), f"error  {CASE}"),
        (raised("ValueError", "never"), f"message  {CASE}"),
    ):
        old, new = (cell(a, CASE) for a in (raised("ValueError", "no"), error))
        _, lines = diff(side(old, PLAIN[1]), side(new, PLAIN[1], about=OLDER))
        assert mismatch in lines
        assert sum("ValueError: no ->" in line for line in lines) == 1, "said once, not twice"


def test_real_runs_of_a_tape_that_lost_its_zeros(gradconf: Program, tmp_path: Path) -> None:
    corpus, tape = str(make_corpus(tmp_path)), tmp_path / "tape.py"
    for name, record in (("prints_noise", "old.jsonl"), ("none_is_zero", "new.jsonl")):
        tape.write_text((BROKEN / f"{name}.py").read_text())
        gradconf("run", "./tape.py", "--corpus", corpus, "--output", record)
    done = gradconf("diff", "old.jsonl", "new.jsonl", "--corpus", corpus)
    assert "none  unconnected/other/other_source" in done.stdout.splitlines()
    assert "g: None -> 0.0 (float32)" in done.stdout
    assert done.stdout.endswith("\n3 cells compared: 1 implementation changed\n")
