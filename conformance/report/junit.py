"""The Report of a run as JUnit XML: one testcase for each cell, one testsuite for each target."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias
from xml.etree import ElementTree

from conformance.report.model import JudgedCell, Report, Subject
from conformance.text import printable
from conformance.verdicts.judge import Verdict

Element: TypeAlias = "ElementTree.Element[str]"
Outcome: TypeAlias = Literal["failure", "error", "skipped"]
TOTALS: Mapping[Outcome, str] = {"failure": "failures", "error": "errors", "skipped": "skipped"}
FAULTS: tuple[Verdict, ...] = ("bad_case", "error")


def write(report: Report) -> str:
    """The document as text. All text in it is printable, so XML can hold it."""
    root = ElementTree.Element("testsuites", _totals("gradconf", report.cells))
    for subject in report.subjects:
        if subject.role == "target":
            own = [cell for cell in report.cells if cell.target == subject.label]
            root.append(_suite(report, subject, own))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(report: Report, subject: Subject, cells: Sequence[JudgedCell]) -> Element:
    suite = ElementTree.Element("testsuite", _totals(subject.name, cells))
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in _properties(report, subject).items():
        given = {"name": printable(name), "value": printable(value)}
        ElementTree.SubElement(properties, "property", given)
    suite.extend(map(_testcase, cells))
    if report.reservations:
        told = ElementTree.SubElement(suite, "system-err")
        told.text = "\n".join(map(printable, report.reservations))
    return suite


def _properties(report: Report, subject: Subject) -> dict[str, Any]:
    score, about = subject.score, subject.about or {}
    return {
        "gradconf": report.gradconf,
        "corpus": report.corpus,
        "command": report.command,
        "word": report.word,
        "record": report.record,
        "target": subject.label,
        **{f"target.{key}": value for key, value in about.items()},
        "conformance": score.conformance if score else "",
        "evidence": score.evidence if score else "",
    }


def _outcome(cell: JudgedCell) -> Outcome | None:
    """A failure where the gate fails, an error for a fault of ours, else skipped if not passed."""
    if cell.verdict in FAULTS:
        return "error"
    if cell.falls_short:
        return "failure"
    return None if cell.verdict == "pass" else "skipped"


def _totals(name: str, cells: Iterable[JudgedCell]) -> dict[str, str]:
    own = list(cells)
    outcomes = [_outcome(cell) for cell in own]
    totals = {plural: str(outcomes.count(outcome)) for outcome, plural in TOTALS.items()}
    seconds = sum(cell.seconds for cell in own)
    return {"name": printable(name), "tests": str(len(own)), **totals, "time": f"{seconds:.3f}"}


def _testcase(cell: JudgedCell) -> Element:
    topic, _, name = cell.case.rpartition("/")
    given = {
        "classname": topic,
        "name": f"{name} [{cell.target}:{cell.mode}]",
        "file": cell.file,
        "line": str(cell.line),
        "time": f"{cell.seconds:.3f}",
    }
    testcase = ElementTree.Element(
        "testcase", {key: printable(value) for key, value in given.items()}
    )
    outcome = _outcome(cell)
    if outcome is not None:
        testcase.append(_what_happened(outcome, cell))
    return testcase


def _what_happened(outcome: Outcome, cell: JudgedCell) -> Element:
    findings = [_line(finding) for finding in cell.findings]
    message = f"{cell.label}: {findings[0]}" if findings else cell.label
    if outcome == "skipped":
        return ElementTree.Element(outcome, {"message": message})
    element: Element = ElementTree.Element(outcome, {"message": message, "type": cell.verdict})
    commands = f"show:   {printable(cell.show)}", f"replay: {printable(cell.replay)}"
    element.text = "\n".join([printable(cell.title), *findings, *commands])
    return element


def _line(finding: str) -> str:
    return f"  {printable(finding)}" if finding.startswith(" ") else printable(finding)
