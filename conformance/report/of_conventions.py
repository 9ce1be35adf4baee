"""Makes the Report of conventions: point by framework, and the versions where they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from conformance.report.building import grouped, table_of
from conformance.report.model import ODD, Column, Item, Report, Row, Section, Table
from conformance.text import clean, plural
from conformance.verdicts.conventions import CONVENTION, Choice, Point, convention_of

HEAD = (
    "Made from the records in this folder and in frameworks/ by gradconf report reports"
    " reports/frameworks --format conventions; do not edit. Points at which frameworks choose"
    " differently, and none is wrong: ties, kinks, poles, complex numbers, None against zero,"
    " dtypes. A row is a case, the contract is what TensorFlow's documents or mathematics say, and"
    " = is the same. Bold is the odd one out: it answers otherwise than most do. A value leads to"
    " the document or issue that says so. Where versions of a framework differ, each says from"
    " which one on; what is empty was not asked, or is lacking."
)
LONGEST = 60
"""Characters of a value."""


def report_of_conventions(points: Sequence[Point], versions: Mapping[str, Sequence[str]]) -> Report:
    """The Report of these points; `versions` are those of each framework, the oldest first."""
    by_topic = grouped(points, lambda point: point.case.id.rpartition("/")[0])
    sections = [
        Section(f"{topic} ({plural(len(own), 'point')})", "counts", tables=(_table(own, versions),))
        for topic, own in by_topic.items()
    ]
    return Report(
        "conventions",
        "Conventions: where frameworks choose differently",
        None,
        headline=(HEAD,),
        sections=(Section("Frameworks", "counts", tables=(_counts(points, versions),)), *sections),
    )


def _counts(points: Sequence[Point], versions: Mapping[str, Sequence[str]]) -> Table:
    rows: list[Row] = []
    for name, own in versions.items():
        told = [point.choices[name][-1] for point in points if name in point.choices]
        chosen = sum(convention_of(one.finding) is not None for one in told)
        odd = sum(name in point.choices and _is_odd(point, name) for point in points)
        rows.append((name, ", ".join(own), len(told), chosen, odd))
    return table_of(("framework", "versions"), ("points", "chose otherwise", "odd one out"), rows)


def _table(points: Sequence[Point], versions: Mapping[str, Sequence[str]]) -> Table:
    names = [name for name in versions if any(name in point.choices for point in points)]
    texts = (Column(name, number=False) for name in ("contract", *names, "why"))
    return table_of(("point",), texts, [_row(point, names) for point in points])


def _row(point: Point, names: Sequence[str]) -> Row:
    case = point.case
    place = Item(case.id.split("/")[-1], link=f"../{case.place.file}#L{case.place.line}")
    return (
        place,
        clean(point.contract, LONGEST),
        *(_choices(point, name) for name in names),
        "; ".join(point.reasons),
    )


def _choices(point: Point, name: str) -> Item | str:
    """What the versions of a framework answer: one text, or each with its first version."""
    own = point.choices.get(name, ())
    runs = [list(run) for _, run in groupby(own, lambda one: one.text)]
    if not runs:
        return ""
    texts = [_text(point, run[0]) for run in runs]
    if len(runs) > 1:
        texts = [f"{text} from {run[0].version}" for text, run in zip(texts, runs, strict=True)]
    by = own[-1].finding.explained_by
    tone = ODD if _is_odd(point, name) else ""
    return Item("; ".join(texts), tone, link=by.link if by else "")


def _text(point: Point, choice: Choice) -> str:
    """`=`, a value, or a value with why it is no convention: `[0.0] (float32), a bug`."""
    if choice.text == point.contract:
        return "="
    by, text = choice.finding.explained_by, clean(choice.text, LONGEST)
    return f"{text}, a {by.kind}" if by and by.kind != CONVENTION else text


def _is_odd(point: Point, name: str) -> bool:
    """Whether the newest version of a framework answers otherwise than most."""
    return point.choices[name][-1].text != point.usual
