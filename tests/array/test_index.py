"""tests/array/test_index.py - x[...] and x.at[...] against NumPy and JAX's rules out of bounds."""

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import _core
from shardax.errors import NonConcreteBooleanIndexError

N = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
X = jnp.asarray(N)
F4 = jnp.arange(4.0)
ROWS, MASK = np.array([0, 1]), np.array([True, False, True])

INDICES = [
    0,
    -1,
    (0, 1),
    (0, 1, 2),
    slice(None),
    slice(None, None, -1),
    slice(1, 0),
    (slice(None), slice(None, None, 2)),
    (slice(None), slice(None, None, -2), 1),
    (slice(None), slice(None), slice(3, 0, -2)),
    Ellipsis,
    (Ellipsis, 1),
    (0, Ellipsis, 1),
    (None, 0, Ellipsis, None),
    (),
    ROWS,
    (slice(None), np.array([2, 0])),
    (slice(None), np.array([[0, 1], [2, 0]])),
    (ROWS, ROWS),
    (ROWS, slice(None), ROWS),
    (0, slice(None), ROWS),
    (slice(None), 0, ROWS),
    (ROWS, None, ROWS),
    (ROWS, slice(None), slice(None, None, -1)),
    (slice(None), np.array([[0], [2]]), ROWS),
    (slice(None), MASK),
    (slice(None), MASK, ROWS),
    (0, MASK, slice(1, 3)),
    N[0] > 5,
    (slice(None), slice(None), np.array(2)),
    (slice(None), np.array([], int)),
]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_getitem(index):
    if isinstance(index, np.ndarray) and index.dtype == bool:
        np.testing.assert_array_equal(X[0][index], N[0][index])
        return
    np.testing.assert_array_equal(X[index], N[index])


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_set_and_add(index):
    x, n = (X[0], N[0]) if isinstance(index, np.ndarray) and index.dtype == bool else (X, N)
    expected = n.copy()
    expected[index] = -1
    np.testing.assert_array_equal(x.at[index].set(-1), expected)
    expected = n.copy()
    np.add.at(expected, index, n[index])
    np.testing.assert_array_equal(x.at[index].add(n[index]), expected)


@pytest.mark.parametrize("index", INDICES[:8], ids=str)
def test_static_indices_are_views(index):
    part = X[index]
    if part.size > 1:
        start, stop = X.unsafe_buffer_pointer(), X.unsafe_buffer_pointer() + X.nbytes
        assert start <= part.unsafe_buffer_pointer() < stop


def test_out_of_bounds():
    assert float(F4[10]) == 3 and float(F4[-10]) == 0
    assert F4[jnp.array([10, -10])].tolist() == [3, 0]
    assert F4.at[10].set(5.0).tolist() == F4.at[-10].set(5.0).tolist() == [0, 1, 2, 3]
    assert F4.at[10].set(9.0, mode="clip").tolist() == [0, 1, 2, 9]
    for far, nearest in ((2**40, 3), (2**32 + 1, 3), (-(2**40), 0)):  # beyond int32
        assert F4.at[far].get(mode="clip") == F4[nearest] == F4[far]
        assert shardax.jit(lambda x, far=far: x[far])(F4) == F4[nearest]
        assert F4.at[far].set(9.0, mode="clip")[nearest] == 9.0
        assert F4.at[far].add(9.0).tolist() == F4.tolist()
    assert np.isnan(F4.at[10].get(mode="fill"))
    assert float(F4.at[10].get(mode="fill", fill_value=7.0)) == 7
    assert float(F4.at[10].get(mode="fill", fill_value=-(2**70))) == -(2.0**70)
    assert int(jnp.arange(3).at[10].get(mode="fill", fill_value=2**63 + 5)) == 5  # its low bits
    with pytest.raises(OverflowError, match="too large to convert to C long"):
        jnp.arange(3).at[10].get(mode="fill", fill_value=-(2**70))
    with pytest.raises(TypeError, match="fill_value must be a number"):
        F4.at[10].get(mode="fill", fill_value="7")
    assert int(jnp.arange(4).at[10].get(mode="fill")) == -(2**31)
    assert F4[5:].shape == (0,)


def test_traced_indices():
    take = shardax.jit(lambda x, i: x[:, i])
    for i in (0, 2, -1, 9):
        np.testing.assert_array_equal(take(X, i), X[:, i])
    np.testing.assert_array_equal(shardax.jit(lambda x, i: x[i, 0, 1:3])(X, 1), N[1, 0, 1:3])
    np.testing.assert_array_equal(
        shardax.jit(lambda x, i: x[:, i])(X, np.array([2, 0])), N[:, [2, 0]]
    )
    np.testing.assert_array_equal(
        shardax.vmap(lambda x, i: x[i])(X, np.array([2, 0])), [N[0, 2], N[1, 0]]
    )


def test_gradient():
    g = shardax.grad(lambda x: (x[jnp.array([0, 0, 2])] * jnp.array([1.0, 2, 3])).sum())(F4)
    assert g.tolist() == [3, 0, 3, 0]
    assert shardax.grad(lambda x: x[-1] * 2)(F4).tolist() == [0, 0, 0, 2]


def test_at_methods():
    x = F4
    assert x.at[jnp.array([0, 0, 1])].add(1.0).tolist() == [2, 2, 2, 3]
    assert x.at[1].multiply(3).tolist() == [0, 3, 2, 3]
    assert x.at[2].subtract(2).tolist() == [0, 1, 0, 3]
    assert x.at[1].min(0.5).tolist() == [0, 0.5, 2, 3]
    assert x.at[0].max(0.5).tolist() == [0.5, 1, 2, 3]
    assert x.at[2].power(2).tolist() == [0, 1, 4, 3]
    assert x.at[2].divide(2).tolist() == [0, 1, 1, 3]
    assert x.at[1].apply(lambda v: v + 5).tolist() == [0, 6, 2, 3]
    assert x.at[x > 1].set(0).tolist() == [0, 1, 0, 0]
    assert repr(x.at[0]) == "_IndexUpdateRef(Array([0., 1., 2., 3.], dtype=float32), 0)"
    with pytest.warns(FutureWarning, match="scatter inputs have incompatible types"):
        assert jnp.arange(4).at[0].add(1.7).tolist() == [1, 1, 2, 3]


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (
            lambda: F4[1.5],
            TypeError,
            "Indexer must have integer or boolean type, got indexer with type float64",
        ),
        (lambda: F4["a"], TypeError, "JAX does not support string indexing; got idx='a'"),
        (
            lambda: F4[[0, 1]],
            TypeError,
            "Using a non-tuple sequence for multidimensional indexing is not allowed",
        ),
        (
            lambda: F4[0, 0],
            IndexError,
            "Too many indices: array is 1-dimensional, but 2 were indexed",
        ),
        (lambda: F4[..., ...], IndexError, "an index can only have a single ellipsis ('...')"),
        (lambda: F4[{}], IndexError, "are valid indices. Got {}"),
        (
            lambda: F4[np.array([True, False])],
            IndexError,
            "boolean index did not match shape of indexed array",
        ),
        (lambda: jnp.zeros((0,))[0], IndexError, "index is out of bounds for axis 0 with size 0"),
        (lambda: F4.at[0].set(F4), ValueError, "Cannot broadcast to shape with fewer dimensions"),
        (lambda: F4.at[0].set(1.0, mode="foo"), ValueError, 'Unknown gather mode "foo"'),
        (
            lambda: shardax.jit(lambda x, n: x[:n])(F4, 2),
            IndexError,
            "Slice entries must be static integers",
        ),
        (
            lambda: shardax.jit(lambda x: x[x > 1])(F4),
            NonConcreteBooleanIndexError,
            "Array boolean indices must be concrete; got bool[4]",
        ),
    ],
)
def test_errors(make, error, text):
    with pytest.raises(error) as caught:
        make()
    assert text in str(caught.value)


def test_iteration_and_length():
    assert [x.tolist() for x in X[0]] == N[0].tolist()
    assert len(X) == 2
    with pytest.raises(TypeError, match="iteration over a 0-d array"):
        iter(jnp.float32(1))
    with pytest.raises(TypeError, match=r"len\(\) of unsized object"):
        len(jnp.float32(1))


def test_truth_values_add_a_dimension():
    assert X[True, 0].shape == (1, 3, 4) and F4[False].shape == (0, 4)


def test_identity():
    assert X[:] is X and X[...] is X
    assert _core.strides(X[:, ::-1]) == (12, -4, 1)


def test_reversed_views_take_other_shapes():
    x = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
    for flip in (np.s_[:, ::-1], np.s_[:, :, ::-1], np.s_[::-1, ::-1], np.s_[:, ::-1, ::-1]):
        for shape in ((24,), (6, 4), (2, 12), (1, 24), (3, 8)):
            np.testing.assert_array_equal(jnp.array(x)[flip].reshape(shape), x[flip].reshape(shape))
