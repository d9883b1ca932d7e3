"""tests/bench/calls.py - the cost of calls, against JAX.

    python tests/bench/calls.py [--jax PYTHON] [--rounds N]

Runs itself in one process per system, in turns, and prints the median over the rounds of each
figure: shardax, JAX and their ratio. PYTHON is an interpreter that has jax installed.
"""

import json
import time

import numpy as np
import rivals


def eager_functions(jax, call):
    """Compositions and control flow outside of programs, on 64 elements."""
    jnp, lax, key = jax.numpy, jax.lax, jax.random.key(0)
    x = jnp.asarray(np.random.default_rng(0).random(64), dtype=jnp.float32)
    m, condition = x.reshape(8, 8), x > 0.5
    call("eager concatenate", lambda: jnp.concatenate([x, x]))
    call("eager stack", lambda: jnp.stack([x, condition]))
    call("eager where", lambda: jnp.where(condition, x, 0.0))
    call("eager clip", lambda: jnp.clip(x, 0.2, 0.7))
    call("eager arange", lambda: jnp.arange(64))
    call("eager pad", lambda: jnp.pad(x, 1))
    call("eager einsum", lambda: jnp.einsum("ij,jk->ik", m, m))
    call("eager std of rows", lambda: jnp.std(m, axis=1))
    call("eager random.normal", lambda: jax.random.normal(key, (64,)))
    call("eager random.split", lambda: jax.random.split(key))

    def double(x):
        return x * 2

    call("eager cond", lambda: lax.cond(True, double, double, x))
    call("eager scan", lambda: lax.scan(add, 0.0, x)[0])
    call("eager fori_loop", lambda: lax.fori_loop(0, 10, turn, x))
    call("eager while_loop", lambda: lax.while_loop(is_below, double, x[0]))


def add(carry, x):
    return carry + x, carry


def turn(i, x):
    return x + i


def is_below(x):
    return x < 10


def measure(jax):
    jnp = jax.numpy
    rng = np.random.default_rng(0)
    figures = {}

    def call(name, f):
        figures[name] = rivals.median_time(jax, f)

    small = jnp.asarray(rng.standard_normal(8), dtype=jnp.float32)
    call("eager x + x, 8 elements", lambda: small + small)
    jitted = jax.jit(lambda x: x * 2 + 1)
    call("jit x * 2 + 1, 8 elements", lambda: jitted(small))

    x = jnp.asarray(rng.standard_normal((8, 100, 5)), dtype=jnp.float32)
    y = jnp.asarray(rng.standard_normal((8, 100)), dtype=jnp.float32)
    w = jnp.asarray(rng.standard_normal(5), dtype=jnp.float32)

    def loss(p, x, y):
        return jnp.mean((x @ p["w"] + p["b"] - y) ** 2)

    def step(p, x, y):
        value, grads = jax.value_and_grad(loss)(p, x, y)
        grads = jax.lax.pmean(grads, "i")
        return jax.tree.map(lambda a, g: a - 0.05 * g, p, grads), jax.lax.pmean(value, "i")

    params = {"w": jnp.stack([w] * 8), "b": jnp.zeros(8)}
    train = jax.pmap(step, axis_name="i")
    start = time.perf_counter()
    params, value = jax.block_until_ready(train(params, x, y))
    figures["first call of a linear training step, 8 devices"] = (time.perf_counter() - start) * 1e6
    call("linear training step, 8 devices", lambda: train(params, x, y)[1])
    call("loss[0]", lambda: value[0])
    eager_functions(jax, call)
    first = {"w": w, "b": jnp.zeros(())}
    call(
        "eager value_and_grad of that loss", lambda: jax.value_and_grad(loss)(first, x[0], y[0])[0]
    )

    print(json.dumps(figures))


if __name__ == "__main__":
    jax = rivals.system()
    measure(jax) if jax else rivals.compare(__file__, __doc__)
