"""shardax/_base/options.py - checks of the options of jit, pmap, vmap and grad."""

import inspect
import operator
from collections.abc import Iterable

from shardax import tree_util


def check_callable(fun):
    if isinstance(fun, staticmethod):
        raise TypeError(
            f"staticmethod arguments are not supported, got {fun!r}; decorate the function, and "
            "then make it a staticmethod."
        )
    if not callable(fun):
        raise TypeError(f"Expected a callable value, got {fun!r}")
    if inspect.isgeneratorfunction(fun):
        raise TypeError(f"Expected a function, got a generator function: {fun!r}")


# Options of XLA that do not start with "xla_".
_COMPILER_OPTIONS = (
    *("exec_time_optimization_effort", "memory_fitting_effort", "memory_fitting_level"),
    "optimization_level",
)


def check_compiler_options(options):
    """Refuses options that XLA does not have, or other values than "true" and "false" where their
    names say that they turn something on, with JaxRuntimeError."""
    for option, value in (options or {}).items():
        switch = any(word in option for word in ("_enable_", "_disable_", "_embed_"))
        if switch and isinstance(value, str) and value.lower() not in ("true", "false"):
            from shardax.errors import JaxRuntimeError  # an error's class, where it is raised

            raise JaxRuntimeError(
                f"INVALID_ARGUMENT: While setting option {option}, '{value}' is not a valid bool "
                "value."
            )
        if not option.startswith("xla_") and option not in _COMPILER_OPTIONS:
            from shardax.errors import JaxRuntimeError  # an error's class, where it is raised

            raise JaxRuntimeError(f"No such compile option: '{option}'")


def check_exclusive(device, backend, in_shardings, out_shardings):
    """ValueError where jit is told twice where to run: the last two say whether they were given."""
    if device is not None and backend is not None:
        raise ValueError(
            f"can't specify both a device and a backend for jit, got {device=} and {backend=}"
        )
    for name, given in (("in_shardings", in_shardings), ("out_shardings", out_shardings)):
        if given and (device is not None or backend is not None):
            raise ValueError(
                f"If backend or device is specified on jit, then {name} should not be specified."
            )


def indices(value, option) -> tuple[int, ...]:
    """None, an int or a sequence of ints as a tuple."""
    if value is None:
        return ()
    if isinstance(value, Iterable) and getattr(value, "ndim", 1):
        return tuple(operator.index(v) for v in value)
    try:
        return (operator.index(value),)
    except TypeError:
        raise TypeError(
            f"'{type(value).__name__}' object is not iterable ({option} must be an int or ints)"
        ) from None


def names(value, option) -> tuple[str, ...]:
    """None, a string or a sequence of strings as a tuple."""
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, Iterable):
        raise TypeError(
            f"'{type(value).__name__}' object is not iterable ({option} must be a str or strs)"
        )
    result = tuple(value)
    for n in result:
        if not isinstance(n, str):
            raise TypeError(f"{option} must be a str or strs, got {n!r}")
    return result


class Parameters:
    """The parameters of a function, as far as they can be known."""

    def __init__(self, fun):
        try:
            parameters = inspect.signature(fun).parameters.values()
        except (ValueError, TypeError):
            parameters = None
        self.known = parameters is not None
        self.fun = fun
        kinds = inspect.Parameter
        self.positional = [
            p.name
            for p in parameters or ()
            if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)
        ]
        self.by_name = {
            p.name
            for p in parameters or ()
            if p.kind in (kinds.KEYWORD_ONLY, kinds.POSITIONAL_OR_KEYWORD)
        }
        self.only_position = {
            p.name
            for p in parameters or ()
            if p.kind in (kinds.POSITIONAL_ONLY, kinds.VAR_POSITIONAL)
        }
        self.any_position = any(p.kind == kinds.VAR_POSITIONAL for p in parameters or ())
        self.any_name = any(p.kind == kinds.VAR_KEYWORD for p in parameters or ())

    def check(self, positions, names, argnums, argnames):
        """ValueError for positions and names that the function does not take."""
        count = len(self.positional)
        if not self.known:
            if names and argnames == "donate_argnames":
                raise ValueError(
                    f"Getting the signature of function {self.fun} failed. Pass {argnums} instead "
                    f"of {argnames}."
                )
            return
        if not self.any_position and any(not -count <= p < count for p in positions):
            raise ValueError(
                f"Jitted function has {argnums}={positions}, but only accepts {count} positional "
                "arguments."
            )
        by_position = set(names) & self.only_position
        if by_position:
            raise ValueError(
                f"Jitted function has invalid argnames {by_position} in {argnames}. These are "
                f"positional-only; use {argnums}."
            )
        unknown = set(names) - self.by_name
        if unknown and not self.any_name:
            raise ValueError(
                f"Jitted function has invalid argnames {unknown} in {argnames}. Function does "
                "not take these args."
            )

    def complete(self, positions, names):
        """The same arguments by position and by name, where only one of the two was given."""
        if positions and not names:
            names = tuple(
                n
                for i, n in enumerate(self.positional)
                if i in positions or i - len(self.positional) in positions
            )
            names = tuple(n for n in names if n in self.by_name)
        elif names and not positions:
            positions = tuple(i for i, n in enumerate(self.positional) if n in names)
        return positions, names


def check_axes(api, which, axes):
    """TypeError unless all leaves of an axis specification are ints or None."""
    leaves = tree_util.tree_leaves(axes)
    if any(type(leaf) is not int and not is_index(leaf) for leaf in leaves):
        raise TypeError(
            f"{api} {which} must be an int, None, or (nested) container with those types as "
            f"leaves, but got {axes}."
        )


def is_index(value):
    return (
        not isinstance(value, bool) and hasattr(value, "__index__") and not hasattr(value, "shape")
    )


def no_arguments(name, args, kwargs):
    """The first of two calls, `name(**options)(function, ...)`, takes options only."""
    if args or kwargs:
        raise TypeError(
            f"{name} received unexpected arguments in the two-call form: {args=} {kwargs=}"
        )
