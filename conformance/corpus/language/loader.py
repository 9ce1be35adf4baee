"""YAML files to cases: reads, checks and reports every fault of a file at once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from conformance.corpus.language.case import MODES, Case, Expectation, Input
from conformance.corpus.language.checks import Parts, check_parts
from conformance.corpus.language.document import (
    CaseFileError,
    Faults,
    Node,
    parse_document,
    read_document,
    shortened,
)
from conformance.corpus.language.expectations import parse_expectation
from conformance.corpus.language.inputs import parse_input
from conformance.corpus.language.subset import check_program
from conformance.corpus.language.templates import expand
from conformance.corpus.language.vocabulary import BUILTINS, PROBES, RESERVED, ROOTS, TAGS
from conformance.text import suggest

FILE_KEYS = ("introduction", "cases")
CASE_KEYS = (
    *("title", "source", "inputs", "setup", "run", "expect", "expect_in"),
    *("each", "warns", "isolated", "not_applicable", "tags"),
)
REQUIRED_KEYS = ("title", "source", "run", "expect")
NAME = re.compile(r"[a-z][a-z0-9_]{0,99}")
VALUE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,99}")
NOTHING: Mapping[str, Any] = {}
"""Shared by the many cases that say nothing of single modes."""
TAKEN = frozenset((*ROOTS, *PROBES, *BUILTINS, *RESERVED))
SOURCES = {
    "contract/84": r"contract/[1-9]\d{0,3}",
    "contract/s4": r"contract/s[1-9]\d?",
    "contract/0b.5": r"contract/0b\.[1-9]\d?",
    "contract/advanced/27": r"contract/advanced/[1-9]\d?",
    "guide/autodiff#section": r"guide/autodiff(#[a-z0-9][a-z0-9_.-]*)?",
    "guide/advanced_autodiff#section": r"guide/advanced_autodiff(#[a-z0-9][a-z0-9_.-]*)?",
    "custom_gradient.py docstring, name": r"custom_gradient\.py( docstring)?(, \S.*)?",
    "api/custom_gradient (de)": r"api/[A-Za-z][\w./]*( \([a-z]{2}\))?(, \S.*)?",
    "blog/name": r"blog/[a-z0-9][\w.#/-]*",
    "issue/12345": r"issue/[1-9]\d{0,6}",
    "METHODS 4.2 mutant 7": r"METHODS [1-9]\d?(\.\d+)*( mutant [1-9]\d{0,3})?",
    "https://...": r"https://[a-z0-9][a-z0-9.-]*(/\S*)?",
}
"""Each form of a source by an example of it: the pattern that a source of this form matches."""

MAX_SOURCES = 20
_SOURCE = re.compile("|".join(f"(?:{pattern})" for pattern in SOURCES.values()))


def load_file(path: Path, root: Path) -> list[Case]:
    """The cases of one file; raises CaseFileError with every fault.

    A file below the corpus's `root` is `<area>/<topic>.yaml` there; any other one is named after
    its folder and itself.
    """
    try:
        relative = path.resolve().relative_to(root.resolve())
        shown = f"{root.name}/{relative.as_posix()}"
        topic = relative.with_suffix("").as_posix()
    except ValueError:
        shown = str(path)
        topic = f"{_as_name(path.resolve().parent.name)}/{_as_name(path.stem)}"
    return _cases(read_document(path, shown), topic)


def load_text(text: str, topic: str = "local/text", file: str = "text.yaml") -> list[Case]:
    """The cases of a text, as if it were the file of `topic`; raises as load_file does."""
    return _cases(parse_document(text, file), topic)


def _as_name(text: str) -> str:
    """The nearest name that a folder or file may have in the corpus."""
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    return name if NAME.fullmatch(name) else "local"


def _cases(root: Node, topic: str) -> list[Case]:
    faults = Faults()
    faults.keys(root, FILE_KEYS, required=FILE_KEYS)
    mapping = root.value if isinstance(root.value, dict) else {}
    if "introduction" in mapping:
        faults.text(mapping["introduction"])
    parts = topic.split("/")
    if len(parts) != 2:
        faults.add(root, f"a file of cases is <area>/<topic>.yaml, not {shortened(topic)}.yaml")
    for part in parts:
        if not NAME.fullmatch(part):
            message = (
                f"'{shortened(part)}' in the file's path: use lower-case letters, digits and _"
            )
            faults.add(root, message)
    entries = faults.mapping(mapping["cases"]) if "cases" in mapping else {}
    cases = _expanded(entries, topic, faults)
    if not faults.found and not cases:
        faults.add(root, "no cases: remove the file or write one")
    if faults.found:
        raise CaseFileError(sorted(faults.found, key=lambda f: (f.place.line, f.place.column)))
    return list(cases.values())


def _expanded(entries: Mapping[str, Node], topic: str, faults: Faults) -> dict[str, Case]:
    cases: dict[str, Case] = {}
    for written, entry in entries.items():
        for name, filled in expand(written, entry, faults):
            if name in cases:
                faults.add(filled.name_place, f"a second case named '{shortened(name)}'")
            if not NAME.fullmatch(name):
                rule = "a case's name is lower-case letters, digits and _"
                faults.add(entry.name_place, f"'{shortened(name)}': {rule}")
            cases[name] = _case(f"{topic}/{name}", filled, faults)
    return cases


def _case(id: str, node: Node, faults: Faults) -> Case:
    faults.keys(node, CASE_KEYS, required=REQUIRED_KEYS)
    empty = Node({}, node.place)
    given = node.value if isinstance(node.value, dict) else {}
    inputs = _inputs(given.get("inputs", empty), faults)
    expect = _expectations(given.get("expect", empty), inputs, faults)
    expect_in = {
        mode: _expectations(child, inputs, faults)
        for mode, child in _by_mode(given.get("expect_in", empty), faults)
    }
    not_applicable = {
        mode: faults.line(child)
        for mode, child in _by_mode(given.get("not_applicable", empty), faults)
    }
    names = tuple(inputs)
    setup = check_program(given["setup"], faults, made=names) if "setup" in given else None
    run = check_program(given["run"], faults, made=names, setup=setup) if "run" in given else None
    readable = run if setup or "setup" not in given else None
    check_parts(Parts(given, inputs, expect, expect_in, setup, readable), faults)
    setup_text, run_text = given.get("setup", empty), given.get("run", empty)
    return Case(
        id=id,
        title=faults.line(given["title"]) if "title" in given else "",
        sources=_sources(given["source"], faults) if "source" in given else (),
        place=node.place,
        run=str(run_text.value or ""),
        run_line=run_text.text_line,
        expect=expect,
        inputs=tuple(inputs.values()),
        setup=str(setup_text.value or ""),
        setup_line=setup_text.text_line,
        expect_in=expect_in or NOTHING,
        not_applicable=not_applicable or NOTHING,
        warns=faults.line(given["warns"]) if "warns" in given else None,
        isolated="isolated" in given and faults.flag(given["isolated"]),
        tags=_tags(given.get("tags", Node([], node.place)), faults),
    )


def _inputs(node: Node, faults: Faults) -> dict[str, Input]:
    return {
        name: parse_input(name, child, faults)
        for name, child in faults.mapping(node).items()
        if _checked_name(name, child, faults)
    }


def _checked_name(name: str, node: Node, faults: Faults) -> bool:
    if VALUE_NAME.fullmatch(name) and name not in TAKEN:
        return True
    rule = "use letters, digits and _, and no taken name"
    faults.add(node.name_place, f"'{shortened(name)}' cannot name an input: {rule}")
    return False


def _tags(node: Node, faults: Faults) -> tuple[str, ...]:
    tags = []
    for child in faults.items(node):
        tag = faults.line(child)
        if tag and tag not in TAGS:
            faults.add(child, f"no tag named '{shortened(tag)}'{suggest(tag, TAGS)}")
        elif tag in tags:
            faults.add(child, f"the tag '{tag}' twice")
        tags.append(tag)
    return tuple(tags)


def _by_mode(node: Node, faults: Faults) -> list[tuple[str, Node]]:
    pairs = list(faults.mapping(node).items())
    for mode, child in pairs:
        if mode not in MODES:
            faults.add(child.name_place, f"no mode named '{shortened(mode)}'{suggest(mode, MODES)}")
    return pairs


def _expectations(
    node: Node, inputs: Mapping[str, Input], faults: Faults
) -> dict[str, Expectation]:
    return {
        name: parse_expectation(child, inputs, faults)
        for name, child in faults.mapping(node).items()
    }


# ----- where a fact comes from -----


def _sources(node: Node, faults: Faults) -> tuple[str, ...]:
    """One source, or a list of them; a fault with the nearest form for what is none."""
    children = node.value if isinstance(node.value, list) else [node]
    if not children:
        faults.add(node, "a case names the source of its fact, such as contract/84")
    if len(children) > MAX_SOURCES:
        faults.add(node, f"more than {MAX_SOURCES} sources")
        return ()
    return tuple(_source(child, faults) for child in children)


def _source(node: Node, faults: Faults) -> str:
    text = faults.line(node)
    if text and not _SOURCE.fullmatch(text):
        faults.add(node, f"'{shortened(text)}' is no source{_written_like(text)}")
    return text


def _written_like(text: str) -> str:
    """The forms that begin as the text does, or that are spelt like it."""
    room = "api" if text.startswith("tf.") else text.lower().split("/")[0]
    alike = [form for form in SOURCES if "/" in form and form.split("/")[0] == room]
    if alike:
        return f" (written like {' or '.join(alike)})"
    return suggest(text, SOURCES)
