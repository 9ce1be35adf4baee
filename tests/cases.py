"""Cases that tests write as YAML: one, a file of them, or a small corpus; and the corpus itself.

What they run is a square, where nothing else is said.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path
from textwrap import indent

import pytest

from conformance.corpus.cases import load_corpus
from conformance.corpus.catalogue import Operation, load_catalogue
from conformance.corpus.language.case import Case, Place
from conformance.corpus.language.loader import load_file, load_text
from conformance.files import data_folder
from conformance.verdicts.departure_file import read_departures, read_folder
from conformance.verdicts.departures import Departures

RUN = """
with tf.GradientTape() as t:
    t.watch(x)
    y = x * x
g = t.gradient(y, x)
"""


def entry(
    title: str = "For a test",
    *,
    expect: str = "{g: 6.0}",
    run: str = RUN,
    inputs: str = "{x: 3.0}",
    source: str = "contract/s1",
    **more: str,
) -> str:
    """The YAML of one case, without its name; `more` are other keys."""
    given = {"title": title, "source": source, **more, "inputs": inputs}
    lines = [f"{key}: {value}" for key, value in given.items()]
    return "\n".join([*lines, "run: |", indent(run.strip("\n"), "  "), f"expect: {expect}"])


def file_of(introduction: str = "For a test.", **entries: str) -> str:
    """The text of a case file whose cases have these names and entries."""
    cases = "".join(
        f"  {name}:\n{indent(text.strip(), '    ')}\n" for name, text in entries.items()
    )
    return f"introduction: {introduction}\ncases:\n{cases}"


def one_case(text: str, name: str = "example") -> Case:
    """The case that an entry declares."""
    (case,) = load_text(file_of(**{name: text}))
    return case


TWICE = RUN.replace("()", "(persistent=True)").replace("g =", "first =")
SQUARE = file_of(
    "Squares.",
    square=entry("The square has slope two x", tags="[scalar]"),
    persistent_square=entry(
        "A persistent tape answers twice",
        source="contract/s8",
        inputs="{x: [1.0, 3.0]}",
        run=TWICE + "second = t.gradient(y, x)",
        expect="{first: [2.0, 6.0], second: [2.0, 6.0]}",
    ),
)
UNCONNECTED = file_of(
    "Unconnected.",
    other_source=entry(
        "A source that was not used has no gradient",
        source="contract/39",
        inputs="{x: 3.0, other: 5.0}",
        run=RUN.replace("watch(x)", "watch([x, other])").replace("(y, x)", "(y, other)"),
        expect="{g: null}",
    ),
)


def move(root: Path, before: str = "basics/squares", after: str = "powers/second") -> None:
    """Move a topic of a corpus, as a maintainer would: each case keeps `formerly`."""
    file, moved = root / f"{before}.yaml", root / f"{after}.yaml"
    moved.parent.mkdir(exist_ok=True)
    entry = re.compile(r"^  (\w+):$", re.MULTILINE)
    moved.write_text(entry.sub(rf"\g<0>\n    formerly: {before}/\1", file.read_text()))
    file.unlink()


@cache
def whole_corpus() -> tuple[Case, ...]:
    """Every case of the corpus, which each process of the tests reads once."""
    with pytest.MonkeyPatch.context() as patch:
        read_shipped_files_once(patch)
        return tuple(load_corpus())


@cache
def whole_catalogue() -> dict[str, Operation]:
    """Every operation of the catalogue, which each process of the tests reads once."""
    return load_catalogue()


@cache
def whole_lists() -> list[Departures]:
    """Our lists of departures, held against the corpus, which each process reads once."""
    return read_folder(data_folder("deviations"), whole_corpus())


@cache
def varied_corpus() -> list[Case]:
    """The corpus with at most eight cases of an entry: rows of a table are much alike."""
    found: dict[Place, list[Case]] = {}
    for case in whole_corpus():
        found.setdefault(case.place, []).append(case)
    return [case for rows in found.values() for case in rows[:8]]


def read_shipped_files_once(patch: pytest.MonkeyPatch) -> None:
    """Until the patch ends, take our files as they were read before: cases, departures, catalogue.

    Each process of the tests reads them once; a list, for each corpus that it is held against.
    """
    shipped, lists = data_folder("cases"), data_folder("deviations")
    patch.setattr(
        "conformance.corpus.cases.cases_of",
        lambda file, root: (_read_once if shipped in file.parents else load_file)(file, root),
    )
    patch.setattr("conformance.commands.operations.load_catalogue", whole_catalogue)
    patch.setattr(
        "conformance.verdicts.departure_file.read_departures",
        lambda path, cases=None, shown_as=None: (
            _list_once(path, cases and tuple(cases), shown_as)
            if path.parent == lists
            else read_departures(path, cases, shown_as)
        ),
    )


_read_once = cache(load_file)
_list_once = lru_cache(20)(read_departures)


def make_corpus(folder: Path, **files: str) -> Path:
    """A corpus folder with the two topics above and `area__topic=text` files added or replaced."""
    root = folder / "cases"
    texts = {"basics__squares": SQUARE, "unconnected__other": UNCONNECTED, **files}
    for name, text in texts.items():
        area, topic = name.split("__")
        (root / area).mkdir(parents=True, exist_ok=True)
        (root / area / f"{topic}.yaml").write_text(text)
    return root
