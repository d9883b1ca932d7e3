"""tests/fuzz/evaluate.py - results of a source under JAX or shardax, and the results that they must
agree with.

As a script it is a worker: a line of JSON in (a source and how to apply it), one out.

    python tests/fuzz/evaluate.py jax|shardax
"""

import importlib
import json
import os
import resource
import sys
import warnings

import numpy as np

MOST_MEMORY = 6 << 30
X = np.array([0.3, -0.7, 1.1, 0.05], np.float32)
UNUSUAL = (np.nan, np.inf, -np.inf, -0.0, 0.0, 1e-40, -1e-45, 1e9, -1e9, 1.0, -1.0)


def names(jax):
    """The names that sources may use. `own_jvp` and `own_vjp` give a function its derivatives as
    rules; `over(k=4)` is a mesh. `apart(a)` has well separated eigenvalues, `definite` positive
    ones, `unusual` gives NaN and the like among other numbers."""
    jnp = jax.numpy

    def own_jvp(f):
        g = jax.custom_jvp(f)
        g.defjvp(lambda primals, tangents: jax.jvp(f, primals, tangents))
        return g

    def own_vjp(f):
        g = jax.custom_vjp(f)
        g.defvjp(lambda x: jax.vjp(f, x), lambda pull, ct: pull(ct))
        return g

    def over(**sizes):
        devices = np.array(jax.devices()[: int(np.prod(list(sizes.values())))])
        return jax.sharding.Mesh(devices.reshape(tuple(sizes.values())), tuple(sizes))

    def apart(a, first=0):
        n, small = a.shape[-1], jnp.tanh(a)
        return (small + small.mT) / n + jnp.diag(6.0 * jnp.arange(n, dtype=a.dtype) + first)

    def unusual(seed, shape):
        rng = np.random.default_rng(seed)
        values = rng.uniform(-2, 2, shape)
        chosen = rng.integers(0, 3 * len(UNUSUAL), shape)
        for i, value in enumerate(UNUSUAL):
            values = np.where(chosen == i, value, values)
        return jnp.asarray(values, "float32")

    def rejoined(parts):
        """Of eigh or svd: neither the signs nor the order of vectors show."""
        if len(parts) == 2:
            return (parts[1] * jnp.sin(parts[0])[..., None, :]) @ parts[1].mT
        return (parts[0] * jnp.sin(parts[1])[..., None, :]) @ parts[2]

    return {
        "jax": jax,
        "jnp": jnp,
        "P": jax.sharding.PartitionSpec,
        "over": over,
        "apart": apart,
        "definite": lambda a: apart(a, 6),
        "rejoined": rejoined,
        "unusual": unusual,
        "lax": jax.lax,
        "np": np,
        "own_jvp": own_jvp,
        "own_vjp": own_vjp,
    }


def function(jax, source):
    return eval(f"lambda x: {source}", names(jax))


WAYS = {
    "value": "f(x)",
    "jit": "jax.jit(f)(x)",
    "jvp": "jax.jvp(f, (x,), (jnp.cos(x),))[1]",
    "vmap": "jax.vmap(f)(jnp.stack([x, -x]))",
    "grad": "jax.grad(lambda x: f(x).sum())(x)",
    "jit of grad": "jax.jit(jax.grad(lambda x: f(x).sum()))(x)",
    "vmap of grad": "jax.vmap(jax.grad(lambda x: f(x).sum()))(jnp.stack([x, -x]))",
}
REVERSE = tuple(way for way in WAYS if "grad" in way)


def applied(jax, source, way):
    """The result as an array of NumPy, its dtype's name and whether it is weak."""
    scope = {**names(jax), "f": function(jax, source), "x": jax.numpy.asarray(X)}
    result = eval(WAYS[way], scope)
    return np.asarray(result), result.dtype.name, bool(result.weak_type)


def tolerance(source):
    return 6e-2 if "float16" in source else 2e-3


def close(a, b, source):
    """Up to rounding, which derivatives of many steps make larger."""
    wide = [np.asarray(v).astype(np.float64) for v in (a, b)]
    eps = tolerance(source)
    return wide[0].shape == wide[1].shape and np.allclose(*wide, eps, eps, equal_nan=True)


def inconsistencies(jax, source, reverse):
    """The disagreements of a program with itself: each a sentence. Without 16-bit floats, whose
    steps differ, also under differentiation."""
    jnp, f = jax.numpy, function(jax, source)
    x, t = jnp.asarray(X), jnp.array([1.0, -2.0, 0.5, 3.0])
    found = []

    def agree(what, a, b):
        if not close(a, b, source):
            found.append(f"{what}: {np.asarray(a).tolist()} against {np.asarray(b).tolist()}")

    out = f(x)
    if out.shape != (4,) or out.dtype != np.float32:
        return [f"the result is {out.dtype}{list(out.shape)}"]
    agree("jit and op by op", jax.jit(f)(x), out)
    both = jnp.stack([x, -x])
    rows = jnp.stack([out, f(-x)])
    agree("vmap and a loop", jax.vmap(f)(both), rows)
    agree("pmap and a loop", jax.pmap(f)(both), rows)
    agree("scan and a loop", jax.lax.map(f, both), rows)
    pair = lambda a, b: (f(a) + b, f(b) * a)
    for kept, donated in zip(
        jax.jit(pair)(x, t),
        jax.jit(pair, donate_argnums=(0, 1))(jnp.array(x), jnp.array(t)),
        strict=True,
    ):
        agree("donated and kept", donated, kept)
    primal, tangent = jax.jvp(f, (x,), (t,))
    agree("jvp and the value", primal, out)
    agree("jit of jvp and jvp", jax.jit(lambda x: jax.jvp(f, (x,), (t,))[1])(x), tangent)
    agree("linearize and jvp", jax.linearize(f, x)[1](t), tangent)
    if reverse:
        total = lambda x: f(x).sum()
        gradient = jax.grad(total)(x)
        agree("grad and jvp", gradient @ t, tangent.sum())
        agree("jit of grad and grad", jax.jit(jax.grad(total))(x), gradient)
        agree("vmap of grad and grad", jax.vmap(jax.grad(total))(both)[0], gradient)
        agree("grad of checkpoint and grad", jax.grad(jax.checkpoint(total))(x), gradient)
    return found


# The sources of what has jumps, or derivatives that stop: differences say nothing of them.
JUMPS = (
    ">", "<", "sort", "floor", "argm", "max", "min", "where", "sign", "relu", "abs", "median",
    "stop_gradient", "clamp", "select", "fmod", "int", "float16",
)  # fmt: skip


def against_differences(jax, source):
    """The disagreements of a smooth program's derivative with differences, in float64."""
    if any(mark in source for mark in JUMPS):
        return []
    source = source.replace("float32", "float64")
    with jax.enable_x64(True):
        jnp, f = jax.numpy, function(jax, source)
        x, t = jnp.asarray(X, "float64"), jnp.array([1.0, -2.0, 0.5, 3.0], "float64")
        tangent = np.asarray(jax.jvp(f, (x,), (t,))[1])
        slopes = [
            (np.asarray(f(x + h * t)) - np.asarray(f(x - h * t))) / (2 * h) for h in (1e-5, 3e-6)
        ]
    if not np.allclose(*slopes, 1e-4, 1e-5):  # not smooth here
        return []
    if np.allclose(tangent, slopes[0], 1e-3, 1e-4):
        return []
    return [f"jvp and differences: {tangent.tolist()} against {slopes[0].tolist()}"]


def answer(jax, request):
    source, way = request["source"], request["way"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if way == "self":
                found = inconsistencies(jax, source, request["reverse"])
                return {"value": found + against_differences(jax, source)}
            if way == "call":
                return {"value": described(eval(source, names(jax)))}
            value, dtype, weak = applied(jax, source, way)
            return {"value": [dtype, weak, value.astype(np.float64).tolist()]}
        except Exception as e:
            return {"error": [type(e).__name__, str(e)[:400]]}


def described(value):
    """The result of a call, briefly."""
    leaves = value if isinstance(value, (tuple, list)) else [value]
    return [
        f"{leaf.dtype}{list(leaf.shape)}" if hasattr(leaf, "dtype") else type(leaf).__name__
        for leaf in leaves[:4]
    ]


def main(package):
    # JAX's values are wanted, not its speed.
    flags = "--xla_force_host_platform_device_count=8 --xla_backend_optimization_level=0"
    os.environ["XLA_FLAGS"] = flags
    os.environ["JAX_PLATFORMS"] = "cpu"
    if package == "shardax":  # a call that asks for more is answered by MemoryError
        if "libasan" not in os.environ.get("LD_PRELOAD", ""):  # it has terabytes of shadow memory
            resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    jax = importlib.import_module(package)
    importlib.import_module(f"{package}.numpy")
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # programs print elsewhere
    for line in sys.stdin:
        out.write(json.dumps(answer(jax, json.loads(line))) + "\n")
        out.flush()


if __name__ == "__main__":
    main(sys.argv[1])
