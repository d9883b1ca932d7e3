"""Written by python/stubs.py."""

from collections.abc import Sequence



def initialize(
    coordinator_address: str | None = None, num_processes: int | None = None,
    process_id: int | None = None, local_device_ids: int | Sequence[int] | None = None, *,
    cluster_detection_method: str | None = None, initialization_timeout: int = ...,
    heartbeat_timeout_seconds: int = ..., shutdown_timeout_seconds: int = ...,
    coordinator_bind_address: str | None = None, slice_index: int | None = None,
) -> None:
    """Joins the processes that MPI has started together with this one; does nothing else where it is the only one."""
def is_initialized() -> bool:
    """True if `initialize` has been called, and `shutdown` not since."""
def shutdown() -> None:
    """Undoes `initialize`."""
