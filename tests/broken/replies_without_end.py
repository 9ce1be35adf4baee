"""A target whose reply has no end."""

import os

from oracle_but import __getattr__, reply_descriptor, tape


def endless(right):
    descriptor = reply_descriptor()
    while True:
        os.write(descriptor, b" " * 1_000_000)


GradientTape = tape(endless)
