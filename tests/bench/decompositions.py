"""tests/bench/decompositions.py - decompositions and solves in float64, against JAX and NumPy.

    python tests/bench/decompositions.py [--jax PYTHON] [--rounds N]

As tests/bench/calls.py: of square matrices, one by one and 1000 of 8 x 8 at once.
"""

import json

import numpy as np
import rivals

SIZES = ((100,), (300,), (1000,), (1000, 8))


def matrices(shape):
    rng = np.random.default_rng(0)
    a = rng.standard_normal((*shape, shape[-1]))
    return a, a @ a.swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1])


def functions(linalg):
    """(name, function, whether its operand is symmetric and positive definite)"""
    return (
        ("cholesky", linalg.cholesky, True),
        ("solve", lambda a: linalg.solve(a, a), False),
        ("det", linalg.det, False),
        ("qr", linalg.qr, False),
        ("eigh", linalg.eigh, True),
        ("svd", linalg.svd, False),
        ("eig", linalg.eig, False),
    )


def measure(jax):
    figures = {}
    for shape in SIZES:
        general, definite = matrices(shape)
        label = f"{shape[0]} of 8 x 8" if len(shape) == 2 else f"{shape[0]} x {shape[0]}"
        for name, f, symmetric in functions(jax.numpy.linalg):
            if name == "eig" and shape == (1000,):
                continue  # seconds
            x, g = jax.numpy.asarray(definite if symmetric else general), jax.jit(f)
            figures[f"{name}, {label}"] = rivals.median_time(jax, lambda: g(x))  # noqa: B023
    print(json.dumps(figures))


def run(jax):
    with jax.enable_x64(True):
        measure(jax)


if __name__ == "__main__":
    jax = rivals.system()
    run(jax) if jax else rivals.compare(__file__, __doc__, numpy=True)
