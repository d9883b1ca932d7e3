"""tests/api/test_small_behaviours.py - what programs written for JAX rely on, one by one."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import ad_checkpoint, dtypes
from shardax.errors import JaxRuntimeError
from shardax.experimental.layout import Format, Layout
from shardax.sharding import NamedSharding, SingleDeviceSharding
from shardax.sharding import PartitionSpec as P


def test_device_put_gives_back_what_lies_there():
    x = jax.device_put(jnp.arange(8), NamedSharding(jax.make_mesh((8,), ("x",)), P("x")))
    assert jax.device_put(x, x.sharding) is x and jax.device_put(x) is x
    assert jax.device_put(x, jax.devices()[0]) is not x
    copy = jax.device_put(x, x.sharding, may_alias=False)
    assert copy is not x and copy.sharding == x.sharding
    assert copy.unsafe_buffer_pointer() != x.unsafe_buffer_pointer()
    with pytest.raises(ValueError, match="may_alias and donate cannot be True"):
        jax.device_put(x, may_alias=True, donate=True)


def test_formats_have_to_fit():
    one = SingleDeviceSharding(jax.devices()[0])
    with pytest.raises(ValueError, match="should be concrete. Got layout: AUTO"):
        jax.device_put(np.ones(2), Format(Layout.AUTO, one))
    with pytest.raises(ValueError, match="Length of major_to_minor and the rank"):
        jax.device_put(np.ones(2), Format(Layout((0, 1, 2)), one))
    with pytest.raises(TypeError, match="`Layout.AUTO` cannot be used .* `ShapeDtypeStruct`"):
        jax.ShapeDtypeStruct((2,), "float32", sharding=Format(Layout.AUTO))
    with pytest.raises(TypeError, match="`Layout.AUTO` cannot be used"):
        jax.make_array_from_callback((2,), Format(Layout.AUTO, one), lambda i: np.ones(2))
    made = jax.make_array_from_callback((2,), Format(Layout((0,)), one), lambda i: np.ones(2))
    assert made.sharding == one


def test_the_program_of_a_linearized_function():
    _, linear = jax.linearize(lambda x: jnp.sin(x) * x, 2.0)
    (program,) = linear.func.args
    assert "mul" in str(program) and len(program.out_avals) == 1


def test_static_arguments_that_cannot_be_compared_or_hashed():
    class Other:
        def __hash__(self):
            return 1

        def __eq__(self, other):
            raise NotImplementedError("of my own")

    f = jax.jit(lambda x, y: x, static_argnums=1)
    f(1, Other())
    with pytest.raises(ValueError, match="static arguments should be comparable using __eq__"):
        f(1, Other())

    class NoHash:
        def __hash__(self):
            raise ValueError("no hash of mine")

    with pytest.raises(ValueError, match="^no hash of mine$"):
        f(1, NoHash())


def test_compiler_options():
    f = jax.jit(lambda x: x + 1, compiler_options={"exec_time_optimization_effort": 0.0})
    assert f(1) == 2
    with pytest.raises(JaxRuntimeError, match="No such compile option: 'exec_time'"):
        jax.jit(lambda x: x, compiler_options={"exec_time": 0.0})


def test_compiled_functions_refuse_tracers_by_name():
    compiled = jax.jit(lambda x: x + 4).lower(1.0).compile()
    with pytest.raises(TypeError, match="Detected argument of Tracer type BatchTracer"):
        jax.vmap(compiled)(jnp.ones(3))


def test_aliases_have_names_of_their_own():
    for name in ("amax", "amin", "around", "concat", "permute_dims"):
        assert getattr(jnp, name).__name__ == name
    x = jnp.array([[1.26, -2.0], [3.0, 0.5]])
    assert jnp.amax(x) == 3 and jnp.amin(x, axis=1)[0] == -2 and jnp.around(x, 1)[0, 0] == 1.3
    assert jnp.concat([x, x], axis=1).shape == (2, 4)
    np.testing.assert_array_equal(jnp.permute_dims(x, (1, 0)), x.T)


def test_elements_as_numpy_has_them():
    x = jnp.arange(3)
    assert isinstance(x._value, np.ndarray) and x._value.tolist() == [0, 1, 2]
    x._check_if_deleted()
    x.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        x._check_if_deleted()


def test_unravel_index_of_sizes_that_are_traced():
    out = jax.jit(jnp.unravel_index)(jnp.array([5, -1]), (2, 3))
    np.testing.assert_array_equal(out, [[1, 1], [2, 2]])


def test_functions_of_ufuncs_cannot_be_replaced():
    with pytest.raises(AttributeError, match="cannot be set"):
        jnp.add._func = None


def test_ranks_of_vectorized_operands():
    f = jnp.vectorize(jnp.add, signature="(),()->()")
    with jax.numpy_rank_promotion("raise"):
        with pytest.raises(ValueError, match=r"operands with shapes \[\(2, 2\), \(2,\)\] require"):
            f(jnp.ones((2, 2)), jnp.ones(2))
    with jax.numpy_rank_promotion("warn"), pytest.warns(UserWarning, match="require rank"):
        f(jnp.ones((2, 2)), jnp.ones(2))


def test_policies_may_say_what_they_mean():
    says = {"sin": ad_checkpoint.Saveable, "mul": ad_checkpoint.Offloadable("device", "host")}
    policy = lambda primitive, *_, **__: says.get(primitive.name, ad_checkpoint.Recompute)
    f = jax.checkpoint(lambda x: jnp.exp(jnp.sin(x) * x), policy=policy)
    assert f"{jax.grad(f)(1.0):.5f}" == f"{jax.grad(lambda x: jnp.exp(jnp.sin(x) * x))(1.0):.5f}"
    kept = [text for _, text in ad_checkpoint.saved_residuals(f, 1.0)]
    assert any("sin" in text for text in kept) and any("mul" in text for text in kept)


def test_no_dtype_is_an_object():
    assert not dtypes.issubdtype("float32", object) and not dtypes.issubdtype("bfloat16", object)
