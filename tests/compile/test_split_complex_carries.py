"""tests/compile/test_split_complex_carries.py - complex carries become pairs of real ones."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax

from tests.codegen.machines import runs_loops

LOOPS = {
    "fori": lambda z, c: lax.fori_loop(0, 9, lambda i, z: z * z * 0.5 + c, z),
    "with others": lambda z, c: lax.fori_loop(
        0, 9, lambda i, s: (s[0] * c, s[1] + (jnp.abs(s[0]) < i)), (z, jnp.zeros(z.shape, int))
    ),
    "while": lambda z, c: lax.while_loop(
        lambda s: (s[1] < 7) & (jnp.abs(s[0]) >= 0).all(), lambda s: (s[0] - c, s[1] + 1), (z, 0)
    ),
    "slices": lambda z, c: lax.scan(
        lambda z, x: (z * x + c, jnp.real(z)), z, jnp.stack([c, c + 1, c * 2]), reverse=True
    ),
    "stacked": lambda z, c: lax.scan(lambda z, _: (z * c, z), z, None, length=4),
    "changed places": lambda z, c: lax.fori_loop(0, 5, lambda i, s: (s[1] * c, s[0]), (z, c)),
    "two": lambda z, c: lax.fori_loop(0, 5, lambda i, s: (s[1] * c, s[0] + c), (z, c)),
    "chosen": lambda z, c: lax.fori_loop(0, 5, lambda i, z: jnp.where(z.real < 0, z, z * c), z),
    "not elementwise": lambda z, c: lax.fori_loop(0, 5, lambda i, z: z + c * z[::-1], z),
    "nested": lambda z, c: lax.fori_loop(
        0, 3, lambda i, z: lax.fori_loop(0, i, lambda j, z: z * c + 1, z), z
    ),
    "constant": lambda z, c: lax.fori_loop(0, 3, lambda i, z: jnp.full_like(z, 1j) + z, z),
    "exponential": lambda z, c: lax.fori_loop(0, 3, lambda i, z: jnp.exp(z * 0.1) + c, z),
}


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", LOOPS)
def test_slices_have_the_bits_of_the_whole(name, dtype):
    """Few numbers are never parted."""
    f = jax.jit(LOOPS[name])
    rng = np.random.default_rng(0)
    with jax.enable_x64(True):
        z, c = (rng.normal(size=(2, 600)) + 1j * rng.normal(size=(2, 600))).astype(dtype)
        if name == "not elementwise":  # either end meets the other
            z, c = (np.concatenate([x[:300], x[:300]]) for x in (z, c))
            expected = jax.jit(LOOPS[name])(z, c)
            state = z
            for _ in range(5):
                state = state + c * state[::-1]
            np.testing.assert_allclose(expected, state, rtol=1e-5)
            return
        for i in (0, 37, 599 - 30):
            part = slice(i, i + 30)
            for few, all_of in zip(jax.tree.leaves(f(z[part], c[part])), jax.tree.leaves(f(z, c))):
                few, all_of = np.asarray(few), np.asarray(all_of)
                if all_of.ndim:
                    all_of = all_of[..., part]
                assert few.tobytes() == np.ascontiguousarray(all_of).tobytes()


def test_derivatives():
    rng = np.random.default_rng(0)
    z, c = (rng.normal(size=(2, 400)) + 1j * rng.normal(size=(2, 400))).astype("complex64") * 0.5

    def size(f):
        return lambda z, c: jnp.abs(f(z, c)).sum()

    loops = jax.grad(size(LOOPS["fori"]), (0, 1))(z, c)
    few = [jax.grad(size(LOOPS["fori"]), (0, 1))(z[i : i + 50], c[i : i + 50]) for i in (0, 350)]
    for k in range(2):
        np.testing.assert_array_equal(loops[k][:50], few[0][k])
        np.testing.assert_array_equal(loops[k][350:], few[1][k])


@runs_loops
def test_the_loop_is_of_parts(dump_of):
    program = (
        "import shardax as jax, shardax.numpy as jnp\n"
        "f = lambda z: jax.lax.fori_loop(0, 9, lambda i, z: z * z + z, z)\n"
        "jax.jit(f)(jnp.linspace(0, 1, 500) * 1j)\n"
    )
    plan = dump_of(program, SHARDAX_CODEGEN="1")
    assert "loop (500,) complex mul add real imag  [2 loads, 2 stores, 0 reductions]" in plan, plan
