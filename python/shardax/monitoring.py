"""shardax.monitoring - events that programs record, and listeners that are told of them.

>>> register_event_listener(lambda event, **about: print(event, about))
>>> record_event("/my/event", step=3)
/my/event {'step': 3}
>>> clear_event_listeners()

Durations, time spans and scalars are told of functions that are traced, under the event
"/jax/core/compile/jaxpr_trace_duration", and of programs that are compiled, under
"/jax/core/compile/backend_compile_duration", with `fun_name`.
"""

from shardax._base import events as _base
from shardax._base.events import durations as _durations
from shardax._base.events import events as _events
from shardax._base.events import scalars as _scalars
from shardax._base.events import spans as _spans
from shardax._base.events import tell as _tell

__all__ = [
    "clear_event_listeners",
    "record_event",
    "record_event_duration_secs",
    "record_event_time_span",
    "record_scalar",
    "register_event_duration_secs_listener",
    "register_event_listener",
    "register_event_time_span_listener",
    "register_scalar_listener",
    "unregister_event_duration_listener",
    "unregister_event_listener",
    "unregister_event_time_span_listener",
    "unregister_scalar_listener",
]


def record_event(event, **kwargs):
    """Tells listeners of events that `event` has happened.

    Args:
      event: its name, a string.
      kwargs: say more about it; listeners are given them.

    Example:
      >>> shardax.monitoring.register_event_listener(lambda event, **about: print(event, about))
      >>> shardax.monitoring.record_event("/my/event", step=3)
      /my/event {'step': 3}
      >>> shardax.monitoring.clear_event_listeners()
    """
    _tell(_events, event, **kwargs)


def record_event_duration_secs(event, duration, **kwargs):
    """Tells listeners of durations how many seconds `event` took.

    Args:
      event: its name, a string.
      duration: seconds, a float.
      kwargs: say more about it; listeners are given them.

    Example:
      >>> def show(event, seconds, **about):
      ...     print(event, seconds, about)
      >>> shardax.monitoring.register_event_duration_secs_listener(show)
      >>> shardax.monitoring.record_event_duration_secs("/my/epoch", 2.5, epoch=0)
      /my/epoch 2.5 {'epoch': 0}
      >>> shardax.monitoring.unregister_event_duration_listener(show)
    """
    _tell(_durations, event, duration, **kwargs)


def record_event_time_span(event, start_time, end_time, **kwargs):
    """Tells listeners of time spans when `event` began and ended.

    Args:
      event: its name, a string.
      start_time, end_time: seconds, floats, as `time.time()` gives them.
      kwargs: say more about it; listeners are given them.

    Example:
      >>> def show(event, start, end, **about):
      ...     print(event, end - start, about)
      >>> shardax.monitoring.register_event_time_span_listener(show)
      >>> shardax.monitoring.record_event_time_span("/my/epoch", 100.0, 102.5, epoch=0)
      /my/epoch 2.5 {'epoch': 0}
      >>> shardax.monitoring.unregister_event_time_span_listener(show)
    """
    _tell(_spans, event, start_time, end_time, **kwargs)


def record_scalar(event, value, **kwargs):
    """Tells listeners of scalars the number that belongs to `event`.

    Args:
      event: its name, a string.
      value: the number.
      kwargs: say more about it; listeners are given them.

    Example:
      >>> def show(event, value, **about):
      ...     print(event, value, about)
      >>> shardax.monitoring.register_scalar_listener(show)
      >>> shardax.monitoring.record_scalar("/my/loss", 0.25, step=3)
      /my/loss 0.25 {'step': 3}
      >>> shardax.monitoring.unregister_scalar_listener(show)
    """
    _tell(_scalars, event, value, **kwargs)


def _add(listeners, callback):
    listeners.append(callback)
    _base.listeners_changed()


def register_event_listener(callback):
    """Has `callback(event, **kwargs)` told of events.

    Example:
      >>> seen = []
      >>> shardax.monitoring.register_event_listener(lambda event, **about: seen.append(event))
      >>> shardax.monitoring.record_event("/my/event")
      >>> seen
      ['/my/event']
      >>> shardax.monitoring.clear_event_listeners()
    """
    _add(_events, callback)


def register_event_duration_secs_listener(callback):
    """Has `callback(event, duration, **kwargs)` told of durations, in seconds.

    Example:
      >>> traced = []
      >>> def note(event, seconds, **about):
      ...     if event.endswith("jaxpr_trace_duration"):
      ...         traced.append(about["fun_name"])
      >>> shardax.monitoring.register_event_duration_secs_listener(note)
      >>> def double(x):
      ...     return 2 * x
      >>> shardax.jit(double)(1.0)
      Array(2., dtype=float32, weak_type=True)
      >>> traced
      ['double']
      >>> shardax.monitoring.unregister_event_duration_listener(note)
    """
    _add(_durations, callback)


def register_event_time_span_listener(callback):
    """Has `callback(event, start_time, end_time, **kwargs)` told of time spans, in seconds.

    Example:
      >>> def note(event, start, end, **about):
      ...     if event.endswith("jaxpr_trace_duration"):
      ...         print(about["fun_name"], end >= start)
      >>> shardax.monitoring.register_event_time_span_listener(note)
      >>> def double(x):
      ...     return 2 * x
      >>> _ = shardax.jit(double)(1.0)
      double True
      >>> shardax.monitoring.unregister_event_time_span_listener(note)
    """
    _add(_spans, callback)


def register_scalar_listener(callback):
    """Has `callback(event, value, **kwargs)` told of scalars.

    Example:
      >>> losses = []
      >>> shardax.monitoring.register_scalar_listener(lambda event, value: losses.append(value))
      >>> shardax.monitoring.record_scalar("/my/loss", 0.25)
      >>> losses
      [0.25]
      >>> shardax.monitoring.clear_event_listeners()
    """
    _add(_scalars, callback)


def _remove(listeners, callback):
    assert callback in listeners, f"{callback} is not registered"
    listeners.remove(callback)
    _base.listeners_changed()


def unregister_event_listener(callback):
    """Has `callback` told of events no more.

    Raises:
      AssertionError: it is not registered.

    Example:
      >>> shardax.monitoring.register_event_listener(print)
      >>> shardax.monitoring.unregister_event_listener(print)
      >>> shardax.monitoring.record_event("/my/event")
    """
    _remove(_events, callback)


def unregister_event_duration_listener(callback):
    """Has `callback` told of durations no more.

    Raises:
      AssertionError: it is not registered.

    Example:
      >>> shardax.monitoring.register_event_duration_secs_listener(print)
      >>> shardax.monitoring.unregister_event_duration_listener(print)
      >>> shardax.monitoring.record_event_duration_secs("/my/event", 2.5)
    """
    _remove(_durations, callback)


def unregister_event_time_span_listener(callback):
    """Has `callback` told of time spans no more.

    Raises:
      AssertionError: it is not registered.

    Example:
      >>> shardax.monitoring.register_event_time_span_listener(print)
      >>> shardax.monitoring.unregister_event_time_span_listener(print)
      >>> shardax.monitoring.record_event_time_span("/my/event", 100.0, 102.5)
    """
    _remove(_spans, callback)


def unregister_scalar_listener(callback):
    """Has `callback` told of scalars no more.

    Raises:
      AssertionError: it is not registered.

    Example:
      >>> shardax.monitoring.register_scalar_listener(print)
      >>> shardax.monitoring.unregister_scalar_listener(print)
      >>> shardax.monitoring.record_scalar("/my/event", 0.25)
    """
    _remove(_scalars, callback)


def clear_event_listeners():
    """Forgets all listeners: of events, durations, time spans and scalars.

    Example:
      >>> shardax.monitoring.register_event_listener(print)
      >>> shardax.monitoring.clear_event_listeners()
      >>> shardax.monitoring.record_event("/my/event")
    """
    for listeners in (_events, _durations, _spans, _scalars):
        listeners.clear()
    _base.listeners_changed()
