"""tests/compile/test_donated.py - results lie in the memory of donated inputs, also of those that
all devices share and of those that are read rows by rows."""

import os

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

DEVICES = 4


def update(params, moments, x):
    def loss(params):
        y = x
        for w in params:
            y = jnp.tanh(y @ w)
        return (y**2).mean()

    grads = lax.pmean(jax.grad(loss)(params), "i")
    moments = [0.9 * m + 0.1 * g for m, g in zip(moments, grads)]
    return [p - 0.1 * m / (jnp.abs(m) + 1e-3) for p, m in zip(params, moments)], moments


def operands(batch):
    rng = np.random.default_rng(0)
    params = [jnp.asarray(rng.standard_normal((600, 600)) / 25, jnp.float32) for _ in range(3)]
    x = jnp.asarray(rng.standard_normal((DEVICES, batch, 600)), jnp.float32)
    replicated = [jnp.stack([p] * DEVICES) for p in params]
    return replicated, [p * 0 for p in replicated], x


def run(batch, donated):
    f = jax.pmap(update, axis_name="i", donate_argnums=(0, 1) if donated else ())
    params, moments, x = operands(batch)
    for _ in range(3):
        params, moments = f(params, moments, x)
    return params, moments


@pytest.mark.parametrize("batch", [2, 50])
def test_values(batch):
    for a, b in zip(
        jax.tree.leaves(run(batch, True)), jax.tree.leaves(run(batch, False)), strict=True
    ):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("batch", [2, 50])  # few rows: updates are made with their gradients
def test_nothing_is_allocated_for_the_results(batch, dump_of):
    dump = dump_of(
        f"from test_donated import run; run({batch}, True)", folder=os.path.dirname(__file__)
    )
    last = dump.split("-- plan:")[-1]
    assert int(last.split(" temporaries, ")[1].split(" output")[0]) <= 1
    assert ("\n    dot_general -> " in last) == (batch == 2)
