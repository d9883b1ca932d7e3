"""tests/array/test_limits.py - sizes that no memory has, and dtypes that lead nowhere."""

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

    with pytest.raises(TypeError, match="not a valid JAX array dtype"):
        jax.dtypes.canonicalize_dtype(Endless())


def test_device_counts_are_integers():
    for value in ("x", 2.5):
        with pytest.raises(ValueError, match="must be None or of type int"):
            jax.config.update("jax_num_cpu_devices", value)
