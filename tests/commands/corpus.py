"""A small corpus of a test's own, and records made of it."""

from __future__ import annotations

from pathlib import Path

SQUARE = """
introduction: Squares.
cases:
  square:
    title: The square has slope two x
    source: contract/s1
    tags: [scalar]
    inputs: {x: 3.0}
    run: |
      with tf.GradientTape() as t:
          t.watch(x)
          y = x * x
      g = t.gradient(y, x)
    expect: {g: 6.0}
  persistent_square:
    title: A persistent tape answers twice
    source: contract/s8
    inputs: {x: [1.0, 3.0]}
    run: |
      with tf.GradientTape(persistent=True) as t:
          t.watch(x)
          y = x * x
      first = t.gradient(y, x)
      second = t.gradient(y, x)
    expect: {first: [2.0, 6.0], second: [2.0, 6.0]}
"""
UNCONNECTED = """
introduction: Unconnected.
cases:
  other_source:
    title: A source that was not used has no gradient
    source: contract/39
    inputs: {x: 3.0, other: 5.0}
    run: |
      with tf.GradientTape() as t:
          t.watch([x, other])
          y = x * x
      g = t.gradient(y, other)
    expect: {g: null}
"""


def make_corpus(folder: Path, **files: str) -> Path:
    """A corpus folder with the two topics above and `area__topic=text` files added or replaced."""
    root = folder / "cases"
    texts = {"basics__squares": SQUARE, "unconnected__other": UNCONNECTED, **files}
    for name, text in texts.items():
        area, topic = name.split("__")
        (root / area).mkdir(parents=True, exist_ok=True)
        (root / area / f"{topic}.yaml").write_text(text)
    return root
