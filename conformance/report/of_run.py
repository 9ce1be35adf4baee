"""Makes the Report of a run from its findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from conformance.closing import EXIT_CODES
from conformance.corpus.language.lowering import lower
from conformance.report.causes import causes_of
from conformance.report.model import (
    LABELS,
    Block,
    ChangedCell,
    Column,
    Item,
    JudgedCell,
    Report,
    Score,
    Section,
    SectionKind,
    Subject,
    Table,
    TableCell,
    lines_of,
    sections,
)
from conformance.report.of_difference import Known, changed_cells, version_section
from conformance.report.wording import (
    quoted,
    replay_command,
    report_command,
    show_command,
    surroundings,
)
from conformance.text import plural
from conformance.verdicts.changes import Changes
from conformance.verdicts.findings import ORACLE_LABEL, Finding, Findings
from conformance.verdicts.judge import FAULTS, SHORTFALLS, Verdict

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
    names = _names(run)
    scores = {target: _score(run, target) for target in run.asked}
    return Report(
        "run",
        "gradconf",
        run.word,
        EXIT_CODES[run.word],
        beside=_beside(scores.values()),
        subjects=tuple(_subjects(run, names, scores)),
        headline=tuple(_against_the_baseline(run)),
        reservations=tuple(_reservations(run)),
        sections=tuple(_sections(run, names, versions, known)),
        cells=tuple(_cell(found, run.command) for found in run.cells),
        changes=tuple(_changed(versions, known)),
        command=quoted("gradconf", *run.command) if run.command else "",
        record=run.record,
        all_of_it=report_command(run.record, run.command),
        seconds=run.seconds,
        counts={verdict: count for verdict, count in run.counts().items()},
        compared=sum(found.compared for found in run.cells),
    )


def _changed(versions: Sequence[Changes], known: Known) -> Iterator[ChangedCell]:
    for found in versions:
        yield from changed_cells(found, known)


def _sections(
    run: Findings, names: Mapping[str, str], versions: Sequence[Changes], known: Known
) -> Iterator[Section]:
    """The shortfalls first, then what explains and counts them."""
    cells = run.cells
    short = [found for found in cells if found.falls_short]
    new = [found for found in cells if found.standing == "new case" and not found.falls_short]
    excused = [found for found in cells if found.standing == "known"]
    better = [found for found in cells if found.standing == "better"]
    at_fault = [found for found in cells if found.verdict in FAULTS]
    lacking = [found for found in cells if found.verdict == "unsupported" and not found.falls_short]
    departing = [found for found in cells if found.verdict == "known_deviation"]

    def told(heading: str, kind: SectionKind, given: Iterable[Finding]) -> Section:
        return Section(heading, kind, tuple(blocks_of(given, run.command)))

    yield from sections(
        told("falls short", "short", short),
        told("falls short in new cases, which the baseline does not know", "new", new),
        told("at fault: the suite, the oracle or an adapter, not the target", "fault", at_fault),
        told(f"known by the baseline {_file(run)}", "known", excused),
        causes_of([*short, *new, *excused, *lacking], run),
        told("better than the baseline", "better", better),
        (version_section(found, known) for found in versions),
        _stale(run),
        Section("cells", "counts", tables=(_counts(run, names),)),
        replace(told("departs as documented", "departs", departing), brief=False),
        _areas(run, names),
        _cases(run, names),
    )


# ----- blocks -----


def blocks_of(cells: Iterable[Finding], command: Sequence[str] = ()) -> list[Block]:
    """These cells, fails first, the same finding in several modes as one block."""
    groups: dict[object, list[Finding]] = {}
    for found in cells:
        groups.setdefault(_identity(found), []).append(found)
    blocks = [_block(group, command) for group in groups.values()]
    order: list[object] = list(LABELS)
    return sorted(blocks, key=lambda block: order.index(block.tone))


def _identity(found: Finding) -> object:
    """What two cells of a block share: everything but the mode and its bounds."""
    facts = tuple((m.kind, m.name, m.path, m.expected, m.got, m.index) for m in found.mismatches)
    cell = found.cell
    return cell.case, cell.target, found.verdict, found.standing, found.note, facts


def _block(group: Sequence[Finding], command: Sequence[str]) -> Block:
    first = group[0]
    cell, case, by = first.cell, first.case, first.explained_by
    modes = [found.cell.mode for found in group]
    return Block(
        label=NOW.get(first.verdict, "") if first.standing == "better" else LABELS[first.verdict],
        tone=first.verdict,
        case=cell.case,
        where=f"[{cell.target}:{','.join(modes)}]",
        cells=len(group),
        title=case.title,
        file=case.place.file,
        line=case.place.line,
        sources=case.sources,
        findings=tuple(_findings(group)),
        note=first.note,
        reason=_reason(first),
        link=by.link if by else "",
        since=_since(first),
        program=lower(case, cell.mode).source,
        show=show_command(cell, command),
        replay=replay_command(cell, modes, command),
    )


def _findings(group: Sequence[Finding]) -> Iterator[str]:
    """What differed, with the bounds of the modes that have another than the one shown."""
    first, *others = group
    for position, mismatch in enumerate(first.mismatches):
        yield from lines_of([mismatch])
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
    was = f"was {found.was}" if changed and found.was else ""
    return "; ".join(filter(None, (was, by.reason if by else "")))


def _since(found: Finding) -> str:
    """When the baseline saw a failure first; of a documented departure, what it is."""
    by = found.explained_by
    if by is None or by.kind != "known":
        return by.kind if by else ""
    return f"first seen {by.first_seen}" if by.first_seen else ""


def _file(run: Findings) -> str:
    return run.gate.baseline.file if run.gate else ""


def _cell(found: Finding, command: Sequence[str]) -> JudgedCell:
    cell, case, answer, by = found.cell, found.case, found.answer, found.explained_by
    return JudgedCell(
        cell.case,
        cell.target,
        cell.mode,
        title=case.title,
        file=case.place.file,
        line=case.place.line,
        verdict=found.verdict,
        falls_short=found.falls_short,
        standing=found.standing,
        unstable=found.unstable,
        compared=found.compared,
        witnesses=found.witnesses,
        mismatches=found.mismatches,
        note=found.note,
        detail=answer.detail,
        reason=_reason(found),
        link=by.link if by else "",
        seconds=answer.seconds,
        program=found.program,
        show=show_command(cell, command),
        replay=replay_command(cell, command=command),
    )


# ----- targets -----


def _names(run: Findings) -> dict[str, str]:
    """What each target is called: name and version, or its label to tell it apart."""
    titles = {target: run.title(target) for target in run.asked}
    taken = Counter(titles.values())
    return {target: title if taken[title] == 1 else target for target, title in titles.items()}


def _subjects(
    run: Findings, names: Mapping[str, str], scores: Mapping[str, Score]
) -> Iterator[Subject]:
    for target, modes in run.asked.items():
        about, failed = run.targets.get(target), run.failed.get(target, "")
        told = "was not started" if about is None else surroundings(about)
        told = f"did not start: {failed}" if failed else told
        score = scores[target]
        yield Subject("target", target, names[target], told, modes, about, failed, score)
    failed, about = run.failed.get(ORACLE_LABEL, ""), run.targets.get(ORACLE_LABEL)
    if ORACLE_LABEL not in run.asked and (failed or about is not None):
        told = f"did not start: {failed}" if failed else surroundings(about or {})
        name = run.title(ORACLE_LABEL)
        yield Subject("oracle", ORACLE_LABEL, name, told, about=about, failed=failed)


def _score(run: Findings, target: str) -> Score:
    own = [found for found in run.cells if found.cell.target == target]
    excused = [f for f in own if f.verdict in SHORTFALLS and not f.falls_short]
    return Score(
        run.counts(target),
        short=sum(found.falls_short for found in own),
        known=sum(found.standing == "known" for found in excused),
        new=sum(found.standing == "new case" for found in excused),
        compared=sum(found.compared for found in own),
        seconded=sum("oracle" in found.witnesses for found in own),
    )


def _beside(scores: Iterable[Score]) -> str:
    """What must be known with the word: how many failures a baseline excuses."""
    given = list(scores)
    known, new = sum(score.known for score in given), sum(score.new for score in given)
    told = [plural(known, "known failure") if known else ""]
    return ", ".join(filter(None, [*told, f"{new} short in new cases" if new else ""]))


def _against_the_baseline(run: Findings) -> Iterator[str]:
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


def _counts(run: Findings, names: Mapping[str, str]) -> Table:
    """One row for each target and mode that was asked for or answered."""
    counted: dict[tuple[str, str], Counter[Verdict]] = {
        (target, mode): Counter() for target, modes in run.asked.items() for mode in modes
    }
    for found in run.cells:
        counted.setdefault((found.cell.target, found.cell.mode), Counter())[found.verdict] += 1
    order = list(run.asked)
    keys = sorted(counted, key=lambda key: order.index(key[0]))
    seen = {verdict for row in counted.values() for verdict in row} | {"pass"}
    verdicts = [verdict for verdict in LABELS if verdict in seen]
    rows: list[tuple[TableCell, ...]] = []
    for target, mode in keys:
        row = counted[target, mode]
        rows.append((names[target], mode, row.total(), *(row[verdict] for verdict in verdicts)))
    heads = (Column("target", number=False), Column("mode", number=False), Column("cells"))
    return Table((*heads, *(Column(LABELS[v], v) for v in verdicts)), tuple(rows))


def _columns(run: Findings) -> list[tuple[str, str]]:
    return list(dict.fromkeys((found.cell.target, found.cell.mode) for found in run.cells))


def _heads(
    first: str, columns: Sequence[tuple[str, str]], names: Mapping[str, str]
) -> list[Column]:
    several = len(names) > 1
    named = (f"{names[target]} {mode}" if several else mode for target, mode in columns)
    return [Column(first, number=False), *(Column(name) for name in named)]


def _areas(run: Findings, names: Mapping[str, str]) -> Iterator[Section]:
    """Each area with its share in each mode of each target."""
    found: dict[str, dict[tuple[str, str], Counter[Verdict]]] = {}
    for one in run.cells:
        counts = found.setdefault(one.case.area, {})
        counts.setdefault((one.cell.target, one.cell.mode), Counter())[one.verdict] += 1
    columns = _columns(run)
    rows: list[tuple[TableCell, ...]] = [
        (area, *(share(counts[column]) if column in counts else "" for column in columns))
        for area, counts in sorted(found.items())
    ]
    if rows:
        table = Table(tuple(_heads("area", columns, names)), tuple(rows))
        yield Section("areas", "areas", tables=(table,), lines=(AREAS,), brief=False)


def share(counts: Mapping[Verdict, int]) -> Item:
    """`31 / 33` of these cells passed, of those that count, coloured in steps: `all` is all."""
    score = Score(counts, 0, 0, 0, 0, 0)
    spoken = ", ".join(f"{counts[v]} {LABELS[v]}" for v in LABELS if counts.get(v))
    if not score.supported:
        return Item("n.a.", "nothing", spoken)
    part = score.passed / score.supported
    level = "all" if part == 1 else "most" if part >= 0.9 else "half" if part >= 0.5 else "few"
    return Item(f"{score.passed} / {score.supported}", level, spoken)


def _cases(run: Findings, names: Mapping[str, str]) -> Iterator[Section]:
    """Each case with its verdict in each mode of each target."""
    verdicts: dict[str, dict[tuple[str, str], Verdict]] = {}
    titles: dict[str, str] = {}
    for found in run.cells:
        column = found.cell.target, found.cell.mode
        verdicts.setdefault(found.cell.case, {})[column] = found.verdict
        titles[found.cell.case] = found.case.title
    columns = _columns(run)
    rows: list[tuple[TableCell, ...]] = []
    for case, given in verdicts.items():
        cells = (given.get(column) for column in columns)
        items = (Item(LABELS[cell], cell) if cell else "" for cell in cells)
        rows.append((Item(case, hint=titles[case]), *items))
    if rows:
        table = Table(tuple(_heads("case", columns, names)), tuple(rows))
        yield Section("cases", "cases", tables=(table,), brief=False)


def _stale(run: Findings) -> Section:
    return Section(f"stale ({len(run.stale)})", "stale", lines=tuple(map(str, run.stale)))
