# shardax/_base/events.py - listeners of events, durations, time spans and scalars, and who is told.
import shardax._core as _core

events, durations, spans, scalars = [], [], [], []


def listeners_changed():
    """Tells the core whether anybody listens to compilations."""
    _core.api.listen_to_compiles(bool(durations or spans or scalars))


def tell(listeners, *what, **about):
    """Calls each of them."""
    for listener in tuple(listeners):
        listener(*what, **about)


def tell_elapsed(event, end, seconds, name):
    """Tells listeners that `event`, of the function or program `name`, began and took so long."""
    tell(scalars, event, end - seconds, fun_name=name)
    tell(durations, event, seconds, fun_name=name)
    tell(spans, event, end - seconds, end, fun_name=name)
