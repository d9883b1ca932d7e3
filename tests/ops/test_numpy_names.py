"""tests/ops/test_numpy_names.py - polynomials, window functions, index grids and angles, held
against NumPy.
"""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp

A, B = np.array([1, 2, 3]), np.array([1, -1])
F, G = np.float32([1, 0, 2, 4]), np.float32([2, 1])
X = np.arange(6, dtype=np.float32)
Y = np.float32([1, 3, 2, 5, 4, 7])
W = np.float32([1, 2, 1, 2, 1, 2])


def check(ours, theirs):
    assert np.shape(ours) == np.shape(theirs)
    np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["polyadd", "polysub", "polymul"])
@pytest.mark.parametrize("p, q", [(A, B), (F, G), (A, G), (G, F)])
def test_polynomial_arithmetic(name, p, q):
    check(getattr(jnp, name)(p, q), getattr(np, name)(p, q))
    check(jax.jit(getattr(jnp, name))(p, q), getattr(np, name)(p, q))


def test_polynomial_division():
    quotient, rest = np.polydiv(F, G)
    for ours in (jnp.polydiv(F, G), jax.jit(jnp.polydiv)(F, G)):
        check(ours[0], quotient)
        check(ours[1], np.pad(rest, (len(F) - len(rest), 0)))
    check(jnp.polydiv(F, G, trim_leading_zeros=True)[1], rest)
    check(jnp.polydiv(G, F)[0], [0.0])
    led = np.float32([0, 2])
    check(jnp.polymul(led, led, trim_leading_zeros=True), np.polymul(led, led))


def test_polynomial_calculus():
    for m in (0, 1, 2, 5):
        check(jnp.polyder(F, m), np.polyder(F, m))
        check(jnp.polyint(F, m), np.polyint(F, m))
    check(jnp.polyint(F, 2, 3), np.polyint(F, 2, 3))
    check(jnp.polyint(F, 2, jnp.array([1, 2])), np.polyint(F, 2, [1, 2]))
    check(jnp.poly(jnp.array([1.0, 2 + 1j])), np.poly([1.0, 2 + 1j]))
    check(jnp.poly(jnp.array([])), 1.0)
    check(jnp.poly(jnp.array([jnp.inf, 1.0])), [1, -np.inf, np.inf])
    check(jnp.poly(jnp.arange(-3.0, 4.0)), np.poly(np.arange(-3.0, 4.0)))


def test_polyfit():
    both = np.stack([Y, Y * 2], 1)
    for values in (Y, both):
        check(jnp.polyfit(X, values, 2), np.polyfit(X, values, 2))
        check(jnp.polyfit(X, values, 1, w=W), np.polyfit(X, values, 1, w=W))
        for cov in (True, "unscaled"):
            ours, theirs = jnp.polyfit(X, values, 1, cov=cov), np.polyfit(X, values, 1, cov=cov)
            check(ours[0], theirs[0])
            expected = theirs[1] if ours[1].ndim == theirs[1].ndim else theirs[1][..., None]
            check(ours[1], expected)
    full = jnp.polyfit(X, Y, 2, full=True)
    for ours, theirs in zip(full[:4], np.polyfit(X, Y, 2, full=True)[:4], strict=True):
        check(ours, theirs)


@pytest.mark.parametrize(
    "call, error, text",
    [
        (lambda: jnp.polyint(F, -1), ValueError, "integral must be positive"),
        (lambda: jnp.polyder(F, -1), ValueError, "derivative must be positive"),
        (lambda: jnp.polyint(F, 2, jnp.ones(3)), ValueError, "rank-1 array of length 1 or m"),
        (lambda: jnp.polyadd([1], F), TypeError, "polyadd requires ndarray"),
        (lambda: jnp.poly(jnp.ones((2, 3))), ValueError, "must be 1d or non-empty square 2d array"),
        (lambda: jnp.polyfit(X, Y, -1), ValueError, "expected deg >= 0"),
        (lambda: jnp.polyfit(jnp.ones((2, 2)), Y, 1), TypeError, "expected 1D vector for x"),
        (lambda: jnp.polyfit(X[:0], Y[:0], 1), TypeError, "non-empty vector"),
        (lambda: jnp.polyfit(X, jnp.ones((6, 1, 1)), 1), TypeError, "1D or 2D array for y"),
        (lambda: jnp.polyfit(X, Y[:3], 1), TypeError, "to have same length"),
        (lambda: jnp.polyfit(X, Y, 1, w=W[:2]), TypeError, "w and y to have the same length"),
        (lambda: jnp.polyfit(X[:2], Y[:2], 1, cov=True), ValueError, "points must exceed order"),
        (lambda: jnp.r_["x", A], ValueError, "could not understand directive 'x'"),
        (lambda: jnp.r_[A, "r"], ValueError, "must be placed at the beginning"),
        (lambda: jnp.diag_indices_from(jnp.ones((2, 3))), ValueError, "must be of equal length"),
        (lambda: jnp.diag_indices_from(jnp.ones(3)), ValueError, "at least 2-d"),
        (lambda: jnp.triu_indices_from(jnp.ones(3)), ValueError, "Only 2-D inputs"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("M", [0, 1, 2, 5, 8])
def test_window_functions(M):
    for name in ("bartlett", "blackman", "hamming", "hanning"):
        check(getattr(jnp, name)(M), getattr(np, name)(M))
    check(jnp.kaiser(M, 3.0), np.kaiser(M, 3.0))


@pytest.mark.parametrize(
    "index",
    [
        np.s_[0:3, 1:3],
        np.s_[0:1:3j],
        np.s_[:4],
        np.s_[0:2, 0:1:3j],
        np.s_[1:4:2],
        np.s_[0:3,],
    ],
    ids=str,
)
def test_grids(index):
    check(jnp.mgrid[index], np.mgrid[index])
    ours, theirs = jnp.ogrid[index], np.ogrid[index]
    for mine, other in zip(ours, theirs, strict=True):
        check(mine, other)


@pytest.mark.parametrize(
    "index",
    [
        (A, B),
        (A, 0, B),
        np.s_[0:4],
        np.s_[0:1:3j, 7],
        ("0,2", A, A),
        ("-1", A, B),
        ("0,2,0", A, A),
        ("0,3,1", A, A),
        ("1,2,0", A, A),
        ("0,3,0", np.ones((2, 3)), np.ones((2, 3))),
        5,
    ],
    ids=str,
)
def test_joined(index):
    check(jnp.r_[index], np.r_[index])
    try:
        columns = np.c_[index]
    except ValueError:  # of different lengths
        return
    check(jnp.c_[index], columns)


def test_joined_as_matrices():
    assert jnp.r_["r", A, B].shape == (1, 5)
    assert jnp.r_["c", A, B].shape == (5, 1)
    assert jnp.s_[1:2, ...] == np.s_[1:2, ...] and jnp.index_exp[3] == (3,)


def test_indices_of_triangles():
    square, wide = np.ones((3, 3)), np.ones((2, 3))
    for ours, theirs in [
        (jnp.diag_indices_from(square), np.diag_indices_from(square)),
        (jnp.tril_indices_from(wide, 1), np.tril_indices_from(wide, 1)),
        *(
            (getattr(jnp, f"{half}_indices")(n, k, m), getattr(np, f"{half}_indices")(n, k, m))
            for half in ("tril", "triu")
            for n, m in [(3, None), (0, 2), (2, 4), (4, 2)]
            for k in (-5, -1, 0, 2, 5)
        ),
        (jnp.triu_indices_from(wide), np.triu_indices_from(wide)),
        (jnp.mask_indices(3, jnp.triu, 1), np.mask_indices(3, np.triu, 1)),
    ]:
        for mine, other in zip(ours, theirs, strict=True):
            check(mine, other)
    assert jnp.mask_indices(3, jnp.triu, 1, size=5)[0].shape == (5,)


def test_unwrap_and_others():
    for p, options in [
        (np.float32([0, 3, -3, 6, 12]), {}),
        (np.array([0, 3, 2, 7]), {"period": 4}),
        (np.array([0, 3, 2, 7]), {"period": 5}),
        (np.float32([[0, 3], [-3, 6], [9, 1]]), {"axis": 0, "discont": 4}),
        (np.zeros((0,), np.float32), {}),
    ]:
        check(jnp.unwrap(p, **options), np.unwrap(p, **options))
    check(jnp.sort_complex(np.array([3 + 1j, 1, 3 - 1j])), np.sort_complex([3 + 1j, 1, 3 - 1j]))
    assert jnp.sort_complex(A).dtype == jnp.complex64
    cube = np.arange(8).reshape(2, 2, 2)
    for ours, theirs in zip(jnp.dsplit(cube, 2), np.dsplit(cube, 2), strict=True):
        check(ours, theirs)
