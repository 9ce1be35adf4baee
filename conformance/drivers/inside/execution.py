"""One cell: make the inputs, call the program in its mode, observe what it bound or raised."""

import linecache
import logging
import re
import sys
import time

import numpy as np
from inside import modes
from inside.observation import Observer, observe_error, placeless

_codes = {}


def run_cell(target, request):
    """The reply for one request to run: observations, the error that ended the case, warnings."""
    started = time.perf_counter()
    logs = _Logs()
    cell = _Cell(target, request)
    with logs:
        observations, error = cell.run()
    return {
        "cell": request["cell"],
        "observations": observations,
        "error": error,
        "warnings": logs.messages,
        "seconds": round(time.perf_counter() - started, 6),
    }


class _Cell:
    """One run of one program; `phase` says how far it came."""

    def __init__(self, target, request):
        self.target = target
        self.request = request
        self.file = "<case {}>".format(request["name"])
        self.namespace = {"tf": target, "np": np, "alive": modes.alive, "__name__": "case"}
        self.phase = "define"
        self.observer = Observer()

    def run(self):
        try:
            code = self._compiled()
            self.phase = "setup"
            _seed(self.target)
            exec(code, self.namespace)
            values = self._call()
        except BaseException as error:  # a target may raise SystemExit: that is its answer
            reached = self._reached(error)
            return reached, observe_error(error, self.phase, self._line(error))
        return {name: self._observe(value) for name, value in values.items()}, None

    def _compiled(self):
        """The program's code; its text is where AutoGraph and tracebacks look for it."""
        source = self.request["source"]
        found = _codes.get(self.file)
        if found is None or found[0] != source:
            lines = source.splitlines(keepends=True)
            linecache.cache[self.file] = (len(source), None, lines, self.file)
            found = _codes[self.file] = (source, compile(source, self.file, "exec"))
        return found[1]

    def _call(self):
        case = self.namespace["case"]
        inputs = [self.namespace[name] for name in self.request["parameters"]]
        if self.request["mode"] in ("eager", "call"):
            self.phase = "run"
            return modes.call_eager(self.target, case, inputs)
        self.phase = "trace"
        if self.request["convert"]:
            case = self.target.autograph.to_graph(case)
        options = {"jit_compile": True} if self.request["mode"] == "xla" else {}
        noting = self._noting_the_end_of_tracing(case)
        return modes.call_in_graph(self.target, noting, inputs, **options)

    def _noting_the_end_of_tracing(self, case):
        def traced(*inputs):
            values = case(*inputs)
            self.phase = "run"
            return values

        return traced

    def _observe(self, value):
        found = self.observer.observe(value)
        if found["kind"] == "error":
            found["phase"] = self.phase
        return found

    def _reached(self, error):
        """What the program had bound before it raised."""
        observed = {
            name: self.observer.observe(value)
            for name, value in self._locals(error).items()
            if name in self.request["observe"]
        }
        if self.request["mode"] in ("graph", "xla"):  # tensors of a graph that never ran
            known = ("none", "scalar", "error")
            observed = {name: found for name, found in observed.items() if found["kind"] in known}
        calls = self.namespace.get("calls", {})
        observed.update((name, self.observer.observe(count)) for name, count in calls.items())
        return observed

    def _locals(self, error):
        found = [frame for frame, _ in self._frames(error) if frame.f_code.co_name == "case"]
        return found[-1].f_locals if found else {}

    def _frames(self, error):
        """The frames of the program itself, outermost first, each with its line."""
        found = []
        step = error.__traceback__
        while step is not None:
            code = step.tb_frame.f_code
            if code.co_filename == self.file and _is_program(code.co_name):
                found.append((step.tb_frame, step.tb_lineno))
            step = step.tb_next
        return found

    def _line(self, error):
        """The program's line that an error came from; None where nothing tells it."""
        frames = self._frames(error)
        inside = [line for frame, line in frames if frame.f_code.co_name != "<module>"]
        if inside:
            return inside[-1]
        pattern = r"(?:File \"{0}\", line |defined at {0}:)(\d+)".format(re.escape(self.file))
        named = re.search(pattern, str(error))
        if named:
            return int(named.group(1))
        return frames[-1][1] if frames and self.phase == "setup" else None


def _is_program(name):
    """Whether code of this name is the program's own, and not a function that it defines.

    The functions of the mode `call` are the program's own.
    """
    return name in ("case", "<module>") or re.fullmatch(r"recorded_ops(_\d+)?", name)


def _seed(target):
    random = getattr(target, "random", None)
    if hasattr(random, "set_seed"):
        random.set_seed(0)


LOGGED_ONCE = (
    ("tensorflow.python.platform.tf_logging", "_log_counter_per_token"),
    ("tensorflow.python.util.deprecation", "_PRINTED_WARNING"),
)
"""Where TensorFlow keeps what it has logged once: a module and the name of its dict."""


class _Logs(logging.Handler):
    """What the framework's loggers say during one cell, bounded."""

    LOGGERS = ("tensorflow", "absl")
    MAX_MESSAGES = 1000

    def __init__(self):
        super().__init__(logging.WARNING)
        self.messages = []

    def emit(self, record):
        message = record.getMessage()
        if (
            "retracing" not in message and len(self.messages) < self.MAX_MESSAGES
        ):  # depends on what ran before, not on the case
            self.messages.append(placeless(message)[:2000])

    def __enter__(self):
        _forget_what_was_logged_once()
        for name in self.LOGGERS:
            logging.getLogger(name).addHandler(self)

    def __exit__(self, *raised):
        for name in self.LOGGERS:
            logging.getLogger(name).removeHandler(self)


def _forget_what_was_logged_once():
    """TensorFlow logs some warnings for the first time only: each cell is to be a first time."""
    for module, logged in LOGGED_ONCE:
        known = getattr(sys.modules.get(module), logged, None)
        if known is not None:
            known.clear()
