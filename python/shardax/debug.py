"""shardax.debug - looking into programs while they run."""

import string

import numpy as np

from shardax._callbacks import debug_callback as callback

__all__ = ["breakpoint", "callback", "print"]

_print = print


class _Formatter(string.Formatter):
    """Format strings as str.format, with a complaint about arguments that are not used."""

    def check_unused_args(self, used_args, args, kwargs):
        unused = [arg for i, arg in enumerate(args) if i not in used_args]
        if unused:
            raise ValueError(f"Unused positional arguments to `jax.debug.print`: {unused}")
        unused = [name for name in kwargs if name not in used_args]
        if unused:
            raise ValueError(
                f"Unused keyword arguments to `jax.debug.print`: {unused}. You may be passing an "
                "f-string (i.e, `f'...'`) to `jax.debug.print`; use a format string instead."
            )


_formatter = _Formatter()


def print(fmt, *args, ordered=False, partitioned=False, skip_format_check=False, **kwargs):
    """Prints values when the program runs, also those of compiled and mapped functions.

    Lines come in program order; inside pmap one per device, in device order.

    Args:
      fmt: a format string with {}, {0} or {name} for the arguments; format specifications apply.
      args, kwargs: trees of arrays, and other objects.
      ordered, partitioned: accepted for compatibility: printing is always ordered.
      skip_format_check: do not check `fmt` against the arguments at tracing time.

    Raises:
      KeyError, IndexError: `fmt` names an argument that is not there.
      ValueError: an argument is not used.

    Example:
      >>> _ = jit(lambda x: debug.print("x = {x}", x=x))(1.5)
      x = 1.5
    """
    if not isinstance(fmt, str):
        raise TypeError(f"expected str, got {type(fmt).__name__}")
    if not skip_format_check:
        _formatter.format(
            fmt,
            *(_Placeholder(arg) for arg in args),
            **{name: _Placeholder(arg) for name, arg in kwargs.items()},
        )

    def show(*args, **kwargs):
        _print(_formatter.format(fmt, *map(_scalar, args), **_scalars(kwargs)))

    callback(show, *args, ordered=ordered, **kwargs)


class _Placeholder:
    """Stands for an argument while a format string is checked."""

    def __init__(self, value):
        self._value = value

    def __repr__(self):
        return repr(self._value)

    def __format__(self, spec):
        return ""

    def __getattr__(self, name):
        return self

    def __getitem__(self, key):
        return self


def _scalar(value):
    # Format specifications ("{x:.2f}") are those of NumPy's scalars.
    return value[()] if isinstance(value, np.ndarray) else value


def _scalars(kwargs):
    return {name: _scalar(value) for name, value in kwargs.items()}


def breakpoint(*, backend=None, filter_frames=True, num_frames=None, ordered=False, token=None):
    """Stops in pdb when the program comes here; the frames are those of the callback's caller."""
    import pdb

    callback(lambda: pdb.set_trace(), ordered=ordered)
