"""The Report of a run as JUnit XML: one testcase for each cell, one testsuite for each target."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias
from xml.etree import ElementTree

from conformance.report.model import Block, Report, Subject
from conformance.text import in_line, printable
from conformance.verdicts.judge import FAULTS

Element: TypeAlias = "ElementTree.Element[str]"
Outcome: TypeAlias = Literal["failure", "error", "skipped"]
TOTALS: Mapping[Outcome, str] = {"failure": "failures", "error": "errors", "skipped": "skipped"}


def write(report: Report) -> str:
    """The document as text. All text in it is printable, so XML can hold it."""
    root = _element("testsuites", **_totals("gradconf", report.cells))
    root.extend(_suite(report, subject) for subject in report.subjects if subject.role == "target")
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _element(tag: str, **attributes: object) -> Element:
    return ElementTree.Element(tag, {key: printable(value) for key, value in attributes.items()})


def _suite(report: Report, subject: Subject) -> Element:
    cells = [cell for cell in report.cells if cell.target == subject.label]
    suite = _element("testsuite", **_totals(subject.name, cells))
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in _properties(report, subject).items():
        properties.append(_element("property", name=name, value=value))
    suite.extend(map(_testcase, cells))
    if report.reservations:
        told = ElementTree.SubElement(suite, "system-err")
        told.text = "\n".join(map(printable, report.reservations))
    return suite


def _properties(report: Report, subject: Subject) -> dict[str, object]:
    score = subject.score
    return {
        "gradconf": report.gradconf,
        "corpus": report.corpus,
        "command": report.command,
        "word": report.word,
        "record": report.record,
        "target": subject.label,
        **{f"target.{key}": value for key, value in (subject.about or {}).items()},
        "conformance": score.conformance if score else "",
        "evidence": score.evidence if score else "",
    }


def _outcome(cell: Block) -> Outcome | None:
    """A failure where the gate fails, an error for a fault of ours, else skipped if not passed."""
    if cell.kind in FAULTS:
        return "error"
    if cell.falls_short:
        return "failure"
    return None if cell.kind == "pass" else "skipped"


def _totals(name: str, cells: Iterable[Block]) -> dict[str, object]:
    own = list(cells)
    outcomes = [_outcome(cell) for cell in own]
    totals = {plural: outcomes.count(outcome) for outcome, plural in TOTALS.items()}
    seconds = sum(cell.seconds for cell in own)
    return {"name": name, "tests": len(own), **totals, "time": f"{seconds:.3f}"}


def _testcase(cell: Block) -> Element:
    topic, _, name = cell.case.rpartition("/")
    place = {"file": cell.file, "line": cell.line, "time": f"{cell.seconds:.3f}"}
    testcase = _element("testcase", classname=topic, name=f"{name} {cell.where}", **place)
    outcome = _outcome(cell)
    if outcome is not None:
        testcase.append(_what_happened(outcome, cell))
    return testcase


def _what_happened(outcome: Outcome, cell: Block) -> Element:
    told = [line for line in [*cell.told(), cell.explanation] if line]
    label = ", ".join(filter(None, (cell.standing, cell.label)))
    message = ": ".join([label, *told[:1]])
    if outcome == "skipped":
        return _element(outcome, message=message)
    element = _element(outcome, message=message, type=cell.kind)
    lines = map(in_line, told)
    commands = f"show:   {printable(cell.show)}", f"replay: {printable(cell.replay)}"
    element.text = "\n".join([printable(cell.title), *lines, *commands])
    return element
