"""A target that is right and leaves a daemon: an orphan with a session of its own."""

import os
import time

from oracle_but import __getattr__, tape


def daemonized(right):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(3600)
        os._exit(0)
    return right


GradientTape = tape(daemonized)
