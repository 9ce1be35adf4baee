"""A target that never comes to an end in Python."""

from oracle_but import __getattr__, tape


def spin(right):
    while True:
        pass


GradientTape = tape(spin)
