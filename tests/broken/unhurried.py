"""A target that is right and takes its time, for a fault to meet it at work.

Where the environment asks for it, each of its processes leaves a daemon.
"""

import os
import time

from oracle_but import __getattr__, tape

if "LEAVES_A_DAEMON" in os.environ and os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(3600)
    os._exit(0)


def delayed(right):
    time.sleep(0.02)
    return right


GradientTape = tape(delayed)
