"""shardax.extend.source_info_util - the user's lines that equations come from."""

import contextlib
import functools

from shardax._base.tracebacks import exclude, user_line
from shardax._core import api as _api
from shardax._transform.program_parts import SourceInfo

__all__ = [
    "NameStack",
    "SourceInfo",
    "current",
    "current_name_stack",
    "extend_name_stack",
    "new_name_stack",
    "new_source_info",
    "register_exclusion",
    "reset_name_stack",
    "set_name_stack",
    "summarize",
    "transform_name_stack",
    "user_context",
]

NameStack = _api.NameStack
register_exclusion = exclude


def new_source_info():
    """One that says nothing."""
    return SourceInfo()


def current():
    """The user's line that runs now."""
    line = user_line()
    return SourceInfo(line or "", _api.current_names())


def summarize(source_info, num_frames=1):
    """The line as text.

    `num_frames` has no effect: the package does without what it steers in JAX.

    Example:
      >>> summarize(make_jaxpr(lambda x: x + 1)(1.0).eqns[0].source_info)
      'file.py:1:32 (<lambda>)'
    """
    return source_info.text or "unknown"


@contextlib.contextmanager
def user_context(c, *, name_stack=None):
    """A block for those who bind the equations of a program again.

    Args:
      c: nothing follows from it: equations keep the line that binds them.
      name_stack: the names of the equations inside, that of another equation's source info say.
    """
    entered = _api.NamesEntered(_api.current_names() if name_stack is None else name_stack)
    try:
        yield
    finally:
        entered.leave()


def current_name_stack():
    """The names that equations have here."""
    return _api.current_names()


def new_name_stack(name=""):
    """No names, or one."""
    return NameStack().extend(name) if name else NameStack()


class _Names:
    """A block, or the calls of a function that it decorates, in which equations have names."""

    def __init__(self, names):
        self._names = names  # a function that gives them
        self._entered = []

    def __enter__(self):
        names = self._names()
        self._entered.append(_api.NamesEntered(names))
        return names

    def __exit__(self, *_):
        self._entered.pop().leave()

    def __call__(self, fun):
        @functools.wraps(fun)
        def named(*args, **kwargs):
            with _Names(self._names):
                return fun(*args, **kwargs)

        return named


def set_name_stack(name_stack):
    """A block, or a decorator, in which equations have these names.

    Example:
      >>> with set_name_stack(new_name_stack("loss")):
      ...     str(current_name_stack())
      'loss'
    """
    return _Names(lambda: name_stack)


def extend_name_stack(name):
    """A block, or a decorator, in which equations have one name more, as in `named_scope`."""
    return _Names(lambda: current_name_stack().extend(name))


def transform_name_stack(name):
    """A block, or a decorator, in which equations are of what a transformation makes: names that
    follow are shown as "name(inner)".
    """
    return _Names(lambda: current_name_stack().transform(name))


def reset_name_stack():
    """A block, or a decorator, in which equations have no names but those that it gives."""
    return _Names(NameStack)
