"""A released TensorFlow is installed for real, and answers a cell."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.asking.session import Session
from conformance.targets.environments import cached, provisioned
from conformance.targets.interpreters import packages_of
from conformance.targets.specification import Target, parse_target

SOURCE = """x = tf.constant(3.0)


def case(x):
    with tf.GradientTape() as t:
        t.watch(x)
        y = x * x
    g = t.gradient(y, x)
    return {'g': g}
"""

pytestmark = [pytest.mark.slow, pytest.mark.tensorflow]


@pytest.fixture
def target(cache: Path) -> Iterator[Target]:
    """Needs a network and a CPython 3.9 or 3.10; without one it fails and says so."""
    yield provisioned(parse_target("tensorflow==2.8.4"), print)
    shutil.rmtree(cache)


def test_an_old_tensorflow_is_provisioned_and_answers(target: Target) -> None:
    session = Session(target)
    try:
        about = session.start()
        replies = [session.ask(request(mode), 60.0) for mode in target.modes]
    finally:
        session.close()
    assert "2.8.4" in str(about)
    assert [reply["observations"]["g"]["text"] for reply in replies] == ["6.0", "6.0", "6.0"]
    (made,) = cached()
    assert packages_of(made.python)["numpy"].startswith("1.")


def request(mode: str) -> dict[str, object]:
    return {
        "cell": 1,
        "name": "area/topic/name",
        "source": SOURCE,
        "parameters": ["x"],
        "convert": False,
        "mode": mode,
        "observe": ["g"],
        "isolated": False,
    }
