"""A target that is right and leaves threads that go on."""

import threading
import time

from oracle_but import __getattr__, tape


def threaded(right):
    for daemon in (True, False):
        threading.Thread(target=time.sleep, args=(3600,), daemon=daemon).start()
    return right


GradientTape = tape(threaded)
