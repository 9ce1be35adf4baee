"""`gradconf fuzz`: draws programs that nobody wrote, and says what targets answer wrongly."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn

from conformance import __version__
from conformance.answers.mismatch import lines
from conformance.asking.cluster import ClusterLost
from conformance.asking.worker import TargetChanged
from conformance.closing import EXIT_CODES, UsageError, Word
from conformance.commands import options
from conformance.files import write_whole
from conformance.suite.relations import RELATIONS
from conformance.suite.rewriting import Program, Relation
from conformance.targets.environments import provisioned
from conformance.targets.specification import parse_targets
from conformance.text import clean, plural, suggest

if TYPE_CHECKING:
    from conformance.suite.campaign import Campaign
    from conformance.suite.causes import Cause, Finding

EXAMPLES = 300
SHRINKING = 10.0
"""Seconds for making the program of one cause small."""
WIDTH = 80
SEVERITY = ("value", "zero", "none", "non-finite", "slices", "shape", "dtype", "structure", "error")
"""Classes of what differs, the worst first: what is wrong in silence, then what is loud."""
UNITS = {"s": 1, "m": 60, "h": 3600}


def fuzz_options(parser: argparse.ArgumentParser) -> None:
    """The options of `gradconf fuzz`."""
    add, count = parser.add_argument, options.positive(int)
    add("targets", nargs="+", metavar="TARGET", help="each is held against the oracle")
    add("--examples", type=count, metavar="N", help=f"how many programs ({EXAMPLES})")
    add("--time", type=_duration, metavar="TIME", help="as many as fit, as 90s, 10m or 2h")
    add("--seed", type=int, default=1, help="the same seed draws the same programs (1)")
    names = ", ".join(relation.name for relation in RELATIONS)
    add("--relations", nargs="+", metavar="NAME", help=f"of these alone: {names}")
    add("--output", type=Path, metavar="DIR", help="a case file for each finding")
    add("--python", metavar="PATH", help="an existing environment's interpreter")
    options.add_cluster(parser)
    add("-j", "--jobs", type=count, default=2, help="nodes of --cluster local")


def run_fuzz(arguments: argparse.Namespace) -> int:
    """Draw programs, and hold each target against the oracle, modes, targets and relations.

    What differs is grouped by cause; one program of each cause is made small and, with --output,
    written as a case: gradconf run TARGET --corpus DIR. Numbers are compared with wide bounds.
    What is not finite, ill conditioned or beside a kink is set aside, and what the suite explains
    is counted; where more than a fifth is set aside, nothing is said of the target. Ctrl-C ends the
    drawing, and what was found is told as it was drawn.
    """
    try:
        from conformance.suite.campaign import Campaign
    except ModuleNotFoundError as error:
        raise UsageError(
            f"gradconf fuzz needs {error.name}: pip install 'gradconf[fuzz]'"
        ) from error
    relations = _relations(arguments.relations)
    if arguments.output and arguments.output.exists() and any(arguments.output.iterdir()):
        raise UsageError(f"--output {arguments.output}: not empty: name a new folder")
    targets = parse_targets(arguments.targets, arguments.python)
    with options.cluster_of(arguments) as cluster:
        if not cluster:  # whose nodes have environments of their own
            targets = [provisioned(target, options.say) for target in targets]
        with closing(Campaign(targets, relations, arguments.seed, cluster)) as campaign:
            word = _told(campaign, arguments)
    print(word)
    return EXIT_CODES[word]


def _told(campaign: Campaign, arguments: argparse.Namespace) -> Word:
    """Find out, tell what was found, and say what it comes to."""
    found: list[Finding] = []
    ended: Word | None = None
    try:
        campaign.start()
        _find(campaign, arguments, found)
        causes = _shrunk(campaign, found)
    except KeyboardInterrupt:  # what was found is told as it is
        causes, ended = _alike(campaign, found), "interrupted"
    except (ClusterLost, TargetChanged) as error:
        causes, ended = _alike(campaign, found), "untrustworthy"
        print(clean(str(error)))
    for number, cause in enumerate(sorted(causes, key=_severity), 1):
        file = arguments.output and _write(campaign, arguments.output, number, cause)
        print(*_shown(number, cause, file), sep="\n")
    print(*_counts(campaign, len(causes), len(found)), sep="\n")
    return ended or _word(campaign, causes)


def _duration(text: str) -> float:
    match = re.fullmatch(r"([1-9][0-9]{0,5})([smh])", text)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is no time such as 90s, 10m or 2h")
    return float(match[1]) * UNITS[match[2]]


def _relations(names: Sequence[str] | None) -> Sequence[Relation]:
    known = {relation.name: relation for relation in RELATIONS}
    for name in names or ():
        if name not in known:
            raise UsageError(f"no relation named '{name}'{suggest(name, known)}")
    return [known[name] for name in names or known]


def _find(campaign: Campaign, arguments: argparse.Namespace, found: list[Finding]) -> None:
    """Add every finding; how many programs were examined is told on the way, on a terminal."""
    examples = arguments.examples or (None if arguments.time else EXAMPLES)
    with _progress() as progress:
        task = progress.add_task("")
        for examined in campaign.run(examples, arguments.time):
            found += examined
            count = plural(campaign.tally.programs, "program")
            progress.update(task, description=f"{count}, {plural(len(found), 'finding')}")


def _alike(campaign: Campaign, found: Sequence[Finding]) -> list[Cause]:
    """The findings by cause, with a program of each as it was drawn."""
    from conformance.suite.causes import causes_of

    return causes_of(found, campaign.tally.operations)


def _progress() -> Progress:
    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), TimeElapsedColumn()
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def _shrunk(campaign: Campaign, found: Sequence[Finding]) -> list[Cause]:
    """Each cause with a small program; causes whose programs turn out to be the same are one.

    What does not show in fresh processes, too, is of what was run before, and is set aside.
    """
    from conformance.suite.causes import united

    causes: list[Cause] = []
    campaign.restart()
    for cause in sorted(_alike(campaign, found), key=_severity):
        if campaign.shows(cause):
            causes.append(cause)
        else:
            campaign.tally.set_aside["not so in fresh processes"] += len(cause.findings)
    small = list(causes)
    with _progress() as progress:
        for number in progress.track(range(len(causes)), description="shrinking"):
            small[number] = campaign.shrink(causes[number], SHRINKING)
    campaign.restart()
    both = zip(causes, small, strict=True)
    return united([less if campaign.shows(less) else cause for cause, less in both])


def _severity(cause: Cause) -> tuple[int, int]:
    kind = cause.smallest.mismatches[0].kind
    return (SEVERITY.index(kind) if kind in SEVERITY else len(SEVERITY), -len(cause.findings))


def _shown(number: int, cause: Cause, file: Path | None) -> Iterator[str]:
    finding = cause.smallest
    program = Program.of(finding.rewritten or finding.entry)
    count = plural(len(cause.findings), "program")
    suspect = f", all with {cause.suspect}" if cause.suspect else ""
    yield clean(f"{number}. {finding.check}: {count}{suspect}", WIDTH)
    for line in lines(finding.mismatches[0]):
        yield f"   {clean(line, WIDTH - 3)}"
    for name, given in program.inputs.items():
        kind, dtype = next(iter(given)), given["dtype"]
        form = kind if given.get("trainable", True) else f"untrained {kind}"
        yield f"     {clean(f'{name} = {form}({given[kind]}, {dtype})', WIDTH - 5)}"
    for line in program.run.splitlines():
        margin = " " * (5 + len(line) - len(line.lstrip()))
        yield f"{margin}{clean(line, WIDTH - len(margin))}"
    yield f"   {file}\n" if file else ""


def _counts(campaign: Campaign, causes: int, findings: int) -> Iterator[str]:
    tally = campaign.tally
    yield f"{plural(causes, 'distinct finding')} in {plural(findings, 'differing answer')}"
    rate = tally.programs / max(tally.seconds, 1e-9)
    inside = tally.inside / max(tally.seconds, 1e-9)
    yield (
        f"{plural(tally.programs, 'program')} of seed {campaign.seed}, {rate:.1f} each second,"
        f" {inside:.0%} of the time inside the targets"
    )
    for reason, count in tally.set_aside.most_common():
        yield f"set aside: {plural(count, 'program')}: {reason}"
    for reason, count in tally.explained.most_common():
        yield clean(f"explained: {count} x {reason}", WIDTH)


def _word(campaign: Campaign, causes: Sequence[Cause]) -> Word:
    from conformance.suite.campaign import MOST_SET_ASIDE

    if campaign.tally.share_set_aside > MOST_SET_ASIDE:
        print(f"more than {MOST_SET_ASIDE:.0%} of the programs say nothing: they were set aside")
        return "untrustworthy"
    return "falls_short" if causes else "conforms"


def _write(campaign: Campaign, folder: Path, number: int, cause: Cause) -> Path:
    """Write the program of a cause as a file of cases; what a relation made of it is one more."""
    import hypothesis

    finding = cause.smallest
    kind, name = finding.mismatches[0].kind, finding.check.name
    texts = {"drawn": finding.entry, "rewritten": finding.rewritten}
    title = f"Drawn, {name}, {kind}"
    cases = [
        f"  {key}:\n" + re.sub("^", "    ", Program.of(text).entry(title), flags=re.MULTILINE)
        for key, text in texts.items()
        if text
    ]
    facts = [
        f"gradconf {__version__} fuzz, seed {campaign.seed}, hypothesis {hypothesis.__version__}",
        campaign.versions,
        f"{finding.check}: {lines(finding.mismatches[0])[0]}",
    ]
    comment = "".join(f"# {clean(fact, 96)}\n" for fact in facts)
    path = folder / "fuzz" / f"{name}_{kind.replace('-', '_')}_{number}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    listed = "\n\n".join(cases)
    write_whole(path, f"{comment}\nintroduction: A drawn program.\n\ncases:\n{listed}\n")
    return path
