"""tests/ops/test_ops.py - every op against its sample: values, batches, shapes, compilation."""

import itertools
import pathlib
import sys

import numpy as np
import pytest
import shardax
from shardax import _core

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from running import (  # noqa: E402
    CASES,
    NAMES,
    assert_close,
    assert_same,
    call,
    expected,
    leaves,
    main_dtype,
    operand,
    operands,
)
from samples import SAMPLES, samples  # noqa: E402


@pytest.fixture(autouse=True)
def x64():
    with shardax.enable_x64(True):
        yield


# ---- completeness -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_has_sample(name):
    assert samples(name), f"'{name}' has no sample: add a line to a table of tests/ops/samples.py"


def test_no_stale_samples():
    assert set(SAMPLES) <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_record(name):
    record = _core.op_record(name)
    assert record["doc"], f"'{name}' has no doc"
    assert record["batch"], f"'{name}' has no batching rule"
    assert record["derivative"] != record["no_gradient"], (
        f"'{name}' must have either a derivative or no_gradient"
    )


# ---- values -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name, sample", CASES)
def test_value(name, sample):
    for dtype in sample.dtypes:
        args = operands(sample, dtype)
        got = leaves(call(name, sample, [shardax.numpy.asarray(a) for a in args]))
        assert_close(got, expected(sample, args), dtype, sample.tolerance)


SPECIALS = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan])


@pytest.mark.parametrize(
    "name, sample", [c for c in CASES if c.values[1].elementwise and c.values[1].specials]
)
def test_special_values(name, sample):
    for dtype in [d for d in sample.dtypes if d in ("float32", "float64")]:
        count = sum(a.dtype is None for a in sample.args)
        grids = iter(np.meshgrid(*[SPECIALS] * count))
        args = [
            next(grids).astype(dtype)
            if a.dtype is None
            else operand(a, dtype, np.random.default_rng(0), (7,) * count)
            for a in sample.args
        ]
        got = leaves(call(name, sample, [shardax.numpy.asarray(a) for a in args]))
        assert_close(got, expected(sample, args), dtype, sample.tolerance)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1, 1), (1025,), (7, 129)], ids=str)
@pytest.mark.parametrize("name, sample", [c for c in CASES if c.values[1].elementwise])
def test_any_shape(name, sample, shape):
    dtype = main_dtype(sample)
    plain = [a for a in sample.args if a.values is None]
    if len(plain) < len(sample.args):
        pytest.skip("operands with given values")
    args = operands(sample, dtype, shape)
    got = leaves(call(name, sample, [shardax.numpy.asarray(a) for a in args]))
    assert_close(got, expected(sample, args), dtype, sample.tolerance)


@pytest.mark.parametrize(
    "name, sample", [c for c in CASES if len(c.values[1].args) > 1 and c.values[1].elementwise]
)
def test_scalar_operand(name, sample):
    """Rank 0 goes with any shape, at every position."""
    if name == "clamp" or any(a.values is not None for a in sample.args):
        pytest.skip("not any operand of this op may be a scalar")
    dtype = main_dtype(sample)
    for position in range(1 if name == "select_n" else len(sample.args)):
        args = operands(sample, dtype)
        args[position] = args[position][1, 2]
        got = leaves(call(name, sample, [shardax.numpy.asarray(a) for a in args]))
        assert_close(got, expected(sample, args), dtype, sample.tolerance)


def layouts(x):
    """The same elements with other strides in memory."""
    jnp = shardax.numpy
    yield jnp.asarray(np.array(x.T, order="C")).T
    if x.ndim:
        yield jnp.asarray(np.array(x[::-1], order="C"))[::-1]
        yield jnp.asarray(np.repeat(x, 2, axis=-1))[..., ::2]


@pytest.mark.parametrize("name, sample", CASES)
def test_layouts(name, sample):
    args = operands(sample, main_dtype(sample))
    plain = [shardax.numpy.asarray(a) for a in args]
    want = leaves(call(name, sample, plain))
    for position, x in enumerate(args):
        for view in layouts(x):
            other = [*plain[:position], view, *plain[position + 1 :]]
            assert_same(leaves(call(name, sample, other)), want, sample.exact)


# ---- compilation ------------------------------------------------------------------------------


@pytest.mark.parametrize("name, sample", CASES)
def test_jit(name, sample):
    for dtype in {sample.dtypes[0], main_dtype(sample), sample.dtypes[-1]}:
        args = [shardax.numpy.asarray(a) for a in operands(sample, dtype)]
        want = leaves(call(name, sample, args))
        got = leaves(shardax.jit(lambda *a: call(name, sample, a))(*args))
        assert_same(got, want, sample.exact)


@pytest.mark.parametrize(
    "name, sample", [c for c in CASES if not c.values[1].call and c.values[1].args]
)
def test_fused(name, sample):
    """The op between two others, in one program and one by one."""
    jnp = shardax.numpy

    def around(x):
        return jnp.where(x == x, x, x) if x.dtype != bool else ~x

    def run(*args):
        prepared = [around(around(a)) for a in args]
        out = call(name, sample, prepared)
        return [around(around(v)) for v in (out if isinstance(out, (tuple, list)) else [out])]

    for dtype in {sample.dtypes[0], main_dtype(sample), sample.dtypes[-1]}:
        args = [jnp.asarray(a) for a in operands(sample, dtype)]
        assert_same(leaves(shardax.jit(run)(*args)), leaves(run(*args)), sample.exact)


# ---- batching ---------------------------------------------------------------------------------


def subsets(sample):
    positions = range(len(sample.args)) if sample.batched is None else sample.batched
    every = [s for n in range(1, len(positions) + 1) for s in itertools.combinations(positions, n)]
    return every if len(positions) <= 3 else [s for s in every if len(s) in (1, len(positions))]


def batch_of(x, size=3):
    """Different elements in the range of x."""
    return np.stack(
        [np.roll(x.ravel(), k).reshape(x.shape) if x.size > 1 else x for k in range(size)]
    )


def assert_batched(name, sample, transform, size):
    args = operands(sample, main_dtype(sample))
    for chosen in subsets(sample):
        stacked = [batch_of(a, size) if i in chosen else a for i, a in enumerate(args)]
        in_axes = tuple(0 if i in chosen else None for i in range(len(args)))
        got = leaves(
            transform(lambda *a: call(name, sample, a), in_axes)(
                *map(shardax.numpy.asarray, stacked)
            )
        )
        slices = []
        for b in range(size):
            one = [a[b] if i in chosen else a for i, a in enumerate(stacked)]
            slices.append(leaves(call(name, sample, [shardax.numpy.asarray(a) for a in one])))
        want = [np.stack(parts) for parts in zip(*slices, strict=True)]
        assert_same(got, want, sample.exact)


@pytest.mark.parametrize("name, sample", [c for c in CASES if c.values[1].args])
def test_vmap_is_loop(name, sample):
    assert_batched(name, sample, lambda f, axes: shardax.vmap(f, in_axes=axes), 3)


@pytest.mark.parametrize("name, sample", [c for c in CASES if c.values[1].args])
def test_pmap_is_loop(name, sample):
    assert_batched(name, sample, lambda f, axes: shardax.pmap(f, in_axes=axes), 2)
