"""tests/array/test_sharding.py - shardings of results follow from their operands'."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax import lax
from shardax.sharding import Mesh, NamedSharding, P


@pytest.fixture
def mesh():
    return Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("a", "b"))


@pytest.fixture
def x(mesh):
    return jax.device_put(jnp.arange(32.0).reshape(4, 8), NamedSharding(mesh, P("a", "b")))


RESULTS = {
    "same": (lambda x: x + x, P("a", "b")),
    "with a number": (lambda x: 2 * x + 1, P("a", "b")),
    "function": (lambda x: jnp.sin(x), P("a", "b")),
    "comparison": (lambda x: x > 1, P("a", "b")),
    "select": (lambda x: jnp.where(x > 1, x, 0), P("a", "b")),
    "cast": (lambda x: x.astype("int32"), P("a", "b")),
    "transposed": (lambda x: x.T, P("b", "a")),
    "new dimension": (lambda x: x[None], P(None, "a", "b")),
    "reversed": (lambda x: x[::-1], P("a", "b")),
    "row": (lambda x: x[0], P("b")),
    "part": (lambda x: x[:, 2:4], P("a")),
    "sum": (lambda x: x.sum(), P()),
    "sum over rows": (lambda x: x.sum(0), P("b")),
    "mean over columns": (lambda x: x.mean(1, keepdims=True), P("a")),
    "composition": (lambda x: jax.nn.softmax(x), P("a", "b")),
    "update": (lambda x: x.at[0, 0].set(1.0), P("a", "b")),
    "sorted": (lambda x: jnp.sort(x), P("a", "b")),
    "jitted": (lambda x: jax.jit(lambda v: jnp.tanh(v).T * 2)(x), P("b", "a")),
    "broadcast": (lambda x: x[0] + jnp.zeros((4, 8)), P(None, "b")),
    "copy": (lambda x: x.copy(), P("a", "b")),
    "product": (lambda x: x @ x.T, P("a")),  # "a" can split one dimension only
    "product with another": (lambda x: x @ jnp.ones((8, 3)), P("a")),
    "product of columns": (lambda x: jnp.einsum("ij,ik->jk", x[:, :4], x), P(None, "b")),
    "product of stacks": (lambda x: jnp.einsum("ij,ij->i", x, x), P("a")),
    "parted": (lambda x: x.reshape(2, 2, 8), P("a", None, "b")),
    "parted columns": (lambda x: x.reshape(4, 4, 2), P("a", "b")),
    "flattened": (lambda x: x.reshape(-1), P("a")),
    "parted unevenly": (lambda x: x.reshape(1, 4, 8), P(None, "a", "b")),
    "position": (lambda x: x.argmax(1), P("a")),
    "joined": (lambda x: jnp.concatenate([x, x]), P("a", "b")),
    "padded": (lambda x: jnp.pad(x, ((1, 1), (0, 1))), P("a")),
}


@pytest.mark.parametrize("name", RESULTS)
def test_spec_follows(name, x, mesh):
    f, spec = RESULTS[name]
    for _ in range(2):  # the second time from caches
        result = f(x)
        assert result.sharding == NamedSharding(mesh, spec)
        np.testing.assert_array_equal(result, f(jnp.arange(32.0).reshape(4, 8)))


def test_shards_of_a_result_are_views(x):
    shards = (x * 2).addressable_shards
    assert [s.data.shape for s in shards] == [(2, 4)] * 4
    assert [s.device.id for s in shards] == [0, 1, 2, 3]
    whole = x.unsafe_buffer_pointer()
    offsets = [s.data.unsafe_buffer_pointer() - whole for s in x.addressable_shards]
    assert offsets == [0, 16, 64, 80]


def test_arrays_without_sharding_give_none():
    y = jnp.arange(4.0) + 1
    assert not y.committed
    assert y.devices() == {jax.devices()[0]}


def test_a_single_device_stays():
    y = jax.device_put(jnp.arange(4.0), jax.devices()[2]) * 2
    assert y.devices() == {jax.devices()[2]}
    assert y.committed and y.sum().device == jax.devices()[2]


def test_slices_of_mapped_results():
    y = jax.pmap(lambda v: v * 2, axis_name="i")(jnp.arange(8.0).reshape(4, 2))
    assert y.sharding.spec == P("i")
    assert y[0].sharding.spec == P()
    assert (y + 1).sharding.spec == P("i")
    assert jnp.sum(y).sharding.is_fully_replicated


def test_pmap_within_jit():
    x = jnp.ones((4, 3))
    double = jax.pmap(lambda v: v * 2, axis_name="i")
    alone = double(x).sharding
    assert jax.jit(double)(x).sharding == alone
    assert jax.jit(lambda v: double(v) + 1)(x).sharding == alone
    columns = jax.pmap(lambda v: v * 2, axis_name="i", out_axes=1)
    assert jax.jit(columns)(x).sharding.spec == P(None, "i")
    total = jax.pmap(lambda v: jax.lax.psum(v, "i"), axis_name="i", out_axes=None)
    assert jax.jit(total)(x).sharding.spec == P()
    here = jax.devices()[2:6]
    placed = jax.pmap(lambda v: v * 2, devices=here)(x)
    assert placed.sharding.device_set == set(here)


@pytest.mark.parametrize(
    "f, staged, at_once",
    [
        (lambda x: x[1:3], P("a", "b"), P(None, "b")),
        (lambda x: x[::2, 4:], P("a", "b"), P()),
        (lambda x: x[1:], P(None, "b"), P(None, "b")),
        (lambda x: jnp.concatenate([-x[:, 4:], x[:, :4]], 1), P("a", "b"), P("a")),
        (lambda x: x[:2] + x[2:], P("a", "b"), P(None, "b")),
        (lambda x: jax.lax.dynamic_slice(x, (0, 1), (4, 4)), P("a", "b"), P("a")),
    ],
)
def test_slices(f, staged, at_once, x):
    # In programs parts that come out even stay split; at once slices that start anywhere are whole.
    assert jax.jit(f)(x).sharding.spec == staged
    assert f(x).sharding.spec == at_once


def _two_dimensional():
    mesh = jax.make_mesh((2, 2), ("a", "b"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    x = jnp.arange(64.0, dtype=jnp.float32).reshape(16, 4)
    return jax.device_put(x, jax.NamedSharding(mesh, jax.P("a", "b")))


BOTH, ROWS, COLUMNS = jax.P("a", "b"), jax.P("a"), jax.P(None, "b")


@pytest.mark.parametrize(
    "f, at_once, in_program",
    [
        (lambda v: jnp.roll(v, 1, 0), BOTH, BOTH),
        (lambda v: jnp.roll(v, 1, 1), BOTH, BOTH),
        (lambda v: jnp.gradient(v, axis=0), BOTH, BOTH),
        (lambda v: jnp.zeros((16, 4)).at[jnp.arange(16)].add(v), COLUMNS, COLUMNS),
        (lambda v: jax.ops.segment_sum(v, jnp.arange(16) % 4, 4), COLUMNS, COLUMNS),
        (lambda v: v.at[jnp.arange(16)].set(v), BOTH, BOTH),
        (lambda v: lax.slice_in_dim(v, 0, 8), BOTH, BOTH),
        (lambda v: lax.slice(v, (0, 0), (16, 4), (2, 1)), BOTH, BOTH),
        (lambda v: lax.slice(v, (0, 0), (8, 4)), COLUMNS, BOTH),
        (lambda v: lax.split(v, (4, 12))[1], BOTH, BOTH),
        (lambda v: jnp.split(v, 2, 1)[0], BOTH, BOTH),
        (lambda v: v[1:] - v[:-1], COLUMNS, COLUMNS),
        (lambda v: lax.associative_scan(jnp.add, v), COLUMNS, BOTH),
    ],
)
def test_parts_are_of_any_size_within_programs(f, at_once, in_program):
    x = _two_dimensional()
    assert f(x).sharding.spec == at_once
    assert jax.jit(f)(x).sharding.spec == in_program
    np.testing.assert_array_equal(jax.jit(f)(x), f(jnp.asarray(np.asarray(x))))
