"""What is shown while a run goes: redrawn on a terminal, a few plain lines elsewhere."""

import re
from contextlib import closing

import pytest

from conformance.answers.answer import Answer
from conformance.report.progress import ANNOUNCED, Progress
from conformance.verdicts.findings import Findings, Reviewer

from .making import BROKEN, MODES, RIGHT, WRONG, cases_named, events, gate_of
from .streams import Stream

ESCAPE = "\x1b"
COLOUR = re.compile(r"\x1b\[[\d;]+m")
CONTROL = re.compile(r"\x1b\[[?\d;]*[A-Za-z]")


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM", "CI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    return monkeypatch


def shown(answers, *, terminal=False, failed=(), encoding="utf-8", gate=None, **options):
    stream = Stream(terminal=terminal, encoding=encoding)
    cases = {case.id.rsplit("/", 1)[1]: case for case in cases_named(*answers)}
    results = Findings({"tensorflow": MODES}, gate=gate)
    reviewer = Reviewer(results, cases.values(), ())
    with closing(Progress(results, len(cases) * len(MODES), stream, **options)) as progress:
        for event in events({"tensorflow": answers}, cases, RIGHT, MODES, failed):
            progress.event(event)
            for one in reviewer.add(event):
                progress.found(one)
    return stream.text


def many(count, answer=RIGHT):
    return {f"case{number}": answer for number in range(count)}


def test_without_a_terminal_there_is_a_line_a_target_and_one_a_quarter():
    lines = shown(many(40)).splitlines()
    assert lines[0].startswith("reference 0.1.0 started in")
    assert lines[1].startswith("tensorflow 2.21.0 started in")
    assert "Python 3.11.7" in lines[1]
    assert [line.split()[0] for line in lines[2:]] == ["30/120", "60/120", "90/120", "120/120"]


def test_a_small_run_says_each_quarter_once():
    assert len(shown(many(1)).splitlines()) == 2 + 3


@pytest.mark.parametrize(("name", "value"), [("CI", "true"), ("TERM", "dumb")])
def test_neither_ci_nor_a_dumb_terminal_is_redrawn(environment, name, value):
    environment.setenv(name, value)
    text = shown(many(4, WRONG), terminal=True)
    assert "\r" not in text
    assert ESCAPE not in text


def test_without_a_terminal_there_are_no_escape_codes():
    text = shown(many(4, WRONG))
    assert ESCAPE not in text
    assert "\r" not in text


def test_no_color_leaves_no_colour_on_a_terminal(environment):
    assert not COLOUR.search(shown(many(4, WRONG), terminal=True))
    environment.delenv("NO_COLOR")
    assert COLOUR.search(shown(many(4, WRONG), terminal=True))


def test_a_known_failure_does_not_fall_short():
    gate = gate_of("tensorflow", WRONG)
    assert "fall short" not in shown({"one": WRONG}, gate=gate)


def test_quiet_shows_nothing():
    assert shown(many(4, WRONG), terminal=True, quiet=True) == ""
    assert shown(many(4, WRONG), quiet=True) == ""


def test_a_terminal_shows_shortfalls_above_one_line_that_it_takes_away():
    text = shown({"one": RIGHT, "two": WRONG}, terminal=True)
    assert "fail  math/sq/two [tensorflow:eager] value: g element (1,)" in text
    assert "6/6 cells" in text
    assert "tensorflow 2.21.0: 3 fall short" in text
    assert text.endswith(f"{ESCAPE}[2K"), "the status line is erased"
    assert f"{ESCAPE}[?25h" in text, "and the cursor is there again"


def test_faults_are_not_counted_as_shortfalls():
    text = shown({"one": BROKEN, "two": WRONG})
    assert "tensorflow 2.21.0: 3 fall short, 3 at fault" in text


def test_after_many_shortfalls_they_are_counted():
    text = shown(many(20, WRONG), terminal=True)
    assert text.count("fail  math/sq/") == ANNOUNCED
    assert text.count("told at the end") == 1
    assert "60 fall short" in text


def test_no_line_is_wider_than_the_terminal():
    noisy = Answer("crash", detail="word " * 100)
    text = shown(many(3, noisy), terminal=True)
    lines = [part for line in CONTROL.sub("", text).split("\n") for part in line.split("\r")]
    assert max(map(len, lines)) <= 80


def test_a_target_that_fails_says_why_once():
    text = shown(many(2), failed=("tensorflow",))
    assert text.count("tensorflow did not start: ImportError: no module named it") == 1


def test_hostile_text_is_printable():
    noisy = Answer("crash", detail="\x1b[2J\x07\r\nrm\x00 ∂")
    text = shown(many(2, noisy), terminal=True, encoding="ascii")
    assert not set(CONTROL.sub("", text)) & {ESCAPE, "\x07", "\x00"}
    assert f"{ESCAPE}[2J" not in text
    assert "\\u2202" in text
