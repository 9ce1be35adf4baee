"""What the parts of one case must have to do with each other."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from conformance.corpus.language.case import (
    MODES,
    Expectation,
    ExpectedCalls,
    ExpectedError,
    ExpectedOracle,
    Input,
)
from conformance.corpus.language.document import Faults, Node, spoken
from conformance.corpus.language.expectations import expects, options_of
from conformance.corpus.language.program import (
    bound_by,
    names_of,
    names_of_scope,
    names_read,
)
from conformance.corpus.language.subset import Program
from conformance.corpus.language.vocabulary import CHANGES_THE_PROCESS
from conformance.text import suggest

Expectations = Mapping[str, Expectation]
Given = Mapping[str, Node]


def check_observed(
    programs: tuple[Program | None, Program],
    placed: list[tuple[Node, Expectations]],
    faults: Faults,
) -> None:
    """Every observed name has a value at the program's end; `at` names a step of it."""
    setup, run = programs
    own = names_of_scope(run.tree.body)
    defined = run.functions | (setup.functions if setup else frozenset())
    for node, expectations in placed:
        for name, expectation in expectations.items():
            where = faults.mapping(node)[name].name_place
            if expects(expectation, ExpectedCalls):
                if name not in defined:
                    near = suggest(name, defined)
                    message = f"the program defines no function named '{spoken(name)}'{near}"
                    faults.add(where, message)
            elif name not in own:
                near = suggest(name, bound_by(run.tree))
                faults.add(where, f"the program binds no value named '{spoken(name)}'{near}")
            elif name not in run.bound:
                faults.add(where, f"'{spoken(name)}' has no value where the program ends")
            for option in options_of(expectation):
                if isinstance(option, ExpectedError) and option.at not in (None, *own):
                    at = str(option.at)
                    near = suggest(at, bound_by(run.tree))
                    faults.add(where, f"at: the program has no step '{spoken(at)}'{near}")


def check_everything_is_read(
    inputs: Mapping[str, Input],
    given: Given,
    programs: tuple[Program | None, Program],
    faults: Faults,
) -> None:
    """Every input is read, and every name that setup makes."""
    setup, run = programs
    read = names_read(run.tree, *([setup.tree] if setup else []))
    for name in inputs:
        if name not in read:
            where = faults.mapping(given["inputs"])[name].name_place
            faults.add(where, f"the program never reads the input '{name}': remove it")
    if setup is None:
        return
    for statement in setup.tree.body:
        for name in sorted({*_bound_to_a_value(statement)} - read):
            message = f"the program never reads '{spoken(name)}' of setup: remove it"
            faults.add(given["setup"], message)
        for name in sorted({*names_of(statement).deletes} & {*inputs}):
            faults.add(given["setup"], f"setup deletes the input '{name}'")


def _bound_to_a_value(statement: ast.stmt) -> tuple[str, ...]:
    """The names that a statement binds; none where a call may be made for its effect.

    Functions and classes that nothing reads are not refused yet: cases/unconnected/options.yaml
    has one.
    """
    plain = isinstance(statement, ast.Assign) and not isinstance(statement.value, ast.Call)
    return bound_by(statement) if plain else ()


def check_isolation(given: Given, programs: tuple[Program | None, Program], faults: Faults) -> None:
    """A case that changes what other cases of its process would meet says `isolated: true`."""
    if "isolated" in given and given["isolated"].value is True:
        return
    for key, program in zip(("setup", "run"), programs, strict=True):
        for name, part in program.framework.items() if program else ():
            if CHANGES_THE_PROCESS.fullmatch(name):
                message = f"{spoken(name)} changes the process: add isolated: true"
                faults.add(given[key].at(part.lineno, part.col_offset), message)


def check_forms(placed: list[tuple[Node, Expectations]], faults: Faults) -> None:
    """A name counts calls in every mode or in none; `oracle` stands where the modes agree."""
    (_, general), *by_mode = placed
    for node, expectations in by_mode:
        for name, expectation in expectations.items():
            where = faults.mapping(node)[name].name_place
            if isinstance(expectation, ExpectedOracle) or isinstance(
                general.get(name), ExpectedOracle
            ):
                faults.add(where, "oracle is for modes that agree: declare the value of each mode")
            counts = {expects(e[name], ExpectedCalls) for e in (general, expectations) if name in e}
            if len(counts) > 1:
                faults.add(where, f"'{spoken(name)}' is a count of calls in one mode only")


def check_modes(given: Given, faults: Faults) -> None:
    """Some mode applies, and nothing is expected of one that does not."""
    refused = _modes(given, "not_applicable")
    if set(MODES) <= set(refused):
        where = given["not_applicable"].name_place
        faults.add(where, "no mode is left: a case applies in one mode at least")
    for mode, node in _modes(given, "expect_in").items():
        if mode in refused:
            faults.add(node.name_place, f"{mode} is not applicable: nothing is expected there")
        if node.value == {}:
            faults.add(node.name_place, f"nothing is expected in {mode}: remove it")


def _modes(given: Given, key: str) -> dict[str, Node]:
    node = given.get(key)
    return node.value if node is not None and isinstance(node.value, dict) else {}
