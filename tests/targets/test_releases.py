"""What each TensorFlow release is said to need."""

from __future__ import annotations

import platform
import sys

import pytest
import yaml

from conformance.targets.releases import OTHERS, distribution, release, version_key
from conformance.targets.specification import ADAPTED, TargetError

SEEN = (
    ("2.5.3", "3.9"),
    ("2.6.5", "3.9"),
    ("2.8.4", "3.9 3.10"),
    ("2.10.1", "3.9 3.10"),
    ("2.11.1", "3.9 3.10"),
    ("2.12.1", "3.9 3.10 3.11"),
    ("2.15.1", "3.9 3.10 3.11"),
    ("2.16.2", "3.9 3.10 3.11 3.12"),
    ("2.19.1", "3.9 3.10 3.11 3.12"),
    ("2.20.0", "3.9 3.10 3.11 3.12 3.13"),
    ("2.21.0", "3.10 3.11 3.12 3.13"),
    ("2.22.0rc0", "3.10 3.11 3.12 3.13"),
)


@pytest.mark.parametrize(("version", "pythons"), SEEN)
def test_a_release_fits_the_pythons_that_have_its_wheel(version: str, pythons: str) -> None:
    assert release(version).pythons == tuple(pythons.split())


@pytest.mark.parametrize("version", ["2.7.0", "2.8.4", "2.10.1", "2.11.1", "2.14.0"])
def test_releases_compiled_for_numpy_1_are_held_there(version: str) -> None:
    assert "numpy<2" in release(version).pins


@pytest.mark.parametrize("version", ["2.5.0", "2.6.0", "2.8.0", "2.9.3"])
def test_releases_from_before_protobuf_4_are_held_there(version: str) -> None:
    assert "protobuf<3.21" in release(version).pins


@pytest.mark.parametrize("version", ["2.16.1", "2.21.0", "2.22.0rc0"])
def test_newer_releases_need_no_pins(version: str) -> None:
    assert release(version).pins == ()


@pytest.mark.parametrize("version", ["2.23.1", "2.99.0", "3.0.0"])
def test_a_release_newer_than_the_table_needs_what_the_newest_does(version: str) -> None:
    assert release(version).pythons == release("2.21.0").pythons
    assert release(version).requirements == (f"{distribution()}=={version}",)


@pytest.mark.parametrize("version", ["2.4.4", "2.0.0", "1.15.5", "0.0.0"])
def test_a_release_older_than_the_table_is_refused(version: str) -> None:
    with pytest.raises(TargetError, match=r"too old: 2\.5\.0 is the first"):
        release(version)


def test_a_release_candidate_follows_the_rule_of_its_release() -> None:
    assert release("2.8.0rc1").pythons == release("2.8.0").pythons
    assert release("2.22.0rc0").requirements == (f"{distribution()}==2.22.0rc0",)


@pytest.mark.parametrize(
    ("system", "machine", "name"),
    [
        ("linux", "x86_64", "tensorflow-cpu"),
        ("linux", "aarch64", "tensorflow"),
        ("darwin", "arm64", "tensorflow"),
        ("darwin", "x86_64", "tensorflow"),
    ],
)
def test_the_small_distribution_is_taken_where_it_is_published(
    system: str, machine: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert release("2.21.0").requirements == (f"{name}==2.21.0",)


@pytest.mark.parametrize("name", ADAPTED)
def test_every_adapted_framework_has_rules_of_the_same_form(name: str) -> None:
    rules = yaml.safe_load(OTHERS.read_text(encoding="utf-8"))[name]
    listed = [version for rule in rules for version in rule["releases"]]
    assert listed == sorted(set(listed), key=version_key)
    found = release(listed[-1], name)
    assert found.requirements == (f"{name}=={listed[-1]}", *rules[-1].get("pins", ()))
    assert (str(found), found.size) == (f"{name} {listed[-1]}", rules[-1]["size"])
    with pytest.raises(TargetError, match=f"{name} 0.0.1 is too old"):
        release("0.0.1", name)
