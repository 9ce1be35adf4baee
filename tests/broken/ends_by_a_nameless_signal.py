"""A target that a real-time signal ends, for which Python has no name."""

import os

from oracle_but import __getattr__, tape

GradientTape = tape(lambda right: os.kill(os.getpid(), 40))
