"""tests/ops/test_reductions.py - options of jnp's reductions, held against NumPy."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 4)).astype(np.float32)
NAN = np.where(X > 1, np.nan, X).astype(np.float32)


@pytest.mark.parametrize("name", ["var", "std", "nanvar", "nanstd"])
@pytest.mark.parametrize("keepdims", [False, True])
def test_variances(name, keepdims):
    ours, theirs = getattr(jnp, name), getattr(np, name)
    x = NAN if "nan" in name else X
    mean = RNG.normal(size=(3, 1)).astype(np.float32)
    for options in (
        {"mean": mean},
        {"correction": 1},
        {"ddof": 2},
        {"where": X > -1},
        {"where": X > -1, "mean": mean},
        {"dtype": np.float16},
    ):
        options = {"axis": 1, "keepdims": keepdims, **options}
        expected = theirs(x, **options)
        np.testing.assert_allclose(ours(x, **options), expected, rtol=2e-3, atol=1e-3)
    assert ours(x, dtype=np.float16).dtype == np.float16
    z = x + 1j * X
    assert ours(z).dtype == np.float32
    assert ours(z, dtype=np.complex64).dtype == np.complex64
    with pytest.raises(ValueError, match="real dtype"):
        ours(z, dtype=np.float32)
    with pytest.raises(ValueError, match="can't be provided simultaneously"):
        ours(x, ddof=1, correction=1)


@pytest.mark.parametrize(
    "name", ["sum", "prod", "max", "min", "nansum", "nanprod", "nanmax", "nanmin", "any", "mean"]
)
def test_masks_and_starts(name):
    reduce = getattr(jnp, name)
    with pytest.raises(ValueError, match=f"jnp.{name}: where must be None or a boolean array"):
        reduce(X, where=jnp.ones((3, 4), int))
    if name in ("any", "mean"):
        return
    with pytest.raises(ValueError, match=r"must be a scalar. Got array of shape \(2,\)"):
        reduce(X, initial=jnp.zeros(2))
    start = jnp.float32(0.5)
    expected = getattr(np, name)(X, axis=0, initial=0.5, where=X > 0)
    np.testing.assert_allclose(reduce(X, axis=0, initial=start, where=X > 0), expected, rtol=1e-5)


def test_truth_values():
    x = np.array([[1, 0, 2], [0, 0, 0], [3, 1, 1]])
    for name in ("sum", "prod", "cumsum", "cumprod"):
        out = getattr(jnp, name)(x, axis=1, dtype=bool)
        np.testing.assert_array_equal(out, getattr(np, name)(x, axis=1, dtype=bool))
        assert out.dtype == bool
    assert jnp.sum(x > 0, promote_integers=False).dtype == jnp.int32
    with pytest.raises(ValueError, match="must be non-scalar"):
        jnp.cumulative_sum(1.0)


def test_average_returns_weights_of_its_dtype():
    mean, weight = jnp.average(jnp.ones((2, 3), jnp.float16), axis=0, returned=True)
    assert mean.dtype == weight.dtype == jnp.float16
    np.testing.assert_array_equal(weight, [2, 2, 2])


def test_covariances():
    y = RNG.normal(size=(2, 4)).astype(np.float32)
    often, much = np.array([1, 2, 1, 3]), np.array([0.5, 1, 2, 0.25], np.float32)
    for options in (
        {},
        {"y": y},
        {"y": y[0]},
        {"bias": True},
        {"ddof": 2},
        {"fweights": often},
        {"aweights": much},
        {"fweights": often, "aweights": much, "ddof": 0},
        {"fweights": often, "aweights": much},
    ):
        np.testing.assert_allclose(jnp.cov(X, **options), np.cov(X, **options), rtol=2e-5)
    np.testing.assert_allclose(
        jnp.cov(X.T, y.T, rowvar=False), np.cov(X.T, y.T, rowvar=False), rtol=2e-5
    )
    z = X + 1j * X[::-1]
    np.testing.assert_allclose(jnp.cov(z, aweights=much), np.cov(z, aweights=much), rtol=2e-5)
    assert np.isnan(jnp.cov(jnp.ones((2, 1)))).all()
    assert jnp.cov(jnp.arange(5), dtype="bfloat16").dtype == jnp.bfloat16
    for error, text, options in [
        (ValueError, "subclass of float or complex", {"dtype": int}),
        (ValueError, "multidimensional fweights", {"fweights": np.ones((4, 1), int)}),
        (ValueError, "numbers of samples and aweights: 4 and 3", {"aweights": np.ones(3)}),
        (TypeError, "fweights must be integer", {"fweights": np.ones(4)}),
    ]:
        with pytest.raises(error, match=text):
            jnp.cov(X, **options)
    with pytest.raises(ValueError, match="at most 2 dimensions"):
        jnp.cov(jnp.ones((1, 2, 3)))


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "int32", "int8", "uint8", "bfloat16", bool]
)
@pytest.mark.parametrize("n", [1, 1000, 1025, 70_000, 600_001])
def test_places_of_extremes_in_long_lines(dtype, n):
    with jax.enable_x64(True):
        x = jnp.asarray(RNG.integers(-100, 100, (2, n)), dtype)
        values = np.asarray(x).astype("float64")
        for ours, theirs in ((jnp.argmax, np.argmax), (jnp.argmin, np.argmin)):
            np.testing.assert_array_equal(ours(x, axis=1), theirs(values, axis=1))
            np.testing.assert_array_equal(ours(x), theirs(values))


@pytest.mark.parametrize("n", [5, 3000, 600_001])
def test_places_of_nan_in_long_lines(n):
    x = RNG.normal(size=n).astype(np.float32)
    x[[n // 2, n - 1]] = np.nan
    assert jnp.argmax(x) == jnp.argmin(x) == n // 2
    assert jnp.argmax(np.full(n, -np.inf, np.float32)) == 0


@pytest.mark.parametrize("n", [0, 1, 31, 32, 1000, 70_001])
def test_truth_of_long_lines(n):
    for place in {0, n // 2, n - 1} & set(range(n)):
        x = np.zeros(n, bool)
        x[place] = True
        assert jnp.any(x) and not jnp.all(~x)
    assert not jnp.any(np.zeros(n, bool)) and jnp.all(np.ones(n, bool))


def test_counts_of_bits():
    for dtype in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64):
        info = np.iinfo(dtype)
        x = RNG.integers(info.min, info.max, 1000, dtype, endpoint=True)
        x[:3] = info.min, info.max, 0
        with jax.enable_x64(True):
            counts = jax.lax.population_count(jnp.asarray(x))
            np.testing.assert_array_equal(jnp.bitwise_count(x), np.bitwise_count(x))
        assert counts.dtype == dtype
        width = (1 << info.bits) - 1
        np.testing.assert_array_equal(counts, [(int(v) & width).bit_count() for v in x])


def test_norms_of_integers():
    x = jnp.array([[1, -2], [3, 4]])
    for order, expected in ((1, [3, 7]), (jnp.inf, [2, 4]), (-jnp.inf, [1, 3])):
        norms = jnp.linalg.vector_norm(x, axis=1, ord=order)
        assert norms.dtype == np.int32
        np.testing.assert_array_equal(norms, expected)
    assert jnp.linalg.norm(x[0], ord=1).dtype == np.float32
