"""The closed lists of words that a case's program may use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

ROOTS = ("tf", "np")
TAPE = "tf.GradientTape"
PROBES = ("alive",)
BUILTINS = (
    *("range", "len", "max", "min", "sum", "float", "int", "bool", "tuple", "list", "dict"),
    *("super", "zip", "isinstance", "next", "iter"),
)
METHODS = ("__init__", "__call__")
"""The names with underscores that a class of a program may define."""
RECORDED = ("recorded_ops", *(f"recorded_ops_{number}" for number in range(2, 20)))
"""What the functions of the mode `call` are named."""
RESERVED = ("case", "raised", "calls", *RECORDED)

ATTRIBUTES = frozenset(
    re.findall(
        r"\w+",
        """
    watch gradient jacobian batch_jacobian stop_recording reset watched_variables jvp
    shape dtype name numpy ndim size T values indices dense_shape flat_values row_splits
    op type trainable assign assign_add assign_sub value read_value ref deref
    scatter_sub scatter_add scatter_update sparse_read gather_nd
    variables trainable_variables trainable_weights weights kernel bias non_trainable_variables
    merge_dims to_list with_values with_flat_values to_tensor append pop keys items get
    batch map take repeat enqueue dequeue enqueue_many dequeue_many write read stack unstack concat
    get_concrete_function as_list rank num_elements __wrapped__
    mean std
    gradient_override_map inputs outputs as_default scatter gather apply_gradients
    """,
    )
)
"""Attributes that a program may read of any value."""

FORBIDDEN_KEYWORDS = ("output_stream", "device", "caching_device", "custom_getter")
"""Keywords that write files, choose devices, or hand over the framework's own functions."""

BASES = ("tf.Module", "tf.keras.Model", "tf.keras.layers.Layer")
"""What a class of a program may derive from, but for its own classes."""

BUILT_FROM_PLAIN_VALUES = re.compile(r"tf\.keras\.(\w+\.)?[A-Z]\w*")
"""Classes that import code by the names in a dictionary that one of their arguments is."""


@cache
def names_by_module() -> Mapping[str, frozenset[str]]:
    """What names.txt lists: the names under each module of `tf.` and `np.`, and those `taken`.

    Made by tests/corpus/framework.py, which says what is listed and why.
    """
    found: dict[str, frozenset[str]] = {}
    text = Path(__file__).with_name("names.txt").read_text(encoding="utf-8")
    for block in re.findall(r"^[\w.]+:\n(?:  .*\n)+", text, re.MULTILINE):
        module, _, names = block.partition(":")
        found[module] = frozenset(names.split())
    return found


CHANGES_THE_PROCESS = re.compile(
    r"tf\.(RegisterGradient|no_gradient|register_tensor_conversion_function)"
    r"|tf\.compat\.v1\.(RegisterGradient|no_gradient|NoGradient|NotDifferentiable)"
)
"""Names whose effect outlives the program: a case that uses one has a process of its own."""

LOOP_OPTIONS = "tf.autograph.experimental.set_loop_options"
"""What a `while` begins with: XLA cannot differentiate an unbounded loop."""

PLUMBING = (
    *("tf.GradientTape", "tf.constant", "tf.Variable", "tf.convert_to_tensor", "tf.function"),
    *("tf.custom_gradient", "tf.recompute_grad", "tf.grad_pass_through", "tf.stop_gradient"),
    *("tf.UnconnectedGradients", "tf.identity", "tf.autograph", "tf.print"),
)
"""Calls that compute nothing: they do not count as operations of a program."""

CONVENTIONS = ("kink", "tie", "pole", "convention")
"""The tags of cases whose answer is agreed upon, not computed: mathematics has none there."""
NOT_PORTABLE = {
    "symbolic": "tf.gradients, of TensorFlow's graphs",
    "graphs": "TensorFlow's graphs and their compatibility names",
    "gradient_registry": "the registry by which TensorFlow finds gradients",
    "modules": "modules and layers of TensorFlow and Keras",
    "python_calls": "Python called from TensorFlow's graphs",
    "containers": "tensor arrays, queues, datasets and tables of TensorFlow",
    "raw_operations": "operations by the names of TensorFlow's kernels",
    "strings": "tensors of text",
    "composites": "sparse and ragged tensors",
    "indexed_slices": "TensorFlow's own form of a sparse gradient",
    "lifetimes": "when objects are let go",
    "error_wording": "the words of TensorFlow's errors",
    "warnings": "the words of TensorFlow's log",
}
"""The features of cases about TensorFlow's own ways, and what these are: another framework that
has gradients need not have them. A case with none of them is portable."""
TAGS = (
    *("doc-claim", *CONVENTIONS, "lifetime", "slow"),
    *("scalar", "structure", "dtype", "complex", "sparse", "ragged"),
)
"""What a case may be tagged with; what its program shows (persistent, nested) is derived."""
