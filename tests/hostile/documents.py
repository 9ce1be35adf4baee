"""Valid documents, the hostile changes that are made to them, and what one may cost."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import sys
import time
from collections.abc import Iterator
from functools import cache
from typing import Any, TypeAlias

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from conformance.asking.ask import ORACLE, ask
from conformance.asking.events import Answered, Event
from conformance.corpus.language.case import Case
from conformance.corpus.language.loader import load_text

Path: TypeAlias = "tuple[str | int, ...]"

TESTS = 10
"""Of records, lists of departures, case files, caches and replies: two of each."""
INPUTS = int(os.environ.get("GRADCONF_HOSTILE_INPUTS", "800"))
"""Hostile inputs of all kinds together."""
UNHURRIED = settings(
    deadline=None,
    max_examples=INPUTS // TESTS,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
TEXT = "\x1b[31m\x9b0m\x00\r\n\u202e]]></failure><script>&amp;`````</details>|\ud800::error::x"
HOSTILE = (
    *(None, True, False, 0, -1, 2**31, 2**64, 10**400, 1e308, 0.5),
    *(float("nan"), float("inf"), "", "nan", "1e999", "9" * 400, "../../../../tmp/escaped"),
    *(TEXT, "x" * 5_000, "!!python/object/apply:os.system [id]", "${x}", "__class__", "reference"),
    *(
        [],
        {},
        [None],
        [[]],
        {"": None},
        {"kind": "none"},
        {"kind": []},
        [10**9, 10**9],
        [-1],
        [2.0],
    ),
)


MOST_SECONDS = 10.0
MOST_MEMORY = 2**30


@contextlib.contextmanager
def bounded() -> Iterator[None]:
    """What one input may cost: seconds of work, and bytes of memory more than there were."""
    started, bounds = time.process_time(), resource.getrlimit(resource.RLIMIT_DATA)
    if sys.platform.startswith("linux"):
        with open("/proc/self/statm") as file:
            pages = int(file.read().split()[5])
        most = pages * resource.getpagesize() + MOST_MEMORY
        resource.setrlimit(resource.RLIMIT_DATA, (most, bounds[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, bounds)
    assert time.process_time() - started < MOST_SECONDS


def deep(levels: int, *, key: str = "items") -> Any:
    """A structure nested this deeply, as a worker or a record may have it."""
    value: Any = {"kind": "list", key: []}
    for _ in range(levels):
        value = {"kind": "list", key: [value]}
    return value


hostile = st.one_of(
    st.sampled_from(HOSTILE),
    st.sampled_from([30, 150, 300]).map(deep),
    st.integers(),
    st.floats(),
    st.text(max_size=6),
)


def places(document: Any) -> list[Path]:
    """The path of every value of a JSON document."""
    found: list[tuple[Path, Any]] = [((), document)]
    for path, value in found:
        inside = value.items() if isinstance(value, dict) else ()
        inside = enumerate(value) if isinstance(value, list) else inside
        found += [((*path, key), child) for key, child in inside]
    return [path for path, _ in found]


def depth_of(document: Any) -> int:
    """How deeply a document is nested: 0 for a scalar, 1 for `[1]` and for `[]`."""
    containers, depth = [document], 0
    while containers := [c for c in containers if isinstance(c, (dict, list))]:
        depth += 1
        containers = [i for c in containers for i in (c.values() if isinstance(c, dict) else c)]
    return depth


def copied(document: Any) -> Any:
    """The document anew; copy's deepcopy goes less deep than JSON does."""
    return json.loads(json.dumps(document))


@st.composite
def changed(draw: st.DrawFn, document: Any, most: int = 3) -> Any:
    """The document with a few values replaced, removed, doubled, wrapped or moved."""
    root = {"": copied(document)}
    for _ in range(draw(st.integers(1, most))):
        *above, last = draw(st.sampled_from([path for path in places(root) if path]))
        parent = root
        for key in above:
            parent = parent[key]
        how = draw(st.sampled_from(["replace", "remove", "double", "wrap", "move"]))
        if how == "remove" and above:
            del parent[last]
        elif how == "double" and isinstance(parent, list):
            parent.insert(last, copied(parent[last]))
        elif how == "wrap":
            parent[last] = draw(st.sampled_from([[parent[last]], {"items": parent[last]}]))
        elif how == "move":
            other = draw(st.sampled_from([path for path in places(root) if path]))
            moved: Any = root
            for key in other:
                moved = moved[key]
            parent[last] = copied(moved)
        else:
            parent[last] = copied(draw(hostile))
    return root[""]


@st.composite
def spoiled(draw: st.DrawFn, data: bytes) -> bytes:
    """The bytes with a few of them changed, or a stretch doubled, removed or put elsewhere."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.sampled_from([0, 1, 2, 40, len(data)])))
        other = draw(st.integers(0, len(data)))
        part = data[start:end]
        new = draw(
            st.binary(max_size=4)
            | st.sampled_from([b"", part * 2, data[other : other + len(part)], b"[" * 500, b"\n"])
        )
        data = data[:start] + new + data[end:]
    return data


CORPUS = """
introduction: Every kind of observation that the oracle gives.
cases:
  tensors:
    title: A tensor, none and a structure
    source: contract/s1
    inputs: {x: [1.0, 3.0], v: {variable: [2.0, 2.0]}, other: 5.0}
    run: |
      with tf.GradientTape(persistent=True) as t:
          t.watch([x, other])
          y = x * x * v
      watched = t.watched_variables()
      g = t.gradient(y, x)
      named = t.gradient(y, {"x": x, "v": [v, other]})
    expect:
      g: [4.0, 12.0]
      named: {dict: {x: oracle, v: {list: [[1.0, 9.0], null]}}}
      watched: {watched: [v]}
    not_applicable: {xla: a reason}
  slices:
    title: The gradient of a gather is slices
    source: contract/s1
    inputs: {table: {variable: [[1.0], [2.0]]}}
    run: |
      with tf.GradientTape() as t:
          y = tf.gather(table, [1, 1])
      g = t.gradient(y, table)
    expect: {g: {indexed_slices: {indices: [1, 1], values: [[1.0], [1.0]], dense_shape: [2, 1]}}}
  errors:
    title: An ordinary tape answers once
    source: contract/s1
    inputs: {x: {constant: 3.0, dtype: float64}}
    run: |
      with tf.GradientTape() as t:
          t.watch(x)
          y = x * x
      first = t.gradient(y, x)
      second = t.gradient(y, x)
    expect: {first: 6.0, second: {error: RuntimeError, message: non-persistent}}
  scalars:
    title: Strings, complex numbers, Python values, calls
    source: contract/s1
    inputs: {s: {constant: [a, b], dtype: string}, z: {constant: 1+2j, dtype: complex64}}
    run: |
      def f(x):
          return x * x
      w = f(z)
      kept = tf.identity(s)
      shape = w.shape
      name = w.dtype.name
    expect:
      f: {calls: 1}
      w: -3+4j
      kept: {value: [a, b], dtype: string}
      shape: {tuple: []}
      name: {python: complex64}
"""


@cache
def cases() -> tuple[Case, ...]:
    """Cases whose answers have every kind of observation that the oracle gives."""
    return tuple(load_text(CORPUS, "hostile/answers"))


@cache
def oracle_events() -> tuple[Event, ...]:
    """What the oracle says of them."""
    return tuple(ask(cases(), [ORACLE]))


def answers() -> list[Answered]:
    """Those events that are answers."""
    return [event for event in oracle_events() if isinstance(event, Answered)]
