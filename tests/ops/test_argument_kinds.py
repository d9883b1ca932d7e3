"""tests/ops/test_argument_kinds.py - stand-ins for ints, axes and dtypes."""

import enum
import warnings

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax

x = jnp.arange(12.0)
y = jnp.sin(x)


class Size(enum.IntEnum):
    three = 3


THREES = [np.int64(3), np.int32(3), np.uint8(3), np.array(3), jnp.array(3), Size.three]


@pytest.mark.parametrize("three", THREES, ids=lambda n: type(n).__name__)
def test_counts(three):
    assert jnp.histogram_bin_edges(x, bins=three).shape == (4,)
    assert jnp.histogram(x, bins=three)[0].tolist() == [4, 4, 4]
    assert jnp.histogram2d(x, y, bins=three)[0].shape == (3, 3)
    assert jnp.histogramdd(jnp.stack([x, y], 1), bins=three)[0].shape == (3, 3)
    assert jnp.resize(x, three).shape == (3,)
    assert len(jnp.array_split(x, three)) == len(jnp.split(x, three)) == 3
    assert jnp.arange(three).tolist() == [0, 1, 2]
    assert lax.scan(lambda c, _: (c, c), 0.0, None, length=three)[1].shape == (3,)
    assert lax.reshape(x, (three, 4)).shape == (3, 4)


def test_edges_stay_edges():
    edges = [0.0, 6.0, 12.0]
    for bins in (edges, np.array(edges), jnp.array(edges)):
        assert jnp.histogram(x, bins=bins)[0].tolist() == [6, 6]
    assert [p.size for p in jnp.split(x, jnp.array([3, 5]))] == [3, 2, 7]
    assert lax.scan(lambda c, _: (c, c), 0.0, None, length=2.0)[1].shape == (2,)


@pytest.mark.parametrize("one", [np.array(1), jnp.array(1), np.int64(1)], ids=["0-d", "jnp", "np"])
def test_axes(one):
    a = x.reshape(3, 4)
    for f in (shardax.nn.softmax, shardax.nn.log_softmax, shardax.nn.glu, shardax.nn.logsumexp):
        np.testing.assert_array_equal(f(a, axis=one), f(a, axis=1))
    assert jnp.expand_dims(a, one).shape == (3, 1, 4)
    assert shardax.grad(lambda a, b: a * b, argnums=one)(1.0, 2.0) == 1
    np.testing.assert_array_equal(jnp.fft.fftshift(a, one), jnp.fft.fftshift(a, 1))
    assert jnp.fft.fft(a[0], axis=None).shape == (4,)


D = (((1,), (0,)), ((), ()))
m, v = jnp.ones((3, 3)), jnp.ones(3)
PRODUCTS = {
    "matmul": lambda **k: jnp.matmul(m, m, **k),
    "linalg.matmul": lambda **k: jnp.linalg.matmul(m, m, **k),
    "dot": lambda **k: jnp.dot(m, m, **k),
    "einsum": lambda **k: jnp.einsum("ij,jk", m, m, **k),
    "tensordot": lambda **k: jnp.tensordot(m, m, **k),
    "vdot": lambda **k: jnp.vdot(v, v, **k),
    "vecdot": lambda **k: jnp.vecdot(v, v, **k),
    "inner": lambda **k: jnp.inner(v, v, **k),
    "convolve": lambda **k: jnp.convolve(v, v, **k),
    "correlate": lambda **k: jnp.correlate(v, v, **k),
    "lax.dot": lambda **k: lax.dot(m, m, **k),
    "dot_general": lambda **k: lax.dot_general(m, m, D, **k),
    "jit dot_general": lambda **k: shardax.jit(lambda m: lax.dot_general(m, m, D, **k))(m),
    "conv": lambda **k: lax.conv(m[None, None], m[None, None], (1, 1), "SAME", **k),
    "ragged_dot": lambda **k: lax.ragged_dot(m, m[None], jnp.array([3]), **k),
}


@pytest.mark.parametrize("dtype", [np.float64, "float64", float], ids=str)
@pytest.mark.parametrize("name", PRODUCTS)
def test_preferred_element_type_is_narrowed(name, dtype):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert PRODUCTS[name](preferred_element_type=dtype).dtype == np.float32
    asked = dtype is not float  # Python's types are of the default width
    assert any("Explicitly requested dtype float64" in str(w.message) for w in said) == asked
    with shardax.enable_x64(True):
        assert PRODUCTS[name](preferred_element_type=dtype).dtype == np.float64


def test_limits_of_python_types():
    assert jnp.finfo(float).eps == np.finfo(float).eps
    assert jnp.finfo(complex).max == np.finfo(complex).max
    assert jnp.iinfo(int).max == np.iinfo(np.int64).max
    assert jnp.finfo(jnp.float32).bits == jnp.finfo(x.dtype).bits == 32
    assert jnp.finfo("bfloat16").bits == 16


def test_inexact_results_of_integer_dtypes():
    assert jnp.var(x, dtype=int).dtype == jnp.std(x, dtype=int).dtype == np.float32
    assert jnp.fft.rfftfreq(3, dtype=int).dtype == np.float32


def test_flags_as_decorators():
    @shardax.enable_x64(True)
    def wide():
        return jnp.arange(2.0).dtype

    assert wide() == wide() == np.float64 and jnp.arange(2.0).dtype == np.float32
    with shardax.array_garbage_collection_guard("allow"):
        pass
    for value, error in (("log", NotImplementedError), ("other", ValueError)):
        with pytest.raises(error), shardax.array_garbage_collection_guard(value):
            pass
