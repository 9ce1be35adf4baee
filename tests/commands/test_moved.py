"""A case that was moved: whatever names it by its former id finds it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cases import make_corpus, move
from tests.commands.versions import RIGHT, keep_ready
from tests.conftest import Program

ZERO = Path(__file__).parent.parent / "broken" / "always_zero.py"
CORPUS = ("--corpus", "cases")
RUN = ("run", "./tape.py", *CORPUS, "-q")
IDS = ["powers/second/square", "powers/second/persistent_square"]
KIND = "kind: bug\n    right: the declaration\n    reason: it is zero\n    link: a-link"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A corpus that was not moved yet, and a tape that answers zeros."""
    make_corpus(tmp_path)
    shutil.copy(ZERO, tmp_path / "tape.py")
    return tmp_path


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        (["basics/squares/square"], IDS[:1]),
        (["powers/second/square"], IDS[:1]),
        (["basics/squares"], IDS),
        (["basics"], IDS),
        (["basics/*"], IDS),
        (["cases/basics/squares"], IDS),
        (["--area", "basics"], IDS),
        (["--area", "powers"], IDS),
    ],
)
def test_words_of_a_command_follow(
    gradconf: Program, folder: Path, words: list[str], ids: list[str]
) -> None:
    move(folder / "cases")
    assert gradconf("list", "--ids", *words, *CORPUS).stdout.split() == ids
    done = gradconf("run", "reference", *words, *CORPUS, "--output", "r.jsonl")
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in (folder / "r.jsonl").read_text().splitlines()]
    assert {line["case"] for line in lines if "case" in line} == {*ids}


def test_show_follows(gradconf: Program, folder: Path) -> None:
    move(folder / "cases")
    done = gradconf("show", "basics/squares/square", *CORPUS)
    assert done.stdout.startswith("powers/second/square\n")


def test_a_word_means_a_case_of_today_first(gradconf: Program, folder: Path) -> None:
    move(folder / "cases", after="unconnected/squares")
    move(folder / "cases", "unconnected/other", "basics/others")
    done = gradconf("list", "--ids", "basics", "unconnected", *CORPUS)
    assert done.stdout.split() == [
        "basics/others/other_source",
        "unconnected/squares/square",
        "unconnected/squares/persistent_square",
    ]
    assert gradconf("list", "--ids", "basics", *CORPUS).stdout.split() == [
        "basics/others/other_source"
    ]


@pytest.mark.parametrize("command", ["list", "show", "run"])
def test_an_unknown_id_is_told_the_nearest_of_today(
    gradconf: Program, folder: Path, command: str
) -> None:
    move(folder / "cases")
    done = gradconf(command, "basics/squares/sqare", *CORPUS)
    assert done.returncode in (2, 3)
    assert "(did you mean powers/second/square" in done.stdout + done.stderr


def test_a_baseline_follows_and_is_written_with_the_ids_of_today(
    gradconf: Program, folder: Path
) -> None:
    gate = (*RUN, "--baseline", "known.yaml")
    gradconf(*gate, "--update-baseline")
    move(folder / "cases")
    done = gradconf(*gate, "--strict-new")
    assert done.returncode == 0, done.stdout
    assert "2 known by the baseline known.yaml" in done.stdout
    written = gradconf(*gate, "--update-baseline")
    assert "known.yaml written: 2 known, 0 new, 0 changed, 0 gone" in written.stdout
    text = (folder / "known.yaml").read_text()
    assert "basics" not in text
    assert "cases: [powers/second/square]" in text


def test_a_moved_case_that_was_asked_is_no_new_case(gradconf: Program, folder: Path) -> None:
    shutil.copy(ZERO.with_name("none_is_zero.py"), folder / "tape.py")
    gate = (*RUN, "--baseline", "known.yaml")
    gradconf(*gate, "--update-baseline")
    move(folder / "cases")
    shutil.copy(ZERO, folder / "tape.py")
    done = gradconf(*gate)
    assert "0 known by the baseline known.yaml, 2 worse, 1 better" in done.stdout


@pytest.mark.parametrize("pattern", ["basics/squares/*", "powers/second/*", "*"])
def test_documented_deviations_follow(gradconf: Program, folder: Path, pattern: str) -> None:
    (folder / "documented.yaml").write_text(
        "introduction: For a test.\ntarget: tape.py\ndepartures:\n  zeros:\n"
        f"    cases: ['{pattern}']\n    modes: [eager]\n    answer: undefined\n    {KIND}\n"
    )
    move(folder / "cases")
    options = ("--deviations", "documented.yaml", "--area", "powers")
    done = gradconf(*RUN, *options)
    assert done.returncode == 0, done.stdout
    assert "0 fall short, 2 deviation" in done.stdout


def test_a_record_is_judged_by_the_moved_cases(gradconf: Program, folder: Path) -> None:
    gradconf(*RUN, "--output", "r.jsonl")
    written = (folder / "r.jsonl").read_bytes()
    before = gradconf("report", "r.jsonl", *CORPUS)
    move(folder / "cases")
    after = gradconf("report", "r.jsonl", *CORPUS)
    assert "fail  basics/squares/square" in before.stdout
    assert "fail  powers/second/square" in after.stdout
    assert "stale" not in after.stdout
    assert (folder / "r.jsonl").read_bytes() == written


def test_a_difference_pairs_a_moved_case_with_itself(gradconf: Program, folder: Path) -> None:
    gradconf(*RUN, "--output", "old.jsonl")
    move(folder / "cases")
    gradconf(*RUN, "--output", "new.jsonl")
    done = gradconf("diff", "old.jsonl", "new.jsonl", *CORPUS, "--fail-on", "any")
    assert "3 cells compared: no change" in done.stdout, done.stdout
    assert done.returncode == 0


def test_the_history_of_a_moved_case_is_one(gradconf: Program, folder: Path) -> None:
    keep_ready(folder, {"2.8.0": RIGHT, "2.8.1": "None"})
    for version in ("2.8.0", "2.8.1"):
        target, output = f"tensorflow=={version}:eager", f"reports/{version}.jsonl"
        gradconf("run", target, *CORPUS, "--output", output, GRADCONF_CACHE=str(folder))
        if version == "2.8.0":
            move(folder / "cases")
    page = gradconf("report", "reports", *CORPUS, "--format", "history").stdout
    assert "2 changes in 3 cells that both answered" in page
    assert "powers/second/persistent_square" in page.replace("&#95;", "_")
    assert "basics" not in page


def test_what_a_moved_case_answered_is_not_asked_again(gradconf: Program, folder: Path) -> None:
    words = (*RUN, "--output", "r.jsonl")
    gradconf(*words)
    move(folder / "cases")
    done = gradconf(*words, "--resume")
    assert "./tape.py: 3 answers kept\n" in done.stderr
    assert '"basics/' not in (folder / "r.jsonl").read_text()


def test_durations_of_a_moved_case_make_the_shards(gradconf: Program, folder: Path) -> None:
    gradconf(*RUN, "--output", "r.jsonl")
    lines = [json.loads(line) for line in (folder / "r.jsonl").read_text().splitlines()]
    for line in lines:
        line.pop("sum")
        if "case" in line:
            line["seconds"] = 9.0 if line["case"] == "basics/squares/square" else 1.0
        line.get("footer", {}).pop("all", None)
    (folder / "r.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    move(folder / "cases")
    words = ("run", "reference", *CORPUS, "--shard", "1/2", "--durations", "r.jsonl")
    done = gradconf(*words, "--output", "part.jsonl")
    assert done.returncode == 0, done.stderr
    part = [json.loads(line) for line in (folder / "part.jsonl").read_text().splitlines()]
    assert {line["case"] for line in part if "case" in line} == {"powers/second/square"}


def test_a_bisection_reads_records_of_before(gradconf: Program, folder: Path) -> None:
    keep_ready(folder, {"2.8.0": RIGHT, "2.8.1": "None"})
    for version in ("2.8.0", "2.8.1"):
        target, output = f"tensorflow=={version}:eager", f"reports/{version}.jsonl"
        words = ("run", target, *CORPUS, "--repeat", "1", "--output", output)
        gradconf(*words, GRADCONF_CACHE=str(folder))
    shutil.rmtree(folder / "environments")
    move(folder / "cases")
    ends = ("--good", "2.8.0", "--bad", "2.8.1")
    done = gradconf("bisect", "basics/squares/square", "tensorflow:eager", *ends, *CORPUS)
    assert "tensorflow 2.8.1 is the first with the new answer" in done.stdout, done.stderr
