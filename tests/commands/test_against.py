"""--against: a build fails on what is worse than the record of a release, and on nothing else."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.cli import main
from tests.cases import make_corpus
from tests.commands.versions import RIGHT, keep_ready
from tests.conftest import Program

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "releases.md").read_text(encoding="utf-8")
LINES = re.findall(r"^\$ (gradconf .+?) +# exit (\d)$", PAGE, re.MULTILINE)
WORSE = "None"
HALF = "super().gradient(*args, **options) * 0.5"
RECORD = "tensorflow-2.21.0.jsonl.gz"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a corpus, interpreters of builds, and the records of two releases."""
    folder = tmp_path_factory.mktemp("releases")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADCONF_CACHE", str(folder / "cache"))
        keep_ready(folder / "cache", {"2.21.0": RIGHT, "2.22.0": WORSE, "2.20.0": HALF})
        for name, version in (("build", "2.21.0"), ("worse", "2.22.0"), ("half", "2.20.0")):
            shutil.copytree(folder / "cache" / "environments" / version, folder / name)
        corpus = str(make_corpus(folder))
        words = "--corpus", corpus, "-q", "-j1", "--output"
        main(["run", "tensorflow==2.21.0:eager", *words, str(folder / RECORD)])
        main(["run", "tensorflow==2.20.0:eager", *words, str(folder / "half.jsonl")])
        one = "basics/squares/square", *words, str(folder / "one.jsonl")
        main(["run", "tensorflow==2.21.0:eager", *one])
        lines = (folder / "one.jsonl").read_text().splitlines()
        (folder / "cut.jsonl").write_text("\n".join(lines[:-1]) + "\n")
        yield folder


@pytest.fixture
def folder(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder, whose records stand for ours."""
    monkeypatch.setattr("conformance.commands.records.data_folder", lambda _: made)
    return made


def run(gradconf: Program, folder: Path, *words: str) -> tuple[int, list[str]]:
    given = ("run", "tensorflow:eager", "--corpus", "cases", *words)
    done = gradconf(*given, folder=folder)
    return done.returncode, (done.stderr if done.returncode == 2 else done.stdout).splitlines()


def test_the_commands_of_the_page_do_what_it_says(gradconf: Program, folder: Path) -> None:
    assert [code for _, code in LINES] == ["0", "1", "0"]
    for line, code in LINES:
        program, command, target, *words = shlex.split(line)
        assert (program, command, target) == ("gradconf", "run", "tensorflow")
        assert (line, run(gradconf, folder, *words)[0]) == (line, int(code))


def test_what_is_worse_is_told_beside_every_change(gradconf: Program, folder: Path) -> None:
    code, lines = run(gradconf, folder, "--python", "worse/bin/python", "--against", "2.21.0")
    assert (code, lines[-1]) == (1, "falls_short")
    text = " ".join(" ".join(lines).split())
    assert re.search(r"0 known by the baseline .{0,300}, 2 worse", text)
    assert "3 cells compared: 2 implementation changed " in text
    assert "implementation changed: tensorflow 2.21.0 -> 2.22.0" in text


def test_a_fault_that_the_record_has_is_known(gradconf: Program, folder: Path) -> None:
    def held(build: str) -> tuple[int, str]:
        words = "--python", f"{build}/bin/python", "--against", "half.jsonl"
        code, lines = run(gradconf, folder, *words)
        (told,) = re.findall(r"\d known by the baseline half.jsonl.*", "\n".join(lines))
        return code, told

    assert held("half") == (0, "3 known by the baseline half.jsonl")
    assert held("build") == (0, "0 known by the baseline half.jsonl")
    worse = 1, "0 known by the baseline half.jsonl, 2 worse"
    assert held("worse") == worse, "None is another answer than half of it"


def test_what_the_record_does_not_know_is_judged_by_itself(gradconf: Program, folder: Path) -> None:
    words = "--python", "worse/bin/python", "--against", "one.jsonl"
    code, lines = run(gradconf, folder, *words)
    assert code == 1
    assert any("1 worse, 1 new case" in line for line in lines), lines


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--against", "2.99.0"), "no record of it in"),
        (("--against", RECORD, "--baseline", "known.yaml"), "two gates"),
        (("--against", "cut.jsonl"), "no complete record"),
    ],
)
def test_it_refuses(gradconf: Program, folder: Path, words: tuple[str, ...], message: str) -> None:
    code, told = run(gradconf, folder, "--python", "build/bin/python", *words)
    assert code == 2
    assert message in told[-2]


@pytest.mark.tensorflow
def test_the_installed_release_conforms_to_its_own_record(gradconf: Program) -> None:
    words = "special_points/limits", "dtypes/complex_numbers", "--against", "2.21.0"
    done = gradconf("run", "tensorflow:eager", *words)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "conforms"), done.stdout
