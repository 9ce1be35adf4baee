"""Versions of a TensorFlow that these tests invent: the oracle, but for what each one answers."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from conformance.targets.releases import release

ROOT = Path(__file__).parent.parent.parent
TENSORFLOW = """
import os
import reference_impl as tf
__version__ = {version!r}
class GradientTape(tf.GradientTape):
    def gradient(self, *args, **options):
        return {answer}
def __getattr__(name):
    return getattr(tf, name)
"""
RIGHT = "super().gradient(*args, **options)"


def keep_ready(cache: Path, answers: dict[str, str]) -> None:
    """Environments whose tensorflow is the oracle, but for what each version answers."""
    for version, answer in answers.items():
        folder = cache / "environments" / version
        (folder / "bin").mkdir(parents=True)
        (folder / "tensorflow.py").write_text(TENSORFLOW.format(version=version, answer=answer))
        python = folder / "bin" / "python"
        python.write_text(f'#!/bin/sh\nPYTHONPATH={folder}:{ROOT} exec {sys.executable} "$@"\n')
        python.chmod(0o755)
        wanted = release(version)
        minor = int(wanted.pythons[-1].partition(".")[2])
        marker = {
            "format": 1,
            "version": version,
            "interpreter": [str(python), [3, minor, 0]],
            "requirements": wanted.requirements,
            "packages": {},
        }
        (folder / "gradconf.json").write_text(json.dumps(marker))
