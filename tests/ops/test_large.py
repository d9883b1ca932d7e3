"""tests/ops/test_large.py - sizes beyond one chunk: indexing, sorting, running and random ops."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import _core, lax

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import references as ref  # noqa: E402
from sample_kinds import GATHER_ROWS, ROWS  # noqa: E402

RNG = np.random.default_rng(1)
N = 100_003
LONG = RNG.standard_normal(N).astype(np.float32)
WIDE = RNG.standard_normal((70, 3001)).astype(np.float32)
TABLE = RNG.standard_normal((500, 300)).astype(np.float32)
INDEX = RNG.integers(-2, 502, N).astype(np.int32)
ELEMENTS = {**ROWS, "update_window_dims": ()}


def test_gather_elements():
    params = {**GATHER_ROWS, "offset_dims": (), "slice_sizes": (1,), "mode": "clip"}
    index = RNG.integers(-9, N + 9, (N, 1))
    got = _core.bind("gather", (LONG, index), **params)
    np.testing.assert_array_equal(got, LONG[np.clip(index[:, 0], 0, N - 1)])


def test_gather_rows_with_fill():
    params = {**GATHER_ROWS, "slice_sizes": (1, 300), "mode": "fill", "fill_value": 7}
    index = INDEX[:2000, None]
    got = np.asarray(_core.bind("gather", (TABLE, index), **params))
    outside = (index[:, 0] < 0) | (index[:, 0] >= 500)
    want = np.where(outside[:, None], 7, TABLE[np.clip(index[:, 0], 0, 499)])
    np.testing.assert_array_equal(got, want)


def test_scatter_elements_in_order():
    """Among updates of one element the last one stays."""
    operand = np.zeros(500, np.float32)
    updates = np.arange(N, dtype=np.float32)
    got = _core.bind("scatter", (operand, INDEX[:, None], updates), **ELEMENTS)
    want = operand.copy()
    inside = (INDEX >= 0) & (INDEX < 500)
    want[INDEX[inside]] = updates[inside]
    np.testing.assert_array_equal(got, want)


def test_scatter_add_sums_in_order():
    operand = np.zeros(500, np.float32)
    got = _core.bind("scatter-add", (operand, INDEX[:, None], LONG), **ELEMENTS)
    inside = (INDEX >= 0) & (INDEX < 500)
    want = operand.copy()
    np.add.at(want, INDEX[inside], LONG[inside])
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(("axis", "shape"), [(0, (9, 40_001)), (1, (40_001, 9)), (2, (20, 3, 501))])
def test_elements_along_an_axis_and_their_gradient(axis, shape):
    """Parts of the operand are copied and added to in turns."""
    x = RNG.standard_normal(shape).astype(np.float32)
    index = RNG.integers(0, shape[axis], [2 if d == axis else n for d, n in enumerate(shape)])
    weights = RNG.integers(1, 9, index.shape).astype(np.float32)

    def f(x):
        return (shardax.numpy.take_along_axis(x, index, axis) * weights).sum()

    np.testing.assert_array_equal(
        shardax.numpy.take_along_axis(x, index, axis), np.take_along_axis(x, index, axis)
    )
    want = np.zeros(shape, np.float32)
    places = list(np.indices(index.shape))
    places[axis] = index
    np.add.at(want, tuple(places), weights)
    for gradient in (shardax.grad(f), shardax.jit(shardax.grad(f))):
        np.testing.assert_array_equal(gradient(x), want)


def test_scatter_add_rows():
    updates = RNG.standard_normal((2000, 300)).astype(np.float32)
    index = INDEX[:2000]
    got = _core.bind("scatter-add", (TABLE, index[:, None], updates), **ROWS)
    want = ref.scatter_rows(np.add)(TABLE, index[:, None], updates)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("columns", range(1, 10))
@pytest.mark.parametrize("size", [1, 2])
def test_scatter_add_of_short_windows(size, columns):
    """Of `size` rows, which overlap where there are several."""
    updates = RNG.standard_normal((20_000, size, columns)).astype(np.float32)
    index = INDEX[:20_000]
    dims = lax.ScatterDimensionNumbers((1, 2), (), (0,))
    table = np.zeros((500, columns), np.float32)
    got = lax.scatter_add(table, index[:, None], updates, dims)
    want = table.copy()
    for i, update in zip(index, updates, strict=True):
        if 0 <= i <= 500 - size:
            want[i : i + size] += update
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint16", "int32", "float16"])
def test_sort_long(dtype):
    with shardax.enable_x64(True):
        x = (LONG * 50).astype(dtype)
        np.testing.assert_array_equal(lax.sort(x), np.sort(x))
        keys, order = lax.sort((x, np.arange(N)), num_keys=1)
        np.testing.assert_array_equal(order, np.argsort(x, kind="stable"))
        np.testing.assert_array_equal(keys, np.sort(x))


def test_sort_zeros_and_nans():
    """-0 and 0 keep their order; NaN comes last."""
    x = np.where(RNG.random(5000) < 0.3, np.float32(-0.0), np.round(LONG[:5000]))
    x[::97] = np.nan
    got = np.asarray(lax.sort(x))
    want = x[np.argsort(np.where(x == 0, 0, x), kind="stable")]
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(
        np.signbit(got[~np.isnan(got)]), np.signbit(want[~np.isnan(want)])
    )


@pytest.mark.parametrize("axis", [0, 1])
def test_rows_and_columns(axis):
    np.testing.assert_array_equal(lax.sort(WIDE, dimension=axis), np.sort(WIDE, axis))
    np.testing.assert_array_equal(lax.argmax(WIDE, axis, "int32"), np.argmax(WIDE, axis))
    np.testing.assert_array_equal(lax.argmin(WIDE, axis, "int32"), np.argmin(WIDE, axis))
    np.testing.assert_array_equal(lax.cummax(WIDE, axis), np.maximum.accumulate(WIDE, axis))
    want = np.cumsum(WIDE, axis, dtype=np.float64)
    np.testing.assert_allclose(lax.cumsum(WIDE, axis), want, rtol=1e-6, atol=1e-6)
    values, positions = _core.bind("top_k", (WIDE,), k=9, axis=axis)
    want_values, want_positions = ref.top_k(WIDE, 9, axis)
    np.testing.assert_array_equal(values, want_values)
    np.testing.assert_array_equal(positions, want_positions)


@pytest.mark.parametrize("reverse", [False, True])
def test_running_sum_of_a_long_line(reverse):
    flipped = LONG[::-1] if reverse else LONG
    want = np.cumsum(flipped, dtype=np.float64)
    want = want[::-1] if reverse else want
    np.testing.assert_allclose(lax.cumsum(LONG, reverse=reverse), want, rtol=1e-6, atol=1e-5)
    counts = np.arange(N, dtype=np.int32)
    flipped = counts[::-1] if reverse else counts
    exact = np.cumsum(flipped, dtype=np.int32)
    np.testing.assert_array_equal(
        lax.cumsum(counts, reverse=reverse), exact[::-1] if reverse else exact
    )


def test_argmax_of_ties_and_nan():
    x = np.zeros(5000, np.float32)
    assert int(lax.argmax(x, 0, "int32")) == 0
    x[[4001, 4500]] = 3
    assert int(lax.argmax(x, 0, "int32")) == 4001
    x[4700] = np.nan
    assert int(lax.argmax(x, 0, "int32")) == int(lax.argmin(x, 0, "int32")) == 4700


KEY = np.array([11, 13], np.uint32)


@pytest.mark.parametrize("width", [8, 16, 32, 64])
def test_elements_of_a_draw_depend_on_their_counter_only(width):
    """The partitionable stream: a long draw starts like a short one, in a batch of keys too."""
    with shardax.enable_x64(True):
        params = {"bit_width": width, "shape": (40_001,)}
        long = np.asarray(_core.bind("random_bits", (KEY,), **params))
        short = np.asarray(_core.bind("random_bits", (KEY,), **{**params, "shape": (20,)}))
        np.testing.assert_array_equal(long[:20], short)
        np.testing.assert_array_equal(long[::4000], ref.random_bits(KEY, width, (40_001,))[::4000])
        keys = np.stack([KEY, KEY + 1, KEY])
        batch = np.asarray(_core.bind("random_bits", (keys,), **params))
        np.testing.assert_array_equal(batch[2], long)


@pytest.mark.parametrize("n", [1, 2, 7, 64, 1001, 70_001])
def test_old_stream_pairs_both_halves(n):
    """Word i is hashed with word n/2 + i; an odd draw is completed by 0."""
    got = _core.bind("random_bits", (KEY,), bit_width=32, shape=(n,), partitionable=False)
    half = (n + 1) // 2
    picked = np.unique(np.r_[0:half:1000, half - 1])
    second = np.where(picked + half < n, picked + half, 0)
    a, b = ref.threefry(KEY[0], KEY[1], picked.astype(np.uint32), second.astype(np.uint32))
    np.testing.assert_array_equal(np.asarray(got)[picked], a)
    inside = picked + half < n
    np.testing.assert_array_equal(np.asarray(got)[(picked + half)[inside]], b[inside])


PROGRAM = """
import hashlib
import numpy as np
import test_large as t
from shardax import _core, lax
rows = t.RNG.standard_normal((2000, 300)).astype(np.float32)
results = [
    _core.bind("scatter-add", (t.TABLE, t.INDEX[:2000, None], rows), **t.ROWS),
    _core.bind("scatter-add", (np.zeros(500, np.float32), t.INDEX[:, None], t.LONG), **t.ELEMENTS),
    lax.sort(t.WIDE), lax.cumsum(t.LONG), lax.cumlogsumexp(t.WIDE, 1),
    _core.bind("random_bits", (t.KEY,), bit_width=16, shape=(t.N,)),
]
print(hashlib.sha256(b"".join(np.asarray(r).tobytes() for r in results)).hexdigest())
"""


def test_bits_do_not_depend_on_the_number_of_threads():
    def digest(threads):
        path = os.pathsep.join(
            [str(pathlib.Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
        )
        env = {**os.environ, "SHARDAX_NUM_THREADS": str(threads), "PYTHONPATH": path}
        command = [sys.executable, "-c", PROGRAM]
        run = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
        assert run.returncode == 0, run.stderr
        return run.stdout

    assert digest(1) == digest(2) == digest(5)


@pytest.mark.parametrize("share", [0, 0.01, 0.5, 1])
@pytest.mark.parametrize("shape", [(200_001,), (300, 400)])
def test_nonzero(shape, share):
    mask = np.random.default_rng(0).random(shape) < share
    theirs = np.nonzero(mask)
    for size in (len(theirs[0]), len(theirs[0]) // 2, len(theirs[0]) + 5):
        ours = jnp.nonzero(mask, size=size, fill_value=-7)
        for one, other in zip(ours, theirs, strict=True):
            missing = np.full(max(0, size - len(other)), -7)
            np.testing.assert_array_equal(one, np.concatenate([other[:size], missing]))
    for one, other in zip(jnp.nonzero(mask), theirs, strict=True):
        np.testing.assert_array_equal(one, other)
