"""List what can be asked, what of it this environment holds, and the TensorFlows kept ready."""

from __future__ import annotations

import argparse
from importlib import metadata

from conformance.targets.environments import cached
from conformance.targets.specification import DEFAULT_MODES, NAMED

DISTRIBUTIONS = {"tensorflow": ("tensorflow", "tensorflow-cpu"), "reference": ("gradconf",)}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`gradconf targets` takes no options."""


def run(arguments: argparse.Namespace) -> int:
    """Print the targets."""
    for name in NAMED:
        modes = ", ".join(DEFAULT_MODES.get(name, ("eager",)))
        print(f"{name:20} {_installed(name):16} modes {modes}")
    print("tensorflow==X.Y.Z    made when asked for, 2.5.0 or newer; ready:")
    for environment in cached():
        print(f"  tensorflow=={environment.version:8} {environment.interpreter}")
    print("./tape.py            a file with TensorFlow's names, or package.module:attribute")
    return 0


def _installed(name: str) -> str:
    for distribution in DISTRIBUTIONS[name]:
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            continue
    return "not installed"
