"""The oracle in float64 as a target that checks each of its answers, and warns of what it found.

Every `gradient`, `jacobian`, `batch_jacobian` and `jvp` is compared with difference quotients of
what the tape or accumulator was offered. A warning is one line of JSON behind `PREFIX`.
"""

from __future__ import annotations

import functools
import inspect
import json
import logging
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import reference_impl
from conformance.suite.numeric.inside.declared import Array, NotFollowed
from conformance.suite.numeric.inside.notebook import Notebook, notebook_of, take_notes
from conformance.suite.numeric.inside.question import (
    BatchJacobian,
    Forward,
    Found,
    Jacobian,
    Reverse,
    Ways,
    place_of,
)
from reference_impl import nest
from reference_impl.dtypes import ALL, DType, complex128, float64
from reference_impl.forward import ForwardAccumulator
from reference_impl.tape import GradientTape
from reference_impl.tensor import Tensor, convert_to_tensor

PREFIX = "numeric: "
"""What marks a warning as ours."""

_logger = logging.getLogger("tensorflow")


class _Checking:
    """Whether an answer is being checked: what is asked meanwhile is not."""

    now = False


Given = Mapping[str, Any]
Checks = Iterator[Callable[[], Found]]
Checker = Callable[[Notebook, Given, Any], Checks]
"""From a notebook, a method's arguments and its answer: one check for each part of the answer."""


def _make_checked(owner: Any, kind: str, checker: Checker, recorder: str = "") -> None:
    """Make the owner's method check what it answers.

    recorder: the owner's attribute that was offered the operations; the owner itself if empty.
    The method may let it go, so its notebook is taken before.
    """
    method = getattr(owner, kind)
    signature = inspect.signature(method)

    @functools.wraps(method)
    def asked(self: Any, *arguments: Any, **options: Any) -> Any:
        recorded_by = getattr(self, recorder) if recorder else self
        answers = method(self, *arguments, **options)
        if not _Checking.now and recorded_by is not None:
            given = signature.bind(self, *arguments, **options).arguments
            _Checking.now = True
            try:
                _report(kind, checker(notebook_of(recorded_by), given, answers))
            finally:
                _Checking.now = False
        return answers

    setattr(owner, kind, asked)


def _reverse(question: type[Reverse]) -> Checker:
    def checks(book: Notebook, given: Given, answers: Any) -> Checks:
        asked = question(book, given["target"], given.get("output_gradients"))
        sources = given.get("sources", given.get("source"))
        answered = nest.flatten(answers)
        for source, answer in zip(nest.flatten(sources), answered, strict=True):
            yield functools.partial(asked.check, source, answer)

    return checks


def _forward(book: Notebook, given: Given, answers: Any) -> Checks:
    primals = nest.flatten(given["primals"])
    for primal, answer in zip(primals, nest.flatten(answers), strict=True):
        yield functools.partial(Forward(book, primal).check, _tangents[given["self"]], answer)


def _report(kind: str, checks: Checks) -> None:
    """Run the checks, and say what each of them shows."""
    line, direct = _line_of_program(sys._getframe(2))
    for position, check in enumerate(checks):
        try:
            found = check()
        except NotFollowed as reason:
            found = {"reason": str(reason)}
        about = {"line": line, "direct": direct, "query": kind, "source": position}
        _logger.warning("%s%s", PREFIX, json.dumps({**about, **found}))


def _line_of_program(frame: Any) -> tuple[int, bool]:
    """The program's line that asks, and whether it asks itself or by way of the oracle."""
    direct = _is_program(frame)
    while frame is not None and not _is_program(frame):
        frame = frame.f_back
    return (frame.f_lineno if frame else 0), direct


def _is_program(frame: Any) -> bool:
    return bool(frame.f_code.co_filename.startswith("<case "))


_tangents: weakref.WeakKeyDictionary[ForwardAccumulator, Ways] = weakref.WeakKeyDictionary()


def _note_tangents() -> None:
    """From now on, note where each accumulator begins, and in which direction."""
    begin = ForwardAccumulator.__init__

    @functools.wraps(begin)
    def beginning(self: ForwardAccumulator, primals: Any, tangents: Any) -> None:
        begin(self, primals, tangents)
        pairs = zip(nest.flatten(primals), nest.flatten(tangents), strict=True)
        ways = [(place_of(p), convert_to_tensor(t, dtype=p.dtype).array) for p, t in pairs]
        _tangents[self] = ways
        notebook_of(self).tracked.update(place.key for place, _ in ways)

    ForwardAccumulator.__init__ = beginning  # type: ignore[method-assign]


WIDE = {"f": float64, "c": complex128}


def _widen() -> None:
    """Make `tf.float32` mean float64, wherever it was already imported, and widen all births.

    A difference quotient of float32 values has three digits; one of float64 values has twelve.
    """
    for dtype in ALL:
        wide = WIDE.get(dtype.numpy_dtype.kind)
        if wide is not None and wide is not dtype:
            for attribute in DType.__slots__:
                setattr(dtype, attribute, getattr(wide, attribute))
    born = Tensor.__init__

    def born_wide(self: Tensor, array: Any) -> None:
        born(self, array)
        self.array = _widened(self.array)

    Tensor.__init__ = born_wide  # type: ignore[method-assign]


def _widened(array: Array) -> Array:
    """The array in the widest type of its kind."""
    wide = WIDE.get(array.dtype.kind)
    return array if wide is None else array.astype(wide.numpy_dtype, copy=False)


_widen()
take_notes()
_note_tangents()
_make_checked(GradientTape, "gradient", _reverse(Reverse), "trace")
_make_checked(GradientTape, "jacobian", _reverse(Jacobian), "trace")
_make_checked(GradientTape, "batch_jacobian", _reverse(BatchJacobian), "trace")
_make_checked(ForwardAccumulator, "jvp", _forward)

tf = reference_impl
"""The namespace that programs see."""
