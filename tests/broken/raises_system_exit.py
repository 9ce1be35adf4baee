"""A target that raises SystemExit, which no `except Exception` holds."""

from oracle_but import __getattr__, tape


def leave(right):
    raise SystemExit("a target's own")


GradientTape = tape(leave)
