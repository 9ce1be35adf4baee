"""Resuming and repeating: what is known is not asked again, what is doubtful is."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cases import SQUARE, make_corpus
from tests.conftest import Program

BROKEN = Path(__file__).parent.parent / "broken"
WORDS = ("run", "./tape.py", "--corpus", "cases", "--output", "r.jsonl")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    make_corpus(tmp_path)
    become(tmp_path, "always_zero")
    return tmp_path


def become(folder: Path, name: str) -> None:
    shutil.copy(BROKEN / f"{name}.py", folder / "tape.py")


def lines(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "r.jsonl").read_text().splitlines()]


def repetitions(folder: Path) -> dict[str, dict]:
    return {line["case"]: line for line in lines(folder) if "repeat" in line}


def cells(folder: Path, target: str = "./tape.py") -> dict[str, dict]:
    return {
        line["case"].rpartition("/")[2]: line
        for line in lines(folder)
        if "case" in line and line["target"] == target and "repeat" not in line
    }


def test_a_whole_record_is_not_asked_again(gradconf: Program, folder: Path) -> None:
    first = gradconf(*WORDS)
    before = cells(folder)
    again = gradconf(*WORDS, "--resume")
    assert (again.returncode, first.returncode) == (1, 1)
    assert cells(folder) == before, "the seconds too: nothing was measured again"
    assert list(folder.glob(".new-*")) == []


def test_a_record_that_was_cut_short_is_completed(gradconf: Program, folder: Path) -> None:
    gradconf(*WORDS)
    before = cells(folder)
    whole = (folder / "r.jsonl").read_text().splitlines(keepends=True)
    kept = [number for number, line in enumerate(whole) if '"case"' in line and "tape" in line][1]
    (folder / "r.jsonl").write_text("".join(whole[:kept]) + whole[kept][:40])
    assert gradconf("report", "r.jsonl", "--corpus", "cases").returncode == 4
    done = gradconf(*WORDS, "--resume")
    assert done.returncode == 1, done.stdout + done.stderr
    after = cells(folder)
    assert after.keys() == before.keys()
    same = [name for name in before if after[name] == before[name]]
    assert len(same) == 1
    assert gradconf("report", "r.jsonl", "--corpus", "cases").returncode == 1


def test_only_stale_cells_are_asked_again(gradconf: Program, folder: Path) -> None:
    gradconf(*WORDS)
    before = cells(folder)
    text = SQUARE.replace("inputs: {x: 3.0}", "inputs: {x: 4.0}").replace("g: 6.0", "g: 8.0")
    make_corpus(folder, basics__squares=text.replace("[2.0, 6.0]}", "[2.0, 6.0000001]}"))
    assert gradconf(*WORDS, "--resume").returncode == 1
    after = cells(folder)
    changed = {name for name in after if after[name]["program"] != before[name]["program"]}
    assert changed == {"square"}
    timed = {name for name in after if after[name]["seconds"] != before[name]["seconds"]}
    assert timed == {"square"}
    declared = {n for n in after if after[n]["expectation"] != before[n]["expectation"]}
    assert declared == {"square", "persistent_square"}


def test_a_target_that_changed_is_asked_everything_again(gradconf: Program, folder: Path) -> None:
    gradconf(*WORDS)
    become(folder, "none_is_zero")
    done = gradconf(*WORDS, "--resume")
    assert "./tape.py: 3 answers asked again: it has changed (digest " in done.stderr
    fresh = gradconf("run", "./tape.py", "--corpus", "cases")
    assert "none_is_zero" not in fresh.stdout
    observed = {name: cell["observations"] for name, cell in cells(folder).items()}
    assert observed["square"]["g"]["text"] == "6.0"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "reference", "--corpus", "cases", "--resume"), "name it with --output FILE"),
        ((*WORDS, "--resume"), "r.jsonl:1: not a gradconf record"),
        ((*WORDS, "--repeat", "-1"), "--repeat must not be below zero"),
    ],
)
def test_what_cannot_be_resumed_is_said(
    gradconf: Program, folder: Path, words: tuple[str, ...], message: str
) -> None:
    (folder / "r.jsonl").write_text('{"a": 1}\n')
    done = gradconf(*words)
    assert done.returncode == 2
    assert message in done.stderr
    assert (folder / "r.jsonl").read_text() == '{"a": 1}\n'


def test_an_unstable_answer_is_marked(gradconf: Program, folder: Path) -> None:
    become(folder, "forgets")
    done = gradconf(*WORDS, "--repeat", "2", "-j", "1")
    assert done.returncode == 1
    shown = " ".join(done.stdout.split())
    assert "unstable, another answer when asked again: basics/squares/square" in shown
    repeats = [line["repeat"] for line in lines(folder) if "repeat" in line]
    assert sorted(set(repeats)) == [1, 2]
    again = gradconf("report", "r.jsonl", "--corpus", "cases")
    assert "unstable, another answer" in again.stdout


def test_a_stable_answer_is_not(gradconf: Program, folder: Path) -> None:
    done = gradconf(*WORDS, "--repeat", "1")
    assert done.returncode == 1
    assert any("repeat" in line for line in lines(folder)), "it was asked again"
    assert "unstable" not in done.stdout


def test_what_passes_is_not_asked_again(gradconf: Program, folder: Path) -> None:
    words = ("run", "reference", "--corpus", "cases", "--output", "r.jsonl")
    assert gradconf(*words, "--repeat", "3").returncode == 0
    assert not any("repeat" in line for line in lines(folder))


def test_resuming_keeps_repetitions(gradconf: Program, folder: Path) -> None:
    become(folder, "forgets")
    gradconf(*WORDS, "--repeat", "1")
    before = repetitions(folder)
    gradconf(*WORDS, "--resume", "--repeat", "1")
    assert len(before) == 3
    assert repetitions(folder) == before


ONE, OTHERS = "-k=persistent", "-k=not persistent"


def test_what_the_new_run_does_not_ask_for_is_kept(gradconf: Program, folder: Path) -> None:
    gradconf(*WORDS, ONE)
    before = cells(folder)
    done = gradconf(*WORDS, OTHERS, "--resume")
    assert "./tape.py: 1 answer beside this run kept" in done.stderr
    after = cells(folder)
    assert len(after) == 3
    assert before.items() <= after.items()
    gradconf("run", "reference", "--corpus", "cases", "--output", "r.jsonl", "--resume")
    assert cells(folder) == after
    assert len(cells(folder, "reference")) == 3
    assert "./tape.py" in gradconf("report", "r.jsonl", "--corpus", "cases").stdout


def test_a_target_that_does_not_start_loses_no_answer(gradconf: Program, folder: Path) -> None:
    gradconf(*WORDS)
    before = cells(folder)
    become(folder, "cannot_be_imported")
    for _ in range(2):
        gradconf(*WORDS, "--resume")
        assert cells(folder) == before


def test_a_changed_target_whose_other_answers_would_be_lost_is_refused(
    gradconf: Program, folder: Path
) -> None:
    gradconf(*WORDS)
    text = (folder / "r.jsonl").read_text()
    become(folder, "none_is_zero")
    done = gradconf(*WORDS, ONE, "--resume")
    assert done.returncode == 2
    assert "./tape.py has changed (digest" in done.stderr
    assert "does not ask for 2 answers of it: name another --output" in done.stderr
    assert (folder / "r.jsonl").read_text() == text


@pytest.mark.parametrize("start", ["", '{"rec', '{"record":1,"gradconf":"0.'])
def test_a_record_that_ends_before_its_header_is_started_anew(
    gradconf: Program, folder: Path, start: str
) -> None:
    (folder / "r.jsonl").write_text(start)
    done = gradconf(*WORDS, "--resume")
    assert "r.jsonl ends before its header: it is started anew" in done.stderr
    assert len(cells(folder)) == 3


def test_a_damaged_line_is_asked_again(gradconf: Program, folder: Path) -> None:
    gradconf(*WORDS)
    whole = (folder / "r.jsonl").read_text().splitlines(keepends=True)
    line = next(n for n, text in enumerate(whole, 1) if "persistent" in text and "tape" in text)
    whole[line - 1] = whole[line - 1].replace("answered", "antwortd")
    (folder / "r.jsonl").write_text("".join(whole))
    report = gradconf("report", "r.jsonl", "--corpus", "cases")
    assert (report.returncode, f"not what was written in line {line}" in report.stdout) == (4, True)
    done = gradconf(*WORDS, "--resume")
    assert f"not what was written in line {line}" in done.stderr
    assert done.returncode == 1
    assert len(cells(folder)) == 3


def test_a_target_that_changes_during_the_run_makes_it_untrustworthy(
    gradconf: Program, folder: Path
) -> None:
    become(folder, "changes_itself")
    done = gradconf(*WORDS, "-j", "1", "--no-confine")
    assert done.returncode == 4
    assert "./tape.py changed during the run: digest" in done.stdout
    assert gradconf("report", "r.jsonl", "--corpus", "cases").returncode == 4
