"""Mutants of a test's own."""

from __future__ import annotations

from pathlib import Path

SQUARE_IS_ODD = """
catalogue: 35
mistake: The gradient of a product forgets one factor
edits:
  - file: ops/arithmetic.py
    old: return ct * conj(y), conj(x) * ct
    new: return ct * conj(y), ct * 0.0
"""
ANOTHER_COMMENT = """
mistake: None at all
edits:
  - file: ops/arithmetic.py
    old: return ct * conj(y), conj(x) * ct
    new: "return ct * conj(y), conj(x) * ct  # y first"
"""
HANGS = """
mistake: The walk never ends
edits:
  - file: trace.py
    old: for record in reversed(self.records)
    new: |-
      while True:
                      pass
                  for record in reversed(self.records)
"""
CANNOT_BE_IMPORTED = """
mistake: A name is misspelt
edits:
  - file: tape.py
    old: class GradientTape
    new: |-
      misspelt

      class GradientTape
"""


def make_mutants(folder: Path, **texts: str) -> Path:
    """A folder with a mutant for each name."""
    root = folder / "mutants"
    root.mkdir()
    for name, text in texts.items():
        (root / f"{name}.yaml").write_text(text)
    return root


def edit(file: str, old: str, new: str) -> str:
    """A mutant of one edit."""
    return f"mistake: For a test\nedits:\n  - {{file: {file!r}, old: {old!r}, new: {new!r}}}\n"
