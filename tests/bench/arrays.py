"""tests/bench/arrays.py - jitted functions of large arrays, against JAX.

    python tests/bench/arrays.py [--jax PYTHON] [--rounds N]

As tests/bench/calls.py; 4M float32 elements where nothing else is said.
"""

import json

import numpy as np
import rivals

ELEMENTWISE = (
    "exp exp2 expm1 log log1p logistic tanh sin cos tan asin acos atan sinh cosh asinh acosh atanh "
    "sqrt rsqrt cbrt erf erfc erf_inv lgamma digamma"
).split()


def chain(v):
    for _ in range(5):
        v = v * 1.01 + 0.5
    return v


def adam(jnp, g):
    m, v = 0.1 * g, 0.01 * g * g
    return g - 1e-3 * m / (jnp.sqrt(v) + 1e-8), m, v


def layer_norm(jax, x):
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)


def masked(jnp, v):
    return jnp.where(v < 0.55, v, -1e9)


def functions(jax):
    jnp, lax, nn = jax.numpy, jax.lax, jax.nn
    for name in ELEMENTWISE:
        yield name, getattr(lax, name), {"acosh": 1.1}.get(name, 0.1)
    yield "pow", lambda v: v**1.7, 0.1
    yield "remainder by 0.3", lambda v: v % 0.3, 0.1
    yield "atan2", lambda v: jnp.arctan2(v, v + 1), 0.1
    yield "tanh(v) * 2 + v", lambda v: jnp.tanh(v) * 2 + v, 0.1
    yield "v * 2 + 1", lambda v: v * 2 + 1, 0.1
    yield "where(v > .5, v, .1 v)", lambda v: jnp.where(v > 0.5, v, 0.1 * v), 0.1
    for name in ("gelu", "silu", "softplus", "relu", "logsumexp"):
        yield name, getattr(nn, name), 0.1
    yield "ten additions and products", lambda v: chain(v), 0.1
    yield "gradient of a mean square", jax.grad(lambda v: jnp.mean((v - 2) ** 2)), 0.1
    yield "Adam's moments and step", lambda v: adam(jnp, v), 0.1
    yield "layer norm, rows of 1000", lambda v: layer_norm(jax, v.reshape(-1, 1000)), 0.1
    yield "softmax, rows of 1000", lambda v: nn.softmax(v.reshape(-1, 1000)), 0.1
    yield "softmax, half of it masked", lambda v: nn.softmax(masked(jnp, v.reshape(-1, 1000))), 0.1
    for name in ("sum", "max", "var", "argmax", "cumsum"):
        yield name, getattr(jnp, name), 0.1
    yield "sum of columns, 4000 x 1000", lambda v: v.reshape(-1, 1000).sum(0), 0.1
    yield "transposed copy, 2000 x 2000", lambda v: v.reshape(2000, 2000).T + 0, 0.1
    yield (
        "transposed copies, 1296 x 64 x 48",
        lambda v: jnp.swapaxes(v[:3981312].reshape(-1, 64, 48), 1, 2) + 0,
        0.1,
    )
    yield "sort, 400k", lambda v: jnp.sort(v[:400_000]), 0.1
    yield "every third row of 16", lambda v: v.reshape(-1, 16)[jnp.arange(0, 250_000, 3)], 0.1
    places = jnp.asarray(np.random.default_rng(1).integers(0, 4_000_000, 4_000_000, "int32"))
    yield "gather of 4M places", lambda v: v[places], 0.1
    yield "rows of 16 at random", lambda v: v.reshape(-1, 16)[places[:250_000] % 250_000], 0.1
    yield "integers // 7", lambda v: (v * 1e6).astype("int32") // 7, 0.1
    yield (
        "integers % integers",
        lambda v: (v * 1e6).astype("int32") % (v * 1e3).astype("int32"),
        0.1,
    )
    for n in (2, 3, 4):
        yield (
            f"transposed copies of {n} x {n}",
            lambda v, n=n: jnp.swapaxes(v[:3_600_000].reshape(-1, n, n), 1, 2) + 0,
            0.1,
        )
    z = jax.lax.complex(*(places[: 2 * 65536].astype("float32") / 1e6).reshape(2, -1))
    for name in ("exp", "log", "sqrt", "abs"):
        f = getattr(jnp, name)
        yield f"{name}, 64k complex", lambda v, f=f: f(z + v[0]), 0.1
    yield "quotient, 64k complex", lambda v: (z + v[0]) / z, 0.1
    near, rows = places[:65536] % 65536, places[:2000] % 2000
    yield "gather of 64k places", lambda v: v[:65536][near - 65536], 0.1
    yield "take_along_axis, 64k", lambda v: jnp.take_along_axis(v[:65536], near, 0), 0.1
    yield "segment sum, 64k", lambda v: jax.ops.segment_sum(v[:65536], near % 1000, 1000), 0.1
    yield "columns of 2000 x 2000", lambda v: v.reshape(2000, 2000)[:, rows], 0.1
    yield "rows added", lambda v: jnp.zeros((2000, 2000)).at[rows].add(v.reshape(2000, 2000)), 0.1
    yield (
        "512 x 512 product",
        lambda v: v[:262144].reshape(512, 512) @ v[:262144].reshape(512, 512),
        0.1,
    )
    yield "normal, 1M draws", lambda v: jax.random.normal(jax.random.PRNGKey(0), (1_000_000,)), 0.1


def measure(jax):
    uniform = np.random.default_rng(0).random(4_000_000).astype(np.float32) * 0.89
    figures = {}
    for name, f, low in functions(jax):
        x, g = jax.numpy.asarray(uniform + np.float32(low)), jax.jit(f)
        figures[name] = rivals.median_time(jax, lambda: g(x))  # noqa: B023
    print(json.dumps(figures))


if __name__ == "__main__":
    jax = rivals.system()
    measure(jax) if jax else rivals.compare(__file__, __doc__)
