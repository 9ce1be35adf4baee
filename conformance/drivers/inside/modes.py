"""How a program is called in a graph, and what it may ask of the process that runs it."""

import functools
import gc
import re
import weakref

DRAWS = re.compile(
    "random|normal|uniform|dropout|shuffle|fractional|sampl|multinomial|nce_loss|noise|initial|keras",
    re.IGNORECASE,
)
"""Words of what draws numbers. A seed makes TensorFlow forget its kernels, which takes longer than
most programs run."""


@functools.lru_cache(16)  # a forward is called hundreds of times
def _may_draw(source):
    return bool(DRAWS.search(source))


def seeded(tf, source):
    """Seed what a program draws, if its text says that it may; whether it does."""
    random = getattr(tf, "random", None)
    draws = _may_draw(source) and hasattr(random, "set_seed")
    if draws:
        random.set_seed(0)
    return draws


def call_in_graph(tf, case, inputs, **options):
    """Call the program inside one tf.function.

    Tensors come back through the graph; what a graph cannot return (None, errors, Python values,
    variables) stays in the structure that tracing made.
    """
    kinds = ("Tensor", "IndexedSlices", "RaggedTensor", "SparseTensor")
    returnable = tuple(getattr(tf, kind) for kind in kinds if hasattr(tf, kind))
    traced = []

    def graph(*inputs):
        traced.append(case(*inputs))
        return [leaf for leaf in tf.nest.flatten(traced[-1]) if isinstance(leaf, returnable)]

    results = iter(tf.function(graph, autograph=False, **options)(*inputs))
    leaves = tf.nest.flatten(traced[-1])
    flat = [next(results) if isinstance(leaf, returnable) else leaf for leaf in leaves]
    return tf.nest.pack_sequence_as(traced[-1], flat)


def alive(value):
    """A probe of one object's lifetime: call it later to learn whether the object still exists."""
    reference = weakref.ref(value)

    def probe():
        gc.collect()
        return reference() is not None

    return probe
