"""tests/ops/test_reductions.py - options of jnp's reductions, held against NumPy."""

import numpy as np
import pytest
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
