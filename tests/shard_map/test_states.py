"""tests/shard_map/test_states.py - values that are unreduced or reduced over mesh axes, within
shard_map: types, casts, what goes with them, what raises, derivatives. Expectations are JAX
0.10.2's."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax
from shardax._base.manual_axes import ManualAxisType
from shardax.sharding import AxisType, P, ShardingTypeError, reshard


def placed(value, *spec, **sums):
    return jax.device_put(jnp.asarray(value, jnp.float32), P(*spec, **sums))


def states(x):
    mat = jax.typeof(x).mat
    return mat.varying, mat.unreduced, mat.reduced


def mapped(f, out_specs, **options):
    """`f` over blocks that come as arguments are split, eagerly and staged."""
    return [jax.shard_map(f, out_specs=out_specs, **options),
            jax.jit(jax.shard_map(f, out_specs=out_specs, **options))]  # fmt: skip


def test_casts_between_states(mesh):
    def f(x):
        assert states(x) == ({"x"}, set(), set())
        term = lax.pcast(x, "x", to="unreduced")
        assert states(term) == (set(), {"x"}, set())
        total = lax.psum(term + term, "x")
        assert states(total) == (set(), set(), set())
        shared = lax.pcast(total, "y", to="reduced")
        assert states(shared) == (set(), set(), {"y"})
        assert states(lax.pcast(shared, "y", to="varying")) == ({"y"}, set(), set())
        return total

    values = np.arange(8.0)
    for g in mapped(f, P(None)):
        np.testing.assert_array_equal(g(placed(values, "x")), 2 * (values[:4] + values[4:]))


def test_types_are_shown(mesh):
    def f(x):
        return lax.psum(lax.pcast(x, "y", to="unreduced"), "y")

    text = str(
        jax.make_jaxpr(jax.shard_map(f, out_specs=P("x")))(placed(np.ones((2, 2)), "x", "y"))
    )
    assert "vary_unreduced_cast[axes=('y',)]" in text
    assert "{V:x, U:y} =" in text and "unreduced_psum[axes=('y',)]" in text


@pytest.mark.parametrize(
    ("axes", "to", "says"),
    [
        ("x", "varying", "Unsupported pcast from=varying, to='varying'"),
        ("x", "reduced", "Unsupported pcast from=varying, to='reduced'"),
        ("y", "unreduced", "vary_unreduced_cast is a Varying->Unreduced collective"),
        (("x", "y"), "open", "unexpected `to` value 'open'"),
    ],
)
def test_casts_that_there_are_not(mesh, axes, to, says):
    x = placed(np.ones(4), "x")
    with pytest.raises(ValueError, match=says):
        jax.shard_map(lambda x: lax.pcast(x, axes, to=to), out_specs=P())(x)


def test_axes_of_several_states_are_named_apart(mesh):
    def f(x):
        return lax.psum(lax.pcast(x, "x", to="unreduced"), ("x", "y"))

    x = placed(np.ones(4), "x")
    with pytest.raises(ValueError, match="psum can only accept axis_name which corresponds to one"):
        jax.shard_map(f, out_specs=P())(x)
    with pytest.raises(ValueError, match="pcast can only accept .* 'x' and invarying over 'y'"):
        jax.shard_map(lambda x: lax.pcast(x, ("x", "y"), to="unreduced"), out_specs=P())(x)


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        (jnp.sin, NotImplementedError, "unreduced rule for sin is not implemented"),
        (lambda x: x * x, ShardingTypeError, "cannot be unreduced since mul is bilinear"),
        (lambda x: x + jnp.ones(2), ShardingTypeError, "lhs is unreduced while rhs is not"),
        (lambda x: x * jnp.ones(2), ShardingTypeError, "RHS should be reduced along the same axes"),
        (lambda x: lax.pmax(x, "x"), ValueError, "pmax cannot accept args which are unreduced"),
        (lambda x: lax.pvary(x, "x"), ValueError, "Unsupported pcast from=unreduced"),
    ],
)
def test_what_is_not_linear_raises(mesh, wrong, error, says):
    for g in mapped(lambda x: wrong(lax.pcast(x, "x", to="unreduced")), P()):
        with pytest.raises(error, match=says):
            g(placed(np.ones(4), "x"))


def test_numbers_multiply_terms(mesh):
    def f(x):
        scaled = lax.pcast(x, "x", to="unreduced") * 3.0
        assert states(scaled)[1] == {"x"}
        return lax.psum(scaled, "x")

    for g in mapped(f, P()):
        np.testing.assert_array_equal(g(placed(np.arange(4.0), "x")), [6.0, 12.0])


def test_infinite_sums_have_no_terms_that_are_nan(mesh):
    x = placed(np.array([1.0, np.inf, -np.inf, 2.0]), unreduced={"x"})
    for check in (True, False):
        f = jax.shard_map(lambda x: lax.psum(x, "x"), in_specs=P(unreduced={"x"}),
                          out_specs=P(), check_vma=check)  # fmt: skip
        np.testing.assert_array_equal(f(x), [1.0, np.inf, -np.inf, 2.0])
    np.testing.assert_array_equal(terms(-x)[0], [-1.0, -np.inf, np.inf, -2.0])
    np.testing.assert_array_equal(terms(-x)[2], np.zeros(4))


def test_results_are_in_the_state_that_specs_say(mesh):
    x = placed(np.arange(4.0), "x")
    with pytest.raises(ValueError, match="out_specs .* equal to the unreduced present"):
        jax.shard_map(lambda x: lax.pcast(x, "x", to="unreduced"), out_specs=P())(x)
    with pytest.raises(ValueError, match="out_specs .* equal to the reduced present"):
        jax.shard_map(lambda x: lax.psum(x, "x"), out_specs=P(reduced={"x"}))(x)


def test_scattered_sums_and_gathered_values_are_each_others_transposes(mesh):
    def gathered(x):
        y = lax.all_gather(x, "x", tiled=True, to="reduced")
        assert states(y) == (set(), set(), {"x"})
        return y

    def scattered(x):
        y = lax.psum_scatter(lax.pcast(x, "x", to="unreduced"), "x", tiled=True)
        assert states(y) == ({"x"}, set(), set())
        return y

    def to_reduced(x):
        return reshard(jax.shard_map(gathered, out_specs=P(reduced={"x"}))(x), P()).sum()

    def to_parts(x):
        return jax.shard_map(scattered, out_specs=P("x"))(x).sum()

    x = placed(np.arange(8.0), "x")
    for f in (to_reduced, to_parts):
        text = str(jax.make_jaxpr(jax.grad(f))(x))
        assert "all_gather_reduced" in text and "unreduced_reduce_scatter" in text
    out = jax.shard_map(scattered, out_specs=P("x"))(x)
    np.testing.assert_array_equal(out, np.arange(8.0).reshape(2, 4).sum(0))


def test_cotangents_of_what_is_reduced_are_terms(mesh):
    weights = placed(np.arange(1.0, 3.0), None, reduced={"x"})
    batch = placed(np.arange(8.0).reshape(4, 2), "x", None)

    def loss(w, x):
        assert states(w)[2] == {"x"}
        return lax.psum(jnp.sum(jnp.sin(x * w)), "x")

    whole = jax.grad(lambda w, x: jnp.sum(jnp.sin(x * w)))(
        jnp.arange(1.0, 3.0), jnp.arange(8.0).reshape(4, 2)
    )
    for g in mapped(loss, P()):
        out = jax.grad(g)(weights, batch)
        assert jax.typeof(out).sharding.spec == P(None, unreduced={"x"})
        np.testing.assert_allclose(reshard(out, P(None)), whole, rtol=1e-6)


def test_second_derivatives_through_states(mesh):
    x = placed(np.linspace(0.1, 0.8, 4), "x")

    def f(x):
        total = lax.psum(lax.pcast(jnp.sin(x), "x", to="unreduced"), "x")
        return jnp.sum(total**2)

    def plain(x):
        return jnp.sum(jnp.sum(jnp.sin(x).reshape(2, 2), 0) ** 2)

    hessian = jax.hessian(lambda x: jax.shard_map(f, in_specs=P("x"), out_specs=P())(x))(x)
    np.testing.assert_allclose(
        hessian, jax.hessian(plain)(jnp.asarray(np.array(x))), rtol=1e-4, atol=1e-6
    )


def test_a_manual_axis_type():
    mat = ManualAxisType(varying={"x"}, reduced={"y"})
    assert mat.to_ct_mat() == ManualAxisType(varying={"x"}, unreduced={"y"})
    assert mat.update(reduced=()) == ManualAxisType(varying={"x"}) and not mat.empty
    with pytest.raises(ValueError, match="varying and unreduced cannot have common mesh axes"):
        ManualAxisType(varying={"x"}, unreduced={"x"})
    made = jax.ShapeDtypeStruct((2,), jnp.float32, manual_axis_type=mat)
    assert made.manual_axis_type == mat


def test_invarying_axes(mesh):
    def f(x):
        assert x.mat.invarying(jax.sharding.get_abstract_mesh()) == {"y"}
        return x

    jax.shard_map(f, out_specs=P("x"))(placed(np.ones(4), "x"))


# ---- what each device has ------------------------------------------------------------------------


def terms(x):
    return [np.asarray(shard.data) for shard in x.addressable_shards]


def test_shards_of_a_product_are_its_parts(mesh):
    a, b = np.arange(8.0).reshape(2, 4), np.arange(8.0).reshape(4, 2)
    args = placed(a, "x", "y"), placed(b, "y", None)

    def product(a, b):
        return jnp.dot(a, b, out_sharding=P("x", None, unreduced={"y"}))

    expected = [a[:1, :2] @ b[:2], a[:1, 2:] @ b[2:], a[1:, :2] @ b[:2], a[1:, 2:] @ b[2:]]
    for f in (product, jax.jit(product)):
        np.testing.assert_array_equal(terms(f(*args)), expected)
    np.testing.assert_array_equal(terms(-product(*args)), np.negative(expected))


def test_shards_of_a_mapped_functions_result_are_its_blocks(mesh):
    x = placed(np.arange(8.0), "x")
    for check in (True, False):
        for f in mapped(lambda x: x, P(unreduced={"x"}), in_specs=P("x"), check_vma=check):
            out = f(x)
            assert out.shape == (4,)
            halves = np.arange(4.0), np.arange(4.0, 8.0)
            np.testing.assert_array_equal(terms(out), np.repeat(halves, 2, 0))
            back = jax.shard_map(lambda x: lax.psum(x, "x"), in_specs=P(unreduced={"x"}),
                                 out_specs=P())(out)  # fmt: skip
            np.testing.assert_array_equal(back, sum(halves))


def test_each_device_counts_what_it_has(mesh):
    ids = placed([0, 1, 1, 2], "x").astype(jnp.int32)
    spread = placed([0, 1, 1, 2], ("x", "y")).astype(jnp.int32)
    for f in (jnp.bincount, jax.jit(jnp.bincount, static_argnames=("length", "out_sharding"))):
        counts = f(spread, length=3, out_sharding=P(unreduced={"x", "y"}))
        np.testing.assert_array_equal(terms(counts), [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]])
        np.testing.assert_array_equal(reshard(counts, P()), [1, 2, 1])
    for spec in (P("x"), P(unreduced={"x"}), P(reduced={"x", "y"})):
        with pytest.raises(ShardingTypeError, match="only be fully replicated or fully unreduced"):
            jnp.bincount(ids, length=3, out_sharding=spec)
    rows = placed(np.arange(8.0).reshape(4, 2), "x")
    sums = jax.ops.segment_sum(rows, ids, num_segments=3, out_sharding=P(unreduced={"x"}))
    np.testing.assert_array_equal(terms(sums)[2], [[0, 0], [4, 5], [6, 7]])
    with pytest.raises(NotImplementedError, match="leaves a sum to do, and this is no sum"):
        jax.ops.segment_max(rows, ids, num_segments=3, out_sharding=P(unreduced={"x"}))


def test_resharding_to_a_sum_keeps_what_devices_have(mesh):
    whole = reshard(jnp.arange(4.0), P(unreduced={"x"}))
    np.testing.assert_array_equal(terms(whole)[0], np.arange(4.0))
    assert not terms(whole)[2].any()
    split = jax.jit(lambda x: reshard(x, P(unreduced={"x"})))(placed(np.arange(4.0), "x"))
    np.testing.assert_array_equal(terms(split)[0], [0, 1, 0, 0])
    np.testing.assert_array_equal(terms(split)[2], [0, 0, 2, 3])
    np.testing.assert_array_equal(reshard(split, P()), np.arange(4.0))


# ---- the program of parts ---------------------------------------------------------------------


def test_a_carry_that_is_left_to_sum_is_added_up_once(mesh):
    w = placed(np.ones((4, 4)), reduced={"x"})
    batches = placed(np.arange(48.0).reshape(3, 4, 4), None, "x", None)

    @jax.jit
    def step(w, batches):
        def add(total, batch):
            return total + jax.grad(lambda w: jnp.sum(jnp.dot(batch, w)))(w), None

        zero = reshard(jnp.zeros_like(w), P(unreduced={"x"}))
        total, _ = lax.scan(add, zero, batches)
        return reshard(w, P()) - reshard(total, P())

    expected = 1 - np.arange(48.0).reshape(12, 4).sum(0)[:, None] * np.ones((4, 4))
    np.testing.assert_allclose(step(w, batches), expected)
    text = step.lower(w, batches).compile().as_text()
    assert text.count("all-reduce(") == 1


def test_functions_of_blocks_are_entered(mesh):
    x = placed(np.arange(16.0).reshape(8, 2), "x", "y")

    def f(x):
        return jax.shard_map(lambda v: lax.psum(v, "y"), out_specs=P("x"))(jnp.sin(x)) * 2

    text = jax.jit(f).lower(x).compile().as_text()
    assert text.count("all-reduce(") == 1 and "f32[4,1]" in text


def test_gradients_of_tables_are_added_up_once(mesh):
    table, ids = placed(np.ones((6, 4))), placed(np.arange(8) % 6, "x").astype(jnp.int32)

    def loss(table, ids):
        return jnp.sum(jnp.sin(table.at[ids].get(out_sharding=where)))

    where = P("x", None)
    whole = jax.grad(lambda table: jnp.sum(jnp.sin(table[np.arange(8) % 6])))(jnp.ones((6, 4)))
    step = jax.jit(jax.grad(loss), out_shardings=jax.NamedSharding(mesh, P()))
    np.testing.assert_allclose(step(table, ids), whole, rtol=1e-6)
    text = step.lower(table, ids).compile().as_text()
    assert text.count("all-reduce(") == 1 and "all-gather" not in text


def test_types_say_what_varies_where_functions_run_op_by_op():
    """Functions that print do; values that devices share may be made to vary there."""
    mesh = jax.make_mesh((2, 4), ("i", "j"), axis_types=(AxisType.Auto,) * 2)
    seen = []

    def f(x):
        print(end="")
        y, z = lax.pcast(x, "i", to="varying"), lax.pcast(x, ("i", "j"), to="varying")
        again = lax.pcast(y, "j", to="varying")
        seen.extend(str(jax.typeof(v)) for v in (x, y, z, again, 2 * y + x, lax.psum(z, "i")))
        return z + again

    out = jax.shard_map(f, mesh=mesh, in_specs=P(), out_specs=P(("i", "j")))(jnp.arange(2.0))
    both, first = "float32[2]{V:(i,j)}", "float32[2]{V:i}"
    assert seen == ["float32[2]", first, both, both, first, "float32[2]{V:j}"]
    np.testing.assert_array_equal(out, np.tile([0.0, 2.0], 8))


def mean_square(p):
    return jnp.mean(p**2)


def test_tangents_vary_where_primals_do():
    m = jax.make_mesh((2,), ("x",), axis_types=(AxisType.Auto,))
    p = jnp.array([1.0])

    def tangent(t, p=p):
        return jax.linearize(mean_square, p)[1](t).reshape(1)

    def cotangent(t, p=p):
        return jax.vjp(mean_square, p)[1](t[0])[0]

    for f, text in (
        (tangent, r"pcast\(\.\.\., \('x',\), to='varying'\)` to the primal value passed to"),
        (cotangent, r"argument to VJP function: got float32\[\]\{V:x\}, but expected float32\[\]"),
    ):
        mapped = jax.shard_map(f, mesh=m, in_specs=P("x"), out_specs=P("x"))
        with pytest.raises(ValueError, match=text):
            mapped(jnp.ones(2))
        own = jax.shard_map(
            lambda t, f=f: f(t, lax.pcast(p, "x", to="varying")),
            mesh=m,
            in_specs=P("x"),
            out_specs=P("x"),
        )
        np.testing.assert_array_equal(own(jnp.ones(2)), [2, 2])
        jax.shard_map(f, mesh=m, in_specs=P("x"), out_specs=P("x"), check_vma=False)(jnp.ones(2))
