"""tests/scipy/test_sparse_arrays.py - BCOO and BCSR: indices, layouts, sparsified functions."""

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax
from shardax.experimental import sparse

rng = np.random.default_rng(0)
A = (rng.integers(0, 2, (3, 4, 5)) * rng.standard_normal((3, 4, 5))).astype(np.float32)


@pytest.mark.parametrize("n_batch", (0, 1, 2))
@pytest.mark.parametrize(
    "index",
    [
        np.array([1, 2]),
        (slice(None), np.array([[1], [2]])),
        (np.array([0, -1]), np.array([1, 3])),
        (np.array([0, -1]), slice(1, 3), np.array([1, 3])),
        (None, slice(None), np.array([2, 0]), None),
        (slice(None), 1, np.array([1, 0])),
        (np.array([True, False, True]), slice(None, None, 2)),
        (..., np.array([1, 2]), slice(1, 4)),
        (np.array([[1], [0]]), None, slice(None), np.array([3, 4])),
    ],
    ids=str,
)
def test_indices_that_are_arrays(index, n_batch):
    mat = sparse.BCOO.fromdense(A, n_batch=n_batch)
    np.testing.assert_array_equal(mat[index].todense(), A[index])
    with pytest.raises(TypeError, match="Indexer must have integer or boolean type"):
        mat[np.array([0.5])]


def test_gather():
    numbers = lax.GatherDimensionNumbers((1,), (0,), (0,))
    mat = sparse.BCOO.fromdense(A[0])
    rows = jnp.array([[2], [0]])
    got = sparse.bcoo_gather(mat, rows, numbers, (1, 5), mode="promise_in_bounds")
    np.testing.assert_array_equal(got.todense(), A[0][[2, 0]])
    with pytest.raises(NotImplementedError, match="not yet supported"):
        sparse.bcoo_gather(mat, rows, numbers, (1, 5), mode="clip")


@pytest.mark.parametrize("sparse_format", ("bcoo", "bcsr", "coo", "csr", "csc"))
@pytest.mark.parametrize("k", (-5, -1, 0, 2, 5))
def test_ones_on_a_diagonal(sparse_format, k):
    mat = sparse.eye(3, 4, k, sparse_format=sparse_format)
    np.testing.assert_array_equal(mat.todense(), np.eye(3, 4, k))


def test_a_diagonal_without_batches():
    with pytest.raises(ValueError, match="n_batch=1"):
        sparse.eye(3, sparse_format="bcsr", n_batch=1)


def test_layouts_keep_what_they_are():
    # Batch dimensions of size 1 stay so.
    indices, data = rng.integers(0, 6, (1, 3, 1, 10, 2)), rng.integers(0, 9, (1, 1, 4, 10, 3))
    mat = sparse.BCOO((data, indices), shape=(2, 3, 4, 5, 4, 3))
    ordered = sparse.bcoo_sort_indices(mat)
    assert ordered.indices.shape == indices.shape and ordered.data.shape == (1, 3, 4, 10, 3)
    np.testing.assert_array_equal(ordered.todense(), mat.todense())
    # An array without free dimensions adds up to one element.
    x = sparse.BCOO.fromdense(A[0, 0])
    assert (x @ x).nse == 1
    np.testing.assert_allclose((x @ x).todense(), A[0, 0] @ A[0, 0], rtol=1e-6)
    printed = []
    shardax.jit(lambda m: printed.append(repr(m)) or m)(x)
    assert printed == [f"DynamicJaxprTracer[BCOO(float32[5], nse={x.nse})]"]


@pytest.mark.parametrize("padding", ("SAME", "VALID", [(3, 3)]))
@pytest.mark.parametrize("sizes", ((5, 10), (10, 5)), ids=str)
def test_convolution(sizes, padding):
    lhs, rhs = (A.reshape(1, 1, -1)[..., :n] for n in sizes)
    want = lax.conv_general_dilated(lhs, rhs, (1,), padding)
    for pair in ((lhs, rhs), (sparse.BCOO.fromdense(lhs, n_batch=2), rhs)):
        f = shardax.jit(
            lambda a, b: sparse.bcoo_conv_general_dilated(
                a, b, window_strides=(1,), padding=padding
            )
        )
        np.testing.assert_allclose(f(*pair).todense(), want, rtol=1e-5, atol=1e-6)


def test_sparsified_functions_have_numbers_by_name():
    mat = sparse.BCOO.fromdense(A[0])
    got = sparse.sparsify(lambda x, axis: jnp.sum(x, axis=axis))(mat, axis=0)
    np.testing.assert_allclose(got.todense(), jnp.sum(A[0], axis=0), rtol=1e-5)


def test_sparsified_functions():
    mat, rows = sparse.BCOO.fromdense(A[0]), sparse.BCSR.fromdense(A[0])
    for f in (lax.neg, lax.sin, lax.bessel_i1e, lambda x: x**2, lambda x: x.astype(jnp.float16)):
        got = sparse.sparsify(f)(rows)
        assert isinstance(got, sparse.BCSR)
        np.testing.assert_allclose(got.todense(), f(A[0]), rtol=1e-5)
    with pytest.raises(NotImplementedError, match="cos is not implemented because it would result"):
        sparse.sparsify(lax.cos)(mat)
    with pytest.raises(NotImplementedError, match="^sparse rule for complex is not implemented.$"):
        sparse.sparsify(lax.complex)(mat, mat)
    with pytest.raises(TypeError, match="sparsified true_fun output must have same type structure"):
        sparse.sparsify(lambda x, y: lax.cond(True, lambda: x, lambda: y))(mat, A[0])


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_sparsify_stacks(axis):
    dense = [jnp.array([[0.0, 1, 0], [2, 0, 3]]), jnp.array([[4.0, 0, 0], [0, 5, 0]])]
    stacked = sparse.sparsify(lambda *xs: jnp.stack(xs, axis))(*map(sparse.BCOO.fromdense, dense))
    np.testing.assert_array_equal(stacked.todense(), np.stack(dense, axis))
