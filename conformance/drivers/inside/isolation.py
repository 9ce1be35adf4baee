"""Isolation: a cell in a process of its own, forked from a worker that has imported its target.

To import TensorFlow again for each such cell would take most of a run.
"""

import mmap
import os
import signal
import sys
import warnings

from inside import keeper


def threads() -> int:
    """How many threads this process has; 0 where the system does not say, or forking is not safe.

    NumPy's own threads are safe: OpenBLAS ends them before a fork and starts them again after it.
    """
    return len(os.listdir("/proc/self/task")) if sys.platform.startswith("linux") else 0


def in_a_fork(work, *arguments) -> None:
    """Have `work` done by a child of this process, and end as the child did where it was not done.

    An exit code does not tell: what is tested may end its process with 0 as well.
    """
    done = mmap.mmap(-1, 1)
    worker = os.getpid()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 warns of any thread, of NumPy's too
        child = os.fork()
    if child == 0:
        keeper.die_with(worker, signal.SIGKILL)
        work(*arguments)
        done[0] = 1
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if not done[0]:
        keeper.end_as(status)
    done.close()
