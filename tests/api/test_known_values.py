"""tests/api/test_known_values.py - values known while tracing, and names of arguments and
results."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import api_util, core


def test_values_that_are_known():
    seen = []

    def f(x):
        seen.append(core.is_concrete(x))
        return core.concrete_or_error(None, x, "in the test") if seen[-1] else x

    jax.jit(f)(1.0), jax.grad(f)(1.0), jax.vmap(f)(jnp.ones(2)), f(1.0)
    assert seen == [False, True, False, True]
    for force in (None, int):
        with pytest.raises(jax.errors.ConcretizationTypeError, match="\nin the test"):
            jax.jit(lambda x, force=force: core.concrete_or_error(force, x, "in the test"))(1)
    assert core.is_constant_shape((2, 3))
    assert not core.is_constant_shape((2, jax.export.symbolic_shape("b")[0]))
    assert api_util.shaped_abstractify(np.ones(2)).dtype == np.float32


def test_names_of_arguments_and_results():
    def f(x, /, *rest, flag, key=1.0):
        return {"a": x["w"] + flag * key, "b": [rest[0]]}

    made = jax.make_jaxpr(f, static_argnums=1)({"w": 1.0}, 3, jnp.ones(2), flag=1, key=2.0)
    known = made.debug_info
    assert known.arg_names == ("x['w']", "rest[1]", "flag", "key")
    assert known.result_paths == ("result['a']", "result['b'][0]")
    assert known.func_name == "f" and known.func_src_info.startswith("f at ")
    traced = jax.jit(lambda x, y: (x, y)).trace(1.0, 2.0)
    assert traced.jaxpr.debug_info.arg_names == ("x", "y")
    assert traced.jaxpr.debug_info.result_paths == ("result[0]", "result[1]")
    (info, _), _ = traced.args_info
    assert repr(info) == ("ArgInfo(_aval=ShapedArray(float32[], weak_type=True), donated=False)")
    assert info.shape == () and info.dtype == np.float32
    for statics in (1, -2, (1, -3)):  # also where fewer are given
        few = jax.make_jaxpr(lambda x, y=2: x * y, static_argnums=statics)(1.0)
        assert few.debug_info.arg_names == ("x",)
    assert not jax.make_jaxpr(lambda: 1.0, static_argnums=())().debug_info.arg_names
    assert jax.make_jaxpr(lambda x: x, static_argnums=1)(x=1.0).debug_info.arg_names == ("x",)
    smaller = made.replace(outvars=made.outvars[:1])
    assert smaller.debug_info.func_name == "f" and smaller.debug_info.arg_names is None
    assert jax.make_jaxpr(f).__module__ == "jax"
