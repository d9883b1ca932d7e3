"""tests/array/test_array_type.py - the types of arrays, their text, scalars and methods."""

import math
import operator
import weakref

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp

F4 = jnp.arange(4.0)
M23 = jnp.arange(6.0).reshape(2, 3)


def test_types():
    assert repr(type(F4)) == "<class 'shardax.ArrayImpl'>"
    assert isinstance(F4, shardax.Array) and issubclass(type(F4), shardax.Array)
    seen = []
    shardax.jit(lambda x: seen.append((isinstance(x, shardax.Array), type(x).__name__)))(F4)
    assert seen == [(True, "DynamicJaxprTracer")]
    for cls in (shardax.Array, type(F4)):
        with pytest.raises(TypeError):
            cls()
    assert weakref.ref(F4)() is F4


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: F4, "Array([0., 1., 2., 3.], dtype=float32)"),
        (lambda: jnp.float32(100), "Array(100., dtype=float32)"),
        (lambda: jnp.asarray(1.0), "Array(1., dtype=float32, weak_type=True)"),
        (lambda: jnp.zeros((0, 3)), "Array([], shape=(0, 3), dtype=float32)"),
        (lambda: jnp.ones(3, jnp.bfloat16), "Array([1, 1, 1], dtype=bfloat16)"),
        (lambda: jnp.arange(2000), "Array([   0,    1,    2, ..., 1997, 1998, 1999], dtype=int32)"),
        (lambda: M23, "Array([[0., 1., 2.],\n       [3., 4., 5.]], dtype=float32)"),
        (lambda: F4 > 1, "Array([False, False,  True,  True], dtype=bool)"),
        (lambda: jnp.array([1 + 2j]), "Array([1.+2.j], dtype=complex64)"),
    ],
)
def test_repr(make, text):
    assert repr(make()) == text


def test_str_and_format():
    assert str(F4) == "[0. 1. 2. 3.]" and str(jnp.float32(100)) == "100.0"
    assert f"{jnp.float32(1.2345):.3f} {jnp.int32(3):d} {F4}" == "1.235 3 [0. 1. 2. 3.]"
    with pytest.raises(TypeError, match="unsupported format string"):
        f"{F4:.2f}"


def test_python_scalars():
    x, i = jnp.float32(2.5), jnp.int32(3)
    assert (int(x), float(i), complex(x), bool(x)) == (2, 3.0, 2.5 + 0j, True)
    assert operator.index(i) == 3 and list(range(i)) == [0, 1, 2] and hex(i) == "0x3"
    assert (math.floor(x), math.ceil(x)) == (2, 3)
    assert x.item() == 2.5 and F4.item(2) == 2 and M23.item(1, 0) == 3
    assert M23.T.tolist() == [[0, 3], [1, 4], [2, 5]]
    assert 2.0 in F4 and 7 not in F4


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (
            lambda: float(F4),
            TypeError,
            "Only scalar arrays can be converted to Python scalars; got arr.ndim=1",
        ),
        (lambda: int(jnp.ones((1, 1))), TypeError, "got arr.ndim=2"),
        (lambda: float(jnp.complex64(1j)), TypeError, "not 'complex'"),
        (
            lambda: bool(F4),
            ValueError,
            "The truth value of an array with more than one element is ambiguous",
        ),
        (lambda: bool(jnp.zeros(0)), ValueError, "The truth value of an empty array is ambiguous"),
        (
            lambda: operator.index(jnp.float32(1)),
            TypeError,
            "Only integer scalar arrays can be converted",
        ),
        (lambda: F4.item(), ValueError, "can only convert an array of size 1 to a Python scalar"),
        (
            lambda: F4.reshape(3, 2),
            TypeError,
            "cannot reshape array of shape (4,) (size 4) into shape (3, 2) (size 6)",
        ),
        (lambda: F4.reshape(3, -1), TypeError, "does not evenly divide 4"),
        (lambda: F4.mT, ValueError, "at least two-dimensional"),
        (
            lambda: M23.transpose(0, 5),
            ValueError,
            "axis 5 is out of bounds for array of dimension 2",
        ),
        (lambda: F4.nothing, AttributeError, "has no attribute 'nothing'"),
    ],
)
def test_errors(make, error, text):
    with pytest.raises(error) as caught:
        make()
    assert text in str(caught.value)


def test_tracers_have_values_only_where_no_derivative_is_lost():
    assert float(shardax.grad(lambda x: x * 2 if x > 1 else -x)(3.0)) == 2
    assert float(shardax.grad(lambda x: x * int(x))(3.5)) == 3
    for convert, error in [
        (float, shardax.errors.ConcretizationTypeError),
        (np.asarray, shardax.errors.TracerArrayConversionError),
    ]:
        with pytest.raises(error):
            shardax.grad(lambda x, convert=convert: x * convert(x))(3.5)
    with pytest.raises(
        shardax.errors.TracerBoolConversionError, match="Attempted boolean conversion"
    ):
        shardax.jit(lambda x: 1 if x else 0)(1.0)
    with pytest.raises(shardax.errors.TracerIntegerConversionError, match=r"__index__\(\) method"):
        shardax.jit(lambda n: list(range(n)))(3)
    with pytest.raises(AttributeError, match="block_until_ready"):
        shardax.jit(lambda x: x.block_until_ready())(1.0)


def test_attributes():
    assert (M23.shape, M23.ndim, M23.size, M23.itemsize, M23.nbytes) == ((2, 3), 2, 6, 4, 24)
    assert M23.dtype is np.dtype("float32") and jnp.bfloat16(1).dtype.name == "bfloat16"
    assert M23.T.shape == (3, 2) and jnp.ones((4, 2, 3)).mT.shape == (4, 3, 2)
    assert repr(M23.aval) == "ShapedArray(float32[2,3])" and M23.aval.str_short(True) == "f32[2,3]"
    assert M23.aval.str_short(True, True) == "f32[2,3]"
    assert M23.block_until_ready() is M23 and M23.is_ready()


def test_methods_that_are_functions_of_numpy():
    assert float(M23.sum()) == 15 and M23.mean(axis=0).tolist() == [1.5, 2.5, 3.5]
    assert M23.max(axis=-1, keepdims=True).tolist() == [[2], [5]]
    assert F4.astype(int).dtype == np.int32 and F4.astype(bool).tolist() == [
        False,
        True,
        True,
        True,
    ]
    assert M23.reshape(3, -1).shape == M23.reshape((3, 2)).shape == (3, 2)
    assert M23.ravel().shape == M23.flatten().shape == (6,)
    assert F4.tobytes() == np.arange(4, dtype=np.float32).tobytes()
    assert F4.view("uint8").shape == (16,)
    assert round(jnp.float32(2.6)).tolist() == 3


def test_deleted_arrays():
    x = F4 * 2
    x.delete()
    assert x.is_deleted() and x.shape == (4,)
    for use in (
        lambda: x + 1,
        lambda: x[0],
        lambda: np.asarray(x),
        lambda: float(x[0]),
        lambda: x.sum(),
    ):
        with pytest.raises(RuntimeError, match=r"Array has been deleted with shape=float32\[4\]."):
            use()


def test_casting_to_integers_saturates():
    x = jnp.array([jnp.nan, jnp.inf, -jnp.inf, 3e9])
    assert x.astype(int).tolist() == [0, 2**31 - 1, -(2**31), 2**31 - 1]
    assert jnp.array([-1.0, 300.0]).astype("uint8").tolist() == [0, 255]
