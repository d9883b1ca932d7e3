"""shardax.profiler - traces of programs: their steps, compilations and annotations with times.

Between start_trace and stop_trace each program, each step of its plan, each compilation and each
annotation is recorded with its thread and time. The file is a Chrome trace, for
https://ui.perfetto.dev or chrome://tracing.
"""

import contextlib
import functools
import pathlib
import threading
import time

from shardax._debug import recordings

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

_trace = None  # the one being recorded: its folder, names of files, options
_server = None  # the port that start_server was given


class ProfileOptions:
    """The contents of a trace.

    Attributes:
      host_tracer_level: 0 leaves annotations out.
      device_tracer_level: 0 leaves programs, steps and compilations out.
      python_tracer_level, enable_hlo_proto, advanced_configuration: without effect.

    Example:
      >>> options = shardax.profiler.ProfileOptions()
      >>> options.host_tracer_level = 0
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
      >>> with shardax.profiler.TraceAnnotation("load", batch=3):
      ...     x = jnp.ones(3)
    """

    def __init__(self, name, **metadata):
        self._name, self._metadata = name, metadata
        self._starts = threading.local()

    def __enter__(self):
        starts = self._starts.__dict__.setdefault("times", [])
        starts.append(time.perf_counter_ns())
        return self

    def __exit__(self, *exc):
        end = time.perf_counter_ns()
        recordings.annotate(self._name, self._metadata, self._starts.times.pop(), end)


class StepTraceAnnotation(TraceAnnotation):
    """A span that is a step of training; `step_num` says which.

    Example:
      >>> with shardax.profiler.StepTraceAnnotation("train", step_num=1):
      ...     x = jnp.ones(3)
    """


def annotate_function(function=None, name=None, **metadata):
    """`function`, each call a span of that name (its own by default).

    Example:
      >>> shardax.profiler.annotate_function(lambda x: x + 1, name="step")(1)
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


def start_trace(
    log_dir, create_perfetto_link=False, create_perfetto_trace=False, profiler_options=None
):
    """Records programs, their steps and annotations from now on, for `stop_trace` to write.

    Args:
      log_dir: the folder that is written into; it is made where it does not exist.
      create_perfetto_link: must be False; no server hands the trace to a web page.
      create_perfetto_trace: whether to write the trace as perfetto_trace.json.gz, too.
      profiler_options: a ProfileOptions.

    Raises:
      RuntimeError: something is being recorded already.
      NotADirectoryError: log_dir is a file.

    Example:
      >>> import tempfile
      >>> shardax.profiler.start_trace(tempfile.mkdtemp())
      >>> shardax.profiler.stop_trace()
    """
    global _trace
    if create_perfetto_link:
        raise NotImplementedError(
            "start_trace: create_perfetto_link is not available. Pass create_perfetto_trace=True, "
            "and open the file in https://ui.perfetto.dev."
        )
    names = ["trace.json.gz", *(["perfetto_trace.json.gz"] if create_perfetto_trace else [])]
    folder = recordings.make_folder("start_trace", log_dir)  # errors come before the work
    recordings.begin()
    _trace = (folder, names, profiler_options or ProfileOptions())


def stop_trace():
    """Writes the record of `start_trace`: <log_dir>/plugins/profile/<time>/trace.json.gz.

    Memory is bounded. Of more than a million programs and steps the first ones are written, and the
    number of the others stands in the file as `dropped`.

    Raises:
      RuntimeError: nothing is being recorded.

    Example:
      >>> import tempfile
      >>> shardax.profiler.start_trace(tempfile.mkdtemp())
      >>> shardax.profiler.stop_trace()
    """
    global _trace
    if _trace is None:
        raise RuntimeError("No profile started")
    (log_dir, names, options), _trace = _trace, None
    events, dropped = recordings.end()
    levels = {True: options.host_tracer_level, False: options.device_tracer_level}
    events = [event for event in events if levels[event["cat"] == "annotation"]]
    folder = log_dir / "plugins" / "profile" / time.strftime("%Y_%m_%d_%H_%M_%S")
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        recordings.write(events, dropped, folder / name)


@contextlib.contextmanager
def trace(log_dir, create_perfetto_link=False, create_perfetto_trace=False, profiler_options=None):
    """start_trace and, at the end of the block, stop_trace.

    Example:
      >>> import tempfile
      >>> with shardax.profiler.trace(tempfile.mkdtemp()):
      ...     x = jnp.sin(jnp.ones(3))
    """
    start_trace(log_dir, create_perfetto_link, create_perfetto_trace, profiler_options)
    try:
        yield
    finally:
        stop_trace()


def start_server(port):
    """Accepted for compatibility: there is nothing to connect to, `start_trace` writes files.

    Raises:
      ValueError: it has been called before.

    Example:
      >>> server = shardax.profiler.start_server(9999)
      >>> shardax.profiler.stop_server()
    """
    global _server
    if _server is not None:
        raise ValueError("Only one profiler server can be active at a time.")
    _server = port


def stop_server():
    """Ends the session of `start_server`.

    Raises:
      ValueError: it has not been called.

    Example:
      >>> server = shardax.profiler.start_server(9999)
      >>> shardax.profiler.stop_server()
    """
    global _server
    if _server is None:
        raise ValueError("No active profiler server.")
    _server = None


def device_memory_profile(backend=None):
    """The arrays that live and their bytes, by dtype and shape, as a profile for pprof; `backend`
    is "cpu" or None.

    Example:
      >>> isinstance(shardax.profiler.device_memory_profile(), bytes)
      True
    """
    from shardax._debug.memory_profiles import live_memory  # for this report alone
    from shardax._devices.devices import devices  # likewise

    devices(backend)  # RuntimeError for one that is not there
    return live_memory()


def save_device_memory_profile(filename, backend=None):
    """Writes the result of `device_memory_profile` into a file: `pprof -top memory.prof` shows it.

    Example:
      >>> import os, tempfile
      >>> path = os.path.join(tempfile.mkdtemp(), "memory.prof")
      >>> shardax.profiler.save_device_memory_profile(path)
      >>> os.path.getsize(path) > 0
      True
    """
    pathlib.Path(filename).write_bytes(device_memory_profile(backend))
