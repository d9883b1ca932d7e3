"""tests/bench/rows.py - functions of rows of 10, 100 and 1000 elements, against JAX.

    python tests/bench/rows.py [--jax PYTHON] [--rounds N] [--threads N] [--cpu]

As tests/bench/arrays.py; 64 K and 4 M float32 elements in all.
"""

import json

import numpy as np
import rivals


def layer_norm(jax, x):
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)


def cross_entropy(jax, x, labels):
    chosen = jax.numpy.take_along_axis(jax.nn.log_softmax(x), labels[:, None], 1)
    return -chosen.mean()


def functions(jax):
    yield "softmax", lambda x, _: jax.nn.softmax(x)
    yield "log_softmax", lambda x, _: jax.nn.log_softmax(x)
    yield "logsumexp", lambda x, _: jax.nn.logsumexp(x, -1)
    yield "layer norm", lambda x, _: layer_norm(jax, x)
    yield "gradient of layer norm", jax.grad(lambda x, _: (layer_norm(jax, x) ** 3).sum())
    yield "rms norm", lambda x, _: x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5)
    yield "gradient of cross entropy", jax.grad(lambda x, y: cross_entropy(jax, x, y))
    for name in ("sum", "max", "var", "argmax"):
        yield name, lambda x, _, name=name: getattr(x, name)(-1)
    yield "x + 1", lambda x, _: x + 1


def measure(jax):
    rng, figures = np.random.default_rng(0), {}
    for elements in (1 << 16, 1 << 22):
        for n in (10, 100, 1000):
            x = rng.standard_normal((elements // n, n)).astype(np.float32)
            args = jax.numpy.asarray(x), jax.numpy.asarray(rng.integers(0, n, len(x)))
            for name, f in functions(jax):
                g = jax.jit(f)
                row = f"{name}, {elements // n} x {n}"
                figures[row] = rivals.median_time(jax, lambda: g(*args))  # noqa: B023
    print(json.dumps(figures))


if __name__ == "__main__":
    jax = rivals.system()
    measure(jax) if jax else rivals.compare(__file__, __doc__)
