"""The derivative of a program's own forward, by differences: what its gradient is held against.

Each element of each displaced input is moved by a step, a half and a quarter of it, to both sides;
not by the quarter where the others find no more than rounding between them. Two levels of
Richardson's extrapolation take the differences to the limit. Where they do not agree with each
other, or the left side with the right, the error says so.
"""

import time

import numpy as np
from inside import modes
from inside.observation import observe_array, observe_error

ROUNDING = 64
"""How often the rounding of an output stands in what is extrapolated from a quarter of a step."""


def derivatives(target, request):
    """The reply to a request for derivatives: an estimate for each name, or why there is none."""
    started = time.perf_counter()
    found = {}
    for name, asked in request["derivatives"].items():
        for attempt in asked["attempts"]:
            found[name] = _attempt(target, request["name"], asked["parameters"], attempt)
            if "fault" not in found[name]:
                break
    seconds = round(time.perf_counter() - started, 6)
    return {"cell": request["cell"], "derivatives": found, "seconds": seconds}


def _attempt(target, case, parameters, attempt):
    try:
        return _Forward(target, case, parameters, attempt).estimate()
    except BaseException as error:  # a target may raise SystemExit: that is its answer
        raised = observe_error(error, "run", None)
        return {"fault": "{type}: {message}".format(**raised)[:400]}


class _Forward:
    """A program that is called again and again, one element of an input displaced."""

    def __init__(self, target, case, parameters, attempt):
        self.target = target
        self.source = attempt["source"]
        self.code = compile(self.source, f"<forward of {case}>", "exec")
        self.parameters = parameters
        self.dtype = attempt["dtype"]
        self.step = attempt["step"]
        self.points = {}  # the inputs of the last call
        self.outputs, upstream = self._call()
        if upstream is None:
            weights = [np.ones_like(y) for y in self.outputs]
        else:
            weights = [_array(w) for w in _leaves(upstream())]
        self.weights = [np.conj(w) for w in weights]
        self.base = self.points

    def estimate(self):
        """The derivative by every displaced input, and how far it may be off."""
        sizes = (
            np.sum(np.abs(w) * np.where(np.isfinite(y), np.abs(y), 0.0))
            for w, y in zip(self.weights, self.outputs)
        )
        eps = float(np.finfo(self.dtype).eps)
        self.rounding = ROUNDING * eps * float(sum(sizes)) / self.step
        sources = {name: self._by(name, array) for name, array in self.base.items()}
        return {"dtype": self.dtype, "rounding": self.rounding, "sources": sources}

    def _by(self, name, array):
        """The derivative by each element of an input, and the largest error."""
        found = np.zeros(array.shape, np.complex128 if array.dtype.kind == "c" else np.float64)
        error = 0.0
        for index in range(array.size):
            for unit in (1.0, 1j) if array.dtype.kind == "c" else (1.0,):
                value, off = self._quotient(name, index, unit)
                found.reshape(-1)[index] += unit * value
                error = max(error, off)
        if not np.isfinite(found).all():
            raise ArithmeticError("its forward is not finite beside the point")
        return {"estimate": observe_array(found, found.dtype.name), "error": error}

    def _quotient(self, name, index, unit):
        """The derivative along one real direction, and its error."""
        slopes, bends = [], []
        for step in (self.step, self.step / 2, self.step / 4):
            above, right = self._beside(name, index, unit * step)
            below, left = self._beside(name, index, -unit * step)
            slopes.append((above - below) / (right + left))
            bends.append((above + below) / step)
            if len(slopes) == 2:
                off = max(abs(slopes[0] - slopes[1]), abs(2 * bends[1] - bends[0]))
                if off <= self.rounding:  # a line or a parabola
                    return slopes[1], off
        coarse, fine = [(4 * b - a) / 3 for a, b in zip(slopes, slopes[1:])]
        first, second = [2 * b - a for a, b in zip(bends, bends[1:])]
        corner = (8 * second - first) / 7  # it goes to zero, unless the slope jumps
        return (16 * fine - coarse) / 15, max(abs(fine - coarse) / 15, abs(corner))

    def _beside(self, name, index, move):
        """How far the weighed outputs are from their place, and how far the input is."""
        outputs, _ = self._call(name, index, move)
        change = 0.0
        for weight, new, old in zip(self.weights, outputs, self.outputs):
            same = (new == old) | (np.isnan(new) & np.isnan(old))
            with np.errstate(all="ignore"):
                change += float(np.sum(np.real(weight * np.where(same, 0.0, new - old))))
        ends = (points[name].reshape(-1)[index] for points in (self.points, self.base))
        new, old = map(complex, ends)
        return change, abs(new - old)

    def _call(self, name="", index=0, move=0.0):
        """The outputs from fresh inputs, one of whose elements is moved, and what makes weights."""
        self.points = points = {}

        def displaced(source, value):
            array = np.array(value)
            array = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
            if source == name:
                array.reshape(-1)[index] += move
            if self.dtype == "float32":
                array = array.astype(np.complex64 if array.dtype.kind == "c" else np.float32)
            points[source] = array
            return array

        modes.seeded(self.target, self.source)
        namespace = {"tf": self.target, "np": np, "alive": modes.alive, "__name__": "case"}
        namespace["displaced"] = displaced
        exec(self.code, namespace)
        inputs = [namespace[parameter] for parameter in self.parameters]
        outputs, upstream = namespace["case"](*inputs)
        return [self._output(y) for y in _leaves(outputs)], upstream

    def _output(self, value):
        """An output in the precision that was asked for, or wider."""
        array = _array(value)
        if array.dtype.kind not in "fc" or np.finfo(array.dtype).eps > np.finfo(self.dtype).eps:
            raise TypeError(f"its output is {array.dtype.name}, from {self.dtype}")
        return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def _leaves(value):
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in _leaves(value[key])]
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in _leaves(part)]
    return [value]


def _array(value):
    return np.asarray(value.numpy() if hasattr(value, "numpy") else value)
