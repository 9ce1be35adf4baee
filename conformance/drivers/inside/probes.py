"""Probes: what a program may ask of the process that runs it."""

import gc
import weakref


def alive(value):
    """A probe of one object's lifetime: call it later to learn whether the object still exists."""
    reference = weakref.ref(value)

    def probe():
        gc.collect()
        return reference() is not None

    return probe
