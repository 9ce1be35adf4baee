"""docs/schemas: what workers reply and runs record conforms, and a spoilt line does not."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from conformance.answers.answer import Outcome
from conformance.answers.literals import DTYPES
from conformance.asking.session import Session
from conformance.corpus.language.case import DERIVATIVE, MODES
from conformance.corpus.language.lowering import lower
from conformance.targets.specification import parse_target
from tests.cases import whole_corpus
from tests.conftest import Program

jsonschema = pytest.importorskip("jsonschema")
referencing = pytest.importorskip("referencing")

ROOT = Path(__file__).parent.parent
SCHEMAS = {
    name: json.loads((ROOT / "docs/schemas" / name).read_text("utf-8"))
    for name in ("reply.json", "record.json")
}
REGISTRY = referencing.Registry().with_contents(SCHEMAS.items())
BROKEN = ROOT / "tests" / "broken"


def faults_of(schema: str, content: Any) -> list[str]:
    validator = jsonschema.Draft202012Validator(SCHEMAS[schema], registry=REGISTRY)
    found = jsonschema.exceptions.best_match(validator.iter_errors(content))
    return [] if found is None else [f"{found.json_path}: {found.message[:500]}"]


@pytest.mark.parametrize("name", SCHEMAS)
def test_it_is_a_schema(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])


def test_the_lists_of_the_schemas_are_those_of_the_code() -> None:
    reply, record = (SCHEMAS[name]["$defs"] for name in SCHEMAS)
    assert (*reply["dtype"]["enum"], "string") == DTYPES
    assert tuple(record["cell"]["properties"]["outcome"]["enum"]) == get_args(Outcome)
    assert tuple(record["cell"]["properties"]["mode"]["enum"]) == (*MODES, DERIVATIVE)


# ----- replies -----

VALUES = """
def case(x):
    import numpy
    class Foreign: pass
    class Slices: pass
    Slices.__name__ = "IndexedSlices"
    rows = Slices()
    rows.values, rows.indices, rows.dense_shape = x, numpy.array([0]), None
    class SparseTensor: pass
    sparse = SparseTensor()
    sparse.indices, sparse.values, sparse.dense_shape = numpy.array([[0]]), x, numpy.array([3])
    class RaggedTensor: pass
    ragged = RaggedTensor()
    ragged.flat_values, ragged.nested_row_splits = x, [numpy.array([0, 1])]
    nothing, number, words, pair = None, 1.5, numpy.array(["a"]), (1, [x, {"k": x}])
    variable, foreign, raised = tf.Variable(2.0), Foreign(), ValueError("no")
    kind = x.dtype
    return {NAMES}
"""
NAMES = (
    *("x", "rows", "sparse", "ragged", "nothing", "number", "words", "pair", "variable"),
    *("foreign", "raised", "kind"),
)


def request(source: str, **more: Any) -> dict[str, Any]:
    given = {"cell": 1, "name": "a/b/c", "source": source, "parameters": ["x"], "convert": False}
    return {**given, "mode": "eager", "observe": NAMES, "isolated": False, **more}


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    session = Session(parse_target("reference"))
    session.start()
    yield session
    session.close()


@pytest.fixture(scope="module")
def values(session: Session) -> dict[str, Any]:
    """A reply with a value of every kind that a worker can tell."""
    names = "{" + ", ".join(f"{name!r}: {name}" for name in NAMES) + "}"
    source = f"x = tf.constant([1.0])\n{VALUES.replace('{NAMES}', names)}"
    return session.ask(request(source), 60.0)


def test_a_reply_with_every_kind_of_value_conforms(values: dict[str, Any]) -> None:
    told = {values["observations"][name]["kind"] for name in NAMES}
    assert told == {
        *("tensor", "array", "indexed_slices", "sparse", "ragged", "none", "scalar", "tuple"),
        *("variable", "other", "error"),
    }
    assert faults_of("reply.json", values) == []


def test_what_a_worker_says_of_itself_conforms(session: Session) -> None:
    assert faults_of("reply.json", {**session.about, "forks": session.forks}) == []


def test_an_error_that_ends_a_program_conforms(session: Session) -> None:
    reply = session.ask(request("x = tf.constant(1.0)\ndef case(x):\n    x.none\n"), 60.0)
    assert reply["error"]["line"] == 3
    assert faults_of("reply.json", reply) == []


def test_replies_to_the_corpus_conform(session: Session) -> None:
    for number, case in enumerate(whole_corpus()[::4]):
        program = lower(case, "eager")
        asked = {"parameters": program.parameters, "observe": program.observed}
        reply = session.ask(request(program.source, cell=number, name=case.id, **asked), 60.0)
        assert faults_of("reply.json", reply) == [], case.id


Spoil = Callable[[dict[str, Any]], Any]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda reply: reply.pop("warnings"),
        lambda reply: reply.update(more=1),
        lambda reply: reply["observations"]["x"].update(dtype="float33"),
        lambda reply: reply["observations"]["x"].pop("data"),
        lambda reply: reply["observations"]["words"].update(data="YQ=="),
        lambda reply: reply["observations"]["pair"]["items"][1]["items"][0].update(shape=[-1]),
        lambda reply: reply["observations"]["rows"].update(values={"kind": "none"}),
        lambda reply: reply["observations"]["number"].update(type="numpy.float64"),
        lambda reply: reply["observations"]["nothing"].update(kind="nothing"),
        lambda reply: reply.update(error={"kind": "none"}),
    ],
)
def test_a_spoilt_reply_is_refused(values: dict[str, Any], spoil: Spoil) -> None:
    spoilt = copy.deepcopy(values)
    spoil(spoilt)
    assert faults_of("reply.json", spoilt)


# ----- records -----


def test_a_record_that_was_written_conforms(gradconf: Program, tmp_path: Path) -> None:
    targets = ["reference", *(str(BROKEN / name) for name in ("dies.py", "cannot_be_imported.py"))]
    words = ("--area", "recording", "-k", "lifecycle", "--shard", "1/2", "-q")
    gradconf("run", *targets, *words, "--output", "run.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "run.jsonl").read_text().splitlines()]
    kinds = {
        next(key for key in ("record", "about", "failed", "case", "footer") if key in line)
        for line in lines
    }
    assert len(kinds) == 5
    assert {"answered", "crash"} <= {line.get("outcome") for line in lines}
    for line in lines:
        assert faults_of("record.json", line) == [], line
        for key in line:
            assert faults_of("record.json", {**line, key: [None]}), key
        assert faults_of("record.json", {**line, "more": 1})


@pytest.mark.parametrize(
    "path", sorted((ROOT / "reports").glob("*.jsonl.gz")), ids=lambda path: path.stem
)
def test_the_records_of_releases_conform(path: Path) -> None:
    with gzip.open(path, "rt", encoding="utf-8") as record:
        lines = [json.loads(line) for line in record]
    for line in [*lines[:6], *lines[6:-1:40], lines[-1]]:
        assert faults_of("record.json", line) == [], line
