"""Imports go down only, the host imports no framework, and the oracle stands alone."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ORDER = (
    ("conformance.cli",),
    ("conformance.commands", "conformance.pytest_plugin"),
    ("conformance.report",),
    ("conformance.suite",),
    ("conformance.verdicts",),
    ("conformance.asking",),
    ("conformance.answers",),
    ("conformance.targets",),
    ("conformance.drivers",),
    ("conformance.corpus",),
    ("conformance",),
)
FRAMEWORKS = ("tensorflow", "jax", "torch", "keras", "reference_impl")
INSIDE = "conformance.drivers.inside"
IN_WORKERS = (INSIDE, "conformance.suite.null_targets", "conformance.suite.numeric.inside")


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports_of(text: str) -> set[str]:
    found: set[str] = set()
    for part in ast.walk(ast.parse(text)):
        if isinstance(part, ast.Import):
            found |= {alias.name for alias in part.names}
        elif isinstance(part, ast.ImportFrom) and part.module:
            found |= {f"{part.module}.{alias.name}" for alias in part.names}
    return found


def layer_of(name: str) -> int:
    for index, packages in enumerate(ORDER):
        if any(f"{name}.".startswith(f"{package}.") for package in packages):
            return index
    raise AssertionError(f"{name} is in no layer")


def faults_of(name: str, text: str) -> list[str]:
    """Every import of a module that its layer must not have."""
    faults = []
    for imported in sorted(imports_of(text)):
        top = imported.split(".")[0]
        if top in FRAMEWORKS and not name.startswith(IN_WORKERS):
            faults.append(f"{name} imports {imported}: frameworks live in workers")
        if name.startswith(IN_WORKERS) and imported.startswith(IN_WORKERS):
            continue
        if top == "conformance" and name.startswith(IN_WORKERS):
            faults.append(f"{name} imports {imported}: a worker needs nothing of ours")
        elif top == "conformance" and layer_of(imported) < layer_of(name):
            faults.append(f"{name} imports {imported}: upwards")
    return faults


MODULES = sorted((ROOT / "conformance").rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_imports_go_down_only(path: Path) -> None:
    name = module_name(path)
    assert faults_of(name, path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("conformance.answers.compare", "from conformance.asking import run"),
        ("conformance.corpus.language.loader", "import conformance.answers.values"),
        ("conformance.asking.ask", "import tensorflow as tf"),
        ("conformance.commands.run", "def f():\n    import reference_impl"),
        ("conformance.drivers.inside.execution", "from conformance.corpus.language import case"),
        ("conformance.suite.numeric.inside.target", "from conformance.suite.numeric import check"),
    ],
)
def test_a_leak_is_refused(name: str, text: str) -> None:
    assert len(faults_of(name, text)) == 1


def test_the_reference_implementation_stands_alone() -> None:
    for path in (ROOT / "reference_impl").rglob("*.py"):
        for imported in imports_of(path.read_text(encoding="utf-8")):
            assert imported.split(".")[0] not in ("conformance", "tensorflow"), path


def test_the_host_starts_without_numpy_or_a_framework(run_python) -> None:
    script = "import sys, conformance.cli as c; c.main(['--help']); print(sorted(sys.modules))"
    loaded = run_python(script)
    for module in ("numpy", "yaml", *FRAMEWORKS):
        assert f"'{module}'" not in loaded
