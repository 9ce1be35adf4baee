"""pytest runs cells: `pytest cases/ --target tensorflow:eager -n 2`; inactive without --target."""

from __future__ import annotations

from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options; they cost an import of this module alone."""
    group = parser.getgroup("gradconf", "conformance of gradient tapes")
    group.addoption(
        "--target",
        action="append",
        default=[],
        metavar="TARGET",
        help="run the case files (*.yaml) on this target, one item for each mode: tensorflow:eager,"
        " reference, ./tape.py (repeatable)",
    )
    options: dict[str, dict[str, Any]] = {
        "--cell-timeout": {"type": float, "default": 60.0, "metavar": "SECONDS"},
        "--corpus": {"metavar": "FOLDER"},
        "--python": {"metavar": "PATH"},
        "--baseline": {"metavar": "FILE"},
        "--strict-new": {"action": "store_true"},
        "--deviations": {"metavar": "LIST"},
        "--no-confine": {"action": "store_true"},
    }
    for name, given in options.items():
        same = name.replace("cell-", "")
        group.addoption(name, help=f"with --target: the {same} of gradconf run", **given)


def pytest_configure(config: pytest.Config) -> None:
    """Take part where a target is asked for."""
    words = config.getoption("--target")
    if words:
        from conformance.pytest_plugin.cells import Cells  # nothing is imported in vain

        config.pluginmanager.register(Cells(config, words), "gradconf_cells")
