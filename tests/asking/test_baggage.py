"""What of a target travels to a node, and is the same folder there."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.asking.ask import ORACLE
from conformance.asking.baggage import FOLDER, baggage_of, unpack
from conformance.targets.specification import Target, TargetError, parse_target


def test_a_folder_is_the_same_where_it_arrives(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for name, text in {"tape/__init__.py": "x = 1\n", "tape/deep/a.py": "# é\r\n"}.items():
        (here / name).parent.mkdir(parents=True)
        (here / name).write_bytes(text.encode())
    (here / "tape" / "__pycache__").mkdir()
    (here / "tape" / "__pycache__" / "a.pyc").touch()
    target = Target("mine", "tape", ("eager",), path=(str(here),))
    baggage = baggage_of(target)
    assert baggage is not None
    assert baggage.name == FOLDER
    unpack(baggage.data, there)
    assert (there / "tape" / "deep" / "a.py").read_bytes() == "# é\r\n".encode()
    assert sorted(path.name for path in there.rglob("*.*")) == ["__init__.py", "a.py"]
    again = baggage_of(replace(target, path=(str(there),)))
    assert again == baggage
    (there / "tape" / "__init__.py").write_text("x = 2\n")
    changed = baggage_of(replace(target, path=(str(there),)))
    assert changed is not None
    assert changed.digest != baggage.digest


@pytest.mark.parametrize("name", ["../out.py", "/out.py", "a/../../out.py"])
def test_a_file_out_of_its_folder_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(TargetError, match="is no file in a folder"):
        unpack(json.dumps({name: ""}).encode(), tmp_path / "there")
    assert not [*tmp_path.rglob("*.py")]


def test_what_is_installed_on_nodes_does_not_travel() -> None:
    assert baggage_of(ORACLE) is None
    assert baggage_of(parse_target("tensorflow")) is None
    assert baggage_of(parse_target("jax")) is None
