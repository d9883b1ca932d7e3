"""shardax/_transform/jit.py - jit, and types: names, docs and checks of options.

The functions that these return are C++ objects (`shardax._core.api`): calling one runs no Python
but the user's own. This module's work happens once, when a function is decorated.
"""

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from shardax._base.options import (
    Parameters,
    check_callable,
    check_compiler_options,
    check_exclusive,
    indices,
    names,
)
from shardax._core import api as _core

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_core.set_package_directory(_PACKAGE)

ShapedArray = _core.ShapedArray

# The types of values that are no arrays, by class: type_of(value) (hijax/types.py).
registered_types = {}


def typeof(x: Any) -> ShapedArray:
    """The type of an array, a number or what has a shape and a dtype; of a mutable reference, that
    of a reference.

    Example:
      >>> shardax.typeof(1.0)
      ShapedArray(float32[], weak_type=True)
    """
    held = getattr(x, "aval", None) if hasattr(type(x), "is_reference") else None
    if held is not None:
        return held
    for cls in type(x).__mro__ if registered_types else ():
        if cls in registered_types:
            return registered_types[cls](x)
    return _core.typeof(x)


def announce_call_op_by_op(fun, error):
    """Says why a function of the user's is called again: its result had a NaN, or an infinity."""
    code = getattr(inspect.unwrap(fun), "__code__", None)
    if code is not None and code.co_filename.startswith(_PACKAGE):
        return False
    kind = "nan" if "(nan)" in error else "inf"
    print(
        f"Invalid {kind} value encountered in the output of a jax.jit function. Calling the "
        "de-optimized version."
    )
    return True


def jit(
    fun: Callable | None = None,
    *,
    in_shardings: Any = None,
    out_shardings: Any = None,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Iterable[str] | None = None,
    keep_unused: bool = False,
    device: Any = None,
    backend: str | None = None,
    inline: bool = False,
    compiler_options: dict | None = None,
) -> Callable:
    """Makes `fun` run as one program: staged once per shapes and dtypes of its arguments, then
    compiled.

    Args:
      fun: a function of arrays, scalars and trees of them. It is called with tracers, once per
        signature; side
        effects happen then only.
      static_argnums, static_argnames: arguments that stay Python values and are part of the
        signature; they must be
        hashable. If one of the two is None, it follows from the other.
      donate_argnums, donate_argnames: arguments that the caller gives away; arrays in them are
        deleted by the call
        where an output has their shape and dtype.
      inline: programs that call the function get its equations instead of a call.
      in_shardings, out_shardings: Shardings, or PartitionSpecs of the current mesh, for the
        positional arguments and the result (tree prefixes of them). They are labels for users who
        ask an array for its shards.
      device: the one that results are labelled with.
      keep_unused: without effect on one machine: arguments are not copied to devices.
      backend: "cpu" or None.
      compiler_options: options of XLA, checked by name and otherwise without effect.

    Returns:
      A function with `fun`'s signature, and the methods `lower`, `trace`, `eval_shape`,
      `clear_cache`.

    Raises:
      ValueError: for static or donated arguments that `fun` does not take, or that cannot be
      hashed; where shardings lie on different devices, or come with a device or a backend.
      TypeError: where an argument or a result is no array.
      JaxRuntimeError: for compiler options that XLA does not have.

    Example:
      >>> shardax.jit(lambda x: x * 2 + 1)(3.0)
      Array(7., dtype=float32, weak_type=True)
    """
    if fun is None:
        return functools.partial(
            jit,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            donate_argnums=donate_argnums,
            donate_argnames=donate_argnames,
            inline=inline,
            in_shardings=in_shardings,
            out_shardings=out_shardings,
            device=device,
            compiler_options=compiler_options,
        )
    check_callable(fun)
    if compiler_options:
        check_compiler_options(compiler_options)
    if backend is not None:
        from shardax._devices.devices import refuse_other_backends  # at first use: quick import

        refuse_other_backends(backend)
    if device is not None or backend is not None:
        check_exclusive(device, backend, in_shardings is not None, out_shardings is not None)
    if in_shardings is not None or out_shardings is not None:
        from shardax._devices.jit_shardings import check_open  # at first use: quick import

        check_open(in_shardings, "in_shardings")
        check_open(out_shardings, "out_shardings")
    if device is not None and out_shardings is None:
        from shardax._devices.shardings import SingleDeviceSharding  # at first use: quick import

        out_shardings = SingleDeviceSharding(device)
    if (
        static_argnums is None
        and static_argnames is None
        and donate_argnums is None
        and donate_argnames is None
    ):
        return _core.jit(fun, inline=inline, in_shardings=in_shardings, out_shardings=out_shardings)
    parameters = Parameters(fun)
    statics = indices(static_argnums, "static_argnums"), names(static_argnames, "static_argnames")
    parameters.check(*statics, "static_argnums", "static_argnames")
    if static_argnums is None or static_argnames is None:
        statics = parameters.complete(*statics)
    donated = indices(donate_argnums, "donate_argnums"), names(donate_argnames, "donate_argnames")
    parameters.check(*donated, "donate_argnums", "donate_argnames")
    if donate_argnums is None or donate_argnames is None:
        donated = parameters.complete(*donated)
    both = set(statics[1]) & set(donated[1])
    if both:
        raise ValueError(
            "static_argnames and donate_argnames cannot intersect. "
            f"Argument names {both} appear in both static_argnames and donate_argnames"
        )
    return _core.jit(
        fun, statics[0], statics[1], donated[0], donated[1], inline, in_shardings, out_shardings
    )


def clear_caches():
    """Forgets all programs kept for jitted functions and control flow, and gives memory back.

    Freed arrays leave memory that later ones take: at most 256 MB, or a quarter more than was in
    use during the last ten seconds. This call returns it to the system. The next call of each
    function is traced and compiled again.

    >>> import shardax
    >>> shardax.clear_caches()
    """
    _core.clear_caches()
