"""What explains a difference: of TensorFlow alone, or of any target."""

from __future__ import annotations

from conformance.answers.mismatch import Mismatch
from conformance.suite.agreement import explanation_of

REVERSED = "v0 = tf.reverse(x, axis=[0])"
REFUSED = Mismatch("error", "g", "", "1.0", "InvalidArgumentError")
ROUNDED = Mismatch("value", "g", "", "0.0", "1e-17", difference=1e-17)


def test_what_tensorflow_does_explains_nothing_of_another_target() -> None:
    assert explanation_of(REVERSED, REFUSED)
    assert explanation_of(REVERSED, REFUSED, target="./tape.py") is None


def test_rounding_is_the_same_everywhere() -> None:
    entry = "inputs: {x: {constant: [1.0], dtype: float64}}"
    known = explanation_of(entry, ROUNDED, target="./tape.py")
    assert known
    assert known.everywhere
