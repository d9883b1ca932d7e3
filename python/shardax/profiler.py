"""shardax.profiler - spans of time in a program, written where trace viewers read them.

Annotations say what the program is at; between start_trace and stop_trace they are recorded with
their threads and times. The file is a Chrome trace, for https://ui.perfetto.dev or chrome://tracing.
"""

import contextlib
import functools
import gzip
import json
import os
import pathlib
import threading
import time

__all__ = [
    "ProfileOptions",
    "StepTraceAnnotation",
    "TraceAnnotation",
    "annotate_function",
    "device_memory_profile",
    "save_device_memory_profile",
    "start_server",
    "start_trace",
    "stop_server",
    "stop_trace",
    "trace",
]

_lock = threading.Lock()
_trace = None  # the one being recorded: (its folder, its events)
_server = None  # the port that start_server was given


class ProfileOptions:
    """What JAX's profiler takes for options. Accepted for compatibility: annotations are recorded
    whatever they say.

    Example:
      >>> options = ProfileOptions()
      >>> options.python_tracer_level = 0
    """

    host_tracer_level = 2
    device_tracer_level = 1
    python_tracer_level = 0
    enable_hlo_proto = True

    def __init__(self):
        self.advanced_configuration = {}


class TraceAnnotation(contextlib.ContextDecorator):
    """A named span of time: a `with` block, or a function's calls.

    Args:
      name: what the span is called.
      metadata: further things to know about it, shown by viewers.

    Example:
      >>> with TraceAnnotation("load", batch=3):
      ...     x = jnp.ones(3)
    """

    def __init__(self, name, **metadata):
        self._event = {"name": name, "ph": "X", "pid": os.getpid(), "args": metadata}
        self._starts = threading.local()

    def __enter__(self):
        starts = self._starts.__dict__.setdefault("times", [])
        starts.append(time.perf_counter_ns())
        return self

    def __exit__(self, *exc):
        end = time.perf_counter_ns()
        start = self._starts.times.pop()
        with _lock:
            if _trace is not None:
                span = {"ts": start / 1000, "dur": (end - start) / 1000}
                _trace[1].append({**self._event, **span, "tid": threading.get_ident()})


class StepTraceAnnotation(TraceAnnotation):
    """A span that is a step of training; `step_num` says which.

    Example:
      >>> with StepTraceAnnotation("train", step_num=1):
      ...     x = jnp.ones(3)
    """


def annotate_function(function=None, name=None, **metadata):
    """`function`, each call a span of that name (its own by default).

    Example:
      >>> annotate_function(lambda x: x + 1, name="step")(1)
      2
    """
    if function is None:
        return functools.partial(annotate_function, name=name, **metadata)
    name = name or getattr(function, "__qualname__", repr(function))

    @functools.wraps(function)
    def call(*args, **kwargs):
        with TraceAnnotation(name, **metadata):
            return function(*args, **kwargs)

    return call


def start_trace(log_dir, create_perfetto_link=False, create_perfetto_trace=False, **options):
    """Records annotations from now on, for stop_trace to write into the folder `log_dir`.

    `create_perfetto_link`, `create_perfetto_trace` and `options` have no effect: the package does
    without what it steers in JAX.

    Raises:
      RuntimeError: where a trace is being recorded already.
    """
    global _trace
    with _lock:
        if _trace is not None:
            raise RuntimeError(
                "Profile has already been started. Only one profile may be run at a time."
            )
        _trace = pathlib.Path(log_dir), []


def stop_trace():
    """Writes what start_trace has recorded: <log_dir>/plugins/profile/<time>/trace.json.gz.

    Raises:
      RuntimeError: where nothing is being recorded.
    """
    global _trace
    with _lock:
        if _trace is None:
            raise RuntimeError("No profile started")
        (log_dir, events), _trace = _trace, None
    folder = log_dir / "plugins" / "profile" / time.strftime("%Y_%m_%d_%H_%M_%S")
    folder.mkdir(parents=True, exist_ok=True)
    with gzip.open(folder / "trace.json.gz", "wt") as file:
        json.dump({"traceEvents": events, "displayTimeUnit": "ms"}, file, default=str)


@contextlib.contextmanager
def trace(log_dir, create_perfetto_link=False, create_perfetto_trace=False, **options):
    """start_trace and, at the end of the block, stop_trace.

    `create_perfetto_link`, `create_perfetto_trace` and `options` have no effect: the package does
    without what it steers in JAX.
    """
    start_trace(log_dir)
    try:
        yield
    finally:
        stop_trace()


def start_server(port):
    """Accepted for compatibility: there is nothing to connect to, start_trace writes files.

    Raises:
      ValueError: where it has been called before.
    """
    global _server
    if _server is not None:
        raise ValueError("Only one profiler server can be active at a time.")
    _server = port


def stop_server():
    """Ends what start_server began.

    Raises:
      ValueError: where it has not been called.
    """
    global _server
    if _server is None:
        raise ValueError("No active profiler server.")
    _server = None


def device_memory_profile(backend=None):
    """The arrays that live and their bytes, by dtype and shape, as a profile for pprof; `backend`
    is "cpu" or None.

    Example:
      >>> isinstance(device_memory_profile(), bytes)
      True
    """
    from shardax._debug.memory_profiles import live_memory  # for this report alone
    from shardax._devices.devices import devices  # likewise

    devices(backend)  # RuntimeError for one that is not there
    return live_memory()


def save_device_memory_profile(filename, backend=None):
    """Writes device_memory_profile() into a file: `pprof -top memory.prof` shows it."""
    pathlib.Path(filename).write_bytes(device_memory_profile(backend))
