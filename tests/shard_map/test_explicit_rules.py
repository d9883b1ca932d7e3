"""tests/shard_map/test_explicit_rules.py - splits of results of single ops over explicit axes, in
functions with axes of other types, in ShapeDtypeStructs, and as text. As JAX 0.10.2 has it."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax
from shardax.experimental.layout import Format, Layout
from shardax.sharding import (
    AxisType,
    NamedSharding,
    P,
    ShardingTypeError,
    auto_axes,
    explicit_axes,
    reshard,
    use_abstract_mesh,
)

EXPLICIT, AUTO = (AxisType.Explicit,) * 2, (AxisType.Auto,) * 2


def placed(shape, *spec, dtype=jnp.float32):
    values = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    return jax.device_put(jnp.asarray(values, dtype), P(*spec))


def spec_of(x):
    return jax.typeof(x).sharding.spec


SPLITS = {
    "rows picked": (lambda x: x[:, jnp.array([3, 0, 2])], ("x", None), P("x", None)),
    "whole rows": (lambda x: x[jnp.array([3, 0])], (None, "y"), P(None, "y")),
    "window": (lambda x: lax.dynamic_slice(x, (1, 0), (4, 8)), ("x", None), P("x", None)),
    "update": (
        lambda x: lax.dynamic_update_slice(x, x[:, :2], (0, 3)),
        ("x", None),
        P("x", None),
    ),
    "pooled": (
        lambda x: lax.reduce_window(x, 0.0, lax.add, (2, 1), (2, 1), "VALID"),
        ("x", "y"),
        P("x", "y"),
    ),
    "padded": (lambda x: jnp.pad(x, ((2, 2), (0, 0))), ("x", None), P("x", None)),
}


@pytest.mark.parametrize("name", SPLITS)
def test_results_are_split(mesh, name):
    f, given, expected = SPLITS[name]
    x = placed((8, 8), *given)
    whole = jnp.asarray(np.asarray(x))
    for g in (f, jax.jit(f)):
        assert spec_of(g(x)) == expected
        np.testing.assert_allclose(g(x), f(whole))
    slope = jax.grad(lambda x: f(x).sum())(x)
    assert spec_of(slope) == P(*given)
    np.testing.assert_allclose(slope, jax.grad(lambda x: f(x).sum())(whole))


def test_images_stay_split_along_rows(mesh):
    x = placed((4, 2, 8), "x", None, "y")
    out = lax.conv_general_dilated(x, jnp.ones((3, 2, 1)), (1,), "VALID")
    assert spec_of(out) == P("x", None, "y")


def test_convolutions_are_split_as_asked(mesh):
    x, kernel = placed((4, 2, 8), "x", None, None), placed((2, 2, 3), "y", None, None)
    whole = lax.conv(jnp.asarray(np.asarray(x)), jnp.asarray(np.asarray(kernel)), (1,), "SAME")

    def f(x, kernel):
        return lax.conv_general_dilated(x, kernel, (1,), "SAME", out_sharding=P("x", "y"))

    for g in (f, jax.jit(f)):
        assert spec_of(g(x, kernel)) == P("x", "y", None)
        np.testing.assert_allclose(g(x, kernel), whole)
    slopes = jax.grad(lambda *a: f(*a).sum(), (0, 1))(x, kernel)
    assert [spec_of(s) for s in slopes] == [P("x", None, None), P("y", None, None)]
    for operands in [(x, kernel), (placed((4, 2, 8), None, "y"), jnp.ones((2, 2, 3)))]:
        with pytest.raises(ShardingTypeError, match="out_sharding.*conv_general_dilated"):
            lax.conv_general_dilated(*operands, (1,), "SAME")
    with pytest.raises(ShardingTypeError, match=r"conv_general_dilated on sharded dims.*\(5\)"):
        lax.conv(placed((4, 2, 8), None, None, "x"), jnp.ones((2, 2, 4)), (1,), "VALID")


def test_ragged_products_are_split_as_asked(mesh):
    x, w = placed((8, 4), "x", None), placed((2, 4, 6), None, None, "y")
    out = lax.ragged_dot(x, w, jnp.array([3, 5]), out_sharding=P(None, "y"))
    assert spec_of(out) == P(None, "y")
    np.testing.assert_allclose(out[:3], np.asarray(x)[:3] @ np.asarray(w)[0])


OPEN = {
    "split indices": (
        lambda x: x[placed((4,), "x", dtype=jnp.int32)],
        "at.*out sharding could not be resolved",
    ),
    "split rows": (lambda x: x[jnp.array([1, 0])], "at.*out sharding could not be resolved"),
    "joined": (
        lambda x: jnp.concatenate([x, placed((8, 8), None, "y")]),
        "All operands should have the same sharding",
    ),
    "padding": (lambda x: jnp.pad(x, ((0, 1), (0, 0))), "padding on sharded dims where out dim"),
    "slicing": (lambda x: lax.slice(x, (0, 0), (3, 8)), "slic.* on sharded dims where out dim"),
    "batches": (
        lambda x: jnp.einsum("ij,ij->i", x, placed((8, 8), "y", None)),
        "batch dimensions to have the consistent sharding",
    ),
}


@pytest.mark.parametrize("name", OPEN)
def test_what_is_open_raises(mesh, name):
    f, says = OPEN[name]
    for g in (f, jax.jit(f)):
        with pytest.raises(ShardingTypeError, match=says):
            g(placed((8, 8), "x", None))


def test_derivatives_of_what_was_asked_for(mesh):
    """Rules of derivatives do not ask again how results are split."""
    a, b = placed((8, 4), "x", "y"), placed((4, 8), "y", None)

    def f(a, b):
        return jnp.dot(a, b, out_sharding=P("x", None)).sum()

    for g in (jax.grad(f, (0, 1)), jax.jit(jax.grad(f, (0, 1)))):
        slopes = g(a, b)
        assert [spec_of(s) for s in slopes] == [P("x", "y"), P("y", None)]
        np.testing.assert_allclose(slopes[0], np.ones((8, 8)) @ np.asarray(b).T)


def test_axes_become_auto_and_explicit_within_functions(mesh):
    seen = []

    @auto_axes(axes="x", out_sharding=P("x", None))
    def inner(y):
        seen.append((spec_of(y), spec_of(jnp.sin(y))))
        return jnp.einsum("ij,kj->ik", y, y, out_sharding=P(None, None))

    x = placed((8, 2), "x", "y")
    for f in (inner, jax.jit(lambda x: inner(x * 1))):
        seen.clear()
        assert spec_of(f(x)) == P("x", None)
        assert seen[0] == (P(None, "y"), P(None, "y"))


def test_axes_become_explicit_within_functions():
    auto = jax.make_mesh((2, 2), ("x", "y"), axis_types=AUTO)
    x = jax.device_put(jnp.ones((8, 4)), NamedSharding(auto, P("x", "y")))
    seen = []

    @explicit_axes(in_sharding=(P("x", None), P(None, "y")))
    def product(a, b):
        seen.append(spec_of(a @ b))
        return a @ b

    with jax.set_mesh(auto):
        out = jax.jit(lambda x: product(x, x.T) + 1)(x)
        changed = auto.abstract_mesh.update_axis_types(dict.fromkeys("xy", AxisType.Explicit))
        with use_abstract_mesh(changed):
            assert spec_of(reshard(x, P(None, "y"))) == P(None, "y")
    assert seen == [P("x", "y")] and out.sharding.mesh == auto
    np.testing.assert_allclose(out, np.full((8, 8), 5.0))


def test_axes_that_stay_automatic_go_on_splitting():
    auto = jax.make_mesh((2, 2), ("x", "y"), axis_types=AUTO)
    x = jax.device_put(jnp.ones((8, 2)), NamedSharding(auto, P("x", "y")))

    @explicit_axes(axes="y", in_sharding=P(None, "y"))
    def product(y):
        assert spec_of(y) == P(None, "y")
        return jnp.einsum("ab,cb->ac", y, y, out_sharding=P(None, "y"))

    with jax.set_mesh(auto):
        f = jax.jit(lambda x: product(x * 2))
        assert f(x).sharding == NamedSharding(auto, P("x", "y"))
        text = str(jax.make_jaxpr(f)(x))
    assert text.count("reshard") == 3 and "sharding_constraint" not in text


def test_modes_take_their_mesh_from_shardings():
    mesh = jax.make_mesh((2, 2), ("x", "y"), axis_types=EXPLICIT)
    x = jax.device_put(jnp.ones((8, 2)), NamedSharding(mesh, P("x", "y")))
    f = auto_axes(lambda x: x * 2, out_sharding=NamedSharding(mesh, P("x", "y")))
    assert f(x).sharding == NamedSharding(mesh, P("x", "y"))
    assert auto_axes(lambda x: x, out_sharding=P("x"))(x) is x  # of no mesh


def test_new_arrays_have_an_entry_for_each_dimension(mesh):
    for x in (
        jnp.array(np.ones((4, 2)), out_sharding=P("x")),
        jnp.zeros((4, 2), out_sharding=P("x")),
        jnp.zeros_like(placed((4, 2), "x", None)),
    ):
        assert x.sharding == NamedSharding(mesh, P("x", None))
    assert jax.device_put(np.ones((4, 2)), P("x")).sharding.spec == P("x")


def test_results_are_split_as_asked(mesh):
    x, key = placed((8, 4), "x", "y"), jax.random.key(0)
    for out in (
        lax.reduce_max(x, (1,), out_sharding=P("y")),
        lax.reduce(x, 0.0, lax.add, (1,), out_sharding=P("y")),
        jax.nn.initializers.he_normal()(key, (4, 4), jnp.float32, P("y")),
        jax.nn.initializers.constant(2.0)(key, (4, 4), out_sharding=P("y")),
        jax.nn.initializers.zeros(key, (4, 4), jnp.float32, P("y")),
    ):
        assert spec_of(out)[0] == "y"
    sums = lax.reduce_sum(x, (0,), out_sharding=P("y", unreduced={"x"}))
    assert spec_of(sums) == P("y", unreduced={"x"})


def test_shape_structs_say_how_arrays_are_split(mesh):
    struct = jax.ShapeDtypeStruct((8, 2), jnp.float32, sharding=NamedSharding(mesh, P("x", "y")))
    seen = []
    jax.jit(lambda x: seen.append(spec_of(x)) or x).lower(struct)
    assert seen == [P("x", "y")]
    assert jax.eval_shape(lambda x: x.T, struct).sharding.spec == P("y", "x")
    named = jax.ShapeDtypeStruct((8, 2), jnp.float32, sharding=P("x"))
    assert named.sharding == NamedSharding(mesh, P("x"))
    assert jax.ShapeDtypeStruct.like(placed((4,), "x")).sharding == NamedSharding(mesh, P("x"))
    assert jax.ShapeDtypeStruct.like(jnp.ones(3).at[0].get()).shape == ()


def test_shape_structs_check_their_shardings():
    mesh = jax.make_mesh((2, 2), ("x", "y"), axis_types=AUTO)
    with pytest.raises(TypeError, match="the context mesh cannot be empty"):
        _ = jax.ShapeDtypeStruct((8,), jnp.float32, sharding=P("x")).sharding
    for where in (P(None, "x", None), NamedSharding(mesh, P(None, "x", None))):
        with pytest.raises(ValueError, match="only valid for values of rank at least 3"):
            jax.ShapeDtypeStruct((4, 4), jnp.float32, sharding=where)
    with pytest.raises(ValueError, match="sharding should be an instance of"):
        jax.ShapeDtypeStruct((4,), jnp.float32, sharding="x")
    with pytest.raises(TypeError, match="should be of type `jax.sharding.ManualAxisType`"):
        jax.ShapeDtypeStruct((4,), jnp.float32, manual_axis_type={"x"})
    laid = jax.ShapeDtypeStruct(
        (4, 4), jnp.float32, sharding=Format(Layout((0, 1)), NamedSharding(mesh, P()))
    )
    assert laid.update(shape=(2, 4)).format == laid.format
    with pytest.raises(ValueError, match="You are updating ShapeDtypeStruct"):
        laid.update(sharding=NamedSharding(mesh, P("x")))


def test_types_take_shardings_and_manual_axes(mesh):
    aval = jax.core.ShapedArray((8, 2), jnp.float32, sharding=NamedSharding(mesh, P("x")))
    assert aval.str_short(True) == "f32[8@x,2]"
    assert aval.update(dtype=jnp.int32).str_short(True) == "i32[8@x,2]"
    sums = NamedSharding(mesh, P(unreduced={"x"}, reduced={"y"}))
    varying = jax.core.ShapedArray((1,), jnp.float32, sharding=sums, vma={"z"})
    assert varying.str_short(True) == "f32[1]{V:z, U:x, R:y}"


def test_programs_show_shardings(mesh):
    a, b = placed((8, 4), "x", None), placed((4, 8), None, "y")

    def f(a, b):
        return reshard(jnp.sin((a @ b).T), P(None, "x"))

    text = jax.jit(f).lower(a, b).as_text()
    for line in """\
mhlo.num_partitions = 4
sdy.mesh @mesh = <["x"=2, "y"=2]>
%arg0: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>
%1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
%6 = sdy.sharding_constraint %5 <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
""".splitlines():
        assert line in text


def test_programs_show_constraints_of_automatic_meshes():
    auto = jax.make_mesh((2, 2), ("x", "y"), axis_types=AUTO)
    where = NamedSharding(auto, P(P.UNCONSTRAINED, "y"))
    f = jax.jit(lambda x: lax.with_sharding_constraint(x * 2, where))
    x = jax.device_put(jnp.ones((4, 4)), NamedSharding(auto, P("x")))
    text = f.lower(x).as_text()
    assert '%arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}' in text
    assert 'sdy.sharding_constraint %1 <@mesh, [{?}, {"y"}]> : tensor<4x4xf32>' in text
    params = jax.make_jaxpr(f)(x).eqns[0].params["jaxpr"].eqns[-1].params
    assert params["sharding"].spec == P(None, "y")


def test_text_says_how_a_branchs_result_is_split(mesh):
    x = jax.device_put(jnp.arange(8), P("x"))
    f = jax.jit(lambda x: lax.cond(True, lambda x: x, lambda x: -x, x))
    text = f.lower(x).as_text()
    assert text.index("stablehlo.case") < text.rindex("sdy.sharding_constraint")


def test_decompositions_keep_how_stacks_are_split(mesh):
    x = jax.reshard(jnp.broadcast_to(2 * jnp.eye(4), (8, 4, 4)), P("x"))
    assert jax.typeof(lax.linalg.cholesky(x)).sharding.spec == P("x", None, None)
    assert [jax.typeof(y).sharding.spec for y in lax.linalg.svd(x)] == [
        P("x", None, None), P("x", None), P("x", None, None)]  # fmt: skip
    whole = jax.reshard(x, P(None, "y"))
    message = r"Input 0 to cholesky must be unsharded on non-batch dimensions.*P\(None, 'y', None\)"
    with pytest.raises(jax.errors.ShardingTypeError, match=message):
        lax.linalg.cholesky(whole, symmetrize_input=False)
    message = r"All inputs to triangular_solve must have the same batch sharding.*P\('y'\)"
    with pytest.raises(jax.errors.ShardingTypeError, match=message):
        lax.linalg.triangular_solve(x, jax.reshard(x, P("y")))
