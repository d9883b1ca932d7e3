"""tests/array/test_dlpack.py - memory shared with other libraries, and copies that share none."""

import copy
import ctypes
import gc
import weakref

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp


class Lender(np.ndarray):
    """An ndarray that can be referred to weakly."""


class Unversioned:
    """An array as an older library exports it."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__(stream=stream)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def pointer(x):
    return x.unsafe_buffer_pointer()


@pytest.mark.parametrize("wrap", [lambda x: x, Unversioned])
def test_import_shares_memory_and_keeps_it_alive(wrap):
    x = np.arange(6, dtype=np.float32).reshape(2, 3).view(Lender)
    address, gone = x.ctypes.data, weakref.ref(x)
    y = jnp.from_dlpack(wrap(x))
    transposed = jnp.from_dlpack(wrap(x.T))
    assert pointer(y) == pointer(transposed) == address
    del x
    gc.collect()
    assert gone() is not None
    np.testing.assert_array_equal(transposed, y.T)
    part = y[1]
    del y, transposed
    gc.collect()
    assert part.tolist() == [3.0, 4.0, 5.0]
    del part
    gc.collect()
    assert gone() is None


def test_export_shares_memory_and_keeps_it_alive():
    x = jnp.arange(8.0)
    y = np.from_dlpack(x)
    assert y.ctypes.data == pointer(x) and not y.flags.writeable
    x.delete()
    assert y.tolist() == list(range(8))
    taken = jnp.from_dlpack(Unversioned(jnp.arange(3)))
    assert taken.tolist() == [0, 1, 2]
    repeated = jnp.broadcast_to(jnp.float32(2), (3,))
    assert np.from_dlpack(repeated).tolist() == [2, 2, 2]
    jnp.arange(3).__dlpack__()  # nobody takes it
    for dtype in ("bfloat16", "float8_e5m2", "bool", "complex64"):
        x = jnp.array([0, 1, 1], dtype)
        assert pointer(jnp.from_dlpack(Unversioned(x))) == pointer(x)


def test_copies_where_asked_or_needed():
    x = np.arange(3, dtype=np.float32)
    assert pointer(jnp.from_dlpack(x, copy=True)) != x.ctypes.data
    assert pointer(jnp.from_dlpack(x, copy=False)) == x.ctypes.data
    wide = np.arange(3, dtype=np.float64)
    assert jnp.from_dlpack(wide).dtype == np.float32
    with pytest.raises(ValueError, match="Specified .* which requires a copy since dtype float64"):
        jnp.from_dlpack(wide, copy=False)
    a = jnp.arange(4.0)
    for made in (a.copy(), jnp.copy(a), jnp.array(a), copy.copy(a), copy.deepcopy(a)):
        assert pointer(made) != pointer(a) and made.tolist() == a.tolist()
    assert pointer(jnp.asarray(a)) == pointer(a) == pointer(jnp.array(a, copy=False))
    stacked = jnp.copy(jnp.stack([a] * 8))
    assert stacked.shape == (8, 4) and stacked.tolist() == [a.tolist()] * 8


@pytest.mark.parametrize(
    "make, error, text",
    [
        (lambda: jnp.from_dlpack(5), TypeError, "must have __dlpack__ and __dlpack_device__"),
        (lambda: jax.random.key(0).__dlpack__(), TypeError, "jax.random.key_data"),
        (lambda: jnp.ones(3, "int4").__dlpack__(), TypeError, "int4 have no DLPack equivalent"),
        (lambda: jnp.ones(3).__dlpack__(dl_device=(2, 0)), ValueError, "memory of the CPU"),
        (lambda: jax.jit(lambda x: x.__dlpack__())(1.0), TypeError, "__dlpack__"),
    ],
)
def test_errors(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_memory_that_others_may_write_is_compared_at_each_call():
    """Slices of a mapped argument may be equal for one call only."""
    source = np.ones((4, 64), "float32")
    lent = jnp.from_dlpack(source)
    total = jax.pmap(lambda v: jax.lax.psum(v.sum(), "i"), "i")
    assert total(lent)[0] == 256
    source[1] = 5
    assert total(lent)[0] == 512

    own = jnp.array(np.ones((4, 64), "float32"))
    assert total(own)[0] == 256
    lent = np.from_dlpack(Unversioned(own))
    ctypes.c_float.from_address(lent.ctypes.data).value = 5
    assert total(own)[0] == 260
