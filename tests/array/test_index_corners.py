"""tests/array/test_index_corners.py - indices that NumPy and JAX treat in their own ways."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp

X = np.arange(60).reshape(3, 4, 5)
I = np.array([0, 1])  # noqa: E741


@pytest.mark.parametrize(
    "index",
    [
        (slice(None), I, ..., I),  # an ellipsis parts arrays also where it stands for nothing
        (slice(None), I, I, ...),
        (slice(None), I, I),
        (slice(None), I, ..., 0),
        (slice(None), 0, ..., I),
        (slice(None), I, ..., np.array(0)),
        (slice(None), I, None, I),
        (0, ..., I, I),
        (..., I, I),
        (I, ..., slice(None), I),
    ],
    ids=str,
)
def test_where_the_dimensions_of_arrays_go(index):
    np.testing.assert_array_equal(jnp.array(X)[index], X[index])
    np.testing.assert_array_equal(jax.jit(lambda x: x[index])(X), X[index])
    new = np.arange(X[index].size).reshape(X[index].shape)
    expected = X.copy()
    expected[index] = new
    np.testing.assert_array_equal(jnp.array(X).at[index].set(new), expected)


def test_dimensions_without_elements():
    empty = jnp.zeros((0, 3))
    some = jnp.array([0, 1])
    assert empty.at[some].add(1.0).shape == (0, 3)
    assert jax.jit(lambda x: x.at[some].set(1.0))(empty).shape == (0, 3)
    assert empty[jnp.array([], int)].shape == (0, 3)
    for take in (lambda: empty[0], lambda: empty.at[0].add(1.0), lambda: empty[some]):
        with pytest.raises(IndexError, match="out of bounds for axis 0 with size 0"):
            take()
    for take in (lambda: empty.T[:, 0], lambda: empty.T[None, ..., some], lambda: empty.T[-1, -1]):
        with pytest.raises(IndexError, match="out of bounds for axis 1 with size 0"):
            take()


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 4)])
def test_masks_without_elements(shape):
    mask = np.zeros(shape, bool)
    assert jnp.ones((3, 4))[mask].shape == (0, *(3, 4)[len(shape) :])


@pytest.mark.parametrize("index", [[slice(0, 1)], [0, None], [..., 0], [[0], 1], [np.array([1])]])
def test_lists_that_stand_for_tuples(index):
    for use in (lambda x: x[index], lambda x: x.at[index].set(1)):
        with pytest.raises(TypeError, match=r"use `arr\[tuple\(seq\)\]`"):
            use(jnp.array(X))
    with pytest.raises(TypeError, match=r"use `arr\[array\(seq\)\]`"):
        jnp.array(X)[[0, 1]]
