"""tests/ops/test_derivatives.py - every op's derivatives to order 2, forward and reverse, real and
complex, against differences.

Products of a cotangent and a tangent are summed without conjugation, as in JAX, and compared by
their real part. The comparison covers functions which are not holomorphic too.
"""

import pathlib
import sys

import numpy as np
import pytest
import shardax

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from running import CASES, call, differentiable, leaves, operands  # noqa: E402

DOUBLE = ("float64", "complex128")


@pytest.fixture(autouse=True)
def x64():
    with shardax.enable_x64(True):
        yield


def dtypes_for_derivatives(sample):
    """A real and a complex one, the wider where there are two."""
    pairs = (("float64", "float32"), ("complex128", "complex64"))
    found = [next((d for d in pair if d in sample.dtypes), None) for pair in pairs]
    return [d for d in found if d]


SMOOTH = [
    pytest.param(*c.values, d, id=f"{c.id}-{d}")
    for c in CASES
    if differentiable(c.values[1])
    for d in dtypes_for_derivatives(c.values[1])
]


def like(values, seed):
    """A random direction for each of some arrays."""
    rng = np.random.default_rng(seed)
    out = []
    for x in map(np.asarray, values):
        v = rng.uniform(-1, 1, x.shape)
        v = v + 1j * rng.uniform(-1, 1, x.shape) if x.dtype.kind == "c" else v
        out.append(shardax.numpy.asarray(v.astype(x.dtype)))
    return tuple(out)


def paired(cotangents, tangents):
    pairs = zip(leaves(cotangents), leaves(tangents), strict=True)
    return sum(np.real((c * t).sum()) for c, t in pairs)


def function(name, sample, dtype, seed, positions=None):
    """The inexact outputs as a function of some operands, and these: those with a derivative."""
    args = [shardax.numpy.asarray(a) for a in operands(sample, dtype, seed=seed)]
    positions = differentiable(sample) if positions is None else positions

    def f(*moved):
        given = list(args)
        for i, value in zip(positions, moved, strict=True):
            given[i] = value
        out = call(name, sample, given)
        out = out if isinstance(out, (tuple, list)) else (out,)
        return tuple(v for v in out if np.dtype(v.dtype).kind in "fc")

    return f, tuple(args[i] for i in positions)


def slope(f, x, direction, dtype):
    """The derivative of f, which gives a tuple, by central differences."""
    step = 1e-5 if dtype in DOUBLE else 1e-2
    ahead = f(*[a + step * v for a, v in zip(x, direction, strict=True)])
    behind = f(*[a - step * v for a, v in zip(x, direction, strict=True)])
    return [(a - b) / (2 * step) for a, b in zip(leaves(ahead), leaves(behind), strict=True)]


def assert_near(got, want, dtype):
    tolerance = 1e-5 if dtype in DOUBLE else 3e-2
    for g, w in zip(leaves(got), leaves(want), strict=True):
        np.testing.assert_allclose(g, w, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name, sample, dtype", SMOOTH)
def test_jvp_is_slope(name, sample, dtype):
    f, x = function(name, sample, dtype, 3)
    v = like(x, 1)
    assert_near(shardax.jvp(f, x, v)[1], slope(f, x, v, dtype), dtype)


@pytest.mark.parametrize("name, sample, dtype", SMOOTH)
def test_vjp_is_transpose(name, sample, dtype):
    f, x = function(name, sample, dtype, 5)
    v = like(x, 1)
    _, pushed = shardax.jvp(f, x, v)
    ct = like(pushed, 2)
    pulled = shardax.vjp(f, *x)[1](ct)
    tolerance = 1e-10 if dtype in DOUBLE else 1e-4
    np.testing.assert_allclose(
        paired(ct, pushed), paired(pulled, v), rtol=tolerance, atol=tolerance
    )


@pytest.mark.parametrize("name, sample, dtype", SMOOTH)
def test_second_order(name, sample, dtype):
    """Of v + v * v / 2 of each output v, so that cotangents depend on the operands."""
    op, x = function(name, sample, dtype, 7, sample.twice)

    def f(*x):
        return tuple(v + 0.5 * v * v for v in op(*x))

    v, w = like(x, 1), like(x, 2)
    tangent = lambda *x: shardax.jvp(f, x, v)[1]
    want = slope(tangent, x, w, dtype)
    assert_near(shardax.jvp(tangent, x, w)[1], want, dtype)
    ct = like(want, 3)
    want = paired(ct, want)
    pull = lambda *x: shardax.vjp(f, *x)[1](ct)
    assert_near(paired(shardax.vjp(tangent, *x)[1](ct), w), want, dtype)
    assert_near(paired(v, shardax.jvp(pull, x, w)[1]), want, dtype)
    assert_near(paired(shardax.vjp(pull, *x)[1](v), w), want, dtype)


FLAT = [
    c
    for c in CASES
    if not differentiable(c.values[1])
    and "float64" in c.values[1].dtypes
    and any(a.dtype is None for a in c.values[1].args)
]


@pytest.mark.parametrize("name, sample", FLAT)
def test_no_gradient(name, sample):
    """If a sample names no derivative, it is zero or refused."""
    if name in ("sort", "while"):
        pytest.skip("another sample, or another file, differentiates it")
    if name == "reduce_precision":
        pytest.skip("linear by definition, as in JAX")
    positions = [i for i, a in enumerate(sample.args) if a.dtype is None]
    f, x = function(name, sample, "float64", 0, positions)
    ones = tuple(map(shardax.numpy.ones_like, x))
    if sample.refuses_jvp:
        with pytest.raises((TypeError, ValueError, NotImplementedError), match=sample.refuses_jvp):
            shardax.jvp(f, x, ones)
        return
    for tangent in leaves(shardax.jvp(f, x, ones)[1]):
        np.testing.assert_array_equal(tangent, np.zeros_like(tangent))
