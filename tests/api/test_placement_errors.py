"""tests/api/test_placement_errors.py - errors of devices, meshes, shardings and placed arrays."""

import numpy as np
import pytest
import shardax as jax
import shardax.numpy as jnp
from shardax.sharding import DuplicateSpecError, Mesh, NamedSharding
from shardax.sharding import PartitionSpec as P


def mesh(shape=(4,), names=("x",)):
    return Mesh(np.array(jax.devices()[: int(np.prod(shape))]).reshape(shape), names)


def deleted():
    x = jnp.arange(3.0)
    x.delete()
    return x


@pytest.mark.parametrize(
    "call, error, text",
    [
        (
            lambda: jax.devices("gpu"),
            RuntimeError,
            "Unknown backend: 'gpu' requested, but no platforms that are instances of gpu are "
            "present. Platforms present are: cpu",
        ),
        (lambda: jax.local_devices(process_index=3), ValueError, "Unknown process_index 3"),
        (
            lambda: jax.config.update("jax_num_cpu_devices", 0),
            ValueError,
            "0 devices were asked for; a number from 1 to 1048576 is needed",
        ),
        (
            lambda: jax.device_put(jnp.arange(7.0), NamedSharding(mesh(), P("x"))),
            ValueError,
            r"implies that array axis 0 is partitioned 4 times, but the dimension size is 7 \(full "
            r"shape: \(7,\)",
        ),
        (
            lambda: jax.device_put(1.0, NamedSharding(mesh(), P("x"))),
            ValueError,
            "is only valid for values of rank at least 1, but was applied to a value of rank 0",
        ),
        (
            lambda: jax.device_put(1.0, "cpu"),
            ValueError,
            "device_put: Received invalid value 'cpu' for the device argument; expected None, a "
            "Device, a Sharding, a memory.Space or a tree of these values",
        ),
        (
            lambda: jax.device_put({"a": 1.0, "b": 2.0}, {"a": jax.devices()[0]}),
            ValueError,
            r"(?s)device_put device specification must be a tree prefix of the corresponding value"
            r".*device_put device",
        ),
        (
            lambda: NamedSharding(mesh(), P("q")),
            ValueError,
            r"Resource axis: q of P\('q',\) is not found in mesh: \('x',\)",
        ),
        (
            lambda: NamedSharding(mesh(), P("x", "x")),
            DuplicateSpecError,
            "can map every mesh axis to at most one positional dimension, but .* has duplicate "
            "entries for `x`",
        ),
        (
            lambda: Mesh(np.array(jax.devices()[:4]), ("x", "y")),
            ValueError,
            r"Mesh requires the ndim of its first argument .*devices.ndim == 1 and "
            r"len\(axis_names\) == 2",
        ),
        (lambda: mesh((2, 2), ("x", "x")), ValueError, "Mesh: axis names must be distinct"),
        (
            lambda: jax.make_mesh((16,), ("x",)),
            ValueError,
            r"Number of devices 8 must be >= the product of mesh_shape \(16,\). Raise it with "
            r'shardax.config.update\("jax_num_cpu_devices", 16\)',
        ),
        (
            lambda: jnp.arange(3.0).__setitem__(0, 1.0),
            TypeError,
            r"arrays are immutable and do not support in-place item assignment. .*x.at\[idx\]",
        ),
        (
            lambda: np.asarray(jnp.arange(3.0)).__setitem__(0, 1.0),
            ValueError,
            "assignment destination is read-only",
        ),
        (lambda: hash(jnp.arange(3.0)), TypeError, "unhashable type"),
        (lambda: deleted() + 1, RuntimeError, r"Array has been deleted with shape=float32\[3\]"),
        (lambda: np.asarray(deleted()), RuntimeError, "Array has been deleted"),
        (lambda: deleted()[0], RuntimeError, "Array has been deleted"),
        (lambda: jax.pmap(jnp.sin)(deleted()), RuntimeError, "Array has been deleted"),
        (lambda: jnp.stack([deleted()]), RuntimeError, "Array has been deleted"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()
