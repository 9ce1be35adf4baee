"""A question to a tape, and the answer of difference quotients, with their errors, to it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from conformance.suite.numeric.inside.declared import Array, NotFollowed
from conformance.suite.numeric.inside.notebook import Notebook, Values
from reference_impl import nest
from reference_impl.tensor import Variable, convert_to_tensor

Line = Callable[[float], Values]
"""Everything that moves, by its key, when one source has gone this far along a direction."""
Measure = Callable[[Values], Array]
"""What is differentiated, as a vector."""

STEP = 1e-3
SHRINKING = (1.0, 0.125, 1e-2, 1e-3)
"""Steps that are tried, relative to the element: a smaller one where a larger leaves the domain."""
GOOD = 1e-9
"""The relative error at which no smaller step is tried."""
LEAST_BEND = 1e-11
"""The relative second difference below which a bend is rounding."""


@dataclass(frozen=True)
class Quotient:
    """The derivative of a measure along a line, and the error that it may have."""

    value: Array
    error: Array

    @property
    def quality(self) -> float:
        """The error relative to the largest derivative."""
        return _largest(self.error) / (_largest(self.value) or 1.0)


def quotient(line: Line, measure: Measure, size: float, rounding: Array) -> Quotient:
    """The derivative of `measure` along `line` at 0, around an element of magnitude `size`.

    The best of a few steps; `rounding` is the error of the measure itself. Errors: NotFollowed at
    a kink or the edge of the domain.
    """
    best: Quotient | None = None
    reason = NotFollowed("the edge of a domain")
    for step in _steps(size):
        try:
            found = _with_step(line, measure, step, rounding)
        except NotFollowed as kink:
            reason = kink
            continue
        if found is not None and (best is None or found.quality < best.quality):
            best = found
        if best is not None and best.quality <= GOOD:
            break
    if best is None:
        raise reason
    return best


def _steps(size: float) -> Iterator[float]:
    largest = STEP * max(1.0, size)
    yield from (largest * factor for factor in SHRINKING)
    if 0.0 < size < 1.0:
        yield from (STEP * size, 0.1 * STEP * size)


def _with_step(line: Line, measure: Measure, step: float, rounding: Array) -> Quotient | None:
    """Two five-point quotients and Richardson's combination; None where a value is not finite."""
    points = {n: line(n * step) for n in (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0)}
    arrays = (array for point in points.values() for array in point.values())
    if not all(np.isfinite(array).all() for array in arrays if array.dtype.kind in "fc"):
        return None
    _refuse_kinks(points)
    at = {n: measure(point) for n, point in points.items()}
    wide = _five_points(at, 1.0, step)
    fine = _five_points(at, 0.5, step)
    value = fine + (fine - wide) / 15.0
    if not np.isfinite(value).all():
        return None
    return Quotient(value, np.abs(fine - wide) + rounding / step)


def _five_points(at: Mapping[float, Array], n: float, step: float) -> Array:
    near, far = at[n] - at[-n], at[2 * n] - at[-2 * n]
    return np.asarray((8.0 * near - far) / (12.0 * n * step))


def _refuse_kinks(points: Mapping[float, Values]) -> None:
    """At half the step, a smooth value bends a quarter as much, one with a kink half as much.

    Every value on the way is looked at: kinks that cancel in the target have answers that do not.
    """
    for key, middle in points[0.0].items():
        if middle.dtype.kind not in "fc":
            continue
        wide = np.abs(points[1.0][key] + points[-1.0][key] - 2.0 * middle)
        fine = np.abs(points[0.5][key] + points[-0.5][key] - 2.0 * middle)
        size = np.maximum(np.abs(points[1.0][key]), np.abs(points[-1.0][key]))
        if np.any((wide > LEAST_BEND * np.maximum(size, 1e-300)) & (wide < 3.0 * fine)):
            raise NotFollowed("a kink at this point")


MAX_ELEMENTS = 256
"""The largest source that is differentiated, element by element."""
ERRORS = 20.0
"""How many estimated errors an answer may be off (METHODS.md 3.4, R7)."""
RELATIVE = 1e-8
"""How far an answer may be off, relative to the largest derivative of its source."""
ILL_CONDITIONED = 1e-5
"""The relative bound beyond which a comparison would prove nothing."""
ROUNDING = 4 * float(np.finfo(np.float64).eps)
"""The relative error of a value that is differentiated."""

Found = Mapping[str, Any]
"""What a comparison shows: how many `elements`, the `nonzero` ones, a `fault` beyond its bound."""


Ways = Sequence[tuple[Any, Array]]
"""Places, and the direction in which each of them goes."""


class Question:
    """Something that a tape or an accumulator was asked about targets, by way of its notebook."""

    def __init__(self, notebook: Notebook, target: Any) -> None:
        self.notebook = notebook
        self.targets = [place_of(leaf) for leaf in nest.flatten(target)]
        self.bases = [_differentiable(t.array) for t in self.targets]

    def scale(self) -> Array:
        """The magnitude of each entry of the measure, before anything in it cancels."""
        return np.concatenate([np.abs(base).reshape(-1) for base in self.bases])

    def measure(self, values: Values) -> Array:
        """The real vector that is differentiated: the real part of every element of the targets.

        A complex element counts as one that is asked with an upstream of 1.
        """
        return np.concatenate([np.real(moved).reshape(-1) for moved in self.moved(values)])

    def moved(self, values: Values) -> list[Array]:
        """The targets now; one without a derivative never moves."""
        return [
            _differentiable(values.get(t.key, base))
            for t, base in zip(self.targets, self.bases, strict=True)
        ]

    def along(self, ways: Ways, size: float) -> Quotient:
        """The derivative of the measure when each of these places goes its way."""

        def line(distance: float) -> Values:
            tracked = self.notebook.tracked
            seen = {place.key: distance * way for place, way in ways if place.key in tracked}
            ends = {place.key: place.array + distance * way for place, way in ways}
            return self.notebook.run(seen) | ends

        return quotient(line, self.measure, size, ROUNDING * self.scale())


class Reverse(Question):
    """`gradient`: the derivative of the targets, weighted by upstream, by each source."""

    def __init__(self, notebook: Notebook, target: Any, upstream: Any = None) -> None:
        super().__init__(notebook, target)
        self.upstream = [_differentiable(u) for u in _seeds(upstream, self.targets)]

    def scale(self) -> Array:
        """The sum of the magnitudes of all that is added up."""
        pairs = zip(self.upstream, self.bases, strict=True)
        return np.array([sum(float(np.abs(u * base).sum()) for u, base in pairs)])

    def measure(self, values: Values) -> Array:
        """How far the weighted sum has moved."""
        triples = zip(self.upstream, self.moved(values), self.bases, strict=True)
        return np.array([sum(float(np.real(np.vdot(u, m - base))) for u, m, base in triples)])

    def check(self, source: Any, answer: Any) -> Found:
        """Compare one source's answer. Errors: NotFollowed."""
        place = place_of(source)
        base: Array = place.array
        if base.dtype.kind not in "fc":
            raise NotFollowed("an integer or string source")
        if base.size > MAX_ELEMENTS:
            raise NotFollowed("a source of many elements")
        rows, errors = self._rows(place)
        shape = self.shape(base.shape)
        numeric, bound = (self.arranged(part, base).reshape(shape) for part in (rows, errors))
        slope = _largest(self.scale()) / max(1.0, _largest(base))
        return _comparison(_dense(answer, source), numeric, ERRORS * bound, slope)

    def _rows(self, place: Any) -> tuple[Array, Array]:
        """Derivative and error by each element of the source: a row for each entry."""
        base = place.array
        rows = np.zeros((self.scale().size, base.size), base.dtype)
        errors = np.zeros(rows.shape)
        units = (1.0, 1j) if base.dtype.kind == "c" else (1.0,)
        for index, unit in itertools.product(range(base.size), units):
            way = np.zeros_like(base, order="C")  # reshape is a view of it
            way.reshape(-1)[index] = unit
            found = self.along([(place, way)], float(np.abs(base.reshape(-1)[index])))
            rows[:, index] += unit * found.value
            errors[:, index] = np.maximum(errors[:, index], found.error)
        return rows, errors

    def shape(self, source: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of an answer."""
        return source

    def arranged(self, rows: Array, source: Array) -> Array:
        """The rows in the order of an answer."""
        return rows


class Jacobian(Reverse):
    """`jacobian`: the derivative of each element of one target by each of a source."""

    scale, measure = Question.scale, Question.measure

    def shape(self, source: tuple[int, ...]) -> tuple[int, ...]:
        """The target's axes, then the source's."""
        return (*self.targets[0].array.shape, *source)


class BatchJacobian(Jacobian):
    """`batch_jacobian`: the derivative of all targets by each example of the source."""

    def shape(self, source: tuple[int, ...]) -> tuple[int, ...]:
        """The target's axes, then those of an example."""
        return (*self.targets[0].array.shape, *source[1:])

    def arranged(self, rows: Array, source: Array) -> Array:
        """Summed over the examples of the target: they do not depend on each other, or should."""
        batch, per_example = len(source), source.size // max(len(source), 1)
        blocks = rows.reshape(batch, len(rows) // max(batch, 1), batch, per_example)
        return np.asarray(np.einsum("ptbs->bts", blocks))


class Forward(Question):
    """`jvp`: the derivative of one target along the tangents of all primals at once."""

    def measure(self, values: Values) -> Array:
        """Each element of the target, a complex one with both parts."""
        return np.concatenate([moved.reshape(-1) for moved in self.moved(values)])

    def check(self, tangents: Ways, answer: Any) -> Found:
        """Compare the target's tangent. Errors: NotFollowed."""
        base = self.targets[0].array
        if any(array.dtype.kind not in "fc" for array in (base, *(way for _, way in tangents))):
            raise NotFollowed("a tangent of integers")
        length = max((_largest(way) for _, way in tangents), default=0.0) or 1.0
        ways = [(place, way / length) for place, way in tangents]
        size = max((_largest(place.array) for place, _ in tangents), default=0.0)
        found = self.along(ways, size)
        numeric, bound = (length * part.reshape(base.shape) for part in (found.value, found.error))
        slope = length * _largest(base) / max(1.0, size)
        return _comparison(_dense(answer, self.targets[0]), numeric, ERRORS * bound, slope)


def place_of(leaf: Any) -> Any:
    """What has a key and an array: a tensor, a variable's handle, what stands for a composite."""
    component = leaf.handle if isinstance(leaf, Variable) else leaf
    return getattr(component, "gradient_component", component)


def _comparison(got: Array | None, numeric: Array, errors: Array, slope: float) -> Found:
    """How many elements were compared, and the worst one that is beyond its bound.

    None is zero here: where the tape says that no path leads, nothing may change. `slope` is
    what the derivative would be if target and source were proportional.
    Errors: NotFollowed where the bound would let a large error pass.
    """
    said = np.zeros(numeric.shape) if got is None else got
    if said.shape != numeric.shape:
        return {"elements": 1, "fault": f": got shape {said.shape}, numeric {numeric.shape}"}
    if not numeric.size:
        raise NotFollowed("an answer without elements")
    size = _largest(numeric)
    bounds = errors + RELATIVE * size
    if _largest(bounds) > ILL_CONDITIONED * max(size, slope):
        raise NotFollowed("an ill-conditioned point")
    off = np.abs(said - numeric)
    beyond = ~(off <= bounds)
    found = {
        "elements": int(numeric.size),
        "nonzero": int(np.count_nonzero(np.abs(numeric) > bounds)),
    }
    if not beyond.any():
        return found
    worst = np.where(beyond, np.where(np.isnan(off), np.inf, off), -1.0).argmax()
    index = tuple(int(i) for i in np.unravel_index(worst, numeric.shape))
    where = f" element {index}" if index else ""
    text = "None" if got is None else said[index]
    fault = f"{where}: got {text}, numeric {numeric[index]} (bound {bounds[index]:.1e})"
    return {**found, "fault": fault}


def _dense(answer: Any, source: Any) -> Array | None:
    """An answer as an array; the one of a composite is what stands for it."""
    if answer is None:
        return None
    component = answer.gradient_component if hasattr(source, "gradient_component") else answer
    return convert_to_tensor(component).array


def _seeds(upstream: Any, targets: Sequence[Any]) -> list[Array]:
    if upstream is None:
        return [np.ones_like(t.array) for t in targets]
    leaves = zip(nest.flatten(upstream), targets, strict=True)
    return [np.zeros_like(t.array) if u is None else convert_to_tensor(u).array for u, t in leaves]


def _differentiable(array: Array) -> Array:
    """The array, or zeros in place of what has no derivative."""
    return array if array.dtype.kind in "fc" else np.zeros(array.shape)


def _largest(array: Array) -> float:
    return float(np.abs(array).max(initial=0.0))
