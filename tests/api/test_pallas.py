"""tests/api/test_pallas.py - kernels on references to blocks, with the values that JAX has."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax.experimental import pallas as pl
from shardax.experimental.pallas import triton

X = np.arange(24, dtype=np.float32).reshape(4, 6)


def shape(*sizes, dtype=np.float32):
    return jax.ShapeDtypeStruct(sizes, dtype)


def double(x_ref, o_ref):
    o_ref[...] = 2 * x_ref[...]


def matmul(a, b, o):
    @pl.when(pl.program_id(2) == 0)
    def _():
        o[...] = jnp.zeros_like(o)

    o[...] += a[...] @ b[...]


def test_product_in_blocks():
    y = np.arange(48, dtype=np.float32).reshape(6, 8)
    spec = pl.GridSpec(
        grid=(2, 2, 3),
        in_specs=[
            pl.BlockSpec((2, 2), lambda i, j, k: (i, k)),
            pl.BlockSpec((2, 4), lambda i, j, k: (k, j)),
        ],
        out_specs=pl.BlockSpec((2, 4), lambda i, j, k: (i, j)),
    )
    f = pl.pallas_call(matmul, shape(4, 8), grid_spec=spec)
    np.testing.assert_array_equal(f(X, y), X @ y)
    np.testing.assert_array_equal(jax.jit(f)(X, y), X @ y)


@pytest.mark.parametrize("size", [None, pl.squeezed, 1])
def test_block_of_one_element(size):
    def kernel(x, o):
        assert x.shape == ((6,) if size != 1 else (1, 6))
        o[...] = x[...] + pl.program_id(0) * pl.num_programs(0)

    block = pl.BlockSpec((size, 6), lambda i: (i, 0))
    out = pl.pallas_call(kernel, shape(4, 6), grid=4, in_specs=[block], out_specs=block)(X)
    np.testing.assert_array_equal(out, X + 4 * np.arange(4)[:, None])


def test_blocks_that_the_end_cuts():
    block = pl.BlockSpec((2,), lambda i: i)
    f = pl.pallas_call(double, shape(5), grid=(3,), in_specs=[block], out_specs=block)
    np.testing.assert_array_equal(f(X[0, :5]), 2 * X[0, :5])


def test_blocks_by_elements():
    block = pl.BlockSpec((pl.Element(2),), lambda i: i + 1)
    f = pl.pallas_call(double, shape(2), grid=(2,), in_specs=[block])
    np.testing.assert_array_equal(f(X[0]), [4, 6])


def test_slices_with_traced_starts():
    def kernel(x, o):
        i = pl.program_id(0)
        o[pl.ds(2 * i, 2), :] = 2 * x[pl.ds(2 * i, 2)]
        o[i, pl.ds(1, 2, 3)] = jnp.ones(2)
        o[..., pl.ds(5, 1)] += jnp.ones((4, 1))

    expected = 2 * X
    expected[0, [1, 4]] = expected[1, [1, 4]] = 1
    expected[:2, 5] += 2
    expected[2:, 5] += 1
    out = pl.pallas_call(kernel, shape(4, 6), grid=(2,))(X)
    np.testing.assert_array_equal(out[:, :5], expected[:, :5])
    assert pl.ds(None) == slice(None) and pl.ds(3) == pl.Slice(0, 3)


def test_arrays_beside_slices():
    ref = jax.new_ref(jnp.asarray(X))
    np.testing.assert_array_equal(ref[pl.ds(1, 2), np.array([0, 3])], X[1:3][:, [0, 3]].T)


def test_loops_scratch_and_aliases():
    def kernel(x, start, o, kept):
        @pl.when(pl.program_id(0) == 0)
        def _():
            kept[...] = jnp.zeros_like(kept)

        kept[...] += x[0]

        @pl.loop(0, 6, step=2)
        def _(i):
            o[0, i] = kept[i]

    f = pl.pallas_call(
        kernel,
        shape(1, 6),
        grid=3,
        scratch_shapes=[shape(6)],
        input_output_aliases={1: 0},
    )
    np.testing.assert_array_equal(f(X, np.full((1, 6), 7, np.float32)), [[0, 7, 6, 7, 12, 7]])
    last = pl.loop(0, 3, init_carry=1)(lambda i, c: c * 2)
    assert last == 8


def test_several_results_and_what_is_not_written():
    def kernel(x, a, b):
        a[0] = x[0]

    a, b = pl.pallas_call(kernel, (shape(2), shape(2, dtype=np.int32)))(np.ones(2, np.float32))
    np.testing.assert_array_equal(a, [1, np.nan])
    np.testing.assert_array_equal(b, np.full(2, np.iinfo(np.int32).min))


def test_batched_and_differentiated():
    f = pl.pallas_call(double, shape(6))
    np.testing.assert_array_equal(jax.vmap(f)(X), 2 * X)
    np.testing.assert_array_equal(jax.grad(lambda x: f(x).sum())(X[0]), np.full(6, 2))


def test_triton():
    def kernel(x, o):
        keep = jnp.arange(6) < 4
        triton.store(o, triton.load(x, mask=keep, other=9.0) + 1, mask=jnp.arange(6) > 0)
        old = triton.atomic_add(o, 1, 5.0)
        o[2] = old
        triton.debug_barrier()

    out = pl.pallas_call(kernel, shape(6), compiler_params=triton.CompilerParams(num_warps=4))
    np.testing.assert_array_equal(out(X[0]), [np.nan, 7, 2, 4, 10, 10])
    product = triton.dot(
        jnp.ones((2, 3), jnp.bfloat16), jnp.ones((2, 3), jnp.bfloat16), trans_b=True
    )
    assert product.dtype == np.float32 and product.shape == (2, 2)


def test_numbers():
    assert (pl.cdiv(7, 2), pl.next_power_of_2(9), pl.next_power_of_2(0)) == (4, 16, 1)
    assert pl.multiple_of(3, 1) == 3 and pl.broadcast_to(1.0, (2,)).shape == (2,)
    with pytest.raises(ValueError, match="must not be negative; got -1"):
        pl.next_power_of_2(-1)


def test_errors():
    with pytest.raises(ValueError, match="program_id: no kernel of pallas_call is running"):
        pl.program_id(0)
    with pytest.raises(ValueError, match="axis 1 is not in a grid of 1 dimensions"):
        pl.pallas_call(lambda x, o: pl.program_id(1), shape(6), grid=2)(X)
    block = pl.BlockSpec((2,), lambda i: i)
    with pytest.raises(ValueError, match=r"block shape \(2,\) must have as many dimensions"):
        pl.pallas_call(double, shape(4, 6), in_specs=[block])(X)
    with pytest.raises(ValueError, match="2 block specs for 1 arrays"):
        pl.pallas_call(double, shape(4, 6), in_specs=[block, block])(X)
