"""tests/shard_map/test_explicit_flow.py - explicit axes through reshapes, vmap, scan, indexing and
constraints: types and refusals. As JAX 0.10.2 has it."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax
from shardax.sharding import AxisType, NamedSharding, P, ShardingTypeError, reshard

AUTO = (AxisType.Auto,) * 2


def placed(shape, *spec, dtype=jnp.float32):
    values = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    return jax.device_put(jnp.asarray(values, dtype), P(*spec))


RESHAPES = [
    ((4,), (("x", "y"),), (2, 2), P("x", "y")),
    ((8,), (("x", "y"),), (4, 2), P(("x", "y"), None)),
    ((4, 6, 8), ("x", None, "y"), (4, 2, 3, 8), P("x", None, None, "y")),
    ((10, 1), ("x", None), (2, 5, 1, 1), P("x", None, None, None)),
    ((4, 2, 3, 8), ("x", None, None, "y"), (4, 6, 8), P("x", None, "y")),
    ((2, 2), ("x", "y"), (4,), P(("x", "y"))),
    ((4, 1, 6), ("x", None, "y"), (4, 6), P("x", "y")),
]
REFUSED_RESHAPES = [
    ((2, 2, 2), ("x", None, "y"), (8,)),
    ((12,), (("x", "y"),), (3, 4)),
    ((4, 6, 8), ("x", None, None), (4, 2, 3, 4, 2)),
    ((4, 6, 8), ("x", None, None), (4, 4, 2, 6)),
    ((4, 2, 6, 8), (None, None, "y", "x"), (4, 12, 8)),
]


@pytest.mark.parametrize("shape,spec,new,expected", RESHAPES)
def test_reshapes_hand_axes_on(mesh, shape, spec, new, expected):
    x = placed(shape, *spec)
    out = jax.jit(lambda x: jnp.reshape(x, new))(x)
    assert out.sharding == NamedSharding(mesh, expected)
    np.testing.assert_array_equal(out, np.reshape(x, new))
    gradient = jax.jit(jax.grad(lambda x: (jnp.reshape(x, new) ** 2).sum()))(x)
    assert gradient.sharding == x.sharding


@pytest.mark.parametrize("shape,spec,new", REFUSED_RESHAPES)
def test_reshapes_that_leave_it_open(mesh, shape, spec, new):
    with pytest.raises(ShardingTypeError, match="This reshape is not supported"):
        jnp.reshape(placed(shape, *spec), new)


def test_an_axis_splits_one_dimension(mesh):
    x = placed((8, 4), "x", None)
    with pytest.raises(ShardingTypeError, match="produces an illegally sharded result"):
        x @ x.T
    assert jnp.matmul(x, x.T, out_sharding=P("x")).sharding.spec == P("x", None)
    assert jnp.tensordot(x, x.T, 1, out_sharding=P(None, "x")).sharding.spec == P(None, "x")
    with jax.set_mesh(jax.make_mesh((2, 2), ("x", "y"))):
        y = placed((8, 4), "x", None)
        np.testing.assert_array_equal(y @ y.T, np.asarray(y) @ np.asarray(y).T)


def test_an_axis_splits_one_dimension_of_a_sum(mesh):
    x, y = placed((8, 4), "x", None), placed((8, 4), None, "x")
    for f in (jnp.add, jax.jit(lambda x, y: jnp.sin(x) * y), lambda x, y: jnp.where(x > y, x, 1.0)):
        with pytest.raises(ShardingTypeError, match="operation with inputs: .*illegally sharded"):
            f(x, y)
    assert (x + placed((8, 4), None, "y")).sharding.spec == P("x", "y")
    with jax.set_mesh(jax.make_mesh((2, 2), ("x", "y"))):
        x, y = placed((8, 4), "x", None), placed((8, 4), None, "x")
        np.testing.assert_array_equal(x + y, np.asarray(x) + np.asarray(y))


def test_out_sharding_says_what_is_open(mesh):
    x, ids = placed((8,), "x"), placed((8,), "x", dtype=jnp.int32)
    assert jnp.percentile(x, 50, axis=0, out_sharding=P()) == 3.5
    np.testing.assert_array_equal(jnp.bincount(ids, length=9, out_sharding=P()), [1] * 8 + [0])
    with jax.set_mesh(None), pytest.raises(ValueError, match="not under a mesh context"):
        jnp.matmul(x, x, out_sharding=P())


def test_reshapes_over_axes_that_nobody_asked_for():
    with jax.set_mesh(jax.make_mesh((2, 2), ("x", "y"))):
        x = placed((2, 2, 2), "x", None, "y")
        np.testing.assert_array_equal(jnp.reshape(x, (8,)), np.arange(8.0))


FLOWS = {
    "part": (lambda x: lax.slice(x, (0, 0), (4, 8)), ("x", "y"), P("x", "y")),
    "split": (lambda x: lax.split(x, (4, 4))[1], ("x", "y"), P("x", "y")),
    "largest": (lambda x: lax.top_k(x, 3)[0], ("x", None), P("x", None)),
    "narrower": (
        lambda x: lax.bitcast_convert_type(x, jnp.int8),
        ("x", "y"),
        P("x", "y", None),
    ),
    "like": (lambda x: lax.broadcast_like(jnp.zeros(8), x), ("x", None), P("x", None)),
    "random bits": (
        lambda x: lax.rng_bit_generator(np.arange(4, dtype=np.uint32), (4, 8), out_sharding=P("x"))[
            1
        ],
        (None, None),
        P("x", None),
    ),
    "picked": (
        lambda x: x.at[jnp.arange(8).reshape(4, 2)].get(out_sharding=P("y", None, "x")),
        ("x", None),
        P("y", None, "x"),
    ),
    "put": (
        lambda x: x.at[jnp.arange(8)].set(1.0, out_sharding=P(None, "x")),
        (None, "x"),
        P(None, "x"),
    ),
}


@pytest.mark.parametrize("name", FLOWS)
def test_results_are_split(mesh, name):
    f, given, expected = FLOWS[name]
    x = placed((8, 8), *given)
    for call in (f, jax.jit(f)):
        assert call(x).sharding.spec == expected
        np.testing.assert_array_equal(call(x), f(jnp.asarray(np.asarray(x))))


class TestVmap:
    def test_mapped_dimension(self, mesh):
        x = placed((8, 8), "x", "y")

        def element(row):
            assert jax.typeof(row).sharding.spec == P("y")
            return row * 2, jnp.zeros(3)

        doubled, zeros = jax.jit(jax.vmap(element, out_axes=(0, -1)))(x)
        assert doubled.sharding.spec == P("x", "y") and zeros.sharding.spec == P(None, "x")
        with pytest.raises(ValueError, match="Only one of spmd_axis_name or arrays sharded on"):
            jax.vmap(element, spmd_axis_name="y")(x)
        assert jax.vmap(lambda row: row, spmd_axis_name="x")(x).sharding.spec == P("x", "y")

    def test_what_is_mapped_is_split_alike(self, mesh):
        x, y = placed((8, 8), "x", None), placed((8, 8), None, "x")
        message = "Mapped away dimension of inputs passed to vmap should be sharded the same"
        for call in (jax.vmap(jnp.add), jax.jit(jax.vmap(jnp.add))):
            with pytest.raises(ValueError, match=message):
                call(x, y)
        with pytest.raises(ValueError, match="Unmapped values passed to vmap cannot be sharded"):
            jax.vmap(jnp.add, in_axes=(0, None))(x, y[0])

    def test_constants_beside_what_is_split(self, mesh):
        x, whole = placed((8, 8), "x", None), jnp.ones(3)
        joined = jax.jit(jax.vmap(lambda row: jnp.concatenate([row, whole])))(x)
        assert joined.sharding.spec == P("x", None) and joined.shape == (8, 11)

    def test_rows_picked(self, mesh):
        x, rows = placed((8, 8), "x", None), placed((8, 4), "x", None, dtype=jnp.int32)

        def loss(row, i):
            return row.at[i].get(out_sharding=P("y")).sum()

        value, gradient = jax.jit(jax.vmap(jax.value_and_grad(loss)))(x, rows)
        assert value.sharding.spec == P("x") and gradient.sharding.spec == P("x", None)


class TestLoops:
    def test_slices(self, mesh):
        xs = placed((4, 8, 8), None, "x", "y")

        def step(carry, x):
            assert jax.typeof(x).sharding.spec == P("x", "y")
            return carry + x, x.sum(0)

        last, sums = jax.jit(lambda xs: lax.scan(step, xs[0], xs))(xs)
        assert last.sharding.spec == P("x", "y") and sums.sharding.spec == P(None, "y")
        with pytest.raises(ValueError, match="0th dimension of all xs should be replicated"):
            lax.scan(step, xs[0], reshard(xs, P("x")))

    def test_carries_stay_split(self, mesh):
        with pytest.raises(TypeError, match="must have equal types.*\n*.*shardings do not match"):
            lax.scan(lambda c, _: (reshard(c, P()), None), placed((4,), "x"), None, length=2)


class TestConstraints:
    def test_asserts_over_explicit_axes(self, mesh):
        x, where = placed((4, 4), "x", None), NamedSharding(mesh, P(None, "y"))
        assert lax.with_sharding_constraint(x, P("x")) is x

        def f(x):
            return lax.with_sharding_constraint(x, where)

        for call in (f, jax.jit(f)):
            with pytest.raises(AssertionError, match="acts as an assert when all axes of mesh are"):
                call(x)
        with jax.set_mesh(None), pytest.raises(ValueError, match="can only refer to Auto axes"):
            lax.with_sharding_constraint(x, where)

    def test_open_dimensions(self, mesh):
        with pytest.raises(ValueError, match="cannot contain `P.UNCONSTRAINED` when no mesh axis"):
            NamedSharding(mesh, P(P.UNCONSTRAINED))
        for options in (
            {"in_shardings": P(P.UNCONSTRAINED)},
            {"out_shardings": P(P.UNCONSTRAINED)},
        ):
            with pytest.raises(ValueError, match="Unconstrained dims are not allowed"):
                jax.jit(lambda x: x, **options)

    def test_axes_of_both_kinds(self):
        types = (AxisType.Explicit, AxisType.Auto)
        made = jax.make_mesh((2, 2), ("x", "y"), axis_types=types)
        with jax.set_mesh(made):
            x = placed((4, 4), "x", None)
            both = jax.jit(lambda x: lax.with_sharding_constraint(x, P("y")))(x)
            assert both.sharding.spec == P(("x", "y"))
            with pytest.raises(ValueError, match="can only refer to Auto axes of the mesh"):
                lax.with_sharding_constraint(x, P("x"))
            with pytest.raises(ValueError, match="reshard cannot contain axis names"):
                reshard(x, P("y"))


class TestAbstractMeshes:
    def test_stand_for_the_mesh_of_the_array(self):
        made = jax.make_mesh((2, 2), ("x", "y"), axis_types=AUTO)
        x = jax.device_put(np.arange(16.0).reshape(8, 2), NamedSharding(made, P("x", "y")))
        where = NamedSharding(made.abstract_mesh, P("x"))

        def f(x):
            return lax.with_sharding_constraint(x, where) * 2

        for call in (f, jax.jit(f)):
            assert call(x).sharding == NamedSharding(made, P("x"))
        assert jax.jit(jax.vmap(f))(x).sharding == NamedSharding(made, P(None, "x"))
        named = jax.jit(jax.vmap(f, spmd_axis_name="y"))(x)
        assert named.sharding == NamedSharding(made, P("y", "x"))
        np.testing.assert_array_equal(named, 2 * np.asarray(x))

    def test_without_an_array_that_has_one(self):
        made = jax.make_mesh((2,), ("x",), axis_types=AUTO[:1])
        where = NamedSharding(made.abstract_mesh, P("x"))
        with pytest.raises(ValueError, match="requires the input passed should be a `jax.Array`"):
            lax.with_sharding_constraint(np.arange(8), where)
        with pytest.raises(TypeError, match="sharding on the input must be a `NamedSharding`"):
            lax.with_sharding_constraint(jnp.arange(8), where)
        x = jax.device_put(np.arange(8), NamedSharding(made, P("x")))
        other = jax.make_mesh((2,), ("y",), axis_types=AUTO[:1]).abstract_mesh
        with pytest.raises(ValueError, match="Mesh shape of the input .* does not match the mesh"):
            lax.with_sharding_constraint(x, NamedSharding(other, P("y")))

    def test_zeros_like_a_struct(self, mesh):
        struct = jax.ShapeDtypeStruct((32,), jnp.float32, sharding=NamedSharding(mesh, P("x")))
        assert jnp.zeros_like(struct).sharding == NamedSharding(mesh, P("x"))
        over = NamedSharding(mesh.abstract_mesh, P("y"))
        struct = jax.ShapeDtypeStruct((32,), jnp.float32, sharding=over)
        assert jnp.ones_like(struct).sharding == NamedSharding(mesh, P("y"))


class TestDevices:
    def test_constraints_elsewhere(self):
        made = jax.make_mesh((2,), ("x",), axis_types=AUTO[:1])
        first = jax.device_put(jnp.zeros(8), jax.devices()[0])

        def f(x):
            return lax.with_sharding_constraint(x, NamedSharding(made, P("x")))

        with pytest.raises(ValueError, match=r"argument x of f .* ids \[0\] .*\[0, 1\]"):
            jax.jit(f)(first)
        assert jax.jit(f)(jnp.zeros(8)).sharding.spec == P("x")

    def test_spmd_axis_name(self):
        made = jax.make_mesh((2, 2), ("x", "y"), axis_types=AUTO)
        xs = jnp.zeros((4, 16))

        def f(where):
            return lambda x: lax.with_sharding_constraint(x, where)

        with pytest.raises(ValueError, match="is vmap's spmd_axis_name"):
            jax.vmap(f(NamedSharding(made, P("x"))), spmd_axis_name="x")(xs)
        one = jax.sharding.SingleDeviceSharding(jax.devices()[0])
        with pytest.raises(ValueError, match="run your jitted function inside the mesh context"):
            jax.jit(jax.vmap(f(one), spmd_axis_name="x"))(xs)
        with pytest.raises(ValueError, match="got sharding None which is not allowed"):
            lax.with_sharding_constraint(xs, None)
