"""What the parts of one case must have to do with each other."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from conformance.corpus.language.case import (
    MODES,
    Case,
    Expectation,
    ExpectedCalls,
    ExpectedError,
    ExpectedOracle,
)
from conformance.corpus.language.document import Node, shortened
from conformance.corpus.language.expectations import expects, options_of
from conformance.corpus.language.program import bound_by, names_of, names_of_scope, names_read
from conformance.corpus.language.subset import Program
from conformance.corpus.language.vocabulary import CHANGES_THE_PROCESS
from conformance.text import suggest


def check_case(case: Case, node: Node, setup: Program | None, run: Program | None) -> None:
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
        for mode, part in {"": given["expect"], **declared}.items():
            expectations = case.expect_in[mode] if mode else case.expect
            for name, expectation in expectations.items():
                where = part.mapping()[name]
                if run is not None:
                    _check_observed(name, expectation, where, setup, run)
                _check_modes(name, expectation, where, case.expect.get(name) if mode else None)
    if run is not None:
        _check_everything_is_read(case, given, setup, run)
        if not case.isolated:
            _check_isolation(given, setup, run)
    if set(MODES) <= set(refused):
        message = "no mode is left: a case applies in one mode at least"
        given["not_applicable"].fault(message, given["not_applicable"].name_place)
    for mode, part in declared.items():
        if mode in refused:
            message = f"{mode} is not applicable: nothing is expected there"
            part.fault(message, part.name_place)
        if part.value == {}:
            part.fault(f"nothing is expected in {mode}: remove it", part.name_place)


def _check_observed(
    name: str, expectation: Expectation, node: Node, setup: Program | None, run: Program
) -> None:
    """An observed name has a value at the program's end; `at` names a step of it."""
    steps, own = bound_by(run.tree), names_of_scope(run.tree.body)
    defined = run.functions | (setup.functions if setup else frozenset())
    if expects(expectation, ExpectedCalls):
        if name not in defined:
            message = f"the program defines no function named '{shortened(name)}'"
            node.fault(message + suggest(name, defined), node.name_place)
    elif name not in own:
        message = f"the program binds no value named '{shortened(name)}'{suggest(name, steps)}"
        node.fault(message, node.name_place)
    elif name not in run.bound:
        node.fault(f"'{shortened(name)}' has no value where the program ends", node.name_place)
    for option in options_of(expectation):
        if isinstance(option, ExpectedError) and option.at not in (None, *own):
            at = str(option.at)
            message = f"at: the program has no step '{shortened(at)}'{suggest(at, steps)}"
            node.fault(message, node.name_place)


def _check_modes(
    name: str, expectation: Expectation, node: Node, general: Expectation | None
) -> None:
    """A name counts calls in every mode or in none; `oracle` stands where the modes agree."""
    if general is None:
        return
    if ExpectedOracle in (type(expectation), type(general)):
        message = "oracle is for modes that agree: declare the value of each mode"
        node.fault(message, node.name_place)
    if expects(general, ExpectedCalls) != expects(expectation, ExpectedCalls):
        message = f"'{shortened(name)}' is a count of calls in one mode only"
        node.fault(message, node.name_place)


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
            node.fault(f"the program never reads the input '{name}': remove it", node.name_place)
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
