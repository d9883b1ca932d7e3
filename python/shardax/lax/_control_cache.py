# shardax/lax/_control_cache.py - control flow that Python runs once per functions and types.
from shardax._base.tracebacks import api_boundary
from shardax._core import api as _core


def cached_control_flow(name, functions, statics=(), positions=None):
    """A decorator of control flow: called on arrays, outside of programs, it is a program from the
    second call with the same functions on. Within programs and derivatives nothing changes.

    Args:
      name: which control flow it is, as errors say it.
      functions: the parameters that are functions, or sequences of them.
      statics: those that are Python's numbers.
      positions: of the functions, where they have no names among the positional parameters.
    """

    def decorate(fun):
        code = fun.__code__
        places = {word: i for i, word in enumerate(code.co_varnames[: code.co_argcount])}
        return _core.control_flow_cache(
            api_boundary(fun),
            name,
            positions or [places[word] for word in functions],
            functions,
            [places[word] for word in statics if word in places],
            statics,
        )

    return decorate
