"""Shards: every case in one of them, the same on every machine, and none lost when they meet."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.asking.record import Record, RecordError, read_record
from conformance.asking.sharding import Shard, durations, merged, parse_shard, part_of
from conformance.cli import main
from tests.cases import make_corpus
from tests.conftest import Program


@pytest.mark.parametrize("text", ["0/2", "3/2", "2", "1/0", "a/b", "-1/2", "1/2/3", "", "1/99999"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no shard such as 2/5"):
        parse_shard(text)


class Named:
    """All that dealing out needs of a case."""

    def __init__(self, id: str) -> None:
        self.id = id


@given(
    names=st.lists(st.integers(0, 500).map(str), unique=True),
    of=st.integers(1, 7),
    known=st.dictionaries(st.integers(0, 500).map(str), st.floats(0.0, 100.0)),
)
def test_every_case_is_in_exactly_one_shard(
    names: list[str], of: int, known: dict[str, float]
) -> None:
    cases = [Named(name) for name in names]
    parts = [part_of(cases, Shard(index, of), known) for index in range(1, of + 1)]
    assert sorted(case.id for part in parts for case in part) == sorted(names)
    again = part_of(cases[::-1], Shard(1, of), known)
    assert again[::-1] == parts[0]


def test_shards_are_even_by_what_their_cases_took() -> None:
    cases = [Named(name) for name in "abcdefgh"]
    seconds = {"a": 6.0, "b": 1.0, "c": 1.0, "d": 1.0, "e": 1.0, "f": 1.0, "g": 1.0}
    parts = [part_of(cases, Shard(index, 2), seconds) for index in (1, 2)]
    assert [[case.id for case in part] for part in parts] == [["a", "g"], list("bcdefh")]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a corpus, and with the three shards of a run."""
    folder = tmp_path_factory.mktemp("made")
    words = ("run", "reference", "-q", "-j1", "--corpus", str(make_corpus(folder)))
    for index in (1, 2, 3):
        output = str(folder / f"{index}.jsonl")
        assert main([*words, "--shard", f"{index}/3", "--output", output]) == 0
    return folder


@pytest.fixture
def shards(made: Path, tmp_path: Path) -> list[Path]:
    """The same in the test's own folder; the shards in order."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return [tmp_path / f"{index}.jsonl" for index in (1, 2, 3)]


def test_shards_together_are_the_whole_run(
    gradconf: Program, tmp_path: Path, shards: list[Path]
) -> None:
    corpus = ("--corpus", str(tmp_path / "cases"))
    whole = gradconf("run", "reference", *corpus, "--output", "whole.jsonl")
    assert whole.returncode == 0
    together = gradconf("report", *map(str, shards[::-1]), *corpus, "--format", "json")
    alone = gradconf("report", "whole.jsonl", *corpus, "--format", "json")
    assert together.returncode == 0
    cells = [json.loads(done.stdout)["cells"] for done in (together, alone)]
    assert [cell["case"] for cell in cells[0]] == [cell["case"] for cell in cells[1]]
    (tmp_path / "parts").mkdir()
    for shard in shards:
        shard.rename(tmp_path / "parts" / shard.name)
    compared = gradconf("diff", "whole.jsonl", "parts")
    assert compared.returncode == 0, compared.stdout + compared.stderr


@pytest.mark.parametrize("kept", [(0, 2), (1,)])
def test_a_missing_shard_is_named(
    gradconf: Program, tmp_path: Path, shards: list[Path], kept: tuple[int, ...]
) -> None:
    paths = [str(shards[index]) for index in kept]
    done = gradconf("report", *paths, "--corpus", str(tmp_path / "cases"))
    assert done.returncode == 4
    for index in {0, 1, 2} - set(kept):
        assert f"shard {index + 1}/3 is missing" in " ".join(done.stdout.split())


def test_a_shard_without_cases_is_not_green(gradconf: Program, tmp_path: Path) -> None:
    corpus = str(make_corpus(tmp_path))
    done = gradconf("run", "reference", "--corpus", corpus, "--shard", "99/100")
    assert done.returncode == 3
    assert "shard 99/100 of 3 cases has none" in done.stdout


@pytest.fixture
def records(shards: list[Path]) -> list[Record]:
    return [read_record(path) for path in shards]


def test_a_cut_shard_is_named(records: list[Record]) -> None:
    cut = replace(records[1], complete=False, reason="truncated")
    found = merged([records[0], cut, records[2]])
    assert not found.complete
    assert found.reason == f"shard 2/3 ({cut.path}): truncated"


def other_header(record: Record, **changes: object) -> Record:
    return replace(record, header={**record.header, **changes})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"corpus": {"hash": "another"}}, "another corpus"),
        ({"asked": []}, "another asked"),
        ({"shard": "2/4"}, "another number of shards"),
        ({"shard": "1/3"}, "is shard 1/3, as"),
        ({"shard": 7}, "is no shard of a run"),
    ],
)
def test_records_of_other_runs_are_refused(
    records: list[Record], change: dict[str, object], message: str
) -> None:
    with pytest.raises(RecordError, match=message):
        merged([records[0], other_header(records[1], **change), records[2]])


def test_shards_of_another_version_are_refused(records: list[Record]) -> None:
    other = replace(records[1], targets={"reference": {"version": "0.0.9"}})
    with pytest.raises(RecordError, match=r"another reference \(.* and 0\.0\.9\)"):
        merged([records[0], other, records[2]])


def test_a_cell_in_two_shards_is_refused(records: list[Record]) -> None:
    twice = replace(records[1], answers=[*records[1].answers, *records[0].answers])
    with pytest.raises(RecordError, match=r"answers .* \[reference:eager\], as"):
        merged([records[0], twice, records[2]])


def test_a_case_in_no_shard_is_missed(records: list[Record]) -> None:
    fewer = replace(records[1], answers=[])
    found = merged([records[0], fewer, records[2]])
    assert not found.complete
    assert "2 of 3 cases" in found.reason


def test_durations_come_from_a_record(gradconf: Program, tmp_path: Path) -> None:
    corpus = str(make_corpus(tmp_path))
    gradconf("run", "reference", "--corpus", corpus, "--output", "r.jsonl")
    seconds = durations(read_record(tmp_path / "r.jsonl"))
    assert len(seconds) == 3
    assert all(value > 0 for value in seconds.values())
    words = ("run", "reference", "--corpus", corpus)
    assert gradconf(*words, "--shard", "1/2", "--durations", "r.jsonl").returncode == 0
    refused = gradconf(*words, "--durations", "r.jsonl")
    assert refused.returncode == 2
    assert "--durations is for --shard" in refused.stderr
