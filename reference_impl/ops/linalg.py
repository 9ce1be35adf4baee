"""Products of matrices and tensors; batch axes in front broadcast.

**Source** of all rules: TF 2.21 `math_grad.py` `_MatMulGrad`, `_BatchMatMulV2`; `linalg_grad.py`.
"""

from __future__ import annotations

import builtins
from string import ascii_letters
from typing import Any

import numpy as np

from reference_impl.arrays import Array
from reference_impl.broadcasting import sum_to_shape
from reference_impl.errors import InvalidArgumentError
from reference_impl.ops.complex_numbers import conj
from reference_impl.ops.reduction import reduce_sum
from reference_impl.ops.shape import expand_dims, reshape, transpose
from reference_impl.rules import FLOATING, NUMBERS, primitive, to_tensors, vjp_of
from reference_impl.tensor import Tensor, convert_to_tensor

Cts = tuple[Tensor | None, ...]


def _transposed(x: Array) -> Array:
    return x.swapaxes(-1, -2)


@primitive("MatMul")
def _matmul(a: Array, b: Array, *, transpose_a: bool, transpose_b: bool) -> Array:
    for position, x in enumerate((a, b)):
        if x.ndim < 2:
            raise InvalidArgumentError(f"In[{position}] ndims must be >= 2", "MatMul")
    try:
        return np.asarray(
            np.matmul(_transposed(a) if transpose_a else a, _transposed(b) if transpose_b else b)
        )
    except ValueError as error:
        shapes = [str(list(x.shape)).replace(" ", "") for x in (a, b)]
        raise InvalidArgumentError(
            f"Matrix size-incompatible: In[0]: {shapes[0]}, In[1]: {shapes[1]}", "MatMul"
        ) from error


@vjp_of(_matmul)
def matmul_vjp(
    ct: Tensor, out: Tensor, a: Tensor, b: Tensor, *, transpose_a: bool, transpose_b: bool
) -> Cts:
    """(ct b', a' ct), where ' is the conjugate transpose; each transposed as its input was.

    Batch axes that were broadcast are summed.
    """
    a, b = conj(a), conj(b)
    if transpose_a:
        ct_a = matmul(b, ct, transpose_a=transpose_b, transpose_b=True)
    else:
        ct_a = matmul(ct, b, transpose_b=not transpose_b)
    if transpose_b:
        ct_b = matmul(ct, a, transpose_a=True, transpose_b=transpose_a)
    else:
        ct_b = matmul(a, ct, transpose_a=not transpose_a)
    return _sum_batch(ct_a, a, out), _sum_batch(ct_b, b, out)


def _sum_batch(ct: Tensor, x: Tensor, out: Tensor) -> Tensor:
    shape = x.array.shape
    if ct.array.shape == shape:
        return ct
    return sum_to_shape(ct, shape, (*out.array.shape[:-2], *shape[-2:]))


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    **unused: Any,
) -> Tensor:
    """Return the matrix product of the last two axes; ranks below 2 are refused."""
    if (transpose_a and adjoint_a) or (transpose_b and adjoint_b):
        raise ValueError("Only one of `transpose` and `adjoint` can be True.")
    a, b = to_tensors((a, b))
    return _matmul(
        conj(a) if adjoint_a else a,
        conj(b) if adjoint_b else b,
        transpose_a=bool(transpose_a or adjoint_a),
        transpose_b=bool(transpose_b or adjoint_b),
    )


def matvec(a: Any, b: Any, transpose_a: bool = False, **unused: Any) -> Tensor:
    """Return the product of matrices and vectors."""
    a, b = to_tensors((a, b))
    column = matmul(a, expand_dims(b, -1), transpose_a=transpose_a)
    return reshape(column, column.array.shape[:-1])


def matrix_transpose(a: Any, name: str | None = None, conjugate: bool = False) -> Tensor:
    """Return the tensor with its last two axes swapped."""
    x = convert_to_tensor(a)
    order = [*builtins.range(x.ndim - 2), x.ndim - 1, x.ndim - 2]
    return transpose(x, order, conjugate=conjugate)


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Tensor:
    """Return the sum of products over `axes`: so many last of a with first of b, or two lists."""
    a, b = to_tensors((a, b))
    if np.ndim(axes) == 0:
        of_a = list(builtins.range(a.ndim - int(axes), a.ndim))
        of_b = list(builtins.range(int(axes)))
    else:
        of_a, of_b = ([int(i) for i in np.ravel(np.asarray(side))] for side in axes)
    free_a, matrix_a = _matricize(a, [i % a.ndim for i in of_a], last=True)
    free_b, matrix_b = _matricize(b, [i % b.ndim for i in of_b], last=False)
    return reshape(matmul(matrix_a, matrix_b), (*free_a, *free_b))


def _matricize(x: Tensor, summed: list[int], *, last: bool) -> tuple[list[int], Tensor]:
    """Return the sizes of the free axes, and x as a matrix with the summed axes on one side."""
    free = [i for i in builtins.range(x.ndim) if i not in summed]
    shape = x.array.shape
    inner = int(np.prod([shape[i] for i in summed], dtype=np.int64))
    outer = int(np.prod([shape[i] for i in free], dtype=np.int64))
    ordered = transpose(x, [*free, *summed] if last else [*summed, *free])
    return [shape[i] for i in free], reshape(ordered, [outer, inner] if last else [inner, outer])


# ----- Einsum -----


@primitive("Einsum", NUMBERS)
def _einsum(*inputs: Array, equation: str) -> Array:
    """Sum products; a label twice in the output writes to a diagonal, with zeros around it."""
    left, labels = equation.split("->")
    distinct = "".join(dict.fromkeys(labels))
    values = np.asarray(np.einsum(f"{left}->{distinct}", *inputs), inputs[0].dtype)
    if labels == distinct:
        return values
    size = dict(zip(distinct, values.shape, strict=True))
    out = np.zeros([size[label] for label in labels], values.dtype)
    diagonal = np.einsum(f"{labels}->{distinct}", out)  # a view
    diagonal[...] = values
    return out


@vjp_of(_einsum)
def einsum_vjp(ct: Tensor, _out: Tensor, *inputs: Tensor, equation: str) -> Cts:
    """For each input, the einsum of ct with all the other inputs, to that input's labels.

    **Edges**: a label that only this input has was summed, so the cotangent is repeated along it;
    a label twice in this input was a diagonal, so the cotangent is zero beside it.
    """
    left, out_labels = equation.split("->")
    labels = left.split(",")
    cts = []
    for i, (own, x) in enumerate(zip(labels, inputs, strict=True)):
        terms = [out_labels, *labels[:i], *labels[i + 1 :]]
        factors = [ct, *(conj(other) for other in (*inputs[:i], *inputs[i + 1 :]))]
        summed = {label: n for label, n in zip(own, x.array.shape, strict=True)}
        for label in summed.keys() - set("".join(terms)):
            terms.append(label)
            factors.append(Tensor(np.ones(summed[label], x.array.dtype)))
        cts.append(_einsum(*factors, equation=f"{','.join(terms)}->{own}"))
    return tuple(cts)


def einsum(equation: str, *inputs: Any, **unused: Any) -> Tensor:
    """Return the sum of products that the equation says; the output may be implicit.

    **Errors**: axes under an ellipsis do not broadcast from size 1: InvalidArgumentError.
    """
    tensors = to_tensors(inputs)
    equation = _without_ellipsis(equation.replace(" ", ""), [x.array.ndim for x in tensors])
    if "->" not in equation:
        letters = equation.replace(",", "")
        equation += "->" + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    return _einsum(*tensors, equation=equation)


def _without_ellipsis(equation: str, ranks: list[int]) -> str:
    """Name the axes that `...` stands for: the same letters, counted from the last, everywhere."""
    if "..." not in equation:
        return equation
    left, _, right = equation.partition("->")
    unused = "".join(sorted(set(ascii_letters) - set(equation)))
    terms = left.split(",")
    hidden = [rank - len(t.replace("...", "")) for t, rank in zip(terms, ranks, strict=True)]
    named = [
        term.replace("...", unused[len(unused) - n :])
        for term, n in zip(terms, hidden, strict=True)
    ]
    widest = unused[len(unused) - max(hidden) :]
    if "->" not in equation:
        letters = left.replace(",", "").replace("...", "")
        right = "..." + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    return f"{','.join(named)}->{right.replace('...', widest)}"


# ----- Diagonals, inverses -----


@primitive("MatrixDiagPartV3", NUMBERS)
def _diag_part(x: Array) -> Array:
    return np.diagonal(x, axis1=-2, axis2=-1).copy()


@primitive("MatrixDiagV3", NUMBERS)
def _diag(x: Array, *, rows: int, columns: int) -> Array:
    out = np.zeros((*x.shape[:-1], rows, columns), x.dtype)
    diagonal = np.arange(x.shape[-1])
    out[..., diagonal, diagonal] = x
    return out


@vjp_of(_diag_part)
def diag_part_vjp(ct: Tensor, _out: Tensor, x: Tensor) -> Cts:
    """Ct on the diagonal, zero elsewhere."""
    rows, columns = x.array.shape[-2:]
    return (_diag(ct, rows=rows, columns=columns),)


@vjp_of(_diag)
def diag_vjp(ct: Tensor, _out: Tensor, _x: Tensor, *, rows: int, columns: int) -> Cts:
    """The diagonal of ct."""
    return (_diag_part(ct),)


def diag_part(input: Any, name: str | None = None) -> Tensor:
    """Return the main diagonals of matrices."""
    return _diag_part(input)


def diag(diagonal: Any, name: str | None = None) -> Tensor:
    """Return square matrices with these diagonals."""
    x = convert_to_tensor(diagonal)
    return _diag(x, rows=x.array.shape[-1], columns=x.array.shape[-1])


def trace(x: Any, name: str | None = None) -> Tensor:
    """Return the sum of the main diagonal."""
    return reduce_sum(diag_part(x), -1)


@primitive("MatrixInverse", FLOATING)
def _inverse(x: Array) -> Array:
    try:
        return np.linalg.inv(x)
    except np.linalg.LinAlgError as error:
        raise InvalidArgumentError("Input is not invertible.", "MatrixInverse") from error


@vjp_of(_inverse)
def inverse_vjp(ct: Tensor, out: Tensor, _x: Tensor) -> Cts:
    """-out' ct out', where ' is the conjugate transpose."""
    return (-matmul(out, matmul(ct, out, adjoint_b=True), adjoint_a=True),)


def inv(input: Any, name: str | None = None) -> Tensor:
    """Return inverse matrices. **Errors**: InvalidArgumentError if singular."""
    return _inverse(input)


@primitive("MatrixDeterminant", FLOATING)
def _determinant(x: Array) -> Array:
    return np.asarray(np.linalg.det(x), x.dtype)


@vjp_of(_determinant)
def determinant_vjp(ct: Tensor, out: Tensor, x: Tensor) -> Cts:
    """Ct out inv(x)'. **Errors**: a singular matrix has no gradient: InvalidArgumentError."""
    scale = reshape(ct * conj(out), (*out.array.shape, 1, 1))
    return (scale * matrix_transpose(inv(x), conjugate=True),)


def det(input: Any, name: str | None = None) -> Tensor:
    """Return determinants."""
    return _determinant(input)


@primitive("MatrixSolve", FLOATING)
def _solve(matrix: Array, rhs: Array) -> Array:
    try:
        return np.linalg.solve(matrix, rhs)
    except np.linalg.LinAlgError as error:
        raise InvalidArgumentError("Input matrix is not invertible.", "MatrixSolve") from error


@vjp_of(_solve)
def solve_vjp(ct: Tensor, out: Tensor, matrix: Tensor, _rhs: Tensor) -> Cts:
    """(-ct_rhs out', ct_rhs), with ct_rhs the solution of matrix' ct_rhs = ct."""
    ct_rhs = _solve(matrix_transpose(matrix, conjugate=True), ct)
    return -matmul(ct_rhs, out, adjoint_b=True), ct_rhs


def solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Return the solution of matrix @ out = rhs."""
    matrix, rhs = to_tensors((matrix, rhs))
    return _solve(matrix_transpose(matrix, conjugate=True) if adjoint else matrix, rhs)


@primitive("MatrixBandPart", NUMBERS)
def _band_part(x: Array, *, lower: int, upper: int) -> Array:
    rows, columns = np.ogrid[: x.shape[-2], : x.shape[-1]]
    inside = ((lower < 0) | (rows - columns <= lower)) & ((upper < 0) | (columns - rows <= upper))
    return np.where(inside, x, x.dtype.type(0))


@vjp_of(_band_part)
def band_part_vjp(ct: Tensor, _out: Tensor, _x: Tensor, *, lower: int, upper: int) -> Cts:
    """The same band of ct."""
    return (_band_part(ct, lower=lower, upper=upper),)


def band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Tensor:
    """Return matrices with zero outside a band; a negative width keeps that whole side."""
    return _band_part(input, lower=int(num_lower), upper=int(num_upper))
