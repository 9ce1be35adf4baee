"""What commands share: options, where their output goes, and what they say on the way."""

from __future__ import annotations

import argparse
import contextlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.closing import UsageError
from conformance.corpus.selection import Selection
from conformance.drivers import Limits
from conformance.files import write_whole
from conformance.text import in_line, plural

if TYPE_CHECKING:
    from conformance.asking.cluster import Cluster


def say(line: str) -> None:
    """Tell of what takes long, where no report is disturbed."""
    print(in_line(line), file=sys.stderr)


def add_selection(parser: argparse.ArgumentParser) -> None:
    """The options that narrow the corpus, as pytest has them."""
    add = parser.add_argument
    add("-k", dest="keyword", default="", metavar="EXPR", help="words of id, title")
    add("--area", action="append", default=[], help="an area (repeatable)")
    add("--tag", action="append", default=[], help="a tag (repeatable)")
    add_corpus(parser)


def add_portable(parser: argparse.ArgumentParser) -> None:
    """The option for the cases that another framework can be asked."""
    about = "only cases about gradients, none about TensorFlow's own ways"
    parser.add_argument(
        "--portable", action=argparse.BooleanOptionalAction, default=None, help=about
    )


def selection_of(arguments: argparse.Namespace, words: Sequence[str]) -> Selection:
    """The selection that the options and these ids and paths make."""
    chosen = tuple(words), arguments.keyword, tuple(arguments.area), tuple(arguments.tag)
    return Selection(*chosen, portable=bool(getattr(arguments, "portable", False)))


def add_corpus(parser: argparse.ArgumentParser) -> None:
    """The option for a corpus of one's own; None stands for the suite's."""
    about = "cases of your own instead of ours"
    parser.add_argument("--corpus", type=corpus_folder, metavar="FOLDER", help=about)


def corpus_folder(word: str) -> Path:
    """The folder that `--corpus` names."""
    folder = Path(word)
    if not folder.is_dir():
        raise UsageError(f"--corpus {folder}: no such folder")
    return folder


def add_limits(parser: argparse.ArgumentParser) -> None:
    """The options for what a target's process may reach."""
    add, memory = parser.add_argument, "of all workers, as 8G (half of the machine's)"
    add("--memory", type=_size, metavar="SIZE", help=memory)
    add("--no-confine", action="store_true", help="let targets write, read and connect as you may")


def limits_of(arguments: argparse.Namespace) -> Limits:
    """The limits that the options set."""
    limits = Limits(confined=not arguments.no_confine)
    return replace(limits, memory=arguments.memory) if arguments.memory else limits


def add_cluster(parser: argparse.ArgumentParser) -> None:
    """The options for asking on more than one machine."""
    about = "ask the nodes of this Dask scheduler (docs/cluster.md)"
    parser.add_argument("--cluster", metavar="ADDRESS|local", help=about)
    parser.add_argument("--insecure", action="store_true", help="reach it without TLS")


@contextlib.contextmanager
def cluster_of(arguments: argparse.Namespace) -> Iterator[Cluster | None]:
    """The cluster that the options name, until it is not needed any more; else None."""
    if arguments.cluster is None:
        if arguments.insecure:
            raise UsageError("--insecure is for --cluster ADDRESS")
        yield None
        return
    from conformance.asking.address import parse_address
    from conformance.asking.cluster import Cluster

    if getattr(arguments, "python", None):
        raise UsageError("--python names an interpreter of this machine: leave out --cluster")
    address = parse_address(arguments.cluster, insecure=arguments.insecure)
    with contextlib.closing(Cluster(address, arguments.jobs)) as cluster:
        threads = cluster.threads()
        say(f"{cluster.address}: {plural(len(threads), 'node')}, {sum(threads.values())} threads")
        yield cluster


def _size(text: str) -> int:
    match = re.fullmatch(r"([0-9]{1,9})([MGT])", text)
    if not match or not int(match[1]):
        raise argparse.ArgumentTypeError(f"'{text}' is no size such as 500M or 8G")
    return int(match[1]) << {"M": 20, "G": 30, "T": 40}[match[2]]


def positive(kind: Callable[[str], float]) -> Callable[[str], float]:
    """The type of an option whose number must be above zero, and finite."""

    def number(text: str) -> float:
        value = kind(text)
        if not 0 < value < float("inf"):
            raise argparse.ArgumentTypeError("must be above zero")
        return value

    return number


def output_path(word: str, inputs: Iterable[str | None] = ()) -> Path:
    """The file that --output names, its folder made where there is none; an input is refused."""
    path = Path(word)
    for given in inputs:
        with contextlib.suppress(OSError, ValueError):
            if given and path.samefile(given):
                raise UsageError(f"--output {path} is what this command reads: name another file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--output {path}: no folder {path.parent}: {error.strerror}") from error
    return path


def write_output(text: str, word: str | None, inputs: Iterable[str | None] = ()) -> None:
    """Write what a command found, whole, to the file that --output names, or to standard output.

    Where the file cannot be written, what stands there is left, and standard output has the text.
    """
    if word is None:
        sys.stdout.write(text)
        return
    path = output_path(word, inputs)
    try:
        write_whole(path, text)
    except OSError as error:
        sys.stdout.write(text)
        raise UsageError(f"--output {word}: {error.strerror}") from error
