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
