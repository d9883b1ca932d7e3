"""tests/array/test_convert.py - arrays from Python and NumPy objects, and back."""

import copy
import pickle

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import _core


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "Array(True, dtype=bool)"),
        (1, "Array(1, dtype=int32, weak_type=True)"),
        (1.0, "Array(1., dtype=float32, weak_type=True)"),
        (1j, "Array(0.+1.j, dtype=complex64, weak_type=True)"),
        (np.float64(2), "Array(2., dtype=float32)"),
        (np.int8(2), "Array(2, dtype=int8)"),
        ([1, 2.0], "Array([1., 2.], dtype=float32)"),
        ([True, 2], "Array([1, 2], dtype=int32)"),
        ([np.float16(1), 2], "Array([1., 2.], dtype=float16)"),
        ([[], []], "Array([], shape=(2, 0), dtype=float32)"),
        (range(3), "Array([0, 1, 2], dtype=int32)"),
        (memoryview(b"abc"), "Array([97, 98, 99], dtype=uint8)"),
        (np.arange(3.0)[::-1], "Array([2., 1., 0.], dtype=float32)"),
        (np.arange(2, dtype=">i2"), "Array([0, 1], dtype=int16)"),
    ],
)
def test_dtypes_and_weakness(value, text):
    assert repr(jnp.asarray(value)) == text


def test_lists_of_arrays_are_stacked():
    x = jnp.arange(3.0)
    assert jnp.array([x, [1, 2, 3]]).tolist() == [[0, 1, 2], [1, 2, 3]]
    assert jnp.array([jnp.asarray(1.0), 2]).weak_type is False


def test_the_same_array_n_times_is_one_copy():
    x = jnp.arange(6.0).reshape(2, 3) + 1
    repeated = jnp.array([x] * 5)
    assert repeated.shape == (5, 2, 3)
    assert _core.strides(repeated) == (0, 3, 1)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (
            lambda: jnp.array(2**40),
            OverflowError,
            "Python int 1099511627776 too large to convert to int32",
        ),
        (
            lambda: jnp.array([2**40]),
            OverflowError,
            "Python integer 1099511627776 out of bounds for int32",
        ),
        (
            lambda: jnp.array(300, "uint8"),
            OverflowError,
            "Python integer 300 out of bounds for uint8",
        ),
        (
            lambda: jnp.array("abc"),
            TypeError,
            "Value 'abc' with dtype <U3 is not a valid JAX array type",
        ),
        (lambda: jnp.array([1, None]), ValueError, "None is not a valid value for jnp.array"),
        (lambda: jnp.array([[1, 2], [3]]), ValueError, "inhomogeneous shape after 1 dimensions"),
        (lambda: jnp.array({1: 2}), TypeError, "with dtype object is not a valid JAX array type"),
        (lambda: jnp.array(np.datetime64("2020-01-01")), TypeError, "dtype datetime64"),
        (lambda: jnp.array(1.0, "nope"), TypeError, "nope"),
        (lambda: jnp.array([1j], "float32"), TypeError, "not 'complex'"),
    ],
)
def test_errors(make, error, text):
    with pytest.raises(error) as caught:
        make()
    assert text in str(caught.value)


def test_identity_and_copies():
    x = jnp.arange(3.0)
    assert jnp.asarray(x) is x and jnp.asarray(x, "float32") is x
    assert jnp.array(x) is not x
    y = jnp.array(x)
    x.delete()
    assert y.tolist() == [0, 1, 2]


def test_objects_with_protocols():
    class Legacy:
        def __array__(self, dtype=None, copy=None):
            return np.arange(2.0)

    class Modern:
        def __jax_array__(self):
            return jnp.arange(2)

    assert jnp.array(Legacy()).tolist() == [0, 1]
    assert (jnp.arange(2.0) + Modern()).tolist() == [0, 2]
    with pytest.raises(TypeError):
        jnp.arange(2.0) + Legacy()


def test_numpy_views_are_read_only_and_share_memory():
    x = jnp.arange(4.0)
    view = np.asarray(x)
    assert not view.flags.writeable
    assert view.ctypes.data == x.unsafe_buffer_pointer()
    assert np.array(x).flags.writeable
    x.delete()
    assert view.tolist() == [0, 1, 2, 3]  # the memory lives as long as the view


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "bfloat16", "float16", "complex64"])
def test_numpy_round_trip(dtype):
    x = jnp.array([[0, 1, 0], [1, 1, 0]], dtype).T
    back = np.asarray(x)
    assert back.dtype.name == dtype and back.shape == (3, 2)
    assert repr(jnp.asarray(back)) == repr(x)


def test_numpy_functions_and_operators():
    x = jnp.arange(3.0)
    assert type(np.sin(x)) is np.ndarray
    assert isinstance(np.ones(3) + x, shardax.Array)
    assert isinstance(np.float32(1) * x, shardax.Array)
    assert np.asarray(x, dtype="float64").dtype == np.float64


def test_pickle_and_copy():
    x, w = jnp.arange(3), jnp.asarray(1.5)
    assert repr(pickle.loads(pickle.dumps(x))) == repr(x)
    assert pickle.loads(pickle.dumps(w)).weak_type
    assert repr(copy.deepcopy(w)) == repr(copy.copy(w)) == repr(w)
    assert pickle.loads(pickle.dumps(jnp.exp)) is jnp.exp


def test_x64():
    with shardax.enable_x64(True):
        assert jnp.asarray(1.0).dtype == np.float64
        assert jnp.array(2**40).dtype == np.int64
        assert jnp.asarray(np.arange(2)).dtype == np.int64
    assert jnp.asarray(np.arange(2)).dtype == np.int32


def test_explicit_64_bit_dtypes_warn():
    with pytest.warns(UserWarning, match="Explicitly requested dtype float64 requested in array"):
        assert jnp.array(1.0, "float64").dtype == np.float32
    assert jnp.array(1, float).dtype == np.float32  # Python's own types do not


def test_import_is_lean():
    import subprocess
    import sys

    code = "import shardax._core, sys; print('ml_dtypes' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_files_of_bfloat16(tmp_path):
    x = jnp.array([1.5, -2.0], "bfloat16")
    jnp.save(tmp_path / "x.npy", x)
    assert jnp.load(tmp_path / "x.npy").dtype == "bfloat16"
    assert (jnp.load(tmp_path / "x.npy") == x).all()


def test_reshaping_by_the_first_index_first():
    x = jnp.arange(6)
    for shaped in (x.reshape(2, 3, order="F"), x.reshape((2, 3), order="F", out_sharding=None)):
        assert shaped.tolist() == [[0, 2, 4], [1, 3, 5]]
    assert x.reshape(2, 3).reshape(-1, order="F").tolist() == [0, 3, 1, 4, 2, 5]
    assert x.reshape(2, 3).ravel(order="F").tolist() == [0, 3, 1, 4, 2, 5]


def test_no_dtype_is_float64_among_kinds():
    assert not jnp.issubdtype(None, jnp.complexfloating)
    assert jnp.issubdtype(None, jnp.floating)


def test_rows_of_numpy_arrays_are_contiguous():
    for x in (jnp.ones(3), jnp.broadcast_to(jnp.bfloat16(2), (2, 3)), jnp.ones((2, 3)).T):
        rows = np.asarray(x)
        assert rows.strides[-1] == rows.itemsize
        assert rows.view(np.int8).shape[-1] == rows.shape[-1] * rows.itemsize
