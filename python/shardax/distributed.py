"""shardax.distributed - starting as one of several processes, of which there is always one.

Scripts that begin with `initialize()` run as they are.
"""

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
    """Notes that this is the only process.

    Args:
      coordinator_address, local_device_ids: without effect, since there is nothing to coordinate.
      num_processes: 1 or None.
      process_id: 0 or None.
      options: `cluster_detection_method`, `initialization_timeout`, `heartbeat_timeout_seconds`,
        `shutdown_timeout_seconds`, `coordinator_bind_address` and `slice_index`, likewise.

    Raises:
      ValueError: where more than one process, or a process other than the first, is asked for.
      RuntimeError: where it has been called before.
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
    if num_processes not in (None, 1):
        raise ValueError(
            f"distributed.initialize: num_processes is {num_processes}, but shardax runs in one "
            "process; simulate more devices with "
            'shardax.config.update("jax_num_cpu_devices", n).'
        )
    if process_id not in (None, 0):
        raise ValueError(
            f"distributed.initialize: process_id is {process_id}; the only process has id 0."
        )
    if _initialized:
        raise RuntimeError("distributed.initialize should only be called once.")
    _initialized = True


def is_initialized():
    """Whether `initialize` has been called, and `shutdown` not since."""
    return _initialized


def shutdown():
    """Undoes `initialize`."""
    global _initialized
    _initialized = False
