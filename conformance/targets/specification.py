"""Parse what can be asked: NAME[==VERSION][:MODE,MODE], a module, or a file."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from conformance.closing import UsageError, Word
from conformance.corpus.language.case import MODES, Case
from conformance.drivers import INSIDE
from conformance.text import did_you_mean, suggest

ADAPTED = ("autograd", "mygrad", "jax", "torch", "mlx")
"""The frameworks that are asked through an adapter of ours."""
COMPILERS = {"jax": {"jit": "xla"}, "torch": {"compile": "graph"}}
"""What those that have a compiler call it, and the mode that means the same."""
NAMED = {
    "reference": "reference_impl",
    "tensorflow": "tensorflow",
    **{name: f"adapters.{name}" for name in ADAPTED},
}
"""The targets that have a name of their own, and the modules that they are."""

RELEASE = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})(?:\.([0-9]{1,4}))?(?:rc([0-9]{1,4}))?")

DEFAULT_MODES = {"tensorflow": ("eager", "graph", "xla")}


class TargetError(UsageError):
    """A target that cannot be asked; the message says why."""

    word: Word = "no_target"


class MisspeltTarget(TargetError):
    """A word that names no target; the message says what to write instead."""

    word = "usage"


@dataclass(frozen=True)
class Target:
    """An implementation to ask, and the modes to ask it in.

    `module` is a module's name or a `.py` file's path, `attribute` a dotted path inside it;
    `version` is what `==` asked for; `python` the interpreter of an existing environment; `path`
    is where its module is looked for first.
    """

    label: str
    module: str
    modes: tuple[str, ...]
    attribute: str = ""
    version: str | None = None
    python: str | None = None
    path: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The label without its version: what deviations are written for."""
        return name_of(self.label)

    @property
    def is_adapted(self) -> bool:
        """Whether this is a framework behind an adapter of ours."""
        return self.name in ADAPTED

    @property
    def is_reference(self) -> bool:
        """Whether this is the oracle itself."""
        return self.label == "reference"


def name_of(label: str) -> str:
    """A target's label without its version."""
    return label.partition("==")[0]


def asked_of(label: str, case: Case) -> Case:
    """What a case asks of a target: of another framework nothing that TensorFlow's modes decide."""
    return _in_any_mode(case) if name_of(label) in ADAPTED else case


@cache  # cases are compared by identity
def _in_any_mode(case: Case) -> Case:
    expect_in = {mode: due for mode, due in case.expect_in.items() if mode == "eager"}
    never = {mode: why for mode, why in case.not_applicable.items() if mode == "eager"}
    return replace(case, expect_in=expect_in, not_applicable=never)


def parse_target(text: str, python: str | None = None) -> Target:
    """The target that a word of the command line names; raises TargetError.

    A version is written out: 2.15 means 2.15.0, as installers have it. `python` is taken as it is
    written; `environments.provisioned` looks at it.

    >>> parse_target("tensorflow==2.15:graph,xla").label
    'tensorflow==2.15.0'
    """
    body, modes = _split_modes(text)
    body, version = _split_version(body, text)
    target = _located(body, text)
    chosen = modes or DEFAULT_MODES.get(body, ("eager",))
    if target.is_reference and chosen != ("eager",):
        raise MisspeltTarget("the reference implementation has one mode: eager")
    compilers = COMPILERS.get(target.name, {})
    if target.is_adapted and not {"eager", *compilers.values()}.issuperset(chosen):
        own = " and ".join(f"{word} ({mode})" for word, mode in compilers.items())
        raise MisspeltTarget(f"'{text}': {target.name} has eager" + (f" and {own}" if own else ""))
    if version:
        target = replace(target, label=f"{body}=={version}", version=version)
    own_python = None if target.is_reference else python
    return replace(target, modes=chosen, python=own_python)


def parse_targets(words: Sequence[str], python: str | None = None) -> list[Target]:
    """The targets that words name, each of them once; raises TargetError."""
    targets = [parse_target(word, python) for word in words]
    if len({target.label for target in targets}) < len(targets):
        raise MisspeltTarget(
            "a target is named twice: write its modes together, tensorflow:eager,graph"
        )
    return targets


def names_target(word: str) -> bool:
    """Whether a word names a target for certain, and no case: by its name or as a Python file."""
    name = word.partition(":")[0]
    return name.partition("==")[0] in NAMED or name.endswith(".py")


def _split_modes(text: str) -> tuple[str, tuple[str, ...]]:
    body, colon, last = text.rpartition(":")
    own = COMPILERS.get(name_of(body), {})
    words = tuple(own.get(word, word) for word in last.split(","))
    if colon and all(word in MODES for word in words):
        if len(set(words)) < len(words):
            raise MisspeltTarget(f"'{text}' names a mode twice")
        return body, tuple(mode for mode in MODES if mode in words)
    looks_like_modes = body in NAMED or body.endswith(".py") or "==" in body or "," in last
    if colon and looks_like_modes and not body.endswith(".py"):
        unknown = next(word for word in words if word not in MODES)
        raise MisspeltTarget(f"'{text}': no mode named '{unknown}'{suggest(unknown, MODES)}")
    return text, ()


def _split_version(body: str, text: str) -> tuple[str, str | None]:
    """What a version is asked of, and the version written as X.Y.Z or X.Y.ZrcN."""
    name, asked, written = body.partition("==")
    if not name:
        raise MisspeltTarget(f"'{text}' names no target: write NAME[==VERSION][:MODE,MODE]")
    if not asked or _is_file_name(body.partition(":")[0]):
        return body, None
    if name not in {*NAMED} - {"reference"}:
        meant = did_you_mean(name, NAMED, cutoff=0.75)
        raise MisspeltTarget(f"'{text}': only frameworks are asked for by version{meant}")
    version = RELEASE.fullmatch(written)
    if not version:
        raise MisspeltTarget(f"'{text}': '{written}' is no version such as 2.15.1")
    major, minor, patch, candidate = (int(part) if part else 0 for part in version.groups())
    return name, f"{major}.{minor}.{patch}" + (f"rc{candidate}" if version[4] else "")


def _located(body: str, text: str) -> Target:
    if body in NAMED:
        return Target(body, NAMED[body], (), path=(str(INSIDE.parent),) * (body in ADAPTED))
    path, colon, attribute = body.partition(":")
    if _is_file_name(path) and not os.path.isfile(path):
        raise MisspeltTarget(f"'{text}': no file {path}")
    if colon and not _is_dotted(attribute):
        raise MisspeltTarget(f"'{text}': '{attribute}' is no attribute such as package.tape")
    if _is_file_name(path):
        return Target(body, str(Path(path).resolve()), (), attribute)
    if not _is_dotted(path):
        raise MisspeltTarget(f"'{text}' is neither a target's name, nor a module, nor a .py file")
    if "." not in path and did_you_mean(path, NAMED, cutoff=0.75):
        raise MisspeltTarget(f"no target named '{path}'{did_you_mean(path, NAMED, cutoff=0.75)}")
    return Target(body, path, (), attribute)


def _is_file_name(path: str) -> bool:
    return path.endswith(".py") or "/" in path


def _is_dotted(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))
