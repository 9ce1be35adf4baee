"""pytest runs cells: `pytest cases/ --target tensorflow:eager -n 2`; inactive without --target."""

from __future__ import annotations

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
    group.addoption(
        "--cell-timeout", type=float, default=60.0, metavar="SECONDS", help="for one item of these"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Take part where a target is asked for."""
    words = config.getoption("--target")
    if words:
        from conformance.pytest_plugin.cells import Cells  # nothing is imported in vain

        config.pluginmanager.register(Cells(config, words), "gradconf_cells")
