"""A worker's processes: its keeper, which ends all that it started, and a fork for one cell alone.

The keeper stands between host and worker. It ends whatever its worker started, daemons included,
and then ends the way that its worker did; it holds the log and the memory of its worker within
their bounds. Only Linux can say which processes those are; elsewhere there is no keeper. Where a
namespace is permitted, the worker is in it with an init of its own: what is in there ends with
them, also when the keeper is killed.
"""

import contextlib
import ctypes
import mmap
import os
import resource
import select
import shutil
import signal
import sys
import time
import warnings

from inside import confinement

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
MAX_LOG = 16 * 1024 * 1024
"""Bytes of what a worker prints that are kept; then the log is begun again."""
LOOK_EVERY = 0.25
"""Seconds between two looks at a worker's memory."""


def fork_worker(limits: dict, channel: int) -> list:
    """Go on as the worker, and say how it is apart; what was started stays behind as its keeper.

    The keeper is asked to end by SIGTERM: by the host, and by Linux when the host's thread that
    started it ends. It must be called before anything starts a thread. The `channel` is the
    worker's alone: the host is to see its end when the worker ends.
    """
    if not sys.platform.startswith("linux"):
        return []
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # until there is a worker to end
    host = os.getppid()
    apart = confinement.enter_namespaces() if limits else []
    die_with(host, signal.SIGTERM)
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    keeper = os.getpid()
    (printed, log), (ending, ended) = os.pipe(), os.pipe()
    groups = [group for group in limits.get("groups", ()) if _moved(group[1])]
    worker = os.fork()
    if worker == 0:
        os.close(printed)
        os.close(ending)
        if apart:
            _fork_from_init(ended, log, channel)
        else:
            die_with(keeper, signal.SIGKILL)
        for stream in (1, 2):
            os.dup2(log, stream)
        os.close(log)
        os.close(ended)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        return apart + [called for called, _, _ in groups]
    for _, _, own in groups:
        _moved(own)
    events = [
        path
        for _, group, _ in groups
        for path in (f"{group}/memory.events", f"{group}/memory.oom_control")
        if os.path.exists(path)
    ]
    for descriptor in (log, ended, channel):
        os.close(descriptor)
    status = _kept(worker, printed, limits.get("memory", sys.maxsize), events)
    told = os.read(ending, 20) if apart else b""
    if limits:
        shutil.rmtree(limits["folder"], ignore_errors=True)
    for _, group, _ in limits.get("groups", ()):
        with contextlib.suppress(OSError):
            os.rmdir(group)
    return end_as(int(told) if told and status != signal.SIGTERM else status)


def _fork_from_init(ended: int, *descriptors: int) -> None:
    """As the first process of a namespace, go on as its second, and tell how that one ended.

    A signal that the first one sends to itself does nothing: it could not abort.
    """
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    keeper = select.poll()
    keeper.register(ended, 0)
    if keeper.poll(0):  # nobody reads there any more: it has ended before
        os._exit(1)
    worker = os.fork()
    if worker == 0:
        die_with(1, signal.SIGKILL)
        return
    for descriptor in descriptors:
        os.close(descriptor)
    while True:  # orphans are reaped on the way
        reaped, status = os.waitpid(-1, 0)
        if reaped == worker:
            os.write(ended, b"%d" % status)
            os._exit(0)


def _family(process: int) -> list:
    """A process and all its descendants."""
    found = [process]
    for one in found:
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{one}/task"):
                with open(f"/proc/{one}/task/{thread}/children") as file:
                    found += map(int, file.read().split())
    return found


def die_with(parent: int, ending: int) -> None:
    """Have a signal sent to this process when its parent ends: one stuck in C reads no socket."""
    _prctl(PR_SET_PDEATHSIG, ending)
    if os.getppid() != parent:  # it has ended before
        os.kill(os.getpid(), ending)


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value)


def _moved(group: str) -> bool:
    """Whether this process, and what it forks from now on, could go into a control group."""
    try:
        with open(f"{group}/cgroup.procs", "w") as processes:
            processes.write("0")
    except OSError:
        return False
    return True


def _kept(worker: int, printed: int, memory: int, events: list) -> int:
    """The status with which the worker ended, once everything that it left is gone.

    A process whose children are in another namespace can have no threads: one loop does it all.
    """
    asked = []

    def end(number, frame):
        asked.append(number)
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)

    woken, waking = os.pipe()
    for descriptor in (woken, waking, printed):
        os.set_blocking(descriptor, False)
    signal.set_wakeup_fd(waking)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.signal(signal.SIGTERM, end)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    watched = [woken, printed]
    look = time.monotonic() + LOOK_EVERY
    beyond = False
    while (status := _reaped(worker)) is None:
        ready = select.select(watched, [], [], LOOK_EVERY)[0]
        if woken in ready:
            os.read(woken, 512)
        if printed in ready and not _log(printed):
            watched = [woken]  # it has closed its streams
        if time.monotonic() > look:
            beyond = beyond or _is_beyond(worker, memory, events)
            if beyond:
                os.kill(worker, signal.SIGKILL)
            look = time.monotonic() + LOOK_EVERY
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _end_descendants()
    with contextlib.suppress(BlockingIOError):
        while _log(printed):
            pass
    if beyond or _was_refused(events):
        os.write(1, b"\nit was killed: more than %d MB of memory\n" % (memory >> 20))
    return signal.SIGTERM if asked else status


def _reaped(worker: int):
    """The status with which the worker ended, or None; its orphans are reaped on the way."""
    while True:
        ended, status = os.waitpid(-1, os.WNOHANG)
        if ended in (0, worker):
            return status if ended else None


def _log(printed: int) -> bool:
    """Move what the worker printed into the log, which is begun again when it is full."""
    data = os.read(printed, 1 << 16)
    with contextlib.suppress(OSError):  # where the disk is full, it is lost
        if os.lseek(1, 0, os.SEEK_CUR) > MAX_LOG:
            os.ftruncate(1, 0)
            os.lseek(1, 0, os.SEEK_SET)
        os.write(1, data)
    return bool(data)


def _is_beyond(worker: int, most: int, events: list) -> bool:
    """Whether a worker has, with all that it started, more memory than it may."""
    if events:
        return _was_refused(events)
    pages = 0
    for process in _family(worker):
        with contextlib.suppress(OSError), open(f"/proc/{process}/statm") as file:
            pages += int(file.read().split()[1])
    return pages * resource.getpagesize() > most


def _was_refused(events: list) -> bool:
    """Whether the kernel killed a process of a control group whose memory ran out."""
    for path in events:
        with contextlib.suppress(OSError), open(path) as file:
            if any(line.startswith("oom_kill ") and line != "oom_kill 0\n" for line in file):
                return True
    return False


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
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{process}/stat", "rb") as file:
            after_name = file.read().rpartition(b")")[2]
            if int(after_name.split()[1]) == os.getpid():
                found.append(int(process))
    return found


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


class ImportWatch:
    """Notices a target that forks while it is imported, so that two processes would go on."""

    PATIENCE = 1.0

    def __init__(self) -> None:
        self._process = os.getpid()
        self._came_back = mmap.mmap(-1, 1)
        self._forked = False
        os.register_at_fork(after_in_parent=self._note)

    def _note(self) -> None:
        self._forked = True

    def is_doubled(self) -> bool:
        """Whether a fork comes back from the import as well; that one ends here."""
        if os.getpid() != self._process:
            self._came_back[0] = 1
            os._exit(0)
        deadline = time.monotonic() + self.PATIENCE
        while self._forked and not self._came_back[0] and time.monotonic() < deadline:
            time.sleep(0.01)
        return bool(self._came_back[0])
