"""Each relation holds in the oracle, and is broken by a target that is wrong in its way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from conformance.asking.ask import ORACLE
from conformance.suite.campaign import Campaign
from conformance.suite.causes import Finding
from conformance.suite.relations import RELATIONS
from conformance.suite.rewriting import Program
from conformance.targets.specification import Target, parse_target

TWICE = "tf.nest.map_structure(lambda g: None if g is None else g * 2.0, {})"
TAPE = """
import reference_impl as tf

class GradientTape(tf.GradientTape):
{}

def __getattr__(name):
    return getattr(tf, name)
"""
GRADIENT = """
    def gradient(self, target, sources, output_gradients=None, unconnected_gradients="none"):
        told = super().gradient(target, sources, output_gradients, unconnected_gradients)
        return {}
"""
BROKEN = {
    "derivative": TAPE.format(GRADIENT.format(TWICE.format("told"))),
    "persistent": TAPE.format(
        GRADIENT.format(f"{TWICE.format('told')} if self.kept else told")
        + "    def __init__(self, persistent=False, **options):\n"
        "        super().__init__(persistent, **options)\n"
        "        self.kept = persistent\n"
    ),
    "watched_twice": TAPE.format(
        GRADIENT.format(f"{TWICE.format('told')} if self.count > 1 else told") + "    count = 0\n"
        "    def watch(self, tensor):\n"
        "        super().watch(tensor)\n"
        "        self.count += 1\n"
    ),
    "around": TAPE.format(
        GRADIENT.format(f"{TWICE.format('told')} if GradientTape.most > 1 else told")
        + "    depth = most = 0\n"
        "    def __enter__(self):\n"
        "        GradientTape.depth += 1\n"
        "        GradientTape.most = GradientTape.depth\n"
        "        return super().__enter__()\n"
        "    def __exit__(self, *error):\n"
        "        GradientTape.depth -= 1\n"
        "        return super().__exit__(*error)\n"
    ),
    "identity": TAPE.format("    pass\n\nidentity = tf.stop_gradient"),
    "reshaped": TAPE.format(
        "    pass\n\ndef reshape(x, shape):\n    return tf.reshape(x * 2.0, shape)"
    ),
    "stacked": TAPE.format("    pass\n\ndef unstack(x, num):\n    return [x[0], x[1] * 2.0]"),
    "own_identity": TAPE.format(
        "    pass\n\ndef custom_gradient(f):\n    return lambda x: f(x)[0] * 2.0"
    ),
    "recomputed": TAPE.format(
        "    pass\n\ndef recompute_grad(f):\n    return lambda x: tf.stop_gradient(f(x))"
    ),
    "branch": TAPE.format("    pass\n\ndef cond(taken, first, second):\n    return second()"),
    "nothing": TAPE.format(
        "    def gradient(self, target, sources, output_gradients=None):\n"
        "        return super().gradient(target, sources)\n"
    ),
    "reversed": TAPE.format(GRADIENT.format("sorted(told, key=lambda g: g is None)")),
    "beside": TAPE.format(
        "    pass\n\nidle = []\ndef sin(x):\n    idle.append(x)\n"
        "    return tf.sin(x) if len(idle) < 2 else x * 3.0"
    ),
    "asked_before": TAPE.format(
        GRADIENT.format(f"{TWICE.format('told')} if self.asked > 1 else told") + "    asked = 0\n"
    ).replace("        told =", "        self.asked += 1\n        told ="),
    "stopped": TAPE.format("    pass\n\ndef stop_gradient(x):\n    return x * 0.0"),
    "ones": TAPE.format(
        GRADIENT.format(f"told if output_gradients is None else {TWICE.format('told')}")
    ),
    "scaled": TAPE.format(
        "    def gradient(self, target, sources, output_gradients=None):\n"
        "        return super().gradient(target, sources)\n"
    ),
    "listed_twice": TAPE.format(
        "    def gradient(self, target, sources):\n"
        "        target = list({id(t): t for t in tf.nest.flatten(target)}.values())\n"
        "        return super().gradient(target, sources)\n"
    ),
    "sum": TAPE.format(
        "    def gradient(self, target, sources):\n"
        "        return super().gradient(tf.nest.flatten(target)[-1], sources)\n"
    ),
    "nested": TAPE.format(GRADIENT.format("tf.nest.flatten(told)")),
    "zeros": TAPE.format(
        "    def gradient(self, target, sources, unconnected_gradients='none'):\n"
        "        told = super().gradient(target, sources)\n"
        "        if unconnected_gradients == 'none':\n"
        "            return told\n"
        "        return [tf.ones_like(s) if t is None else t for s, t in zip(sources, told)]\n"
    ),
    "jacobian": TAPE.format(
        "    def jacobian(self, target, sources):\n"
        f"        return {TWICE.format('super().jacobian(target, sources)')}\n"
    ),
    "forward": TAPE.format(GRADIENT.format(TWICE.format("told"))),
}
"""For each relation a target that breaks it."""
RUN = """
with tf.GradientTape() as tape:
    tape.watch(x)
    v0 = tf.sin(x)
    v1 = v0 * x
g = tape.gradient({}, [x, y])
"""


def program(target: str = "v1") -> str:
    inputs = {name: {"constant": [0.5, 2.0], "dtype": "float64"} for name in "xy"}
    return Program(inputs, RUN.format(target).strip(), {"v1": "oracle", "g": "oracle"}).entry()


@contextmanager
def campaign(target: Target, *names: str) -> Iterator[Campaign]:
    relations = [relation for relation in RELATIONS if relation.name in names]
    with closing(Campaign([target], relations, 1)) as campaign:
        yield campaign


def broken(folder: Path, name: str) -> Target:
    file = folder / "broken.py"
    file.write_text(BROKEN[name])
    return parse_target(str(file))


def test_every_relation_has_a_target_that_breaks_it() -> None:
    assert BROKEN.keys() == {relation.name for relation in RELATIONS}
    assert all(relation.sentence for relation in RELATIONS)


@pytest.mark.parametrize("name", BROKEN)
def test_a_target_that_breaks_a_relation_is_caught(tmp_path: Path, name: str) -> None:
    entry = program("[v0, v1]" if name == "sum" else "v1")
    with campaign(broken(tmp_path, name), name) as asking:
        found: list[Finding] = asking.examine(entry)
    assert name in [finding.check.name for finding in found]


def test_the_oracle_upholds_each_relation() -> None:
    with campaign(ORACLE, *BROKEN) as asking:
        for relation in RELATIONS:
            asking.relations = [relation]
            entry = program("[v0, v1]" if relation.name == "sum" else "v1")
            assert relation.rewrite(Program.of(entry))
            assert asking.examine(entry) == []


def test_slices_are_no_reason_for_an_alarm() -> None:
    run = (
        "with tf.GradientTape() as tape:\n    v0 = tf.gather(x, [0, 0])\ng = tape.gradient(v0, [x])"
    )
    inputs = {"x": {"variable": [1.0, 2.0], "dtype": "float64"}}
    entry = Program(inputs, run, {"v0": "oracle", "g": "oracle"}).entry()
    with campaign(ORACLE, *BROKEN) as asking:
        for relation in RELATIONS:
            asking.relations = [relation]
            assert asking.examine(entry) == []


@pytest.mark.parametrize(("x", "answer"), [([1.0, 2.0], ""), ([0.5, 0.5], ""), ([0.0, 0.5], "g")])
def test_what_is_beside_a_kink_is_set_aside(tmp_path: Path, x: list[float], answer: str) -> None:
    """Ties that move are ties no more; what zeros have is a convention that targets share."""
    file = tmp_path / "ties.py"
    file.write_text(TAPE.format("    pass\n\ndef maximum(x, y):\n    return -tf.minimum(-y, -x)"))
    inputs = {
        "x": {"constant": x, "dtype": "float64"},
        "y": {"constant": [x[0], 0.25], "dtype": "float64"},
    }
    run = (
        "with tf.GradientTape() as tape:\n    tape.watch([x, y])\n    v0 = tf.maximum(x, y)\n"
        "g = tape.gradient(v0, [x, y])"
    )
    entry = Program(inputs, run, {"v0": "oracle", "g": "oracle"}).entry()
    with campaign(parse_target(str(file))) as asking:
        found = asking.examine(entry)
        assert [one.mismatches[0].name for one in found] == ([answer] if answer else [])
