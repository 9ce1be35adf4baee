"""A target that closes every descriptor of its process."""

import os

from oracle_but import __getattr__, tape


def closed(right):
    os.closerange(0, 4096)
    return right


GradientTape = tape(closed)
