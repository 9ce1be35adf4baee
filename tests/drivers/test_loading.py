"""What a worker says of the target that it loaded: what it was installed from, and with what."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance.asking.session import Session, WorkerError
from conformance.targets.specification import Target


def install(site: Path, name: str, version: str, **files: str) -> None:
    """Put a distribution's metadata into a folder, as an installer does."""
    folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir()
    content = {"METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", **files}
    for file, text in content.items():
        (folder / file.replace("_txt", ".txt")).write_text(text, encoding="utf-8")


def about(site: Path, module: str = "framework") -> dict[str, Any]:
    session = Session(Target("framework", module, ("eager",), path=(str(site),)))
    try:
        return dict(session.start())
    finally:
        session.close()


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder with a framework of one package and one module."""
    (tmp_path / "framework").mkdir()
    (tmp_path / "framework" / "__init__.py").touch()
    (tmp_path / "framework" / "core.py").touch()
    install(tmp_path, "another", "3.0", top_level_txt="another\n", RECORD="framework/x.py,,\n")
    return tmp_path


@pytest.mark.parametrize(
    "files",
    [
        {"top_level_txt": "framework\nframework_extra\n"},
        {"RECORD": "a.py,,\nframework/__init__.py,,\n"},
        {"RECORD": "framework/__init__.py,,\n"},
    ],
)
@pytest.mark.parametrize("module", ["framework", "framework.core"])
def test_a_framework_is_found_in_the_distribution_that_lists_it(
    site: Path, files: dict[str, str], module: str
) -> None:
    install(site, "Frame_Work-cpu", "1.2", **files)
    assert about(site, module)["distribution"] == "frame-work-cpu"


@pytest.mark.parametrize(("declared", "told"), [("True", True), ("False", False), (None, False)])
def test_a_target_says_whether_its_tensors_are_numpy_arrays(
    site: Path, declared: str | None, told: bool
) -> None:
    if declared:
        (site / "framework" / "core.py").write_text(f"GRADCONF_NUMPY_TENSORS = {declared}")
    assert about(site, "framework.core")["numpy_tensors"] is told


def test_a_declaration_that_is_neither_true_nor_false_is_told(site: Path) -> None:
    (site / "framework" / "core.py").write_text("GRADCONF_NUMPY_TENSORS = 'ndarray'")
    with pytest.raises(WorkerError, match="GRADCONF_NUMPY_TENSORS is neither True nor False"):
        about(site, "framework.core")


@pytest.mark.parametrize("files", [{}, {"RECORD": "other/framework/x.py,,\n"}])
def test_a_framework_that_none_lists_has_no_distribution(site: Path, files: dict[str, str]) -> None:
    install(site, "framework", "1.2", **files)
    assert about(site)["distribution"] == ""


def test_a_distribution_of_which_a_part_is_left_costs_nothing(site: Path) -> None:
    install(site, "framework", "1.2", top_level_txt="framework\n")
    for name in ("broken", "worse"):
        (site / f"{name}-1.0.dist-info").mkdir()
    (site / "broken-1.0.dist-info" / "top_level.txt").write_bytes(b"\xff\xfe\n")
    assert about(site)["distribution"] == "framework"


def test_a_file_of_a_users_own_has_no_distribution(tmp_path: Path) -> None:
    (tmp_path / "tape.py").touch()
    assert about(tmp_path, str(tmp_path / "tape.py"))["distribution"] == ""


@pytest.mark.parametrize("name", ["keras-nightly", "tf-keras", "tf-nightly"])
def test_the_companions_of_tensorflow_are_recorded(site: Path, name: str) -> None:
    install(site, name, "3.16.0.dev2026")
    assert about(site)["packages"][name] == "3.16.0.dev2026"


def test_lacks_that_are_a_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "textual.py").write_text("GRADCONF_LACKS = 'nn'\n")
    with pytest.raises(WorkerError, match="GRADCONF_LACKS is a text, not a list of names"):
        about(tmp_path, "textual")


@pytest.mark.parametrize(
    ("entry", "meant"),
    [
        ("matmull", "did you mean matmul"),
        ("GradientTape.gradeint", "did you mean GradientTape.gradient"),
        ("reduce_sums(axis)", "did you mean reduce_sum"),
        ("strngs", "did you mean strings"),
    ],
)
def test_an_entry_that_names_nothing_is_refused(tmp_path: Path, entry: str, meant: str) -> None:
    (tmp_path / "wrong.py").write_text(f"GRADCONF_LACKS = ['nn', {entry!r}]\n")
    with pytest.raises(WorkerError) as refused:
        about(tmp_path, "wrong")
    assert f"GRADCONF_LACKS: '{entry}' is no name, method, keyword, feature or" in str(
        refused.value
    )
    assert meant in str(refused.value)


def test_an_entry_that_the_target_has_is_told(tmp_path: Path) -> None:
    (tmp_path / "had.py").write_text(
        "GRADCONF_LACKS = ['square', 'GradientTape.reset', 'GradientTape.jacobian', 'strings',\n"
        "    'reduce_sum(axis)', 'reduce_sum(keepdims)', 'nn', 'graph']\n"
        "def square(x): pass\n"
        "def reduce_sum(x, axis=None): pass\n"
        "class GradientTape:\n    def reset(self): pass\n"
    )
    assert about(tmp_path, "had")["notes"] == [
        f"GRADCONF_LACKS has {name}, which the target has"
        for name in ("square", "GradientTape.reset", "reduce_sum(axis)")
    ]


def test_names_of_pythons_that_a_file_takes_for_its_own_are_told(tmp_path: Path) -> None:
    file = tmp_path / "shadows.py"
    file.write_text(
        "import math\nbool = 'bool'\npow = lambda x, y: math.pow(x, y)\ndef abs(x): return x\n"
        "def sign(x):\n    return bool(x) and abs(x)\n"
    )
    assert about(tmp_path, str(file))["notes"] == [
        "inside it these are its own, not Python's: abs (line 6), bool (line 6): "
        "write builtins.NAME for Python's"
    ]


def test_what_identifies_a_target_is_all_that_it_imported_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "tape.py").write_text("import helper\n")
    (tmp_path / "helper.py").write_text("one = 1\n")
    (tmp_path / "other.py").write_text("one = 1\n")
    before = about(tmp_path, "tape")["digest"]
    assert before
    (tmp_path / "other.py").write_text("two = 2\n")
    assert about(tmp_path, "tape")["digest"] == before
    (tmp_path / "helper.py").write_text("two = 2\n")
    assert about(tmp_path, "tape")["digest"] != before
