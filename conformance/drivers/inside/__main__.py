"""The worker: started by path inside a framework's environment, it answers cells one by one.

It needs CPython 3.9, the standard library, numpy and one framework, and nothing of this project.
JSON lines come in and go out on a socket of its own (frameworks print on stdout):

    {"module": "tensorflow", "attribute": "", "path": [], "readable": []}
    {"cell": 7, "name": "...", "source": "...", "parameters": ["x"], "convert": false,
     "mode": "eager", "observe": ["g"], "isolated": false}
    {"cell": 8, "name": "...", "derivatives": {"g": ...}, "isolated": false}

The first names the target, and what it may read beside its interpreter. An isolated cell is
answered by a fork of the worker where that is safe;
where it is not, the host starts another worker. A worker is told which names to observe and never
what is expected of them.
"""

import contextlib
import json
import os
import signal
import sys

# The folder's name is the only one that a target's own imports can meet.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

from inside import confinement, processes

del sys.path[0]

PROTOCOL = 1


def main(channel: int, limits: dict) -> None:
    """Serve the host until it goes away."""
    held = processes.fork_worker(limits, channel)
    _be_a_worker(channel)
    with os.fdopen(channel, encoding="utf-8") as requests:
        target = json.loads(next(requests))
        held += confinement.confine(limits, target["readable"]) if limits else []
        serve(requests, target, held)
    leave()


def serve(requests, wanted: dict, held: list) -> None:
    """Import the target, and answer one request after another."""
    # Only now: importing NumPy starts threads, which a fork would lose.
    from inside import loading
    from inside.derivative import derivatives
    from inside.execution import run_cell

    def answer(request):
        process = os.getpid()
        reply = (derivatives if "derivatives" in request else run_cell)(target, request)
        if os.getpid() != process:
            leave()  # a target's own fork came back here
        send(requests.fileno(), reply)

    threads = processes.threads()
    watch = processes.ImportWatch()
    target, about = loading.load_target(wanted)
    if watch.is_doubled():
        about = {"ready": False, "error": "it forks while it is imported, and both go on"}
    forks = 0 < processes.threads() <= threads
    send(requests.fileno(), {**about, "protocol": PROTOCOL, "forks": forks, "confined": held})
    for line in requests:
        request = json.loads(line)
        if request["isolated"] and forks:
            processes.in_a_fork(answer, request)
        else:
            answer(request)


def _be_a_worker(channel: int) -> None:
    """Settle what a target must not inherit or decide."""
    os.set_inheritable(channel, False)  # a child that holds it would hide this one's end
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a KeyboardInterrupt is the target's own
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "r+") as score:
        if int(score.read()) < 500:  # where memory runs out, this one is to end and not the host
            score.write("500")


def send(channel: int, reply: dict) -> None:
    """Write one reply as a line, whole, whatever its length."""
    data = (json.dumps(reply) + "\n").encode("utf-8")
    while data:
        data = data[os.write(channel, data) :]


def leave() -> None:
    """Leave at once: an ordinary interpreter exit takes TensorFlow the better part of a second."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]), json.loads(sys.argv[2]))
