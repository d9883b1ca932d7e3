"""shardax.experimental.colocated_python - Python that runs beside the devices: in this process."""

from shardax.experimental.colocated_python.func import ColocatedFunction

__all__ = ["colocated_cpu_devices", "colocated_python", "colocated_python_class"]


def colocated_cpu_devices(devices):
    """The CPU devices beside `devices`: they themselves, as a list, or a mesh of them."""
    return list(devices) if isinstance(devices, (list, tuple)) else devices


def colocated_python(fun):
    """`fun` as a function of arrays that runs beside its arguments' devices, at once.

    It has a method `specialize(in_specs=, out_specs_fn=, devices=)`.

    Example:
      >>> colocated_python(lambda x: x + 1)(jnp.arange(3))
      Array([1, 2, 3], dtype=int32)
    """
    return ColocatedFunction(fun)


def colocated_python_class(cls):
    """`cls`: its objects are in this process already."""
    return cls
