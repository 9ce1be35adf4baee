"""What the parts of one case must have to do with each other."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from conformance.corpus.language.case import (
    MODES,
    Expectation,
    ExpectedCalls,
    ExpectedError,
    ExpectedOracle,
    Input,
    Place,
)
from conformance.corpus.language.document import Faults, Node, shortened
from conformance.corpus.language.expectations import expects, options_of
from conformance.corpus.language.program import bound_by, names_of, names_of_scope, names_read
from conformance.corpus.language.subset import Program
from conformance.corpus.language.vocabulary import CHANGES_THE_PROCESS
from conformance.text import suggest


@dataclass(frozen=True)
class Parts:
    """The parts of a case as they were read; `given` are the nodes that they were read from.

    `run` is None where it, or setup before it, cannot be read.
    """

    given: Mapping[str, Node]
    inputs: Mapping[str, Input]
    expect: Mapping[str, Expectation]
    expect_in: Mapping[str, Mapping[str, Expectation]]
    setup: Program | None
    run: Program | None

    def by_mode(self, key: str) -> dict[str, Node]:
        """The nodes of `expect_in` or `not_applicable`, by mode."""
        node = self.given.get(key)
        return node.value if node is not None and isinstance(node.value, dict) else {}


def check_parts(parts: Parts, faults: Faults) -> None:
    """Report what parts of a case contradict each other, or are there for nothing."""
    if "expect" in parts.given:
        if not parts.expect:
            faults.add(parts.given["expect"], "a case expects something of one name at least")
        _check_expectations(parts, faults)
    if parts.run is not None:
        _check_everything_is_read(parts, parts.run, faults)
        _check_isolation(parts, faults)
    refused = parts.by_mode("not_applicable")
    if set(MODES) <= set(refused):
        where = parts.given["not_applicable"].name_place
        faults.add(where, "no mode is left: a case applies in one mode at least")
    for mode, node in parts.by_mode("expect_in").items():
        if mode in refused:
            faults.add(node.name_place, f"{mode} is not applicable: nothing is expected there")
        if node.value == {}:
            faults.add(node.name_place, f"nothing is expected in {mode}: remove it")


def _check_expectations(parts: Parts, faults: Faults) -> None:
    """A name counts calls in every mode or in none; `oracle` stands where the modes agree."""
    nodes = {"": parts.given["expect"], **parts.by_mode("expect_in")}
    for mode, expectations in {"": parts.expect, **parts.expect_in}.items():
        for name, expectation in expectations.items():
            where = faults.mapping(nodes[mode])[name].name_place
            if parts.run is not None:
                _check_observed(name, expectation, parts.setup, parts.run, where, faults)
            general = parts.expect.get(name, expectation)
            if mode and ExpectedOracle in (type(expectation), type(general)):
                faults.add(where, "oracle is for modes that agree: declare the value of each mode")
            if expects(general, ExpectedCalls) != expects(expectation, ExpectedCalls):
                faults.add(where, f"'{shortened(name)}' is a count of calls in one mode only")


def _check_observed(
    name: str,
    expectation: Expectation,
    setup: Program | None,
    run: Program,
    where: Place,
    faults: Faults,
) -> None:
    """An observed name has a value at the program's end; `at` names a step of it."""
    steps, own = bound_by(run.tree), names_of_scope(run.tree.body)
    defined = run.functions | (setup.functions if setup else frozenset())
    if expects(expectation, ExpectedCalls):
        if name not in defined:
            message = f"the program defines no function named '{shortened(name)}'"
            faults.add(where, message + suggest(name, defined))
    elif name not in own:
        message = f"the program binds no value named '{shortened(name)}'{suggest(name, steps)}"
        faults.add(where, message)
    elif name not in run.bound:
        faults.add(where, f"'{shortened(name)}' has no value where the program ends")
    for option in options_of(expectation):
        if isinstance(option, ExpectedError) and option.at not in (None, *own):
            at = str(option.at)
            message = f"at: the program has no step '{shortened(at)}'{suggest(at, steps)}"
            faults.add(where, message)


def _check_everything_is_read(parts: Parts, run: Program, faults: Faults) -> None:
    """Every input is read, and every name that setup makes.

    A name that setup binds to a call may be unread: the call may be made for its effect.
    """
    setup = [parts.setup.tree] if parts.setup else []
    read = names_read(run.tree, *setup)
    for name in parts.inputs:
        if name not in read:
            where = faults.mapping(parts.given["inputs"])[name].name_place
            faults.add(where, f"the program never reads the input '{name}': remove it")
    for statement in setup[0].body if setup else ():
        plain = isinstance(statement, ast.Assign) and not isinstance(statement.value, ast.Call)
        for name in sorted({*bound_by(statement)} - read) if plain else ():
            message = f"the program never reads '{shortened(name)}' of setup: remove it"
            faults.add(parts.given["setup"], message)
        for name in sorted({*names_of(statement).deletes} & {*parts.inputs}):
            faults.add(parts.given["setup"], f"setup deletes the input '{name}'")


def _check_isolation(parts: Parts, faults: Faults) -> None:
    """A case that changes what other cases of its process would meet says `isolated: true`."""
    if "isolated" in parts.given and parts.given["isolated"].value is True:
        return
    for key, program in (("setup", parts.setup), ("run", parts.run)):
        for name, part in program.framework.items() if program else ():
            if CHANGES_THE_PROCESS.fullmatch(name):
                message = f"{shortened(name)} changes the process: add isolated: true"
                faults.add(parts.given[key].at(part.lineno, part.col_offset), message)
