"""tests/compile/test_arena.py - temporaries of very many steps share memory."""

PROGRAM = """
import numpy as np
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

LAYERS = 1500
w = jnp.asarray(np.random.default_rng(0).standard_normal((16, 16)) / 4, jnp.float32)

def unrolled(x):
    for i in range(LAYERS):
        x = jnp.tanh(x @ w) + (jnp.tanh(x[:, :8] @ w[:8]) if i % 3 else 0)
    return x.sum()

def step(x, i):
    return jnp.tanh(x @ w) + jnp.where(i % 3 > 0, jnp.tanh(x[:, :8] @ w[:8]), 0), None

def looped(x):
    return lax.scan(step, x, jnp.arange(LAYERS))[0].sum()

x = jnp.ones((3, 16)) / 3
np.testing.assert_allclose(
    jax.jit(jax.grad(unrolled))(x), jax.jit(jax.grad(looped))(x), rtol=1e-3, atol=1e-6
)
"""


def test_very_many_temporaries(dump_of):
    dump = dump_of(PROGRAM)
    plans = [plan for plan in dump.split("-- plan:") if "scan" not in plan]
    temporaries = max(
        int(p.split(" steps, ")[1].split(" bytes")[0]) for p in plans if " steps" in p
    )
    # The residuals of each layer: one or two values of 192 bytes.
    assert 1500 * 192 < temporaries < 1.05 * 2500 * 192
