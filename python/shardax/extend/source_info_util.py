"""shardax.extend.source_info_util - the user's lines that equations come from."""

import contextlib

from shardax._base.tracebacks import exclude, user_line
from shardax._core import api as _api
from shardax._transform.program_parts import SourceInfo

__all__ = [
    "SourceInfo",
    "current",
    "current_name_stack",
    "new_source_info",
    "register_exclusion",
    "summarize",
    "user_context",
]

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
