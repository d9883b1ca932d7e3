"""tests/array/test_numpy_conversions.py - objects that NumPy makes arrays of, in jnp.array."""

import collections
import decimal
import fractions

import numpy as np
import pytest
import shardax.numpy as jnp


class Interface:
    """As images and buffers of sensors have it."""

    def __init__(self, a):
        self.held, self.__array_interface__ = a, a.__array_interface__


class Sequence:
    def __len__(self):
        return 3

    def __getitem__(self, i):
        if i >= 3:
            raise IndexError
        return i * 2.0


A = np.arange(6, dtype=np.uint8).reshape(2, 3)
deque = collections.deque
CASES = {
    "interface": (lambda: Interface(A), None),
    "list of interfaces": (lambda: [Interface(A), Interface(A + 1)], None),
    "deque": (lambda: deque([1.0, 2.0]), None),
    "deque of arrays": (lambda: deque([np.ones(2), np.zeros(2)]), None),
    "list of deques": (lambda: [deque([1, 2]), deque([3, 4])], None),
    "UserList": (lambda: collections.UserList([1, 2]), None),
    "sequence": (Sequence, None),
    "tuple of sequences": (lambda: (Sequence(), Sequence()), None),
    "objects": (lambda: np.array([1, 2.5], object), "float32"),
    "list of objects": (lambda: [np.array([1, 2.5], object)], "float32"),
    "Fraction": (lambda: fractions.Fraction(1, 2), "float32"),
    "Fractions": (lambda: [fractions.Fraction(1, 2), fractions.Fraction(1, 4)], "float32"),
    "Decimal": (lambda: decimal.Decimal("0.5"), "float32"),
    "long double": (lambda: np.longdouble(2), "float32"),
    "long doubles": (lambda: np.ones(3, np.longdouble), "int32"),
    "timedelta": (lambda: np.timedelta64(3, "s"), "int32"),
}


@pytest.mark.parametrize("function", [jnp.array, jnp.asarray])
@pytest.mark.parametrize("name", CASES)
def test_as_numpy(name, function):
    make, dtype = CASES[name]
    wanted = make()
    wanted = [w.held for w in wanted] if name == "list of interfaces" else wanted
    found = function(make(), dtype=dtype)
    np.testing.assert_array_equal(found, np.asarray(wanted, dtype=dtype))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: fractions.Fraction(1, 2), TypeError, "with dtype object is not a valid JAX"),
        (lambda: [1, fractions.Fraction(1, 2)], TypeError, "with dtype object is not a valid JAX"),
        (lambda: np.longdouble(2), TypeError, "is not a valid JAX array type"),
        (lambda: np.array([1, None], object), TypeError, "with dtype object"),
        (lambda: {1: 2}, TypeError, "with dtype object"),
        (lambda: [1, None], ValueError, "None is not a valid value for jnp.array"),
        (lambda: deque([1, [2]]), ValueError, "inhomogeneous"),
    ],
)
def test_refused_without_a_dtype(make, error, message):
    with pytest.raises(error, match=message):
        jnp.array(make())
    with pytest.raises(ValueError, match="None is not a valid value"):
        jnp.array([1, None], dtype=jnp.float32)
