"""A target that is right twice: it forks, and both processes go on with the cell."""

import os

from oracle_but import __getattr__, tape


def forked(right):
    os.fork()
    return right


GradientTape = tape(forked)
