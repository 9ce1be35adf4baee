"""`gradconf list --operations`, `show --operation` and `coverage --operations`: the catalogue."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator, Mapping
from itertools import groupby

from conformance.closing import UsageError
from conformance.corpus.cases import load_corpus
from conformance.corpus.catalogue import OperationInput, load_catalogue
from conformance.corpus.selection import NothingSelected, matcher
from conformance.corpus.tables import KINDS, gaps_of, needless, read_gaps, tables_of
from conformance.text import clean, did_you_mean, plural, suggest

WIDTH = 80


def listed(arguments: argparse.Namespace) -> Iterator[str]:
    """The operations whose name, family or types meet `-k`, by family."""
    if arguments.words or arguments.area or arguments.tag or arguments.corpus:
        raise UsageError("list --operations takes -k and --ids: it lists no cases")
    operations = load_catalogue()
    meets = matcher(arguments.keyword)
    chosen = [
        found
        for found in operations.values()
        if meets(f"{found.name} {found.family} {' '.join(found.types)}")
    ]
    if not chosen:
        word = arguments.keyword
        raise NothingSelected(
            f"no operation matches -k '{clean(word)}'{did_you_mean(word, operations)}"
        )
    if arguments.ids:
        yield from (found.name for found in chosen)
        return
    for family, members in groupby(chosen, lambda found: found.family):
        yield family
        for found in members:
            yield f"  {found.name:40} {clean(' '.join(found.types), 37)}"
    variants = sum(len(found.variants) for found in chosen)
    yield f"{plural(len(chosen), 'operation')}, {plural(variants, 'variant')}"


def shown(name: str) -> Iterator[str]:
    """One operation, whole; raises UsageError with the nearest name where there is none."""
    operations = load_catalogue()
    if name not in operations:
        raise UsageError(f"no operation '{clean(name)}'{suggest(name, operations)}")
    found = operations[name]
    yield found.name
    facts = {
        "family": found.family,
        "file": f"{found.place.file}:{found.place.line}",
        "types": " ".join(found.types),
        "dtypes": " ".join(found.dtypes),
        "second derivative": found.second,
        "surrogate": found.surrogate,
        "apart": f"{found.apart:g}" if found.apart else "",
        "since": found.since,
        "until": found.until,
        "k": "" if found.k is None else f"{found.k:g}",
        "features": " ".join(found.features),
    }
    facts |= {kind: "; ".join(map(_point, edges)) for kind, edges in found.edges.items()}
    facts |= {f"in {framework}": spelling for framework, spelling in found.spellings.items()}
    for what, fact in facts.items():
        if fact:
            yield from _wrapped(f"  {what:18} ", fact)
    for variant in found.variants:
        yield ""
        yield f"  {variant.name}"
        yield from _wrapped("    ", variant.call)
        if variant.value:
            yield from _wrapped("    value: ", variant.value)
        for given in variant.inputs:
            yield from _wrapped(f"      {given.name}: ", _told(given))
    for points in found.points:
        yield ""
        kind = "surveyed" if points.gradient is None else "declared"
        yield from _wrapped("  ", f"{points.variant.name}, {kind}: {points.why}")
        yield from _wrapped("    ", points.variant.call)
        facts = {name: str(value) for name, value in points.at.items()}
        if points.gradient is not None:
            facts |= {"value": points.variant.value}
            facts |= {f"gradient of {name}": text for name, text in points.gradient.items()}
        for what, fact in facts.items():
            yield from _wrapped(f"      {what}: ", fact)


def _wrapped(start: str, text: str) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=start,
        subsequent_indent=" " * len(start),
        break_on_hyphens=False,
    )


def _point(edge: Mapping[str, float] | str) -> str:
    if isinstance(edge, str):
        return edge
    return ", ".join(f"{name} = {value:g}" for name, value in edge.items())


def _told(given: OperationInput) -> str:
    def between(intervals: tuple[tuple[float, float], ...]) -> str:
        return " or ".join(f"{low:g} to {high:g}" for low, high in intervals)

    kind = "a variable of " if given.variable else ""
    parts = [f"{kind}shape {[*given.shape]}", between(given.domain)]
    if given.complex:
        parts.append(f"parts of complex elements {between(given.complex)}")
    if given.plus:
        parts.append(f"plus {given.plus}")
    if given.dtype:
        parts.append(f"always {given.dtype}")
    if not given.connected:
        parts.append("its gradient is None")
    return ", ".join(parts)


def tables() -> Iterator[tuple[str, bool]]:
    """The cases of each operation by kind of table, and the reasons of its gaps.

    The second of a pair says whether the line is one that falls short.
    """
    operations = load_catalogue()
    found, gaps = tables_of(load_corpus(), operations), read_gaps(operations)
    for family, members in groupby(operations.values(), lambda one: one.family):
        yield family, False
        for one in members:
            counts = ((kind, found[one.name][kind]) for kind in KINDS)
            asked = ", ".join(f"{kind} {count}" for kind, count in counts if count)
            yield f"  {one.name}: {asked or 'no case'}", False
            reasons: dict[str, list[str]] = {}
            for kind, reason in gaps_of(one, found[one.name], gaps):
                reasons.setdefault(reason, []).append(kind)
            for reason, kinds in reasons.items():
                yield f"    {', '.join(kinds)}: {reason or 'no case and no reason'}", not reason
    for name in needless(operations, found, gaps):
        yield f"gaps.yaml: {name}: leave it out", True
