"""tests/bench/debug_nans.py - the cost of jax_debug_nans in a pmapped training step.

    python tests/bench/debug_nans.py [--rounds N]

Prints the median over interleaved rounds of a step without and with it, and their ratio.
"""

import argparse
import statistics
import time

import shardax as jax
import shardax.numpy as jnp
from shardax import lax

STEPS = 200


def loss(params, x, y):
    return jnp.mean((jnp.tanh(x @ params[0]) @ params[1] - y) ** 2)


def step(params, x, y):
    value, grads = jax.value_and_grad(loss)(params, x, y)
    grads = lax.pmean(grads, "i")
    return [p - 0.1 * g for p, g in zip(params, grads)], value


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    train = jax.pmap(step, axis_name="i", in_axes=(None, 0, 0), out_axes=(None, 0))
    params = [jnp.full((64, 128), 0.01), jnp.full((128, 1), 0.01)]
    x, y = jnp.ones((8, 128, 64)), jnp.ones((8, 128, 1))

    def seconds(watched):
        with jax.debug_nans(watched):
            start = time.perf_counter()
            for _ in range(STEPS):
                jax.block_until_ready(train(params, x, y))
            return (time.perf_counter() - start) / STEPS

    seconds(False), seconds(True)
    pairs = [(seconds(False), seconds(True)) for _ in range(rounds)]
    plain, watched = (statistics.median(times) for times in zip(*pairs))
    ratio = statistics.median(b / a for a, b in pairs)
    print(f"{plain * 1e6:.1f} us a step, {watched * 1e6:.1f} us with debug_nans: ratio {ratio:.3f}")


if __name__ == "__main__":
    main()
