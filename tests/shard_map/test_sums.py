"""tests/shard_map/test_sums.py - arrays that stand for sums over mesh axes: types, what goes with
them, what raises, derivatives, shards and shard_map. Expectations are JAX 0.10.2's."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax
from shardax.sharding import AxisType, NamedSharding, P, ShardingTypeError, reshard


@pytest.fixture(autouse=True)
def mesh():
    made = jax.make_mesh((2, 2), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)
    with jax.set_mesh(made):
        yield made


def placed(value, *spec, **sums):
    return jax.device_put(jnp.asarray(value, jnp.float32), P(*spec, **sums))


def spec_of(x):
    return jax.typeof(x).sharding.spec


def left_to_sum():
    a = placed(np.arange(16.0).reshape(8, 2), "x", "y")
    b = placed(np.arange(16.0).reshape(2, 8), "y", None)
    return jnp.dot(a, b, out_sharding=P("x", None, unreduced={"y"})), np.dot(a, b)


def test_a_product_is_left_to_sum_and_resharding_sums_it():
    x, whole = left_to_sum()
    assert spec_of(x) == P("x", None, unreduced={"y"})
    assert "unreduced={'y'}" in repr(x.sharding)
    summed = reshard(x, P("x", None))
    assert summed.sharding.spec == P("x", None)
    np.testing.assert_allclose(summed, whole)
    staged = jax.jit(lambda: reshard(left_to_sum()[0], P("x", None)))()
    np.testing.assert_allclose(staged, whole)


def test_shards_add_up():
    x, whole = left_to_sum()
    total = np.zeros_like(whole)
    for shard in x.addressable_shards:
        total[shard.index] += np.asarray(shard.data)
    np.testing.assert_allclose(total, whole)


@pytest.mark.parametrize(
    "linear",
    [
        lambda x: -x,
        lambda x: x + x,
        lambda x: x - x,
        lambda x: x.T,
        lambda x: x.reshape(4, 2, 8),
        lambda x: x.sum(1),
        lambda x: jnp.concatenate([x, x], 1),
        lambda x: x.astype(jnp.bfloat16),
        lambda x: jnp.where(placed(np.ones((8, 8)), "x") > 0, x, x),
        lambda x: x * placed(np.ones((8, 8)), "x", reduced={"y"}),
    ],
)
def test_what_is_linear_stays_to_be_summed(linear):
    x, _ = left_to_sum()
    for f in (linear, jax.jit(linear)):
        assert spec_of(f(x)).unreduced == {"y"}


def test_batches_stay_to_be_summed():
    x, whole = left_to_sum()
    for f in (lambda x: -x, lambda x: reshard(x, P(None, unreduced={"y"}))):
        out = jax.vmap(f, 1)(x)
        assert spec_of(out).unreduced == {"y"}
        assert out.shape == whole.T.shape


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        (lambda x: jnp.sin(x), NotImplementedError, "unreduced rule for sin is not implemented"),
        (lambda x: x * x, ShardingTypeError, "cannot be unreduced since mul is bilinear"),
        (
            lambda x: x + placed(np.ones((8, 8)), "x"),
            ShardingTypeError,
            "lhs is unreduced while rhs is not.*reduce lhs via `reshard`",
        ),
        (
            lambda x: x * placed(np.ones((8, 8)), "x"),
            ShardingTypeError,
            "RHS should be reduced along the same axes LHS is unreduced on",
        ),
        (lambda x: x @ x.T, ShardingTypeError, "dot_general cannot be unreduced"),
        (lambda x: jnp.sort(x, 1), NotImplementedError, "rule for sort is not implemented"),
    ],
)
def test_what_is_not_linear_raises(wrong, error, says):
    x, _ = left_to_sum()
    with pytest.raises(error, match=says):
        wrong(x)
    with pytest.raises(error, match=says):
        jax.jit(wrong)(x)


def test_reduced_operands_agree():
    x, y = placed(np.ones(4), reduced={"x"}), placed(np.ones(4), reduced={"y"})
    with pytest.raises(ShardingTypeError, match="reduced across the same mesh axes"):
        x + y
    with pytest.raises(ShardingTypeError, match="replicated on the same axes"):
        x + placed(np.ones(4))
    with pytest.raises(ShardingTypeError, match="sharded/varying on the same axes"):
        x * placed(np.ones(4), "x")
    assert spec_of(jnp.sin(x)).reduced == {"x"}


def test_cotangents_of_what_is_reduced_are_unreduced():
    x = placed(np.arange(4.0), None, reduced={"x"})
    gradient = jax.grad(lambda x: jnp.sum(x * x))
    for f in (gradient, jax.jit(gradient)):
        out = f(x)
        assert spec_of(out) == P(None, unreduced={"x"})
        np.testing.assert_allclose(reshard(out, P(None)), 2 * np.arange(4.0))


def test_programs_show_sums():
    text = jax.jit(lambda: left_to_sum()[0]).lower().as_text()
    assert '[{"x"}, {}], unreduced={"y"}' in text


def test_exported_programs_keep_sums():
    def f(a, b):
        return jnp.dot(a, b, out_sharding=P("x", None, unreduced={"y"}))

    a, b = placed(np.ones((8, 2)), "x", "y"), placed(np.ones((2, 8)), "y", None)
    exported = jax.export.export(jax.jit(f))(a, b)
    again = jax.export.deserialize(exported.serialize())
    assert spec_of(again.call(a, b)).unreduced == {"y"}


def test_shard_map_gives_and_takes_terms(mesh):
    values = np.arange(8.0, dtype=np.float32).reshape(4, 2)

    @jax.jit
    @jax.shard_map(in_specs=P("x", None), out_specs=P(None, unreduced={"x"}))
    def terms(block):
        return block.sum(0)

    out = terms(placed(values, "x", None))
    assert spec_of(out) == P(None, unreduced={"x"})
    np.testing.assert_allclose(reshard(out, P(None)), values.sum(0))

    @jax.shard_map(in_specs=P(None, unreduced={"x"}), out_specs=P())
    def total(term):
        return lax.psum(term, "x")

    np.testing.assert_allclose(total(out), values.sum(0))
    gradient = jax.grad(lambda v: total(terms(v)).sum())(placed(values, "x", None))
    np.testing.assert_allclose(gradient, np.ones((4, 2)))


def test_specs_are_checked(mesh):
    with pytest.raises(ValueError, match="is not found in mesh"):
        NamedSharding(mesh, P(unreduced={"z"}))
    with pytest.raises(ValueError, match="[Uu]nreduced"):
        NamedSharding(mesh, P("x", unreduced={"x"}))


def test_texts_of_one_device_say_where_its_messages_come_from():
    mesh = jax.make_mesh((2,), ("x",), axis_types=(AxisType.Explicit,))
    with jax.set_mesh(mesh):
        x, w = jax.device_put(jnp.ones((8, 4)), P("x", None)), jnp.ones((4, 2))
        f = jax.jit(jax.grad(lambda w, x: jnp.sum((x @ w) ** 2)))
        text = f.lower(w, x).compile().as_text()
    (message,) = [line for line in text.splitlines() if "all-reduce(" in line]
    assert 'metadata={op_name="jit(' in message
    assert "sharding-constraint" not in text


@pytest.mark.parametrize(
    "lhs, rhs, unreduced, text",
    [
        (P("x", "y"), P("y", None), "x", "unreduced axes should be equal to the contracting specs"),
        (P("x", "y"), P(None, None), "y", "contracting dims should be sharded identically"),
        (P("x", None), P(None, None), "y", "unreduced axes should be equal to the contracting"),
    ],
)
def test_products_leave_sums_to_do_over_what_splits_both_factors(mesh, lhs, rhs, unreduced, text):
    a, b = jax.device_put(np.ones((8, 2)), lhs), jax.device_put(np.ones((2, 8)), rhs)
    for f in (jnp.einsum, jax.jit(jnp.einsum, static_argnums=0, static_argnames="out_sharding")):
        with pytest.raises(ShardingTypeError, match=text):
            f("ij,jk->ik", a, b, out_sharding=P(unreduced={unreduced}))


def test_reductions_leave_sums_to_do_over_what_splits_what_they_add(mesh):
    x = jax.device_put(np.arange(16.0).reshape(8, 2), P("y", None))
    with pytest.raises(ShardingTypeError, match="should be in operand's specs that were summed"):
        lax.reduce_sum(x, (0,), out_sharding=P(None, unreduced={"x"}))
    out = lax.reduce_sum(x, (0,), out_sharding=P(None, unreduced={"y"}))
    assert jax.typeof(out).sharding.spec == P(None, unreduced={"y"})
    np.testing.assert_array_equal(reshard(out, P()), x.sum(0))


@pytest.mark.parametrize("f", [jnp.reshape, lax.reshape, lambda x, _, **o: jnp.ravel(x, **o)])
def test_reshaped_arrays_are_sums_as_they_were(mesh, f):
    for state in ("unreduced", "reduced"):
        wanted = P(**{state: {"x"}})
        with pytest.raises(ValueError, match=f"`reshape` cannot contain {state} axes"):
            f(jnp.arange(8), (4, 2), out_sharding=wanted)
        x = reshard(jnp.arange(8), wanted)
        with pytest.raises(ValueError, match=f"must be {state} over the same mesh axes as operand"):
            f(x, (4, 2), out_sharding=P("x"))
        spec = jax.typeof(f(x, (4, 2), out_sharding=P("y", **{state: {"x"}}))).sharding.spec
        assert spec.partitions[0] == "y" and getattr(spec, state) == {"x"}


TERMS_OF_REDUCTIONS = [
    ((0,), None, [[0, 56, 112, 168], [256, 320, 384, 448]] * 2),
    ((0,), P(None, unreduced={"y"}), [[0, 56, 112, 168], [256, 320, 384, 448]] * 2),
    (
        (0,),
        P(unreduced={"x", "y"}),
        [[0, 12, 24, 36], [64, 80, 96, 112], [0, 44, 88, 132], [192, 240, 288, 336]],
    ),
    ((0,), P(unreduced={"x"}), [[64, 92, 120, 148]] * 2 + [[192, 284, 376, 468]] * 2),
    ((0, 1), None, [336, 1408] * 2),
    ((0, 1), P(unreduced={"x", "y"}), [72, 352, 264, 1056]),
    ((0, 1), P(unreduced={"x"}), [424, 424, 1320, 1320]),
]


@pytest.mark.parametrize("axes, asked, shards", TERMS_OF_REDUCTIONS)
def test_reductions_of_sums_keep_the_terms_that_they_leave(mesh, axes, asked, shards):
    a = placed(np.arange(16).reshape(8, 2), "x", "y")
    b = placed(np.arange(8).reshape(2, 4), "y", None)
    x = jnp.dot(a, b, out_sharding=P("x", unreduced={"y"}))
    out = jax.jit(lambda x: lax.reduce_sum(x, axes=axes, out_sharding=asked))(x)
    assert [np.asarray(s.data).tolist() for s in out.addressable_shards] == shards
    whole = np.arange(16).reshape(8, 2) @ np.arange(8).reshape(2, 4)
    np.testing.assert_array_equal(reshard(out, P()), whole.sum(axes))


def test_einsums_of_three_leave_sums_to_do(mesh):
    a, b = placed(np.arange(2), "x"), placed(np.arange(8).reshape(2, 4), "x", "y")

    def product(a, b, c):
        return jnp.einsum("d,dh,d->h", a, b, c, out_sharding=P("y", unreduced={"x"}))

    for f in (product, jax.jit(product)):
        out = f(a, b, a)
        assert spec_of(out) == P("y", unreduced={"x"})
        assert [np.asarray(s.data).tolist() for s in out.addressable_shards] == [
            [0, 0],
            [0, 0],
            [4, 5],
            [6, 7],
        ]
        np.testing.assert_array_equal(reshard(out, P()), [4, 5, 6, 7])


def test_parts_that_are_terms(mesh):
    # Of 2 x 2 devices; rows are split over "y".
    where = NamedSharding(mesh, P("y", unreduced={"x"}))
    terms = np.arange(8.0).reshape(2, 2, 2).astype(np.float32)  # over x, over y, elements
    parts = [
        jax.device_put(terms[i, j], mesh.devices[i, j])
        for j in range(2)
        for i in reversed(range(2))
    ]
    made = jax.make_array_from_single_device_arrays((4,), where, parts)
    assert made.sharding == where
    for shard in made.addressable_shards:
        ((i, j),) = np.argwhere(mesh.devices == shard.device)
        np.testing.assert_array_equal(shard.data, terms[i, j])
    np.testing.assert_array_equal(jax.sharding.reshard(made, P("y")), terms.sum(0).reshape(4))


def test_text_of_sums(mesh):
    a = jax.device_put(np.arange(4.0, dtype=np.float32), P("x"))
    total = lax.reduce_sum(a, (0,), out_sharding=P(unreduced={"x"}))
    assert str(total) == repr(total) and str(total).startswith("Array(shape=(), dtype=float32, sha")


# Of 2 x 2 devices, rows are split over "y": the terms of a product over "x".
def product_of_parts():
    a = placed(np.arange(16).reshape(4, 4), "y", "x")
    b = placed(np.arange(8).reshape(4, 2), "x", None)
    left, right = np.asarray(a), np.asarray(b)
    terms = np.stack([np.dot(left[:, i : i + 2], right[i : i + 2]) for i in (0, 2)])
    return a, b, terms


def dot_left(a, b):
    return jnp.dot(a, b, out_sharding=P("y", None, unreduced={"x"}))


def unchecked(f, out_specs=None):
    out_specs = P(("x", "y")) if out_specs is None else out_specs
    in_specs = P("y", None, unreduced={"x"})
    return jax.shard_map(f, in_specs=in_specs, out_specs=out_specs, check_vma=False)


def squares(term):
    return term * term


@pytest.mark.parametrize("how", [lambda f: f, jax.jit])
def test_unchecked_functions_see_their_terms(how):
    a, b, terms = product_of_parts()
    x = dot_left(a, b)
    np.testing.assert_array_equal(how(unchecked(lambda t: t))(x), terms.reshape(8, 2))
    np.testing.assert_array_equal(how(unchecked(squares))(x), (terms**2).reshape(8, 2))
    summed = unchecked(lambda t: lax.psum(t * t, "x"), P("y"))
    np.testing.assert_array_equal(how(summed)(x), (terms**2).sum(0))
    # Within a program, after another function of terms, in branches and loops, over batches.
    within = how(lambda a, b: unchecked(squares)(dot_left(a, b)))
    np.testing.assert_array_equal(within(a, b), (terms**2).reshape(8, 2))
    again = unchecked(lambda t: 2 * t + 1, P("y", None, unreduced={"x"}))
    chained = how(lambda a, b: unchecked(squares)(again(dot_left(a, b))))
    np.testing.assert_array_equal(chained(a, b), ((2 * terms + 1) ** 2).reshape(8, 2))
    branch = how(lambda a, b: lax.cond(True, unchecked(squares), unchecked(lambda t: t), x))
    np.testing.assert_array_equal(branch(a, b), (terms**2).reshape(8, 2))
    loop = how(lambda a, b: lax.scan(lambda c, _: (c, unchecked(squares)(c)), x, None, 2)[1])
    np.testing.assert_array_equal(loop(a, b), np.stack([(terms**2).reshape(8, 2)] * 2))


@pytest.mark.parametrize("how", [lambda f: f, jax.jit])
def test_derivatives_of_functions_of_terms(how):
    a, b, terms = product_of_parts()
    x = dot_left(a, b)
    gradient = how(jax.grad(lambda x: unchecked(squares)(x).sum()))(x)
    assert jax.typeof(gradient).sharding.spec == P("y", None, reduced={"x"})
    np.testing.assert_array_equal(gradient, 2 * terms.sum(0))
    for wrong, whole in zip(
        how(jax.grad(lambda a, b: unchecked(squares)(dot_left(a, b)).sum(), (0, 1)))(a, b),
        (2 * terms.sum(0) @ np.asarray(b).T, np.asarray(a).T @ (2 * terms.sum(0))),
        strict=True,
    ):
        np.testing.assert_array_equal(wrong, whole)
    out, tangent = how(lambda x: jax.jvp(unchecked(squares), (x,), (x,)))(x)
    np.testing.assert_array_equal(tangent, 2 * out)


def test_terms_of_parts_and_over_two_axes(mesh):
    where = NamedSharding(mesh, P("y", unreduced={"x"}))
    given = np.arange(8.0, dtype=np.float32).reshape(2, 2, 2)
    parts = [jax.device_put(given[i, j], mesh.devices[i, j]) for i in range(2) for j in range(2)]
    made = jax.make_array_from_single_device_arrays((4,), where, parts)
    f = jax.shard_map(squares, in_specs=where.spec, out_specs=P(("x", "y")), check_vma=False)
    for how in (f, jax.jit(f)):
        np.testing.assert_array_equal(how(made), (given**2).reshape(8))
    both = P(unreduced={"x", "y"})
    numbers = placed(np.arange(8.0), ("x", "y"))
    total = lax.reduce_sum(numbers, (0,), out_sharding=both)
    f = jax.shard_map(
        lambda t: t[None] ** 2, in_specs=both, out_specs=P(("x", "y")), check_vma=False
    )
    for how in (f, jax.jit(f)):
        np.testing.assert_array_equal(how(total), np.arange(8.0).reshape(4, 2).sum(1) ** 2)


def test_specs_of_sums_are_held_against_types():
    a, b, _ = product_of_parts()
    x = dot_left(a, b)
    for check in (True, False):
        for argument, spec in (
            (x, P("y")),
            (placed(np.ones((4, 2)), "y"), P("y", None, unreduced={"x"})),
            (x, P(None, None, unreduced={"x"})),
        ):
            f = jax.shard_map(lambda t: t, in_specs=spec, out_specs=spec, check_vma=check)
            with pytest.raises(ValueError, match="does not match the specs of the input"):
                f(argument)


@pytest.mark.parametrize("taken_apart", [False, True])
def test_prints_of_programs_with_sums_happen_once(taken_apart, capfd):
    a, b, terms = product_of_parts()

    @jax.jit
    def f(a, b):
        x = dot_left(a, b)
        jax.debug.print("sum {}", jnp.sum(b))
        return unchecked(squares)(x) if taken_apart else x

    f(a, b).block_until_ready()
    jax.effects_barrier()
    assert capfd.readouterr().out == "sum 28.0\n"


def test_programs_with_sums_are_explained():
    a, b, _ = product_of_parts()
    assert "dot_general" in str(jax.explain(jax.jit(dot_left))(a, b))
