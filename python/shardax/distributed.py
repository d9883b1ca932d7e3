"""shardax.distributed - starting as one of several processes, which MPI connects.

Start them with `python -m shardax --processes 4 script.py` on one machine, with MPI's `mpiexec` or
Slurm's `srun` on several. A script that begins with `initialize()` also runs in one process.
"""

import shardax._core as _core
from shardax._base import processes

__all__ = ["initialize", "is_initialized", "shutdown"]

_initialized = False

_OPTIONS = {
    *("cluster_detection_method", "initialization_timeout", "heartbeat_timeout_seconds"),
    *("shutdown_timeout_seconds", "coordinator_bind_address", "slice_index"),
}


def initialize(
    coordinator_address=None,
    num_processes=None,
    process_id=None,
    local_device_ids=None,
    **options,
):
    """Joins the processes that MPI has started together with this one; does nothing else where it
    is the only one.

    Args:
      coordinator_address, local_device_ids: without effect, since MPI connects the processes.
      num_processes: how many there are, or None.
      process_id: the number of this one, or None.
      options: `cluster_detection_method`, `initialization_timeout`, `heartbeat_timeout_seconds`,
        `shutdown_timeout_seconds`, `coordinator_bind_address` and `slice_index`, likewise.

    Raises:
      ValueError: where there are not as many processes, or this is another one.
      RuntimeError: where it has been called before, or after arrays or devices were used. Also
        where the launcher belongs to another MPI than the library of mpi4py.
      TypeError: for other options.

    Example:
      >>> initialize()
      >>> is_initialized()
      True
      >>> shutdown()
    """
    global _initialized
    unknown = sorted(set(options) - _OPTIONS)
    if unknown:
        raise TypeError(f"initialize() got an unexpected keyword argument {unknown[0]!r}")
    if _initialized:
        raise RuntimeError("distributed.initialize should only be called once.")
    if _core.process_count() == 1 and processes.started_by_mpi():
        if _core.devices_counted() or _core.live_arrays():
            raise RuntimeError(
                "jax.distributed.initialize() must be called before any JAX calls that might "
                "initialise the XLA backend. This includes any computation, but also calls to "
                "jax.devices, jax.device_put, and others."
            )
        processes.join("distributed.initialize")
    index, count = _core.process_index(), _core.process_count()
    if num_processes not in (None, count):
        raise ValueError(
            f"distributed.initialize: num_processes is {num_processes}, but the number of "
            f"processes is {count}; start as many with `python -m shardax --processes "
            f"{num_processes} script.py` or mpiexec, or simulate more devices in one process "
            'with shardax.config.update("jax_num_cpu_devices", n).'
        )
    if process_id not in (None, index):
        raise ValueError(
            f"distributed.initialize: process_id is {process_id}, but this process has id {index}."
        )
    _initialized = True


def is_initialized():
    """True if `initialize` has been called, and `shutdown` not since."""
    return _initialized


def shutdown():
    """Undoes `initialize`."""
    global _initialized
    _initialized = False
