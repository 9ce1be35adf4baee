"""A target that aborts and leaves a fork of itself, which holds the reply descriptor open."""

import os
import time

from oracle_but import __getattr__, tape


def orphaned(right):
    if os.fork() == 0:
        time.sleep(3600)
    os.abort()


GradientTape = tape(orphaned)
