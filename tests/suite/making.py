"""Mutants of a test's own."""

from __future__ import annotations

from pathlib import Path

SQUARE_IS_ODD = """
catalogue: 35
mistake: The gradient of a product forgets one factor
breaks: contract/s1
edits:
  - file: ops/arithmetic.py
    old: return ct * conj(y), conj(x) * ct
    new: return ct * conj(y), ct * 0.0
"""
ANOTHER_COMMENT = """
mistake: None at all
breaks: contract/s1
edits:
  - file: ops/arithmetic.py
    old: return ct * conj(y), conj(x) * ct
    new: "return ct * conj(y), conj(x) * ct  # y first"
"""
HANGS = """
mistake: The walk never ends
breaks: contract/s1
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
breaks: contract/s1
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
    edits = f"edits:\n  - {{file: {file!r}, old: {old!r}, new: {new!r}}}\n"
    return f"mistake: For a test\nbreaks: contract/1\n{edits}"
