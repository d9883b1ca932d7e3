"""tests/transforms/test_custom_partitioning.py - functions with rules for each device's parts."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax.experimental.custom_partitioning import SdyShardingRule, custom_partitioning

mesh = jax.make_mesh((4, 2), ("a", "b"), axis_types=(jax.sharding.AxisType.Auto,) * 2)


def put(x, *spec):
    return jax.device_put(x, jax.NamedSharding(mesh, jax.P(*spec)))


def normalized(told, **rules):
    """Rows over their sums. Devices that hold pieces of rows add their sums up, and say so: the
    result is negative."""

    @custom_partitioning
    def normalize(x):
        return x / x.sum(-1, keepdims=True)

    def partition(mesh, arg_shapes, result_shape):
        told.append((arg_shapes, result_shape))
        (x,) = arg_shapes
        axes = x.sharding.spec[-1]

        def lower(part):
            total = part.sum(-1, keepdims=True)
            return -part / (total if axes is None else jax.lax.psum(total, axes))

        return mesh, lower, x.sharding, (x.sharding,)

    normalize.def_partition(partition, **rules)
    return normalize


RULES = [
    {"sharding_rule": "... i -> ... i"},
    {"sharding_rule": SdyShardingRule((("...", "i"),), (("...", "i"),))},
    {"infer_sharding_from_operands": lambda mesh, args, result: args[0].sharding},
]


@pytest.mark.parametrize("rules", RULES, ids=["text", "rule", "function"])
def test_calls_on_a_mesh_run_what_partition_gives(rules):
    told = []
    normalize = normalized(told, **rules)
    x = np.arange(32, dtype=np.float32).reshape(4, 8) + 1
    whole = x / x.sum(-1, keepdims=True)
    for spec in ((None, None), (None, "b"), ("a", "b"), ("b", None), (None, ("a", "b"))):
        out = normalize(put(x, *spec))
        np.testing.assert_allclose(out, -whole, rtol=1e-6)
        assert out.sharding.spec == jax.P(*spec)
        ((given,), result) = told.pop()
        assert (given.shape, given.dtype, given.sharding) == (
            (4, 8),
            np.float32,
            jax.NamedSharding(mesh, jax.P(*spec)),
        )
        if spec[-1] is not None or "sharding_rule" not in rules:
            assert result.sharding.spec[-1] == spec[-1]
    assert not told


def test_other_calls_are_of_the_function_as_it_is():
    told = []
    normalize = normalized(told, **RULES[0])
    x = np.arange(8, dtype=np.float32).reshape(1, 8) + 1
    whole = x / x.sum()
    for call in (normalize, jax.jit(normalize), jax.vmap(normalize)):
        np.testing.assert_allclose(call(jnp.asarray(x)), whole, rtol=1e-6)
    np.testing.assert_allclose(jax.jit(normalize)(put(x)), whole, rtol=1e-6)
    assert not told

    plain = custom_partitioning(lambda x: 2 * x)
    np.testing.assert_array_equal(plain(put(x, None, "b")), 2 * x)


def test_products_with_static_arguments():
    def product(x, power, y):
        return (x @ y) ** power

    multiply = custom_partitioning(product, static_argnums=1)
    told = []

    def partition(power, mesh, arg_shapes, result_shape):
        told.append((power, result_shape.sharding.spec))
        x, y = (s.sharding.spec for s in arg_shapes)
        out = jax.NamedSharding(mesh, jax.P(x[0], y[1]))
        ins = tuple(jax.NamedSharding(mesh, s) for s in (jax.P(x[0], None), jax.P(None, y[1])))
        return mesh, lambda a, b: (a @ b) ** power, out, ins

    multiply.def_partition(partition, sharding_rule="i k, k j -> i j")
    x, y = np.ones((4, 6), np.float32), np.ones((6, 2), np.float32)
    out = multiply(put(x, "a", "b"), 2, y=put(y, "b", None))
    np.testing.assert_array_equal(out, np.full((4, 2), 36))
    assert told == [(2, jax.P("a", None))] and out.sharding.spec == jax.P("a", None)
    with pytest.raises(ValueError, match="no '->'"):
        multiply.def_partition(partition, sharding_rule="i k")
    multiply.def_partition(lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        multiply(put(x), 2, put(y))
