"""Tensors, variables, slices, structures, dtypes: the nouns of the contract."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference_impl as tf

Pair = namedtuple("Pair", ["x", "y"])
LEAVES = st.none() | st.integers()
STRUCTURES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=2), inner, max_size=3)
        | st.builds(Pair, inner, inner)
    ),
    max_leaves=8,
)


@given(STRUCTURES)
def test_packing_is_the_inverse_of_flattening(structure: Any) -> None:
    packed = tf.nest.pack_sequence_as(structure, tf.nest.flatten(structure))
    assert packed == structure
    assert type(packed) is type(structure)


def test_dicts_are_read_in_the_order_of_their_keys() -> None:
    assert tf.nest.flatten({"b": 1, "a": [2, None]}) == [2, None, 1]
    assert list(tf.nest.map_structure(str, {"b": 1, "a": 2})) == ["b", "a"]
    with pytest.raises(ValueError, match="Structure had 2 atoms"):
        tf.nest.pack_sequence_as([1, 2], [1])


def test_a_gradient_has_the_structure_of_its_sources() -> None:
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * 2.0
    found = tape.gradient(y, Pair([x], {"k": (x,)}))
    assert isinstance(found, Pair)
    assert (float(found.x[0]), float(found.y["k"][0])) == (2.0, 2.0)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1.0, tf.float32), (1, tf.int32), (True, tf.bool), ("a", "string"), (1j, tf.complex128),
        ([[1.0, 2]], tf.float32), (2**40, tf.int64), (np.float64(1.0), tf.float64),
        (np.array([1]), tf.int64), ([], tf.float32),
    ],
)  # fmt: skip
def test_python_values_have_tensorflows_dtypes(value: Any, dtype: Any) -> None:
    assert tf.constant(value).dtype == dtype


def test_python_values_adopt_the_dtype_of_the_tensor_exactly() -> None:
    x = tf.constant(2.0, tf.float64)
    assert float(x * 0.1) == 0.2
    assert (x * np.int32(1)).dtype == tf.float64
    assert (np.array(2.0) * tf.constant(1.0)).dtype == tf.float32
    with pytest.raises(TypeError, match=r"Cannot convert 2\.5 to EagerTensor of dtype int32"):
        tf.constant(1) * 2.5


def test_nothing_is_cast_silently_between_tensors() -> None:
    for f in (tf.multiply, tf.maximum, tf.less):
        with pytest.raises(tf.errors.InvalidArgumentError, match="expected to be a float tensor"):
            f(tf.constant(1.0), tf.constant(1.0, tf.float64))
    with pytest.raises(tf.errors.InvalidArgumentError, match="not in the list of allowed values"):
        tf.sin(tf.constant(1))


def test_shapes_that_do_not_fit_are_refused_with_tensorflows_words() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Incompatible shapes: \[2\] vs"):
        tf.constant([1.0, 2.0]) + tf.constant([1.0, 2.0, 3.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Matrix size-incompatible"):
        tf.matmul([[1.0, 2.0]], [[1.0, 2.0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="the requested shape has 3"):
        tf.reshape([1.0, 2.0], [3])


def test_tensors_are_compared_by_value() -> None:
    x = tf.constant([1.0, 2.0])
    assert (x == x).numpy().tolist() == [True, True]
    assert (x == None) is False  # noqa: E711
    assert x.shape == (2,) == x.shape
    assert x.shape == [2]


def test_a_scalar_converts_and_a_vector_does_not() -> None:
    assert (float(tf.constant(1.5)), int(tf.constant(2)), bool(tf.constant(0))) == (1.5, 2, False)
    for convert in (float, int, bool):
        with pytest.raises((TypeError, ValueError)):
            convert(tf.constant([1.0, 2.0]))
    with pytest.raises(TypeError):
        list(tf.constant(1.0))


def test_variables_have_names_and_change() -> None:
    v = tf.Variable(1.0, name="x")
    assert (v.name, tf.Variable(1.0).name) == ("x:0", "Variable:0")
    assert v.assign_add(2.0).numpy() == 3.0
    assert float(v.assign_sub(1.0) + 1.0) == 3.0
    assert float(v.assign(7.0).value()) == 7.0
    with pytest.raises(ValueError, match="Shape mismatch"):
        v.assign([1.0])
    with pytest.raises(ValueError, match="Tensor conversion requested dtype float32"):
        v.assign(tf.constant(1.0, tf.float64))


def test_a_module_finds_its_variables_in_order() -> None:
    class Layer(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = tf.Variable(1.0, name="w")
            self.b = [tf.Variable(2.0, name="b"), tf.Variable(3.0, name="c", trainable=False)]

    class Model(tf.Module):
        def __init__(self) -> None:
            super().__init__(name="model")
            self.a_layer = Layer()
            self.z = tf.Variable(0.0, name="z")
            self.alias = self.z

    assert [v.name for v in Model().trainable_variables] == ["z:0", "b:0", "w:0"]
    assert [v.name for v in Model().variables] == ["z:0", "b:0", "c:0", "w:0"]


def test_gather_gives_slices_that_add_up() -> None:
    v = tf.Variable([[1.0], [2.0], [3.0]])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.gather(v, [2, 0]) + 2.0 * tf.gather(v, [2, 1])
        z = tf.reduce_sum(tf.gather(v, [0])) + tf.reduce_sum(v)
    found = tape.gradient(y, v)
    assert isinstance(found, tf.IndexedSlices)
    rows = zip(found.indices.numpy().tolist(), found.values.numpy().ravel().tolist(), strict=True)
    assert sorted(rows) == [(0, 1.0), (1, 2.0), (2, 1.0), (2, 2.0)]
    assert found.dense_shape.numpy().tolist() == [3, 1]
    assert tf.convert_to_tensor(found).numpy().tolist() == [[1.0], [2.0], [3.0]]
    assert tape.gradient(z, v).numpy().tolist() == [[2.0], [1.0], [1.0]]
    with pytest.raises(AttributeError, match="'IndexedSlices' object has no attribute '_id'"):
        tape.gradient(found, v)


def test_an_untaken_branch_is_unconnected() -> None:
    a, b = tf.constant(1.0), tf.constant(5.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([a, b])
        y = tf.cond(tf.constant(True), lambda: a**2, lambda: b**2)
        z = tf.switch_case(tf.constant(7), [lambda: a * 1.0, lambda: b * 3.0])
        n, w = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * a), [0, b])
    assert tape.gradient(y, [a, b])[1] is None
    assert float(tape.gradient(z, b)) == 3.0
    assert (int(n), float(tape.gradient(w, a))) == (3, 15.0)


@pytest.mark.parametrize("shape", [(), (1,), (3,), (1, 3), (2, 1), (2, 3), (0,), (2, 0)])
def test_broadcasting_is_undone_to_the_shape_of_each_input(shape: tuple[int, ...]) -> None:
    for other in [(), (1,), (3,), (2, 1), (2, 3), (1, 1), (0,), (1, 0)]:
        x, y = tf.ones(shape), tf.ones(other) * 2.0
        try:
            wide = np.broadcast_shapes(shape, other)
        except ValueError:
            continue
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = x * y
        ct_x, ct_y = tape.gradient(z, [x, y])
        assert (ct_x.shape, ct_y.shape) == (shape, other)
        repeated = np.prod(wide, dtype=int) / max(np.prod(shape, dtype=int), 1)
        assert np.all(ct_x.numpy() == 2.0 * repeated)


@pytest.mark.tensorflow
def test_the_programs_of_the_contract_give_tensorflows_answers() -> None:
    real = pytest.importorskip("tensorflow")
    programs = [
        lambda tf, x: tf.reduce_sum(tf.sin(x) * x),
        lambda tf, x: tf.gather(x, [1, 1, 0]),
        lambda tf, x: tf.where(x > 1.0, x, x * x),
        lambda tf, x: tf.reduce_prod(x - 1.0),
        lambda tf, x: tf.floor(x),
        lambda tf, x: tf.nn.softmax_cross_entropy_with_logits([0.5, 0.25, 0.25], x),
    ]
    for program in programs:
        answers = []
        for module in (real, tf):
            x = module.constant([1.0, 2.0, 0.5])
            with module.GradientTape() as tape:
                tape.watch(x)
                y = program(module, x)
            slope = tape.gradient(y, x)
            answers.append(None if slope is None else module.convert_to_tensor(slope).numpy())
        if answers[0] is None:
            assert answers[1] is None
        else:
            np.testing.assert_allclose(answers[1], answers[0], rtol=1e-6)


def test_float8_rounds_to_even_and_cuts_the_path() -> None:
    x = tf.constant([3.0, -0.5, 1.125, 1.375, 1e30, float("nan"), 2.0**-16])
    with tf.GradientTape() as tape:
        tape.watch(x)
        narrow = tf.cast(x, tf.dtypes.experimental.float8_e5m2)
        y = tf.cast(narrow, tf.float32)
    assert narrow.dtype == tf.dtypes.experimental.float8_e5m2
    expected = [3.0, -0.5, 1.0, 1.5, np.inf, np.nan, 2.0**-16]
    np.testing.assert_array_equal(y.numpy(), expected)
    assert tape.gradient(y, x) is None


def test_the_float_of_an_identity_of_several_dtypes_is_connected() -> None:
    x, unused = tf.constant(2.0), tf.constant(5.0)
    with tf.GradientTape() as tape:
        tape.watch([x, unused])
        y, _, text = tf.raw_ops.IdentityN(input=[x, unused, tf.constant("a")])
        z = y * y
    assert text.numpy() == b"a"
    assert [float(slope) for slope in tape.gradient(z, [x, unused])] == [4.0, 0.0]


def test_special_functions_at_their_poles() -> None:
    zero = tf.constant([0.0, -2.0])
    assert tf.math.lgamma(zero).numpy().tolist() == [np.inf, np.inf]
    assert np.isnan(tf.math.digamma(zero).numpy()).all()
    assert tf.math.zeta([2.0, 2.0], zero).numpy().tolist() == [np.inf, np.inf]
    assert tf.math.zeta(1.0, 3.0).numpy() == np.inf
    outside = [tf.math.zeta(0.5, 1.0), tf.math.polygamma(0.5, 1.0), tf.math.betainc(1.0, 1.0, 2.0)]
    assert all(np.isnan(value.numpy()) for value in outside)
    assert tf.math.betainc([2.0, 2.0], [3.0, 3.0], [0.0, 1.0]).numpy().tolist() == [0.0, 1.0]


def test_colours_and_histograms() -> None:
    hsv = tf.constant([[0.25, 0.5, 0.75], [0.0, 0.0, 0.5]])
    expected = [[0.5625, 0.75, 0.375], [0.5, 0.5, 0.5]]
    np.testing.assert_allclose(tf.image.hsv_to_rgb(hsv).numpy(), expected, rtol=1e-6)
    colours = tf.constant([[0.5, 0.0, 0.25], [0.5, 0.5, 0.5], [0.75, 0.5, 0.25]])
    halved = [[0.5, 0.25, 0.375], [0.5, 0.5, 0.5], [0.75, 0.625, 0.5]]
    full = [[0.5, 0.0, 0.25], [0.5, 0.5, 0.5], [0.75, 0.375, 0.0]]
    for factor, expected in ((0.5, halved), (9.0, full)):
        found = tf.image.adjust_saturation(colours, factor).numpy()
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    counts = tf.histogram_fixed_width([-1.0, 0.5, 1.5, 9.0], [0.0, 2.0], 4)
    assert counts.numpy().tolist() == [1, 1, 0, 2]
    assert counts.dtype == tf.int32
