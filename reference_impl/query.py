"""Reading a query: what stands on the tape for the targets, sources and output gradients given.

What a query cannot be asked is refused here, with TensorFlow's texts.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any

from reference_impl import nest
from reference_impl.dtypes import DIFFERENTIABLE_KINDS
from reference_impl.errors import InvalidArgumentError
from reference_impl.tensor import IndexedSlices, Tensor, Variable, convert_to_tensor

_logger = logging.getLogger("tensorflow")


def watchable(structure: Any) -> Iterator[Any]:
    """Yield the tensors and variables of a structure, those inside slices and composites too.

    **Edges**: a dtype that is not floating is watched in vain, with a logged warning.
    **Errors**: anything else is a ValueError, after what stands before it.
    """
    for leaf in nest.flatten(structure):
        if isinstance(leaf, (Tensor, Variable)):
            if leaf.dtype.numpy_dtype.kind not in DIFFERENTIABLE_KINDS:
                _logger.warning(
                    "The dtype of the watched tensor must be floating (e.g. tf.float32), got %r",
                    leaf.dtype,
                )
            yield leaf
        elif hasattr(leaf, "components"):
            yield from watchable(list(leaf.components))
        else:
            raise ValueError(
                f"Passed in object {leaf} of type {type(leaf).__name__!r}"
                ", not tf.Tensor or tf.Variable or ExtensionType."
            )


def warn_of_recording() -> None:
    """Say that a persistent tape, asked inside its context, records its own walk."""
    _logger.warning(
        "Calling GradientTape.gradient on a persistent tape inside its context is significantly "
        "less efficient than calling it outside the context."
    )


def unused(trace: Any, to_compute: str) -> Any:
    """Return the trace. **Errors**: RuntimeError for none: never entered, or ordinary and used."""
    if trace is None:
        raise RuntimeError(
            f"A non-persistent GradientTape can only be used {to_compute} one set of gradients "
            "(or jacobians)"
        )
    return trace


def needs_persistent(
    what: str, why: str = "eager execution enabled and with  experimental_use_pfor set to False"
) -> RuntimeError:
    """Return the error of asking an ordinary tape several times, as some jacobians do."""
    text = f"GradientTape must be created with persistent=True to compute the {what} with {why}."
    return RuntimeError(text)


def trackable(leaf: Any) -> Any:
    """Return what stands for a target or source: a tensor, a variable's handle, the values."""
    component = component_of(leaf)
    if isinstance(component, Tensor):
        return component
    if isinstance(component, Variable):
        return component.handle
    if isinstance(leaf, (IndexedSlices, int, float, complex)):
        raise AttributeError(f"{type(leaf).__name__!r} object has no attribute '_id'")
    raise TypeError(f"Cannot convert the argument `type_value`: {leaf!r} to a TensorFlow DType.")


def component_of(value: Any) -> Any:
    """Return the tensor that stands for a ragged tensor; anything else as it is."""
    return value if isinstance(value, Tensor) else getattr(value, "gradient_component", value)


def targets_of(target: Any) -> list[Any]:
    """Return what stands for the targets. **Errors**: None instead of a structure: TypeError."""
    if target is None:
        raise TypeError(
            "Argument `target` should be a list or nested structure of Tensors, Variables or "
            "CompositeTensors to be differentiated, but received None."
        )
    return [trackable(leaf) for leaf in nest.flatten(target)]


def like_sources(sources: Any, gradients: Sequence[Any]) -> Any:
    """Return gradients in the structure of the sources; a ragged source's is ragged."""
    leaves = [
        ct if ct is None or not hasattr(source, "with_gradient") else source.with_gradient(ct)
        for source, ct in zip(nest.flatten(sources), gradients, strict=True)
    ]
    return nest.pack(sources, iter(leaves))


def seeds_of(output_gradients: Any, targets: Sequence[Any]) -> list[Tensor]:
    """Return one cotangent per target, of its shape.

    **Errors**: another number is a ValueError, another shape an InvalidArgumentError. TensorFlow
    checks neither: it reads past the end of the list, and lets some shapes broadcast.
    """
    if output_gradients is None:
        return []
    seeds = [convert_to_tensor(component_of(leaf)) for leaf in nest.flatten(output_gradients)]
    if len(seeds) != len(targets):
        raise ValueError(
            f"Length mismatch. Passed {len(seeds)} output_gradients for {len(targets)} targets"
        )
    for seed, target in zip(seeds, targets, strict=True):
        if seed.shape != target.shape:
            raise InvalidArgumentError(
                f"Incompatible shapes: an output gradient of {seed.shape} for {target.shape}"
            )
    return seeds
