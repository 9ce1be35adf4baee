"""A target that stops its own process, as a debugger does."""

import os
import signal

from oracle_but import __getattr__, tape

GradientTape = tape(lambda right: os.kill(os.getpid(), signal.SIGSTOP))
