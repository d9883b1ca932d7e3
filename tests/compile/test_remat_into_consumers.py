"""tests/compile/test_remat_into_consumers.py - consumers recompute cheap values."""

import os

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

SHAPE = (16, 8, 64, 64)  # 2 MB


def normalised(x, scale, shift):
    mean = x.mean((0, 2, 3), keepdims=True)
    var = jnp.square(x - mean).mean((0, 2, 3), keepdims=True)
    y = (x - mean) * lax.rsqrt(var + 1e-5)
    return jax.nn.relu(y * scale[:, None, None] + shift[:, None, None])


def gelu(x, scale, shift):
    return jax.nn.gelu(lax.sort(x, dimension=0) * scale[:, None, None] + shift[:, None, None])


def choice(x, scale, shift):
    """A value that one loop makes, and others use in several ways."""
    x = lax.sort(x, dimension=0)
    a = jnp.where(x > shift[:, None, None], x * x - 1, -x)
    top = a.max((0, 2, 3), keepdims=True)
    b = jnp.maximum(a, top * scale[:, None, None])
    return a * b - b.mean((0, 2, 3), keepdims=True) * a


def operands():
    rng = np.random.default_rng(0)
    return [jnp.asarray(rng.standard_normal(s), jnp.float32) for s in (SHAPE, (8,), (8,))]


@pytest.mark.parametrize("f", [normalised, gelu, choice], ids=lambda f: f.__name__)
def test_values(f):
    args = operands()

    def both(*args):
        return f(*args), jax.grad(lambda *a: (f(*a) ** 2).sum(), (0, 1, 2))(*args)

    with jax.disable_jit():
        expected = jax.tree.leaves(both(*args))
    for a, b in zip(jax.tree.leaves(jax.jit(both)(*args)), expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-5 * float(jnp.abs(b).max()))


PROGRAM = """
import shardax as jax
from test_remat_into_consumers import normalised, operands

x, w, _ = operands()
jax.jit(jax.grad(lambda *a: (normalised(*a) ** 2).sum(), (0, 1, 2)))(x, w, w)
"""


def test_a_normalisation_leaves_little_for_its_gradient(dump_of):
    dump = dump_of(PROGRAM, folder=os.path.dirname(__file__))
    plan = dump.split("-- plan:")[-1]
    assert "sub square reduce_sum  [2 loads, 0 stores, 1 reductions]" in plan
    # The gradient of the normalised values, and none of what was made before.
    assert int(plan.split(" steps, ")[1].split(" bytes")[0]) < 1.1 * 4 * np.prod(SHAPE)


def test_blocks_of_rows_make_cheap_values_again(dump_of):
    """The centred rows of a layer norm, which would be the only large values that it keeps."""
    program = (
        "import shardax as jax, shardax.numpy as jnp\n"
        "def f(x):\n"
        "    d = x - x.mean(-1, keepdims=True)\n"
        "    return d * jax.lax.rsqrt((d * d).mean(-1, keepdims=True) + 1e-5)\n"
        "jax.jit(f)(jnp.sin(jnp.arange(4e6)).reshape(4000, 1000))"
    )
    plan = dump_of(program)
    assert "sub mul reduce_sum  [2 loads, 0 stores, 1 reductions]" in plan, plan
    assert "sub mul  [3 loads, 1 stores, 0 reductions]" in plan, plan
