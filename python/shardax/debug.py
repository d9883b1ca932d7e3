"""shardax.debug - looking into programs while they run."""

import functools
import logging
import string
import sys

import numpy as np

from shardax._base.effects import DebugEffect, OrderedDebugEffect
from shardax._base.options import no_arguments
from shardax._base.tracebacks import in_package
from shardax._debug.assertions import ReplicasDiverged, assert_replicated
from shardax._debug.breakpoints import breakpoint
from shardax._debug.exchanges import visualize_collective
from shardax._debug.pictures import (
    inspect_array_sharding,
    visualize_array_sharding,
    visualize_sharding,
)
from shardax._debug.replicas import VaryingResultWarning, check_replicas
from shardax._transform.callbacks import debug_callback as callback

__all__ = [
    "DebugEffect",
    "OrderedDebugEffect",
    "ReplicasDiverged",
    "VaryingResultWarning",
    "assert_replicated",
    "breakpoint",
    "callback",
    "check_replicas",
    "inspect_array_sharding",
    "log",
    "print",
    "visualize_array_sharding",
    "visualize_collective",
    "visualize_sharding",
]

_logger = logging.getLogger("jax._src.debugging")  # the name that libraries filter


class _Checker(string.Formatter):
    """Says whether a format string and its arguments fit, whatever their values."""

    def format_field(self, value, format_spec):
        return ""

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


_checker = _Checker()


def print(fmt=None, *args, ordered=False, partitioned=False, skip_format_check=False, **kwargs):
    """Prints values when the program runs, also those of compiled and mapped functions.

    Lines come in program order; inside pmap one per device, in device order. The options may also
    be given in a call of their own: `print(ordered=True)("x = {x}", x=x)`.

    Args:
      fmt: a format string with {}, {0} or {name} for the arguments; format specifications apply.
      args, kwargs: trees of arrays, and other objects. Arrays are printed with NumPy's print
        options at the time of tracing.
      ordered: without effect: printing is always in program order and, inside pmap, in device
        order, where JAX refuses ordered prints.
      partitioned: in programs, print what each device of the mesh has of the arrays.
      skip_format_check: do not check `fmt` against the arguments at tracing time.

    Raises:
      KeyError, IndexError: `fmt` names an argument that is not there.
      ValueError: an argument is not used.

    Example:
      >>> _ = shardax.jit(lambda x: shardax.debug.print("x = {x}", x=x))(1.5)
      x = 1.5
    """
    write = functools.partial(_show, _write, not skip_format_check, partitioned)
    if fmt is not None:
        return write(fmt, *args, **kwargs)
    no_arguments("debug_print", args, kwargs)
    return write


def log(fmt=None, *args, ordered=False, partitioned=False, skip_format_check=False, **kwargs):
    """`print` to the logger "jax._src.debugging", at level INFO and with the line of this call;
    `ordered` is without effect there, too.

    Example:
      >>> _ = shardax.jit(lambda x: shardax.debug.log("x = {x}", x=x))(1.5)
    """
    write = functools.partial(_show, _log(*_user_line()), not skip_format_check, partitioned)
    if fmt is not None:
        return write(fmt, *args, **kwargs)
    no_arguments("debug_log", args, kwargs)
    return write


def _show(write, check, partitioned, fmt, /, *args, **kwargs):
    """Formats and writes the arguments when the program runs."""
    if not isinstance(fmt, str):
        raise TypeError(f"expected str, got {type(fmt).__name__}")
    if check:
        _checker.format(fmt, *args, **kwargs)
    options = np.get_printoptions()

    def show(*args, **kwargs):
        with np.printoptions(**options):
            write(fmt.format(*map(_scalar, args), **{k: _scalar(v) for k, v in kwargs.items()}))

    callback(partitioned=partitioned)(show, *args, **kwargs)


def _scalar(value):
    # Format specifications ("{x:.2f}") are those of NumPy's scalars.
    return value[()] if isinstance(value, np.ndarray) else value


def _write(text):
    sys.stdout.write(text + "\n")


def _user_line():
    frame = sys._getframe(1)
    while in_package(frame):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def _log(file, line):
    def write(text):
        _logger.handle(_logger.makeRecord(_logger.name, logging.INFO, file, line, text, (), None))

    return write
