"""tests/array/test_segments.py - segment_sum and its kin, held against loops."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp

IDS = np.array([0, 2, 2, 5, -1, 0, 3])
ROWS = np.random.default_rng(0).normal(size=(7, 3)).astype(np.float32)


@pytest.mark.parametrize(
    "name, reduce, empty",
    [("sum", np.sum, 0), ("prod", np.prod, 1), ("max", np.max, -np.inf), ("min", np.min, np.inf)],
)
def test_values(name, reduce, empty):
    segment = getattr(jax.ops, f"segment_{name}")
    expected = np.full((5, 3), empty, np.float32)
    for row in {0, 2, 3}:  # 5 is out of bounds and -1 negative: both are left out
        expected[row] = reduce(ROWS[IDS == row], axis=0)
    np.testing.assert_allclose(segment(ROWS, IDS, 5), expected, rtol=1e-6)
    np.testing.assert_allclose(
        jax.jit(segment, static_argnums=2)(ROWS, IDS, 5), expected, rtol=1e-6
    )
    assert segment(ROWS, IDS).shape == (6, 3)
    assert segment(ROWS, IDS, 0).shape == (0, 3)
    integers = segment(jnp.arange(4), jnp.array([0, 0, 0, 2]))
    assert integers.dtype == jnp.int32
    limits = {"sum": 0, "prod": 1, "max": np.iinfo(np.int32).min, "min": np.iinfo(np.int32).max}
    assert integers[1] == limits[name]


def test_booleans_and_many_dimensions():
    flags = jnp.array([True, False, False])
    np.testing.assert_array_equal(jax.ops.segment_max(flags, jnp.array([0, 0, 1]), 3), [1, 0, 0])
    np.testing.assert_array_equal(jax.ops.segment_min(flags, jnp.array([0, 0, 1]), 3), [0, 0, 1])
    grid = jnp.array([[0, 1], [1, 0]])
    np.testing.assert_array_equal(jax.ops.segment_sum(jnp.arange(4).reshape(2, 2), grid), [3, 3])


def test_gradient_and_batches():
    ids = jnp.array([0, 1, 1])
    grad = jax.grad(lambda x: (jax.ops.segment_sum(x, ids, 2) ** 2).sum())(jnp.arange(3.0))
    np.testing.assert_allclose(grad, [0, 6, 6])
    stacked = jnp.arange(6.0).reshape(2, 3)
    both = jax.vmap(lambda x: jax.ops.segment_sum(x, ids, 2))(stacked)
    np.testing.assert_allclose(both, [[0, 3], [3, 9]])
    mapped = jax.pmap(lambda x: jax.ops.segment_sum(x, ids, 2))(stacked)
    np.testing.assert_allclose(mapped, both)


def test_errors():
    for error, text, call in [
        (ValueError, "non-negative", lambda: jax.ops.segment_sum(ROWS, IDS, -1)),
        (ValueError, "leading dimensions", lambda: jax.ops.segment_sum(ROWS, IDS[:3])),
        (
            jax.errors.ConcretizationTypeError,
            "needs its num_segments argument",
            lambda: jax.jit(jax.ops.segment_sum)(ROWS, IDS),
        ),
        (TypeError, "got <class 'list'>", lambda: jax.ops.segment_sum([1], IDS)),
    ]:
        with pytest.raises(error, match=text):
            call()


def test_updates_as_before_at():
    x = jnp.arange(6.0).reshape(2, 3)
    index = jax.ops.index
    assert jax.ops.index_update(x, index[0, 1:], 9.0).tolist() == [[0, 9, 9], [3, 4, 5]]
    assert jax.ops.index_add(x, index[:, 0], 1.0).tolist() == [[1, 1, 2], [4, 4, 5]]
    assert jax.ops.index_mul(x, index[1], 2.0).tolist() == [[0, 1, 2], [6, 8, 10]]
    assert jax.ops.index_min(x, index[...], 1.0).tolist() == [[0, 1, 1], [1, 1, 1]]
    assert jax.ops.index_max(x, index[...], 4.0).tolist() == [[4, 4, 4], [4, 4, 5]]
