"""A target whose answer is a list without end."""

import itertools

from oracle_but import __getattr__, tape


class Endless(list):
    def __iter__(self):
        return itertools.repeat(self)


GradientTape = tape(lambda right: Endless())
