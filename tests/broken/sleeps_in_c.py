"""A target that sleeps in C: it holds the interpreter's lock and hears no signal."""

import ctypes
import signal

from oracle_but import __getattr__, tape


def sleep(right):
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    ctypes.PyDLL(None).sleep(3600)


GradientTape = tape(sleep)
