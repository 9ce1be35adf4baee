"""A target that replies by itself, to a cell that nobody asked for."""

import os

from oracle_but import __getattr__, reply_descriptor, tape


def reply(right):
    os.write(reply_descriptor(), b'{"cell": 99, "observations": {}, "error": null}\n')
    return right


GradientTape = tape(reply)
