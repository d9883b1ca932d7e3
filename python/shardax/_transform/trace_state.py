# shardax/_transform/trace_state.py - the transformations in progress.
import contextlib
import weakref

from shardax import tree_util
from shardax._core import api as _api
from shardax._transform.python_traces import Trace, handling
from shardax._transform.stages import ensure_compile_time_eval


class OpaqueTraceState:
    """Stands for the transformations in progress: equal while they are the same."""

    __slots__ = ("_convention", "_state")

    def __init__(self, convention):
        self._state = _api.trace_state()
        self._convention = convention

    def __eq__(self, other):
        return isinstance(other, OpaqueTraceState) and self._state == other._state

    def __hash__(self):
        return hash(self._state)


def get_opaque_trace_state(convention=None):
    """A value that compares equal as long as the same transformations are in progress.

    `convention` has no effect: there is one kind of state.

    Example:
      >>> outside = shardax.core.get_opaque_trace_state()
      >>> def f(x):
      ...     print(shardax.core.get_opaque_trace_state() == outside)
      ...     return x
      >>> _ = f(1.0), shardax.jit(f)(1.0)
      True
      False
    """
    return OpaqueTraceState(convention)


def trace_state_clean():
    """True if no transformation is in progress.

    Example:
      >>> def f(x):
      ...     print(shardax.core.trace_state_clean())
      ...     return x
      >>> _ = f(1.0), shardax.jit(f)(1.0)
      True
      False
    """
    return not _api.tracing()


@contextlib.contextmanager
def eval_context():
    """In this block ops on arrays are computed at once, also while something is traced.

    Example:
      >>> @shardax.jit
      ... def f(x):
      ...     with shardax.core.eval_context():
      ...         count = int(jnp.arange(3).sum())
      ...     return x + count
      >>> f(1)
      Array(4, dtype=int32, weak_type=True)
    """
    with ensure_compile_time_eval():
        yield


def unsafe_get_axis_names():
    """The names of the mapped axes in scope, outermost first.

    Example:
      >>> def f(x):
      ...     print(shardax.core.unsafe_get_axis_names_DO_NOT_USE())
      ...     return x
      >>> _ = shardax.vmap(f, axis_name="i")(jnp.arange(2))
      ['i']
    """
    return _api.axis_names()


def nonempty_axis_env():
    """True if a mapped axis is in scope.

    Example:
      >>> def f(x):
      ...     print(shardax.core.nonempty_axis_env_DO_NOT_USE())
      ...     return x
      >>> _ = f(1), shardax.vmap(f, axis_name="i")(jnp.arange(2))
      False
      True
    """
    return bool(_api.axis_names())


def unsafe_am_i_under_a_jit():
    """True if ops on plain arrays are recorded in a program rather than computed.

    Example:
      >>> def f(x):
      ...     print(shardax.core.unsafe_am_i_under_a_jit_DO_NOT_USE())
      ...     return x
      >>> _ = f(1), shardax.jit(f)(1)
      False
      True
    """
    return _api.staging_in_progress()


def unsafe_am_i_under_a_vmap():
    """True within vmap, whether its axis has a name or not.

    Example:
      >>> def f(x):
      ...     print(shardax.core.unsafe_am_i_under_a_vmap_DO_NOT_USE())
      ...     return x
      >>> _ = f(1), shardax.vmap(f)(jnp.arange(2))
      False
      True
    """
    return _api.maps_above(0)


class CoreTrace(Trace):
    """The trace that handles ops where it is made, or that of a tracer."""

    __slots__ = ("context", "tracers")

    def __init__(self, tracer=None):
        self.context = _api.CurrentTraceContext()
        super().__init__()
        self.tracers = _main(tracer)

    main = property(lambda self: self.tracers)  # the same object for all tracers of one

    def is_valid(self):
        """True if it is still in progress."""
        return self.context.alive

    def stage_value(self, val):
        """`val` as it is."""
        return val

    def process_primitive(self, primitive, tracers, params):
        """The op as it is handled there."""
        with self.context:
            return primitive.bind(*tracers, **params)


class _Main:
    """Stands for one trace: the same object for all of its tracers."""


_mains = weakref.WeakValueDictionary()  # by generation


def _main(tracer):
    _, generation = _api.tracer_trace(tracer)
    main = _mains.get(generation)
    if main is None:
        main = _mains.setdefault(generation, _Main())
    return main


def trace_of(tracer):
    """The trace of a tracer: its attribute `_trace`; `_trace.main` is the same for all of one."""
    if not _api.is_tracer(tracer):
        raise AttributeError(f"'{type(tracer).__name__}' object has no attribute '_trace'")
    return CoreTrace(tracer)


def find_top_trace(values=()):
    """The trace that handles ops on `values`: that of the innermost transformation among them.

    Args:
      values: a tree of arrays and tracers.

    Example:
      >>> @shardax.jit
      ... def f(x):
      ...     trace = shardax.core.find_top_trace([x, 1.0])
      ...     with shardax.core.set_current_trace(trace):
      ...         return jnp.sin(x)
      >>> f(0.0)
      Array(0., dtype=float32, weak_type=True)
    """
    tracers = [x for x in tree_util.tree_leaves(values) if _api.is_tracer(x)]
    return CoreTrace(max(tracers, key=_api.tracer_trace, default=None))


@contextlib.contextmanager
def take_current_trace():
    """A block that is given the trace that handles ops.

    Example:
      >>> with shardax.core.take_current_trace() as trace:
      ...     trace.is_valid()
      True
    """
    yield CoreTrace()


@contextlib.contextmanager
def set_current_trace(trace, check_leaks=False):
    """A block in which `trace` handles all ops. It is a `Trace` of the user's own, one that was
    taken or found before, or None, with which ops compute at once.

    `check_leaks` has no effect: the package does without what it steers in JAX.

    Raises:
      UnexpectedTracerError: where the trace is over.

    Example:
      >>> @shardax.jit
      ... def f(x):
      ...     with shardax.core.set_current_trace(None):
      ...         return x + float(jnp.sqrt(4.0))
      >>> f(1.0)
      Array(3., dtype=float32, weak_type=True)
    """
    with handling(trace):
        yield
