"""Make conformance/corpus/language/names.txt: what a case may name under `tf.` and `np.`.

Run `python -m tests.corpus.framework` where TensorFlow 2.21 is installed. The public interface is
walked, and of it is taken what computes: no input or output, nothing that loads code, no files, no
devices, no `compat.v1`. Of `raw_ops` only what has a registered gradient is taken. What other
releases or older spellings add, and the corpus uses, stands in BY_HAND.

The block `taken` names attributes of the classes of Python, NumPy and TensorFlow: a case's own
class gives none of them another meaning, for its methods can be called with any value as `self`.
"""

from __future__ import annotations

import builtins
import functools
import io
import pathlib
import re
import textwrap
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[2] / "conformance" / "corpus" / "language" / "names.txt"
VERSION = "2.21"

WHOLE = (
    *("tf", "tf.math", "tf.math.special", "tf.nn", "tf.nn.experimental", "tf.linalg"),
    *("tf.linalg.experimental", "tf.image", "tf.signal", "tf.sparse", "tf.ragged", "tf.strings"),
    *("tf.bitwise", "tf.sets", "tf.random", "tf.nest", "tf.errors", "tf.dtypes", "tf.queue"),
    *(
        "tf.dtypes.experimental",
        "tf.quantization",
        "tf.autodiff",
        "tf.debugging",
        "tf.experimental.numpy",
    ),
    *("tf.experimental.numpy.random", "tf.keras.activations", "tf.keras.initializers"),
    *("tf.keras.layers", "tf.keras.losses", "tf.keras.regularizers", "np", "np.linalg", "np.fft"),
)
"""The modules whose names are taken, but for those that REFUSED matches."""

REFUSED = re.compile(
    r"""tf\.(load_\w+|import_graph_def|device|DeviceSpec|get_logger|make_ndarray|make_tensor_proto
    |nondifferentiable_batch_function|check_pinned|conv2d_backprop\w+|print|\w*Spec|Operation)
    |tf\.\w+\.(enable|disable|set|get)_(?!loop_options|seed|static_value|shape)\w+
    |tf\.image\.(decode|encode|is_jpeg|extract_jpeg)\w*
    |tf\.nn\.RNNCell\w+|tf\.queue\.QueueBase
    |tf\.experimental\.numpy\.experimental_\w+
    |tf\.keras\.\w+\.(get|serialize|deserialize|experimental)
    |tf\.keras\.(layers|initializers|regularizers)\.[a-z]\w*
    |tf\.keras\.layers\.(TFSMLayer|TorchModuleWrapper|JaxLayer|FlaxLayer|TextVectorization
    |\w*Lookup|Hash\w+|Input\w+|Random\w+|Auto\w+|Rand\w+|Aug\w+|MelSpectrogram|Pipeline|Discret\w+)
    |np\.(load\w*|save\w*|gen\w+|from\w+|mem\w+|bmat|ndarray|matrix|asmatrix|test|show_\w+|info
    |set\w*|get\w*|print\w*|array2string|array_\w+|format_\w+|busday\w+|is_busday|datetime\w*
    |timedelta\w*|object_|void|record|recarray|vectorize|frompyfunc|require|who|source|lookfor
    |nested_iters|typename|mintypecode|base_repr|binary_repr|add_\w+|err\w+|put\w*|copyto|place
    |(linalg|fft)\.test|may_share_memory|shares_memory|einsum_path|\w*_like_object)""",
    re.VERBOSE,
)
CLASSES = (
    *("tf.AggregationMethod", "tf.UnconnectedGradients", "tf.VariableAggregation"),
    *("tf.VariableSynchronization", "tf.image.ResizeMethod"),
    *("tf.RaggedTensor", "tf.SparseTensor"),
)
"""The classes whose constants and constructors are taken too."""

NO_COMPUTATION = re.compile(
    "Py|Dataset|Remote|Debug|Print|Call|Case|If|While|Nccl|Collective|Cross|AllToAll|Reader|Table"
    "|Ref|Enter|Exit|Switch|Merge|Iteration|Variant|Session|Tpu|TPU"
)
"""Raw operations that are control flow, transport or bookkeeping."""

BY_HAND = """
    tf.autograph.experimental.set_loop_options tf.autograph.experimental.do_not_convert
    tf.data.Dataset.from_tensor_slices tf.data.Dataset.from_tensors tf.data.Dataset.range
    tf.keras.Sequential tf.keras.Model tf.keras.optimizers.Adam tf.keras.optimizers.SGD
    tf.lookup.StaticHashTable tf.lookup.KeyValueTensorInitializer
    tf.print tf.TensorSpec tf.linalg.set_diag
    tf.compat.v1.NoGradient tf.compat.v1.NotDifferentiable tf.compat.v1.RegisterGradient
    tf.compat.v1.get_default_graph tf.compat.v1.get_variable tf.compat.v1.grad_pass_through
    tf.compat.v1.gradients tf.compat.v1.no_gradient
    tf.NoGradient tf.NotDifferentiable
    tf.experimental.grad_pass_through tf.raw_ops.NoGradient tf.raw_ops.no_gradient
    tf.raw_ops.IdentityN tf.raw_ops.PreventGradient tf.raw_ops.VarHandleOp
    tf.raw_ops.RaggedTensorFromVariant tf.raw_ops.RaggedTensorToVariant
"""


def names() -> list[str]:
    """Every dotted name that a case may write."""
    import numpy
    import tensorflow

    found = set(BY_HAND.split())
    for module in WHOLE:
        root, *path = module.split(".")
        inside: Any = tensorflow if root == "tf" else numpy
        for name in path:
            inside = getattr(inside, name)
        public = numpy.__all__ if module == "np" else [n for n in dir(inside) if n[0] != "_"]
        for name in public:
            dotted = f"{module}.{name}"
            if not REFUSED.fullmatch(dotted) and _is_taken(getattr(inside, name), root):
                found |= {dotted, *_members(dotted, getattr(inside, name))}
    found |= {f"tf.raw_ops.{name}" for name in _differentiable(tensorflow)}
    return sorted(found)


def _is_taken(thing: Any, root: str) -> bool:
    if isinstance(thing, types.ModuleType):
        return False
    if root == "np" and isinstance(thing, type):
        import numpy

        return issubclass(thing, numpy.generic) or thing is numpy.dtype
    return root == "tf" or callable(thing) or isinstance(thing, float | int | type(None))


def _members(dotted: str, thing: Any) -> Iterator[str]:
    """The members of an enumeration, or the constructors of a class."""
    for name in dir(thing) if dotted in CLASSES else ():
        if name.startswith("from_") or (name.isupper() and not name.startswith("_")):
            yield f"{dotted}.{name}"


def _differentiable(tensorflow: Any) -> Iterator[str]:
    """The raw operations whose gradient TensorFlow registers."""
    from tensorflow.python.framework import ops

    registered = ops.gradient_registry._registry
    for name in dir(tensorflow.raw_ops):
        differentiable = name in registered and registered[name]["type"] is not None
        if differentiable and not NO_COMPUTATION.search(name):
            yield name


def taken_attributes() -> list[str]:
    """The public attributes of Python's, NumPy's and TensorFlow's classes, without ATTRIBUTES."""
    import numpy
    import tensorflow as tf

    from conformance.corpus.language.vocabulary import ATTRIBUTES

    kinds = [
        kind
        for module in (builtins, functools, io, pathlib, types)
        for kind in vars(module).values()
        if isinstance(kind, type) and not issubclass(kind, BaseException)
    ]
    function = tf.function(tf.identity)
    things = [tf.constant(1.0), tf.Variable(1.0), tf.Graph(), function, tf.range, tf.float32]
    things += [function.get_concrete_function(1.0), tf.data.Dataset.range(1), numpy.sin]
    things += [iter(tf.data.Dataset.range(1)), tf.GradientTape(), numpy.array(1.0)]
    kinds += [*map(type, things), numpy.generic, numpy.dtype, tf.Operation, tf.RaggedTensor]
    kinds += [tf.SparseTensor, tf.TensorArray, tf.TensorShape, tf.TensorSpec, tf.Module]
    kinds += [tf.keras.Model, tf.keras.Sequential, tf.keras.layers.RNN, tf.keras.losses.Loss]
    kinds += [tf.queue.FIFOQueue, tf.random.Generator, tf.linalg.LinearOperator]
    found = {name for kind in kinds for name in dir(kind) if not name.startswith("_")}
    return sorted(found - ATTRIBUTES - {"apply"})  # a method of the corpus; of datasets, harmless


def text() -> str:
    """The whole file."""
    by_module: dict[str, list[str]] = {}
    for dotted in names():
        module, _, name = dotted.rpartition(".")
        by_module.setdefault(module, []).append(name)
    by_module["taken"] = taken_attributes()
    blocks = [f"{module}:\n{_wrapped(inside)}\n" for module, inside in sorted(by_module.items())]
    return f"# Made by tests/corpus/framework.py from TensorFlow {VERSION}.\n" + "".join(blocks)


def _wrapped(words: list[str]) -> str:
    return textwrap.fill(" ".join(words), 100, initial_indent="  ", subsequent_indent="  ")


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
