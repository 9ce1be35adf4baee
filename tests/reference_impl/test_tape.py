"""The tape: what it records, how it walks, when it may be asked, and what it lets go."""

from __future__ import annotations

import gc
import logging
import threading
import time
import weakref
from typing import Any

import numpy as np
import pytest

import reference_impl as tf
from reference_impl import recording


def _value(tensor: Any) -> Any:
    return None if tensor is None else np.asarray(tensor).tolist()


# ----- The walk -----


def test_same_tensor_on_both_sides_counts_twice() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert _value(tape.gradient(y, x)) == 6.0


def test_an_intermediate_source_does_not_cut_the_flow() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    assert _value(tape.gradient(z, [x, y])) == [108.0, 18.0]


def test_a_target_may_be_an_intermediate_of_another() -> None:
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        z = y * 3.0
    assert _value(tape.gradient([y, z], x)) == 4.0 + 12.0


def test_targets_that_are_sources_count_as_often_as_they_are_named() -> None:
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    assert _value(tape.gradient([x, y], x)) == 5.0
    assert _value(tape.gradient([x, x], x)) == 2.0
    assert _value(tape.gradient(y, [x, x])) == [4.0, 4.0]


def test_an_unused_output_contributes_zero() -> None:
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        first, _ = tf.split(x * x, [1, 2])
    assert _value(tape.gradient(first, x)) == [2.0, 0.0, 0.0]


def test_all_outputs_of_an_operation_contribute() -> None:
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        a, b, c = tf.unstack(x)
        y = a * b + c
    assert _value(tape.gradient(y, x)) == [2.0, 1.0, 1.0]


def test_stacked_diamonds_are_walked_in_linear_time() -> None:
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in range(60):
            y = (y + y) * 0.5
    start = time.perf_counter()
    assert _value(tape.gradient(y, x)) == 1.0
    assert time.perf_counter() - start < 1.0


def test_a_chain_of_ten_thousand_operations_does_not_recurse() -> None:
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in range(10_000):
            y = -y
    assert _value(tape.gradient(y, x)) == 1.0


def test_equal_constants_are_different_sources() -> None:
    a, b = tf.constant(3.0), tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        y = a + b
    assert _value(tape.gradient(y, [a])) == [1.0]


def test_a_dead_tensor_never_lends_its_identity() -> None:
    x = tf.constant(1.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        for _ in range(200):
            temporary = x * 2.0
            del temporary
            unrelated = tf.constant(5.0)
            assert tape.gradient(unrelated * 1.0, x) is None


def test_a_later_change_of_the_callers_array_is_not_seen() -> None:
    array = np.array([1.0, 2.0], np.float32)
    x = tf.constant(array)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    array[:] = 100.0
    y.numpy()[:] = 100.0
    assert _value(tape.gradient(y, x)) == [2.0, 4.0]


# ----- Seeds -----


def test_output_gradients_seed_their_targets() -> None:
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = x * x, x * 3.0
    assert _value(tape.gradient(y, x, output_gradients=tf.constant(3.0))) == 12.0
    by_key = {"a": tf.constant(1.0), "b": tf.constant(10.0)}
    assert _value(tape.gradient({"b": y, "a": z}, x, output_gradients=by_key)) == 43.0


def test_none_among_output_gradients_is_refused() -> None:
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    with pytest.raises(ValueError, match="Attempt to convert a value \\(None\\)"):
        tape.gradient([y], x, output_gradients=[None])


def test_an_output_gradient_of_another_shape_or_dtype_is_refused() -> None:
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
        tape.gradient(y, x, output_gradients=tf.constant([1.0, 2.0]))
    for wrong_number in ([], [1.0, 1.0]):
        with pytest.raises(ValueError, match="Length mismatch"):
            tape.gradient([y], x, output_gradients=wrong_number)
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected to be a double"):
        tape.gradient(y, x, output_gradients=tf.constant(1.0, tf.float64))


# ----- Watching -----


def test_trainable_variables_are_watched_when_read() -> None:
    x0 = tf.Variable(3.0, name="x0")
    x1 = tf.Variable(3.0, name="x1", trainable=False)
    x2 = tf.Variable(2.0, name="x2") + 1.0
    x3 = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x0**2 + x1**2 + x2**2
    assert _value(tape.gradient(y, [x0, x1, x2, x3])[0]) == 6.0
    assert [v.name for v in tape.watched_variables()] == ["x0:0"]


def test_watched_variables_are_listed_in_the_order_of_construction() -> None:
    a, b = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b")
    with tf.GradientTape() as tape:
        tape.gradient(b * a, [])
    assert [v.name for v in tape.watched_variables()] == ["a:0", "b:0"]


def test_variables_need_watching_if_the_tape_says_so() -> None:
    x0, x1 = tf.Variable(0.0), tf.Variable(10.0)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(x1)
        y = tf.reduce_sum(tf.math.sin(x0) + tf.nn.softplus(x1))
    grad = tape.gradient(y, {"x0": x0, "x1": x1})
    assert grad["x0"] is None
    assert float(grad["x1"]) == pytest.approx(0.9999546)


def test_watching_comes_too_late_for_what_was_computed_before() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        tape.watch(x)
        z = x * 2.0
    assert _value(tape.gradient([y, z], x)) == 2.0


def test_an_unwatched_source_is_unconnected_even_if_the_target_depends_on_it() -> None:
    x, c = tf.constant(3.0), tf.constant(2.0)
    frozen = tf.Variable(5.0, trainable=False)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * c * frozen
    assert _value(tape.gradient(y, [x, c, frozen])[0]) == 10.0
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * c * frozen
    assert tape.gradient(y, [c, frozen]) == [None, None]


def test_watching_is_local_to_the_tape() -> None:
    x1, x2 = tf.Variable(2.0, trainable=False), tf.Variable(2.0, trainable=False)
    with tf.GradientTape(persistent=True) as tape1:
        tape1.watch(x1)
        with tf.GradientTape() as tape2:
            tape2.watch([x1, {"deep": x2}])
            y, z = x1**3, x2**2
        dy, dz = tape2.gradient([y, z], [x1, x2])
    assert _value(tape1.gradient(dy, x1)) == 12.0
    assert tape1.gradient(dz, x2) is None


@pytest.mark.parametrize("bad", ["text", None, 1.0, np.array(1.0)])
def test_only_tensors_and_variables_can_be_watched(bad: Any) -> None:
    with tf.GradientTape() as tape, pytest.raises(ValueError, match="Passed in object"):
        tape.watch(bad)


def test_an_integer_is_watched_in_vain(caplog: pytest.LogCaptureFixture) -> None:
    x = tf.constant(10)
    with caplog.at_level(logging.WARNING, logger="tensorflow"), tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert caplog.messages == [
        "The dtype of the watched tensor must be floating (e.g. tf.float32), got tf.int32"
    ]
    assert tape.gradient(y, x) is None


def test_a_target_that_is_the_source_is_one_for_integers_and_none_for_strings() -> None:
    with tf.GradientTape(persistent=True) as tape:
        number, text = tf.constant(3), tf.constant("a")
    found = tape.gradient(number, number)
    assert (_value(found), found.dtype) == (1, tf.int32)
    assert tape.gradient(text, text) is None


def test_a_variable_stops_the_history_of_what_was_assigned() -> None:
    x0, x1 = tf.Variable(3.0), tf.Variable(0.0)
    with tf.GradientTape(persistent=True) as tape:
        x1.assign_add(x0)
        y = x1**2
    assert tape.gradient(y, x0) is None
    assert _value(tape.gradient(y, x1)) == 6.0


# ----- Unconnected -----


def test_unconnected_is_none_or_zeros_of_the_source() -> None:
    x, w = tf.constant([1.0, 2.0], tf.float64), tf.Variable([[1, 2]])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.constant(3.0) * 2.0
    assert tape.gradient(y, [x, w]) == [None, None]
    zeros = tape.gradient(y, [x, w], unconnected_gradients=tf.UnconnectedGradients.ZERO)
    assert [(z.dtype, z.shape, _value(z)) for z in zeros] == [
        (tf.float64, (2,), [0.0, 0.0]),
        (tf.int32, (1, 2), [[0, 0]]),
    ]


@pytest.mark.parametrize(
    "cut", [tf.floor, tf.round, tf.stop_gradient, tf.zeros_like, lambda x: tf.cast(x, tf.int32)]
)
def test_some_operations_leave_their_input_unconnected(cut: Any) -> None:
    x = tf.constant([1.5])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = cut(x)
    assert tape.gradient(y, x) is None


def test_an_operation_without_a_rule_is_an_error_that_names_it() -> None:
    image, delta = tf.Variable([[[0.5, 0.0, 0.0]]]), tf.Variable(0.1)
    with tf.GradientTape(persistent=True) as tape:
        y = tf.image.adjust_contrast(image, delta)
    for sources in (image, delta):
        with pytest.raises(LookupError, match="no entry for: AdjustContrastv2"):
            tape.gradient(y, sources)


def test_what_lies_behind_a_stopped_gradient_is_not_even_run() -> None:
    x = tf.constant(1.0)

    @tf.custom_gradient
    def trap(x: Any) -> Any:
        def grad(ct: Any) -> Any:
            raise AssertionError

        return x * 2.0, grad

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.stop_gradient(trap(x))
    assert tape.gradient(y, x) is None


# ----- Life cycle -----


def test_an_ordinary_tape_answers_once() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.gradient(y, x)
    for ask in (tape.gradient, tape.jacobian):
        with pytest.raises(RuntimeError, match="A non-persistent GradientTape can only be used to"):
            ask(y, x)
    with pytest.raises(RuntimeError, match="used tocompute one set"):
        tape.batch_jacobian(y, x)


def test_a_persistent_tape_answers_always() -> None:
    x = tf.constant([1.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    for _ in range(2):
        assert _value(tape.gradient(z, x)) == [4.0, 108.0]
        assert _value(tape.gradient(y, x)) == [2.0, 6.0]


def test_an_active_tape_cannot_be_entered() -> None:
    with (
        tf.GradientTape() as tape,
        pytest.raises(ValueError, match="Tape is still recording, This can happen"),
        tape,
    ):
        pass


def test_an_exited_tape_can_be_continued() -> None:
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = 2.0 * x
    lost = y * 5.0
    with tape:
        z = 2.0 * y
    assert _value(tape.gradient([z, lost], x)) == 4.0


def test_stop_recording_hides_what_happens_inside_only() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        x2 = 2.0 * x
        with tape.stop_recording():
            y = x2 * x2
        z = x2 * x2
    assert tape.gradient(y, x) is None
    assert _value(tape.gradient(z, x)) == 24.0


def test_stopping_needs_a_tape_that_records() -> None:
    tape = tf.GradientTape()
    with pytest.raises(RuntimeError, match="stop recording a tape which is not recording"):
        tape.stop_recording().__enter__()
    with tape:
        pass
    with pytest.raises(ValueError, match="Tape is not recording"):
        tape.stop_recording().__enter__()


def test_reset_forgets_records_and_watched_variables() -> None:
    v = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        loss = v * v
        tape.reset()
        assert tape.watched_variables() == ()
        loss += v * v
    assert _value(tape.gradient(loss, v)) == 2.0


def test_reset_needs_a_tape_that_records() -> None:
    with pytest.raises(ValueError, match="Tape is not recording"):
        tf.GradientTape().reset()


def test_bad_queries_leave_an_ordinary_tape_usable() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    with pytest.raises(TypeError, match="but received None"):
        tape.gradient(None, x)
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: 'nonsense'"):
        tape.gradient(y, x, unconnected_gradients="nonsense")
    with pytest.raises(AttributeError, match="has no attribute"):
        tape.gradient(y, 3.0)
    with pytest.raises(TypeError, match="`type_value`: None"):
        tape.gradient(y, [None])
    assert _value(tape.gradient(y, x)) == 6.0


def test_an_exception_leaves_no_tape_behind() -> None:
    with (
        pytest.raises(ZeroDivisionError),
        tf.GradientTape(),
        tf.GradientTape() as inner,
        inner.stop_recording(),
    ):
        raise ZeroDivisionError
    assert recording.thread.recorders == []


def test_tapes_may_be_left_in_any_order() -> None:
    x = tf.constant(2.0)
    first, second = tf.GradientTape(), tf.GradientTape()
    first.__enter__()
    second.__enter__()
    first.watch(x)
    second.watch(x)
    y = x * x
    first.__exit__(None, None, None)
    z = y * x
    second.__exit__(None, None, None)
    assert first.gradient(z, x) is None
    assert _value(second.gradient(z, x)) == 12.0


def test_another_threads_operations_are_not_recorded() -> None:
    x = tf.constant(2.0)
    out = []
    with tf.GradientTape() as tape:
        tape.watch(x)
        worker = threading.Thread(target=lambda: out.append(x * x))
        worker.start()
        worker.join()
    assert tape.gradient(out[0], x) is None


def test_a_persistent_tape_warns_about_queries_in_its_context(
    caplog: pytest.LogCaptureFixture,
) -> None:
    x = tf.constant(2.0)
    with caplog.at_level(logging.WARNING, logger="tensorflow"):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            first = tape.gradient(x * x * x, x)
        assert _value(tape.gradient(first, x)) == 12.0
    assert caplog.messages[0].startswith("Calling GradientTape.gradient on a persistent tape")


def test_an_ordinary_tape_stops_recording_when_asked_in_its_context() -> None:
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        first = tape.gradient(x * x, x)
        assert recording.thread.recorders == []
    assert _value(first) == 4.0


# ----- Nesting -----


def test_nested_tapes_give_higher_derivatives() -> None:
    x = tf.Variable(2.0)
    with tf.GradientTape() as t3:
        with tf.GradientTape() as t2:
            with tf.GradientTape() as t1:
                y = x**4
            first = t1.gradient(y, x)
        second = t2.gradient(first, x)
    third = t3.gradient(second, x)
    assert [_value(v) for v in (first, second, third)] == [32.0, 48.0, 48.0]


def test_a_linear_functions_second_derivative_is_unconnected() -> None:
    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * 3.0
        slope = inner.gradient(y, x)
    assert outer.gradient(slope, x) is None


def test_two_tapes_in_one_with_watch_for_themselves() -> None:
    x0, x1 = tf.constant(0.0), tf.constant(0.0)
    with tf.GradientTape(persistent=True) as t0, tf.GradientTape(persistent=True) as t1:
        t0.watch(x0)
        t1.watch(x1)
        y = tf.math.sin(x0) + tf.nn.sigmoid(x1)
    assert _value(t0.gradient(y, x0)) == 1.0
    assert _value(t1.gradient(y, x1)) == 0.25
    assert t0.gradient(y, x1) is None


# ----- Lifetimes -----


def test_an_ordinary_tape_lets_go_when_it_has_answered() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        middle = x * 2.0
        y = middle * middle
    alive = weakref.ref(middle)
    del middle
    assert alive() is not None
    tape.gradient(y, x)
    assert alive() is None


def test_a_persistent_tape_lets_go_when_it_dies() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        middle = x * 2.0
        y = middle * middle
    alive = weakref.ref(middle)
    del middle
    tape.gradient(y, x)
    assert alive() is not None
    del tape
    assert alive() is None


@pytest.mark.parametrize(
    ("operation", "is_kept"),
    [
        (tf.nn.relu, False),
        (tf.exp, False),
        (lambda v: -v, False),
        (tf.sin, True),
        (tf.square, True),
    ],
)
def test_a_record_keeps_only_what_its_rule_needs(operation: Any, is_kept: bool) -> None:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        middle = x * 2.0
        y = operation(middle)
    alive = weakref.ref(middle)
    del middle
    assert (alive() is not None) == is_kept
    tape.gradient(y, x)


def test_queries_leave_no_cycles_behind() -> None:
    gc.collect()
    x = tf.constant([1.0, 2.0])
    for _ in range(3):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(tf.sin(x) * x)
            slope = inner.gradient(y, x)
        outer.gradient(slope, x)
    assert gc.collect() == 0


def test_nothing_is_recorded_without_a_watched_input() -> None:
    with tf.GradientTape() as tape:
        tf.constant(1.0) * tf.constant(2.0)
    assert tape.trace is not None
    assert tape.trace.records == []
