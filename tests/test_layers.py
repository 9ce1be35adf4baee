"""Imports go down only and in no circle, the host imports no framework, the oracle stands alone.

An import counts wherever it stands: in a function, and under `TYPE_CHECKING`.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
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
IN_WORKERS = (
    INSIDE,
    "conformance.drivers.kit",
    "conformance.drivers.adapters",
    "conformance.suite.null_targets",
    "conformance.suite.numeric.inside",
    "conformance.suite.rules.inside",
)
RENDERING = "conformance.report"
JUDGING = ("conformance.answers.compare", "conformance.verdicts.departures")
"""What a report must not import: it reads findings, and judges nothing again."""


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


TEXTS = {
    module_name(path): path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "conformance").rglob("*.py"))
}


def imports_of(text: str) -> set[str]:
    """Every name that a module imports, with its module: `a.b` of `from a import b`."""
    found: set[str] = set()
    for part in ast.walk(ast.parse(text)):
        if isinstance(part, ast.Import):
            found |= {alias.name for alias in part.names}
        elif isinstance(part, ast.ImportFrom):
            source = "." * part.level + (part.module or "")
            found |= {f"{source}.{alias.name}" for alias in part.names}
    return found


def is_in(name: str, packages: Collection[str]) -> bool:
    return any(f"{name}.".startswith(f"{package}.") for package in packages)


def layer_of(name: str) -> int:
    return next(index for index, packages in enumerate(ORDER) if is_in(name, packages))


def faults_of(name: str, text: str) -> Iterator[str]:
    """Every import of a module that its room must not have."""
    inside = is_in(name, IN_WORKERS)
    for imported in sorted(imports_of(text)):
        if imported.startswith("."):
            yield f"{name} imports {imported}: write out where from"
        elif is_in(imported, FRAMEWORKS) and not inside:
            yield f"{name} imports {imported}: frameworks live in workers"
        elif is_in(name, [RENDERING]) and is_in(imported, JUDGING):
            yield f"{name} imports {imported}: a report judges nothing"
        elif is_in(imported, ["conformance"]) and inside and not is_in(imported, IN_WORKERS):
            yield f"{name} imports {imported}: a worker needs nothing of ours"
        elif is_in(imported, ["conformance"]) and layer_of(imported) < layer_of(name):
            yield f"{name} imports {imported}: upwards"


def circle_in(texts: Mapping[str, str]) -> list[str]:
    """The first circle of modules that import each other; empty where there is none."""
    graph = {
        name: {
            module
            for imported in imports_of(text)
            for module in (imported, imported.rpartition(".")[0])
            if module in texts and module not in (name, name.rpartition(".")[0])
        }
        for name, text in texts.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


@pytest.mark.parametrize("name", TEXTS)
def test_imports_go_down_only(name: str) -> None:
    assert list(faults_of(name, TEXTS[name])) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("conformance.answers.compare", "from conformance.asking import ask"),
        ("conformance.corpus.language.loader", "import conformance.answers.answer"),
        (
            "conformance.corpus.cases",
            "if TYPE_CHECKING:\n    from conformance.verdicts import findings",
        ),
        ("conformance.text", "from conformance.corpus import cases"),
        ("conformance.asking.ask", "import tensorflow as tf"),
        ("conformance.commands.run", "def f():\n    import reference_impl"),
        ("conformance.commands.run", "from . import show"),
        ("conformance.commands.run", "from conformance.cli import main"),
        ("conformance.report.html", "from conformance.answers.compare import compare"),
        ("conformance.report.html", "from conformance.verdicts import departures"),
        ("conformance.drivers.inside.execution", "from conformance.corpus.language import case"),
        ("conformance.suite.numeric.inside.target", "from conformance.suite.numeric import check"),
    ],
)
def test_a_leak_is_refused(name: str, text: str) -> None:
    assert len(list(faults_of(name, text))) == 1


def test_no_modules_import_each_other() -> None:
    assert circle_in(TEXTS) == []


@pytest.mark.parametrize(
    "back",
    [
        "from conformance.verdicts import a",
        "from conformance.verdicts.a import word",
        "import conformance.verdicts.a",
        "def f():\n    from conformance.verdicts.a import word",
        "if TYPE_CHECKING:\n    from conformance.verdicts.a import word",
    ],
)
def test_a_circle_is_refused(back: str) -> None:
    texts = {
        "conformance.verdicts": "",
        "conformance.verdicts.a": "from conformance.verdicts import b",
        "conformance.verdicts.b": "from conformance.verdicts.c import word",
        "conformance.verdicts.c": back,
    }
    assert set(circle_in(texts)) == texts.keys() - {"conformance.verdicts"}
    assert circle_in({**texts, "conformance.verdicts.c": "import conformance.verdicts"}) == []


def test_the_reference_implementation_stands_alone() -> None:
    for path in (ROOT / "reference_impl").rglob("*.py"):
        for imported in imports_of(path.read_text(encoding="utf-8")):
            assert imported.split(".")[0] not in ("conformance", "tensorflow"), path


def test_the_host_starts_without_numpy_or_a_framework(run_python) -> None:
    script = "import sys, conformance.cli as c; c.main(['--help']); print(sorted(sys.modules))"
    loaded = run_python(script)
    for module in ("numpy", "yaml", "rich", "jinja2", "packaging", *FRAMEWORKS):
        assert f"'{module}'" not in loaded
