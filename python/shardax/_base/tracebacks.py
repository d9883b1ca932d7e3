"""shardax/_base/tracebacks.py - tracebacks that show the user's frames.

The printed traceback of an exception that nobody catches leaves out the frames of this package,
unless `jax_traceback_filtering` is "off". Exceptions lose these frames when they leave a function
of the package. "quiet_remove_frames" says so in a note, "remove_frames" keeps all of them in the
exception's cause, "tracebackhide" marks them for pytest and IPython instead. "auto" is
"quiet_remove_frames", but in notebooks, where exceptions themselves stay as they are.
"""

import functools
import os
import sys
import types

from shardax.config import config

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
# The module that runs scripts is frozen from Python 3.11 on.
_RUNPY = ("<frozen runpy>", os.path.join(os.path.dirname(os.__file__), "runpy.py"))

# Files of libraries whose frames are no user's either.
excluded = []


def exclude(path):
    """Frames of the file `path` are left out as this package's are."""
    excluded.append(path)


def in_package(frame):
    """True if a frame of the stack is this package's own or of an excluded file, or runs a script
    for it."""
    file = frame.f_code.co_filename
    return file.startswith(_PACKAGE) or file in _RUNPY or file in excluded


def user_line():
    """The user's line that runs now: "file.py:3 (f)"; "" where there is none."""
    frame = sys._getframe(1)
    while frame is not None and in_package(frame):
        frame = frame.f_back
    if frame is None:
        return ""
    code = frame.f_code
    return f"{code.co_filename}:{frame.f_lineno} ({getattr(code, 'co_qualname', code.co_name)})"


class UnfilteredStackTrace(Exception):
    """The cause of an exception while `jax_traceback_filtering` is "remove_frames": it has all
    frames."""


_NOTE = (
    "--------------------\nFor simplicity, shardax has removed its internal frames from the "
    "traceback of the following exception. Set JAX_TRACEBACK_FILTERING=off to include these."
)
_ABOUT_ALL = (
    "The stack trace below excludes internal frames of shardax.\nThe preceding is the original "
    "exception that occurred, unmodified.\n\n--------------------"
)


def leave(exception):
    """Shortens an exception that leaves the package, as `jax_traceback_filtering` asks."""
    mode = config.jax_traceback_filtering
    if mode == "auto":
        mode = "off" if _in_notebook() else "quiet_remove_frames"
    whole = exception.__traceback__
    if mode == "off" or whole is None:
        return
    if mode == "tracebackhide":
        entry = whole
        while entry is not None:
            if in_package(entry.tb_frame) and entry.tb_frame.f_code.co_filename != __file__:
                entry.tb_frame.f_locals["__tracebackhide__"] = True
            entry = entry.tb_next
        return
    first = not hasattr(exception, "_shortened")  # the rest of inner frames
    known = None if first else exception._shortened
    exception.__traceback__ = exception._shortened = _users(whole, known)
    if not first:
        return
    if mode == "quiet_remove_frames":
        if hasattr(exception, "add_note"):  # from Python 3.11 on
            exception.add_note(_NOTE)
        return
    cause = UnfilteredStackTrace(f"{type(exception).__name__}: {exception}\n\n{_ABOUT_ALL}")
    cause.__traceback__ = whole
    cause.__cause__, cause.__context__ = exception.__cause__, exception.__context__
    cause.__suppress_context__ = exception.__suppress_context__
    exception.__cause__, exception.__context__ = cause, None


def api_boundary(fun, *, repro_api_name=None, repro_user_func=False):
    """`fun`, out of which exceptions come as `jax_traceback_filtering` asks for."""

    @functools.wraps(fun)
    def bounded(*args, **kwargs):
        __tracebackhide__ = True  # asking the frame would make a cycle of it and its exception
        try:
            return fun(*args, **kwargs)
        except Exception as exception:
            leave(exception)
            raise

    return bounded


def include_frame(frame):
    """True if tracebacks show the frame."""
    return not in_package(frame)


def _users(traceback, known=None):
    """A traceback without the package's frames. From the entry `known` on there are none."""
    entries = []
    entry = traceback
    while entry is not None and entry is not known:
        if not in_package(entry.tb_frame):
            entries.append(entry)
        entry = entry.tb_next
    kept = entry
    for entry in reversed(entries):
        kept = types.TracebackType(kept, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return kept


def without_package(traceback):
    """A traceback without the package's frames; all of it where no other frame is left."""
    return _users(traceback) or traceback


def shorten(exception, seen=()):
    """`exception` with shorter tracebacks, its own and those of its causes."""
    if exception is None or exception in seen:
        return
    exception.__traceback__ = without_package(exception.__traceback__)
    for origin in (exception.__cause__, exception.__context__):
        shorten(origin, (*seen, exception))


def _in_notebook():
    return "IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None


def _wanted():
    return config.jax_traceback_filtering != "off"


def install():
    """Puts itself before the hook that prints uncaught exceptions, and before IPython's."""
    print_exception = sys.excepthook

    def hook(kind, exception, traceback):
        if _wanted():
            shorten(exception)
        print_exception(kind, exception, exception.__traceback__)

    sys.excepthook = hook
    notebook = sys.modules.get("IPython")
    shell = notebook.get_ipython() if notebook else None
    if shell is not None:
        shell.set_custom_exc((Exception,), _show_in_notebook)


def _show_in_notebook(shell, kind, exception, traceback, tb_offset=None):
    if _wanted():
        shorten(exception)
    shell.showtraceback((kind, exception, exception.__traceback__), tb_offset=tb_offset)
