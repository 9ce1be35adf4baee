"""A target whose tensor says float32 and gives text."""

from oracle_but import __getattr__, tape


class Lie:
    def __init__(self, right):
        self.dtype = right.dtype

    def numpy(self):
        return "six"


GradientTape = tape(Lie)
