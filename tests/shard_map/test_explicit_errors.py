"""tests/shard_map/test_explicit_errors.py - errors over explicit axes, and axes of one device that
types leave out."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax
from shardax.sharding import (
    AxisType,
    NamedSharding,
    P,
    ShardingTypeError,
    reshard,
    use_abstract_mesh,
)


def placed(shape, *spec):
    return jax.device_put(np.zeros(shape, np.float32), P(*spec))


AUTO = (AxisType.Auto,) * 2
REFUSED = {
    "select": (
        lambda: lax.select(placed((4, 4), "x") == 0, placed((4, 4), "x"), placed((4, 4), None)),
        None,
    ),
    "select of other splits": (
        lambda: lax.select(placed((4, 4), "x") == 0, placed((4, 4), "x"), placed((4, 4), "y")),
        "select cases must have the same shardings, got",
    ),
    "split": (
        lambda: lax.split(placed((4, 2), None, "y"), (1, 1), axis=1),
        r"^split on sharded dims where out dim \(1\) is not divisible by mesh axes \(2\)",
    ),
    "even split": (lambda: lax.split(placed((4, 4), None, "y"), (2, 2), axis=1), None),
    "tile": (
        lambda: jnp.tile(placed((4, 2), "x"), (2, 1)),
        r"tile: dimension 0 cannot be sharded where tiling is non-trivial: got .*4@x.*\(2, 1\)",
    ),
    "tile of another": (lambda: jnp.tile(placed((4, 2), "x"), (1, 2)), None),
    "unstack": (
        lambda: jnp.unstack(placed((4, 2), "x")),
        "unstack operand cannot be sharded on the unstacking axis 0",
    ),
    "cumsum": (
        lambda: jnp.cumsum(placed((4, 2), "x")),
        "cumsum: The input should be fully replicated where axis is None",
    ),
    "cumsum along another": (lambda: jnp.cumsum(placed((4, 2), "x"), axis=1), None),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("jitted", [False, True])
def test_split_dimensions(mesh, name, jitted):
    f, text = REFUSED[name]
    f = jax.jit(f) if jitted else f
    if text is None:
        f()
        return
    with pytest.raises(ShardingTypeError, match=text):
        f()


def test_a_mesh_that_nobody_asked_for_has_an_answer():
    implied = jax.make_mesh((4, 2), ("x", "y"))
    x = jax.device_put(np.ones((4, 2), np.float32), NamedSharding(implied, P("x")))
    assert jnp.tile(x, (2, 1)).shape == (8, 2) and jnp.cumsum(x)[-1] == 8
    assert len(jnp.unstack(x)) == 4


def test_out_sharding(mesh):
    other = jax.make_mesh((4, 2), ("x", "y"), axis_types=AUTO)
    with pytest.raises(ValueError, match="einsum: Context mesh .* should match the mesh of shardi"):
        jnp.einsum(
            "ij,jk->ik", placed((4, 2)), placed((2, 4)), out_sharding=NamedSharding(other, P())
        )
    host = NamedSharding(mesh, P("x"), memory_kind="pinned_host")
    with pytest.raises(ValueError, match="a sharding with memory_kind is not allowed"):
        jnp.zeros(4, out_sharding=host)


def test_no_spec(mesh):
    with pytest.raises(TypeError, match="Unexpected None for the spec"):
        NamedSharding(mesh, None)


def test_reshard_leaves_automatic_axes_alone():
    mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=AUTO)
    explicit = mesh.abstract_mesh.update_axis_types(
        {"x": AxisType.Explicit, "y": AxisType.Explicit}
    )
    x = jax.device_put(np.arange(16.0, dtype=np.float32).reshape(8, 2), NamedSharding(mesh, P("x")))

    @jax.jit
    def f(x):
        with jax.sharding.use_abstract_mesh(explicit):
            y = jnp.sin(reshard(x, P(None, "y")))
        z = reshard(y, P(None, None))
        assert jax.typeof(z).sharding.spec == P(None, None)
        return z

    with jax.set_mesh(mesh):
        out = f(x)
    assert out.sharding == NamedSharding(mesh, P(None, "y"))
    np.testing.assert_allclose(out, np.sin(x), rtol=1e-6)


@pytest.fixture
def narrowed():
    jax.config.update("jax_remove_size_one_mesh_axis_from_type", True)
    yield
    jax.config.update("jax_remove_size_one_mesh_axis_from_type", False)


@pytest.mark.parametrize(
    "given, expected",
    [
        (P("x", "y"), P("x", None)),
        (P(("x", "y"), None), P("x", None)),
        (P("y", None), P(None, None)),
    ],
)
def test_axes_of_one_device(narrowed, given, expected):
    mesh = jax.make_mesh((2, 1), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)
    with jax.set_mesh(mesh):
        x = jax.device_put(np.arange(16).reshape(8, 2), given)

        @jax.jit
        def f(x):
            assert jax.typeof(x).sharding.spec == expected
            return lax.with_sharding_constraint(x * 2, given)

        out = f(x)
        assert out.sharding == NamedSharding(mesh, expected)
        np.testing.assert_array_equal(out, x * 2)


def test_axes_of_one_device_of_a_batch(narrowed):
    names = ("data", "stage")
    mesh = jax.make_mesh((2, 1), names, axis_types=(AxisType.Explicit,) * 2)
    with jax.set_mesh(mesh):
        x = jax.device_put(np.arange(8.0, dtype=np.float32).reshape(4, 2), P(names, None))
        out = jax.jit(jax.vmap(lambda x: 2 * x, spmd_axis_name=names))(x)
        assert out.sharding.spec == P("data", None)


def test_arguments_are_split_as_in_specs_say(mesh):
    """Over a mesh whose axes were asked to be explicit."""
    x = jax.device_put(np.ones((4, 4), np.float32), P("x", "y"))

    def f(spec):
        return jax.shard_map(lambda v: v, in_specs=spec, out_specs=spec)

    said = (
        r"in_specs passed to shard_map: P\('y',\) does not match the specs of the input: "
        r"P\({}\) for arg: float32\[{}\]. `in_specs` is an optional argument"
    )
    for call in (f(P("y")), jax.jit(f(P("y")))):
        with pytest.raises(ValueError, match=said.format("'x', 'y'", "4@x,4@y")):
            call(x)
        with pytest.raises(ValueError, match=said.format("None,", "4")):
            call(np.ones(4, np.float32))
    assert f(P("x", "y"))(x).sharding == x.sharding
    rows = jax.sharding.reshard(x, P("x"))
    assert f(P("x"))(rows).shape == (4, 4)


def test_operands_are_over_the_current_mesh():
    first, second = (jax.make_mesh((1,), (name,), axis_types=(AxisType.Explicit,)) for name in "ab")
    x, y = (jax.device_put(np.arange(8), NamedSharding(mesh, P())) for mesh in (first, second))
    for f in (jnp.add, jax.jit(jnp.add), lambda x, y: jnp.concatenate([x, y])):
        with pytest.raises(ValueError, match=r"Mesh for all inputs should be equal. .*'a': 1.*'b'"):
            f(x, y)
        with jax.set_mesh(first):
            text = r"For primitive \w+, context mesh AbstractMesh\('a'.*aval mesh .*int32\[8\]"
            with pytest.raises(ValueError, match=text):
                f(x, y)


def test_operands_are_over_axes_of_the_current_types(mesh):
    x = placed((8, 2), "x", "y")
    changed = mesh.abstract_mesh.update_axis_types({"x": AxisType.Auto})

    def f(x):
        with use_abstract_mesh(changed):
            return x @ x.T

    for call in (f, jax.jit(f)):
        with pytest.raises(ValueError, match=r"context mesh .*\(Auto, Explicit\).* aval mesh"):
            call(x)


def test_types_come_out_even(mesh):
    where = NamedSharding(mesh.abstract_mesh, P("x"))
    with pytest.raises(ValueError, match="partitioned 2 times, but does not evenly divide .* 5"):
        jax.core.ShapedArray((5, 2), jnp.int32, sharding=where)
    assert str(jax.core.ShapedArray((4, 2), jnp.int32, sharding=where)).endswith("[4@x,2]")


@pytest.mark.parametrize(
    "given, asked",
    [
        (lambda a, b: jnp.dot(a, b, out_sharding=P("x")), jnp.dot),
        (
            lambda a, b: jnp.einsum("ij,jk", a, b, out_sharding=P("x")),
            lambda a, b: jnp.einsum("ij,jk", a, b),
        ),
        (
            lambda a, b: jnp.dot(a, b, out_sharding=P("x", unreduced={"y"})),
            lambda a, b: jnp.dot(a, b, out_sharding=P(None, unreduced={"x"})),
        ),
    ],
)
def test_calls_with_an_out_sharding_answer_for_no_others(mesh, given, asked):
    a, b = placed((4, 4), "x", "y"), placed((4, 4), "y", None)
    for f in (lambda f: f, jax.jit):
        f(given)(a, b)
        with pytest.raises(ShardingTypeError):
            f(asked)(a, b)
        f(given)(a, b)


def test_largest_along_a_split_axis(mesh):
    a = placed((4, 4), "x", None)
    with pytest.raises(ShardingTypeError, match="unsharded over the axis .* top_k .*axis=0"):
        lax.top_k(a, 1, axis=0)
    assert lax.top_k(a, 1)[0].sharding.spec == P("x", None)
