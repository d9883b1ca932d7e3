"""tests/runtime/test_flush_denormals.py - jax_cpu_flush_denormals."""

import os
import subprocess
import sys

import numpy as np
import pytest
import shardax
import shardax.numpy as jnp
from shardax import lax

TINY = np.float32(1e-40)


@pytest.fixture(params=[False, True], ids=["kept", "flushed"])
def flushed(request):
    shardax.config.update("jax_cpu_flush_denormals", request.param)
    yield request.param
    shardax.config.update("jax_cpu_flush_denormals", False)


def loop(x):
    return lax.fori_loop(0, 3, lambda _, x: x * np.float32(2), x)


FUNCTIONS = {
    "an op": lambda x: jnp.add(x, x),
    "a compiled loop": shardax.jit(lambda x: x * 3 + x),
    "a reduction": lambda x: x.sum(keepdims=True),
    "a product": lambda x: x.reshape(-1, 1) @ jnp.ones((1, 1), jnp.float32),
    "a scalar program": shardax.jit(lambda x: loop(x[0])),
    "a mapped function": shardax.jit(shardax.vmap(lambda y: y * 2)),
    "a sum over devices": lambda x: shardax.pmap(lambda y: lax.psum(y, "i"), axis_name="i")(
        x[:8].reshape(8, -1)
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("size", [8, 1_000_003], ids=["small", "shared by threads"])
def test_arithmetic(flushed, name, size):
    x = jnp.full(size, TINY)
    result = np.asarray(FUNCTIONS[name](x))
    assert (result == 0).all() if flushed else (result > 0).all()


def test_moves_keep_bits(flushed):
    x = jnp.full(5, TINY)
    assert (np.asarray(jnp.concatenate([x, x[::-1]])).view(np.int32) == TINY.view(np.int32)).all()


def test_numbers_that_are_no_denormals_are_the_same(flushed):
    x = jnp.linspace(-3, 3, 1001)
    np.testing.assert_array_equal(
        jnp.exp(x) @ jnp.ones((1001, 3)), EXPECTED, err_msg="the bits differ"
    )


EXPECTED = np.asarray(jnp.exp(jnp.linspace(-3, 3, 1001)) @ jnp.ones((1001, 3)))


def test_constants_of_a_program(flushed):
    f = shardax.jit(lambda: jnp.float32(1e-30) * jnp.float32(1e-10))
    assert (float(f()) == 0) == flushed


def test_one_function_follows_the_flag():
    f = shardax.jit(lambda x: x * 2)
    x = jnp.full(3, TINY)
    assert f(x)[0] > 0
    shardax.config.update("jax_cpu_flush_denormals", True)
    try:
        assert f(x)[0] == 0
    finally:
        shardax.config.update("jax_cpu_flush_denormals", False)
    assert f(x)[0] > 0


def test_the_host_computes_as_ever(flushed):
    """Python that a program calls, and Python after it."""
    seen = []

    def f(x):
        seen.append(np.asarray(x) * np.float32(2))
        return np.asarray(x)

    x = jnp.full(300_000, TINY)
    shardax.jit(lambda x: shardax.pure_callback(f, shardax.typeof(x), x) + 1)(x).block_until_ready()
    assert (seen[0] > 0).all()
    assert TINY * np.float32(2) > 0


def test_the_environment_sets_it():
    code = "import shardax.numpy as jnp; print(float(jnp.float32(1e-40) + jnp.float32(0)))"
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "JAX_CPU_FLUSH_DENORMALS": "1"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.stdout == "0.0\n", run.stderr
