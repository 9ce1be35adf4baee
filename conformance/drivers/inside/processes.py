"""A worker's processes: its keeper, which ends all that it started, and a fork for one cell alone.

The keeper stands between host and worker: it ends whatever its worker started, daemons included,
and then ends the way that its worker did. Only Linux can say which processes those are; elsewhere
the worker runs without a keeper.
"""

import contextlib
import ctypes
import mmap
import os
import resource
import signal
import sys
import warnings

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


def fork_worker(*descriptors: int) -> None:
    """Go on as the worker; the process that was started stays behind as its keeper.

    The keeper is asked to end by SIGTERM: by the host, and by Linux when the host's thread that
    started it ends. It must be called before anything starts a thread. `descriptors` are the
    worker's alone: the host is to see their end when the worker ends.
    """
    if not sys.platform.startswith("linux"):
        return
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # until there is a worker to end
    die_with(os.getppid(), signal.SIGTERM)
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    keeper = os.getpid()
    worker = os.fork()
    if worker == 0:
        die_with(keeper, signal.SIGKILL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        return
    for descriptor in descriptors:
        os.close(descriptor)
    end_as(_kept(worker))


def die_with(parent: int, ending: int) -> None:
    """Have a signal sent to this process when its parent ends: one stuck in C reads no pipe."""
    _prctl(PR_SET_PDEATHSIG, ending)
    if os.getppid() != parent:
        os._exit(1)


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value)


def _kept(worker: int) -> int:
    """The status with which the worker ended, once everything that it left is gone."""
    asked = []

    def end(number, frame):
        asked.append(number)
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)

    signal.signal(signal.SIGTERM, end)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    status = _reaped(worker)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _end_descendants()
    return signal.SIGTERM if asked else status


def _reaped(worker: int) -> int:
    """Wait for the worker; its orphans are reaped on the way."""
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == worker:
            return status


def _end_descendants() -> None:
    """Kill until there is none: the children of whoever is killed become this process's own."""
    while True:
        for child in _children():
            os.kill(child, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _children() -> list:
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit() and _is_own(entry)]


def _is_own(process: str) -> bool:
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            after_name = file.read().rpartition(b")")[2]
    except OSError:  # it ended meanwhile
        return False
    return int(after_name.split()[1]) == os.getpid()


def end_as(status: int) -> None:
    """End by the same signal, without a second core dump, or with the same exit code."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.WEXITSTATUS(status))


def threads() -> int:
    """How many threads this process has; 0 where the system does not say, or forking is not safe.

    NumPy's own threads are safe: OpenBLAS ends them before a fork and starts them again after it.
    """
    return len(os.listdir("/proc/self/task")) if sys.platform.startswith("linux") else 0


def in_a_fork(work, *arguments) -> None:
    """Have `work` done by a child of this process, and end as the child did where it was not done.

    To import TensorFlow again for each isolated cell would take most of a run. An exit code would
    not tell: what is tested may end its process with 0 as well.
    """
    done = mmap.mmap(-1, 1)
    worker = os.getpid()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 warns of any thread, of NumPy's too
        child = os.fork()
    if child == 0:
        die_with(worker, signal.SIGKILL)
        work(*arguments)
        done[0] = 1
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if not done[0]:
        end_as(status)
    done.close()
