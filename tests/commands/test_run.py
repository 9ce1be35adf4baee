"""`gradconf run`: selection, the gate's exit codes one by one, and the closing word."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cases import SQUARE, UNCONNECTED, make_corpus
from tests.conftest import Program

BROKEN = Path(__file__).parent.parent / "broken"


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    return str(make_corpus(tmp_path))


def last_line(text: str) -> str:
    return text.rstrip("\n").splitlines()[-1]


def test_0_conforms(gradconf: Program, corpus: str) -> None:
    done = gradconf("run", "reference", "--corpus", corpus)
    assert (done.returncode, last_line(done.stdout)) == (0, "conforms")


@pytest.mark.parametrize("name", ["always_zero", "none_is_zero", "dies"])
def test_1_falls_short(gradconf: Program, corpus: str, name: str) -> None:
    done = gradconf("run", str(BROKEN / f"{name}.py"), "--corpus", corpus)
    assert (done.returncode, last_line(done.stdout)) == (1, "falls_short")


def test_1_falls_short_by_hanging(gradconf: Program, corpus: str) -> None:
    words = ("run", str(BROKEN / "hangs.py"), "basics/squares/square", "--corpus", corpus)
    done = gradconf(*words, "--timeout", "1")
    assert (done.returncode, last_line(done.stdout)) == (1, "falls_short")
    assert "no answer in 1 seconds" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "tensorflw"), "did you mean tensorflow?"),
        (("run", "tensorflow:egaer"), "did you mean eager?"),
        (("run", "./none.py"), "no file ./none.py"),
        (("run", "reference:graph"), "one mode: eager"),
        (("run", "reference", "--jbos", "2"), "did you mean --jobs?"),
        (("run", "reference", "--jobs", "0"), "--jobs: must be above zero"),
        (("run", "reference", "--timeout", "nan"), "--timeout: must be above zero"),
        (("run", "reference", "--output", "/dev/null/r.jsonl"), "no folder /dev/null: "),
        (("run", "reference", "--output", "/dev/full"), "/dev/full: not a regular file"),
        (("run", "reference", "reference"), "named twice"),
        (("run", "reference", "--corpus", "nowhere"), "no such folder"),
        (("run", "reference", "-k", "a and (b or"), "expected a word, got the end"),
        (("list", "-k", "(square"), "expected ')', got the end"),
        (("list", "-k", "square )"), "expected the end, got ')'"),
        (("rnu",), "did you mean run?"),
        (("report", "none.jsonl"), "No such file"),
        (("show", "nothing/like/this"), "no case matches"),
        (("diff", "a.jsonl"), "required: NEW"),
    ],
)
def test_2_usage(gradconf: Program, words: tuple[str, ...], message: str) -> None:
    done = gradconf(*words)
    assert (done.returncode, last_line(done.stderr)) == (2, "usage")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_2_a_faulty_case_file(gradconf: Program, tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, basics__squares=SQUARE.replace("title:", "titel:"))
    done = gradconf("run", "reference", "--corpus", str(corpus))
    assert done.returncode == 2
    assert "cases/basics/squares.yaml:4:5 $.cases.square.titel" in done.stderr
    assert "did you mean title?" in done.stderr
    assert done.stderr.count("titel") == 4, "every fault is reported at once"


@pytest.mark.parametrize(
    ("words", "near"),
    [
        (("basics/squares/sqare",), "basics/squares/square"),
        (("-k", "persitent"), ""),
        (("--area", "basic"), "basics"),
        (("--tag", "scalr"), "scalar"),
        (("cases/basics/sqares.yaml",), ""),
        (("basic",), "did you mean basics?"),
        (("unconected",), "did you mean unconnected?"),
    ],
)
def test_3_nothing_ran(gradconf: Program, corpus: str, words: tuple[str, ...], near: str) -> None:
    done = gradconf("run", "reference", *words, "--corpus", corpus)
    assert (done.returncode, last_line(done.stdout)) == (3, "nothing_ran")
    assert near in done.stdout


def test_a_mistyped_target_is_refused_before_a_case_is_read(
    gradconf: Program, tmp_path: Path
) -> None:
    corpus = str(make_corpus(tmp_path, basics__squares="no case"))
    for target, message in (("reference:egaer", "did you mean eager?"), ("./none.py", "no file")):
        done = gradconf("run", target, "--corpus", corpus)
        assert done.returncode == 2
        assert message in done.stderr
        assert "squares.yaml" not in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("\x1b[31m",),
        ("run", "\x1b[31m/y"),
        ("run", "\x1b[31m"),
        ("run", "reference", "--area", "\x1b[31m"),
        ("run", "./\x1b[31m.py"),
        ("run", "reference", "--corpus", "\x1b[31m"),
        ("report", "\x1b[31m"),
        ("show", "basics/scalar/\x1b[31m"),
    ],
)
def test_what_is_written_reaches_no_terminal_as_it_is(
    gradconf: Program, words: tuple[str, ...]
) -> None:
    done = gradconf(*words)
    assert done.returncode in (2, 3)
    assert "\\x1b" in done.stdout + done.stderr
    assert "\x1b" not in done.stdout + done.stderr


def test_3_nothing_applicable_is_not_green(gradconf: Program, tmp_path: Path) -> None:
    text = UNCONNECTED.replace("expect:", "not_applicable: {eager: no reason}\n    expect:")
    corpus = make_corpus(tmp_path, unconnected__other=text)
    done = gradconf("run", "reference", "--area", "unconnected", "--corpus", str(corpus))
    assert (done.returncode, last_line(done.stdout)) == (3, "nothing_ran")


def test_4_untrustworthy_when_the_witnesses_disagree(gradconf: Program, tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, basics__squares=SQUARE.replace("g: 6.0", "g: 7.0"))
    done = gradconf("run", str(BROKEN / "prints_noise.py"), "--corpus", str(corpus))
    assert (done.returncode, last_line(done.stdout)) == (4, "untrustworthy")
    assert "the oracle contradicts" in done.stdout


def test_5_no_target(gradconf: Program, corpus: str) -> None:
    done = gradconf("run", str(BROKEN / "cannot_be_imported.py"), "--corpus", corpus)
    assert (done.returncode, last_line(done.stdout)) == (5, "no_target")
    assert "libmissing.so" in done.stdout


def test_4_comes_before_1(gradconf: Program, tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path, basics__squares=SQUARE.replace("g: 6.0", "g: 7.0"))
    done = gradconf("run", str(BROKEN / "dies.py"), "--corpus", str(corpus))
    assert done.returncode == 4


def test_5_comes_before_1(gradconf: Program, corpus: str) -> None:
    targets = (str(BROKEN / "cannot_be_imported.py"), str(BROKEN / "dies.py"))
    assert gradconf("run", *targets, "--corpus", corpus).returncode == 5


def test_a_selection_runs_what_it_names(gradconf: Program, corpus: str) -> None:
    for words, cells in (
        (("basics",), 2),
        (("basics/squares/square",), 1),
        (("cases/basics/squares.yaml",), 2),
        (("-k", "persistent and not other"), 1),
        (("-k", "persistent or other"), 2),
        (("-k", "(persistent or other) and not persistent"), 1),
        (("-k", "not (persistent or other)"), 1),
        (("--tag", "scalar"), 1),
        (("--area", "unconnected"), 1),
        (("*/squares/*",), 2),
    ):
        done = gradconf("run", "reference", *words, "--corpus", corpus, "--output", "r.jsonl")
        assert done.returncode == 0, done.stdout
        report = gradconf("report", "r.jsonl", "--format", "json", "--corpus", corpus)
        assert len(json.loads(report.stdout)["cells"]) == cells, words


def test_fail_fast_stops_and_still_falls_short(
    gradconf: Program, corpus: str, tmp_path: Path
) -> None:
    target = str(BROKEN / "always_zero.py")
    done = gradconf("run", target, "--corpus", corpus, "--fail-fast", "--output", "r.jsonl")
    assert (done.returncode, last_line(done.stdout)) == (1, "falls_short")
    footer = json.loads(last_line((tmp_path / "r.jsonl").read_text()))["footer"]
    assert (footer["complete"], footer["reason"]) == (False, "fail-fast")


def test_a_mismatch_says_everything(gradconf: Program, corpus: str) -> None:
    target = str(BROKEN / "always_zero.py")
    done = gradconf("run", target, "basics/squares/persistent_square", "--corpus", corpus)
    for part in ("element (1,)", "got 0.0", "expected 6.0", "bound", "caught"):
        assert part in done.stdout, done.stdout
    assert "gradconf show basics/squares/persistent_square --as-python" in done.stdout


def test_the_replay_command_replays(gradconf: Program, corpus: str) -> None:
    target = str(BROKEN / "always_zero.py")
    done = gradconf("run", target, "--corpus", corpus)
    (replay,) = {
        line.split("replay:")[1].strip()
        for line in done.stdout.splitlines()
        if "replay:" in line and "persistent" in line
    }
    words = replay.split()
    assert words[:2] == ["gradconf", "run"]
    again = gradconf(*words[1:], "--corpus", corpus)
    assert again.returncode == 1
    assert "persistent_square" in again.stdout


def test_no_escape_codes_without_a_terminal(gradconf: Program, corpus: str) -> None:
    for environment in ({}, {"CI": "true"}, {"NO_COLOR": "1"}):
        done = gradconf("run", str(BROKEN / "dies.py"), "--corpus", corpus, **environment)
        assert "\x1b" not in done.stdout + done.stderr


def test_quiet_has_no_progress(gradconf: Program, corpus: str) -> None:
    done = gradconf("run", "reference", "--corpus", corpus, "--quiet")
    assert done.stderr == ""


def test_the_record_of_a_part_does_not_replace_that_of_the_whole(
    gradconf: Program, tmp_path: Path
) -> None:
    done = gradconf("run", "reference", "watching/default")
    assert done.returncode == 0, done.stdout
    assert not (tmp_path / "gradconf-run.jsonl").exists()


def test_a_name_that_was_not_reached_says_what_ended_the_program(
    gradconf: Program, corpus: str, tmp_path: Path
) -> None:
    (tmp_path / "tape.py").write_text("from reference_impl import GradientTape\n")
    done = gradconf("run", "./tape.py", "basics/squares/square", "--corpus", corpus)
    shown = " ".join(done.stdout.split())
    assert "g: got not reached, expected 6.0" in shown
    assert "ended before: AttributeError: module 'tape' has no attribute 'constant'" in shown


@pytest.mark.parametrize("format", ["text", "markdown", "json", "junit", "github"])
def test_a_report_is_written_to_a_stream_that_lacks_its_marks(
    gradconf: Program, corpus: str, format: str
) -> None:
    gradconf("run", "reference", "--corpus", corpus, "--output", "r.jsonl")
    words = ("report", "r.jsonl", "--corpus", corpus, "--format", format)
    done = gradconf(*words, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()


def test_the_folder_of_the_output_is_made(gradconf: Program, corpus: str, tmp_path: Path) -> None:
    done = gradconf("run", "reference", "--corpus", corpus, "--output", "parts/a/r.jsonl")
    assert done.returncode == 0
    page = ("--format", "markdown", "--output", "pages/r.md")
    assert gradconf("report", "parts/a/r.jsonl", "--corpus", corpus, *page).returncode == 0
    assert (tmp_path / "pages" / "r.md").read_text().startswith("#")


def test_a_run_of_what_is_portable_leaves_out_the_rest(gradconf: Program, tmp_path: Path) -> None:
    own = SQUARE.replace("[scalar]", "[scalar]\n    warns: words of a log")
    corpus = str(make_corpus(tmp_path, basics__squares=own))
    words = ("run", "reference", "--corpus", corpus)
    for more, cells in ((), 3), (("--no-portable",), 3), (("--portable",), 2):
        assert f"reference 0.1.0  eager      {cells}" in gradconf(*words, *more).stdout


def test_what_a_targets_author_should_look_at_is_said_once(
    gradconf: Program, tmp_path: Path, corpus: str
) -> None:
    tape = tmp_path / "tape.py"
    tape.write_text("from reference_impl import *\nGRADCONF_LACKS = ['nn', 'add_n', 'strings']\n")
    with tape.open("a") as file:
        file.write("def add_n(values): return values\n")
    done = gradconf("run", str(tape), "--corpus", corpus)
    note = f"{tape}: GRADCONF_LACKS has add_n, which the target has"
    assert [line for line in done.stderr.splitlines() if "GRADCONF" in line] == [note]
    tape.write_text("GRADCONF_LACKS = ['stings']\n")
    refused = gradconf("run", str(tape), "--corpus", corpus)
    assert "(did you mean strings or" in refused.stdout + refused.stderr
    assert refused.returncode not in (0, 1)
