"""A target that begins a reply of its own and ends in the middle of it."""

import os

from oracle_but import __getattr__, reply_descriptor, tape


def half(right):
    os.write(reply_descriptor(), b'{"cell": 2, "observations": {"g"')
    os._exit(0)


GradientTape = tape(half)
