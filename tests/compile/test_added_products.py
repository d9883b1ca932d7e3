"""tests/compile/test_added_products.py - products accumulate into an existing sum."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

rng = np.random.default_rng(0)


def array(*shape, dtype="float32"):
    return jnp.asarray(rng.standard_normal(shape).astype(dtype))


def bits(a, b):
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        assert np.asarray(x).tobytes() == np.asarray(y).tobytes()


SHAPES = [
    (64, 200, 300),
    (256, 40, 700),
    (300, 200, 200),
    (70, 129, 5),
    (64, 3, 800),
    (1, 300, 300),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("form", ["kn", "nk", "turned", "few"])
def test_donated_sums(shape, form):
    k, m, n = shape
    a, b = array(k, m), array(k, n)
    f = {
        "kn": lambda c, a, b: c + a.T @ b,
        "nk": lambda c, a, b: jnp.einsum("km,kn->mn", a, b) + c,
        "turned": lambda c, a, b: c + (b.T @ a).T,
        "few": lambda c, a, b: c + jnp.einsum("km,kn->mn", a, b) + 1,
    }[form]
    c = array(m, n)
    want = f(c, a, b)
    bits(jax.jit(f, donate_argnums=0)(jnp.array(c), a, b), want)
    bits(jax.jit(f)(c, a, b), want)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int32"])
def test_sums_that_a_loop_carries(dtype):
    with jax.enable_x64(dtype == "float64"):
        a = array(5, 64, 160, dtype="float32").astype(dtype)
        b = array(5, 64, 200, dtype="float32").astype(dtype)
        keep = jnp.asarray([True, False, True, True, False])

        def turn(c, x):
            a, b, p = x
            return lax.cond(p, lambda: c + a.T @ b, lambda: c), jnp.max(a)

        c = array(160, 200).astype(dtype)
        got, _ = jax.jit(lambda c, a, b: lax.scan(turn, c, (a, b, keep)))(c, a, b)
        for x, y, p in zip(a, b, keep):
            c = c + x.T @ y if p else c
        bits(got, c)


def test_what_others_need():
    a, b, c = array(64, 160), array(64, 200), array(160, 200)

    def uses(c, a, b):
        d = jnp.sort(c, 0)
        p = a.T @ b
        return d + p, jnp.sort(p), jnp.sort(d + a.T @ (b + 1)), d

    def parts(c, a, b):
        d = jnp.sort(c, 0)
        return jnp.concatenate([d + a.T @ b, c])

    def square(c):
        d = jnp.sort(c[:, :160], 0)
        return d + d.T @ d, jnp.sort(d.T @ d)

    for f, args in ((uses, (c, a, b)), (parts, (c, a, b)), (square, (c,))):
        bits(jax.jit(f)(*args), f(*args))
        if f is uses:  # the others have results of other sizes
            bits(jax.jit(f, donate_argnums=0)(jnp.array(args[0]), *args[1:]), f(*args))


def test_plans(dump_of):
    program = """
import numpy as np, shardax as jax, shardax.numpy as jnp
from shardax import lax
x = jnp.asarray(np.random.default_rng(0).standard_normal((4, {k}, 200)), "float32")
step = lambda c, x: (lax.cond(x[0, 0] > 0, lambda: c + x.T @ x, lambda: c), None)
jax.jit(lambda c, x: lax.scan(step, c, x))(jnp.zeros((200, 200)), x)
"""
    assert "added to f32[200,200]" in dump_of(program.format(k=128))
    assert "added to" not in dump_of(program.format(k=300))  # of two blocks: other bits
