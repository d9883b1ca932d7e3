"""tests/ops/test_numpy_corners.py - rarely used options of jnp's functions, held against NumPy."""

import subprocess
import sys

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp

RNG = np.random.default_rng(1)
X = RNG.normal(size=(3, 4)).astype(np.float32)
V = np.arange(3.0, dtype=np.float32)
Y = np.float32([-2, -1, 0, 1, 2])


def check(ours, theirs):
    assert np.shape(ours) == np.shape(theirs)
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("bins", [[4, 2, 0], [0, 2, 4], [3, 3], [3]])
def test_digitize(bins, right):
    x = np.float32([5, 4, 3, 2, -1])
    check(jnp.digitize(x, np.float32(bins), right), np.digitize(x, np.float32(bins), right))


def test_products_of_vectors():
    z = X + 1j * X[::-1]
    check(jnp.vecdot(z, X), np.vecdot(z, X))
    check(jnp.vecdot(X, V, axis=0), [X[:, i] @ V for i in range(4)])
    check(jnp.vecmat(z, X.T), np.vecmat(z, X.T))
    with pytest.raises(ValueError, match="same size along the contracted axis"):
        jnp.vecdot(X, V)


def test_exponents():
    numbers = np.float32([3, 0, -0.1, np.inf, 1e30])
    for ours, theirs in zip(jnp.frexp(numbers), np.frexp(numbers), strict=True):
        check(ours, theirs)
    shifts = np.array([-200, 100, 127, -126, -149, 12])
    check(jnp.ldexp(np.ones(6, np.float32), shifts), np.ldexp(np.ones(6, np.float32), shifts))
    assert jax.grad(lambda x: jnp.ldexp(x, 3))(2.0) == 8
    assert jax.grad(lambda x: jnp.frexp(x)[0])(3.0) == 0.25


def test_differences():
    for options in ({"prepend": 0, "append": 1}, {"n": 2, "prepend": X[:, :1]}, {"n": 9}):
        check(jnp.diff(X, **options), np.diff(X, **options))
    check(jnp.diff(X, n=0, append=3), X)


@pytest.mark.parametrize(
    "conditions, functions",
    [
        ([Y < 0, Y >= 0], [-1, 1]),
        ([Y < 0, Y > 1], [-1, 1, 5]),
        ([Y < 0, Y < -1], [lambda v: v, lambda v: v * 10, 3]),
        ([Y < 0], [lambda v: v * 2]),
    ],
)
def test_piecewise(conditions, functions):
    check(jnp.piecewise(Y, conditions, functions), np.piecewise(Y, conditions, functions))
    with pytest.raises(ValueError, match="functions are expected; got 9"):
        jnp.piecewise(Y, conditions, [1] * 9)


@pytest.mark.parametrize(
    "mode", ["reflect", "symmetric", "edge", "wrap", "median", "mean", "linear_ramp"]
)
@pytest.mark.parametrize("width", [(2, 3), 7, 0])
def test_pad(mode, width):
    check(jnp.pad(V, width, mode=mode), np.pad(V, width, mode=mode))
    both = ((1, 2), (3, 0))
    check(jnp.pad(X, both, mode=mode), np.pad(X, both, mode=mode))
    if mode in ("reflect", "symmetric"):
        check(
            jnp.pad(V, width, mode=mode, reflect_type="odd"),
            np.pad(V, width, mode=mode, reflect_type="odd"),
        )
        check(
            jnp.pad(X, both, mode=mode, reflect_type="odd"),
            np.pad(X, both, mode=mode, reflect_type="odd"),
        )


def test_pad_options():
    both = ((1, 2), (3, 0))
    ends = {"end_values": ((1, 2), (3, 4))}
    check(jnp.pad(X, both, "linear_ramp", **ends), np.pad(X, both, "linear_ramp", **ends))

    def mark(v, widths, axis, options):
        return v.at[: widths[0]].set(options["value"])

    check(jnp.pad(V, (2, 1), mark, value=9), [9, 9, 0, 1, 2, 0])
    with pytest.raises(ValueError, match="unsupported keyword arguments for mode 'mean': {'foo'}"):
        jnp.pad(V, 1, mode="mean", foo=1)
    with pytest.raises(ValueError, match="unsupported reflect_type 'even odd'"):
        jnp.pad(V, 1, mode="reflect", reflect_type="even odd")
    with pytest.raises(NotImplementedError, match="padding mode 'x'"):
        jnp.pad(V, 1, mode="x")


def test_unpackbits():
    bits = np.uint8([[2], [7]])
    for options in ({"axis": 1}, {"axis": 0, "count": 20}, {"count": -3, "bitorder": "little"}):
        check(jnp.unpackbits(bits, **options), np.unpackbits(bits, **options))


def test_compress():
    keep = np.array([False, True, True])
    check(jnp.compress(keep, X, axis=0), np.compress(keep, X, axis=0))
    out = jax.jit(lambda c: jnp.compress(c, X, axis=1, size=3, fill_value=7))(keep)
    check(out, np.concatenate([X[:, 1:3], np.full((3, 1), 7)], 1))
    check(jnp.extract(keep, V, size=3, fill_value=9), [1, 2, 9])
    with pytest.raises(ValueError, match="size must be positive and not greater"):
        jnp.compress(keep, V, size=4)
    with pytest.raises(ValueError, match="must be a 1D array"):
        jnp.compress(X > 0, X)


def test_ranges():
    for ends in ((1, 1000), (-1, -1000), (1j, 1000j)):
        check(jnp.geomspace(*ends, 4), np.geomspace(*ends, 4))
    outside = np.float32([-1, 0.5, 5])
    fp = np.float32([0, 10, 40])
    out = jnp.interp(outside, V, fp, left="extrapolate", right="extrapolate")
    check(out, [-10, 5, 130])
    with pytest.raises(ValueError, match="only valid string value of `right`"):
        jnp.interp(outside, V, fp, right="x")
    one = np.float32([0, 1e-33, 1])  # the first two of which are one point
    slopes = jax.vjp(jnp.interp, *map(jnp.float32, (0, one, V[:3])))[1](jnp.float32(1))
    assert slopes[0] == 0 and not slopes[1].any()


def test_rearranging():
    check(jnp.repeat(V, np.array([1, 2, 0]), total_repeat_length=5), [0, 1, 1, 2, 2])
    for shift, axis in ((np.array(1), 1), ((1, 2), (0, 1)), (np.array([1, 2]), 0), (1, (0, 1))):
        check(jnp.roll(X, shift, axis), np.roll(X, shift, axis))
    with pytest.raises(ValueError, match="2 shifts and 3 axes"):
        jnp.roll(X[None], (1, 2), (0, 1, 2))
    check(jnp.insert(np.arange(5), slice(1, 3), 9), np.insert(np.arange(5), slice(1, 3), 9))
    assert jnp.block(3).shape == ()
    for blocks in ((V, V), [V, (V, V)]):
        with pytest.raises(ValueError, match="block does not allow tuples"):
            jnp.block(blocks)
    assert jnp.size(X, (0, 1)) == 12 and jnp.size(X, -1) == 4
    with pytest.raises(ValueError, match="Complex values have no ordering"):
        jnp.clip(np.array([1j]), 0, 1)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint32", "int32"])
def test_ldexp_by_the_largest_and_smallest_exponents(dtype):
    info = np.iinfo(dtype)
    got = jnp.ldexp(1.0, jnp.array([info.min, info.max], dtype))
    with np.errstate(over="ignore"):
        want = np.ldexp(1.0, np.clip([info.min, info.max], -9999, 9999)).astype("float32")
    np.testing.assert_array_equal(got, want)


def test_dtype_knows_bfloat16_from_the_start():
    """NumPy learns the name when ml_dtypes is imported."""
    code = "import shardax.numpy as jnp; print(jnp.dtype('bfloat16'), jnp.dtype is np.dtype)"
    out = subprocess.run([sys.executable, "-c", f"import numpy as np; {code}"], capture_output=True)
    assert out.stdout.split() == [b"bfloat16", b"True"]


def test_complex_expm1_of_infinities():
    inf, nan = float("inf"), float("nan")
    z = np.array([complex(-inf, inf), complex(-inf, nan), complex(inf, inf), complex(-0.0, 0.0)])
    out = np.asarray(jnp.expm1(z))
    np.testing.assert_array_equal(out[:2], [-1, -1])
    assert np.isposinf(out[2].real) and np.isnan(out[2].imag)
    assert out[3] == 0 and not np.signbit(out[3].real)


def test_static_numbers_that_are_equal_but_not_the_same():
    x = jnp.array([0.0, 1.0, 3.0])
    below = jnp.array([-1.0])
    assert not np.signbit(jnp.interp(below, x, x, left=0.0)).any()
    assert np.signbit(jnp.interp(below, x, x, left=-0.0)).all()
    assert np.isnan(jnp.interp(below, x, x, left=float("nan"))).all()
    steps = jnp.array([0, 1, 3, 8])
    assert jnp.unwrap(steps, period=4).dtype == np.int32
    assert jnp.unwrap(steps, period=4.0).dtype == np.float32


@pytest.mark.parametrize("order", ["big", "little"])
@pytest.mark.parametrize("shape, axis", [((13,), None), ((5, 16), 1), ((17, 3), 0), ((0,), None)])
def test_packbits(shape, axis, order):
    rng = np.random.default_rng(0)
    for dtype in ("bool", "uint8", "int32"):
        truth = rng.integers(0, 3, shape).astype(dtype)
        check(jnp.packbits(truth, axis, order), np.packbits(truth.astype(bool), axis, order))
    bits = rng.integers(0, 256, shape).astype("uint8")
    for count in (None, 3, 40, -2) if bits.size else (None,):
        check(jnp.unpackbits(bits, axis, count, order), np.unpackbits(bits, axis, count, order))


def test_functions_over_axes_take_the_axis_by_position():
    x = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    out = jnp.apply_over_axes(lambda a, i: jnp.sum(a, i), x, [0, 1])
    np.testing.assert_array_equal(out, [[15]])


def test_scalar_types_are_found_by_the_types_of_numpy():
    assert jnp.int32 == np.int32 and np.int32 == jnp.int32 and jnp.int32 == np.dtype("int32")
    assert np.int32 in {jnp.int32, jnp.int64} and jnp.float32 in {np.float32}
    assert jnp.int32 != jnp.int64 and jnp.int32 != "int32"
    assert jnp.bfloat16 == jnp.zeros(1, jnp.bfloat16).dtype


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_parts_of_floats_of_any_bits(dtype):
    info = np.finfo(dtype)
    words = np.random.default_rng(0).integers(0, 1 << (info.bits - 1), 5000, np.uint64)
    x = words.astype(f"uint{info.bits}").view(dtype)
    x = np.concatenate([x[np.isfinite(x)], np.array([0, info.max, -info.tiny], dtype)])
    x[:100] = info.smallest_subnormal * np.arange(100)
    with jax.enable_x64(True):
        mantissa, exponent = jnp.frexp(jnp.asarray(x))
    expected, powers = np.frexp(x)
    np.testing.assert_array_equal(mantissa, expected)
    np.testing.assert_array_equal(exponent, powers)


@pytest.mark.parametrize(
    "mode",
    "constant edge linear_ramp maximum mean median minimum reflect symmetric wrap empty".split(),
)
def test_padded_arrays_keep_weak_types(mode):
    for value in (1, 1.0):
        weak = jnp.stack([jnp.asarray(value)] * 3)
        assert weak.weak_type
        assert jnp.pad(weak, 2, mode=mode).weak_type and jnp.pad(weak, 0, mode=mode).weak_type
    assert not jnp.pad(jnp.ones(3), 2, mode=mode).weak_type


@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_convolutions_of_integers_that_are_asked_for(name):
    a, v = np.array([2, 3, 4], np.uint8), np.array([1, 3], np.uint8)
    out = getattr(jnp, name)(a, v, preferred_element_type=np.uint8)
    assert out.dtype == np.uint8
    np.testing.assert_array_equal(out, getattr(np, name)(a, v))
    assert getattr(jnp, name)(a, v).dtype == np.float32
    assert getattr(jnp, name)(a, v, preferred_element_type=np.float32).dtype == np.float32


def test_statistics_of_integer_dtypes_name_the_function():
    for f in (jnp.cov, jnp.corrcoef):
        with pytest.raises(ValueError, match=f"^{f.__name__}: dtype must be a subclass of float"):
            f(jnp.ones((2, 3)), dtype=int)


@pytest.mark.parametrize("kind", [int, float, np.int32, np.float32])
def test_ranges_move_nothing(kind):
    with jax.transfer_guard("disallow"):
        out = jnp.arange(kind(5))
    assert out.shape == (5,) and out.dtype == jnp.asarray(kind(5)).dtype


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: jnp.ix_(jnp.ones((2, 2), int)), "1-dimensional"),
        (lambda: jnp.diag_indices(-1), "n must be nonnegative"),
        (lambda: jnp.diag_indices(2, -1), "ndim must be nonnegative"),
        (lambda: jnp.isdtype("int8", "whole"), "unrecognized kind='whole'"),
        (lambda: jnp.resize(jnp.ones(2), -1), "non-negative"),
        (lambda: jnp.apply_over_axes(lambda a, i: a.sum(), jnp.ones((2, 3, 4)), 0), "shape"),
    ],
)
def test_indices_shapes_and_kinds_that_make_no_sense(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_grids_of_booleans_stand_for_their_places():
    rows, columns = jnp.ix_(jnp.array([True, False, True]), jnp.array([1, 3]))
    assert rows.tolist() == [[0], [2]] and columns.tolist() == [[1, 3]]
