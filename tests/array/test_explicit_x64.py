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


def test_arrays_made_with_x64_on_keep_their_bits_beside_each_other():
    with jax.enable_x64(True):
        x, i = jnp.linspace(0.0, 1.0, 3), jnp.arange(3)
    both = [x + x, jnp.maximum(x, x), jnp.where(i > 1, x, x), x @ x, jnp.stack([x, x]), x**2]
    assert {r.dtype for r in (*both, jnp.sin(x), i / i)} == {np.dtype("float64")}
    assert (i + i).dtype == jnp.result_type(i, i) == jnp.concatenate([i, i]).dtype == "int64"
    for narrow in (x + jnp.float32(1), i + 1.0, jnp.add(np.ones(3), np.ones(3))):
        assert narrow.dtype == "float32"
    for types in ((np.float64, np.float64), (np.ones(3), np.ones(3)), ("float64",)):
        assert jnp.result_type(*types) == "float32"
    assert jnp.sin(np.arange(3)).dtype == "float32"


def test_promote_types_of_classes_without_x64():
    """Names, dtypes and classes of NumPy's give the same, 64 bits wide where one is."""
    for convert in (str, np.dtype, lambda name: getattr(np, name)):
        assert jnp.promote_types(convert("float32"), convert("complex128")) == "complex128"
        assert jnp.promote_types(convert("int64"), convert("uint64")) == "float64"
        assert jnp.promote_types(convert("int64"), convert("bool")) == "int64"
