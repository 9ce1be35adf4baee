"""One cell: make the inputs, call the program in its mode, observe what it bound or raised."""

import functools
import linecache
import logging
import re
import sys
import time
import traceback

import numpy as np
from inside import modes
from inside.loading import numpy_tensors
from inside.observation import Observer, observe_error, placeless


def run_cell(target, request):
    """The reply for one request to run: observations, the error that ended the case, warnings."""
    _forget_caching()
    started = time.perf_counter()
    with _Logs() as logs:
        observations, error = _Cell(target, request).run()
    return {
        "cell": request["cell"],
        "observations": observations,
        "error": error,
        "warnings": logs.messages,
        "seconds": round(time.perf_counter() - started, 6),
    }


def _forget_caching():
    """An error inside of tf.scan leaves a caching device behind, which eager mode refuses."""
    scopes = sys.modules.get("tensorflow.python.ops.variable_scope")
    if scopes:
        scopes.get_variable_scope()._caching_device = None


@functools.cache
def _compiled(source, file):
    """The program's code; its text is where AutoGraph and tracebacks look for it."""
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    return compile(source, file, "exec")


class _Cell:
    """One run of one program; `phase` says how far it came."""

    def __init__(self, target, request):
        self.target = target
        self.request = request
        self.file = "<case {}>".format(request["name"])
        self.namespace = {"tf": target, "np": np, "alive": modes.alive, "__name__": "case"}
        self.phase = "define"
        self.observer = Observer(numpy_tensors(target))

    def run(self):
        try:
            code = _compiled(self.request["source"], self.file)
            self.phase = "setup"
            modes.seeded(self.target, self.request["source"])
            exec(code, self.namespace)
            values = self._call()
        except BaseException as error:  # a target may raise SystemExit: that is its answer
            reached = self._reached(error)
            return reached, observe_error(error, self.phase, self._line(error))
        return self._observed(values), None

    def _call(self):
        case = self.namespace["case"]
        inputs = [self.namespace[name] for name in self.request["parameters"]]
        if self.request["mode"] in ("eager", "call"):
            self.phase = "run"
            return case(*inputs)
        self.phase = "trace"
        if self.request["convert"]:
            case = self.target.autograph.to_graph(case)
        options = {"jit_compile": True} if self.request["mode"] == "xla" else {}

        def traced(*inputs):
            values = case(*inputs)
            self.phase = "run"
            return values

        return modes.call_in_graph(self.target, traced, inputs, **options)

    def _observed(self, values):
        return {name: self.observer.observe(value) for name, value in values.items()}

    def _reached(self, error):
        """What the program had bound before it raised."""
        frames = [frame for frame, _ in self._frames(error) if frame.f_code.co_name == "case"]
        bound = frames[-1].f_locals if frames else {}
        wanted = self.request["observe"]
        observed = self._observed({name: bound[name] for name in bound if name in wanted})
        if self.request["mode"] in ("graph", "xla"):  # tensors of a graph that never ran
            known = ("none", "scalar", "array", "error")
            observed = {name: found for name, found in observed.items() if found["kind"] in known}
        return {**observed, **self._observed(self.namespace.get("calls", {}))}

    def _frames(self, error):
        """The frames of the program itself, outermost first, each with its line."""
        return [
            (frame, line)
            for frame, line in traceback.walk_tb(error.__traceback__)
            if frame.f_code.co_filename == self.file and _is_program(frame.f_code.co_name)
        ]

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


LOGGED_ONCE = (
    ("tensorflow.python.platform.tf_logging", "_log_counter_per_token"),
    ("tensorflow.python.util.deprecation", "_PRINTED_WARNING"),
)
"""Where TensorFlow notes what it logs once only: emptied, so that each cell is a first time."""

OF_THE_PROCESS = ("retracing", "Object was never used")
"""What TensorFlow logs for what ran before, or when garbage is collected: not of the cell."""


class _Logs(logging.Handler):
    """What the framework's loggers say during one cell, bounded."""

    LOGGERS = ("tensorflow", "absl")
    MAX_MESSAGES = 1000

    def __init__(self):
        super().__init__(logging.WARNING)
        self.messages = []

    def emit(self, record):
        message = record.getMessage()
        told = not any(words in message for words in OF_THE_PROCESS)
        if told and len(self.messages) < self.MAX_MESSAGES:
            self.messages.append(placeless(message)[:2000])

    def __enter__(self):
        for module, logged in LOGGED_ONCE:
            getattr(sys.modules.get(module), logged, {}).clear()
        for name in self.LOGGERS:
            logging.getLogger(name).addHandler(self)
        return self

    def __exit__(self, *raised):
        for name in self.LOGGERS:
            logging.getLogger(name).removeHandler(self)
