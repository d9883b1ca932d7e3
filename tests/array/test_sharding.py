"""tests/array/test_sharding.py - shardings of results follow from their operands'."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
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
