"""`gradconf mutants`: its gate, its report, and that nothing is trusted without the control."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

import conformance.commands.mutants as command
from conformance.cli import main
from conformance.files import data_folder
from conformance.suite.caught import identity_of
from conformance.suite.mutation import control, load_mutants, make
from conformance.targets.specification import Target
from tests.cases import make_corpus
from tests.conftest import Program
from tests.suite.making import ANOTHER_COMMENT, CANNOT_BE_IMPORTED, SQUARE_IS_ODD, make_mutants


def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *words: str, **mutants: str) -> int:
    """The command's exit code on a small corpus, with mutants of a test's own."""
    loaded = load_mutants(make_mutants(tmp_path, **mutants))
    monkeypatch.setattr(command, "load_mutants", lambda: loaded)
    return main(["mutants", "--corpus", str(make_corpus(tmp_path)), *words])


def test_0_all_mutants_caught(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, monkeypatch, "odd", odd=SQUARE_IS_ODD) == 0
    assert capsys.readouterr().out.splitlines() == [
        "control: 3 of 3 cells pass",
        "caught   odd by 2: basics/squares/square",
        "",
        "rules                        1 of   1 caught",
        "bite: 1 of 1 mutants caught",
        "conforms",
    ]


def test_1_a_mutant_survives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mutants = {"odd": SQUARE_IS_ODD, "comment": ANOTHER_COMMENT}
    assert run(tmp_path, monkeypatch, "odd", "comment", **mutants) == 1
    said = capsys.readouterr().out
    assert "SURVIVED comment: None at all" in said
    assert "bite: 1 of 2 mutants caught" in said
    assert said.endswith("falls_short\n")


def test_a_mutant_that_one_case_catches_is_listed_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("odd", "-k", "persistent")
    assert run(tmp_path, monkeypatch, *words, odd=SQUARE_IS_ODD) == 0
    said = capsys.readouterr().out
    assert "caught by one case alone:\n  odd: basics/squares/persistent_square\n" in said


def test_2_a_mutant_that_does_not_apply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stale = SQUARE_IS_ODD.replace("conj(x) * ct", "conj(x) @ ct")
    assert run(tmp_path, monkeypatch, stale=stale) == 2
    said = capsys.readouterr()
    assert "mutants/stale.yaml:2:1" in said.err
    assert "there 0 times" in said.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("subsign",), "no mutant named 'subsign' (did you mean sub_sign"),
        (("-j", "0"), "--jobs: must be above zero"),
        (("--output", "/dev/null/folder/bite.json"), "no folder /dev/null/folder"),
    ],
)
def test_2_usage(gradconf: Program, words: tuple[str, ...], message: str) -> None:
    done = gradconf("mutants", *words)
    assert done.returncode == 2
    assert message in done.stderr


def test_3_no_mutants_is_no_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(tmp_path, monkeypatch) == 3


def test_3_no_cases_is_no_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(tmp_path, monkeypatch, "-k", "nothing_like_this", odd=SQUARE_IS_ODD) == 3


def test_4_a_mutant_that_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, monkeypatch, "dead", dead=CANNOT_BE_IMPORTED) == 4
    assert "FAULT    dead:" in capsys.readouterr().out


def test_4_a_control_that_does_not_conform(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (broken,) = load_mutants(make_mutants(tmp_path / "..", broken=SQUARE_IS_ODD))

    def broken_control(workshop: Path) -> Target:
        control(workshop)
        return make(replace(broken, name="control2"), workshop)

    monkeypatch.setattr(command, "control", broken_control)
    assert run(tmp_path, monkeypatch, odd=SQUARE_IS_ODD) == 4
    said = capsys.readouterr().out
    assert "control: 1 of 3 cells pass" in said
    assert "falls short: basics/squares/square" in said
    assert "caught" not in said


def test_all_mutants_are_followed_by_the_null_targets_and_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bite.json"
    odd = SQUARE_IS_ODD.replace("contract/s1", "[contract/s1, contract/s7]")
    assert run(tmp_path, monkeypatch, "--output", str(path), odd=odd) == 1
    said = capsys.readouterr().out
    assert "best null: none, 1 of 3 cells pass (33.3%)" in said
    assert "NOTHING FAILS basics/squares/square\n" in said  # but a mutant that fails 2 of 3
    found = json.loads(path.read_text())
    schema = json.loads((data_folder("docs") / "schemas" / "mutants.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(found)
    assert not validator.is_valid({**found, "claims": {"84": ["odd"]}})
    assert found["word"] == "falls_short"
    assert found["cases"]["unconnected/other/other_source"] == []
    assert "NOTHING SHOWS odd breaks contract/s7\n" in said  # no case of these cites it
    assert "NOTHING SHOWS contract/84\n" in said
    assert found["claims"]["contract/84"] == []
    assert "contract/35" not in found["claims"]  # excused
    assert found["control"] == {"passed": 3, "applicable": 3}
    assert (found["caught"], list(found["mutants"])) == (1, ["odd"])
    assert found["mutants"]["odd"] == {
        "mistake": "The gradient of a product forgets one factor",
        "breaks": {"contract/s1": "basics/squares/square", "contract/s7": ""},
        "catalogue": 35,
        "family": "rules",
        "caught": True,
        "fault": "",
        "kills": ["basics/squares/square", "basics/squares/persistent_square"],
        "identity": identity_of(load_mutants(tmp_path / "mutants")[0]),
    }
    assert found["identities"].keys() == found["cases"].keys()
    assert found["nulls"]["none"] == {"passed": 1, "applicable": 3}
    assert len(found["nulls"]) == 8


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a run wrote of a mutant that two cases catch; the same command can be run again."""
    path = tmp_path / "caught.json.gz"
    assert run(tmp_path, monkeypatch, "odd", "--output", str(path), odd=SQUARE_IS_ODD) == 0
    return path


def again(path: Path, *words: str) -> int:
    corpus = str(path.parent / "cases")
    return main(["mutants", "odd", "--corpus", corpus, "--known", str(path), *words])


def test_what_is_known_is_not_asked_again(known: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = known.read_bytes()
    assert again(known, "--output", str(known)) == 0
    said = capsys.readouterr().out
    assert f"known: 1 mutants, as {known} says\n" in said
    assert "caught   odd" not in said
    assert "bite: 1 of 1 mutants caught" in said
    assert known.read_bytes() == before


def test_a_sample_of_what_is_known_is_asked(
    known: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert again(known, "--sample", "7") == 0
    assert "caught   odd by 2: basics/squares/square" in capsys.readouterr().out


def test_a_changed_case_is_asked(known: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = known.parent / "cases" / "basics" / "squares.yaml"
    file.write_text(file.read_text().replace("3.0", "2.0").replace("6.0", "4.0"))
    assert again(known, "--output", str(known)) == 0
    assert "caught   odd by 2: basics/squares/square" in capsys.readouterr().out
    assert again(known) == 0
    assert "known: 1 mutants" in capsys.readouterr().out


def test_a_changed_mutant_is_asked(known: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known.with_name("changed").mkdir()
    harmless = ANOTHER_COMMENT.replace("None at all", "The gradient of a product forgets a factor")
    found = load_mutants(make_mutants(known.with_name("changed"), odd=harmless))
    monkeypatch.setattr(command, "load_mutants", lambda: found)
    assert again(known) == 1


def test_1_a_case_that_does_not_catch_what_it_is_known_to_catch(
    known: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(gzip.decompress(known.read_bytes()))
    document["mutants"]["odd"]["kills"].append("unconnected/other/other_source")
    known.write_bytes(gzip.compress(json.dumps(document).encode()))
    assert again(known, "--sample", "1") == 1
    lost = "LOST     odd is no longer caught by unconnected/other/other_source\n"
    assert lost in capsys.readouterr().out


def test_of_a_mutant_caught_by_chance_any_case_is_enough(
    known: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known.with_name("lucky").mkdir()
    lucky = SQUARE_IS_ODD.replace("edits:", "chance: The time decides\nedits:")
    found = load_mutants(make_mutants(known.with_name("lucky"), odd=lucky))
    monkeypatch.setattr(command, "load_mutants", lambda: found)
    document = json.loads(gzip.decompress(known.read_bytes()))
    document["mutants"]["odd"]["kills"].append("unconnected/other/other_source")
    known.write_bytes(gzip.compress(json.dumps(document).encode()))
    assert again(known, "--sample", "1") == 0
    assert "LOST" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{}", "Not a gzipped file"),
        (gzip.compress(b"{}"), "not what gradconf mutants --output writes: KeyError('mutants')"),
        (gzip.compress(b'{"mutants": {"a": 1}}'), "expected an object, got int"),
        (gzip.compress(b" " * 16_000_001), "longer than 16,000,000 bytes"),
        (gzip.compress(b"{}")[:-9], "not compressed as it should be"),
    ],
    # The bytes of gzip hold the time; every worker of pytest-xdist must draw the same names.
    ids=["not compressed", "no mutants", "a mutant is no object", "too long", "cut off"],
)
def test_2_what_is_known_is_no_such_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, message: str
) -> None:
    path = tmp_path / "caught.json.gz"
    path.write_bytes(content)
    assert main(["mutants", "--known", str(path)]) == 2
    said = capsys.readouterr().err
    assert f"--known {path}: " in said
    assert message in said
    assert said.splitlines()[1:] == ["usage"]


def test_the_committed_file_conforms_and_knows_the_mutants_of_today() -> None:
    path = data_folder("docs").with_name("reports") / "mutants.json.gz"
    found = json.loads(gzip.decompress(path.read_bytes()))
    schema = json.loads((data_folder("docs") / "schemas" / "mutants.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(found)
    assert found["word"] == "conforms"
    assert found["mutants"].keys() == {mutant.name for mutant in load_mutants()}


@pytest.mark.slow
def test_the_corpus_catches_every_shipped_mutant(gradconf: Program) -> None:
    done = gradconf("mutants")
    assert done.returncode == 0, done.stdout
