"""Makes the Report of a run from its findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from conformance.answers.mismatch import lines as mismatch_lines
from conformance.corpus.language.case import MODES
from conformance.corpus.language.lowering import lower
from conformance.report import building, model
from conformance.report.building import grouped, table_of
from conformance.report.causes import causes_of
from conformance.report.model import (
    LABELS,
    Block,
    Item,
    Later,
    Report,
    Rows,
    Score,
    Section,
    Subject,
)
from conformance.report.of_difference import Known, changed_cells, version_section
from conformance.text import plural
from conformance.verdicts.changes import Changes
from conformance.verdicts.findings import ORACLE_LABEL, Finding, Findings
from conformance.verdicts.judge import FAULTS, SHORTFALLS, WITNESSES, Verdict, witnessed

Place: TypeAlias = tuple[str, str]
"""A target and a mode: what a column is of."""
NOW: Mapping[Verdict, str] = {
    "pass": "now passes",
    "unsupported": "now unsupported",
    "not_applicable": "no longer applicable",
    "known_deviation": "now a documented deviation",
    "surveyed": "now only surveyed",
}
"""What is said of a cell that is better than its baseline."""
VERDICTS = list(LABELS)
NOT_DECLARED = "the baseline does not say that the target lacks this"
AREAS = "Cells that passed, of those whose case applies and that the target is said to support."
STEPS = {"all": 1.0, "most": 0.9, "half": 0.5, "few": 0.0}
"""The colours of shares, and the least share of each."""


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
        beside=", ".join(model.excused(*failures)),
        subjects=tuple(_subjects(run, scores)),
        headline=(*_against_the_baseline(run), *_profile(run)),
        reservations=tuple(_reservations(run)),
        sections=tuple(filter(Section.says_something, _sections(run, versions, known))),
        cells=Later(lambda: (_block([found], run.command) for found in run.cells)),
        changes=tuple(block for found in versions for block in changed_cells(found, known)),
        command=building.command_line(run.command),
        record=run.record,
        all_of_it=building.report_command(run.record, run.command),
        seconds=run.seconds,
        counts={verdict: count for verdict, count in run.counts().items()},
        compared=sum(found.compared for found in run.cells),
    )


def _sections(run: Findings, versions: Iterable[Changes], known: Known) -> Iterator[Section]:
    """The shortfalls first, then what explains and counts them."""
    cells, baseline = run.cells, run.gate.baseline.file if run.gate else ""

    def told(heading: str, kind: model.SectionKind, given: list[Finding]) -> Section:
        return Section(heading, kind, tuple(blocks_of(given, run.command)))

    short = [found for found in cells if found.falls_short]
    excused = [found for found in cells if found.standing == "known"]
    new = [found for found in cells if found.standing == "new case" and not found.falls_short]
    lacking = [found for found in cells if found.verdict == "unsupported" and not found.falls_short]
    faults = [found for found in cells if found.verdict in FAULTS]
    departing = [found for found in cells if found.verdict == "known_deviation"]
    better = [found for found in cells if found.standing == "better"]
    yield told("falls short", "short", short)
    yield told("falls short in new cases, which the baseline does not know", "new", new)
    yield told("at fault: the suite, the oracle or an adapter, not the target", "fault", faults)
    yield told(f"known by the baseline {baseline}", "known", excused)
    yield from causes_of([*short, *new, *excused, *lacking], run)
    yield told("better than the baseline", "better", better)
    yield from (version_section(found, known) for found in versions)
    yield Section(f"stale ({len(run.stale)})", "stale", lines=tuple(map(str, run.stale)))
    yield Section("surveyed, and answered differently", "surveyed", lines=(*_surveyed(run),))
    yield Section("cells", "counts", tables=(_counts(run),))
    yield replace(told("departs as documented", "departs", departing), brief=False)
    if cells:
        columns = _columns(run)
        areas, cases = _areas(cells, columns), _cases(cells, columns)
        yield Section("areas", "areas", tables=(areas,), lines=(AREAS,), brief=False)
        yield Section("cases", "cases", tables=(cases,), brief=False)


# ----- blocks -----


def blocks_of(cells: Iterable[Finding], command: Sequence[str] = ()) -> list[Block]:
    """These cells, fails first, the same finding in several modes as one block."""
    groups = sorted(grouped(cells, _identity).values(), key=lambda g: VERDICTS.index(g[0].verdict))
    return [
        replace(_block(group, command), program=lower(group[0].case, group[0].cell.mode).source)
        for group in groups
    ]


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
        findings=tuple(_findings(group)),
        note=first.note,
        detail=answer.detail,
        since=_since(first),
        reason=_reason(first),
        link=by.link if by else "",
        show=building.show_command(cell, command),
        replay=building.replay_command(cell, modes, command),
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
        yield from mismatch_lines(mismatch)
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
    names = {ORACLE_LABEL: run.title(ORACLE_LABEL), **_names(run)}
    for target in dict.fromkeys([*run.asked, ORACLE_LABEL]):
        about, failed = run.targets.get(target), run.failed.get(target, "")
        told = "was not started" if about is None else building.surroundings(about)
        state = f"did not start: {failed}" if failed else told
        known = names[target], state, run.asked.get(target, ()), about, failed, scores.get(target)
        if target in run.asked:
            yield Subject("target", target, *known)
        elif failed or about is not None:
            yield Subject("oracle", target, *known)


def _score(run: Findings, target: str) -> Score:
    own = [found for found in run.cells if found.cell.target == target]
    counted = Counter(map(witnessed, own))
    excused = [f.standing for f in own if f.verdict in SHORTFALLS and not f.falls_short]
    return Score(
        run.counts(target),
        sum(found.falls_short for found in own),
        excused.count("known"),
        excused.count("new case"),
        compared=sum(found.compared for found in own),
        witnesses={kind: counted[kind] for kind in WITNESSES if counted[kind]},
    )


def _against_the_baseline(run: Findings) -> Iterator[str]:
    """`12 known by the baseline known.yaml, 1 worse`."""
    if run.gate:
        counts = {str(standing): count for standing, count in run.standings().items()}
        known = f"{counts.pop('known', 0)} known by the baseline {run.gate.baseline.file}"
        yield ", ".join([known, *(f"{count} {standing}" for standing, count in counts.items())])


def _reservations(run: Findings) -> Iterator[str]:
    """What else a reader must know before the word: what is missing, and what did not start."""
    if not run.complete:
        yield f"not complete: {run.reason or 'the run did not end'}"
    elif run.reason:
        yield f"ended early: {run.reason}"
    for target, reason in run.failed.items():
        yield f"{target} did not start: {reason}"
    for target, newest in run.inherits.items():
        yield f"{run.title(target)} is newer than {newest}: it inherits the departures of that one"
    if run.stale:
        count = plural(len(run.stale), "stale cell")
        yield f"{count} not judged: the program has changed since the record"
    for found in run.cells:
        if found.unstable:
            yield f"unstable, another answer when asked again: {found.cell}"


def _profile(run: Findings) -> Iterator[str]:
    """`profile default: rows of tables left out, 531 in graph; --profile full asks them too`."""
    left_out = Counter(cell.mode for cell in run.left_out)
    told = " and ".join(f"{left_out[mode]} in {mode}" for mode in MODES if left_out[mode])
    if told:
        yield f"profile default: rows of tables left out, {told}; --profile full asks them too"
    elif any(len(modes) > 1 and "eager" in modes for modes in run.asked.values()):
        yield "profile full: every case in every mode"


def _surveyed(run: Findings) -> Iterator[str]:
    """`area/topic/name: g element (0,): eager nan, xla 0.0`."""
    for found in run.disagreements:
        one, other = found.one, found.other
        if len(run.asked) > 1:
            names = f"{one.target}:{one.mode}", f"{other.target}:{other.mode}"
        else:
            names = one.mode, other.mode
        for fact in found.difference.mismatches:
            yield f"{one.case}: {fact.where}: {names[0]} {fact.expected}, {names[1]} {fact.got}"


# ----- counts -----


def _place(found: Finding) -> Place:
    return found.cell.target, found.cell.mode


def _counts(run: Findings) -> model.Table:
    """One row for each target and mode that was asked for or answered."""
    order, names, found = list(run.asked), _names(run), grouped(run.cells, _place)
    asked = [(target, mode) for target, modes in run.asked.items() for mode in modes]
    places = sorted(dict.fromkeys([*asked, *found]), key=lambda place: order.index(place[0]))
    counted = {place: Counter(one.verdict for one in found.get(place, ())) for place in places}
    verdicts = [v for v in LABELS if v == "pass" or any(v in row for row in counted.values())]
    columns = [
        model.Column("cells"),
        *(model.Column(LABELS[verdict], verdict) for verdict in verdicts),
    ]
    rows: Rows = [
        (names[target], mode, row.total(), *(row[verdict] for verdict in verdicts))
        for (target, mode), row in counted.items()
    ]
    return table_of(("target", "mode"), columns, rows)


def _columns(run: Findings) -> dict[Place, str]:
    """Each target and mode that answered, and what a table calls it."""
    names = _names(run) if len(run.asked) > 1 else {}
    places = dict.fromkeys(map(_place, run.cells))
    return {place: f"{names.get(place[0], '')} {place[1]}".strip() for place in places}


def _areas(cells: Sequence[Finding], columns: Mapping[Place, str]) -> model.Table:
    """Each area with its share in each mode of each target."""
    rows: Rows = []
    for area, own in sorted(grouped(cells, lambda found: found.case.area).items()):
        here = grouped(own, _place)
        rows.append((area, *(_share(here[one]) if one in here else "" for one in columns)))
    return table_of(("area",), columns.values(), rows)


def _share(cells: Iterable[Finding]) -> Item:
    """`31 / 33` of these cells passed, of those that count, coloured in steps: `all` is all."""
    counts = Counter(found.verdict for found in cells)
    score, spoken = Score(counts), ", ".join(f"{counts[v]} {LABELS[v]}" for v in counts)
    if score.rate is None:
        kinds = (kind for kind in model.NOT_SUPPORTED if counts[kind])
        return Item(LABELS[next(kinds, "not_applicable")], "nothing", spoken)
    level = next(name for name, least in STEPS.items() if score.rate >= least)
    return Item(f"{score.passed} / {score.supported}", level, spoken)


def _cases(cells: Sequence[Finding], columns: Mapping[Place, str]) -> model.Table:
    """Each case with its verdict in each mode of each target."""

    def rows() -> Iterator[model.Row]:
        for case, own in grouped(cells, lambda f: Item(f.cell.case, hint=f.case.title)).items():
            here = {_place(one): Item(LABELS[one.verdict], one.verdict) for one in own}
            yield (case, *(here.get(place, "") for place in columns))

    return table_of(("case",), columns.values(), Later(rows))
