"""python/shardax/_api.py - jit, pmap, vmap, grad and their relatives: names, docs and checks of options.

The functions that these return are C++ objects (`shardax._core.api`): calling one runs no Python but
the user's own. What is done here happens once, where a function is decorated.
"""

import functools
import inspect
import operator
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from shardax._core import api as _core

_core.set_package_directory(os.path.dirname(os.path.abspath(__file__)) + os.sep)

ShapedArray = _core.ShapedArray
typeof = _core.typeof


def _check_callable(fun):
    if not callable(fun):
        raise TypeError(f"Expected a callable value, got {fun!r}")


def _indices(value, name) -> tuple[int, ...]:
    """None, an int or a sequence of ints as a tuple."""
    if value is None:
        return ()
    if isinstance(value, Iterable):
        return tuple(operator.index(v) for v in value)
    try:
        return (operator.index(value),)
    except TypeError:
        raise TypeError(f"'{type(value).__name__}' object is not iterable ({name} must be an int or ints)") from None


def _names(value, name) -> tuple[str, ...]:
    """None, a string or a sequence of strings as a tuple."""
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, Iterable):
        raise TypeError(f"'{type(value).__name__}' object is not iterable ({name} must be a str or strs)")
    names = tuple(value)
    for n in names:
        if not isinstance(n, str):
            raise TypeError(f"{name} must be a str or strs, got {n!r}")
    return names


class _Parameters:
    """The parameters of a function, as far as they can be known."""

    def __init__(self, fun):
        try:
            parameters = inspect.signature(fun).parameters.values()
        except (ValueError, TypeError):
            parameters = None
        self.known = parameters is not None
        kinds = inspect.Parameter
        self.positional = [p.name for p in parameters or () if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
        self.by_name = {p.name for p in parameters or () if p.kind in (kinds.KEYWORD_ONLY, kinds.POSITIONAL_OR_KEYWORD)}
        self.any_position = any(p.kind == kinds.VAR_POSITIONAL for p in parameters or ())
        self.any_name = any(p.kind == kinds.VAR_KEYWORD for p in parameters or ())

    def check(self, positions, names, argnums, argnames):
        """ValueError for positions and names that the function does not take."""
        count = len(self.positional)
        if not self.known:
            return
        if not self.any_position and any(not -count <= p < count for p in positions):
            raise ValueError(
                f"Jitted function has {argnums}={positions}, but only accepts {count} positional arguments."
            )
        unknown = set(names) - self.by_name
        if unknown and not self.any_name:
            raise ValueError(
                f"Jitted function has invalid argnames {unknown} in {argnames}. Function does not take these args."
            )

    def complete(self, positions, names):
        """The same arguments by position and by name, where only one of the two was given."""
        if positions and not names:
            names = tuple(n for i, n in enumerate(self.positional) if i in positions or i - len(self.positional) in positions)
            names = tuple(n for n in names if n in self.by_name)
        elif names and not positions:
            positions = tuple(i for i, n in enumerate(self.positional) if n in names)
        return positions, names


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
    abstracted_axes: Any = None,
    compiler_options: dict | None = None,
) -> Callable:
    """Makes `fun` run as one program: staged once per shapes and dtypes of its arguments, then compiled.

    Args:
      fun: a function of arrays, scalars and trees of them. It is called with tracers, once per signature; side
        effects happen then only.
      static_argnums, static_argnames: arguments that stay Python values and are part of the signature; they must be
        hashable.
      donate_argnums, donate_argnames: arguments that the caller gives away; arrays in them are deleted by the call
        where an output has their shape and dtype.
      in_shardings, out_shardings, keep_unused, device, backend, inline, abstracted_axes, compiler_options: accepted for
        compatibility. All devices share one memory, so they change nothing.

    Returns:
      A function with `fun`'s signature, and the methods `lower`, `trace`, `eval_shape`, `clear_cache`.

    Raises:
      ValueError: for static or donated arguments that `fun` does not take, or that cannot be hashed.
      TypeError: where an argument or a result is no array.

    Example:
      >>> jit(lambda x: x * 2 + 1)(3.0)
      Array(7., dtype=float32, weak_type=True)
    """
    if fun is None:
        return functools.partial(
            jit,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            donate_argnums=donate_argnums,
            donate_argnames=donate_argnames,
        )
    _check_callable(fun)
    if static_argnums is None and static_argnames is None and donate_argnums is None and donate_argnames is None:
        return _core.jit(fun)
    parameters = _Parameters(fun)
    statics = _indices(static_argnums, "static_argnums"), _names(static_argnames, "static_argnames")
    parameters.check(*statics, "static_argnums", "static_argnames")
    statics = parameters.complete(*statics)
    donated = _indices(donate_argnums, "donate_argnums"), _names(donate_argnames, "donate_argnames")
    parameters.check(*donated, "donate_argnums", "donate_argnames")
    donated = parameters.complete(*donated)
    both = set(statics[1]) & set(donated[1])
    if both:
        raise ValueError(
            "static_argnames and donate_argnames cannot intersect. "
            f"Argument names {both} appear in both static_argnames and donate_argnames"
        )
    return _core.jit(fun, statics[0], statics[1], donated[0], donated[1])


def _check_axes(api, which, axes):
    """TypeError unless all leaves of an axis specification are ints or None."""
    from shardax import tree_util

    leaves = tree_util.tree_leaves(axes)
    if any(type(leaf) is not int and not _is_index(leaf) for leaf in leaves):
        raise TypeError(
            f"{api} {which} must be an int, None, or (nested) container with those types as leaves, but got {axes}."
        )


def _is_index(value):
    return not isinstance(value, bool) and hasattr(value, "__index__") and not hasattr(value, "shape")


def pmap(
    fun: Callable | None = None,
    axis_name: Any = None,
    *,
    in_axes: Any = 0,
    out_axes: Any = 0,
    static_broadcasted_argnums: int | Iterable[int] = (),
    devices: Sequence | None = None,
    backend: str | None = None,
    axis_size: int | None = None,
    donate_argnums: int | Iterable[int] = (),
    global_arg_shapes: Any = None,
) -> Callable:
    """Maps `fun` over an axis of its arguments, each slice on a device of its own.

    Args:
      fun: a function of one device's slices. Collectives (`lax.psum` ...) in it act over all devices.
      axis_name: the name that collectives use; any hashable value.
      in_axes: per positional argument the axis to map over, an int (negative from the end) or None for a value that
        all devices share; a tuple or list of such, or of trees that are prefixes of the arguments. Arguments passed by
        keyword are mapped over axis 0. If nothing is mapped, the size is `axis_size`, `len(devices)` or the number of
        devices.
      out_axes: a prefix of the result: where the mapped axis goes, or None for the first device's value.
      static_broadcasted_argnums: positions of arguments that stay Python values; hashable.
      devices: devices to run on, at least as many as slices. Default: the first ones.
      axis_size: the size of the mapped axis, checked against the arguments.
      donate_argnums: arguments whose arrays the call deletes.
      backend: "cpu" or None. global_arg_shapes: ignored.

    Returns:
      A function whose results have the mapped axis and say on which devices their slices lie.

    Raises:
      ValueError: where sizes disagree, or there are more slices than devices.

    Example:
      >>> pmap(lambda x: x - lax.pmean(x, "i"), axis_name="i")(jnp.arange(4.0))
      Array([-1.5, -0.5,  0.5,  1.5], dtype=float32)
    """
    if fun is None:
        return functools.partial(
            pmap,
            axis_name=axis_name,
            in_axes=in_axes,
            out_axes=out_axes,
            static_broadcasted_argnums=static_broadcasted_argnums,
            devices=devices,
            backend=backend,
            axis_size=axis_size,
            donate_argnums=donate_argnums,
        )
    _check_callable(fun)
    _check_axes("pmap", "in_axes", in_axes)
    _check_axes("pmap", "out_axes", out_axes)
    if backend not in (None, "cpu"):
        raise RuntimeError(
            f"Unknown backend: '{backend}' requested, but no platforms that are instances of {backend} are present. "
            "Platforms present are: cpu"
        )
    ids = ()
    if devices is not None:
        ids = tuple(getattr(d, "id", d) for d in devices)
        if not ids:
            raise ValueError("'devices' argument to pmap must be non-empty, or None.")
    return _core.pmap(
        fun,
        axis_name,
        in_axes,
        out_axes,
        _indices(static_broadcasted_argnums, "static_broadcasted_argnums"),
        _indices(donate_argnums, "donate_argnums"),
        -1 if axis_size is None else operator.index(axis_size),
        ids,
    )


def vmap(
    fun: Callable,
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Any = None,
    axis_size: int | None = None,
    spmd_axis_name: Any = None,
    sum_match: bool = False,
) -> Callable:
    """Maps `fun` over an axis of its arguments, as one program over all elements.

    Args:
      fun: a function of one element.
      in_axes: as for `pmap`; at least one must not be None unless `axis_size` is given.
      out_axes: a prefix of the result: where the mapped axis goes, or None for results that do not depend on it.
      axis_name: a name for collectives inside `fun`.
      axis_size: the size of the axis, checked against the arguments.
      spmd_axis_name, sum_match: accepted for compatibility.

    Returns:
      The vectorised function.

    Raises:
      ValueError: where the sizes of the mapped axes disagree, or a result with `out_axes=None` is batched.

    Example:
      >>> vmap(jnp.dot, in_axes=(0, None))(jnp.ones((3, 2)), jnp.array([1.0, 2.0]))
      Array([3., 3., 3.], dtype=float32)
    """
    _check_callable(fun)
    if isinstance(in_axes, bool) or not (in_axes is None or _is_index(in_axes) or isinstance(in_axes, tuple | list)):
        raise TypeError(
            "vmap in_axes must be an int, None, or a tuple of entries corresponding to the positional arguments passed "
            f"to the function, but got {in_axes}."
        )
    _check_axes("vmap", "in_axes", in_axes)
    _check_axes("vmap", "out_axes", out_axes)
    name = getattr(fun, "__name__", "fun")
    doc = (
        f"Vectorized version of {name}. Takes similar arguments as {name} but with additional array axes over which "
        f"{name} is mapped."
    )
    original = getattr(fun, "__doc__", None)
    if original:
        doc += f"\n\nOriginal documentation:\n\n{original}"
    return _core.vmap(fun, in_axes, out_axes, axis_name, -1 if axis_size is None else operator.index(axis_size), doc)


def _make_grad(fun, argnums, value, has_aux, holomorphic, allow_int):
    _check_callable(fun)
    several = isinstance(argnums, Iterable)
    positions = _indices(argnums, "argnums")
    name = getattr(fun, "__name__", "fun")
    what, gives = "Gradient", "the gradient, which has"
    if value:
        what = "Value and gradient"
        gives = f"a two-element tuple where the first element is the value of {name} and the second element is the gradient, which has"
    doc = (
        f"{what} of {name} with respect to positional argument(s) {argnums}. Takes the same arguments as {name} but "
        f"returns {gives} the same shape as the arguments at positions {argnums}."
    )
    return _core.grad(fun, positions, several, value, has_aux, holomorphic, allow_int, doc)


def grad(
    fun: Callable,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Sequence = (),
) -> Callable:
    """A function that gives the gradient of `fun`, which returns a real scalar.

    Args:
      fun: the function to differentiate. Its Python control flow sees concrete values.
      argnums: the positional argument(s) to differentiate by: trees of real or complex arrays.
      has_aux: `fun` returns (value, anything); the gradient function then returns (gradient, anything).
      holomorphic: `fun` is complex-differentiable; its arguments and result are complex.
      allow_int: integer arguments are accepted; their gradient has dtype float0.
      reduce_axes: accepted for compatibility.

    Returns:
      A function of the same arguments. For a tuple of argnums it returns a tuple.

    Raises:
      TypeError: where the arguments or the result have other shapes or dtypes.

    Example:
      >>> grad(lambda x: x ** 3)(2.0)
      Array(12., dtype=float32, weak_type=True)
    """
    return _make_grad(fun, argnums, False, has_aux, holomorphic, allow_int)


def value_and_grad(
    fun: Callable,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
    reduce_axes: Sequence = (),
) -> Callable:
    """A function that gives (value, gradient) of `fun`; see `grad`. With has_aux: ((value, anything), gradient).

    Example:
      >>> value_and_grad(lambda x: x ** 2)(3.0)
      (Array(9., dtype=float32, weak_type=True), Array(6., dtype=float32, weak_type=True))
    """
    return _make_grad(fun, argnums, True, has_aux, holomorphic, allow_int)


def vjp(fun: Callable, *primals, has_aux: bool = False, reduce_axes: Sequence = ()):
    """(fun(*primals), f): f takes a cotangent of the result and gives a tuple of cotangents of the primals.

    Integer primals get cotangents of dtype float0. With has_aux, `fun` returns (result, anything), and vjp
    (result, f, anything).

    Example:
      >>> out, f = vjp(jnp.sin, 0.0)
      >>> f(2.0)
      (Array(2., dtype=float32, weak_type=True),)
    """
    return _core.vjp(fun, primals, has_aux)


def jvp(fun: Callable, primals, tangents, has_aux: bool = False):
    """(fun(*primals), directional derivative along tangents).

    Args:
      fun: the function to differentiate.
      primals, tangents: tuples or lists of equal structure, shapes and dtypes; tangents of integers have dtype float0.
      has_aux: `fun` returns (result, anything); jvp then returns (result, derivative, anything).

    Example:
      >>> jvp(lambda x: x ** 2, (3.0,), (1.0,))
      (Array(9., dtype=float32, weak_type=True), Array(6., dtype=float32, weak_type=True))
    """
    return _core.jvp(fun, primals, tangents, has_aux)


def linearize(fun: Callable, *primals, has_aux: bool = False):
    """(fun(*primals), f): f is the derivative at primals as a linear function of tangents.

    The nonlinear part is computed once; f can be called many times.

    Example:
      >>> y, f = linearize(lambda x: x ** 2, 3.0)
      >>> f(1.0)
      Array(6., dtype=float32, weak_type=True)
    """
    return _core.linearize(fun, primals, has_aux)


def linear_transpose(fun: Callable, *primals, reduce_axes=()):
    """The transpose of `fun`, which is linear in all its arguments; primals give shapes and dtypes only.

    Example:
      >>> linear_transpose(lambda x: 2 * x, 1.0)(3.0)
      (Array(6., dtype=float32, weak_type=True),)
    """
    return _core.linear_transpose(fun, primals)


def eval_shape(fun: Callable, *args, **kwargs):
    """The shapes and dtypes of fun(*args, **kwargs), without computing it; arguments may be ShapeDtypeStructs.

    Example:
      >>> eval_shape(jnp.dot, jnp.ones((2, 3)), jnp.ones(3))
      ShapeDtypeStruct(shape=(2,), dtype=float32)
    """
    from shardax import _stages

    return _stages.shape_of(_core.stage("jit", fun, args, kwargs))


def make_jaxpr(
    fun: Callable,
    static_argnums: int | Iterable[int] = (),
    axis_env: Sequence[tuple[Any, int]] | None = None,
    return_shape: bool = False,
    abstracted_axes: Any = None,
) -> Callable:
    """A function that gives the program of `fun` for its arguments, printed as JAX prints a jaxpr.

    Args:
      fun: the function to stage.
      static_argnums: arguments that stay Python values.
      axis_env: mapped axes in scope, as (name, size) pairs.
      return_shape: return (program, shapes of the result).

    Example:
      >>> make_jaxpr(lambda x: x + 1)(2.0)
      { lambda ; a:f32[]. let b:f32[] = add a 1.0:f32[] in (b,) }
    """
    if not callable(fun):
        raise TypeError("the first argument must be callable")
    statics = _indices(static_argnums, "static_argnums")
    axes = [(str(name), size) for name, size in axis_env or ()]

    @functools.wraps(fun)
    def make(*args, **kwargs):
        from shardax import _stages

        staged = _core.stage("jit", fun, args, kwargs, statics, axes)
        return (staged.program, _stages.shape_of(staged)) if return_shape else staged.program

    return make


def clear_caches():
    """Forgets all programs kept for jitted functions and control flow."""
    _core.clear_caches()


def __getattr__(name):
    if name in ("jacfwd", "jacrev", "jacobian", "hessian"):
        from shardax import _jacobian

        return getattr(_jacobian, name)
    if name == "ShapeDtypeStruct":
        from shardax._stages import ShapeDtypeStruct

        return ShapeDtypeStruct
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
