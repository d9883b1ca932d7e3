"""tests/compile/test_remat_long_lived.py - cheap values are recomputed at late uses."""

import os

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

ROWS, WIDTH, LAYERS = 1024, 512, 12  # 2 MB for each value of a layer
BYTES = 4 * ROWS * WIDTH


def gelu(h):
    return jax.nn.gelu(h)


def swish(h):
    return h * jax.nn.sigmoid(h)


def normalised(h):
    mean = h.mean(1, keepdims=True)
    return jnp.tanh((h - mean) * lax.rsqrt(((h - mean) ** 2).mean(1, keepdims=True) + 1e-5))


def halves(h):
    """Views of what is kept."""
    a, b = jnp.split(h, 2, 1)
    return jnp.concatenate([a * jnp.exp(-(b**2)), jnp.log1p(a**2) - b.T.reshape(a.shape)], 1)


def rounded(h):
    """Steps that have no derivative, and booleans."""
    return jnp.where(h > jnp.round(h), h**3, jnp.abs(h)) / (1 + h**2)


ACTIVATIONS = [gelu, swish, normalised, halves, rounded]


def loss(activation):
    def run(weights, x):
        for w in weights:
            x = x + activation(x @ w)
        return (x**2).mean()

    return run


def operands():
    rng = np.random.default_rng(0)
    weights = rng.standard_normal((LAYERS, WIDTH, WIDTH)) / WIDTH**0.5
    return jnp.asarray(weights, jnp.float32), jnp.asarray(
        rng.standard_normal((ROWS, WIDTH)), jnp.float32
    )


@pytest.mark.parametrize("activation", ACTIVATIONS, ids=lambda f: f.__name__)
def test_values(activation):
    weights, x = operands()
    weights = list(weights)
    step = jax.grad(loss(activation), (0, 1))
    values = jax.jit(step)(weights, x)
    with jax.disable_jit():
        expected = step(weights, x)
    for a, b in zip(jax.tree.leaves(values), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5 * float(jnp.abs(b).max()))


# The analysis makes the plan; nothing runs, which would take an emulator minutes.
PROGRAM = """
import shardax as jax
import test_remat_long_lived as t

weights, x = t.operands()
step = jax.jit(jax.grad(t.loss(t.{}), (0, 1)))
step.lower(list(weights), x).compile().memory_analysis()
"""


@pytest.mark.parametrize(("activation", "kept"), [("gelu", 2), ("swish", 2)])
def test_little_is_kept_of_each_layer(dump_of, activation, kept):
    """The operand of a layer's product, which its weights' gradient needs, and the product."""
    dump = dump_of(PROGRAM.format(activation), folder=os.path.dirname(__file__))
    plan = dump.split("-- plan:")[-1]
    temporaries = int(plan.split(" steps, ")[1].split(" bytes")[0])
    # Near the end more is kept: the values that are not far.
    assert temporaries < (kept * LAYERS + 6) * BYTES


def test_copies_are_made_where_they_are_used(dump_of):
    dump = dump_of(PROGRAM.format("gelu"), folder=os.path.dirname(__file__))
    loops = [line for line in dump.split("-- plan:")[-1].splitlines() if "logistic" in line]
    forward = [line for line in loops if "add_any" not in line]
    # Forward and backward are one loop in the last layer; values near to it are kept.
    assert len(forward) == LAYERS - 1
    assert LAYERS - 6 < len(loops) - len(forward) < LAYERS


SMALL = """
import shardax as jax
import test_remat_long_lived as t

weights, x = t.operands()
step = jax.jit(jax.grad(t.loss(t.gelu), (0, 1)))
step.lower(list(weights), x[:64]).compile().memory_analysis()
"""


def test_near_values_are_kept(dump_of):
    dump = dump_of(SMALL, folder=os.path.dirname(__file__))
    loops = [line for line in dump.split("-- plan:")[-1].splitlines() if "logistic" in line]
    assert len(loops) == LAYERS


def test_dropout_is_drawn_again_as_it_was():
    weights, x = operands()

    def run(weights, x, key):
        for w in weights:
            key, own = jax.random.split(key)
            h = jax.nn.gelu(x @ w)
            x = x + jnp.where(jax.random.bernoulli(own, 0.9, h.shape), h / 0.9, 0)
        return (x**2).mean()

    key = jax.random.key(1)
    values = jax.jit(jax.grad(run))(list(weights), x, key)
    with jax.disable_jit():
        expected = jax.grad(run)(list(weights), x, key)
    for a, b in zip(values, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5 * float(jnp.abs(b).max()))


DONATED = """
import shardax as jax
import shardax.numpy as jnp
import test_remat_long_lived as t

weights, x = t.operands()

def loss(weights, x):
    for w in weights:
        x = x + jax.nn.gelu(x @ jnp.tanh(w))
    return (x**2).mean()

def step(weights, x):
    return [w - 0.1 * g for w, g in zip(weights, jax.grad(loss)(weights, x))]

kept = jax.jit(step)(list(weights), x)
given = [w + 0 for w in weights]
places = [w.unsafe_buffer_pointer() for w in given]
updated = jax.jit(step, donate_argnums=0)(given, x)
assert all((a == b).all() for a, b in zip(kept, updated))
assert [w.unsafe_buffer_pointer() for w in updated] == places
"""


def test_donated_weights_are_updated_in_place(dump_of):
    plan = dump_of(DONATED, folder=os.path.dirname(__file__)).split("-- plan:")[-1]
    assert "copy" not in plan
