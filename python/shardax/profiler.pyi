"""Written by python/stubs.py."""

from typing import Any



class ProfileOptions:
    """The contents of a trace."""

    def __init__(self) -> None: ...
    device_tracer_level: Any
    enable_hlo_proto: Any
    host_tracer_level: Any
    python_tracer_level: Any
class StepTraceAnnotation:
    """A span that is a step of training; `step_num` says which."""

    def __call__(self, func: Any) -> Any: ...
    def __enter__(self) -> Any: ...
    def __exit__(self, *exc: Any) -> Any: ...
    def __init__(self, name: Any, **metadata: Any) -> None: ...
class TraceAnnotation:
    """A named span of time: a `with` block, or a function's calls."""

    def __call__(self, func: Any) -> Any: ...
    def __enter__(self) -> Any: ...
    def __exit__(self, *exc: Any) -> Any: ...
    def __init__(self, name: Any, **metadata: Any) -> None: ...
def annotate_function(function: Any = None, name: Any = None, **metadata: Any) -> Any:
    """`function`, each call a span of that name (its own by default)."""
def device_memory_profile(backend: Any = None) -> Any:
    """The arrays that live and their bytes, by dtype and shape, as a profile for pprof; `backend` is "cpu" or None."""
def save_device_memory_profile(filename: Any, backend: Any = None) -> Any:
    """Writes the result of `device_memory_profile` into a file: `pprof -top memory.prof` shows it."""
def start_server(port: Any) -> Any:
    """Accepted for compatibility: there is nothing to connect to, `start_trace` writes files."""
def start_trace(log_dir: Any, create_perfetto_link: bool = False, create_perfetto_trace: bool = False, profiler_options: Any = None) -> Any:
    """Records programs, their steps and annotations from now on, for `stop_trace` to write."""
def stop_server() -> Any:
    """Ends the session of `start_server`."""
def stop_trace() -> Any:
    """Writes the record of `start_trace`: <log_dir>/plugins/profile/<time>/trace.json.gz."""
def trace(log_dir: Any, create_perfetto_link: bool = False, create_perfetto_trace: bool = False, profiler_options: Any = None) -> Any:
    """start_trace and, at the end of the block, stop_trace."""
