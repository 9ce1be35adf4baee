"""A target that prints on every descriptor that is open, that of its replies among them."""

import contextlib
import os

from oracle_but import __getattr__, open_descriptors, tape


def printed(right):
    for descriptor in open_descriptors():
        with contextlib.suppress(OSError):
            os.write(descriptor, b"\xff\x00 noise \n")
    return right


GradientTape = tape(printed)
