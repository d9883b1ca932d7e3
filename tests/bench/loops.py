"""tests/bench/loops.py - the cost of a turn of a loop over few numbers, against JAX.

    python tests/bench/loops.py [--jax PYTHON] [--rounds N]

Runs itself in one process per system, in turns, and prints the median over the rounds of each
figure: shardax, JAX and their ratio. A figure is of a thousand turns: its microseconds are
nanoseconds a turn. PYTHON is an interpreter that has jax installed.
"""

import json

import numpy as np
import rivals

TURNS = 100_000


def measure(jax):
    jnp, lax = jax.numpy, jax.lax
    figures = {}

    def turn(name, f, *args, turns=TURNS):
        jitted = jax.jit(f)
        figures[name] = rivals.median_time(jax, lambda: jitted(*args)) * 1000 / turns

    def fori(body):
        return lambda *x: lax.fori_loop(0, TURNS, body, x[0] if len(x) == 1 else x)

    def counted(step):
        """A while_loop that turns n times."""
        return lambda x, n: lax.while_loop(
            lambda c: c[1] < n, lambda c: (step(c[0]), c[1] + 1), (x, 0)
        )

    turn("fori_loop x * 1.1 + i", fori(lambda i, x: x * 1.1 + i), 1.0)
    turn("while_loop Newton's square root", counted(lambda x: 0.5 * (x + 2 / x)), 1.0, TURNS)
    collatz = counted(lambda x: jnp.where(x % 2 == 0, x // 2, 3 * x + 1))
    turn("while_loop Collatz", collatz, 27, TURNS)
    turn("fori_loop lax.rem by 1000003", fori(lambda i, x: lax.rem(x * 7 + i, 1000003)), 27)
    turn("fori_loop Fibonacci", fori(lambda i, c: (c[1], c[0] + c[1])), 0, 1)
    lcg = fori(lambda i, x: x * jnp.uint32(1664525) + jnp.uint32(1013904223))
    turn("fori_loop random numbers by uint32", lcg, jnp.uint32(1))
    xs = jnp.asarray(np.ones(TURNS, "float32"))
    turn("scan of sums", lambda xs: lax.scan(lambda c, x: (c + x, c * 2), 0.0, xs), xs)

    def nested(c, x):
        return lax.fori_loop(0, 10, lambda i, c: c * 0.5 + x, c), c * 2

    turn("scan of fori_loops", lambda xs: lax.scan(nested, 0.0, xs[: TURNS // 10]), xs)

    def lorenz(i, s):
        x, y, z = s[0], s[1], s[2]
        return s + 0.01 * jnp.array([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])

    turn("fori_loop Lorenz, 3 elements", fori(lorenz), jnp.ones(3))
    turn("fori_loop x / |x|, 3 elements", fori(lambda i, x: x / jnp.sqrt(x @ x) + 0.1), jnp.ones(3))

    def look_up(table, x):
        return lax.fori_loop(0, TURNS, lambda i, x: x + table[i % 16], x)

    turn("fori_loop table[i % 16]", look_up, jnp.arange(16.0), 0.0)
    turn(
        "fori_loop x.at[i % 100].add", fori(lambda i, x: x.at[i % 100].add(1.0)), jnp.arange(100.0)
    )
    branch = fori(lambda i, x: lax.cond(x > 1, lambda x: x * 0.5, lambda x: x + 0.7, x))
    turn("fori_loop cond", branch, 1.0)
    turn("fori_loop sin", fori(lambda i, x: jnp.sin(x) + 1), 1.0)
    halves = jax.vmap(counted(lambda x: x * 0.5 + 1), (0, None))
    turn("vmap of while_loop, 8 elements", halves, jnp.arange(8.0), TURNS)

    # Vectors and small matrices.
    few = TURNS // 10

    def repeat(step, x):
        return lambda a: lax.fori_loop(0, few, lambda i, x: step(a, x), x)

    def power(a, x):
        y = a @ x
        return y / jnp.sqrt(y @ y)

    def sinkhorn(a, uv):
        return 1 / (a @ uv[1]), 1 / (a.T @ uv[0])

    def of_logs(a, uv):
        logsumexp = jax.scipy.special.logsumexp
        return -logsumexp(a + uv[1], 1), -logsumexp(a + uv[0][:, None], 0)

    for n in (8, 20, 40):
        a, x = jnp.asarray(np.random.default_rng(0).random((n, n)) / n, "float32"), jnp.ones(n)
        turn(f"power iteration, {n} x {n}", repeat(power, x), a, turns=few)
        turn(f"Sinkhorn, {n} x {n}", repeat(sinkhorn, (x, x)), a, turns=few)
        turn(f"Sinkhorn of logarithms, {n} x {n}", repeat(of_logs, (x, x)), a, turns=few)
        turn(f"softmax of {n}", repeat(lambda a, x: jax.nn.softmax(x + a), x), a[0], turns=few)

    def recurrent(w, xs):
        return lax.scan(lambda c, x: (jnp.tanh(c * x), c), w, xs)[0]

    turn("gradient of a scan of tanh", jax.grad(recurrent), 0.5, xs)
    print(json.dumps(figures))


if __name__ == "__main__":
    jax = rivals.system()
    measure(jax) if jax else rivals.compare(__file__, __doc__)
