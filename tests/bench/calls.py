"""tests/bench/calls.py - what calls cost, against JAX.

    python tests/bench/calls.py [--jax PYTHON] [--rounds N]

Runs itself in one process per system, in turns, and prints the median over the rounds of each
figure: shardax, JAX and their ratio. PYTHON is an interpreter that has jax installed.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time


def measure():
    if os.environ["BENCH_SYSTEM"] == "jax":
        os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
        import jax
    else:
        import shardax as jax
    import numpy as np

    jnp = jax.numpy
    rng = np.random.default_rng(0)
    figures = {}

    def call(name, f, budget=0.15):
        jax.block_until_ready(f())
        start, times = time.perf_counter(), []
        while time.perf_counter() - start < budget or len(times) < 5:
            t = time.perf_counter()
            jax.block_until_ready(f())
            times.append(time.perf_counter() - t)
        figures[name] = statistics.median(times) * 1e6

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
    first = {"w": w, "b": jnp.zeros(())}
    call(
        "eager value_and_grad of that loss", lambda: jax.value_and_grad(loss)(first, x[0], y[0])[0]
    )

    big = jnp.asarray(rng.standard_normal(4_000_000), dtype=jnp.float32)
    chain = jax.jit(lambda v: jnp.tanh(v) * 2 + v)
    call("jit tanh(v) * 2 + v, 4M elements", lambda: chain(big))
    call("sum of 4M elements", lambda: big.sum())
    m = jnp.asarray(rng.standard_normal((512, 512)), dtype=jnp.float32)
    product = jax.jit(lambda a: a @ a)
    call("512 x 512 product", lambda: product(m))
    key = jax.random.PRNGKey(0)
    call("normal, 1M draws", lambda: jax.random.normal(key, (1_000_000,)))
    print(json.dumps(figures))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jax", help="an interpreter with jax")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    systems = {"shardax": sys.executable, **({"jax": options.jax} if options.jax else {})}
    figures = {name: [] for name in systems}
    for _ in range(options.rounds):
        for name, python in systems.items():
            env = {**os.environ, "BENCH_SYSTEM": name}
            if name == "jax":
                env.pop("PYTHONPATH", None)
            run = subprocess.run(
                [python, __file__], env=env, capture_output=True, text=True, check=True
            )
            figures[name].append(json.loads(run.stdout))
    print(f"{'':52}{'shardax':>12}" + (f"{'JAX':>14}{'ratio':>9}" if options.jax else ""))
    for row in figures["shardax"][0]:
        medians = {
            name: statistics.median(r[row] for r in rounds) for name, rounds in figures.items()
        }
        line = f"{row:52}{medians['shardax']:>9.1f} us"
        if options.jax:
            line += f"{medians['jax']:>11.1f} us{medians['jax'] / medians['shardax']:>8.1f}x"
        print(line)


if __name__ == "__main__":
    measure() if "BENCH_SYSTEM" in os.environ else main()
