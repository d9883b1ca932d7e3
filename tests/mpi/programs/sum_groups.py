"""tests/mpi/programs/sum_groups.py - the same bits for each number of processes.

Prints a digest of every program's results; 8 devices in all, whatever the number of processes.
"""

import hashlib

import numpy as np
import shardax as jax
import shardax.numpy as jnp
from shardax import lax
from shardax.experimental import multihost_utils
from shardax.sharding import PartitionSpec as P

N, G = 8, 4
count, me = jax.process_count(), jax.process_index()
L = N // count
jax.config.update("jax_num_cpu_devices", L)
jax.config.update("jax_sum_groups", G)
rng = np.random.default_rng(0)


def own(x):
    return x[me * L : (me + 1) * L]


def normal(*shape, dtype=np.float32):
    return rng.standard_normal(shape).astype(dtype)


def both(f):
    return lambda x, y: lax.psum(f(x, y), "i")


def loss(w, x, y):
    return jnp.mean((jnp.tanh(x @ w["a"] + w["b"]) @ w["c"] - y) ** 2)


def training_step(w, x, y):
    value, grads = jax.value_and_grad(loss)(w, x, y)
    grads = lax.pmean(grads, "i")
    return jax.tree.map(lambda p, g: p - 0.1 * g, w, grads), lax.pmean(value, "i")


def in_a_loop(x, y):
    return lax.scan(lambda c, k: (c + lax.psum(jnp.sin(x * k), "i"), c), y * 0, jnp.arange(3.0))[0]


def second(x, y):
    f = lambda x: lax.psum(jnp.sum(jnp.sin(x) * y), "i")  # noqa: E731
    return lax.psum(jax.grad(lambda x: jnp.sum(jax.grad(f)(x) ** 2))(x), "i")


X, Y = normal(N, 5, 7), normal(N, 5, 7)
CALLS = {
    "psum": (lambda x, y: lax.psum(x, "i"), X, Y),
    "pmean": (lambda x, y: lax.pmean((x, y), "i"), X, Y),
    "product": (both(lambda x, y: x.T @ y), normal(N, 33, 20), normal(N, 33, 10)),
    "long product": (both(lambda x, y: x.T @ y), normal(N, 1000, 3), normal(N, 1000, 129)),
    "rows": (both(lambda x, y: x @ y.T), normal(N, 64, 300), normal(N, 48, 300)),
    "sum of all": (both(lambda x, y: jnp.sum(x * y)), normal(N, 1001), normal(N, 1001)),
    "squares": (both(lambda x, y: jnp.sum(x**2, 0) + jnp.mean(y)), X, Y),
    "equal slices": (
        both(lambda x, y: x * 1.1 + y),
        np.repeat(normal(1, 9), N, 0) * 0.3,
        X[:, 0, :1],
    ),
    "equal in pairs": (both(lambda x, y: x.T @ y), np.repeat(X[::2], 2, 0), Y),
    "halves": (both(lambda x, y: x + y), X.astype(jnp.bfloat16), Y.astype(jnp.bfloat16)),
    "scattered": (
        lambda x, y: lax.psum_scatter(x, "i", tiled=True) * 1.5,
        normal(N, 16, 3),
        normal(N, 2),
    ),
    "gradient of gathered": (
        lambda x, y: jax.grad(lambda x: jnp.sum(jnp.sin(lax.all_gather(x, "i")) * y.sum()))(x),
        X,
        Y,
    ),
    "loop": (in_a_loop, X, Y),
    "second derivative": (second, X, Y),
    "branch": (
        lambda x, y: lax.cond(lax.psum(x[0, 0], "i") > 0, lambda: lax.psum(x, "i"), lambda: y * 0),
        X,
        Y,
    ),
    "vmap": (
        jax.vmap(lambda x, y: lax.psum(jnp.dot(x, y), "i"), in_axes=(0, 0)),
        X,
        Y,
    ),
    "float64": (both(lambda x, y: x * y), X, Y),
    "constant": (lambda x, y: lax.psum(jnp.float32(0.1), "i") + 0 * x, X, Y),
}
results = {}
for name, (f, x, y) in CALLS.items():
    out = jax.pmap(f, axis_name="i")(own(x), own(y))
    results[name] = [
        multihost_utils.process_allgather(np.asarray(leaf), tiled=True)
        for leaf in jax.tree.leaves(out)
    ]

w = {"a": normal(7, 32) * 0.3, "b": normal(32), "c": normal(32, 3)}
step = jax.pmap(training_step, axis_name="i", in_axes=(None, 0, 0), out_axes=None)
x, y = normal(N, 16, 7), normal(N, 16, 3)
for _ in range(10):
    w, value = step(w, own(x), own(y))
results["training"] = [np.asarray(leaf) for leaf in jax.tree.leaves((w, value))]

mesh = jax.make_mesh((4, 2), ("x", "y"))
spec = P("x", "y")
for axes in (("x",), ("y",), ("x", "y")):
    out = P(*(None if axis in axes else axis for axis in ("x", "y")))
    total = jax.shard_map(
        lambda a, axes=axes: lax.psum(a * a, axes), mesh=mesh, in_specs=spec, out_specs=out
    )
    result = total(jax.device_put(normal(12, 10), jax.sharding.NamedSharding(mesh, spec)))
    results[f"mesh {axes}"] = [multihost_utils.process_allgather(result, tiled=True)]

if me == 0:
    for name, leaves in results.items():
        digest = hashlib.sha256(b"".join(np.ascontiguousarray(leaf).tobytes() for leaf in leaves))
        print(name, leaves[0].shape, digest.hexdigest()[:16])
