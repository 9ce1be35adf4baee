"""Nothing stands in the oracle that no case runs; and it is no longer than it says."""

from __future__ import annotations

import ast
import json
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reference_impl as tf
from conformance.corpus.language.case import Case
from conformance.corpus.language.lowering import lower
from reference_impl.namespaces import TOP
from reference_impl.rules import PRIMITIVES, Primitive
from tests.cases import whole_corpus

ROOT = Path(__file__).parent.parent.parent / "reference_impl"
CORE = "tape trace recording rules query aggregation broadcasting unconnected tensor jacobian"
CORE_LINES, ALL_LINES = 1_200, 6_000
OF_WORKERS = {"random.set_seed", "Tensor"}
"""What a worker itself names: before each case, and in a graph."""


class Reached:
    """The operations that were run and those that were pulled back; the names that were written."""

    def __init__(self) -> None:
        self.found: dict[str, set[str]] = {"run": set(), "pulled back": set(), "written": set()}

    def listen(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for op in PRIMITIVES.values():
            monkeypatch.setattr(op, "forward", self._noting("run", op, op.forward))
            if op.rule is not None:
                monkeypatch.setattr(op, "rule", self._noting("pulled back", op, op.rule))

    def _noting(self, what: str, op: Primitive[Any], function: Any) -> Any:
        def noting(*given: Any, **attributes: Any) -> Any:
            self.found[what].add(op.op_type)
            return function(*given, **attributes)

        return noting

    def run(self, case: Case) -> None:
        lowered = lower(case)
        self.found["written"].update(_names(ast.parse(lowered.source)))
        namespace: dict[str, Any] = {"tf": tf, "np": np, "alive": bool, "__name__": "case"}
        try:
            exec(compile(lowered.source, case.id, "exec"), namespace)
            namespace["case"](*[namespace[name] for name in lowered.parameters])
        except Exception:  # what a case expects, or what the oracle says that it lacks
            pass

    def run_alone(self, case: Case) -> None:
        """Run a case that changes the oracle in a child, and take over what it reached."""
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            self.run(case)
            text = json.dumps({key: sorted(names) for key, names in self.found.items()})
            os.write(writer, text.encode())
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as told:
            for key, names in json.load(told).items():
                self.found[key].update(names)
        os.waitpid(child, 0)


def _names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.insert(0, node.attr)
            node = node.value
        if parts and isinstance(node, ast.Name) and node.id == "tf":
            yield ".".join(parts)


def spellings(names: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for name, value in names.items():
        if type(value).__name__ == "SimpleNamespace":
            yield from spellings(vars(value), f"{prefix}{name}.")
        elif type(value).__name__ == "module":
            continue  # tf.nest and tf.errors are whole modules
        else:
            yield prefix + name


@pytest.fixture(scope="module")
def reached() -> dict[str, set[str]]:
    logging.disable(logging.CRITICAL)
    with pytest.MonkeyPatch.context() as monkeypatch:
        reached = Reached()
        reached.listen(monkeypatch)
        cases = whole_corpus()
        for case in cases:
            reached.run_alone(case) if case.isolated else reached.run(case)
    logging.disable(logging.NOTSET)
    return reached.found


def test_every_operation_is_run_by_a_case(reached: dict[str, set[str]]) -> None:
    assert sorted(PRIMITIVES.keys() - reached["run"]) == []


def test_every_rule_is_pulled_back_by_a_case(reached: dict[str, set[str]]) -> None:
    with_rule = {op_type for op_type, op in PRIMITIVES.items() if op.rule is not None}
    assert sorted(with_rule - reached["pulled back"]) == []


def test_every_spelling_is_written_in_a_case(reached: dict[str, set[str]]) -> None:
    assert sorted(set(spellings(TOP)) - reached["written"] - OF_WORKERS) == []


def test_a_name_that_no_case_writes_is_found() -> None:
    assert list(spellings({"nn": tf.nn, "nest": tf.nest}))[:1] == ["nn.elu"]
    assert set(_names(ast.parse("tf.math.exp(x) + tf.cos(tf.a.b)"))) >= {"math.exp", "cos", "a.b"}


def test_the_oracle_is_an_evenings_reading() -> None:
    lines = {
        path.relative_to(ROOT).as_posix(): len(path.read_text().splitlines())
        for path in ROOT.rglob("*.py")
    }
    assert sum(lines[f"{name}.py"] for name in CORE.split()) <= CORE_LINES
    assert sum(lines.values()) <= ALL_LINES
