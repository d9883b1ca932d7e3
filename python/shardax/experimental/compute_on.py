"""shardax.experimental.compute_on - the kind of processor that computes. Devices and host are one
here."""

import contextlib
import functools

from shardax._transform.jit import jit

__all__ = ["compute_on", "compute_on2"]

_TYPES = ("device_host", "device", "tpu_sparsecore")


def _check(compute_type):
    if not isinstance(compute_type, str):
        raise TypeError("`compute_on`'s compute_type argument must be a string.")
    if compute_type not in _TYPES and not compute_type.startswith("gpu_stream:"):
        raise ValueError(
            f"Invalid compute type {compute_type}. Current supported values are `device_host`, "
            "`device`, `tpu_sparsecore`, and `gpu_stream:#`."
        )


@contextlib.contextmanager
def compute_on(compute_type):
    """A context, also a decorator, for operations that run on a processor of that kind.

    `compute_type` has no effect: devices share one memory and one process.

    Raises:
      TypeError, ValueError: for others than "device_host", "device", "tpu_sparsecore" and
        "gpu_stream:0".

    Example:
      >>> with compute_on("device_host"):
      ...     y = jnp.sin(0.0)
    """
    _check(compute_type)
    yield


def compute_on2(f=None, *, compute_type, out_memory_spaces, compiler_options=None):
    """`f` as a jitted function that runs on a processor of that kind; without it, a decorator. Its
    results lie in the one memory that there is.

    `compute_type` and `out_memory_spaces` have no effect: devices share one memory and one process.

    Raises:
      TypeError, ValueError: as compute_on.
    """
    if f is None:
        return functools.partial(
            compute_on2,
            compute_type=compute_type,
            out_memory_spaces=out_memory_spaces,
            compiler_options=compiler_options,
        )
    _check(compute_type)
    return jit(f, compiler_options=compiler_options)
