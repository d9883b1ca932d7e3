"""tests/array/test_layouts.py - orders of dimensions that were asked for: who keeps them, who
refuses."""

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import NamedSharding, P
from shardax.experimental.layout import Format, Layout, with_layout_constraint
from shardax.sharding import SingleDeviceSharding

X = np.arange(12.0, dtype=np.float32).reshape(3, 4)
COLUMNS = Layout((1, 0))


def here():
    return SingleDeviceSharding(shardax.devices()[0])


def halves():
    return NamedSharding(shardax.make_mesh((2,), ("a",)), P(None, "a"))


def order(array):
    return array.format.layout.major_to_minor


@pytest.mark.parametrize("where", [here, halves])
def test_arrays_lie_as_device_put_was_asked(where):
    where = where()
    y = shardax.device_put(X, Format(COLUMNS, where))
    assert order(y) == (1, 0) and y.sharding == where
    assert repr(y.format) == repr(Format(Layout((1, 0), tiling=()), where))
    np.testing.assert_array_equal(y, X)
    assert shardax.device_put(y, where) is y or order(shardax.device_put(y, where)) == (0, 1)
    assert order(shardax.device_put(y, Format(None, where))) == (0, 1)
    for made in (
        y * 2,
        -y,
        y + y,
        y.T,
        y.sum(0)[None],
        y.copy(),
        jnp.copy(y),
        shardax.jit(lambda a: a)(y),
    ):
        assert order(made) == (0, 1)
    assert order(shardax.vmap(lambda v: v * 2)(y)) == (0, 1)
    assert order(shardax.grad(lambda v: (v * v).sum())(y)) == (0, 1)


def test_an_array_keeps_its_order_from_device_to_device():
    y = shardax.device_put(X, Format(COLUMNS, here()))
    assert shardax.device_put(y, here()) is y
    assert order(shardax.device_put(y, shardax.devices()[1])) == (1, 0)
    assert order(shardax.device_put(y)) == order(jnp.asarray(y)) == (1, 0)
    assert order(shardax.device_put(y, here(), may_alias=False)) == (1, 0)
    assert order(shardax.device_put(y, halves())) == (0, 1)


def test_results_of_jit_lie_as_out_shardings_say():
    for where in (here(), halves()):
        asked = Format(COLUMNS, where)
        double = shardax.jit(lambda a: (a * 2, a + 1), out_shardings=(asked, where))
        for x in (X, X, shardax.device_put(X, where)):
            assert [order(v) for v in double(x)] == [(1, 0), (0, 1)]
        compiled = double.lower(X).compile()
        assert [f.layout.major_to_minor for f in compiled.output_formats] == [(1, 0), (0, 1)]
    struct = shardax.jit(lambda a: a, out_shardings=Format(COLUMNS, here())).lower(X).out_info
    assert struct.format == Format(COLUMNS, here()) and "format=Layout((1, 0)" not in repr(struct)
    assert "format=Layout(major_to_minor=(1, 0)" in repr(struct)


def test_arguments_lie_as_in_shardings_say():
    asked = Format(COLUMNS, here())
    y = shardax.device_put(X, asked)
    same = shardax.jit(lambda a: a, in_shardings=asked)
    assert order(same(y)) == order(same(X)) == (0, 1)
    both = shardax.jit(lambda a: a, in_shardings=asked, out_shardings=asked)
    assert order(both(y)) == (1, 0)
    with pytest.raises(
        ValueError, match=r"Layout passed to jit does not match .*in_shardings\[0\]"
    ):
        both(shardax.device_put(X, here()))
    (found,), _ = both.lower(X).compile().input_formats
    assert found.layout.major_to_minor == (1, 0)


def test_compiled_functions_refuse_other_orders():
    y = shardax.device_put(X, Format(COLUMNS, here()))
    compiled = shardax.jit(lambda a, b: (a * 2, b["k"])).lower(X, {"k": y}).compile()
    (a, b), _ = compiled.input_formats
    assert a.layout.major_to_minor == (0, 1) and b["k"].layout.major_to_minor == (1, 0)
    compiled(jnp.asarray(X), {"k": jnp.asarray(X)})  # was not placed: it lies as it is wanted
    with pytest.raises(
        ValueError,
        match=r"(?s)disagree with the layouts of.*the 1 mismatches:\nArgument a with shape "
        r"float32\[3,4\]:\n  Passed layout: Layout\(major_to_minor=\(1, 0\).*Required layout: "
        r"Layout\(major_to_minor=\(0, 1\)",
    ):
        compiled(y, {"k": y})
    struct = shardax.ShapeDtypeStruct((3, 4), jnp.float32, sharding=Format(COLUMNS, here()))
    (found,), _ = shardax.jit(lambda a: a).lower(struct).compile().input_formats
    assert found.layout.major_to_minor == (1, 0)


def test_constraints_within_programs():
    assert order(with_layout_constraint(jnp.asarray(X), COLUMNS)) == (1, 0)
    f = shardax.jit(lambda a: with_layout_constraint(a * 2, COLUMNS))
    assert order(f(X)) == order(f(X)) == (1, 0)
    assert order(shardax.jit(lambda a: with_layout_constraint(a, COLUMNS) + 1)(X)) == (0, 1)
    split = f(shardax.device_put(X, halves()))
    assert order(split) == (1, 0) and split.sharding == halves()
    shape = shardax.vmap(lambda a: with_layout_constraint(a, COLUMNS))(jnp.ones((2, 3, 4))).shape
    assert shape == (2, 3, 4)
    slope = shardax.grad(lambda a: with_layout_constraint(a * a, COLUMNS).sum())(jnp.asarray(X))
    np.testing.assert_array_equal(slope, 2 * X)
    assert "layout_constraint[\n      layout=Layout(major_to_minor=(1, 0)" in str(
        shardax.make_jaxpr(lambda a: with_layout_constraint(a, COLUMNS))(X)
    )
    where = Format(COLUMNS, here())
    asked = shardax.jit(lambda a: shardax.lax.with_sharding_constraint(a * 2, where))
    assert order(asked(X)) == (1, 0)
    assert order(shardax.jit(lambda a: shardax.device_put(a * 2, where))(X)) == (0, 1)
    with pytest.raises(ValueError, match="must be of type `Layout`. Got .*Format"):
        with_layout_constraint(jnp.asarray(X), where)
    with pytest.raises(ValueError, match="with_layout_constraint arguments is incompatible"):
        with_layout_constraint(jnp.asarray(X), Layout((0, 1, 2)))


def test_arrays_out_of_parts():
    where = Format(COLUMNS, halves())
    made = shardax.make_array_from_callback((3, 4), where, lambda index: X[index])
    assert order(made) == (1, 0)
    np.testing.assert_array_equal(made, X)
    parts = [shard.data for shard in made.addressable_shards]
    assert [order(part) for part in parts] == [(1, 0), (1, 0)]
    joined = shardax.make_array_from_single_device_arrays((3, 4), halves(), parts)
    assert order(joined) == (1, 0) and joined.sharding == halves()
    np.testing.assert_array_equal(joined, X)


@pytest.mark.parametrize("dimensions", [(0, 0), (0, 5)])
def test_orders_that_are_none_are_refused(dimensions):
    where = Format(Layout(dimensions), here())
    with pytest.raises(shardax.errors.JaxRuntimeError, match="must name each dimension"):
        shardax.device_put(X, where)
    with pytest.raises(shardax.errors.JaxRuntimeError, match="must name each dimension"):
        shardax.jit(lambda a: a, out_shardings=where)(X)
