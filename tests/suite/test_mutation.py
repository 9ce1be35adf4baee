"""Mutants: an edit applies exactly once and changes the oracle, or is refused with its place."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from conformance.corpus.language.document import CaseFileError
from conformance.suite.mutation import FAMILIES, breakers, control, edited, load_mutants, make
from tests.suite.making import SQUARE_IS_ODD, edit, make_mutants

ORACLE = Path(__file__).parent.parent.parent / "reference_impl"


def refusal(folder: Path, text: str) -> str:
    """What is said of a mutant that cannot be made."""
    (mutant,) = load_mutants(make_mutants(folder, example=text))
    control(folder)
    with pytest.raises(CaseFileError) as refused:
        make(mutant, folder)
    return str(refused.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (edit("tape.py", "no such text", "x"), "tape.py: the text to replace is there 0 times"),
        (edit("tape.py", "def ", "x"), "the text to replace is there"),
        (edit("tape.py", "class GradientTape", "class GradientTape"), "the edit changes nothing"),
        (edit("tape.py", "class GradientTape", "class GradientTape("), "not Python after the edit"),
        (edit("taep.py", "class", "x"), "no such file of the oracle (did you mean tape.py"),
        (edit("../tape.py", "class", "x"), "no such file of the oracle"),
    ],
)
def test_what_would_be_caught_for_another_reason_is_refused(
    tmp_path: Path, text: str, message: str
) -> None:
    said = refusal(tmp_path, text)
    assert said.startswith("mutants/example.yaml:1:1")
    assert message in said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mistake: m\nbreaks: contract/1\nedits: []\n", "at least one edit"),
        ("mistake: m\n", "missing breaks, edits"),
        ("edits: []\n", "missing mistake"),
        ("mistake: m\nbreaks: []\nedits: []\n", "at least one source"),
        ("mistake: m\nbreaks: contract/999\nedits: []\n", "no claim 'contract/999'"),
        ("mistake: m\nbreaks: [contract/1, line 2]\nedits: []\n", "'line 2' is no source"),
        ("mistake: m\nmode: xla\nedits: []\n", "expected one of eager, graph, call"),
        ("mistake: m\nedits:\n  - {file: tape.py, old: x}\n", "missing new"),
        ("mistake: m\nedits:\n  - {file: tape.py, old: '', new: x}\n", "expected text"),
        ("mistake: m\nedits:\n  - {file: tape.py, old: 1, new: x}\n", "expected text"),
        ("catalogue: 163\nmistake: m\nedits: []\n", "a number of the catalogue, 1 to 162"),
        ("catalogue: true\nmistake: m\nedits: []\n", "a number of the catalogue"),
        ("mistakes: m\nedits: []\n", "did you mean mistake?"),
    ],
)
def test_a_file_that_is_no_mutant_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(CaseFileError) as refused:
        load_mutants(make_mutants(tmp_path, example=text))
    assert message in str(refused.value)


def test_the_faults_of_all_files_are_told_at_once(tmp_path: Path) -> None:
    folder = make_mutants(tmp_path, one="mistake: m\n", two="- 1\n", three="a: [\n")
    with pytest.raises(CaseFileError) as refused:
        load_mutants(folder)
    assert {fault.place.file for fault in refused.value.faults} == {
        "mutants/one.yaml",
        "mutants/two.yaml",
        "mutants/three.yaml",
    }


def test_a_mutant_differs_from_the_control_in_its_edit_alone(tmp_path: Path) -> None:
    (mutant,) = load_mutants(make_mutants(tmp_path, example=SQUARE_IS_ODD))
    control(tmp_path)
    target = make(mutant, tmp_path)
    changed = [
        path.name
        for path in ORACLE.rglob("*.py")
        if (Path(target.path[0]) / "reference_impl" / path.relative_to(ORACLE)).read_text()
        != path.read_text()
    ]
    assert changed == ["arithmetic.py"]
    assert (mutant.catalogue, mutant.family) == (35, "rules")


def test_what_is_broken_is_found_by_its_source(tmp_path: Path) -> None:
    one = "mistake: m\nbreaks: [contract/1, api/cast]\nmode: graph\nedits: []\n"
    two = "mistake: n\nbreaks: contract/1\nmode: call\nedits: []\n"
    mutants = load_mutants(make_mutants(tmp_path, one=one, two=two))
    assert breakers(mutants) == {"contract/1": ("one", "two"), "api/cast": ("one",)}


def test_a_mutant_of_a_mode_is_asked_in_it(tmp_path: Path) -> None:
    text = "mistake: m\nbreaks: contract/1\nmode: graph\nedits: []\n"
    (mutant,) = load_mutants(make_mutants(tmp_path, example=text))
    control(tmp_path)
    assert make(mutant, tmp_path).modes == ("graph",)


def test_the_control_is_the_oracle(tmp_path: Path) -> None:
    copy = Path(control(tmp_path).path[0]) / "reference_impl"
    files = {path.relative_to(ORACLE): path.read_text() for path in ORACLE.rglob("*.py")}
    assert files == {path.relative_to(copy): path.read_text() for path in copy.rglob("*.py")}


def test_every_shipped_mutant_applies_to_the_oracle_of_today() -> None:
    mutants = load_mutants()
    faults = []
    for mutant in mutants:
        try:
            edited(mutant, ORACLE)
        except CaseFileError as error:
            faults.append(str(error))
    assert not faults
    assert len(mutants) >= 48


def test_every_shipped_mutant_changes_more_than_comments_and_spaces() -> None:
    for mutant in load_mutants():
        for file, text in edited(mutant, ORACLE).items():
            before = ast.parse((ORACLE / file).read_text())
            assert ast.dump(before) != ast.dump(ast.parse(text)), mutant.name


def test_every_family_has_mutants_and_no_two_have_the_same_mistake() -> None:
    mutants = load_mutants()
    families = {mutant.family for mutant in mutants} - {"not in the catalogue"}
    assert families == {family for _, family in FAMILIES}
    assert len({mutant.mistake for mutant in mutants}) == len(mutants)
    assert len({(mutant.mode, mutant.edits) for mutant in mutants}) == len(mutants)
