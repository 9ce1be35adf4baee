"""Workflow commands: an annotation for each block, at its file where the repository has it."""

from __future__ import annotations

from conformance.report import github, render
from tests.report.making import CRASH, RIGHT, WRONG, held, only, report_from


def commands(report):
    return render(report, "github").splitlines()


def test_a_shortfall_is_an_error_with_all_that_is_known_of_it():
    error, last = commands(only(CRASH, modes=("eager",)))
    assert error == (
        "::error title=crash%3A math/sq/one [tensorflow%3Aeager]::"
        "The gradient of a square is twice its argument%0A"
        "cases/math/sq.yaml:4; guide/autodiff%0A"
        "the worker died of SIGSEGV in cell 4%0A"
        "gradconf show math/sq/one --as-python%0A"
        "gradconf run tensorflow:eager math/sq/one"
    )
    assert last == (
        "::error title=gradconf%3A falls_short::tensorflow: 0 of 1 applicable cell (0.0 %25)"
    )


def test_it_points_into_a_file_that_the_repository_has(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cases/math").mkdir(parents=True)
    (tmp_path / "cases/math/sq.yaml").write_text("")
    assert commands(only(WRONG))[0].startswith("::error file=cases/math/sq.yaml,line=4,title=")


def test_known_failures_are_no_annotations_and_stand_beside_the_word():
    (last,) = commands(held(WRONG, WRONG))
    assert last.startswith("::notice title=gradconf%3A conforms (1 known failure)::")


def test_reservations_are_warnings():
    warning, _ = commands(only(RIGHT, complete=False, reason="a, b"))
    assert warning == "::warning title=gradconf::not complete: a, b"


def test_more_than_a_log_can_hold_are_counted(monkeypatch):
    monkeypatch.setattr(github, "MOST", 2)
    lines = commands(report_from({"tensorflow": {f"n{i}": CRASH for i in range(5)}}))
    assert len([line for line in lines if "crash%3A" in line]) == 2
    assert lines[2] == "::error title=gradconf::9 more cells: falls short"
