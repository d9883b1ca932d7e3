"""tests/api/test_one_program.py - compositions that are called on arrays run as one program."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax._base.arrays import in_one_program

X = np.random.default_rng(0).normal(size=(4, 5)).astype(np.float32)


def test_staged_once_on_arrays_only():
    calls = []

    @in_one_program("scale")
    def doubled(x, y=1.0, *, scale=2):
        calls.append(isinstance(x, jax.core.Tracer))
        return x * y * scale

    assert float(doubled(jnp.float32(3))) == 6 and float(doubled(jnp.float32(4), scale=2)) == 8
    assert calls == [True, True]  # one without scale, one with it
    assert float(doubled(jnp.float32(5))) == 10 and len(calls) == 2
    text = str(jax.make_jaxpr(doubled)(1.0))
    assert "jit" not in text and len(calls) == 3
    np.testing.assert_array_equal(jax.vmap(doubled)(jnp.arange(3.0)), [0, 2, 4])
    assert float(jax.grad(doubled)(1.0)) == 2
    with pytest.raises(TypeError):
        doubled([1], scale=[2])


@pytest.mark.parametrize(
    "call",
    [
        lambda x: jnp.quantile(x, 0.3, axis=[0, 1]),
        lambda x: jnp.percentile(x, np.array([10, 20]), axis=-1, method="nearest"),
        lambda x: jnp.nanmedian(x, axis=(0, 1), keepdims=True),
        lambda x: jnp.take(x, np.array([0, -1, 9]), axis=1),
        lambda x: jnp.take_along_axis(x, np.array([[0], [1], [2], [9]]), 1),
        lambda x: jnp.gradient(x, 2.0, axis=(0, 1)),
        lambda x: jnp.linspace(x[0], x[1], 3, axis=1, retstep=True),
        lambda x: jnp.tril(x, -1) + jnp.triu(x, np.int64(1)),
        lambda x: jnp.polyval(x[0], x),
        lambda x: jnp.unwrap(x * 9, axis=0),
        lambda x: jnp.nan_to_num(x / 0, nan=1, posinf=np.float32(7)),
        lambda x: jnp.cov(x, fweights=np.array([1, 2, 1, 1, 3])),
        lambda x: jax.nn.one_hot(jnp.arange(3), 4, dtype="int32"),
        lambda x: jax.scipy.linalg.expm(x[:, :4]),
        lambda x: jax.scipy.stats.truncnorm.cdf(x, -1, 1),
    ],
)
def test_same_bits_as_within_a_program(call):
    staged = jax.jit(call)(X)
    for a, b in zip(jax.tree.leaves(call(jnp.asarray(X))), jax.tree.leaves(staged), strict=True):
        assert a.dtype == b.dtype and a.weak_type == b.weak_type
        np.testing.assert_array_equal(a, b)
