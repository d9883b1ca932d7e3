# tests/array/test_foreign_operands.py - masked arrays, namedtuples, lists and float0 as operands.
import operator
from typing import Any, NamedTuple

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp


class Scaled(NamedTuple):
    array: Any

    def __mul__(self, other):
        return Scaled(self.array * other)

    def __rmul__(self, other):
        return Scaled(other * self.array)


def test_containers_that_know_the_operator():
    x = jnp.ones(2)
    for multiply in (operator.mul, shardax.jit(operator.mul)):
        assert isinstance(multiply(x, Scaled(x)), Scaled)
        assert isinstance(multiply(Scaled(x), x), Scaled)
    for other in ((1, 2), [1, 2], {}, Scaled(x)):
        with pytest.raises(TypeError, match="unsupported operand type"):
            x + other


def test_masked_arrays():
    masked = np.ma.array([1, 2], mask=[True, False])
    assert jnp.array(masked).tolist() == jnp.asarray(masked).tolist() == [1, 2]
    for use in (jnp.sin, shardax.jit(lambda x: x), lambda m: jnp.ones(2) + m):
        with pytest.raises(ValueError, match="numpy masked arrays are not supported"):
            use(masked)


def test_lists_have_shapes_still():
    for f, wanted in ((jnp.ndim, 2), (jnp.shape, (1, 2)), (jnp.size, 2)):
        with pytest.warns(DeprecationWarning, match=f"{f.__name__} requires ndarray or scalar arg"):
            assert f([[1, 2]]) == wanted


def test_what_an_array_cannot_contain():
    with pytest.raises(TypeError, match="Array.__contains__: unsupported operand type.*'a'"):
        assert "a" not in jnp.ones(2)


def test_float0():
    zeros = jnp.zeros((2,), shardax.float0)
    assert zeros.shape == (2,) and zeros.dtype == shardax.float0
    assert shardax.dtypes.canonicalize_dtype(shardax.float0) == shardax.float0


def test_strict_promotion_of_grids_and_averages():
    with shardax.numpy_dtype_promotion("strict"):
        assert jnp.mgrid[1:6:8j, 2:4].dtype == "float32"
        assert jnp.mgrid[1:3, 2:4].dtype == "int32"
        assert jnp.ogrid[0:1:3j, 0:2][1].dtype == "float32"
        counts = jnp.arange(4)
        assert float(jnp.average(counts, weights=counts)) == pytest.approx(7 / 3)
        with pytest.raises(shardax.dtypes.TypePromotionError, match="promotion=strict"):
            jnp.average(counts, weights=counts.astype("float32"))


def test_axes_of_tensordot():
    x = jnp.ones((2, 2))
    for axes, message in (
        ("ba", "must be an int, a pair of ints, or a pair of lists of ints, got 'ba'"),
        (("bad", "axes"), "requires both axes lists to be either ints, tuples or lists"),
        (([0], [0, 1]), "requires axes lists to have equal length"),
    ):
        with pytest.raises(TypeError, match=message):
            jnp.tensordot(x, x, axes=axes)
