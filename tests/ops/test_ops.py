"""tests/ops/test_ops.py - every op against its sample: values, derivatives, batches, shapes."""

import itertools
import pathlib
import sys

import ml_dtypes
import numpy as np
import pytest
import shardax
from shardax import _core

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from samples import SAMPLES, samples  # noqa: E402

NAMES = list(_core.op_names())
CASES = [
    pytest.param(n, s, id=f"{n}-{i}" if i else n) for n in NAMES for i, s in enumerate(samples(n))
]
EPS = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 1.2e-7, "complex64": 2.4e-7}


@pytest.fixture(autouse=True)
def x64():
    with shardax.enable_x64(True):
        yield


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


# ---- completeness -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_has_sample(name):
    assert samples(name), f"'{name}' has no sample: add a line to tests/ops/samples.py"


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


# ---- derivatives ------------------------------------------------------------------------------

SMOOTH = [
    c
    for c in CASES
    if differentiable(c.values[1])
    and any(d in c.values[1].dtypes for d in ("float32", "float64", "complex64"))
]


def directions(args, positions, seed):
    rng = np.random.default_rng(seed)
    out = []
    for i in positions:
        v = rng.uniform(-1, 1, args[i].shape)
        out.append(
            (v + 1j * rng.uniform(-1, 1, v.shape) if args[i].dtype.kind == "c" else v).astype(
                args[i].dtype
            )
        )
    return out


def dtype_for_derivatives(sample):
    for wanted in ("float64", "complex128", "float32", "complex64"):
        if wanted in sample.dtypes:
            return wanted
    return sample.dtypes[0]


def as_function(name, sample, args, positions):
    """The inexact outputs as a function of the operands at `positions`."""

    def f(*moved):
        given = [shardax.numpy.asarray(a) for a in args]
        for i, value in zip(positions, moved, strict=True):
            given[i] = value
        out = call(name, sample, given)
        out = out if isinstance(out, (tuple, list)) else (out,)
        return [v for v in out if np.dtype(v.dtype).kind in "fc"]

    return f


@pytest.mark.parametrize("name, sample", SMOOTH)
def test_jvp_is_slope(name, sample):
    dtype = dtype_for_derivatives(sample)
    args = operands(sample, dtype, seed=3)
    positions = differentiable(sample)
    f = as_function(name, sample, args, positions)
    primals = [args[i] for i in positions]
    tangents = directions(args, positions, 1)
    step = 1e-6 if dtype in ("float64", "complex128") else 1e-2
    ahead = f(
        *[shardax.numpy.asarray(p + step * t) for p, t in zip(primals, tangents, strict=True)]
    )
    behind = f(
        *[shardax.numpy.asarray(p - step * t) for p, t in zip(primals, tangents, strict=True)]
    )
    _, got = shardax.jvp(
        f, tuple(map(shardax.numpy.asarray, primals)), tuple(map(shardax.numpy.asarray, tangents))
    )
    tolerance = 1e-5 if dtype in ("float64", "complex128") else 3e-2
    for a, b, g in zip(leaves(ahead), leaves(behind), leaves(got), strict=True):
        np.testing.assert_allclose(g, (a - b) / (2 * step), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name, sample", SMOOTH)
def test_vjp_is_transpose(name, sample):
    """The sum of ct * (J v) equals that of (J^T ct) * v, without conjugation, as in JAX."""
    dtype = dtype_for_derivatives(sample)
    args = operands(sample, dtype, seed=5)
    positions = differentiable(sample)
    f = as_function(name, sample, args, positions)
    primals = tuple(shardax.numpy.asarray(args[i]) for i in positions)
    tangents = directions(args, positions, 1)
    _, pushed = shardax.jvp(f, primals, tuple(map(shardax.numpy.asarray, tangents)))
    cotangents = directions(leaves(pushed), range(len(pushed)), 2)
    _, pull = shardax.vjp(f, *primals)
    pulled = pull([shardax.numpy.asarray(c) for c in cotangents])
    forward = sum((c * p).sum() for c, p in zip(cotangents, leaves(pushed), strict=True))
    backward = sum((t * p).sum() for t, p in zip(tangents, leaves(pulled), strict=True))
    tolerance = 1e-10 if dtype in ("float64", "complex128") else 1e-4
    # A real function of complex operands, or the reverse, pairs by its real part.
    np.testing.assert_allclose(np.real(forward), np.real(backward), rtol=tolerance, atol=tolerance)


FLAT = [
    c
    for c in CASES
    if not differentiable(c.values[1])
    and "float64" in c.values[1].dtypes
    and any(a.dtype is None for a in c.values[1].args)
]


@pytest.mark.parametrize("name, sample", FLAT)
def test_no_gradient(name, sample):
    """Where a sample names no derivative, it is zero or refused."""
    if name in ("sort", "while"):
        pytest.skip("another sample, or another file, differentiates it")
    args = operands(sample, "float64")
    positions = tuple(i for i, a in enumerate(sample.args) if a.dtype is None)
    f = as_function(name, sample, args, positions)
    primals = tuple(shardax.numpy.asarray(args[i]) for i in positions)
    if name == "reduce_precision":
        pytest.skip("linear by definition, as in JAX")
    tangents = tuple(shardax.numpy.ones_like(p) for p in primals)
    if sample.refuses_jvp:
        with pytest.raises((TypeError, ValueError), match=sample.refuses_jvp):
            shardax.jvp(f, primals, tangents)
        return
    for tangent in leaves(shardax.jvp(f, primals, tangents)[1]):
        np.testing.assert_array_equal(tangent, np.zeros_like(tangent))
