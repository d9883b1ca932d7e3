"""tests/shard_map/test_placement.py - devices of arguments, weak types of collectives."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax
from shardax._devices.specs import DuplicateSpecError
from shardax.sharding import AxisType, Mesh, NamedSharding
from shardax.sharding import PartitionSpec as P


def mesh(*ids):
    return Mesh(np.array([jax.devices()[i] for i in ids]), "x")


X = np.arange(4.0, dtype=np.float32)


@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize("prints", [False, True])
def test_arguments_lie_on_the_devices_of_the_mesh(jitted, prints, capsys):
    def double(v):
        if prints:
            print("here")
        return 2 * v

    f = jax.shard_map(double, mesh=mesh(0, 1), in_specs=P("x"), out_specs=P("x"))
    f = jax.jit(f) if jitted else f
    there = NamedSharding(mesh(2, 3), P("x"))
    said = (
        r"Received incompatible devices for jitted computation. Got argument \S+ of double with "
        r"shape float32\[4\] and device ids \[{}\] on platform CPU and shard_map inside jit with "
        r"device ids \[0, 1\] on platform CPU. Bring the argument there with shardax.device_put."
    )
    with pytest.raises(ValueError, match=said.format("2, 3")):
        f(jax.device_put(X, there))
    with pytest.raises(ValueError, match=said.format("1")):
        f(jax.device_put(X, jax.devices()[1]))
    here = NamedSharding(mesh(1, 0), P("x"))
    for x in (X, jnp.asarray(X), jax.device_put(X, here), f(X)):
        assert f(x).shape == (4,)


@pytest.mark.parametrize("side", ["in", "out"])
def test_an_axis_splits_one_dimension(side):
    specs = {"in_specs": P("x"), "out_specs": P("x"), f"{side}_specs": P("x", "x")}
    with pytest.raises(
        DuplicateSpecError,
        match=rf"A single shard_map {side}_specs specification can map every mesh axis to at most "
        r"one positional dimension, but P\('x', 'x'\) has duplicate entries for `x`",
    ):
        jax.shard_map(lambda v: v, mesh=mesh(0, 1), **specs)(np.ones((4, 4)))


SUMS = {
    "psum": lambda v: lax.psum(v, "x"),
    "pmean": lambda v: lax.pmean(v, "x"),
    "pmax": lambda v: lax.pmax(v, "x"),
    "pmin": lambda v: lax.pmin(v, "x"),
}


@pytest.mark.parametrize("checked", [False, True])
@pytest.mark.parametrize("name", SUMS)
def test_checked_sums_keep_weak_types(name, checked):
    f = jax.shard_map(
        SUMS[name], mesh=mesh(0, 1), in_specs=P("x"), out_specs=P(), check_vma=checked
    )
    for call in (f, jax.jit(f)):
        assert call(jnp.full(4, 2.0)).weak_type == checked
        assert not call(jnp.ones(4)).weak_type


@pytest.mark.parametrize("checked", [False, True])
def test_an_exchange_is_not_weak(checked):
    f = jax.shard_map(
        lambda v: lax.all_to_all(v, "x", 0, 0, tiled=True),
        mesh=mesh(0, 1),
        in_specs=P("x"),
        out_specs=P("x"),
        check_vma=checked,
    )
    for call in (f, jax.jit(f)):
        assert not call(jnp.full(4, 2.0)).weak_type
    exchanged = jax.pmap(lambda v: lax.all_to_all(v, "x", 0, 0), axis_name="x")
    assert not exchanged(jnp.full((2, 2), 2.0)).weak_type
    batched = jax.vmap(lambda v: lax.all_to_all(v, "x", 0, 0), axis_name="x")
    assert batched(jnp.full((2, 2), 2.0)).weak_type


@pytest.mark.parametrize("jitted", [False, True])
def test_explicit_axes_are_mapped(jitted):
    """Whole arrays are split into blocks by reshapes that types would refuse."""
    types = (jax.sharding.AxisType.Explicit,) * 2
    grid = jax.make_mesh((2, 2), ("x", "y"), axis_types=types)
    with jax.set_mesh(grid):
        x = jax.device_put(np.arange(32.0, dtype=np.float32).reshape(8, 4), P("x", "y"))

        @jax.shard_map(out_specs=P(reduced={"y"}))
        def f(x):
            rows = lax.all_gather(x, "y", axis=1, tiled=True, to="reduced")
            return lax.psum(jnp.sum(rows), "x")

        gradient = jax.grad(f)
        out = (jax.jit(f) if jitted else f)(x)
        slope = (jax.jit(gradient) if jitted else gradient)(x)
    assert out == 496 and out.sharding.spec == P(reduced={"y"})
    np.testing.assert_array_equal(slope, np.ones((8, 4)))


def grid_of_four(kind):
    return jax.make_mesh((2, 2), ("x", "y"), axis_types=(kind,) * 2)


@pytest.mark.parametrize("jitted", [False, True])
def test_axes_that_are_not_manual_keep_their_split(jitted):
    m = grid_of_four(AxisType.Auto)
    x = jax.device_put(np.arange(16.0).reshape(8, 2), NamedSharding(m, P("x", "y")))
    options = {"mesh": m, "in_specs": P(None, "y"), "axis_names": {"y"}}
    sine = jax.shard_map(jnp.sin, out_specs=P(None, "y"), **options)
    gathered = jax.shard_map(
        lambda b: lax.all_gather(b, "y", axis=1, tiled=True), out_specs=P(), check_vma=False,
        **options,
    )  # fmt: skip
    total = jax.shard_map(lambda b: lax.psum(b.sum(0), "y"), out_specs=P(), **options)
    for f, spec in (sine, P("x", "y")), (gathered, P("x")), (total, P()):
        out = (jax.jit(f) if jitted else f)(x)
        assert out.sharding.is_equivalent_to(NamedSharding(m, spec), out.ndim)


@pytest.mark.parametrize("name", [None, "x"])
def test_a_batch_that_is_split_already_is_labelled_once(name):
    m = grid_of_four(AxisType.Explicit)
    x = jax.device_put(np.arange(16).reshape(4, 4), NamedSharding(m, P("x", "y")))
    f = jax.shard_map(lambda b: b, mesh=m, in_specs=P("y"), out_specs=P("y"), axis_names={"y"})
    f = jax.vmap(f, spmd_axis_name=name)
    for g in f, jax.jit(f):
        assert g(x).sharding == NamedSharding(m, P("x", "y"))


@pytest.mark.parametrize("make", [jnp.zeros_like, lambda x: jnp.full_like(x, 2, jnp.int32)])
def test_arrays_like_another_are_split_as_it_is(make):
    mesh = jax.make_mesh((2,), ("x",), axis_types=(jax.sharding.AxisType.Explicit,))
    with jax.set_mesh(mesh):
        x = jnp.ones((3, 4), out_sharding=P(None, "x"))
        assert jax.typeof(make(x)) == jax.typeof(jax.jit(make)(x))
        assert jax.typeof(jax.jit(make)(x)).str_short().endswith("[3,4@x]")
        assert jax.typeof(jax.jit(lambda: make(x))()).str_short().endswith("[3,4@x]")


@pytest.mark.parametrize("axis_type", [jax.sharding.AxisType.Explicit, jax.sharding.AxisType.Auto])
def test_new_arrays_lie_over_the_current_mesh(axis_type):
    mesh = jax.make_mesh((2,), ("x",), axis_types=(axis_type,))
    with jax.set_mesh(mesh):
        made = [jnp.zeros([], jnp.int32), jnp.asarray(1), jnp.array(np.int32(1)), jnp.int32(0) + 1]
        whole = jax.sharding.NamedSharding(mesh, P())
        assert [x.sharding for x in made] == [whole] * 4
        kinds = [jax.typeof(x) for x in (made[0], made[2], made[3], jax.jit(lambda: made[0])())]
        assert len(set(kinds)) == 1
        one = jnp.asarray(1, device=jax.devices()[1])
        assert jnp.asarray(one).devices() == {jax.devices()[1]}
    assert jnp.zeros([]).sharding == jax.sharding.SingleDeviceSharding(jax.devices()[0])


def test_maps_over_one_axis_within_another():
    mesh = jax.make_mesh((4, 2), ("a", "b"), axis_types=(AxisType.Auto,) * 2)

    def inner(v):
        add = lambda w: w + lax.axis_index("b")  # noqa: E731
        return jax.shard_map(add, in_specs=P("b"), out_specs=P("b"), axis_names={"b"})(v)

    f = jax.shard_map(inner, in_specs=P("a"), out_specs=P("a"), axis_names={"a"})
    with jax.set_mesh(mesh):
        for x in (jnp.arange(16), jax.device_put(jnp.arange(16), P("a"))):
            for call in (f, jax.jit(f)):
                out = call(x)
                assert out.sharding.spec == P(("a", "b"))
                np.testing.assert_array_equal(out, np.arange(16) + np.tile([0, 0, 1, 1], 4))
