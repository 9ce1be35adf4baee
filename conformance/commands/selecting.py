"""The options that choose cases, for every command that has them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from conformance.closing import UsageError
from conformance.corpus.language.case import Case
from conformance.corpus.selection import NothingSelected, Selection, select


def add_selection(parser: argparse.ArgumentParser) -> None:
    """The options that narrow the corpus, as pytest has them."""
    parser.add_argument("-k", dest="keyword", default="", metavar="EXPR", help="words of id, title")
    parser.add_argument("--area", action="append", default=[], help="an area (repeatable)")
    parser.add_argument("--tag", action="append", default=[], help="a tag (repeatable)")
    add_corpus(parser)


def add_corpus(parser: argparse.ArgumentParser) -> None:
    """The option for a corpus of one's own."""
    parser.add_argument("--corpus", metavar="FOLDER", help="cases of your own instead of ours")


def selection_of(arguments: argparse.Namespace, words: Sequence[str]) -> Selection:
    """The selection that the options and these ids and paths make."""
    return Selection(tuple(words), arguments.keyword, tuple(arguments.area), tuple(arguments.tag))


def one_case(word: str, cases: Sequence[Case]) -> Case:
    """The one case that a word names. Errors: UsageError for none, and for several."""
    try:
        chosen = select(cases, Selection((word,)))
    except NothingSelected as nothing:
        raise UsageError(str(nothing)) from nothing
    if len(chosen) > 1:
        ids = ", ".join(case.id for case in chosen[:3])
        raise UsageError(f"'{word}' is {len(chosen)} cases: name one, such as {ids}")
    return chosen[0]


def corpus_folder(arguments: argparse.Namespace) -> Path | None:
    """The folder that `--corpus` names; None for the suite's own corpus."""
    if arguments.corpus is None:
        return None
    folder = Path(arguments.corpus)
    if not folder.is_dir():
        raise UsageError(f"--corpus {folder}: no such folder")
    return folder
