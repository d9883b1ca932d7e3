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
    """Tells listeners of events that `event` has happened; keywords say more about it."""
    _tell(_events, event, **kwargs)


def record_event_duration_secs(event, duration, **kwargs):
    """Tells listeners of durations how many seconds `event` took."""
    _tell(_durations, event, duration, **kwargs)


def record_event_time_span(event, start_time, end_time, **kwargs):
    """Tells listeners of time spans when `event` began and ended, in seconds."""
    _tell(_spans, event, start_time, end_time, **kwargs)


def record_scalar(event, value, **kwargs):
    """Tells listeners of scalars the number that belongs to `event`."""
    _tell(_scalars, event, value, **kwargs)


def _add(listeners, callback):
    listeners.append(callback)
    _base.listeners_changed()


def register_event_listener(callback):
    """`callback(event, **kwargs)` is told of events."""
    _add(_events, callback)


def register_event_duration_secs_listener(callback):
    """`callback(event, duration, **kwargs)` is told of durations."""
    _add(_durations, callback)


def register_event_time_span_listener(callback):
    """`callback(event, start_time, end_time, **kwargs)` is told of time spans."""
    _add(_spans, callback)


def register_scalar_listener(callback):
    """`callback(event, value, **kwargs)` is told of scalars."""
    _add(_scalars, callback)


def _remove(listeners, callback):
    assert callback in listeners, f"{callback} is not registered"
    listeners.remove(callback)
    _base.listeners_changed()


def unregister_event_listener(callback):
    """`callback` is told of events no more."""
    _remove(_events, callback)


def unregister_event_duration_listener(callback):
    """`callback` is told of durations no more."""
    _remove(_durations, callback)


def unregister_event_time_span_listener(callback):
    """`callback` is told of time spans no more."""
    _remove(_spans, callback)


def unregister_scalar_listener(callback):
    """`callback` is told of scalars no more."""
    _remove(_scalars, callback)


def clear_event_listeners():
    """Forgets all listeners."""
    for listeners in (_events, _durations, _spans, _scalars):
        listeners.clear()
    _base.listeners_changed()
