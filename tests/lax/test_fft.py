"""tests/lax/test_fft.py - Fourier transforms against NumPy's: lengths, axes, norms, errors."""

from functools import partial

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax
from shardax.test_util import check_grads

rng = np.random.default_rng(0)
Z = (rng.standard_normal((3, 4, 6)) + 1j * rng.standard_normal((3, 4, 6))).astype(np.complex64)
X = Z.real.copy()
OPTIONS = ({}, {"norm": "ortho"}, {"norm": "forward"}, {"axes": (2, 0)}, {"s": (5, 7)})


def assert_close(got, want):
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, atol=2e-6 * np.abs(want).max())


@pytest.mark.parametrize("n", [1, 2, 3, 8, 13, 30, 31, 32, 37, 97, 210, 1009, 1024])
def test_lengths(n):
    """Small factors, large primes, powers of 2."""
    z = (rng.standard_normal((2, n)) + 1j * rng.standard_normal((2, n))).astype(np.complex64)
    for name, a in (("fft", z), ("ifft", z), ("rfft", z.real), ("ihfft", z.real)):
        assert_close(getattr(jnp.fft, name)(a), getattr(np.fft, name)(a))
    for name in ("irfft", "hfft"):
        assert_close(getattr(jnp.fft, name)(z, n), getattr(np.fft, name)(z, n))


# Passes alone, matrices of passes, convolutions, matrices of these; even and odd, with 13, 15,
# 16 + 1 and 16 + 5 columns; for one core's cache and beyond.
LENGTHS = (60, 101, 165, 169, 221, 254, 303, 315, 499, 854, 997, 1000, 1243, 1507, 2003, 4096, 4099,
           4795, 6561, 7544, 18480, 18769, 67599)  # fmt: skip


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("n", LENGTHS)
def test_a_line_has_the_bits_that_it_has_among_others(n, dtype):
    with shardax.enable_x64(True):
        z = (rng.standard_normal((13, n)) + 1j * rng.standard_normal((13, n))).astype(dtype)
        for f, reference, a in (
            (jnp.fft.fft, np.fft.fft, z),
            (jnp.fft.ifft, np.fft.ifft, z),
            (jnp.fft.rfft, np.fft.rfft, z.real),
            (partial(jnp.fft.irfft, n=n), partial(np.fft.irfft, n=n), z[:, : n // 2 + 1]),
        ):
            together, want = f(a), reference(a)
            error = np.abs(together - want).max() / np.abs(want).max()
            assert error < (1e-6 if dtype == "complex64" else 1e-14), f
            alone = np.stack([f(line) for line in a])
            assert alone.tobytes() == np.asarray(together).tobytes(), f
        columns = jnp.fft.fft(jnp.asarray(z.T), axis=0)
        np.testing.assert_array_equal(columns.T, jnp.fft.fft(z))


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft"])
def test_several_axes(name, options):
    a = X if name == "rfft" else Z
    if "s" in options:
        options = {**options, "axes": (0, 1)}
    for many in (name + "n", name + "2"):
        assert_close(getattr(jnp.fft, many)(a, **options), getattr(np.fft, many)(a, **options))


def test_empty_arrays():
    assert jnp.fft.fft(Z[:0]).shape == (0, 4, 6)
    assert jnp.fft.ifft(Z[:, :, :0]).shape == (3, 4, 0)
    assert jnp.fft.rfft(X[:0]).shape == (0, 4, 4)


def test_precision_of_float64():
    with shardax.enable_x64(True):
        z = Z.astype(np.complex128)
        np.testing.assert_allclose(jnp.fft.fftn(z), np.fft.fftn(z), atol=1e-13)
        assert jnp.fft.irfft(z).dtype == np.float64


def test_transformations():
    check_grads(jnp.fft.rfft2, (X[0],), order=2, modes=("fwd", "rev"))
    check_grads(lambda z: jnp.fft.irfft2(z, s=(4, 7)), (Z[0],), order=2, modes=("fwd", "rev"))
    check_grads(jnp.fft.ifftn, (Z[0],), order=2, modes=("fwd", "rev"))
    np.testing.assert_array_equal(shardax.vmap(jnp.fft.fft, 1, 1)(Z), jnp.fft.fft(Z))
    np.testing.assert_array_equal(shardax.pmap(jnp.fft.rfft)(X), jnp.fft.rfft(X))
    np.testing.assert_allclose(shardax.jit(jnp.fft.fft2)(Z), jnp.fft.fft2(Z), rtol=1e-6)


def test_frequencies_and_shifts():
    for n in (1, 4, 5):
        np.testing.assert_allclose(jnp.fft.fftfreq(n, 0.5), np.fft.fftfreq(n, 0.5))
        np.testing.assert_allclose(jnp.fft.rfftfreq(n, d=2), np.fft.rfftfreq(n, d=2))
    for axes in (None, 1, (0, 2)):
        np.testing.assert_array_equal(jnp.fft.fftshift(X, axes), np.fft.fftshift(X, axes))
        np.testing.assert_array_equal(jnp.fft.ifftshift(X, axes), np.fft.ifftshift(X, axes))


@pytest.mark.parametrize(
    "make, error, text",
    [
        (lambda: lax.fft(Z, "dct", (6,)), ValueError, "Unknown FFT type 'dct'"),
        (lambda: lax.fft(Z, 7, (6,)), TypeError, "Unknown FFT type value '7'"),
        (
            lambda: lax.fft(Z, "rfft", (6,)),
            ValueError,
            "only real valued inputs supported for rfft",
        ),
        (
            lambda: lax.fft(Z, "fft", (5,)),
            ValueError,
            r"must be equal to fft_lengths \(5,\)",
        ),
        (
            lambda: lax.fft(X[0, 0], "rfft", (1, 6)),
            ValueError,
            "RFFT input .* as many input d",
        ),
        (
            lambda: lax.fft(X.astype(np.float16), "rfft", (6,)),
            ValueError,
            "must be float32 or",
        ),
        (lambda: lax.fft(Z, "irfft", (6,)), ValueError, r"got fft_lengths=\(6,\), whose"),
        (lambda: jnp.fft.rfft(Z), ValueError, "jax.numpy.fft.rfft only takes real arrays"),
        (lambda: jnp.fft.fft(Z, norm="both"), ValueError, "Invalid norm value both; should be"),
        (lambda: jnp.fft.fft(Z, n=0), ValueError, r"needs positive sizes .* got s = \(0,\)"),
        (lambda: jnp.fft.fftn(Z, axes=(1, 1)), ValueError, r"repeated axes. Got axes \(1, 1\)."),
        (lambda: jnp.fft.fft(Z, axis=[1]), ValueError, "does not support multiple axes. Please us"),
        (lambda: jnp.fft.fftfreq([1]), ValueError, r"only takes an int. Got n = \[1\]."),
        (
            lambda: jnp.fft.rfftfreq(3, [1]),
            ValueError,
            r"only takes a single value. Got d",
        ),
        (lambda: jnp.fft.fft2(Z, axes=(1,)), ValueError, "only supports 2 axes. Got axes = "),
        (lambda: jnp.fft.fftn(Z, s=(2,), axes=(0, 1)), ValueError, "have different lengths"),
    ],
)
def test_errors(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_programs_say_which_transform():
    eqn = shardax.make_jaxpr(lambda x: lax.fft(x, "rfft", (4,)))(jnp.ones(4)).eqns[0]
    assert eqn.params["fft_type"] is lax.FftType.RFFT
    assert "fft_type=2" in str(eqn)
    np.testing.assert_array_equal(eqn.primitive.bind(jnp.ones(4), **eqn.params), [4, 0, 0])
