"""tests/scipy/test_stateful_rng.py - generators that move on by themselves."""

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax.experimental.random import StatefulPRNG, stateful_rng


def test_draws_move_it_on():
    rng = stateful_rng(42)
    np.testing.assert_allclose([rng.uniform(), rng.uniform()], [0.5302608, 0.72766423], rtol=1e-6)


def test_jit_vmap_and_children():
    rng = stateful_rng(0)
    draw = shardax.jit(rng.uniform)
    first, second = draw(), draw()
    assert first != second
    rows = shardax.vmap(lambda r, x: x + r.normal(size=2))(rng.split(3), jnp.zeros(3))
    assert rows.shape == (3, 2) and len(np.unique(rows)) == 6
    children = rng.spawn(2)
    assert [c.integers(0, 1000) for c in children][0] != rng.integers(0, 1000)


def test_a_generator_that_was_split_does_not_draw():
    with pytest.raises(ValueError, match="cannot operate on split"):
        stateful_rng(0).split(3).key()


def test_checks():
    with pytest.raises(ValueError, match="Expected base_key to be a typed PRNG key"):
        StatefulPRNG(jnp.zeros(2), None)
    with pytest.raises(TypeError, match="requires an explicit seed"):
        shardax.jit(lambda: stateful_rng().uniform())()


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2"])
def test_narrow_floats(dtype):
    """As JAX 0.10.2 draws them: few values, all of the dtype."""
    dtype = getattr(jnp, dtype)
    draws = shardax.random.normal(shardax.random.key(0), (4096,), dtype)
    uniform = shardax.random.uniform(shardax.random.key(0), (4096,), dtype)
    assert draws.dtype == uniform.dtype == dtype
    # The lowest uniform number is drawn more often than the highest, as in JAX: means are below 0.
    want = -0.16275787 if dtype == jnp.float8_e4m3fn else -0.22390747
    assert float(draws.astype("float32").mean()) == pytest.approx(want)
    assert 0 <= uniform.astype("float32").min() and uniform.astype("float32").max() < 1
