"""tests/errors/test_classes.py - classes of errors: deleted arrays, callbacks, devices, dtypes."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax.errors import JaxRuntimeError
from shardax.experimental import io_callback


def deleted():
    x = jnp.arange(4.0)
    x.delete()
    return x


def donated():
    x = jnp.arange(4.0)
    jax.jit(lambda v: v + 1, donate_argnums=0)(x)
    return x


BUFFER = {
    "block_until_ready": lambda x: x.block_until_ready(),
    "jax.block_until_ready": lambda x: jax.block_until_ready({"a": [x, 1, None]}),
    "unsafe_buffer_pointer": lambda x: x.unsafe_buffer_pointer(),
    "on_device_size_in_bytes": lambda x: x.on_device_size_in_bytes(),
}
ARRAY = {
    "copy_to_host_async": lambda x: x.copy_to_host_async(),
    "devices": lambda x: x.devices(),
    "sum": lambda x: x.sum(),
    "numpy": np.asarray,
    "jit": lambda x: jax.jit(jnp.sin)(x),
}


@pytest.mark.parametrize("make", [deleted, donated])
@pytest.mark.parametrize("name", [*BUFFER, *ARRAY])
def test_arrays_that_are_gone(make, name):
    with pytest.raises(
        RuntimeError, match=r"Array has been deleted with shape=float32\[4\]"
    ) as error:
        {**BUFFER, **ARRAY}[name](make())
    assert error.type is (JaxRuntimeError if name in BUFFER else RuntimeError)


def test_what_is_there_is_ready():
    x = jnp.ones(3)
    assert jax.block_until_ready(x) is x and x.copy_to_host_async() is None
    assert jax.block_until_ready((1, None, "a")) == (1, None, "a")
    assert jax.jit(lambda v: jax.block_until_ready(v) + 1)(1.0) == 2


@pytest.mark.parametrize("kind", ["pure", "io", "ordered"])
def test_derivatives_of_callbacks_are_refused_before_they_are_called(kind):
    calls = []
    shape = jax.ShapeDtypeStruct((), jnp.float32)

    def f(x):
        if kind == "pure":
            return jax.pure_callback(calls.append, shape, x)
        return io_callback(calls.append, shape, x, ordered=kind == "ordered")

    for call in (jax.grad(f), jax.grad(jax.jit(f)), lambda x: jax.jvp(f, (x,), (x,))):
        with pytest.raises(ValueError, match="callbacks do not support JVP"):
            call(jnp.float32(1))
    assert not calls


@pytest.mark.parametrize("value", ["gpu", "tpu"])
def test_default_devices_that_are_not_there(value):
    for enter in (
        lambda: jax.default_device(value).__enter__(),
        lambda: jax.config.update("jax_default_device", value),
        lambda: jax.devices(value),
    ):
        with pytest.raises(RuntimeError, match=f"Unknown backend: '{value}' requested"):
            enter()
    assert jax.config.jax_default_device is None


@pytest.mark.parametrize("value", ["cuda", "", 3, 0])
def test_default_devices_are_devices(value):
    with pytest.raises(ValueError, match="jax.default_device must be passed either a Device"):
        jax.config.update("jax_default_device", value)


def test_default_devices():
    with jax.default_device("cpu"):
        assert jnp.ones(2).devices() == {jax.devices("")[0]}
    with jax.default_device(jax.devices()[1]):
        assert jax.config.jax_default_device.id == 1


@pytest.mark.parametrize("value", ["cpu", "gpu", 3])
def test_arrays_lie_on_devices(value):
    with pytest.raises(ValueError, match=f"{value!r}.* must be an instance of"):
        jnp.asarray(1.0, device=value)


STRANGE = ["S3", str, object, np.dtype([("a", "f4")]), "clongdouble", "M8[s]"]


@pytest.mark.parametrize("dtype", STRANGE, ids=str)
def test_questions_about_dtypes_that_no_array_has(dtype):
    assert not jnp.issubdtype(dtype, jnp.floating) and not jnp.isdtype(dtype, "integral")
    assert not jnp.can_cast(dtype, "int8")
    assert jax.dtypes.canonicalize_dtype(dtype) == np.dtype(dtype)
    assert jnp.iscomplexobj(np.zeros(1, dtype)) is (dtype == "clongdouble")
    with pytest.raises(ValueError, match="not a valid dtype for JAX type promotion"):
        jnp.promote_types(dtype, "float32")
    with pytest.raises(ValueError, match="nvalid integer data type"):
        jnp.iinfo(dtype)
    if dtype != "clongdouble":
        with pytest.raises(ValueError, match="not inexact|not compatible with finfo"):  # NumPy 2.5
            jnp.finfo(dtype)
    for make in (jnp.zeros, jnp.ones):
        with pytest.raises(TypeError):
            make(2, dtype)
    with pytest.raises(TypeError):
        jnp.issubdtype("nothing", jnp.floating)


def test_integers_of_python_that_become_floats_may_be_large():
    from shardax.scipy import special, stats

    np.testing.assert_allclose(stats.norm.logpdf(10**12), -5e23, rtol=1e-6)
    np.testing.assert_allclose(special.digamma(10**12), 27.63102, rtol=1e-6)
    assert special.erf(10**30) == 1 and special.erf(10**30).weak_type
    with pytest.raises(OverflowError, match="int too large to convert to float"):
        special.erf(10**400)
    with pytest.raises(OverflowError, match="too large to convert to int32"):
        jnp.asarray(10**12)
