"""YAML files to cases: reads, checks and reports every fault of a file at once."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from conformance.corpus.language.case import (
    MODES,
    Case,
    Expectation,
    ExpectedCalls,
    ExpectedError,
    ExpectedOracle,
    ExpectedSurvey,
    Input,
)
from conformance.corpus.language.derivative import (
    NoDerivative,
    forward_of,
    has_derivative,
    resolved,
)
from conformance.corpus.language.document import (
    Node,
    Read,
    parse_document,
    read_document,
    shortened,
)
from conformance.corpus.language.expectations import expects, options_of, parse_expectation
from conformance.corpus.language.inputs import parse_input
from conformance.corpus.language.program import bound_by, names_of, names_of_scope, names_read
from conformance.corpus.language.subset import Program, check_program
from conformance.corpus.language.templates import expand
from conformance.corpus.language.vocabulary import (
    BUILTINS,
    CHANGES_THE_PROCESS,
    CONVENTIONS,
    PROBES,
    RESERVED,
    ROOTS,
    TAGS,
)
from conformance.text import suggest

FILE_KEYS = ("introduction", "cases")
CASE_KEYS = (
    *("title", "source", "inputs", "setup", "run", "expect", "expect_in"),
    *("each", "warns", "isolated", "not_applicable", "tags", "formerly"),
)
REQUIRED_KEYS = ("title", "source", "run", "expect")
NAME = re.compile(r"[a-z][a-z0-9_]{0,99}")
ID = re.compile("/".join([NAME.pattern] * 3))
VALUE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,99}")
NOTHING: Mapping[str, Any] = {}
"""Shared by the many cases that say nothing of single modes."""
TAKEN = frozenset((*ROOTS, *PROBES, *BUILTINS, *RESERVED))
SOURCES = {
    "contract/84": r"contract/[1-9]\d{0,3}[a-z]?",
    "contract/s4": r"contract/s[1-9]\d?[a-z]?",
    "contract/0b.5": r"contract/0b\.[1-9]\d?[a-z]?",
    "contract/advanced/27": r"contract/advanced/[1-9]\d?[a-z]?",
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
    root.keys(FILE_KEYS, required=FILE_KEYS)
    root.read("introduction", Node.text)
    parts = topic.split("/")
    if len(parts) != 2:
        root.fault(f"a file of cases is <area>/<topic>.yaml, not {shortened(topic)}.yaml")
    for part in parts:
        if not NAME.fullmatch(part):
            rule = "use lower-case letters, digits and _"
            root.fault(f"'{shortened(part)}' in the file's path: {rule}")
    cases = root.read("cases", lambda entries: _expanded(entries, topic)) or {}
    if not root.reading.faults and not cases:
        root.fault("no cases: remove the file or write one")
    root.finish()
    return list(cases.values())


def _expanded(entries: Node, topic: str) -> dict[str, Case]:
    """The cases of a file; a row of a table is of the topic of its operation's family."""
    cases: dict[str, Case] = {}
    for written, entry in entries.mapping().items():
        for name, filled, row in expand(written, entry):
            area, _, own = topic.partition("/")
            id = f"{area}/{row.get('family', own)}/{name}"
            if id in cases:
                filled.fault_of_name(f"a second case named '{shortened(name)}'")
            if not NAME.fullmatch(name):
                rule = "a case's name is lower-case letters, digits and _"
                entry.fault_of_name(f"'{shortened(name)}': {rule}")
            cases[id] = _case(id, filled, row.get("operation", ""))
    return cases


def _case(id: str, node: Node, operation: str) -> Case:
    node.keys(CASE_KEYS, required=REQUIRED_KEYS)
    inputs = node.read("inputs", _inputs) or {}

    def expectations(names: Node) -> dict[str, Expectation]:
        return {name: parse_expectation(n, inputs) for name, n in names.mapping().items()}

    run, run_line = node.read("run", _written) or ("", 0)
    setup_text, setup_line = node.read("setup", _written) or ("", 0)
    case = Case(
        id=id,
        title=node.read("title", Node.line) or "",
        sources=node.read("source", _sources) or (),
        place=node.place,
        run=run,
        run_line=run_line,
        expect=node.read("expect", expectations) or {},
        inputs=tuple(inputs.values()),
        setup=setup_text,
        setup_line=setup_line,
        expect_in=node.read("expect_in", _by_mode(expectations)) or NOTHING,
        not_applicable=node.read("not_applicable", _by_mode(Node.line)) or NOTHING,
        warns=node.read("warns", Node.line),
        isolated=bool(node.read("isolated", Node.flag)),
        tags=node.read("tags", _tags) or (),
        formerly=node.read("formerly", _former_id) or "",
        operation=operation,
    )
    setup = node.read("setup", lambda text: check_program(text, made=inputs))
    checked = node.read("run", lambda text: check_program(text, made=inputs, setup=setup))
    _check_case(case, node, setup, checked if setup or not setup_text else None)
    return case


def _written(program: Node) -> tuple[str, int]:
    """A program's text, and the line of the file on which it begins."""
    return str(program.value or ""), program.text_line


def _inputs(node: Node) -> dict[str, Input]:
    found = {}
    for name, child in node.mapping().items():
        if VALUE_NAME.fullmatch(name) and name not in TAKEN:
            found[name] = parse_input(name, child)
        else:
            rule = "use letters, digits and _, and no taken name"
            child.fault_of_name(f"'{shortened(name)}' cannot name an input: {rule}")
    return found


def _tags(node: Node) -> tuple[str, ...]:
    tags: list[str] = []
    for child in node.items():
        tag = child.line()
        if tag and tag not in TAGS:
            child.fault(f"no tag named '{shortened(tag)}'{suggest(tag, TAGS)}")
        elif tag in tags:
            child.fault(f"the tag '{tag}' twice")
        tags.append(tag)
    return tuple(tags)


def _former_id(node: Node) -> str:
    text = node.line()
    if text and not ID.fullmatch(text):
        node.fault(f"'{shortened(text)}' is no id such as area/topic/name")
    return text


def _by_mode(read: Callable[[Node], Read]) -> Callable[[Node], dict[str, Read]]:
    """A reader of what stands under each mode."""

    def read_each(node: Node) -> dict[str, Read]:
        for mode, child in node.mapping().items():
            if mode not in MODES:
                child.fault_of_name(f"no mode named '{shortened(mode)}'{suggest(mode, MODES)}")
        return {mode: read(child) for mode, child in node.mapping().items()}

    return read_each


# ----- where a fact comes from -----


def _sources(node: Node) -> tuple[str, ...]:
    """One source, or a list of them; a fault with the nearest form for what is none."""
    children = node.value if isinstance(node.value, list) else [node]
    if not children:
        node.fault("a case names the source of its fact, such as contract/84")
    if len(children) > MAX_SOURCES:
        node.fault(f"more than {MAX_SOURCES} sources")
        return ()
    return tuple(read_source(child) for child in children)


def read_source(node: Node) -> str:
    """One source; a fault with the nearest form for what is none."""
    text = node.line()
    if text and not _SOURCE.fullmatch(text):
        node.fault(f"'{shortened(text)}' is no source{_written_like(text)}")
    return text


def _written_like(text: str) -> str:
    """The forms that begin as the text does, or that are spelt like it."""
    room = "api" if text.startswith("tf.") else text.lower().split("/")[0]
    alike = [form for form in SOURCES if "/" in form and form.split("/")[0] == room]
    if alike:
        return f" (written like {' or '.join(alike)})"
    return suggest(text, SOURCES)


# ----- what the parts of a case must have to do with each other -----


def _check_case(case: Case, node: Node, setup: Program | None, run: Program | None) -> None:
    """Report what parts of a case contradict each other, or are there for nothing.

    `node` is what the case was read from; `run` is None where it, or setup before it, cannot be
    read.
    """
    given = node.mapping()
    refused, declared = (
        found.value if found is not None and isinstance(found.value, dict) else {}
        for found in map(given.get, ("not_applicable", "expect_in"))
    )
    if "expect" in given:
        if not case.expect:
            given["expect"].fault("a case expects something of one name at least")
        for mode, part in {**declared, "": given["expect"]}.items():
            expectations = case.expect_in[mode] if mode else case.expect
            for name, expectation in expectations.items():
                where = part.mapping()[name]
                if run is not None:
                    _check_observed(name, expectation, where, setup, run)
                _check_modes(name, expectation, where, case.expect.get(name) if mode else None)
                if run is not None and has_derivative(expectation):
                    _check_derivative(case, name, expectation, where)
    if run is not None:
        _check_everything_is_read(case, given, setup, run)
        if not case.isolated:
            _check_isolation(given, setup, run)
    if set(MODES) <= set(refused):
        message = "no mode is left: a case applies in one mode at least"
        given["not_applicable"].fault_of_name(message)
    for mode, part in declared.items():
        if mode in refused:
            part.fault_of_name(f"{mode} is not applicable: nothing is expected there")
        if part.value == {}:
            part.fault_of_name(f"nothing is expected in {mode}: remove it")


def _check_observed(
    name: str, expectation: Expectation, node: Node, setup: Program | None, run: Program
) -> None:
    """An observed name has a value at the program's end; `at` names a step of it."""
    steps, own = bound_by(run.tree), names_of_scope(run.tree)
    defined = run.functions | (setup.functions if setup else frozenset())
    if expects(expectation, ExpectedCalls):
        if name not in defined:
            message = f"the program defines no function named '{shortened(name)}'"
            node.fault_of_name(message + suggest(name, defined))
    elif name not in own:
        message = f"the program binds no value named '{shortened(name)}'{suggest(name, steps)}"
        node.fault_of_name(message)
    elif name not in run.bound:
        node.fault_of_name(f"'{shortened(name)}' has no value where the program ends")
    for option in options_of(expectation):
        if isinstance(option, ExpectedError) and option.at not in (None, *own):
            at = str(option.at)
            node.fault_of_name(f"at: the program has no step '{shortened(at)}'{suggest(at, steps)}")


def _check_derivative(case: Case, name: str, expectation: Expectation, node: Node) -> None:
    """A derivative exists, of a value of which the case says what it is.

    Without that a target which is consistently wrong would conform.
    """
    try:
        forward = forward_of(case, name)
        resolved(expectation, forward.sources)
    except NoDerivative as error:
        node.fault_of_name(f"derivative: {error}")
        return
    silent = (None, ExpectedSurvey())
    for target in sorted(one for one in forward.targets if case.expect.get(one) in silent):
        node.fault_of_name(f"derivative: the case does not say what {target} is: expect it too")
    for tag in sorted({*case.tags} & {*CONVENTIONS}):
        node.fault_of_name(f"derivative: there is none at a {tag}: declare the value")
    if "eager" in case.not_applicable:
        node.fault_of_name("derivative: the forward is asked eagerly, which is not applicable")


def _check_modes(
    name: str, expectation: Expectation, node: Node, general: Expectation | None
) -> None:
    """A name counts calls in every mode or in none; `oracle` stands where the modes agree."""
    if general is None:
        return
    if ExpectedOracle in (type(expectation), type(general)):
        node.fault_of_name("oracle is for modes that agree: declare the value of each mode")
    if expects(general, ExpectedCalls) != expects(expectation, ExpectedCalls):
        node.fault_of_name(f"'{shortened(name)}' is a count of calls in one mode only")


def _check_everything_is_read(
    case: Case, given: Mapping[str, Node], setup: Program | None, run: Program
) -> None:
    """Every input is read, and every name that setup makes.

    A name that setup binds to a call may be unread: the call may be made for its effect.
    """
    trees = [setup.tree] if setup else []
    read = names_read(run.tree, *trees)
    inputs = [item.name for item in case.inputs]
    for name in inputs:
        if name not in read:
            node = given["inputs"].mapping()[name]
            node.fault_of_name(f"the program never reads the input '{name}': remove it")
    for statement in setup.tree.body if setup else ():
        plain = isinstance(statement, ast.Assign) and not isinstance(statement.value, ast.Call)
        for name in sorted({*bound_by(statement)} - read) if plain else ():
            message = f"the program never reads '{shortened(name)}' of setup: remove it"
            given["setup"].fault(message)
        for name in sorted({*names_of(statement).deletes} & {*inputs}):
            given["setup"].fault(f"setup deletes the input '{name}'")


def _check_isolation(given: Mapping[str, Node], setup: Program | None, run: Program) -> None:
    """A case that changes what other cases of its process would meet says `isolated: true`."""
    for key, program in (("setup", setup), ("run", run)):
        for name, part in program.framework.items() if program else ():
            if CHANGES_THE_PROCESS.fullmatch(name):
                message = f"{shortened(name)} changes the process: add isolated: true"
                given[key].fault(message, given[key].at(part.lineno, part.col_offset))
