"""How a program is called in a graph, and what it may ask of the process that runs it."""

import gc
import weakref


def call_in_graph(tf, case, inputs, **options):
    """Call the program inside one tf.function.

    Tensors come back through the graph; what a graph cannot return (None, errors, Python values,
    variables) stays in the structure that tracing made.
    """
    returnable = (tf.Tensor, tf.IndexedSlices, tf.RaggedTensor, tf.SparseTensor)
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
