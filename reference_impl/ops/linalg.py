"""Products of matrices and tensors; batch axes in front broadcast.

**Source** of all rules: TF 2.21 `math_grad.py` `_MatMulGrad`, `_BatchMatMulV2`; `linalg_grad.py`.
"""

from __future__ import annotations

import builtins
import string
from collections.abc import Callable
from typing import Any

import numpy as np

from reference_impl.arrays import Array, whole_numbers
from reference_impl.errors import InvalidArgumentError
from reference_impl.ops.complex_numbers import conj
from reference_impl.ops.shape import expand_dims, reshape, transpose
from reference_impl.rules import FLOATING, primitive, to_tensors, vjp_of
from reference_impl.tensor import Tensor, convert_to_tensor

Cts = tuple[Tensor | None, ...]


@primitive("MatMul")
def _matmul(a: Array, b: Array, *, transpose_a: bool, transpose_b: bool) -> Array:
    if a.ndim < 2 or b.ndim < 2:
        raise InvalidArgumentError(f"In[{int(a.ndim >= 2)}] ndims must be >= 2", "MatMul")
    left = a.swapaxes(-1, -2) if transpose_a else a
    right = b.swapaxes(-1, -2) if transpose_b else b
    try:
        return np.matmul(left, right)  # type: ignore[no-any-return]
    except ValueError as error:
        shapes = [str(list(x.shape)).replace(" ", "") for x in (a, b)]
        raise InvalidArgumentError(
            f"Matrix size-incompatible: In[0]: {shapes[0]}, In[1]: {shapes[1]}", "MatMul"
        ) from error


@vjp_of(_matmul)
def matmul_vjp(
    ct: Tensor, _out: Tensor, a: Tensor, b: Tensor, *, transpose_a: bool, transpose_b: bool
) -> tuple[Callable[[], Tensor], Callable[[], Tensor]]:
    """(ct b', a' ct), ' the conjugate transpose; each transposed and summed as its input asks."""

    def ct_a() -> Tensor:
        if transpose_a:
            found = _matmul(conj(b), ct, transpose_a=transpose_b, transpose_b=True)
        else:
            found = _matmul(ct, conj(b), transpose_a=False, transpose_b=not transpose_b)
        return found.sum_to_shape(a.array.shape)

    def ct_b() -> Tensor:
        if transpose_b:
            found = _matmul(ct, conj(a), transpose_a=True, transpose_b=transpose_a)
        else:
            found = _matmul(conj(a), ct, transpose_a=not transpose_a, transpose_b=False)
        return found.sum_to_shape(b.array.shape)

    return ct_a, ct_b


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
) -> Tensor:
    """Return the matrix product of the last two axes; ranks below 2 are refused."""
    if (transpose_a and adjoint_a) or (transpose_b and adjoint_b):
        raise ValueError("Only one of `transpose` and `adjoint` can be True.")
    return _matmul(
        conj(a) if adjoint_a else a,
        conj(b) if adjoint_b else b,
        transpose_a=bool(transpose_a or adjoint_a),
        transpose_b=bool(transpose_b or adjoint_b),
    )


def matvec(a: Any, b: Any, transpose_a: bool = False) -> Tensor:
    """Return the product of matrices and vectors."""
    a, b = to_tensors((a, b))
    column = matmul(a, expand_dims(b, -1), transpose_a=transpose_a)
    return reshape(column, column.array.shape[:-1])


def adjoint(matrix: Any) -> Tensor:
    """Return the conjugate transpose of matrices."""
    x = convert_to_tensor(matrix)
    order = [*builtins.range(x.ndim - 2), x.ndim - 1, x.ndim - 2]
    return transpose(x, order, conjugate=True)


def tensordot(a: Any, b: Any, axes: Any) -> Tensor:
    """Return the sum of products over `axes`: so many last of a with first of b, or two lists."""
    a, b = to_tensors((a, b))
    if np.ndim(axes) == 0:
        if int(axes) > min(a.ndim, b.ndim):
            raise ValueError("`axes` must not be larger than the number of dimensions")
        axes = builtins.range(a.ndim - int(axes), a.ndim), builtins.range(int(axes))
    of_a, of_b = (whole_numbers(tuple(np.ravel(side))) for side in axes)
    if [a.array.shape[i] for i in of_a] != [b.array.shape[i] for i in of_b]:
        raise InvalidArgumentError(f"axes {of_a} and {of_b} differ in size", "MatMul")
    free_a, matrix_a = _matricize(a, [i + a.ndim * (i < 0) for i in of_a], last=True)
    free_b, matrix_b = _matricize(b, [i + b.ndim * (i < 0) for i in of_b], last=False)
    return reshape(matmul(matrix_a, matrix_b), (*free_a, *free_b))


def _matricize(x: Tensor, summed: list[int], *, last: bool) -> tuple[list[int], Tensor]:
    """Return the sizes of the free axes, and x as a matrix with the summed axes on one side."""
    free, shape = [i for i in builtins.range(x.ndim) if i not in summed], x.array.shape
    inner, outer = (int(np.prod([shape[i] for i in axes], dtype=int)) for axes in (summed, free))
    ordered = transpose(x, [*free, *summed] if last else [*summed, *free])
    return [shape[i] for i in free], reshape(ordered, [outer, inner] if last else [inner, outer])


# ----- Einsum -----


@primitive("Einsum")
def _einsum(*inputs: Array, equation: str) -> Array:
    sizes: dict[str, int] = {}
    labels = equation.partition("->")[0].replace(",", "")
    for label, size in zip(labels, [n for x in inputs for n in x.shape], strict=True):
        if sizes.setdefault(label, size) != size:  # NumPy would repeat a size of 1
            raise ValueError(f"sizes {sizes[label]} and {size} of {label!r} in {equation}")
    return np.asarray(np.einsum(equation, *inputs), inputs[0].dtype)


@vjp_of(_einsum)
def einsum_vjp(ct: Tensor, _out: Tensor, *inputs: Tensor, equation: str) -> Cts:
    """For each input, the einsum of ct with all the other inputs, to that input's labels.

    **Edges**: a label that only this input has was summed, so the cotangent is repeated along it.
    """
    left, out_labels = equation.split("->")
    labels = left.split(",")
    cts = []
    for i, (own, x) in enumerate(zip(labels, inputs, strict=True)):
        terms = [out_labels, *labels[:i], *labels[i + 1 :]]
        factors = [ct, *(conj(other) for other in (*inputs[:i], *inputs[i + 1 :]))]
        summed = dict(zip(own, x.array.shape, strict=True))
        for label in summed.keys() - set("".join(terms)):
            terms.append(label)
            factors.append(Tensor(np.ones(summed[label], x.array.dtype)))
        axes = ""
        for label in own:
            axes += label if label not in axes else _unused(equation + axes)[0]
            if axes[-1] != label:  # off the diagonal the gradient is zero
                terms.append(label + axes[-1])
                factors.append(Tensor(np.eye(summed[label], dtype=x.array.dtype)))
        cts.append(_einsum(factors, equation=f"{','.join(terms)}->{axes}"))
    return tuple(cts)


def _unused(equation: str) -> str:
    return "".join(label for label in string.ascii_letters if label not in equation)


def einsum(equation: str, *inputs: Any) -> Tensor:
    """Return the sum of products that the equation says; axes under `...` are broadcast."""
    if "->" not in equation:
        raise NotImplementedError(f"the oracle's einsum does not know {equation!r}")
    xs, names = to_tensors(inputs), _unused(equation)
    left, out = equation.replace(" ", "").split("->")
    terms, under = left.split(","), []
    for term, x in zip(terms, xs, strict=True):
        under.append(x.array.shape[term.find(".") :][: (x.ndim + 3 - len(term)) * ("." in term)])
    most = max(map(len, under))
    widest = np.max([(1,) * (most - len(sizes)) + sizes for sizes in under], axis=0)
    for i, sizes in enumerate(under):  # an axis that is repeated has a label of its own: a sum
        own = [names[k + most * (n < widest[k])] for k, n in enumerate(sizes, most - len(sizes))]
        terms[i] = terms[i].replace("...", "".join(own))
    return _einsum(xs, equation=f"{','.join(terms)}->{out.replace('...', names[:most])}")


# ----- Inverses -----


@primitive("MatrixInverse", FLOATING)
def inv(input: Array) -> Array:
    """Return inverse matrices. **Errors**: a singular one is an InvalidArgumentError."""
    return np.linalg.inv(input.astype(np.result_type(input, "float32"))).astype(input.dtype)


@vjp_of(inv)
def inv_vjp(ct: Tensor, out: Tensor, _input: Tensor) -> Cts:
    """-out' ct out', where ' is the conjugate transpose."""
    return (-matmul(out, matmul(ct, out, adjoint_b=True), adjoint_a=True),)


@primitive("MatrixDeterminant", FLOATING)
def det(input: Array) -> Array:
    """Return determinants."""
    return np.asarray(np.linalg.det(input), input.dtype)


@vjp_of(det)
def det_vjp(ct: Tensor, out: Tensor, input: Tensor) -> Cts:
    """Ct times the conjugate cofactors: determinants with a row of the identity for one of x."""
    eye = np.eye(input.array.shape[-1], dtype=input.array.dtype)
    ones, rows = (*out.array.shape, 1, 1), eye[:, None, :, None]
    others = reshape(input, (*ones, *eye.shape)) * convert_to_tensor(1 - rows)
    cofactors = det(others + convert_to_tensor(rows * eye[:, None, :]))
    return (reshape(ct, ones) * conj(cofactors),)


@primitive("MatrixSolve", FLOATING)
def solve(matrix: Array, rhs: Array) -> Array:
    """Return the solution of matrix @ out = rhs. **Errors**: as `inv`."""
    return np.linalg.solve(matrix, rhs)


@vjp_of(solve)
def solve_vjp(ct: Tensor, out: Tensor, matrix: Tensor, _rhs: Tensor) -> Cts:
    """(-ct_rhs out', ct_rhs), with ct_rhs the solution of matrix' ct_rhs = ct."""
    ct_rhs = solve(adjoint(matrix), ct)
    return -matmul(ct_rhs, out, adjoint_b=True), ct_rhs
