"""A target that raises GeneratorExit, which no `except Exception` holds."""

from oracle_but import __getattr__, tape


def leave(right):
    raise GeneratorExit("a target's own")


GradientTape = tape(leave)
