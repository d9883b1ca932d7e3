"""tests/compile/test_fold_static_indices.py - gathers at constant indices become slices."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

X = np.random.default_rng(0).standard_normal((5, 6, 7)).astype("float32")
U = np.random.default_rng(1).standard_normal((5, 6, 7)).astype("float32")
ONE_WINDOW = lax.GatherDimensionNumbers((0, 1), (0,), (0,))


def gathered(x, at, mode, sizes=(1, 4, 7)):
    return lax.gather(x, jnp.array([at]), ONE_WINDOW, sizes, mode=mode, fill_value=9)


CASES = {
    "set": lambda x, u: x.at[2].set(u[0]),
    "set last": lambda x, u: x.at[-1].set(u[0]),
    "set beyond": lambda x, u: (x.at[5].set(u[0]), x.at[-6].set(u[0])),
    "set beyond, clipped": lambda x, u: x.at[9].set(u[0], mode="clip"),
    "set element": lambda x, u: x.at[2, -1, 3].set(u[0, 1, 2]),
    "set middle": lambda x, u: x.at[:, 4].set(u[:, 0]),
    "set part": lambda x, u: x.at[1:4].set(u[:3]),
    "set all": lambda x, u: (x.at[:].set(u), x[:1].at[0].set(u[0])),
    "set two": lambda x, u: x.at[2, :, 1].set(u[0, :, 1]),
    "set turned": lambda x, u: x.at[jnp.array(2), :, jnp.array(1)].set(u[0, :, 1]),
    "set several": lambda x, u: x.at[jnp.array([1, 3])].set(u[:2]),
    "set same several": lambda x, u: x.at[jnp.array([2, 2])].set(u[:2]),
    "add": lambda x, u: (x.at[2].add(u[0]), x.at[2].mul(u[0]), x.at[2].max(u[0])),
    "chain": lambda x, u: x.at[2].set(u[0]).at[3].set(u[1])[1:3],
    "read": lambda x, u: x.at[2].set(u[0])[2],
    "read within": lambda x, u: x.at[1:4].set(u[:3])[2:4, 1:],
    "read strided": lambda x, u: x.at[1:4].set(u[:3])[::2],
    "read beside": lambda x, u: x.at[1:4].set(u[:3])[4:],
    "read across": lambda x, u: x.at[1:4].set(u[:3])[3:],
    "gather": lambda x, u: [gathered(x, 2, mode) for mode in ("fill", "clip")],
    "gather beyond": lambda x, u: [gathered(x, 7, mode) for mode in ("fill", "clip")],
    "gather before": lambda x, u: [gathered(x, -1, mode) for mode in ("fill", "clip")],
    "take": lambda x, u: (jnp.take(x, 3, 1), jnp.take(x, jnp.array([3]), 1)),
    "slices": lambda x, u: lax.dynamic_slice(x, (1, 4, -2), (2, 3, 4)),
    "updates": lambda x, u: lax.dynamic_update_slice(x, u[:2, :3], (4, 4, 0)),
    "update of all": lambda x, u: lax.dynamic_update_slice(x, u, (4, 4, 1)),
    "narrow": lambda x, u: x.astype("bfloat16").at[1].set(u[0].astype("bfloat16")),
    "whole numbers": lambda x, u: jnp.arange(6).at[jnp.int32(3)].set(7),
}


@pytest.mark.parametrize("name", CASES)
def test_bits(name):
    f = CASES[name]
    want = f(jnp.asarray(X), jnp.asarray(U))
    for form in (
        jax.jit(f),
        lambda *a: jax.tree.map(lambda y: y[0], jax.vmap(f)(*(b[None] for b in a))),
    ):
        for a, b in zip(jax.tree.leaves(form(X, U)), jax.tree.leaves(want), strict=True):
            assert a.dtype == b.dtype
            assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


@pytest.mark.parametrize("name", [n for n in CASES if n not in ("whole numbers", "narrow")])
def test_gradients(name):
    def loss(x, u):
        return sum(jnp.sum(jnp.sin(y)) for y in jax.tree.leaves(CASES[name](x, u)))

    got, want = jax.jit(jax.grad(loss, (0, 1)))(X, U), jax.grad(loss, (0, 1))(X, U)
    for a, b in zip(got, want):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_nothing_is_looked_up(dump_of):
    program = """
import numpy as np, shardax as jax, shardax.numpy as jnp
x = jnp.asarray(np.random.default_rng(0).standard_normal((4, 64, 64)), "float32")
jax.jit(lambda x, y: {})(x, x[1])
"""
    plan = dump_of(program.format("jnp.sort(x).at[2].set(y).at[3].set(y * 2)[2:]"))
    assert "scatter" not in plan
    plan = dump_of(program.format("jnp.sort(x)[:1].at[0].set(jnp.cos(y))"))
    assert "sort" not in plan and "scatter" not in plan
    plan = dump_of(program.format("jnp.sort(jnp.take(x, 3, 0)) + y"))
    assert "gather" not in plan and "copy" not in plan
