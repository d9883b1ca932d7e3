"""tests/shard_map/test_explicit_indexing.py - indexing, updates and repeats over explicit axes: the
answers, and the demands for out_sharding of JAX 0.10.2."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax
from shardax.sharding import AxisType, NamedSharding, P, ShardingTypeError

VALUES = np.arange(32.0, dtype=np.float32).reshape(8, 4)
ROWS = jnp.array([0, 1])


@pytest.fixture(autouse=True)
def mesh():
    made = jax.make_mesh((2, 2), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)
    with jax.set_mesh(made):
        yield made


def split(*spec):
    return jax.device_put(VALUES, P(*spec))


def expect(f, x, wanted):
    """`wanted`: the spec of the result, or the error."""
    if isinstance(wanted, P):
        out = f(x)
        assert jax.typeof(out).sharding.spec == wanted
        return np.testing.assert_array_equal(out, f(jnp.asarray(VALUES)))
    error, text = wanted
    with pytest.raises(error, match=text):
        f(x)


GET = ShardingTypeError, r"Use `.at\[...\].get\(out_sharding=\)`"
SET = ShardingTypeError, r"Use `.at\[...\].set/add/mul/...\(out_sharding=\)`"
UNEVEN = ShardingTypeError, "on sharded dims where out dim"
REPEAT = ValueError, "pass sharding to `jnp.repeat` via `out_sharding`"


@pytest.mark.parametrize(
    "f, at_once, in_program",
    [
        (lambda v: v[2:4], GET, P("x", None)),
        (lambda v: v[::2], GET, P("x", None)),
        (lambda v: v[::-1], P("x", None), P("x", None)),
        (lambda v: v[:8], P("x", None), P("x", None)),
        (lambda v: v[2], GET, UNEVEN),
        (lambda v: v[1:], GET, UNEVEN),
        (lambda v: v[:, 1], P("x"), P("x")),
        (lambda v: v[:, 0:2], P("x", None), P("x", None)),
        (lambda v: v[:, None], P("x", None, None), P("x", None, None)),
        (lambda v: v[ROWS], GET, GET),
        (lambda v: v[:, ROWS], P("x", None), P("x", None)),
        (lambda v: lax.slice(v, (0, 0), (4, 4)), P("x", None), P("x", None)),
        (lambda v: lax.dynamic_slice(v, (0, 0), (4, 4)), P("x", None), P("x", None)),
        (lambda v: jnp.split(v, 2)[0], P("x", None), P("x", None)),
        (lambda v: v.at[0].set(1.0), SET, SET),
        (lambda v: v.at[:4].add(1.0), SET, SET),
        (lambda v: v.at[ROWS].set(1.0), SET, SET),
        (lambda v: v.at[0, 0].multiply(2.0), SET, SET),
        (lambda v: v.at[:, 0].set(1.0), P("x", None), P("x", None)),
        (lambda v: v.at[:, 1:3].add(1.0), P("x", None), P("x", None)),
        (lambda v: v.at[:].set(1.0), P("x", None), P("x", None)),
        (lambda v: jnp.repeat(v, 2, 0), REPEAT, REPEAT),
        (lambda v: jnp.repeat(v, 2, 1), P("x", None), P("x", None)),
        (lambda v: jax.grad(lambda u: u[:, 0].sum())(v), P("x", None), P("x", None)),
    ],
)
def test_of_rows_that_are_split(f, at_once, in_program):
    x = split("x", None)
    expect(f, x, at_once)
    expect(jax.jit(f), x, in_program)
    expect(f, split(None, None), P(*[None] * f(jnp.asarray(VALUES)).ndim))


def test_windows_are_replaced_by_what_is_split_alike():
    window = jnp.zeros((2, 4))
    with pytest.raises(ShardingTypeError, match="operand sharding must be equal to update shardi"):
        lax.dynamic_update_slice(split("x", None), window, (0, 0))
    out = lax.dynamic_update_slice(split("x", None), jax.device_put(window, P("x", None)), (0, 0))
    assert jax.typeof(out).sharding.spec == P("x", None)


def test_batches_of_updates_are_split_as_an_operand_that_is():
    numbers = lax.ScatterDimensionNumbers((), (1,), (1,), (0,), (0,))

    def add(x, rows, updates):
        return lax.scatter_add(x, rows, updates, numbers)

    rows, updates = np.zeros((8, 2, 1), np.int32), np.ones((8, 2), np.float32)
    whole = add(VALUES, rows, updates)
    for specs in ((P(None), P("x"), P(None)), (P(None), P(None), P("x")), (P("x"), P(), P("x"))):
        out = add(*(jax.device_put(v, s) for v, s in zip((VALUES, rows, updates), specs)))
        assert jax.typeof(out).sharding.spec == P("x", None)
        np.testing.assert_array_equal(out, whole)
    with pytest.raises(ShardingTypeError, match=SET[1]):
        add(split("x", None), jax.device_put(rows, P("y")), updates)


def test_out_sharding_answers():
    x = split("x", None)
    np.testing.assert_array_equal(x.at[2:4].get(out_sharding=P(None, None)), VALUES[2:4])
    out = x.at[0].set(1.0, out_sharding=P("x", None))
    assert jax.typeof(out).sharding.spec == P("x", None)
    assert (np.asarray(out)[0] == 1).all()
    wide = jnp.repeat(x, 2, 0, out_sharding=P("x", None))
    np.testing.assert_array_equal(wide, np.repeat(VALUES, 2, 0))


def test_a_mesh_that_nobody_asked_for_has_an_answer():
    implied = jax.make_mesh((2, 2), ("x", "y"))
    with jax.set_mesh(implied):
        x = jax.device_put(VALUES, NamedSharding(implied, P("x", None)))
        for f in (
            lambda v: v[2:4],
            lambda v: v[2],
            lambda v: v.at[0].set(1.0),
            lambda v: v.at[ROWS].add(1.0),
            lambda v: jnp.repeat(v, 2, 0),
            lambda v: lax.dynamic_update_slice(v, jnp.zeros((2, 4)), (0, 0)),
        ):
            for how in (f, jax.jit(f)):
                np.testing.assert_array_equal(how(x), f(jnp.asarray(VALUES)))
