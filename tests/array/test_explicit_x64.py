"""tests/array/test_explicit_x64.py - 64-bit dtypes that are asked for while x64 is off."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp


@pytest.fixture(autouse=True)
def restored():
    yield
    jax.config.update("jax_explicit_x64_dtypes", "warn")


def test_they_are_truncated_with_a_warning():
    with pytest.warns(UserWarning, match="Explicitly requested dtype float64 .*truncated to"):
        assert jnp.ones(2, "float64").dtype == np.float32


def test_they_are_refused():
    jax.config.update("jax_explicit_x64_dtypes", "error")
    with pytest.raises(ValueError, match="Explicitly requested dtype int64 .*is not available"):
        jnp.arange(3, dtype="int64")
    assert jnp.ones(2, float).dtype == np.float32


def test_they_are_allowed_and_kept():
    jax.config.update("jax_explicit_x64_dtypes", "allow")
    x = jnp.array([1.5, 2.5], dtype="float64")
    assert x.dtype == (x + jnp.float32(1)).dtype == jax.jit(lambda x: x * 2)(x).dtype == "float64"
    assert (x + 1).dtype == "float64" and jnp.sin(1.0).dtype == "float32"
    assert float(x[0] + 2**-40) != 1.5


def test_other_rules_are_refused():
    with pytest.raises(ValueError, match="jax_explicit_x64_dtypes must be one of 'warn'"):
        jax.config.update("jax_explicit_x64_dtypes", "maybe")
