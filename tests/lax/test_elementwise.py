# tests/lax/test_elementwise.py - elementwise functions whose operands differ in shape.
import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax


def test_bounds_that_differ_where_what_they_bound_does_not():
    v, x = jnp.arange(4.0), jnp.float32(2)
    between = lambda v: lax.clamp(-v * v, x, 1 + v)  # noqa: E731
    for run in (
        shardax.vmap(between),
        shardax.pmap(between),
        shardax.jit(shardax.pmap(between)),
    ):
        assert run(v).tolist() == [1, 2, 2, 2]
    assert shardax.vmap(lambda low: lax.clamp(low, x, 3.0))(v).tolist() == [2, 2, 2, 3]


def test_slopes_of_bounds_that_exclude_each_other():
    """If the lower bound is the larger, the upper one is the result."""
    slopes = lambda *at: [float(s) for s in shardax.grad(lax.clamp, (0, 1, 2))(*at)]  # noqa: E731
    assert slopes(0.6, 0.5, 0.9) == [1, 0, 0] and slopes(0.1, 0.5, 0.9) == [0, 1, 0]
    for x in (0.2, 0.5, 0.95):
        assert lax.clamp(0.9, x, 0.3) == np.float32(0.3) and slopes(0.9, x, 0.3) == [0, 0, 1]


def test_sizes_that_are_no_integers():
    for sizes in ((np.array([3, 1]),), (1.5, 2.0)):
        with pytest.raises(TypeError, match="Shapes must be 1D sequences of concrete values"):
            lax.reshape(np.ones(3), sizes)
    with pytest.raises(shardax.errors.ConcretizationTypeError, match="jax.numpy.split argument 1"):
        shardax.jit(lambda at: jnp.split(jnp.zeros((12, 2)), [2, at]))(3)


def test_positions_of_arguments_of_array():
    with pytest.warns(DeprecationWarning, match="Use keyword arguments instead"):
        assert jnp.array([1, 2], None, False).tolist() == [1, 2]


def test_dtype_of_names_and_values():
    assert lax.dtype("int8") == np.int8
    assert lax.dtype("bfloat16") == jnp.bfloat16
    assert lax.dtype(2**70) == np.int32
    assert lax.dtype(True) == np.bool_
    assert lax.dtype(shardax.ShapeDtypeStruct((2,), np.float16)) == np.float16
    with pytest.raises(ValueError, match="Invalid argument to dtype: None"):
        lax.dtype(None)
    with pytest.raises(TypeError, match="with dtype <U3 is not a valid JAX array type"):
        lax.dtype(np.zeros(2, "U3"))
    with pytest.raises(TypeError, match="Cannot determine dtype of <object"):
        lax.dtype(object())


def test_a_staged_value_is_a_result_of_the_program():
    assert lax.stage(2).item() == 2
    assert "barrier" in str(shardax.make_jaxpr(lambda: lax.stage(np.ones(2)))())
    assert shardax.grad(lambda x: lax.stage(x) ** 2)(3.0) == 6
