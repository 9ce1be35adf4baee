"""The Report of a run as JUnit XML: one testcase for each cell, one testsuite for each target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias
from xml.etree import ElementTree

from conformance.report.model import Block, Report, Subject
from conformance.text import in_line, printable
from conformance.verdicts.judge import FAULTS

Element: TypeAlias = "ElementTree.Element[str]"
TOTALS = {"failure": "failures", "error": "errors", "skipped": "skipped"}
"""What may come of a cell that did not pass, and what its count is called."""


def write(report: Report) -> str:
    """The document as text. All text in it is printable, so XML can hold it."""
    root = _element("testsuites", _totals("gradconf", report.cells))
    root.extend(_suite(report, subject) for subject in report.subjects if subject.role == "target")
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _element(tag: str, attributes: dict[str, object], *children: Element) -> Element:
    element = ElementTree.Element(tag, {key: printable(it) for key, it in attributes.items()})
    element.extend(children)
    return element


def _totals(name: str, cells: Sequence[Block]) -> dict[str, object]:
    outcomes = [_outcome(cell) for cell in cells]
    totals = {plural: outcomes.count(outcome) for outcome, plural in TOTALS.items()}
    seconds = sum(cell.seconds for cell in cells)
    return {"name": name, "tests": len(cells), **totals, "time": f"{seconds:.3f}"}


def _outcome(cell: Block) -> str:
    """A failure where the gate fails, an error for a fault of ours, else skipped if not passed."""
    if cell.kind in FAULTS:
        return "error"
    if cell.falls_short:
        return "failure"
    return "" if cell.kind == "pass" else "skipped"


def _suite(report: Report, subject: Subject) -> Element:
    cells = [cell for cell in report.cells if cell.target == subject.label]
    properties = {
        "gradconf": report.gradconf,
        "corpus": report.corpus,
        "command": report.command,
        "word": report.word,
        "record": report.record,
        "target": subject.label,
        **{f"target.{key}": value for key, value in (subject.about or {}).items()},
        "conformance": subject.score.conformance if subject.score else "",
        "evidence": subject.score.evidence if subject.score else "",
    }
    about = (_element("property", {"name": key, "value": it}) for key, it in properties.items())
    suite = _element("testsuite", _totals(subject.name, cells), _element("properties", {}, *about))
    suite.extend(map(_testcase, cells))
    if report.reservations:
        told = ElementTree.SubElement(suite, "system-err")
        told.text = "\n".join(map(printable, report.reservations))
    return suite


def _testcase(cell: Block) -> Element:
    topic, _, name = cell.case.rpartition("/")
    place = {"file": cell.file, "line": cell.line, "time": f"{cell.seconds:.3f}"}
    testcase = _element("testcase", {"classname": topic, "name": f"{name} {cell.where}", **place})
    outcome = _outcome(cell)
    if outcome:
        testcase.append(_what_happened(outcome, cell))
    return testcase


def _what_happened(outcome: str, cell: Block) -> Element:
    told = [line for line in [*cell.told(), cell.explanation] if line]
    label = ", ".join(filter(None, (cell.standing, cell.label)))
    message = ": ".join([label, *told[:1]])
    if outcome == "skipped":
        return _element(outcome, {"message": message})
    element = _element(outcome, {"message": message, "type": cell.kind})
    commands = f"show:   {printable(cell.show)}", f"replay: {printable(cell.replay)}"
    element.text = "\n".join([printable(cell.title), *map(in_line, told), *commands])
    return element
