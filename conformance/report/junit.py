"""Results as JUnit XML: one testcase for each cell, one testsuite for each target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias
from xml.etree import ElementTree

from conformance import __version__
from conformance.corpus.cases import CORPUS_VERSION
from conformance.report.summary import (
    LABELS,
    cell_findings,
    command_line,
    replay_command,
    reservations,
    show_command,
    standings,
)
from conformance.text import printable
from conformance.verdicts.judge import Verdict
from conformance.verdicts.results import FAULTS, Judged, Results

Element: TypeAlias = "ElementTree.Element[str]"
Outcome: TypeAlias = Literal["failure", "error", "skipped"]

OUTCOMES: Mapping[Verdict, Outcome] = {
    "fail": "failure",
    "crash": "failure",
    "timeout": "failure",
    "unexpected_pass": "failure",
    "bad_case": "error",
    "error": "error",
    "known_deviation": "skipped",
    "unsupported": "skipped",
    "not_applicable": "skipped",
    "not_run": "skipped",
}
"""JUnit has three words for what did not pass; the `type` or the message keeps ours."""
TOTALS: Mapping[Outcome, str] = {"failure": "failures", "error": "errors", "skipped": "skipped"}


def write_junit(results: Results) -> str:
    """The document as text. All text in it is printable, so XML can hold it."""
    root = ElementTree.Element("testsuites", _totals("gradconf", results.cells, results))
    for target in results.asked:
        own = [judged for judged in results.cells if judged.cell.target == target]
        root.append(_suite(results, target, own))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(results: Results, target: str, cells: list[Judged]) -> Element:
    suite = ElementTree.Element(
        "testsuite", _totals(printable(results.title(target)), cells, results)
    )
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in _properties(results, target).items():
        given = {"name": printable(name), "value": printable(value)}
        ElementTree.SubElement(properties, "property", given)
    suite.extend(_testcase(judged, results) for judged in cells)
    told = reservations(results)
    if told:
        ElementTree.SubElement(suite, "system-err").text = "\n".join(told)
    return suite


def _outcome(judged: Judged, results: Results) -> Outcome | None:
    """What JUnit calls a cell: a failure where the gate fails, skipped where a baseline excuses."""
    if judged.verdict in FAULTS:
        return OUTCOMES[judged.verdict]
    if judged.falls_short:
        return "failure"
    return "skipped" if judged.verdict in OUTCOMES else None


def _totals(name: str, cells: list[Judged], results: Results) -> dict[str, str]:
    outcomes = [_outcome(judged, results) for judged in cells]
    seconds = sum(judged.answer.seconds for judged in cells)
    totals = {plural: str(outcomes.count(outcome)) for outcome, plural in TOTALS.items()}
    return {"name": name, "tests": str(len(cells)), **totals, "time": f"{seconds:.3f}"}


def _properties(results: Results, target: str) -> dict[str, object]:
    standing = next(standing for standing in standings(results) if standing.target == target)
    return {
        "gradconf": __version__,
        "corpus": CORPUS_VERSION,
        "command": command_line(results),
        "word": results.word,
        "record": results.record,
        "target": target,
        **{f"target.{key}": value for key, value in results.targets.get(target, {}).items()},
        "conformance": standing.conformance,
        "evidence": standing.evidence,
    }


def _testcase(judged: Judged, results: Results) -> Element:
    cell, place = judged.cell, judged.case.place
    topic, _, name = cell.case.rpartition("/")
    testcase = ElementTree.Element(
        "testcase",
        {
            "classname": printable(topic),
            "name": printable(f"{name} [{cell.target}:{cell.mode}]"),
            "file": printable(place.file),
            "line": str(place.line),
            "time": f"{judged.answer.seconds:.3f}",
        },
    )
    outcome = _outcome(judged, results)
    if outcome is not None:
        testcase.append(_what_happened(outcome, judged, results))
    return testcase


def _what_happened(outcome: Outcome, judged: Judged, results: Results) -> Element:
    findings, command = cell_findings(judged), results.command
    standing = judged.standing
    label = f"{standing}, {LABELS[judged.verdict]}" if standing else LABELS[judged.verdict]
    message = f"{label}: {findings[0]}" if findings else label
    if outcome == "skipped":
        return ElementTree.Element(outcome, {"message": message})
    element: Element = ElementTree.Element(
        str(outcome), {"message": message, "type": judged.verdict}
    )
    title = printable(judged.case.title)
    show = f"show:   {show_command(judged.cell, command)}"
    replay = f"replay: {replay_command(judged.cell, command=command)}"
    element.text = "\n".join([title, *findings, show, replay])
    return element
