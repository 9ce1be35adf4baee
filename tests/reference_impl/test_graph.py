"""tf.function, tf.gradients, overriding maps: what the oracle can say of graphs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import reference_impl as tf
from reference_impl import registry
from reference_impl.tensor import Tensor


@pytest.fixture(autouse=True)
def _registry_is_restored() -> Iterator[None]:
    yield
    registry._named.clear()


def test_a_function_takes_options_and_keeps_its_name_and_its_instance() -> None:
    class Scaled:
        factor = 3.0

        @tf.function(autograph=False)
        def scale(self, x: Tensor) -> Tensor:
            return x * self.factor

    assert float(Scaled().scale(tf.constant(2.0))) == 6.0
    assert Scaled.scale.__name__ == "scale"


def test_symbolic_gradients_see_what_no_tape_watched() -> None:
    @tf.function
    def slopes(x: Tensor, v: tf.Variable) -> object:
        y = x * x * v
        return tf.gradients(y, [x, v]), tf.gradients(y, x)

    both, alone = slopes(tf.constant(3.0), tf.Variable(2.0, trainable=False))
    assert [float(slope) for slope in both] == [12.0, 9.0]
    assert [float(slope) for slope in alone] == [12.0]


def test_symbolic_gradients_end_with_their_function() -> None:
    x = tf.constant(2.0)
    tf.function(lambda: x * x)()
    with pytest.raises(RuntimeError, match=r"tf\.gradients is not supported when eager"):
        tf.gradients(x * x, x)


def test_a_stopped_tensor_is_a_constant() -> None:
    @tf.function
    def partial(x: Tensor) -> object:
        y = x * x
        return tf.gradients(y * x, [x, y], stop_gradients=y)

    assert [float(slope) for slope in partial(tf.constant(3.0))] == [9.0, 3.0]


def test_a_target_that_is_stopped_is_unconnected() -> None:
    @tf.function
    def partial(x: Tensor) -> object:
        y = x * x
        return tf.gradients(y, x, stop_gradients=[y])

    assert partial(tf.constant(3.0)) == [None]


def test_some_targets_may_have_no_weight_of_their_own() -> None:
    @tf.function
    def weighted(x: Tensor) -> object:
        return tf.gradients([x * x, x * 5.0], x, grad_ys=[None, 10.0])

    assert float(weighted(tf.constant(3.0))[0]) == 56.0


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"grad_ys": [1.0, 2.0]}, ValueError, "Length mismatch. Passed 2 grad_ys for 1 ys"),
        ({"unconnected_gradients": "nonsense"}, ValueError, "Unknown value"),
    ],
)
def test_symbolic_gradients_refuse(options: dict, error: type, message: str) -> None:
    @tf.function
    def slope(x: Tensor) -> object:
        return tf.gradients(x * x, x, **options)

    with pytest.raises(error, match=message):
        slope(tf.constant(1.0))


def test_an_operation_without_gradient_beside_the_path_is_no_error() -> None:
    image = tf.constant([[[1.0, 2.0, 3.0]]])

    @tf.function
    def slope(x: Tensor) -> object:
        return tf.gradients(tf.reduce_sum(tf.image.adjust_contrast(image, 2.0)) + x * x, x)

    assert float(slope(tf.constant(3.0))[0]) == 6.0


def test_an_operation_without_gradient_on_the_path_is_an_error() -> None:
    @tf.function
    def slope(x: Tensor) -> object:
        return tf.gradients(tf.image.adjust_contrast(x, 2.0), x)

    with pytest.raises(LookupError, match=r"No gradient defined.*AdjustContrastv2"):
        slope(tf.constant([[[1.0, 2.0, 3.0]]]))


def test_under_a_tape_the_call_raises_unless_the_path_is_stopped() -> None:
    adjust = tf.function(lambda x: tf.image.adjust_contrast(x, 2.0))
    stopped = tf.function(lambda x: x * tf.stop_gradient(tf.image.adjust_contrast(x, 2.0)))
    x = tf.constant([[[1.0, 2.0, 3.0]]])
    assert adjust(x).shape == [1, 1, 3]
    with tf.GradientTape() as tape:
        adjust(x)  # not watched
        tape.watch(x)
        with pytest.raises(LookupError, match="AdjustContrastv2"):
            adjust(x)
        y = stopped(x)
    assert tape.gradient(y, x).numpy().tolist() == [[[1.0, 2.0, 3.0]]]


def test_hessians_of_two_sources() -> None:
    @tf.function
    def second(x: Tensor, y: Tensor) -> object:
        return tf.hessians(tf.reduce_sum(x * x * x) * y * y, [x, y])

    by_x, by_y = second(tf.constant([1.0, 2.0]), tf.constant(3.0))
    assert by_x.numpy().tolist() == [[54.0, 0.0], [0.0, 108.0]]
    assert float(by_y) == 18.0


def test_an_overridden_gradient_is_used_outside_and_symbolically() -> None:
    @tf.RegisterGradient("Tenfold")
    def tenfold(op: object, upstream: Tensor) -> Tensor:
        return upstream * 10.0

    @tf.function
    def f(x: Tensor) -> object:
        with tf.compat.v1.get_default_graph().gradient_override_map({"Square": "Tenfold"}):
            y = tf.square(x)
        return y, tf.gradients(y, x)[0]

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y, symbolic = f(x)
    assert (float(y), float(symbolic), float(tape.gradient(y, x))) == (9.0, 10.0, 10.0)


def test_an_override_outside_a_function_changes_nothing() -> None:
    tf.no_gradient("Nothing")
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.compat.v1.get_default_graph().gradient_override_map({"Square": "Nothing"}):
            y = tf.square(x)
    assert float(tape.gradient(y, x)) == 6.0


def test_an_override_to_no_gradient_is_unconnected() -> None:
    tf.no_gradient("Nothing")

    @tf.function
    def f(x: Tensor) -> object:
        with tf.compat.v1.get_default_graph().gradient_override_map({"Square": "Nothing"}):
            return tf.gradients(tf.square(x), x)

    assert f(tf.constant(3.0)) == [None]
