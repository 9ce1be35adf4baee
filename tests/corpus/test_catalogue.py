"""The catalogue: what its reader refuses, what the language admits, and that its calls run."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.answers.answer import NoneValue, Slices, Tensor
from conformance.answers.wire import answer_of_reply
from conformance.asking.session import Session
from conformance.corpus import catalogue
from conformance.corpus.catalogue import Operation, OperationInput, Variant, load_catalogue
from conformance.corpus.language.document import CaseFileError
from conformance.corpus.language.literals import COMPLEXES, FLOATS
from conformance.corpus.language.loader import load_text
from conformance.corpus.language.lowering import lower
from conformance.files import data_folder
from conformance.targets.specification import parse_target
from tests.cases import whole_catalogue, whole_corpus

OPERATIONS = whole_catalogue()
FILES = sorted(catalogue.FOLDER.glob("*.yaml"))

# ----- the reader -----

ENTRY = """\
introduction: An entry that says everything.
operations:
  atan2:
    call: tf.math.atan2(y, x, name={name})
    types: [Atan2]
    inputs:
      y: {domain: [[-2, -0.5], [0.5, 2]], shape: [2, 3], complex: [0.3, 1.4]}
      x: {domain: [0.4, 2], shape: [2, 3], plus: 1, dtype: float32, connected: false}
    dtypes: [floats, complex64]
    attributes: {name: null}
    variants:
      plain: {}
      wide: {name: "'a'", inputs: {x: {shape: [3]}}, value: scipy.special.psi(x)}
    kinks: [{y: 0, x: 0}, x is beside y]
    second: zero
    surrogate: straight-through
    apart: 0.02
    since: '2.1'
    until: '2.9'
    k: 20
    features: [sparse]
    spellings: {jax: 'jnp.arctan2(y, x)'}
    value: np.arctan2(y, x)
    points:
      pole: {at: {y: [0], x: [-0.0]}, why: none}
      right:
        at: {y: [0.0, .nan], x: [.inf]}
        call: tf.math.atan2(y, x)
        value: np.arctan2(y, 1)
        gradient: {y: w / x}
        why: a limit
"""


def read(text: str, folder: Path) -> dict[str, Operation]:
    (folder / "binary.yaml").write_text(text, encoding="utf-8")
    return load_catalogue(folder)


def told(variant: Variant) -> tuple[Any, ...]:
    """What a variant says beside its name."""
    return variant.call, variant.inputs, variant.value


def test_an_entry_is_read_whole(tmp_path: Path) -> None:
    (operation,) = read(ENTRY, tmp_path).values()
    assert (operation.name, operation.family, operation.place.line) == ("atan2", "binary", 3)
    assert operation.types == ("Atan2",)
    assert operation.dtypes == (*FLOATS, "complex64")
    plain, wide = operation.variants
    assert plain.call == "tf.math.atan2(y, x, name=None)"
    assert wide.call == "tf.math.atan2(y, x, name='a')"
    assert (plain.value, wide.value) == ("np.arctan2(y, x)", "scipy.special.psi(x)")
    y = OperationInput("y", ((-2.0, -0.5), (0.5, 2.0)), (2, 3), ((0.3, 1.4),))
    x = OperationInput("x", ((0.4, 2.0),), (2, 3), (), 1.0, "float32", False)
    assert plain.inputs == (y, x)
    assert [given.shape for given in wide.inputs] == [(2, 3), (3,)]
    assert operation.edges == {"kinks": ({"y": 0.0, "x": 0.0}, "x is beside y")}
    assert (operation.second, operation.surrogate) == ("zero", "straight-through")
    assert (operation.apart, operation.k) == (0.02, 20.0)
    assert (operation.since, operation.until) == ("2.1", "2.9")
    assert (operation.features, operation.spellings) == (("sparse",), {"jax": "jnp.arctan2(y, x)"})
    pole, right = operation.points
    assert (pole.variant, pole.gradient) == (Variant("pole", *told(plain)), None)
    assert (right.at["x"], right.dtype, right.why) == ((math.inf,), "float64", "a limit")
    assert right.variant == Variant("right", "tf.math.atan2(y, x)", (y, x), "np.arctan2(y, 1)")
    assert right.gradient == {"y": "w / x"}  # x is not connected


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("introduction:", "intro:", "1:1: unknown key 'intro' (known: introduction, operations)"),
        ("  atan2:", "  Atan2:", "3:3: 'Atan2': a name here is lower-case"),
        ("call:", "cal:", "4:5: unknown key 'cal' (did you mean call?)"),
        ("types: [Atan2]", "types: Atan2", "5:12: expected a list, got text"),
        ("[0.4, 2]", "[2, 0.4]", "8:19: expected intervals [low, high] that rise, got [2.0, 0.4]"),
        ("[[-2, -0.5], [0.5, 2]]", "[[-2, 1], [0.5, 2]]", "7:19: expected intervals"),
        ("[0.4, 2]", "[0.4, two]", "8:25: expected a number, got text"),
        ("shape: [2, 3], plus", "shape: [2, x], plus", "8:40: a size is an integer"),
        ("plus: 1", "plus: one", "8:50: 'one' is no float64"),
        ("dtype: float32", "dtype: float33", "no dtype named 'float33' (did you mean float32"),
        ("connected: false", "connected: 0", "expected true or false, got an integer"),
        ("connected:", "conected:", "unknown key 'conected' (did you mean connected?)"),
        ("[floats,", "[float,", "no dtype named 'float' (did you mean float"),
        ("attributes: {name: null}", "attributes: {}", "4:11: no attribute fills {name}"),
        ("name={name}", "name=None", "10:24: the call has no {name}"),
        ("      wide: {name", "      wide: {nam", "13:14: unknown key 'nam' (did you mean name?)"),
        ("inputs: {x: {shape", "inputs: {z: {shape", "13:36: unknown key 'z' (known: x, y)"),
        ("atan2(y, x,", "atan2(z, x,", "4:11: 'z' is no input (known: x, y)"),
        ("atan2(y, x,", "atan2(x, x,", "4:5: no call reads the input 'y'"),
        ("atan2(y, x,", "atan2(y x,", "4:11: not an expression: "),
        ("{y: 0, x: 0}", "{y: 0, w: 0}", "14:20: unknown key 'w' (known: x, y)"),
        ("second: zero", "second: zeros", "15:13: 'zeros' is not known here (did you mean zero?)"),
        ("apart: 0.02", "apart: far", "17:12: expected a number, got text"),
        ("k: 20", "k: many", "20:8: expected a number, got text"),
        ("[sparse]", "[spare]", "21:16: 'spare' is not known here (did you mean sparse?)"),
        ("{jax:", "{jacks:", "22:17: unknown key 'jacks' (known: autograd, jax,"),
        ("value: np.arc", "value: tf.arc", "23:12: 'tf' is no input (known: x, y)"),
        ("value: np.arctan2(y, x)", "value: '{nam}'", "23:12: no attribute fills {nam}"),
        ("psi(x)", "psi x", "13:61: not an expression: "),
        ("      right:", "      Right:", "26:7: 'Right': a name here is lower-case"),
        ("{at: {y: [0], x: [-0.0]}, why", "{at: {y: [0]}, why", "25:14: missing x"),
        (", why: none", "", "25:7: missing why"),
        ("why: a limit", "whi: a limit", "31:9: unknown key 'whi' (did you mean why?)"),
        (".nan], x: [.inf]", "one], x: [.inf]", "27:23: 'one' is no float64"),
        ("{y: w / x}", "{x: w / x}", "30:20: unknown key 'x' (known: y)"),
        ("{y: w / x}", "{y: v / x}", "30:23: 'v' is no input (known: x, y)"),
        ("np.arctan2(y, 1)", "tf.atan2(y, 1)", "29:16: 'tf' is no input (known: x, y)"),
        ("call: tf.math.atan2(y, x)\n        v", "call: z\n        v", "28:15: 'z' is no input"),
    ],
)
def test_a_wrong_entry_is_refused(tmp_path: Path, old: str, new: str, fault: str) -> None:
    assert old in ENTRY
    with pytest.raises(CaseFileError) as refused:
        read(ENTRY.replace(old, new, 1), tmp_path)
    place, message = re.fullmatch(r"(\d+:\d+)?(?:: )?(.*)", fault).groups()  # type: ignore[union-attr]
    told = [(str(found.place), found.message) for found in refused.value.faults]
    assert any(f":{place or ''}" in where and message in what for where, what in told), told
    if docs_would_refuse(old):
        assert schema_faults(yaml.safe_load(ENTRY.replace(old, new, 1)))


def test_a_declared_gradient_needs_a_value(tmp_path: Path) -> None:
    text = ENTRY.replace("        value: np.arctan2(y, 1)\n", "")
    assert read(text, tmp_path)["atan2"].points[1].variant.value == "np.arctan2(y, x)"
    with pytest.raises(CaseFileError, match=r"25:7 .*: missing value: a gradient is declared"):
        read(text.replace("    value: np.arctan2(y, x)\n", ""), tmp_path)


def test_a_name_stands_once(tmp_path: Path) -> None:
    (tmp_path / "unary.yaml").write_text(ENTRY, encoding="utf-8")
    with pytest.raises(CaseFileError, match=r"unary.yaml:3:3 .*: a second operation named"):
        read(ENTRY, tmp_path)


# ----- the schema for editors -----

BEYOND_A_SCHEMA = (
    *("[0.4, 2]", "[[-2, -0.5], [0.5, 2]]", "plus: 1", "attributes: {name: null}", "name={name}"),
    *("      wide: {name", "inputs: {x: {shape", "atan2(y, x,", "{y: 0, x: 0}", "[sparse]"),
    *("value: np.arc", "value: np.arctan2(y, x)", "psi(x)", "{at: {y: [0], x: [-0.0]}, why"),
    *("{y: w / x}", "np.arctan2(y, 1)", "call: tf.math.atan2(y, x)\n        v", ".nan], x: [.inf]"),
)
"""What the faults of the entry are about that only the reader sees."""


def docs_would_refuse(old: str) -> bool:
    return old not in BEYOND_A_SCHEMA


@cache
def schema() -> dict[str, Any]:
    text = (data_folder("docs") / "schemas" / "operation.json").read_text("utf-8")
    return dict(json.loads(text))


def schema_faults(content: Any) -> list[str]:
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(schema())
    return [error.message for error in validator.iter_errors(content)]


def test_the_schema_has_the_keys_of_the_reader() -> None:
    defined = schema()["$defs"]
    assert {*defined["operation"]["properties"]} == {
        *catalogue.FACTS,
        *catalogue.EDGES,
        "inputs",
        "value",
        "attributes",
        "variants",
        "points",
    }
    assert {*defined["operation"]["required"]} == {*catalogue.REQUIRED_KEYS}
    assert {*defined["input"]["properties"]} == {*catalogue.INPUT_FACTS}
    assert tuple(defined["dtype"]["enum"]) == (*FLOATS, *COMPLEXES)
    assert tuple(defined["operation"]["properties"]["second"]["enum"]) == catalogue.SECOND
    spellings = defined["operation"]["properties"]["spellings"]["properties"]
    assert tuple(spellings) == catalogue.FRAMEWORKS


@pytest.mark.parametrize("content", [ENTRY, *FILES], ids=lambda given: getattr(given, "stem", ""))
def test_what_is_read_conforms_to_the_schema(content: str | Path) -> None:
    text = content if isinstance(content, str) else content.read_text("utf-8")
    assert schema_faults(yaml.safe_load(text)) == []


# ----- each call as a program of the case language -----


def program_of(variant: Variant, values: dict[str, Any], dtype: str) -> str:
    """A case that asks the gradient of a call with respect to each of its inputs."""
    given = {
        item.name: {
            "variable" if item.variable else "constant": values[item.name],
            "dtype": item.dtype or dtype,
        }
        for item in variant.inputs
    }
    names = ", ".join(given)
    run = [f"with tf.GradientTape(persistent=True) as tape:\n    tape.watch([{names}])"]
    run += [f"    result = {variant.call}"]
    run += [f"of_{name} = tape.gradient(result, {name})" for name in given]
    case = {
        "title": "A call of the catalogue",
        "source": "api/GradientTape",
        "inputs": given,
        "run": "\n".join(run) + "\n",
        "expect": {f"of_{name}": "oracle" for name in given},
    }
    return yaml.safe_dump({"introduction": "a", "cases": {"one": case}})


def lowest(item: OperationInput) -> Any:
    """A value of an input: the lowest of its domain everywhere."""
    return np.full(item.shape, item.domain[0][0]).tolist()


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=lambda given: given.name)
def test_the_language_admits_each_call(operation: Operation) -> None:
    for variant in operation.variants:
        values = {item.name: lowest(item) for item in variant.inputs}
        text = program_of(variant, values, "float32")
        assert len(load_text(text)) == 1


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=lambda given: given.name)
def test_no_edge_lies_inside_a_domain(operation: Operation) -> None:
    """A point that is declared by hand is not among those where the derivative is asked."""
    for variant in operation.variants:
        inside = {item.name: item.domain for item in variant.inputs}
        for edge in (edge for edges in operation.edges.values() for edge in edges):
            if isinstance(edge, dict) and {*edge} <= {*inside}:
                assert not all(
                    any(low <= value <= high for low, high in inside[name])
                    for name, value in edge.items()
                ), edge


EVERYWHERE = ("unary", "binary", "reductions", "matrix_products")
"""The families of which each operation has edge points, smooth or not."""


def test_each_operation_has_edge_points() -> None:
    operations = [one for one in OPERATIONS.values() if one.family in EVERYWHERE]
    assert [one.name for one in operations if not one.points] == []


@pytest.mark.parametrize("family", catalogue.families())
def test_few_rows_are_surveyed(family: str) -> None:
    """One in ten of the rows of the tables, at most."""
    rows = [case for case in whole_corpus() if case.id.startswith(f"operations/{family}/")]
    operations = [one for one in OPERATIONS.values() if one.family == family]
    surveyed = [at for one in operations for at in one.points if at.gradient is None]
    assert len(surveyed) * 10 <= len(rows)


# ----- each call on TensorFlow -----


def some_at_once() -> list[Any]:
    """Every operation; all but each eighth are among the slow tests."""
    slow = [() if number % 8 == 0 else pytest.mark.slow for number in range(len(OPERATIONS))]
    return [
        pytest.param(one, marks=mark) for one, mark in zip(OPERATIONS.values(), slow, strict=True)
    ]


@pytest.fixture(scope="module")
def tensorflow() -> Iterator[Session]:
    session = Session(parse_target("tensorflow"))
    session.start()
    yield session
    session.close()


Draw = Callable[[st.SearchStrategy[Any]], Any]


def drawn(draw: Draw, variant: Variant, dtype: str, apart: float) -> dict[str, Any]:
    """Values of the inputs within their domains, no two elements nearer than `apart`."""
    taken: list[float] = []

    def reals(domain: catalogue.Intervals, count: int) -> list[float]:
        if not apart:
            anywhere = st.one_of([st.floats(low, high) for low, high in domain])
            return draw(st.lists(anywhere, min_size=count, max_size=count))
        points = [float(p) for low, high in domain for p in np.arange(low, high, apart * 1.5)]
        free = [point for point in points if all(abs(point - t) >= apart for t in taken)]
        chosen = draw(st.permutations(free))[:count]
        taken.extend(chosen)
        return list(chosen)

    values = {}
    for item in variant.inputs:
        count = int(np.prod(item.shape))
        if (item.dtype or dtype) in COMPLEXES:
            parts = reals(item.domain_of(dtype), count), reals(item.domain_of(dtype), count)
            numbers = np.array(parts[0]) + 1j * np.array(parts[1])
        else:
            numbers = np.array(reals(item.domain, count))
        shaped = numbers.reshape(item.shape) + np.array(item.plus)
        values[item.name] = nested(shaped.tolist())
    return values


def nested(value: Any) -> Any:
    """Numbers as a case file writes them."""
    if isinstance(value, list):
        return [nested(item) for item in value]
    return f"{value.real!r}{value.imag:+}j" if isinstance(value, complex) else value


def elements(value: Any) -> np.ndarray[Any, Any]:
    tensor = value.values if isinstance(value, Slices) else value
    assert isinstance(tensor, Tensor), value
    return tensor.array


@pytest.mark.tensorflow
@pytest.mark.parametrize("operation", some_at_once(), ids=lambda given: given.name)
@settings(max_examples=2)
@given(data=st.data())
def test_the_gradient_is_finite_inside_the_domain(
    tensorflow: Session, operation: Operation, data: st.DataObject
) -> None:
    for variant in operation.variants:
        dtype = data.draw(st.sampled_from(operation.dtypes))
        values = drawn(data.draw, variant, dtype, operation.apart)
        (case,) = load_text(program_of(variant, values, dtype))
        lowered = lower(case, "eager")
        request = {
            **{"cell": 1, "name": case.id, "source": lowered.source, "isolated": False},
            **{"parameters": lowered.parameters, "convert": lowered.convert, "mode": "eager"},
        }
        reply = tensorflow.ask({**request, "observe": lowered.observed}, 60.0)
        answer = answer_of_reply(reply, lowered, "eager")
        assert answer.outcome == "answered", answer.detail
        assert answer.error is None, answer.error
        for item in variant.inputs:
            found = answer.observations[f"of_{item.name}"]
            if not item.connected:
                assert isinstance(found, NoneValue), variant.name
            else:
                assert np.isfinite(elements(found)).all(), (variant.name, item.name, values)


# ----- TensorFlow's registry -----

LOOKED_UP = """
import json, sys
import numpy as np, tensorflow as tf
from tensorflow.python.framework import ops

registry = ops.gradient_registry
rules = sorted(name for name, entry in registry._registry.items() if entry["type"] is not None)
found, lookup = set(), type(registry).lookup

def noted(self, name):
    found.add(name if isinstance(name, str) else name.decode())
    return lookup(self, name)

type(registry).lookup = noted
used = {}
for name, calls in json.loads(CALLS):
    found.clear()
    for call, inputs in calls:
        given = {}
        for key, (value, dtype, variable) in inputs.items():
            x = tf.constant(value, dtype)
            x = x + tf.constant(1j, x.dtype) * x if x.dtype.is_complex else x
            given[key] = tf.Variable(x) if variable else x
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(list(given.values()))
            with tf.GradientTape() as tape:
                tape.watch(list(given.values()))
                called = eval(call, {**globals(), **given})
                results = [tf.square(y) for y in tf.nest.flatten(called)]
            firsts = tape.gradient(results, list(given.values()))
            firsts = [tf.convert_to_tensor(g) for g in firsts if g is not None]
        try:
            outer.gradient(firsts, list(given.values()))
        except Exception:  # where there is no second derivative
            pass
    used[name] = sorted(found)
print(json.dumps([rules, used]))
"""


def middle(item: OperationInput, dtype: str) -> tuple[Any, str, bool]:
    """A value of an input inside its domain, its dtype, and whether it is a variable."""
    low, high = item.domain_of(item.dtype or dtype)[-1]
    count = int(np.prod(item.shape))
    steps = (np.arange(count) * 0.618 + 0.1 + sum(map(ord, item.name)) * 0.13) % 1.0
    value = (low + (high - low) * steps).reshape(item.shape) + np.array(item.plus)
    return value.tolist(), item.dtype or dtype, item.variable


def probed(operation: Operation) -> set[str]:
    """A real and a complex dtype of an operation, where it has both."""
    first = "float32" if "float32" in operation.dtypes else operation.dtypes[0]
    return {first, operation.dtypes[-1]}


@pytest.fixture(scope="module")
def registry() -> tuple[set[str], dict[str, set[str]]]:
    """TensorFlow's registered rules, and those that the calls of each operation look up."""
    calls = [
        (
            operation.name,
            [
                (variant.call, {item.name: middle(item, dtype) for item in variant.inputs})
                for variant in operation.variants
                for dtype in probed(operation)
            ],
        )
        for operation in OPERATIONS.values()
    ]
    script = f"CALLS = {json.dumps(calls)!r}\n{LOOKED_UP}"
    done = subprocess.run([sys.executable, "-"], input=script, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    rules, used = json.loads(done.stdout.splitlines()[-1])
    return set(rules), {name: set(types) for name, types in used.items()}


@pytest.mark.slow
@pytest.mark.tensorflow
def test_the_calls_use_the_gradients_that_an_entry_names(
    registry: tuple[set[str], dict[str, set[str]]],
) -> None:
    rules, used = registry
    for name, operation in OPERATIONS.items():
        assert {*operation.types} <= used[name], name
        assert {*operation.types} <= rules, name


@pytest.mark.slow
@pytest.mark.tensorflow
def test_each_registered_gradient_is_used_or_excused(
    registry: tuple[set[str], dict[str, set[str]]],
) -> None:
    rules, _ = registry
    named = {kind for operation in OPERATIONS.values() for kind in operation.types}
    excused: dict[str, list[str]] = yaml.safe_load(
        (catalogue.FOLDER.parent / "unreachable.yaml").read_text("utf-8")
    )["unreachable"]
    words = [kind for kinds in excused.values() for kind in kinds]
    assert len(words) == len({*words})
    assert not named & {*words}
    assert rules - named - {*words} == set()
    assert {*words} <= rules
