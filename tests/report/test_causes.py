"""The causes of shortfalls: ranked, named by what a maintainer can look for, and pasteable."""

from __future__ import annotations

import pytest

from conformance.answers.answer import Answer
from conformance.corpus.language.loader import load_text
from conformance.verdicts.findings import Findings, Reviewer
from tests.report.making import (
    CRASH,
    LACKS,
    LOST,
    RIGHT,
    WRONG,
    events,
    raised,
    report_from,
    report_of,
    sections,
    sections_of,
)

NO_TAPE = raised("module 'tape' has no attribute 'GradientTape'", "AttributeError")


def causes(answers, **options):
    return sections(report_from({"tensorflow": answers}, modes=("eager",), **options))["causes"]


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (NO_TAPE, "missing: GradientTape"),
        (raised("'Tape' object has no attribute 'jacobian'", "AttributeError"),
         "missing: GradientTape.jacobian"),
        (raised("'Variable' object has no attribute 'shape'", "AttributeError"),
         "no attribute: Variable.shape"),
        (raised("'NoneType' object has no attribute 'shape'", "AttributeError"),
         "error: AttributeError"),
        (raised("gather() got an unexpected keyword argument 'batch_dims'", "TypeError"),
         "unknown keyword: batch_dims"),
        (raised("no gradient defined"), "error: LookupError"),
        (CRASH, "crash"),
        (LOST, "none"),
        (WRONG, "value"),
        (LACKS, "declared as lacking: GradientTape"),
        (Answer("unsupported", detail="the target declares that it lacks nn, nn.relu"),
         "declared as lacking: nn"),
    ],
)  # fmt: skip
def test_a_cause_is_named_by_what_can_be_looked_for(answer, cause):
    assert causes({"one": answer}).lines == (f"{cause} (1 cell)",)


def test_causes_are_ranked_and_the_missing_names_stand_in_a_line_to_paste():
    section = causes({"one": NO_TAPE, "two": NO_TAPE, "three": WRONG, "four": RIGHT})
    assert section.lines == ("missing: GradientTape (2 cells)", "value (1 cell)")
    assert section.paste == 'GRADCONF_LACKS = ["GradientTape"]'


def test_the_line_to_paste_keeps_what_is_declared(monkeypatch):
    monkeypatch.setitem(__import__("tests.report.making").report.making.ABOUT, "lacks", ["xla"])
    assert causes({"one": NO_TAPE}).paste == 'GRADCONF_LACKS = ["GradientTape", "xla"]'


def test_where_no_name_is_missing_there_is_nothing_to_paste():
    assert causes({"one": WRONG}).paste == ""


def test_each_of_several_targets_has_its_own_causes():
    report = report_from({"tensorflow": {"one": WRONG}, "./tape.py": {"one": LOST}})
    told = [(section.heading, section.lines) for section in sections_of(report, "causes")]
    assert told == [
        ("causes: tensorflow 2.21.0", ("value (3 cells)",)),
        ("causes: ./tape.py", ("none (3 cells)",)),
    ]


CALLS = """
  {name}:
    title: The gradient of a call
    source: guide/autodiff
    inputs: {{x: [1.0, 3.0]}}
    run: |
      with tf.GradientTape() as t:
          t.watch(x)
          y = tf.reduce_sum(tf.{operation}(x))
      g = t.gradient(y, x)
    expect: {{g: [2.0, 6.0]}}
"""


def test_a_wrong_value_is_put_down_to_the_operation_whose_cases_mismatch_most():
    operations = {"one": "square", "two": "square", "three": "exp", "four": "sin"}
    body = "".join(CALLS.format(name=name, operation=op) for name, op in operations.items())
    cases = {case.id: case for case in load_text(f"introduction: Calls.\ncases:{body}")}
    given = dict(zip(cases, (WRONG, WRONG, RIGHT, LOST), strict=True))
    run = Findings({"tensorflow": ("eager",)}, complete=True)
    reviewer = Reviewer(run, cases.values(), ())
    for event in events({"tensorflow": given}, cases, RIGHT, ("eager",)):
        reviewer.add(event)
    reviewer.finish()
    lines = sections(report_of(run))["causes"].lines
    assert lines == ("value: square (2 cells)", "none: sin (1 cell)")
