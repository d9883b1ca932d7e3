"""tests/compile/test_fold_transposes.py - transposes merge and fold into their users."""

import numpy as np
import shardax

STEP = """
import numpy as np, shardax, shardax.numpy as jnp
from shardax import lax
from shardax.sharding import PartitionSpec as P

def loss(w, x, mean=lambda y: y):
    return jnp.sum(mean(jnp.tanh(x @ w["up"]) @ w["down"]) ** 2)

def whole(w, x):
    return shardax.tree.map(lambda p, g: p - 0.1 * g, w, shardax.grad(loss)(w, x))

def parallel(w, x):
    gradient = shardax.grad(lambda w: loss(w, x, lambda y: lax.psum(y, "i")))(w)
    return shardax.tree.map(lambda p, g: p - 0.1 * g, w, gradient)

def array(*shape):
    return jnp.asarray(np.random.default_rng(0).standard_normal(shape), "float32")

specs = {"up": P(None, "i"), "down": P("i")}
mesh = shardax.make_mesh((4,), ("i",), devices=shardax.devices()[:4])
mapped = shardax.shard_map(parallel, mesh=mesh, in_specs=(specs, P()), out_specs=specs)
"""
CALL = """
shardax.jit(f)({"up": array(24, 128), "down": array(128, 24)}, array(16, 24))
"""


def loops(plan):
    return [line.strip() for line in plan.splitlines() if "mul sub" in line]


def test_tensor_parallel_updates_are_made_in_the_order_of_parameters(dump_of):
    # Gradients have the devices' dimension first; the columns of a weight have it in the middle.
    plan = dump_of(STEP + "f = mapped" + CALL, "plan")
    assert "copy" not in plan
    alone = dump_of(STEP + "f = whole" + CALL, "plan")
    assert loops(plan) == loops(alone)
    assert len(loops(plan)) == 2


def test_values():
    rng = np.random.default_rng(0)
    a = rng.standard_normal((3, 4, 5)).astype(np.float32)
    b = rng.standard_normal((4, 3, 5)).astype(np.float32)
    x = rng.standard_normal((4, 6)).astype(np.float32)
    w = rng.standard_normal((6, 3, 5)).astype(np.float32)

    @shardax.jit
    def f(a, b, x, w):
        product = shardax.numpy.einsum("bi,ijk->jbk", x, w)
        swapped = a.transpose(0, 1, 2) + b.transpose(1, 0, 2)
        return (swapped * 2 + product).transpose(1, 0, 2), (a * swapped).transpose(2, 1, 0)

    swapped = a + b.transpose(1, 0, 2)
    product = np.einsum("bi,ijk->jbk", x, w)
    got = f(a, b, x, w)
    np.testing.assert_allclose(got[0], (swapped * 2 + product).transpose(1, 0, 2), rtol=2e-5)
    np.testing.assert_allclose(got[1], (a * swapped).transpose(2, 1, 0), rtol=1e-6)
