"""A target whose process is killed, as Linux does where memory runs out."""

import os
import signal

from oracle_but import __getattr__, tape

GradientTape = tape(lambda right: os.kill(os.getpid(), signal.SIGKILL))
