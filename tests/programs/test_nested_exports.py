"""tests/programs/test_nested_exports.py - exported functions that are called while another is
exported,
for symbolic sizes, other meshes and several platforms."""

import re

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import export

STRUCT = jax.ShapeDtypeStruct


def flat(x):
    return jnp.reshape(x, (-1, x.shape[1]))


def exported(f, spec):
    return export.export(jax.jit(f))(STRUCT(export.symbolic_shape(spec), "float32"))


@pytest.mark.parametrize(
    "inner, outer, message",
    [
        ("3,a,a+b", "3,4,c", "'b' = c - 4 from specification 'b + a' for dimension args[0].shape"),
        ("3,a,a", "3,4,c", "args[0].shape[2] (= c) and the specification 'a' (= 4)"),
        ("3,4,5*a", "3,4,c", "Division had remainder mod(c, 5) when computing the value of 'a'"),
        ("3,a,a+b", "3,c,c", "'b' = 0 from specification 'b + a' for dimension args[0].shape[2]"),
        ("3,a,a", "3,4,12", "args[0].shape[2] (= 12) and the specification 'a' (= 4)"),
    ],
)
def test_sizes_that_do_not_fit_are_told_as_expressions(inner, outer, message):
    called = exported(flat, inner)
    with pytest.raises(ValueError, match=re.escape(message)):
        exported(lambda x: called.call(x) + flat(x), outer)


@pytest.mark.parametrize(
    "inner, outer", [("3,a,b", "3,4,c"), ("3,4,3*a", "3,4,6*c"), ("3,a,a+8", "3,c+2,c+10")]
)
def test_sizes_that_fit_for_all_values(inner, outer):
    called = exported(flat, inner)
    calling = exported(lambda x: called.call(x) + flat(x), outer)
    assert calling.uses_global_constants
    x = np.arange(144, dtype="float32").reshape(3, 4, 12)
    np.testing.assert_array_equal(calling.call(x), 2 * flat(x))


def test_programs_within_which_sizes_are_symbolic():
    inner = exported(flat, "3,a,b")
    outer = export.export(jax.jit(inner.call))(STRUCT((3, 4, 12), "float32"))
    assert outer.uses_global_constants and "call_exported_flat" in outer.mlir_module()
    assert "jax.uses_shape_polymorphism = true" in outer.mlir_module()
    assert export.deserialize(outer.serialize()).uses_global_constants
    assert not export.export(jax.jit(flat))(STRUCT((3, 4), "float32")).uses_global_constants
    many = export.export(jax.jit(flat), platforms=("cpu", "tpu"))(STRUCT((3, 4), "float32"))
    assert many.uses_global_constants


def test_donation_on_some_platforms_only():
    f = jax.jit(jnp.sin, donate_argnums=0)
    x = np.arange(3, dtype="float32")
    export.export(f, platforms=("cpu", "tpu"))(x)
    with pytest.raises(NotImplementedError, match="of which only .*'cpu'.* support donation"):
        export.export(f, platforms=("cpu", "other"))(x)


def test_a_function_of_one_device_is_called_over_meshes():
    one = jax.sharding.Mesh(jax.devices()[:1], "i")
    f = jax.jit(lambda x: (x**2).sum(0), in_shardings=jax.NamedSharding(one, jax.P("i")))
    x = jnp.arange(80.0).reshape(8, 10)
    made = export.export(f)(x)
    assert made.nr_devices == 1
    mesh = jax.sharding.Mesh(jax.devices()[:8], "i")
    result = made.call(jax.device_put(x, jax.NamedSharding(mesh, jax.P("i"))))
    np.testing.assert_allclose(result, f(x))
    assert result.sharding.mesh == mesh


def test_second_derivatives_of_integers_for_symbolic_sizes():
    def f(i, x):
        return 2 * i, i * x

    shape = export.symbolic_shape("a")
    args = [STRUCT(shape, dtype) for dtype in ("int32", "float32")]
    made = export.deserialize(export.export(jax.jit(f))(*args).serialize(vjp_order=2))
    i, x = np.arange(4), np.arange(4.0, dtype="float32")
    _, pull = jax.vjp(made.call, i, x)
    zero = np.zeros(4, jax.dtypes.float0)
    assert pull((zero, x))[1].tolist() == [0, 1, 4, 9]
    _, twice = jax.vjp(lambda ct: pull((zero, ct))[1], x)
    assert twice(x)[0].tolist() == [0, 1, 4, 9]


def test_specs_may_be_a_list():
    shapes = export.symbolic_args_specs((jnp.ones((3, 4)), jnp.ones(4)), ["a, b", "b"])
    assert [str(s.shape) for s in shapes] == ["(a, b)", "(b,)"]
