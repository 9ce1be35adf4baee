"""A target that raises KeyboardInterrupt, which no `except Exception` holds."""

from oracle_but import __getattr__, tape


def leave(right):
    raise KeyboardInterrupt("a target's own")


GradientTape = tape(leave)
