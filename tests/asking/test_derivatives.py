"""Derivatives in a run: asked once a case and target, recorded, resumed, shared and sharded."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cases import entry, file_of
from tests.conftest import Program

BROKEN = Path(__file__).parent.parent / "broken"
RUN = """
with tf.GradientTape() as t:
    t.watch(x)
    y = tf.sin(x)
g = t.gradient(y, x)
"""
EXPECT = "{g: derivative, y: {formula: sin(x)}}"
WORDS = ("run", "--corpus", "cases", "--output", "r.jsonl", "-q", "-j", "1")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    text = file_of(
        single=entry(run=RUN, inputs="{x: 0.3}", expect=EXPECT),
        double=entry(run=RUN, inputs="{x: {constant: 0.3, dtype: float64}}", expect=EXPECT),
        other=entry(run=RUN, inputs="{x: 0.4}", expect=EXPECT),
        none=entry(),
    )
    (tmp_path / "cases" / "area").mkdir(parents=True)
    (tmp_path / "cases" / "area" / "topic.yaml").write_text(text)
    return tmp_path


def become(folder: Path, name: str) -> None:
    shutil.copy(BROKEN / f"{name}.py", folder / "tape.py")
    shutil.copy(BROKEN / "oracle_but.py", folder)


def lines(folder: Path, name: str = "r.jsonl") -> list[dict]:
    read = map(json.loads, (folder / name).read_text().splitlines())
    return [line for line in read if line.get("mode") == "derivative"]


def test_each_case_and_target_has_one_line_whatever_the_modes(
    gradconf: Program, folder: Path
) -> None:
    become(folder, "off_by_one_percent")
    assert gradconf(*WORDS, "./tape.py:graph,call").returncode == 1
    found = lines(folder)
    assert sorted((line["target"], line["case"][11:]) for line in found) == [
        (target, case)
        for target in ("./tape.py", "reference")
        for case in ("double", "other", "single")
    ]
    assert {line["outcome"] for line in found} == {"answered"}
    by_case = {line["case"][11:]: line["derivatives"]["g"] for line in found}
    assert by_case["single"] == by_case["double"] != by_case["other"]
    assert set(by_case["single"]) == {"dtype", "rounding", "sources"}


@pytest.mark.parametrize(("name", "where"), [("off_by_one_percent", "g"), ("wrong_forward", "y")])
def test_a_wrong_gradient_falls_short_and_so_does_a_wrong_forward(
    gradconf: Program, folder: Path, name: str, where: str
) -> None:
    become(folder, name)
    done = gradconf(*WORDS, "./tape.py", "area/topic/double")
    assert done.returncode == 1
    assert f"value: {where}: got" in done.stdout
    if where == "g":
        assert "got / estimate = 1.01;" in " ".join(done.stdout.split())


@pytest.mark.parametrize("name", ["off_by_one_percent", "wrong_forward"])
def test_where_the_oracle_answers_the_value_its_forward_alone_is_differentiated(
    gradconf: Program, folder: Path, name: str
) -> None:
    told = file_of(told=entry(run=RUN, inputs="{x: 0.3}", expect="{g: derivative, y: oracle}"))
    (folder / "cases" / "area" / "topic.yaml").write_text(told)
    assert gradconf(*WORDS, "reference").returncode == 0
    become(folder, name)
    assert gradconf(*WORDS, "./tape.py").returncode == 1
    assert [line["target"] for line in lines(folder)] == ["reference"]


def test_the_reference_is_held_against_its_own_derivative(gradconf: Program, folder: Path) -> None:
    done = gradconf(*WORDS, "reference")
    assert done.returncode == 0, done.stdout
    assert len(lines(folder)) == 3
    assert gradconf("report", "r.jsonl", "--corpus", "cases").returncode == 0


def test_a_record_keeps_its_derivatives_when_it_is_resumed(gradconf: Program, folder: Path) -> None:
    gradconf(*WORDS, "reference")
    before = lines(folder)
    whole = (folder / "r.jsonl").read_text().splitlines(keepends=True)
    lost = [line for line in whole if '"mode":"eager"' in line or "footer" in line]
    (folder / "r.jsonl").write_text("".join(line for line in whole if line not in lost))
    done = gradconf(*WORDS, "reference", "--resume")
    assert done.returncode == 0, done.stdout + done.stderr
    assert lines(folder) == before, "the seconds too: nothing was measured again"
    kept = [line for line in whole if "derivatives" not in line and "footer" not in line]
    (folder / "r.jsonl").write_text("".join(kept))
    assert gradconf("report", "r.jsonl", "--corpus", "cases").returncode == 4
    assert gradconf(*WORDS, "reference", "--resume").returncode == 0
    assert len(lines(folder)) == 3


def test_each_shard_asks_what_it_needs(gradconf: Program, folder: Path) -> None:
    shards = [f"{number}.jsonl" for number in (1, 2)]
    for number, name in enumerate(shards, 1):
        words = (*WORDS[:4], name, *WORDS[5:], "reference", "--shard", f"{number}/2")
        assert gradconf(*words).returncode == 0
    assert sum(len(lines(folder, name)) for name in shards) == 3
    done = gradconf("report", *shards, "--corpus", "cases")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_difference_of_records_tells_of_no_derivative(gradconf: Program, folder: Path) -> None:
    become(folder, "off_by_one_percent")
    gradconf(*WORDS, "./tape.py")
    shutil.copy(folder / "r.jsonl", folder / "old.jsonl")
    done = gradconf("diff", "old.jsonl", "r.jsonl", "--corpus", "cases")
    assert "no change" in done.stdout.lower(), done.stdout
    assert "4 cells" in done.stdout
