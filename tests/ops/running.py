"""tests/ops/running.py - a sample's operands, the op on them, and comparisons of results."""

import ml_dtypes
import numpy as np
import pytest
import shardax
from samples import samples
from shardax import _core

# Messages between processes have samples of their own: tests/mpi/test_collectives.py.
NAMES = [name for name in _core.op_names() if not name.startswith("process_")]
CASES = [
    pytest.param(n, s, id=f"{n}-{i}" if i else n) for n in NAMES for i, s in enumerate(samples(n))
]
EPS = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 1.2e-7, "complex64": 2.4e-7}


def dtype_of(name):
    return ml_dtypes.bfloat16 if name == "bfloat16" else np.dtype(name)


def operand(arg, dtype, rng, shape=None):
    dtype = np.dtype(dtype_of(arg.dtype or dtype))
    shape = arg.shape if shape is None else shape
    if arg.values is not None and shape == arg.shape:
        return np.broadcast_to(np.asarray(arg.values), shape).astype(dtype)
    low, high = arg.domain
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        low = max(low, 0) if dtype.kind == "u" else low
        return rng.integers(low, max(high, low + 1), shape, endpoint=True).astype(dtype)
    out = rng.uniform(low, high, shape)
    if dtype.kind == "c":
        out = out + 1j * rng.uniform(-0.5, 0.5, shape)
    return np.asarray(out).astype(dtype)


def operands(sample, dtype, shape=None, seed=0):
    rng = np.random.default_rng(seed)
    return [operand(a, dtype, rng, shape) for a in sample.args]


def call(name, sample, args):
    if sample.call:
        return sample.call(shardax, *args)
    params = dict(sample.params)
    if name == "dot_general":
        params["preferred_element_type"] = args[0].dtype
    return _core.bind(name, tuple(args), **params)


def leaves(value):
    return [np.asarray(v) for v in (value if isinstance(value, (tuple, list)) else (value,))]


def wide(x):
    x = np.asarray(x)
    if x.dtype == ml_dtypes.bfloat16 or x.dtype.kind == "f":
        return x.astype(np.float64)
    return x.astype(np.complex128) if x.dtype.kind == "c" else x


def expected(sample, args):
    with np.errstate(all="ignore"):
        given = args if sample.native else [wide(a) for a in args]
        return leaves(sample.reference(*given, **sample.params))


def assert_close(got, want, dtype, tolerance):
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        assert g.shape == np.shape(w)
        if g.dtype.kind in "biu":
            np.testing.assert_array_equal(g, w)
            continue
        eps = EPS.get(dtype, 4e-14) * 4 * tolerance
        with np.errstate(all="ignore"):
            want_rounded = np.asarray(w).astype(g.dtype)
        np.testing.assert_allclose(wide(g), wide(want_rounded), rtol=eps, atol=eps)


def assert_same(got, want, exact=True):
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        assert g.shape == w.shape and g.dtype == w.dtype
        if exact or g.dtype.kind in "biu":
            np.testing.assert_array_equal(wide(g), wide(w))
        else:
            np.testing.assert_allclose(wide(g), wide(w), rtol=1e-5, atol=1e-5)


def main_dtype(sample):
    return next(
        (d for d in ("float64", "float32", "complex64") if d in sample.dtypes), sample.dtypes[0]
    )


def differentiable(sample):
    if sample.grad is not None:
        return sample.grad
    return tuple(i for i, a in enumerate(sample.args) if a.dtype is None)
