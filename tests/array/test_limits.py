"""tests/array/test_limits.py - sizes that no memory has, and dtypes that lead nowhere."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp


@pytest.mark.parametrize(
    "make",
    [
        lambda: jnp.zeros((2**40, 2**40)),
        lambda: jnp.broadcast_to(1.0, (2**31, 2**31, 2)),
        lambda: jax.eval_shape(lambda: jnp.zeros((2**40, 2**40))),
        lambda: jax.jit(lambda x: jnp.broadcast_to(x, (2**40, 2**40)))(1.0),
        lambda: jnp.polyint(jnp.ones(3), 2**31),
        lambda: jnp.eye(2**31),
        lambda: jnp.tri(2**31, dtype=bool),
        lambda: jnp.tril_indices(2**31),
        lambda: jnp.triu_indices(2**31, 1, 2**40),
    ],
)
def test_more_bytes_than_can_be_counted(make):
    with pytest.raises(ValueError, match="more bytes than can be counted"):
        make()


def test_empty_arrays_may_have_any_shape():
    assert jnp.zeros((2**40, 2**40, 0)).size == 0


def test_out_of_memory_says_how_much():
    with pytest.raises(MemoryError, match="Out of memory allocating 281474976710656 bytes"):
        jnp.arange(2**46)


def test_an_endless_dtype_is_a_type_error():
    class Endless:
        @property
        def dtype(self):
            return Endless()

    with pytest.raises(TypeError, match="JAX only supports number, bool, and string dtypes"):
        jax.dtypes.canonicalize_dtype(Endless())


def test_device_counts_are_integers():
    for value in ("x", 2.5):
        with pytest.raises(ValueError, match="must be None or of type int"):
            jax.config.update("jax_num_cpu_devices", value)


def test_device_counts_are_numbers_of_devices():
    before = jax.device_count()
    for value in (0, -2, 2**32 + 4, 2**63, -(2**70), 10**30):
        with pytest.raises(ValueError, match="jax_num_cpu_devices: .* a number from 1 to 1048576"):
            jax.config.update("jax_num_cpu_devices", value)
    assert jax.device_count() == before


RANKS = [16, 17, 18, 20, 33, 64]


@pytest.mark.parametrize("rank", RANKS)
def test_any_rank_computes(rank):
    shape = [2] * 5 + [1] * (rank - 5)
    shape[-1], shape[4] = shape[4], shape[-1]
    x = np.arange(32, dtype=np.float32).reshape(shape)
    y = jnp.asarray(x)
    assert y.ndim == rank
    order = list(range(rank))[::-1]
    np.testing.assert_array_equal(y.transpose(order), x.transpose(order))
    np.testing.assert_array_equal(
        jnp.sin(y.transpose(order)) + y.transpose(order),
        jnp.sin(jnp.asarray(x.transpose(order))) + x.transpose(order),
    )
    swapped = np.swapaxes(x, 0, rank - 1) + np.swapaxes(x, 1, 3)
    np.testing.assert_array_equal(jnp.swapaxes(y, 0, rank - 1) + jnp.swapaxes(y, 1, 3), swapped)
    np.testing.assert_array_equal(y.sum((0, 2)), x.sum((0, 2)))
    np.testing.assert_array_equal(jnp.cumsum(y, 3), np.cumsum(x, 3))
    np.testing.assert_array_equal(jnp.sort(-y, 1)[:, 0], -x[:, 1])
    np.testing.assert_array_equal(jnp.flip(y, 0), np.flip(x, 0))
    np.testing.assert_array_equal(y[..., 0], x[..., 0])
    np.testing.assert_array_equal(jnp.concatenate([y, y], 2), np.concatenate([x, x], 2))
    np.testing.assert_array_equal(jnp.broadcast_to(y, [2, *shape[1:]]), x)
    np.testing.assert_array_equal(jnp.argmax(y, 1), np.argmax(x, 1))
    np.testing.assert_array_equal(jax.jit(jnp.tanh)(y).reshape(-1), jnp.tanh(x.reshape(-1)))
    np.testing.assert_array_equal(jax.grad(lambda v: (v * v).sum())(y), 2 * x)
    np.testing.assert_array_equal(
        jax.vmap(lambda v: v.sum() * v)(y), np.stack([v.sum() * v for v in x])
    )
    np.testing.assert_array_equal(
        jax.pmap(lambda v: v.T - jax.lax.psum(v, "i").T, "i")(y),
        np.stack([v.T for v in x]) - x.sum(0).T,
    )


MORE = {
    "zeros": lambda: jnp.zeros((1,) * 65),
    "full": lambda: jnp.full((1,) * 65, 3),
    "empty": lambda: jnp.empty((1,) * 65),
    "arange": lambda: jnp.arange(1).reshape((1,) * 65),
    "lax.reshape": lambda: jax.lax.reshape(1.0, (1,) * 65),
    "expand_dims": lambda: jnp.expand_dims(jnp.ones((1,) * 64), 0),
    "None": lambda: jnp.ones((1,) * 64)[None],
    "broadcast_to": lambda: jnp.broadcast_to(1.0, (1,) * 65),
    "lax.broadcast": lambda: jax.lax.broadcast(jnp.ones((1,) * 64), (2,)),
    "iota": lambda: jax.lax.broadcasted_iota("int32", (1,) * 65, 0),
    "random": lambda: jax.random.uniform(jax.random.key(0), (1,) * 65),
    "outer": lambda: jnp.multiply.outer(jnp.ones((1,) * 40), jnp.ones((1,) * 40)),
    "tensordot": lambda: jnp.tensordot(jnp.ones((1,) * 40), jnp.ones((1,) * 40), 0),
    "kron": lambda: jnp.kron(jnp.ones((1,) * 65), 1.0),
    "vmap": lambda: jax.vmap(lambda x: x.reshape((1,) * 64))(jnp.ones(3)),
    "vmap out_axes": lambda: jax.vmap(lambda: jnp.ones((1,) * 64), axis_size=2)(),
    "pmap": lambda: jax.pmap(lambda x: x.reshape((1,) * 64))(jnp.ones(3)),
    "pmap of a constant": lambda: jax.pmap(lambda x: jnp.ones((1,) * 64))(jnp.ones(3)),
    "scan": lambda: jax.lax.scan(lambda c, x: (c, jnp.ones((1,) * 64)), 0, jnp.ones(2)),
    "map": lambda: jax.lax.map(lambda x: x.reshape((1,) * 64), jnp.ones(2)),
    "stack": lambda: jnp.stack([jnp.ones((1,) * 64)]),
    "eval_shape": lambda: jax.eval_shape(lambda x: x, jax.ShapeDtypeStruct((1,) * 65, "f4")),
    "make_jaxpr": lambda: jax.make_jaxpr(lambda x: x + 1)(jax.ShapeDtypeStruct((1,) * 65, "f4")),
    "ndmin": lambda: jnp.array(1.0, ndmin=65),
    "callback": lambda: jax.pure_callback(lambda: 0, jax.ShapeDtypeStruct((1,) * 65, jnp.float32)),
    "jacobian": lambda: jax.jacrev(lambda x: x)(jnp.ones((1,) * 40)),
}


@pytest.mark.parametrize("name", sorted(MORE))
def test_more_dimensions_than_numpy_has(name):
    with pytest.raises(ValueError, match="arrays have at most 64"):
        MORE[name]()
