"""tests/array/test_narrow.py - numbers of fewer than 8 bits and 8-bit floats."""

import warnings

import ml_dtypes
import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax._base.dtypes import FLOATS, INTEGERS

NARROW_FLOATS = [name for name in FLOATS if name != "bfloat16"]
NUMBERS = np.concatenate(
    [
        np.linspace(-20, 20, 401),
        np.geomspace(1e-9, 1e9, 200),
        -np.geomspace(1e-9, 1e9, 200),
        [0.0, -0.0, np.inf, -np.inf, np.nan],
    ]
).astype(np.float32)


@pytest.mark.parametrize("name", NARROW_FLOATS)
def test_floats_are_rounded_as_ml_dtypes_does(name):
    want = NUMBERS.astype(getattr(ml_dtypes, name))
    got = jnp.asarray(NUMBERS).astype(name)
    assert got.dtype == want.dtype and got.nbytes == got.size
    np.testing.assert_array_equal(np.asarray(got).view("u1"), want.view("u1"))
    np.testing.assert_array_equal(got.astype("float32"), want.astype("float32"))
    codes = np.arange(2 ** jax.dtypes.itemsize_bits(name), dtype="u1").view(want.dtype)
    np.testing.assert_array_equal(jnp.asarray(codes).astype("float32"), codes.astype("float32"))


@pytest.mark.parametrize("name", NARROW_FLOATS)
def test_floats_are_rounded_at_every_exponent(name):
    rng = np.random.default_rng(0)
    exponents = np.repeat(np.arange(256, dtype="u4") << 23, 64)
    # Random mantissas; halves of places, which are ties, and what lies beside them.
    ends = rng.integers(0, 2**23, exponents.size, "u4")
    ties = 1 << rng.integers(12, 23, exponents.size).astype("u4")
    beside = ties + rng.integers(-1, 2, exponents.size).astype("u4") & 0x7FFFFF
    bits = np.concatenate([exponents | ends, exponents | beside])
    x = np.concatenate([bits, bits | 1 << 31]).astype("u4").view("f4")
    x = x[~np.isnan(x)]  # a format without NaN loses its sign, as in XLA
    want = x.astype(getattr(ml_dtypes, name))
    np.testing.assert_array_equal(
        np.asarray(jnp.asarray(x).astype(name)).view("u1"), want.view("u1")
    )
    nan = jnp.asarray([np.nan, -np.nan], jnp.float32).astype(name)
    got = np.asarray(nan.astype("float32"))
    assert np.isnan(got).all() or (got == 0).all()


@pytest.mark.parametrize("wide", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("name", ["int8", "uint8", "int16", "uint16"])
def test_floats_saturate_to_short_integers(name, wide):
    limits = np.iinfo(name)
    x = np.array(
        [-np.inf, -1e5, -129, -128.5, -1, -0.5, -0.0, 0.5, 127.5, 255.5, 1e5, np.inf, np.nan]
    )
    with jax.enable_x64(True):
        given = jnp.asarray(np.resize(x, 77)).astype(wide)
        held = np.nan_to_num(np.asarray(given).astype("f8"), nan=0, posinf=1e9, neginf=-1e9)
        want = np.trunc(np.clip(held, limits.min, limits.max)).astype(name)
        np.testing.assert_array_equal(given.astype(name), want)
        np.testing.assert_array_equal(jax.jit(lambda v: (v * 1).astype(name))(given), want)


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_wrap_and_floats_saturate(name):
    limits = jnp.iinfo(name)
    whole = np.arange(-20, 20)
    bits = jax.dtypes.itemsize_bits(name)
    wrapped = (whole - limits.min) % 2**bits + limits.min
    np.testing.assert_array_equal(jnp.asarray(whole).astype(name).astype("int32"), wrapped)
    floats = jnp.asarray([-99.5, 0.75, 99.5, np.nan, np.inf]).astype(name)
    assert [int(x) for x in floats] == [limits.min, 0, limits.max, 0, limits.max]
    array = jnp.array([0, 1], name)
    np.testing.assert_array_equal(np.asarray(array).view("u1"), [0, 1])


# As XLA's CPU has them: -2 of int4 is the byte 0xfe, of whose bits 7 are set; -2 of int2 has 1.
@pytest.mark.parametrize(
    "name, numbers, bits, zeros",
    [
        ("int4", [-2, -1, 0, 1, 7], [7, -8, 0, 1, 3], [0, 0, 4, 3, 1]),
        ("uint4", [0, 1, 2, 3, 15], [0, 1, 1, 2, 4], [4, 3, 2, 2, 0]),
        ("int2", [-2, -1, 0, 1], [1, -2, 0, 1], [0, 0, -2, 1]),
        ("uint2", [0, 1, 2, 3], [0, 1, 1, 2], [2, 1, 0, 0]),
    ],
)
def test_bits_are_counted(name, numbers, bits, zeros):
    x = jnp.asarray(numbers).astype(name)
    for f, wanted in ((jax.lax.population_count, bits), (jax.lax.clz, zeros)):
        for run in (f, jax.jit(f), jax.vmap(f), jax.jit(lambda v, f=f: f(v + 0) * 1)):
            assert run(x).dtype == x.dtype
            assert run(x).astype("int32").tolist() == wanted
    if not name.startswith("u"):
        with pytest.raises(TypeError, match=f"abs does not accept dtype {name}"):
            jnp.abs(x)


@pytest.mark.parametrize("wide", ["int8", "uint8", "int16", "uint16", "int64", "uint32"])
@pytest.mark.parametrize("name", INTEGERS)
def test_integers_of_all_widths_wrap(name, wide):
    with jax.enable_x64(True):
        whole = np.array([0, 1, 3, 5, 9, 15, 16, 100, 127]).astype(wide)
        whole = np.concatenate([whole, np.zeros(1, wide) - whole])
        bits, low = jax.dtypes.itemsize_bits(name), jnp.iinfo(name).min
        wrapped = (whole.astype("int64") - low) % 2**bits + low
        narrow = jnp.asarray(whole).astype(name)
        np.testing.assert_array_equal(narrow.astype("int32"), wrapped)
        np.testing.assert_array_equal(narrow.astype(wide), wrapped.astype(wide))
        for other in INTEGERS:
            bits, low = jax.dtypes.itemsize_bits(other), jnp.iinfo(other).min
            again = (wrapped - low) % 2**bits + low
            np.testing.assert_array_equal(narrow.astype(other).astype("int32"), again)


def test_the_largest_integers_become_the_largest_floats():
    with jax.enable_x64(True):
        largest = jnp.array([2**64 - 1], "uint64")
        assert jnp.isinf(largest.astype("float8_e5m2")).all()
        assert largest.astype("float4_e2m1fn") == 6


@pytest.mark.parametrize("name", NARROW_FLOATS)
@pytest.mark.parametrize("whole", ["int8", "int32", "uint16", "int4"])
def test_floats_become_integers_by_their_values(name, whole):
    narrow = jnp.asarray(NUMBERS).astype(name)
    np.testing.assert_array_equal(
        narrow.astype(whole).astype("int32"),
        narrow.astype("float32").astype(whole).astype("int32"),
    )


def test_arithmetic_keeps_the_type():
    x = jnp.array([0, 1, 2, 3], "float8_e4m3fn")
    assert repr(x + x) == "Array([0, 2, 4, 6], dtype=float8_e4m3fn)"
    assert repr(x * 1.5) == "Array([0, 1.5, 3, 4.5], dtype=float8_e4m3fn)"
    assert repr(jnp.exp(x)) == "Array([1, 2.75, 7.5, 20], dtype=float8_e4m3fn)"
    assert (x @ x).item() == 14 and x.sum() == 6 and jnp.argmax(x) == 3
    gradient = jax.grad(lambda y: (y * y).astype("float32").sum())(x)
    assert repr(gradient) == "Array([0, 2, 4, 6], dtype=float8_e4m3fn)"
    y = jnp.array([0, 1, 2, 3], "int4")
    assert repr(jax.jit(lambda v: v * v)(y)) == "Array([0, 1, 4, -7], dtype=int4)"
    assert repr(-y.astype("uint4")) == "Array([0, 15, 14, 13], dtype=uint4)"
    assert repr(jnp.exp(y)) == repr(jnp.exp(y.astype("float32")))
    assert repr(jnp.mean(y)) == "Array(1.5, dtype=float32)"
    assert jnp.sort(y[::-1]).tolist() == [0, 1, 2, 3] and (y < y[::-1]).sum() == 2
    assert str(jax.make_jaxpr(lambda v: v + 1)(y)) == (
        "{ lambda ; a:i4[4]. let b:i4[4] = add a 1:i4[] in (b,) }"
    )
    loop = jax.lax.fori_loop(0, 5, lambda i, v: v + y, y)
    assert loop.tolist() == [0, 6, -4, 2]
    mapped = jax.pmap(lambda v: jax.lax.psum(v, "i"), "i")(y)
    assert mapped.dtype == y.dtype and mapped.tolist() == [6, 6, 6, 6]


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: jnp.ones(3, "float8_e5m2") + jnp.ones(3), "8-bit floats do not support implicit"),
        (lambda: jnp.ones(3, "float4_e2m1fn") + jnp.ones(3, "bfloat16"), "4-bit floats do not"),
        (lambda: jnp.ones(3, "int4") + jnp.ones(3, "int8"), "4-bit integers do not support"),
        (
            lambda: jnp.ones(3, "int4") * 1.5,
            "Input dtypes .* no available implicit dtype promotion",
        ),
    ],
)
def test_nothing_is_promoted(make, text):
    with pytest.raises(jax.dtypes.TypePromotionError, match=text):
        make()


def test_bits():
    x = jnp.array([1, 2], "float8_e5m2")
    assert x.view("uint8").tolist() == [60, 64]
    assert jnp.array([15], "uint4").view("int4").tolist() == [-1]
    assert jnp.array([1, -1], "int4").view("uint8").tolist() == [0xF1]
    assert jnp.array([0xF1], "uint8").view("int4").tolist() == [1, -1]
    with pytest.raises(ValueError, match="its size must be a divisor of the total size"):
        jnp.ones(3, "int4").view("uint8")
    with pytest.raises(ValueError, match="no last dimension of 2 numbers that make one uint8"):
        jax.lax.bitcast_convert_type(jnp.ones(3, "int4"), "uint8")


def test_small_integers_in_functions_of_numbers():
    a = jnp.asarray([3, -1, 2], "int4")
    assert jnp.dot(a, a).dtype == "int4" and int(jnp.dot(a, a)) == -2  # 14, wrapped
    wide = jnp.matmul(a[None], a[:, None], preferred_element_type=jnp.int32)
    assert wide.dtype == "int32" and wide.tolist() == [[14]]
    assert int(jnp.nanmax(a)) == 3 and jnp.nanmax(a).dtype == "int4"
    assert int(jnp.nanargmin(a)) == 1
    assert jnp.isposinf(a).tolist() == [False] * 3
    assert jnp.round(a).dtype == "int4" and jnp.rint(a).dtype == "float32"
    assert jnp.rint(a).tolist() == [3, -1, 2]


@pytest.mark.parametrize("name", [*FLOATS, *INTEGERS])
def test_narrow_dtypes_are_of_a_kind_and_no_dtype_of_numpy(name):
    kind = jnp.floating if name in FLOATS else jnp.integer
    with warnings.catch_warnings(record=True) as warned:  # dtype == class warns, and raises not
        warnings.simplefilter("always")
        for dtype in (jnp.dtype(name), getattr(jnp, name)):
            assert jnp.issubdtype(dtype, kind) and jnp.issubdtype(dtype, np.generic)
            assert jnp.issubdtype(dtype, jnp.dtype(name))
            for wide in ("float64", "int64", "uint64", "complex128", "V"):
                assert not jnp.issubdtype(dtype, np.dtype(wide))
        assert jnp.issubdtype("float32", jnp.floating)
        assert not jnp.issubdtype(np.dtype("float32"), jax.dtypes.prng_key)
    assert not warned


def test_a_type_that_this_ml_dtypes_lacks(monkeypatch):
    monkeypatch.delattr(ml_dtypes, "int1", raising=False)
    with pytest.raises(AttributeError, match=r"has no type 'int1'. Install a newer one: pip "):
        assert jax.dtypes.int1
