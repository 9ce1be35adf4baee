"""The oracle's tape (record and gradient) over the faster of HIPS autograd and MyGrad.

    uv pip install autograd mygrad     (for this benchmark only; the oracle needs NumPy alone)
    python benchmarks/oracle.py [--rounds 15]

The three run the same programs: a chain of scalar operations, where the cost is the tape's own,
and a small perceptron, where it is NumPy's too. Rounds alternate, so that a slow machine slows
all of them; the ratio of the medians is printed for each program. NumPy's products run in one
thread: the tape is measured, not the scheduler.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import statistics
import time
from collections.abc import Callable

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported

import autograd
import autograd.numpy as anp
import mygrad as mg
import numpy as np

import reference_impl as tf

BUDGET = 1.0
REPEATS = {"chain of 12": 300, "perceptron": 60}
Gradients = Callable[[], list]


def chain(x, exp, log, sin, tanh):
    y = sin(x) * x
    y = exp(y) + x
    y = log(y) / x
    y = tanh(y) - x
    y = y * y + sin(y)
    return y * x


def perceptron(x, weights, matmul, tanh, sum_all):
    for weight, bias in zip(weights[::2], weights[1::2], strict=True):
        x = tanh(matmul(x, weight) + bias)
    return sum_all(x * x)


def programs() -> dict[str, dict[str, Gradients]]:
    """The gradient of each program, by each library, as a list of arrays."""
    generator = np.random.default_rng(0)
    batch = generator.normal(size=(64, 64)).astype(np.float32)
    shapes = [(64, 64), (64,)] * 3
    weights = [(generator.normal(size=s) / 8).astype(np.float32) for s in shapes]
    point = np.float32(1.25)

    def oracle_chain() -> list:
        x = tf.constant(point)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = chain(x, tf.exp, tf.math.log, tf.sin, tf.tanh)
        return [tape.gradient(y, x).array]

    def oracle_perceptron() -> list:
        x, variables = tf.constant(batch), [tf.constant(w) for w in weights]
        with tf.GradientTape() as tape:
            tape.watch(variables)
            y = perceptron(x, variables, tf.matmul, tf.tanh, tf.reduce_sum)
        return [ct.array for ct in tape.gradient(y, variables)]

    slope = autograd.grad(lambda x: chain(x, anp.exp, anp.log, anp.sin, anp.tanh))
    slopes = autograd.grad(lambda w: perceptron(batch, w, anp.matmul, anp.tanh, anp.sum))

    def mygrad_chain() -> list:
        x = mg.tensor(point)
        chain(x, mg.exp, mg.log, mg.sin, mg.tanh).backward()
        return [x.grad]

    def mygrad_perceptron() -> list:
        variables = [mg.tensor(w) for w in weights]
        perceptron(batch, variables, mg.matmul, mg.tanh, mg.sum).backward()
        return [variable.grad for variable in variables]

    return {
        "chain of 12": {
            "oracle": oracle_chain,
            "autograd": lambda: [slope(point)],
            "mygrad": mygrad_chain,
        },
        "perceptron": {
            "oracle": oracle_perceptron,
            "autograd": lambda: slopes(weights),
            "mygrad": mygrad_perceptron,
        },
    }


def keep_memory() -> None:
    """Let the C library keep what is freed: MyGrad takes twice as long where it gives it back."""
    with contextlib.suppress(AttributeError, TypeError):  # not glibc
        ctypes.CDLL(None).mallopt(-1, 1 << 28)  # M_TRIM_THRESHOLD


def main() -> None:
    keep_memory()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    for program, libraries in programs().items():
        require_same_answers(libraries)
        times: dict[str, list[float]] = {library: [] for library in libraries}
        for _ in range(rounds):
            for library, gradients in libraries.items():
                times[library].append(seconds(gradients, REPEATS[program]))
        medians = {library: statistics.median(found) for library, found in times.items()}
        oracle = medians.pop("oracle")
        fastest = min(medians, key=medians.__getitem__)
        others = ", ".join(f"{name} {1e6 * found:.0f} us" for name, found in medians.items())
        print(f"{program}: oracle {1e6 * oracle:.0f} us, {others}")
        print(f"ratio to {fastest} {oracle / medians[fastest]:.2f} (budget {BUDGET})")


def require_same_answers(libraries: dict[str, Gradients]) -> None:
    expected = libraries["autograd"]()
    for gradients in libraries.values():
        for found, wanted in zip(gradients(), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4)


def seconds(gradients: Gradients, repeats: int) -> float:
    started = time.perf_counter()
    for _ in range(repeats):
        gradients()
    return (time.perf_counter() - started) / repeats


if __name__ == "__main__":
    main()
