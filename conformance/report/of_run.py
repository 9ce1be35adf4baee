"""Makes the Report of a run from its findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from conformance.closing import EXIT_CODES
from conformance.corpus.language.lowering import lower
from conformance.report import model, wording
from conformance.report.causes import causes_of
from conformance.report.model import LABELS, Block, Item, Report, Score, Section, Subject, Table
from conformance.report.of_difference import Known, changed_cells, version_section
from conformance.text import plural
from conformance.verdicts.changes import Changes
from conformance.verdicts.findings import ORACLE_LABEL, Finding, Findings
from conformance.verdicts.judge import FAULTS, SHORTFALLS, Verdict

Columns: TypeAlias = "dict[tuple[str, str], str]"
"""Each target and mode that answered, and what a table calls it."""
Rows: TypeAlias = "list[tuple[model.TableCell, ...]]"
NOW: Mapping[Verdict, str] = {
    "pass": "now passes",
    "unsupported": "now unsupported",
    "not_applicable": "no longer applicable",
    "known_deviation": "now a documented deviation",
}
"""What is said of a cell that is better than its baseline."""
NOT_DECLARED = "the baseline does not say that the target lacks this"
AREAS = "Cells that passed, of those whose case applies and that the target is said to support."


def report_of_run(run: Findings, changes: Iterable[Changes] = ()) -> Report:
    """The Report of a run; `changes` are those from each version of a target to the next."""
    versions = list(changes)
    known = Known({found.cell.case: found.case.title for found in run.cells}, run.command)
    scores = {target: _score(run, target) for target in run.asked}
    failures = [sum(score.known for score in scores.values()), sum(s.new for s in scores.values())]
    return Report(
        "run",
        "gradconf",
        run.word,
        EXIT_CODES[run.word],
        beside=", ".join(model.excused(*failures)),
        subjects=tuple(_subjects(run, scores)),
        headline=tuple(_against_the_baseline(run)),
        reservations=tuple(_reservations(run)),
        sections=tuple(model.sections(*_sections(run, versions, known))),
        cells=tuple(_block([found], run.command) for found in run.cells),
        changes=tuple(block for found in versions for block in changed_cells(found, known)),
        command=wording.quoted("gradconf", *run.command) if run.command else "",
        record=run.record,
        all_of_it=wording.report_command(run.record, run.command),
        seconds=run.seconds,
        counts={verdict: count for verdict, count in run.counts().items()},
        compared=sum(found.compared for found in run.cells),
    )


def _sections(
    run: Findings, versions: Iterable[Changes], known: Known
) -> Iterator[Section | Iterable[Section]]:
    """The shortfalls first, then what explains and counts them."""
    cells = run.cells

    def told(heading: str, kind: model.SectionKind, given: list[Finding]) -> Section:
        return Section(heading, kind, tuple(blocks_of(given, run.command)))

    short = [found for found in cells if found.falls_short]
    excused = [found for found in cells if found.standing == "known"]
    new = [found for found in cells if found.standing == "new case" and not found.falls_short]
    lacking = [found for found in cells if found.verdict == "unsupported" and not found.falls_short]
    faults = [found for found in cells if found.verdict in FAULTS]
    departing = [found for found in cells if found.verdict == "known_deviation"]
    yield told("falls short", "short", short)
    yield told("falls short in new cases, which the baseline does not know", "new", new)
    yield told("at fault: the suite, the oracle or an adapter, not the target", "fault", faults)
    yield told(f"known by the baseline {_file(run)}", "known", excused)
    yield causes_of([*short, *new, *excused, *lacking], run)
    better = [found for found in cells if found.standing == "better"]
    yield told("better than the baseline", "better", better)
    yield (version_section(found, known) for found in versions)
    yield Section(f"stale ({len(run.stale)})", "stale", lines=tuple(map(str, run.stale)))
    yield Section("cells", "counts", tables=(_counts(run),))
    yield replace(told("departs as documented", "departs", departing), brief=False)
    if cells:
        columns = _columns(run)
        areas = _areas(run, columns)
        yield Section("areas", "areas", tables=(areas,), lines=(AREAS,), brief=False)
        yield Section("cases", "cases", tables=(_cases(run, columns),), brief=False)


# ----- blocks -----


def blocks_of(cells: Iterable[Finding], command: Sequence[str] = ()) -> list[Block]:
    """These cells, fails first, the same finding in several modes as one block."""
    groups: dict[object, list[Finding]] = {}
    for found in cells:
        groups.setdefault(_identity(found), []).append(found)
    blocks = [
        replace(_block(group, command), program=lower(group[0].case, group[0].cell.mode).source)
        for group in groups.values()
    ]
    order: list[object] = list(LABELS)
    return sorted(blocks, key=lambda block: order.index(block.kind))


def _identity(found: Finding) -> object:
    """What two cells of a block share: everything but the mode and its bounds."""
    facts = tuple((m.kind, m.name, m.path, m.expected, m.got, m.index) for m in found.mismatches)
    cell = found.cell
    return cell.case, cell.target, found.verdict, found.standing, found.note, facts


def _block(group: Sequence[Finding], command: Sequence[str]) -> Block:
    first = group[0]
    cell, case, answer, by = first.cell, first.case, first.answer, first.explained_by
    modes = tuple(found.cell.mode for found in group)
    return Block(
        NOW.get(first.verdict, "") if first.standing == "better" else LABELS[first.verdict],
        first.verdict,
        cell.case,
        cell.target,
        modes,
        title=case.title,
        file=case.place.file,
        line=case.place.line,
        sources=case.sources,
        mismatches=first.mismatches,
        findings=tuple(_findings(group)) if first.mismatches else (),
        note=first.note,
        detail=answer.detail,
        since=_since(first),
        reason=_reason(first),
        link=by.link if by else "",
        show=wording.show_command(cell, command),
        replay=wording.replay_command(cell, modes, command),
        standing=first.standing,
        falls_short=first.falls_short,
        unstable=first.unstable,
        compared=first.compared,
        witnesses=first.witnesses,
        seconds=answer.seconds,
        hash=first.lowered.hash,
    )


def _findings(group: Sequence[Finding]) -> Iterator[str]:
    """What differed, with the bounds of the modes that have another than the one shown."""
    first, *others = group
    for position, mismatch in enumerate(first.mismatches):
        yield from model.lines_of([mismatch])
        for other in others:
            its = other.mismatches[position]
            if its.bound is not None and its.bound != mismatch.bound:
                floor = "" if its.floor is None else f", detection floor {its.floor:.1e}"
                yield f"  in {other.cell.mode}: bound {its.bound:.3g}{floor}"


def _reason(found: Finding) -> str:
    """What the departure that speaks of a cell says, and what it was where it is another now."""
    by, changed = found.explained_by, found.standing in ("worse", "better")
    if changed and by is None and found.verdict == "unsupported":
        return NOT_DECLARED
    was = f"was {by.was}" if changed and by else ""
    return "; ".join(filter(None, (was, by.reason if by else "")))


def _since(found: Finding) -> str:
    """When the baseline saw a failure first; of a documented departure, what it is."""
    by = found.explained_by
    if by is None or by.kind != "known":
        return by.kind if by else ""
    return f"first seen {by.first_seen}" if by.first_seen else ""


# ----- targets -----


def _names(run: Findings) -> dict[str, str]:
    """What each target is called: name and version, or its label to tell it apart."""
    titles = {target: run.title(target) for target in run.asked}
    taken = Counter(titles.values())
    return {target: title if taken[title] == 1 else target for target, title in titles.items()}


def _subjects(run: Findings, scores: Mapping[str, Score]) -> Iterator[Subject]:
    """The targets, and the oracle where it is none of them."""
    names = {**_names(run), ORACLE_LABEL: run.title(ORACLE_LABEL)}
    for target in [*run.asked, *({ORACLE_LABEL} - run.asked.keys())]:
        about, failed = run.targets.get(target), run.failed.get(target, "")
        told = f"did not start: {failed}" if failed else wording.surroundings(about or {})
        if target in run.asked:
            told = told if failed or about is not None else "was not started"
            asked = names[target], told, run.asked[target], about, failed, scores[target]
            yield Subject("target", target, *asked)
        elif failed or about is not None:
            yield Subject("oracle", target, names[target], told, (), about, failed)


def _score(run: Findings, target: str) -> Score:
    own = [found for found in run.cells if found.cell.target == target]
    excused = [f.standing for f in own if f.verdict in SHORTFALLS and not f.falls_short]
    return Score(
        run.counts(target),
        sum(found.falls_short for found in own),
        excused.count("known"),
        excused.count("new case"),
        compared=sum(found.compared for found in own),
        seconded=sum("oracle" in found.witnesses for found in own),
    )


def _file(run: Findings) -> str:
    return run.gate.baseline.file if run.gate else ""


def _against_the_baseline(run: Findings) -> Iterator[str]:
    """`12 known by the baseline known.yaml, 1 worse`."""
    if run.gate:
        counts = {str(standing): count for standing, count in run.standings().items()}
        known = f"{counts.pop('known', 0)} known by the baseline {_file(run)}"
        yield ", ".join([known, *(f"{count} {standing}" for standing, count in counts.items())])


def _reservations(run: Findings) -> Iterator[str]:
    """What else a reader must know before the word: what is missing, and what did not start."""
    if not run.complete:
        yield f"not complete: {run.reason or 'the run did not end'}"
    elif run.reason:
        yield f"ended early: {run.reason}"
    for target, reason in run.failed.items():
        yield f"{target} did not start: {reason}"
    if run.stale:
        count = plural(len(run.stale), "stale cell")
        yield f"{count} not judged: the program has changed since the record"
    for found in run.cells:
        if found.unstable:
            yield f"unstable, another answer when asked again: {found.cell}"


# ----- counts -----


def _counts(run: Findings) -> Table:
    """One row for each target and mode that was asked for or answered."""
    asked = [(target, mode) for target, modes in run.asked.items() for mode in modes]
    counted: dict[tuple[str, str], Counter[Verdict]] = {key: Counter() for key in asked}
    for found in run.cells:
        counted.setdefault((found.cell.target, found.cell.mode), Counter())[found.verdict] += 1
    order, names = list(run.asked), _names(run)
    verdicts = [v for v in LABELS if v == "pass" or any(v in row for row in counted.values())]
    rows: Rows = []
    for target, mode in sorted(counted, key=lambda key: order.index(key[0])):
        row = counted[target, mode]
        rows.append((names[target], mode, row.total(), *(row[verdict] for verdict in verdicts)))
    texts = model.Column("target", number=False), model.Column("mode", number=False)
    heads = (*texts, model.Column("cells"), *(model.Column(LABELS[v], v) for v in verdicts))
    return Table(heads, tuple(rows))


def _columns(run: Findings) -> Columns:
    names = _names(run) if len(run.asked) > 1 else {}
    keys = dict.fromkeys((found.cell.target, found.cell.mode) for found in run.cells)
    return {(target, mode): f"{names.get(target, '')} {mode}".strip() for target, mode in keys}


def _table(first: str, columns: Columns, rows: Rows) -> Table:
    heads = (model.Column(first, number=False), *map(model.Column, columns.values()))
    return Table(heads, tuple(rows))


def _areas(run: Findings, columns: Columns) -> Table:
    """Each area with its share in each mode of each target."""
    found: dict[str, dict[tuple[str, str], Counter[Verdict]]] = {}
    for one in run.cells:
        counts = found.setdefault(one.case.area, {})
        counts.setdefault((one.cell.target, one.cell.mode), Counter())[one.verdict] += 1
    shares: Rows = [
        (area, *(_share(counts[column]) if column in counts else "" for column in columns))
        for area, counts in sorted(found.items())
    ]
    return _table("area", columns, shares)


def _share(counts: Mapping[Verdict, int]) -> Item:
    """`31 / 33` of these cells passed, of those that count, coloured in steps: `all` is all."""
    score, spoken = Score(counts), ", ".join(f"{counts[v]} {LABELS[v]}" for v in counts)
    if score.rate is None:
        return Item("unsupported" if counts.get("unsupported") else "n.a.", "nothing", spoken)
    steps = {"all": 1.0, "most": 0.9, "half": 0.5, "few": 0.0}
    level = next(name for name, least in steps.items() if score.rate >= least)
    return Item(f"{score.passed} / {score.supported}", level, spoken)


def _cases(run: Findings, columns: Columns) -> Table:
    """Each case with its verdict in each mode of each target."""
    cases: dict[Item, dict[tuple[str, str], Verdict]] = {}
    for found in run.cells:
        case = Item(found.cell.case, hint=found.case.title)
        cases.setdefault(case, {})[found.cell.target, found.cell.mode] = found.verdict
    rows: Rows = []
    for case, given in cases.items():
        verdicts = (given.get(column) for column in columns)
        rows.append((case, *(Item(LABELS[one], one) if one else "" for one in verdicts)))
    return _table("case", columns, rows)
